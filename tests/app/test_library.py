"""What the library's screen is sent, and what its acts do."""

from __future__ import annotations

import base64
import time
import tomllib
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from pages.parts.library import acts, cards, first_visit, imports
from pages.parts.library.imports import import_record, start_import
from pages.parts.library.series import SAID
from pages.parts.shared import covers
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act
from pages.parts.shared.shell import title_of
from readagent_core.cancel import CancelToken, key_lock
from readagent_core.companion.marks import make_mark
from readagent_core.document import Cover, Document, Notice, Paragraph, Picture
from readagent_core.errors import (
    MissingError,
    ModelLoadingError,
    NotThereError,
    PasswordError,
    ReadAgentError,
    ServerFailedError,
    TooLargeError,
)
from readagent_core.export.memory import export_memory
from readagent_core.gisting.job import PAUSED
from readagent_core.gisting.progress import GistingProgress
from readagent_core.incoming.samples import add_samples
from readagent_core.jobs import Snapshot
from readagent_core.library.marks import BOOKMARK, Spot
from readagent_core.library.records import Book, Card, GistingState, Position, StopReason
from readagent_core.library.upkeep import start_upkeep
from readagent_core.loaders import DEFAULT, load
from readagent_core.memory import Gist, Page
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from tests.app.conftest import ROOT
from tests.recordings import make_memory

BOOK = Book("b", "d", "The Lamp", "", "en", "html", words=1000, added=5.0)
HALF = Card(
    BOOK, Position(), 1, GistingState.PAUSED, StopReason.PAUSED, PAUSED, "m", pages=12, gists=10, words_covered=500
)


def test_the_library_opens_with_the_samples_and_takes_files(app):
    at = app()
    assert not at.exception
    at.file_uploader[0].set_value([("scan.epub", b"not an epub", "application/epub+zip")]).run()
    assert not at.exception
    (one,) = imports.imports_of(get_workspace())
    one.job.join(120)
    record = import_record(get_workspace(), one)
    assert (record["name"], record["state"]) == ("scan.epub", "failed")
    assert "named like an EPUB" in record["text"]


def test_what_is_taken_and_what_is_opened_are_one_limit():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] * 2**20 == DEFAULT.file
    for name, text in (("x.txt", "a word " * 6_000_000), ("x.html", "<p>a word</p>" * 1_000_000)):
        with pytest.raises(TooLargeError, match=r"at most (32|12) MB"):
            load(text.encode(), name)


@pytest.mark.parametrize(
    ("card", "record"),
    [
        (replace(HALF, pages=0, reason=StopReason.NONE), None),
        (
            replace(HALF, pages=0, gists=0, words_covered=0, reason=StopReason.SETTINGS, why="No server. Start it."),
            {"state": "stopped", "share": 0.0, "pages": 0, "made": 0, "why": "No server."},
        ),
        (HALF, {"state": "paused", "share": 0.5, "pages": 20, "made": 10}),
        (replace(HALF, reason=StopReason.NONE, why=""), {"state": "paused", "share": 0.5, "pages": 20, "made": 10}),
        (replace(HALF, state="done"), {"state": "ready", "share": 1, "pages": 12, "made": 10}),
        (
            replace(HALF, state=GistingState.FAILED, reason=StopReason.BUG, why="It gave 3.5 replies. Try again."),
            {"state": "stopped", "share": 0.5, "pages": 20, "made": 10}
            | {"why": "It gave 3.5 replies. 10 gists saved."},
        ),
        (
            replace(HALF, reason=StopReason.BUDGET, why="The budget is used", gists=1),
            {"state": "stopped", "share": 0.5, "pages": 2, "made": 1, "why": "The budget is used. 1 gist saved."},
        ),
    ],
)
def test_a_card_says_how_far_its_gists_are(card, record):
    assert cards.gists_record(card, model="m") == record
    other = None if record is None else record | {"model": "m"}  # another model cannot continue them
    assert cards.gists_record(card, model="another") == other


def test_a_hit_is_shown_without_the_signs_of_emphasis():
    parts = [("She blows—_that_ ", False), ("time", True), ("_ of a snake_case", False)]
    shown = [("She blows—that ", False), ("time", True), (" of a snake_case", False)]
    assert cards.without_marks(parts, "text") == shown
    assert cards.without_marks(parts, "pdf") == parts


