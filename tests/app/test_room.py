"""The library and the reader without a browser, what they are told, and the theme that mirrors the tokens."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pages.parts.read import book_text, start
from pages.parts.shared import first_page, gisting_status, memory_view
from pages.parts.shared.cached import get_workspace
from readagent_core.document import Document, Figure, Paragraph, Section
from readagent_core.gisting.progress import GistingProgress
from readagent_core.jobs import Snapshot
from readagent_core.library.records import StopReason
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from tests.app.conftest import ROOT
from tests.fakes.server import FakeServer
from tests.gisting.helpers import random_document
from tests.recordings import make_memory

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
TOKENS = {
    "primaryColor": "sea",
    "backgroundColor": "bg",
    "textColor": "ink",
    "borderColor": "line",
    "redColor": "alert",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_of_native_widgets_is_that_of_the_tokens(theme):
    for name, token in TOKENS.items():
        assert f"--{token}: {CONFIG['theme'][theme][name]};" in first_page.themes()[theme]


def test_an_error_that_nobody_foresaw_has_its_code_under_details_only(app):
    at = app()
    with get_workspace().library._db.write() as connection:
        connection.execute("ALTER TABLE position RENAME TO elsewhere")
    at.switch_page("pages/read.py").run()
    assert not at.exception
    details = at.expander[0]
    assert details.label == "Details for a report"
    assert [t.value for t in details.text] == ["SQLITE_ERROR: no such table: position"]
    told = [t.value for t in at.text if "SQLITE" not in t.value]
    assert any(line.startswith("Something unexpected went wrong in the library") for line in told)
    assert len(told) == len(at.text) - 1


def test_a_server_without_a_model_is_told_on_the_screen(app, monkeypatch):
    monkeypatch.setenv("READAGENT_BASE_URL", "http://127.0.0.1:9/v1")
    at = app()
    assert any("set READAGENT_MODEL too" in t.value for t in at.text)
    assert any(r"set READAGENT\_MODEL too" in c.value for c in at.sidebar.caption)  # no Markdown


def test_a_reading_that_ends_while_the_screen_is_drawn_draws_it_again(app, monkeypatch):
    """A short text is read between the sidebar and the reader; the sidebar must not wait for it for ever."""
    at = app("pages/read.py")
    workspace = get_workspace()
    keys = [
        gisting_status.job_key(r) for book in workspace.library.books() for r in workspace.library.gistings(book.id)
    ]
    looks = [[SimpleNamespace(key=key) for key in keys]]
    drawn = []
    monkeypatch.setattr(workspace.jobs, "running", lambda: (drawn.append(1), looks.pop() if looks else [])[1])
    at.run()
    assert not at.exception
    assert len(drawn) == 2


def test_an_address_of_a_book_that_is_gone_says_so_and_opens_no_other(app):
    at = app("pages/read.py", book="nosuchbook", page="999999999999999999999", paragraph="99999999")
    assert not at.exception
    assert "not in this library" in at.text[0].value
    assert get_workspace().library.books()[0].opened is None


def test_an_address_of_a_page_that_a_book_does_not_have_says_so(app):
    app()
    book = next(b for b in get_workspace().library.books() if b.title.startswith("The Keeper"))
    at = app("pages/read.py", book=book.id, page="999")
    assert [toast.value for toast in at.toast] == [
        "The page of this address is not here: there are 25. You are where you were."
    ]
    assert not app("pages/read.py", book=book.id, page="25").toast


FIVE = ["One two three four five."]  # a paragraph of five words


def a_memory() -> GistMemory:
    document = Document("T", (Paragraph("One 😀 two."), Paragraph("Three."), Paragraph("Four.")), (Section("Head", 1),))
    pages = (Page(1, 0, 2, 4), Page(2, 2, 3, 1))
    return GistMemory(document, GistingPlan(), pages, (Gist("One."), None))


def test_places_in_a_page_become_places_in_its_paragraphs_as_browsers_count():
    memory = a_memory()
    figures = (Figure(0, alt="A lamp"), Figure(0, after=True), Figure(1))
    memory = replace(memory, document=replace(memory.document, figures=figures))
    text = memory.page_text(1)
    # the face is two characters for a browser, and a heading is in no paragraph
    for words, place in (("two", [[0, 7, 10]]), ("Three", [[1, 0, 5]]), ("## Head", []), ("A lamp", [])):
        at = text.index(words)
        assert memory_view.passage_pieces(memory, 1, at, at + len(words)) == place


def test_a_page_record_holds_what_is_shown_and_nothing_empty():
    record = memory_view.page_record(a_memory(), a_memory().pages[0])
    assert record == {"number": 1, "start": 0, "paragraphs": ["One 😀 two.", "Three."], "words": 4, "ends": "pause",
                      "headings": [[1, 1, "Head"]], "gist": {"text": "One.", "words": 1}}  # fmt: skip
    without = replace(a_memory(), gists=(None,) * len(a_memory().pages), complete=False)
    assert memory_view.page_record(without, without.pages[0])["name"] == "the beginning"  # as at a claim


def test_a_page_of_split_paragraphs_has_its_place_in_the_whole_ones_as_browsers_count():
    whole = Document("T", (Paragraph("Öne two 😀. Four five six."), Paragraph(""), Paragraph("Seven.")))
    memory = replace(a_memory(), document=whole.limited(3))
    assert book_text.whole_places(memory.document, whole) == ((0, 0), (0, 12), (1, 0), (2, 0), (3, 0))
    page = Page(1, 1, 3, 3, "Here.")
    record = book_text.page_layer(memory, page, book_text.whole_places(memory.document, whole))
    assert record == {
        "number": 1,
        "start": 0,
        "startAt": 12,
        "end": 2,
        "words": 3,
        "ends": "pause",
        "reason": "Here.",
        "gist": {"text": "One.", "words": 1},
    }
    assert book_text.whole_places(whole, whole) == ((0, 0), (1, 0), (2, 0), (3, 0))


def test_a_text_is_sent_once_in_batches_that_begin_where_the_person_is(monkeypatch):
    monkeypatch.setattr(book_text, "BATCH_CHARACTERS", 20)
    texts = tuple(Paragraph(f"Paragraph number {n}.", place="p. 1" if n < 3 else "p. 2") for n in range(7))
    document = Document("T", texts, (Section("One", 0), Section("Two", 4), Section("Part", 4, 2)))
    starts = book_text.batch_starts(document)
    assert starts[0] == 0
    assert starts[-1] == 7
    batches = [book_text.text_batch(document, a, b) for a, b in pairwise(starts)]
    assert [text for batch in batches for text in batch["text"]] == [p.text for p in texts]
    assert [head for batch in batches for head in batch["heads"]] == [[0, 1, "One"], [4, 1, "Two"], [4, 2, "Part"]]
    assert [place for batch in batches for place in batch["places"]] == [[0, "p. 1"], [3, "p. 2"]]
    order = book_text._nearest_first(starts, 5)
    assert starts[order[0]] <= 5 < starts[order[0] + 1]
    assert sorted(order) == list(range(len(starts) - 1))


def test_a_look_from_elsewhere_is_mended():
    mended = gisting_status.look_of({"size": 99, "theme": "neon", "face": "sans"})
    assert mended == {**gisting_status.LOOK, "face": "sans"}
    assert gisting_status.look_of({"size": 5, "face": "local:OpenDyslexic"})["size"] == 23  # of an earlier version
    before = gisting_status.look_of({"measure": "wide", "lines": "tight"})
    assert (before["measure"], before["lines"]) == (74, 145)
    assert gisting_status.look_of({"measure": 91, "lines": [130]}) == gisting_status.LOOK
    assert gisting_status.look_of({"face": "local:OpenDyslexic"})["face"] == "local:OpenDyslexic"


def test_units_are_chapters_and_parts_of_long_ones():
    texts = tuple(Paragraph("word " * 100) for _ in range(100))
    plain = Document("T", texts)
    assert book_text.unit_starts(plain, 5.0) == [0, 15, 30, 45, 60, 75, 90, 100]
    document = Document("T", texts, (Section("One", 0), Section("Two", 10), Section("Short", 80), Section("Next", 81)))
    assert book_text.unit_starts(document, 5.0) == [0, 10, 50, 80, 100]  # 'Short' shares its unit
    outline = book_text.book_outline(document, 10_000)
    assert outline["chapters"] == [0, 10, 80, 81]
    assert [words for *_, words in outline["sections"]] == [1000, 7000, 100, 1900]
    assert sum(words for _, words in outline["units"]) == 10_000


def test_chapters_are_the_innermost_sections_that_are_not_short():
    texts = tuple(Paragraph("word " * 100) for _ in range(60))
    stories = (Section("First", 2, 3), Section("Moral", 10, 4), Section("Notes", 11, 4), Section("Second", 12, 3))
    parts = (Section("Book", 0), Section("Sources", 0, 2), Section("Tales", 1, 2), *stories)
    chapters = (Section("Third", 20, 3), Section("I", 20, 4), Section("II", 40, 4))
    document = Document("T", texts, (*parts, *chapters))
    assert book_text.chapter_starts(document, 5.0) == [0, 1, 2, 12, 20, 40]


def test_the_line_of_a_reading_says_its_speed_and_that_it_waits():
    memory = a_memory()
    kept = replace(memory, gists=(Gist("One."), Gist("Four.")))
    value = GistingProgress(2, 2, 5, 5, Usage(), kept, gists_loaded=1)
    line = gisting_status.job_line(Snapshot(started=100.0, value=value), SimpleNamespace(), kept, now=120.0)
    assert line["more"].startswith("3.0 pages a minute")  # one page in twenty seconds
    value = replace(value, gists=1, memory=memory)
    line = gisting_status.job_line(Snapshot(started=100.0, value=value), SimpleNamespace(), memory, now=110.0)
    assert "left" not in line["rest"]  # nothing was read yet to judge by
    waits = Snapshot(value=value, waiting="It is busy.", waiting_until=9.0)  # after its last pause
    line = gisting_status.job_line(waits, SimpleNamespace(recorded=""), memory, now=1.0)
    assert (line["paging"], line["line"]) == (False, "Waiting to try again")
    assert line["rest"].startswith("It is busy · continues")
    tried = Snapshot(value=value, waiting="Waiting 3 s: the server could not be reached (try 2)", waiting_until=9.0)
    line = gisting_status.job_line(tried, SimpleNamespace(recorded=""), memory, now=1.0)
    assert line["rest"].startswith("the server could not be reached · continues")


def test_gists_of_another_model_are_not_resumed_by_the_one_in_use():
    memory = replace(a_memory(), complete=False)
    gisting = SimpleNamespace(recorded="", why="", reason=StopReason.NONE, state="paused")
    built_in = [["settings", "Connect a model"], ["go", "Make gists with the built-in reader"]]
    small = [["go", "Make gists with small"]]
    for other, actions in ((None, [["go", "Resume"]]), ("small", small), ("/models/small.gguf", small), ("", built_in)):
        line = gisting_status.job_line(None, gisting, memory, now=1.0, other_model=other)
        assert line["actions"] == actions


def test_times_for_people():
    spans = [gisting_status.span(seconds) for seconds in (0.2, 59, 200, 3600, 4800)]
    assert spans == ["1 s", "59 s", "3 min", "1 h", "1 h 20 min"]


def test_a_line_says_how_many_pages_are_saved_of_a_reading_that_waits():
    whole = make_memory(FIVE * 3, complete=False)
    for count, line in ((1, "1 of about 3 pages is saved"), (2, "2 of about 3 pages are saved"),
                        (3, "3 of about 3 pages are saved")):  # fmt: skip
        memory = replace(whole, pages=whole.pages[:count], gists=whole.gists[:count])
        progress = GistingProgress(count, count, 5 * count, 15, Usage(), memory)
        waits = Snapshot(value=progress, waiting="It is busy.", waiting_until=2.0)
        job = gisting_status.job_line(waits, SimpleNamespace(recorded=""), memory, now=1.0)
        assert (job["line"], job["rest"].endswith(line)) == ("Waiting to try again", True)


def test_what_making_gists_takes_is_told_at_the_price_of_now(open_workspace, monkeypatch):
    """Somebody who has just corrected a price decides by this line whether to buy."""
    monkeypatch.setattr(start.st, "session_state", {})
    with FakeServer() as server:
        before, now = (open_workspace(server.url, prices={"fake-model": [price, price]}) for price in (1000.0, 5000.0))
        book = before.library.add(random_document(2))
        told = [start.estimate_of(workspace, book).split("$")[1] for workspace in (before, now)]
    assert told[0] != told[1]
