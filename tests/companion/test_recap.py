"""Where was I, and who is who: made from what was read, stored, checked, and never from what comes later."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import pytest

from readagent_core.companion.cast import parse_cast, who_is_who
from readagent_core.companion.place import place_of
from readagent_core.companion.recap import (
    RECAP,
    WHO_IS_WHO,
    cost_sentence,
    keep_inside,
    load_made,
    parts_of,
    quote_sentence,
    recap,
    recap_by_rule,
    sentences_of,
)
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.incoming.samples import add_samples
from readagent_core.memory import GistMemory
from readagent_core.models.cost.prices import FREE, Price
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply
from tests.recordings import make_memory

RECAP_REPLY = "So far:\nVane rowed out [1, 2].\n\nJust before:\nHe came back [3]."
CAST_REPLY = "People:\nVane (also: the keeper) | He rowed out [1]."


def a_memory(pages: int = 8, *, gists: int | None = None, paged: int | None = None) -> GistMemory:
    """Pages of three paragraphs: of page n the second has the words pageNpart2, and its gist is gistwordN."""
    texts = [
        f"page{n}part{part} Vane stood here. " + "And more was said of it. " * 8
        for n in range(1, pages + 1)
        for part in (1, 2, 3)
    ]
    made = [f"gistword{n} of Vane." if gists is None or n <= gists else None for n in range(1, pages + 1)]
    memory = make_memory(texts, made, per_page=3, title="A Book", complete=gists is None and paged is None)
    paged = pages if paged is None else paged
    return replace(memory, pages=memory.pages[:paged], gists=memory.gists[:paged])


def reply(prompt):
    return CAST_REPLY if prompt.task == WHO_IS_WHO else RECAP_REPLY


@pytest.fixture
def workspace(open_workspace):
    return open_workspace(model=FakeModel(reply))


def a_book(workspace, memory, *, read: int):
    book = workspace.library.add(memory.document)
    gisting = workspace.library.add_memory(book.id, memory)
    workspace.library.set_furthest(book.id, read)
    return book, gisting


def ended(job):
    return job.join(60)


@pytest.mark.parametrize("limited", [None, 7])
def test_no_prompt_has_a_word_of_what_was_not_read(open_workspace, limited):
    """Every request that reaches the server is searched; the place is in the middle of page 5, or of page 3."""
    with FakeServer(lambda text: CAST_REPLY if "who is who" in text else RECAP_REPLY) as server:
        workspace = open_workspace(server.url)
        book, gisting = a_book(workspace, a_memory(), read=14)
        if limited:
            workspace.library.set_limit(book.id, on=True, paragraph=limited)
        for make in (recap, who_is_who):
            assert ended(make(workspace, book.id, gisting_id=gisting.id)).state == "done"
        sent = [request.text for request in server.chats]
    last = limited or 14
    assert len(sent) == 2
    for text in sent:
        parts = [3 * (int(n) - 1) + int(part) for n, part in re.findall(r"page(\d)part(\d)", text)]
        assert max(parts) == last
        whole = last // 3
        assert re.findall(r"gistword(\d)", text) == [str(n) for n in range(1, whole + 1)]


def test_a_limit_beyond_what_was_read_lets_nothing_more_in(workspace):
    book, gisting = a_book(workspace, a_memory(), read=6)
    workspace.library.set_limit(book.id, on=True, paragraph=20)
    assert place_of(workspace, gisting).paragraphs == 6


def test_it_is_stored_and_shown_again_without_a_call(workspace):
    book, gisting = a_book(workspace, a_memory(), read=10)
    first = ended(recap(workspace, book.id, gisting_id=gisting.id)).value
    assert load_made(workspace, place_of(workspace, gisting), RECAP) == first
    assert first.answer.usage.calls == 1
    workspace.library.set_furthest(book.id, 11)  # further on the same page: still right, if a little old
    assert load_made(workspace, place_of(workspace, gisting), RECAP) == first
    workspace.library.set_furthest(book.id, 9)  # back by hand: it knows a paragraph too much
    assert load_made(workspace, place_of(workspace, gisting), RECAP) is None
    workspace.library.set_furthest(book.id, 13)
    assert load_made(workspace, place_of(workspace, gisting), RECAP) is None
    assert len(workspace.model.prompts) == 1


def test_gists_that_end_before_the_place_are_said_to(workspace):
    book, gisting = a_book(workspace, a_memory(30, gists=4, paged=5), read=89)
    place = place_of(workspace, gisting)
    assert (place.covered, place.page, place.paged) == (4, 6, False)
    made = ended(recap(workspace, book.id, gisting_id=gisting.id)).value
    assert re.search(r"gists of pages 1 to 4 and the last [\d,]+ words .* after page 5.*left out", made.answer.notes[0])
    sent = workspace.model.prompts[0].text
    assert "page30part2" in sent
    assert "page6part1" not in sent


def test_a_page_under_way_is_shown_from_its_start(workspace):
    texts = [f"part{n} " + "word " * 190 for n in range(20)]
    memory = make_memory(texts, per_page=10)
    memory = replace(memory, plan=replace(memory.plan, max_words=3000))
    _, gisting = a_book(workspace, memory, read=18)
    recent = place_of(workspace, gisting).recent
    assert "part10 " in recent
    assert "part17 " in recent
    assert "part9 " not in recent
    assert "part18 " not in recent


def test_nothing_read_and_no_gists_are_errors_that_say_so(workspace):
    book, gisting = a_book(workspace, a_memory(), read=0)
    with pytest.raises(NotInLibraryError, match="Nothing counts as read"):
        recap(workspace, book.id, gisting_id=gisting.id)
    other, bare = a_book(workspace, make_memory(["Some text."], [None], complete=False), read=1)
    with pytest.raises(NotInLibraryError, match="has a gist yet"):
        who_is_who(workspace, other.id, gisting_id=bare.id)
    with pytest.raises(NotInLibraryError, match="another book"):
        recap(workspace, book.id, gisting_id=bare.id)


def test_gists_too_long_for_the_window_are_shortened_and_pages_keep_their_numbers(open_workspace):
    def shorten(prompt):
        if prompt.task == "gist":
            return "Vane rowed."
        return "No" if prompt.task == "merge" else "So far:\nAll of it [2].\n\nJust before:\nThis [60]."

    model = FakeModel(shorten, window=1600)
    workspace = open_workspace(model=model)
    long = make_memory([f"Vane {n}. " + "word " * 30 for n in range(60)], ["Vane rowed out again. " * 12] * 60)
    book, gisting = a_book(workspace, long, read=60)
    made = ended(recap(workspace, book.id, gisting_id=gisting.id)).value
    assert any("too long for one prompt: shortened" in note for note in made.answer.notes)
    asked = model.prompts[-1]
    assert asked.task == RECAP
    assert "Vane 59." in asked.text
    assert asked.words < 1600
    assert set(made.answer.seen) == set(range(1, 61))


def test_cancel_and_failure_store_nothing_and_it_can_be_tried_again(open_workspace):
    asked, free = threading.Event(), threading.Event()

    def before(number, text):
        if number == 0:
            asked.set()
            free.wait(30)
        return Reply(status=400, error={"message": "no"}) if number < 2 else None

    with FakeServer(lambda text: RECAP_REPLY, before=before) as server:
        workspace = open_workspace(server.url)
        book, gisting = a_book(workspace, a_memory(), read=9)
        job = recap(workspace, book.id, gisting_id=gisting.id)
        assert asked.wait(30)
        job.cancel()
        assert ended(job).state == "cancelled"
        free.set()
        assert ended(recap(workspace, book.id, gisting_id=gisting.id)).state == "failed"
        assert load_made(workspace, place_of(workspace, gisting), RECAP) is None
        assert ended(recap(workspace, book.id, gisting_id=gisting.id)).state == "done"


def test_what_it_costs_is_said_before_where_it_costs(workspace):
    _, gisting = a_book(workspace, a_memory(), read=9)
    place = place_of(workspace, gisting)
    assert "the price is not known" in cost_sentence(workspace.model, place, RECAP)
    workspace.model.price = Price(1000.0, 1000.0)
    assert re.fullmatch(r"1 call, \d+ words sent; about \$\d\.\d\d\.", cost_sentence(workspace.model, place, RECAP))
    workspace.model.price = FREE
    assert cost_sentence(workspace.model, place, RECAP) == ""


# --- replies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "far", "before"),
    [
        (RECAP_REPLY, "Vane rowed out [1, 2].", "He came back [3]."),
        ("**So far:**\nA [1].\n\n**Just before**\nB [2].", "A [1].", "B [2]."),
        ("## So far\nA [1].\n## Just before:\nB [2].", "A [1].", "B [2]."),
        ("So far: A [1].\nJust before: B [2].", "A [1].", "B [2]."),
        ("ここまで：\n甲。[1]\n\n直前：\n乙。[2]", "甲。[1]", "乙。[2]"),
        ("【ここまで】\n甲。[1]\n【直前】\n乙。[2]", "甲。[1]", "乙。[2]"),
        ("A [1].\n\nB [2].", "A [1].", "B [2]."),
        ("A, and just before that B [1].", "A, and just before that B [1].", ""),
        ("", "", ""),
    ],
)
def test_the_two_parts_of_a_reply(said, far, before):
    assert parts_of(said) == (far, before)


@pytest.mark.parametrize(
    ("said", "kept", "removed"),
    [
        ("A [1]. B [9]. C [2].", "A [1]. C [2].", 1),
        ("A [1, 9]. B.", "A [1]. B.", 0),
        ("甲。[1] 乙。[9]", "甲。[1]", 1),
        ("Nothing is named.", "Nothing is named.", 0),
    ],
)
def test_claims_that_name_no_page_that_was_read_are_left_out(said, kept, removed):
    assert keep_inside(said, range(1, 4)) == (kept, removed)


@pytest.fixture
def harbour(workspace):
    """Four pages are read of five; Mr. Crale is met on the fifth."""
    texts = (
        "Ambrose Vane, the keeper, lit the lamp. I watched.",
        "Mrs. Oake baked. Nobody came.",
        "Vane and his sister Agnes rowed to Stell.",
        "Mrs. Oake slept.",
        "Mr. Crale drowned.",
    )
    _, gisting = a_book(workspace, make_memory(texts), read=4)
    return place_of(workspace, gisting)


@pytest.mark.parametrize(
    ("line", "name", "pages"),
    [
        ("Ambrose Vane (also: Vane, the keeper) | He lit the lamp [1].", "Ambrose Vane", (1, 3)),
        ("- **Mrs. Oake** | She baked [2].", "Mrs. Oake", (2, 4)),
        ("1. Mrs. Oake: She baked [2].", "Mrs. Oake", (2, 4)),
        ("| Agnes | His sister [3]. |", "Agnes", (3, 3)),
        ("Agnes Vane – His sister [3].", "Agnes Vane", (1, 3)),
        ("The narrator | Watched the lamp [1].", "The narrator", (0, 0)),
    ],
)
def test_lines_of_a_reply(harbour, line, name, pages):
    (person,) = parse_cast(f"People:\n{line}", harbour).people
    assert (person.name, (person.first, person.last)) == (name, pages)


def test_names_and_claims_from_beyond_the_place_are_dropped_and_counted(harbour):
    cast = parse_cast(
        "People:\nName | who\nMr. Crale | The villain [3].\nAgnes | His sister [3]. She drowns [5].\n"
        "Mrs. Oake | She drowns too [5].\nVane | Rows [3, 5].\nPlaces:\nStell | A place [3].",
        harbour,
    )
    assert [(p.name, p.told, p.kind) for p in cast.people] == [
        ("Agnes", "His sister [3].", "person"),
        ("Vane", "Rows [3].", "person"),
        ("Stell", "A place [3].", "place"),
    ]
    assert cast.dropped == ("Mr. Crale",)
    assert cast.removed == 2


# --- without a model ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    workspace = Workspace(Settings(home=tmp_path_factory.mktemp("home")))
    books = {book.language: book for book in add_samples(workspace) if "Council" not in book.title}
    yield workspace, books
    workspace.library.close()


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("He rowed.", "“He rowed.”"),
        ('"Row," he said.', '"Row," he said.'),
        ('And so he was alone," I said.', "“And so he was alone, I said.”"),
        ("He said *No. 9* twice.", "“He said No. 9 twice.”"),
    ],
)
def test_a_sentence_of_the_book_is_quoted_once(sentence, shown):
    assert [quote_sentence(s, "en") for s in sentences_of(sentence, "en")] == [shown]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_built_in_reader_takes_sentences_and_says_where_from(samples, language):
    workspace, books = samples
    book = books[language]
    gisting = workspace.library.gistings(book.id)[0]
    workspace.library.set_furthest(book.id, len(workspace.library.document(book.id).paragraphs) // 2)
    snapshot = ended(recap(workspace, book.id, gisting_id=gisting.id))
    place = place_of(workspace, gisting)
    assert snapshot.value.answer.text == recap_by_rule(place)
    assert snapshot.value.answer.usage.calls == 0
    far, before = parts_of(snapshot.value.answer.text)
    assert f"[{place.covered}]" in far
    assert before.endswith(f"[{place.page}]")


def test_who_is_who_needs_a_language_model(samples):
    workspace, books = samples
    gisting = workspace.library.gistings(books["en"].id)[0]
    workspace.library.set_furthest(books["en"].id, 91)
    with pytest.raises(SettingsError, match="language model"):
        who_is_who(workspace, books["en"].id, gisting_id=gisting.id)