def test_gists_being_made_say_how_long_they_will_take():
    memory = make_memory(["five words are on this page"] * 8, complete=False)
    so_far = replace(memory, pages=memory.pages[:4], gists=(*memory.gists[:2], None, None))
    progress = GistingProgress(4, 2, 12, 48, Usage(), so_far)
    snapshot = Snapshot(value=progress, started=100.0)
    assert cards.running_record(snapshot, now=220.0) == {
        "state": "making", "share": 0.25, "pages": 8, "made": 2, "rest": "6 min left"
    }  # fmt: skip
    assert "rest" not in cards.running_record(snapshot, now=105.0)
    assert cards.running_record(replace(snapshot, waiting="busy"))["rest"] == "waiting for the model"
    assert cards.running_record(Snapshot())["rest"] == "finding the first pauses"


def test_gists_made_by_another_process_are_told_from_those_that_a_crash_interrupted(open_workspace):
    workspace = open_workspace()
    book = workspace.library.add(Document("T", (Paragraph("One two three."), Paragraph("Four five six."))))
    plan = GistingPlan(max_words=10, min_words=1)
    gisting = workspace.library.open_gisting(book.id, plan, workspace.model.name)
    store = workspace.library.store(gisting.id)
    store.save_page(Page(1, 0, 1, 3))
    store.save_gist(1, Gist("One."))
    (card,) = workspace.library.cards()
    half = {"share": 0.5, "pages": 2, "made": 1}
    assert cards.gists_of(workspace, card, {}) == half | {"state": "paused"}
    lock = workspace.library.gisting_lock(gisting.id)
    assert lock.acquire()
    assert cards.gists_of(workspace, card, {}) == half | {"state": "making"}
    lock.release()


def test_a_book_is_sent_without_what_says_nothing():
    small = {"id": "b", "title": "The Lamp", "words": 1000, "added": 5.0, "lang": "en", "kind": "web page"}
    assert cards.book_record(Card(BOOK, Position()), None) == small
    position = Position(9, 7, 400, section="Two", share=0.13)
    more = {"read": 400, "at": 0.13, "section": "Two", "tags": ("sea",), "gists": {"state": "ready"}}
    assert cards.book_record(Card(BOOK, position, tags=("sea",)), {"state": "ready"}) == small | more


def test_a_book_of_pictures_tells_how_many(open_workspace):
    library = open_workspace("").library
    pictures = tuple(Picture(f"{number:032}", "image/png", b"\x89PNG") for number in range(12))
    library.add(
        Document("Haruko", (Paragraph("A man greets her at the sea. " * 60),), format="epub", pictures=pictures)
    )
    (card,) = library.cards()
    assert cards.book_record(card, None)["pictures"] == 12
    novel = replace(card, book=replace(card.book, words=50_000))
    slides = replace(card, book=replace(card.book, format="pptx"))
    assert not any("pictures" in cards.book_record(one, None) for one in (novel, slides))


def test_a_card_tells_the_place_in_a_series(open_workspace):
    library = open_workspace().library
    ids = [library.add(Document(name, (Paragraph(f"{name}, a lamp."),))).id for name in ("One", "Two")]
    library.put_in_order("Lamps", ids)
    told = {card.book.title: cards.book_record(card, None).get("series") for card in library.cards()}
    assert told == {"One": ["Lamps", 1], "Two": ["Lamps", 2]}
    library.put_in_order("Lamps", [])
    assert not any(card.series for card in library.cards())


