"""The library saves books, readings and conversations, and explains what it cannot do."""

from __future__ import annotations

import stat
from dataclasses import replace

import pytest

from readagent_core.document import Cover, Document, Notice, Paragraph, Section
from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library import Library
from readagent_core.library.records import ExchangeFacts, ExchangeState, GistingState
from readagent_core.memory import Gist, Page
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage

PLAN = GistingPlan(max_words=20, min_words=5)


def make_document(title="The Lamp", *texts, **more) -> Document:
    texts = texts or ("Ada lit the lamp at dusk.", "The sea was quiet. " * 12, "In the morning she slept.")
    return Document(title, tuple(Paragraph(t, place=f"p. {i}") for i, t in enumerate(texts)), **more)


def read_whole(library, book, plan=PLAN, model="m"):
    gisting = library.open_gisting(book.id, plan, model)
    document = library.memory(gisting.id).document
    store = library.store(gisting.id)
    for number in range(1, len(document.paragraphs) + 1):
        store.save_page(Page(number, number - 1, number, document.paragraphs[number - 1].words, reason="because"))
        store.save_gist(number, Gist(f"gist {number}", marks=("longer than its page",) if number == 2 else ()))
    return gisting


def test_a_book_comes_back_whole(library):
    document = make_document(
        sections=(Section("One", 0), Section("Two", 2, 2)),
        warnings=(Notice("x", "Something was left out.", 3),),
        cover=Cover(b"\x89PNG", "image/png"),
        author="A. Writer",
        language="ja",
    )
    book = library.add(document, source_name="lamp.txt")
    assert library.document(book.id) == replace(document, cover=None)
    assert library.cover(book.id) == document.cover
    assert (book.title, book.author, book.words, book.has_cover) == ("The Lamp", "A. Writer", document.words, True)
    assert library.books() == [book]
    assert library.storage() > 0
    assert stat.S_IMODE(library.home.stat().st_mode) == 0o700
    for file in library.home.glob("library.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_same_file_with_other_text_is_a_new_version(library):
    first = library.add(make_document(), source_name="a.txt")
    second = library.add(make_document("The Lamp", "Wholly other words stand here."), source_name="a.txt")
    assert (second.id, second.version) == (first.id, 2)
    assert library.document(first.id).paragraphs[0].text.startswith("Wholly")
    assert library.document(first.id, document_id=first.document_id).paragraphs[0].text.startswith("Ada")
    back = library.add(make_document(), source_name="a.txt")
    assert (back.id, back.version, back.document_id) == (first.id, 3, first.document_id)
    again = library.add(make_document("Another title"), source_name="b.epub")  # the same text is the same book
    assert again == back
    other = library.add(make_document("Two", "Nothing in common with that."), source_name="a.txt")
    assert other.id != first.id  # two books may both be called a.txt


def test_a_book_is_renamed_with_its_text_and_its_memory(library):
    book = library.add(make_document("Microsoft Word - final2.doc"))
    gisting = read_whole(library, book)
    assert library.memory(gisting.id).document.title == "Microsoft Word - final2.doc"
    library.rename(book.id, title="  The Fog \n Bell ", author="E. Marsh")
    again = Library(library.home)
    for one in (library, again):
        document = one.memory(gisting.id).document
        assert (document.title, document.author) == ("The Fog Bell", "E. Marsh")
        assert (one.book(book.id).title, one.document(book.id).id) == ("The Fog Bell", book.document_id)
    again.rename(book.id, title="The Bell", author="E. Marsh")  # as another process would
    assert library.document(book.id).title == library.memory(gisting.id).document.title == "The Bell"
    assert library.memory(gisting.id) is library.memory(gisting.id)
    again.close()
    with pytest.raises(LibraryError, match="needs a title"):
        library.rename(book.id, title=" - ", author="")
    assert library.book(book.id).title == "The Bell"


def test_removed_restored_and_last_opened_first(library):
    book, other = library.add(make_document()), library.add(make_document("Two", "c d"))
    library.touch(book.id)
    assert [b.id for b in library.books()] == [book.id, other.id]
    library.remove(book.id)
    assert library.books() == [other]
    assert library.books(include_removed=True)[0].removed is not None
    library.restore(book.id)
    assert library.books()[0].id == book.id
    library.remove(book.id)
    assert library.add(make_document()).removed is None  # opening it again restores it too


def test_a_reading_is_found_again_by_text_plan_and_model(library):
    book = library.add(make_document())
    gisting = library.open_gisting(book.id, PLAN, "m", "http://x/v1")
    assert library.open_gisting(book.id, PLAN, "m").id == gisting.id
    assert library.open_gisting(book.id, PLAN, "other").id != gisting.id
    assert library.open_gisting(book.id, replace(PLAN, gist_share=0.5), "m").id != gisting.id
    assert [r.id for r in library.gistings(book.id)][-1] == gisting.id
    assert (gisting.state, gisting.where, gisting.plan) == ("reading", "http://x/v1", PLAN)


def test_usage_is_added_up_over_runs_and_processes(library):
    book = library.add(make_document())
    gisting = library.open_gisting(book.id, PLAN, "m")
    first, second = library.store(gisting.id), library.store(gisting.id)
    for store, calls in ((first, 4), (second, 2), (first, 7), (first, 7), (second, 3)):
        store.save_usage(Usage(calls=calls, words_in=10 * calls, cost=calls / 4))
    used = library.gisting(gisting.id).usage
    assert (used.calls, used.words_in, used.cost) == (10, 100, 2.5)
    with pytest.raises(NotInLibraryError):
        library.store(gisting.id + 1).save_usage(Usage(calls=1))


def test_pages_and_gists_are_saved_one_by_one(library):
    book = library.add(make_document())
    gisting = read_whole(library, book)
    memory = library.memory(gisting.id)
    assert memory.complete
    assert memory.document == library.document(book.id).limited(20)
    assert memory.gists[1].marks == ("longer than its page",)
    library.set_state(gisting.id, GistingState.DONE)
    kept = library.gisting(gisting.id)
    assert (kept.state, kept.pages, kept.gists, kept.usage.calls) == ("done", len(memory.pages), len(memory.pages), 0)
    library.store(gisting.id).save_gist(1, Gist("by hand", edited=True))
    assert library.memory(gisting.id).gists[0] == Gist("by hand", edited=True)
    library.cut_from(gisting.id, 2)
    assert [p.number for p in library.memory(gisting.id).pages] == [1]
    assert library.gisting(gisting.id).state == "paused"


def test_the_first_of_two_writers_is_kept(library):
    book = library.add(make_document())
    store = library.store(library.open_gisting(book.id, PLAN, "m").id)
    first = Page(1, 0, 1, 6)
    assert store.save_page(first) == first
    assert store.save_page(Page(1, 0, 2, 20)) == first
    with pytest.raises(LibraryError):
        store.save_page(Page(2, 2, 3, 6))
    with pytest.raises(LibraryError):
        store.save_page(Page(3, 1, 2, 6))


def test_recordings_are_readings_of_their_own(library):
    book = library.add(make_document())
    live = read_whole(library, book, model="big")
    memory = replace(library.memory(live.id), recorded="2026-11-01", usage=Usage(calls=5))
    kept = library.add_memory(book.id, memory)
    assert kept.id != live.id
    assert (kept.recorded, kept.state) == ("2026-11-01", "done")
    assert library.memory(kept.id) == memory
    assert library.add_memory(book.id, memory).id == kept.id
    with pytest.raises(ValueError, match="pages end at paragraph"):
        library.add_memory(book.id, replace(memory, pages=memory.pages[:-1], gists=memory.gists[:-1], model="other"))


def test_conversations_keep_every_event(library):
    book = library.add(make_document())
    talk = library.new_conversation(book.id, "First")
    library.rename_conversation(talk.id, "Renamed")
    asked = library.start_exchange(talk.id, 1, "Who?", options=["Ada", "Bo"], settings={"look_ups": 2}, up_to=4)
    for number in range(3):
        library.append_event(asked.id, {"kind": "AnswerPart", "text": f"part {number} 「語」"})
    done = library.finish_exchange(asked.id, ExchangeState.DONE, words=5)
    assert [e["text"] for e in done.events] == [f"part {number} 「語」" for number in range(3)]
    assert (done.options, done.settings, done.up_to, done.state) == (("Ada", "Bo"), {"look_ups": 2}, 4, "done")
    assert (done.facts, library.exchanges(talk.id)) == (ExchangeFacts(words=5), [done])
    (kept,) = library.conversations(book.id)
    assert (kept.title, kept.questions) == ("Renamed", 1)
    deleted = library.delete_conversation(talk.id)
    assert library.conversations(book.id) == []
    with pytest.raises(NotInLibraryError):
        library.exchange(asked.id)
    library.put_conversation(deleted)
    assert (library.conversations(book.id), library.exchanges(talk.id)) == ([kept], [done])


def test_preferences_and_artifacts_are_saved_in_place_of_earlier_ones(library):
    book = library.add(make_document())
    assert library.preference("view", "side") == "side"
    library.set_preference("view", {"size": 18})
    assert library.preference("view", None) == {"size": 18}
    shelf = library.artifacts(book.document_id)
    assert shelf.load("tree", "m1") is None
    shelf.save("tree", "m1", {"nodes": ["é", 1]})
    shelf.save("tree", "m1", {"nodes": ["雪", 2]})
    shelf.save("tree", "m2", [1])
    assert shelf.load("tree", "m1") == {"nodes": ["雪", 2]}
    assert shelf.load("tree", "m2") == [1]


@pytest.mark.parametrize(
    "ask",
    [
        lambda lib: lib.book("nothing"),
        lambda lib: lib.gisting(99),
        lambda lib: lib.memory(99),
        lambda lib: lib.touch("nothing"),
        lambda lib: lib.set_position("nothing", 1),
        lambda lib: lib.set_furthest("nothing", 1),
        lambda lib: lib.set_limit("nothing", on=True),
        lambda lib: lib.remove("nothing"),
        lambda lib: lib.put_on_shelf([], "nothing"),
        lambda lib: lib.rename_shelf("nothing", "something"),
        lambda lib: lib.new_conversation("nothing", ""),
        lambda lib: lib.rename_conversation("nothing", ""),
        lambda lib: lib.finish_exchange("nothing", ExchangeState.DONE),
        lambda lib: lib.open_gisting("nothing", PLAN, "m"),
    ],
)
def test_what_is_not_there_is_said(library, ask):
    with pytest.raises(NotInLibraryError):
        ask(library)


def test_a_library_is_made_in_folders_that_are_not_there_yet(tmp_path) -> None:
    library = Library(tmp_path / "some" / "where" / "else")
    assert library.books() == []
    library.close()
