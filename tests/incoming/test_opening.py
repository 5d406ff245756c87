"""Files become books: the same text once, a changed file as a new version, a bad file not at all.

The recordings fit their texts exactly, are marked as recordings, and come once.
"""

from __future__ import annotations

import pytest

from readagent_core import loaders
from readagent_core.answering.base import Answered
from readagent_core.answering.event_json import event_from_dict
from readagent_core.errors import DocumentError, LibraryError
from readagent_core.export.memory import export_memory
from readagent_core.gisting.job import newest_memory
from readagent_core.incoming import samples
from readagent_core.incoming.opening import KEEP_ORIGINALS, open_file
from readagent_core.incoming.samples import add_samples
from readagent_core.library import Library
from readagent_core.memory import Gist, check_coverage
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.loaders.making import as_epub, as_text, sample
from tests.loaders.test_pdf import pdf, wordy


def test_the_same_text_again_under_another_name_or_in_another_format_is_the_same_book(workspace):
    document = sample("harrow-council-minutes")
    files = ((as_text, "txt"), (as_text, "copy.txt"), (as_epub, "epub"))
    books = {open_file(workspace, make(document), f"minutes.{ending}").id for make, ending in files}
    assert len(books) == len(workspace.library.books()) == 1


def test_a_changed_file_is_a_new_version_that_keeps_its_conversations(workspace):
    text = as_text(sample("harrow-council-minutes")).decode()
    book = open_file(workspace, text.encode(), "minutes.txt")
    workspace.library.new_conversation(book.id, "Who was there?")
    changed = open_file(workspace, text.replace("miracle", "wonder").encode(), "minutes.txt")
    assert (changed.id, changed.version) == (book.id, 2)
    assert changed.document_id != book.document_id
    assert [c.title for c in workspace.library.conversations(book.id)] == ["Who was there?"]


def test_an_exported_reading_opens_as_its_book_and_replaces_nothing(workspace, tmp_path):
    sample_book = next(b for b in add_samples(workspace) if b.title == "The Keeper of Harrow Light")
    _, memory = newest_memory(workspace, sample_book.id)
    file = export_memory(memory, "json")
    elsewhere = Workspace(load_settings({"READAGENT_HOME": str(tmp_path / "elsewhere")}))
    book = open_file(elsewhere, file, "keeper-gists.JSON")
    assert newest_memory(elsewhere, book.id)[1] == memory
    assert open_file(elsewhere, file, "again.json").id == book.id
    assert len(elsewhere.library.gistings(book.id)) == 1
    mine = elsewhere.library.gistings(book.id)[0]
    elsewhere.library.store(mine.id).save_gist(3, Gist("My own words.", edited=True))
    with pytest.raises(DocumentError, match="Nothing was replaced"):
        open_file(elsewhere, file, "keeper-gists.json")
    assert elsewhere.library.memory(mine.id).gists[2].text == "My own words."


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("settings.json", b"{}"),
        ("settings.json", b"\xff"),
        ("settings.json", b'{"format": "readagent gist memory", "version": 1}'),
    ],
)
def test_a_file_that_cannot_be_opened_adds_nothing(workspace, name, data):
    with pytest.raises(DocumentError):
        open_file(workspace, data, name)
    assert workspace.library.books() == []


@pytest.mark.parametrize("name", samples.NAMES)
def test_pages_of_a_recording_are_the_texts_own_paragraphs(name):
    document = loaders.load((samples.FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
    recording = samples.read_recording(name)
    memory = samples.recorded_memory(document, recording)
    check_coverage(memory.document, memory.pages)
    assert memory.recorded == "2026-11-21"
    assert memory.complete
    assert len(memory.pages) == len(recording["pages"])
    for page, recorded in zip(memory.pages, recording["pages"], strict=True):
        text = "\n\n".join(p.text for p in memory.document.paragraphs[page.start : page.end])
        assert text.endswith(recorded["text"])
    recording["pages"][3]["text"] += " And a word more."
    with pytest.raises(LibraryError, match="does not fit its text"):
        samples.recorded_memory(document, recording)


def test_samples_come_once_with_their_recorded_asks_and_stay_away_when_removed(workspace):
    assert len(add_samples(workspace)) == 3
    books = workspace.library.books()
    assert books[0].title == "The Keeper of Harrow Light"
    assert all(b.sample for b in books)
    book = books[0]
    (conversation,) = workspace.library.conversations(book.id)
    exchanges = workspace.library.exchanges(conversation.id)
    recorded = samples.read_recording(samples.NAMES[0])["asks"]
    assert [e.question for e in exchanges] == [ask["question"] for ask in recorded]
    for exchange, ask in zip(exchanges, recorded, strict=True):
        assert exchange.state == "done"
        assert exchange.facts.recorded == "2026-11-21"
        look_up, expanded, answered = [event_from_dict(e) for e in exchange.events]
        assert look_up.reply == ask["look_up_reply"]
        assert expanded.pages == tuple(sorted(ask["looked_up"]))
        assert isinstance(answered, Answered)
        assert answered.answer.text == ask["answer"]
        if "gold" in ask and ask.get("options"):
            assert answered.answer.option is not None
    workspace.library.remove(books[0].id)
    assert add_samples(workspace) == []
    again = Library(workspace.home)
    assert len(again.books()) == 2


def test_opening_a_pdf_shows_its_pages_and_can_be_cancelled(workspace):
    seen = []

    def cancel(done: int, pages: int) -> None:
        seen.append((done, pages))
        if done == pages:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_file(workspace, pdf([wordy(1), wordy(2)]), "lamp.pdf", progress=cancel)
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert workspace.library.books() == []


def test_the_original_file_is_stored_unless_that_is_turned_off(workspace):
    library = workspace.library
    text = as_text(sample("harrow-council-minutes"))
    book = open_file(workspace, text, "minutes.txt")
    assert library.original(book.id) == text
    open_file(workspace, as_epub(sample("harrow-council-minutes")), "minutes.epub")
    assert library.original(book.id) == text  # the stored text came from this file
    changed = text.replace(b"miracle", b"wonder")
    assert open_file(workspace, changed, "minutes.txt").id == book.id
    assert library.original(book.id) == changed
    library.set_preference(KEEP_ORIGINALS, False)
    open_file(workspace, text, "minutes.txt")
    assert library.original(book.id) is None


def test_a_book_opens_where_its_original_cannot_be_written(workspace):
    workspace.library.originals_folder.write_bytes(b"a file in the way of the folder")
    book = open_file(workspace, b"Some words of a text.", "a.txt")
    assert workspace.library.document(book.id).words == 5