def test_the_drawing_of_the_first_visit_is_true(open_workspace):
    workspace = open_workspace()
    add_samples(workspace)
    books = workspace.library.cards()
    assert first_visit.is_first_visit(workspace, books, [])
    data = first_visit.first_visit(workspace, books)
    assert len(data["pages"]) == 25
    assert len(data["others"]) == 2
    memory = workspace.library.memory(workspace.library.gistings(data["story"])[0].id)
    page = memory.page(first_visit.EXAMPLE["page"])
    words = "".join(c for c in memory.document.text(page.start, page.end) if c.isalnum())
    for part in ("before", "marked"):
        assert "".join(c for c in first_visit.EXAMPLE[part] if c.isalnum()) in words
    kept = make_mark(memory.document, data["story"], BOOKMARK, Spot(0, 0), Spot(0, 0))
    workspace.library.put_mark(kept)  # from Ask: it is found under Notes
    assert not first_visit.is_first_visit(workspace, books, [])
    workspace.library.remove_mark(kept.id)
    own = workspace.library.add(Document("My own", (Paragraph("A text."),)))
    assert not first_visit.is_first_visit(workspace, workspace.library.cards(), workspace.library.removed())
    workspace.library.remove(own.id)  # Undo and the removed books stay in reach
    assert not first_visit.is_first_visit(workspace, workspace.library.cards(), workspace.library.removed())


def test_a_file_that_is_here_is_not_said_to_be_added_and_its_note_goes_with_the_book(open_workspace):
    workspace = open_workspace()
    told = []
    for name in ("lamp.txt", "again.txt"):
        one = start_import(workspace, name, b"The Lamp\n\nIt was lit at dusk.")
        one.job.join(60)
        told.append((one, import_record(workspace, one)))
    (first, new), (second, present) = told
    assert (new["state"], new["here"], present["here"]) == ("opened", "", new["book"])
    workspace.library.remove(new["book"])
    assert [import_record(workspace, one) for one in (first, second)] == [None, None]
    workspace.library.restore(new["book"])
    assert import_record(workspace, first) == new


def test_a_search_of_all_texts_keeps_back_what_was_not_read(open_workspace):
    library = open_workspace().library
    book = library.add(Document("The Lamp", tuple(Paragraph(f"A lamp, lit on day {n}.") for n in range(3))))
    library.set_limit(book.id, on=True, paragraph=2)
    list(library.index_texts())

    def kept() -> dict[int, bool]:
        (card,) = library.cards()
        return {hit.paragraph: cards.hit_record(hit, card)[-1] for hit in library.search_all("lamp", limit=5)}

    assert kept() == {0: False, 1: False, 2: True}
    library.set_limit(book.id, on=False)
    assert not any(kept().values())


def test_what_is_doubtful_in_a_file_is_told_where_it_was_added(open_workspace):
    workspace = open_workspace()
    told = []
    for name, data in (
        ("lamp.txt", b"The Lamp, lit at dusk."),
        ("odd.txt", b"The Lamp\n\n" + b"caf\xe9 \x81\x8d " * 9),
    ):
        one = start_import(workspace, name, data)
        one.job.join(60)
        told.append(import_record(workspace, one))
    assert [record["check"] for record in told] == [False, True]
    assert "word" in told[0]["text"]
    doubts = workspace.library.document(told[1]["book"]).warnings
    assert told[1]["text"] in [notice.message for notice in doubts]


def series() -> None:
    import streamlit as st

    from pages.parts.library.series import draft_of, put_in_order
    from pages.parts.shared.cached import get_workspace

    if "draft" not in st.session_state:  # the act that opens the dialog comes once
        books = get_workspace().library.books()
        st.session_state["draft"] = draft_of(get_workspace(), [one.id for one in books if one.title in ("One", "Two")])
    put_in_order(get_workspace(), st.session_state["draft"])


def undoing_series() -> None:
    from pages.parts.library.acts import change_library
    from pages.parts.shared.cached import get_workspace
    from pages.parts.shared.component import Act

    change_library(get_workspace(), Act("undo_series"))


def test_a_series_is_put_in_order_and_one_that_is_chosen_keeps_its_books(app):
    app()
    library = get_workspace().library
    one, two, old = (library.add(Document(name, (Paragraph(f"{name}, a lamp."),))).id for name in ("One", "Two", "Old"))
    library.put_in_order("Fog", [old])

    def press(at: AppTest, label: str) -> None:
        next(button for button in at.button if button.label.startswith(label)).click().run()
        assert not at.exception

    library.put_in_order("Lamps", [one, two])
    at = AppTest.from_function(series, default_timeout=60).run()
    press(at, "Move down: One")
    press(at, "Save")
    assert library.series_of(one) == ("Lamps", [two, one])

    at = AppTest.from_function(series, default_timeout=60).run()
    at.selectbox[0].set_value("Fog").run()  # joined: its own book stays the first
    press(at, "Take out of the series: Two")
    press(at, "Save")
    assert library.series_of(old) == ("Fog", [old, one])
    assert library.series_of(two) == ("Lamps", [two])
    assert at.session_state[SAID]["text"] == "Saved the series Fog, 2 books"
    undoing = AppTest.from_function(undoing_series, default_timeout=60)
    undoing.session_state["series_before"] = at.session_state["series_before"]
    assert not undoing.run().exception
    assert (library.series_of(old), library.series_of(one)) == (("Fog", [old]), ("Lamps", [two, one]))


def test_a_book_that_was_marked_as_finished_is_told_as_finished(open_workspace):
    library = open_workspace().library
    book = library.add(Document("The Lamp", (Paragraph("A lamp."),)))
    assert "finished" not in cards.book_record(library.cards()[0], None)
    library.finish(book.id)
    assert cards.book_record(library.cards()[0], None)["finished"] is True


def test_acts_change_the_library_and_an_error_is_shown(app):
    app()
    library = get_workspace().library
    ids = [book.id for book in library.books()]

    def act(do, *books, text=""):
        acts.change_library(get_workspace(), Act(do, text=text, of=",".join(books)))

    act("add_shelf", *ids[:2], text="Sea")
    act("take_off_shelf", ids[0], text="Sea")
    act("put_on_shelf", ids[2], text="Sea")
    act("add_tag", *ids, text="old")
    act("remove_tag", ids[0], text="old")
    act("remove", ids[0])
    assert {card.book.id: (card.shelves, card.tags) for card in library.cards()} == {
        ids[1]: (("Sea",), ("old",)),
        ids[2]: (("Sea",), ("old",)),
    }
    act("restore", ids[0])
    act("rename_shelf", "Sea", text="Rivers")
    assert [shelf.name for shelf in library.shelves()] == ["Rivers"]
    act("remove_shelf", text="Rivers")
    assert library.shelves() == []


def png(width, height):
    out = BytesIO()
    Image.new("RGBA", (width, height), (200, 30, 30, 255)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("data", [png(900, 1400), png(8, 8), b"\x89PNG not a picture", b""])
def test_a_cover_becomes_a_small_picture_or_none(open_workspace, data):
    library = open_workspace().library
    book = library.add(Document("T", (Paragraph("A text."),), cover=Cover(data, "image/png")))
    address = covers.thumbnail(library, book)
    if data.endswith(b"\xaeB`\x82"):  # as every whole PNG ends
        head, body = address.split(",")
        picture = Image.open(BytesIO(base64.b64decode(body)))
        assert head == "data:image/jpeg;base64"
        assert picture.height <= 386
        with library._db.write() as connection:
            connection.execute("DELETE FROM cover")
    assert covers.thumbnail(library, book) == address  # stored


def test_an_error_without_a_title_has_that_of_its_kind():
    assert title_of(ModelLoadingError("")) == title_of(ServerFailedError(""))
    assert title_of(MissingError("Write."))[0] == ""  # not that of a setting
    assert title_of(NotThereError(""))[0] == "There is no page at this address"
    assert title_of(None)[0] == title_of(ReadAgentError(""))[0] == "This did not work"


def test_what_cannot_be_opened_says_why_and_exported_gists_are_a_book_that_has_them(open_workspace):
    workspace = open_workspace()

    def dropped(name, data):
        one = start_import(workspace, name, data)
        one.job.join(120)
        return import_record(workspace, one)

    for name, data, title, text in (
        ("broken.epub", b"this is no archive", "The file is not what its name says.", "named like an EPUB"),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(400), "This kind of file cannot be opened.", ""),
        ("x.json", b'{"no": "gists"}', "The file is not what its name says.", "no exported gist memory"),
    ):
        record = dropped(name, data)
        assert (record["state"], record["title"]) == ("failed", title)
        assert text in record["text"]
    memory = make_memory([f"On day {n} there was fog. " * 9 for n in range(3)], [f"Fog, {n}." for n in range(3)])
    came = dropped("fog-gists.json", export_memory(memory, "json"))
    assert (came["state"], came["here"], came["gists"]) == ("opened", "", 3)
    assert came["text"].endswith(", 3 gists.")
    other = replace(memory, model="another model")
    again = [dropped("fog-gists.json", export_memory(other, "json")) for _ in range(2)]
    assert [(one["here"], one.get("gists")) for one in again] == [(came["book"], 3), (came["book"], None)]
    (card,) = workspace.library.cards()
    assert cards.gists_of(workspace, card, {})["state"] == "ready"


def test_upkeep_deletes_what_was_removed_long_ago_and_prepares_the_search(open_workspace):
    workspace = open_workspace()
    library = workspace.library
    books = [library.add(Document(name, (Paragraph(f"{name}, a lamp."),))) for name in ("One", "Two", "Three")]
    library.remove(books[0].id, books[1].id)
    library._set([books[0].id], "removed", time.time() - 31 * 86_400)
    assert start_upkeep(workspace.library, workspace.jobs).join(120).state == "done"
    assert [book.title for book in library.removed()] == ["Two"]
    assert [hit.book_id for hit in library.search_all("lamp", limit=5)] == [books[2].id]
    assert library.unsearchable() == 0


def test_a_file_that_waits_is_not_opened_after_it_was_dismissed(open_workspace):
    workspace = open_workspace()
    with key_lock(f"import into {workspace.home}", CancelToken()):
        one = start_import(workspace, "a.txt", b"A text.")
        assert import_record(workspace, one)["state"] == "waiting"
        one.job.cancel()
    assert one.job.join(120).state == "cancelled"
    assert workspace.library.books() == []


def test_the_note_of_a_file_goes_when_a_book_is_opened_unless_the_file_failed(open_workspace, monkeypatch):
    workspace, opened = open_workspace(), []
    monkeypatch.setattr(acts.st, "session_state", {})
    monkeypatch.setattr(acts.st, "switch_page", lambda page, **_: opened.append(page))
    files = [start_import(workspace, "a.txt", b"A text."), start_import(workspace, "b.epub", b"not an epub")]
    imports.add_imports(workspace, files)
    states = [one.job.join(120).state for one in files]
    acts.open_screen(workspace, Act("open", of=workspace.library.books()[0].id))
    assert (states, opened) == (["done", "failed"], ["pages/read.py"])
    assert imports.imports_of(workspace) == files[1:]


def test_a_file_whose_bytes_are_dropped_is_to_be_added_again(open_workspace, monkeypatch):
    workspace = open_workspace()
    files = [start_import(workspace, f"{n}.txt", b"") for n in range(2)]
    for one in files:
        one.job.join(120)
        one.job.publish(failure=PasswordError("Type its password to open it."))
        one.data = b"locked"
    imports.add_imports(workspace, files)
    monkeypatch.setattr(imports, "_KEPT_BYTES", 6)
    imports.add_imports(workspace, [])
    older, newer = (import_record(workspace, one) for one in files)
    assert (newer["state"], older["state"]) == ("password", "failed")
    assert older["text"].endswith("Add the file again for that.")


def test_an_import_says_what_was_found(open_workspace):
    workspace = open_workspace()
    one = start_import(workspace, "雪.md", "# 雪\n\n## 一\n\n雪が 降る。\n\n## 二\n\n終わり。\n".encode())
    one.job.join(120)
    record = import_record(workspace, one)
    assert (record["state"], record["text"]) == ("opened", "2 sections.")


def test_a_book_of_pictures_is_told_as_one_when_it_is_added(open_workspace):
    workspace = open_workspace()
    pictures = (Notice("picture-parts", "Only pictures without a description: 9 parts.", 9),)
    book = workspace.library.add(replace(load(b"Cover\n\nThe end.", "manga.txt"), warnings=pictures))
    job = workspace.jobs.start("import manga", lambda job: book.id)
    job.join(20)
    told = import_record(workspace, imports.Import("manga.epub", b"", job, "one"))
    assert told["text"].startswith("mostly pictures, with little text to read here")
