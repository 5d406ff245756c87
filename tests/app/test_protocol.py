"""What the screens send to their scripts has exactly the fields that assets/protocol.d.ts declares."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st

from pages.parts.library import catalogue
from pages.parts.library.notes import _record as notes_record
from pages.parts.read.marks import mark_record
from pages.parts.read.passages import NO_DICTIONARY, NOT_FOUND, passage_data
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import component
from readagent_core.companion.marks import make_mark
from readagent_core.dictionaries.shelf import FOLDER, Dictionaries
from readagent_core.document import Document, Paragraph
from readagent_core.errors import LoginError
from readagent_core.incoming.catalogues import Catalogue
from readagent_core.incoming.opds import parse_page
from readagent_core.library.marks import Spot
from tests.answering.test_library_shelf import add, tale
from tests.app.protocol import declared, faults
from tests.app.test_act import PAGE
from tests.dictionaries.making import make_stardict
from tests.incoming.test_catalogues import SHELF
from tests.library.test_original_pages import opened

MESSAGES = {  # component, and the kind of its data: what it gets
    "memory_view read": "ReaderData",
    "memory_view outline": "OutlineData",
    "memory_view memory": "FollowData",
    "memory_view shelf": "FollowData",
    "memory_view maps": "FollowData",
    "memory_view notes": "AllNotesData",
    "memory_pages": "PageBatch",
    "book_text": "TextBatch",
    "reader_marks marks": "MarksData",
    "reader_marks passage": "PassageData",
    "reader_world world": "WorldData",
    "reader_world notes": "WorldBatch",
    "reader_world series": "SeriesData",
    "reader_world study": "StudyData",
    "answer_view conversation": "ConversationData",
    "answer_view conversations": "ConversationListData",
    "answer_view exchange": "ExchangeRecord",
    "answer_view replay": "ReplayData",
    "answer_view suggestions": "SuggestionsData",
    "answer_live": "AskState",
    "library library": "LibraryData",
    "library first": "FirstVisitData",
    "library_feed feed": "FeedData",
    "gists queue": "QueueData",
    "catalogue catalogue": "CatalogueData",
    "polling": "Polling",
    "compare_rows": "ComparisonData",
    "evaluate_drawing": "DrawingData",
    "own_questions questions": "QuestionsData",
    "web_page": "Board",
}
Sent = dict[str, list[Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    """The data of every component that is drawn in the test, by the component's name and the kind of the data."""
    found: Sent = defaultdict(list)
    real = st.components.v2.component

    def recorded(name: str, **files: Any) -> Any:
        mount = real(name, **files)

        def show(**options: Any) -> Any:
            (data,) = json.loads(json.dumps(options["data"]))
            kind = data.pop("kind", "")
            found[f"{name} {kind}".strip()].append(data)
            return mount(**options)

        return show

    monkeypatch.setattr(st.components.v2, "component", recorded)
    component.cache_clear()
    yield found
    component.cache_clear()


def check(sent: Sent, *names: str) -> None:
    """Each message is as declared, and each of ``names`` was among them."""
    assert set(names) <= set(sent), f"not sent: {set(names) - set(sent)}"
    wrong = {
        name: found for name, all_data in sent.items() for data in all_data if (found := faults(data, MESSAGES[name]))
    }
    assert not wrong


def test_a_fault_of_each_kind_is_found() -> None:
    page = {"number": 1, "start": 0, "paragraphs": ["a"], "words": 1, "ends": "pause", "headings": [[0, 1, "b"]]}
    assert not faults(page, "Page")
    assert faults({**page, "n": 1}, "Page") == [": n is not declared"]
    assert faults({**page, "ends": "soon", "headings": [[0, "1", "b"]]}, "Page") == [
        ".ends: 'soon' is no \"pause\"",
        ".headings[0][1]: '1' is no number",
    ]
    assert faults({key: value for key, value in page.items() if key != "words"}, "Page") == [": words is missing"]
    assert faults({**page, "start": True}, "Page") == [".start: True is no number"]
    assert set(MESSAGES.values()) <= set(declared())


def test_the_library(app, sent: Sent) -> None:
    app()
    check(sent, "library first", "polling")
    add(get_workspace(), tale(1))
    app()
    check(sent, "library library", "library_feed feed")


def test_the_reader(app, sent: Sent) -> None:
    screen = app("pages/read.py")
    check(sent, "memory_view read", "memory_view outline", "book_text", "memory_pages", "reader_marks marks")
    screen.run()  # the world comes after the text, once a job has loaded it
    for job in get_workspace().jobs.running():
        job.join(60)
    screen.run()
    check(sent, "reader_world world", "reader_world notes", "reader_world study")


def test_ask(app, sent: Sent) -> None:
    app("pages/ask.py")
    check(
        sent,
        "memory_view memory",
        "memory_pages",
        "answer_live",
        "answer_view conversation",
        "answer_view conversations",
        "answer_view suggestions",
        "answer_view replay",
    )


def test_several_books(app, sent: Sent) -> None:
    app("pages/ask.py")
    books = add(get_workspace(), tale(1), tale(2))
    app("pages/ask.py", books=",".join(books))
    check(sent, "memory_view shelf", "memory_view maps", "answer_live", "answer_view conversation")


def test_compare_and_evaluate(app, sent: Sent) -> None:
    app("pages/compare.py")
    at = app("pages/evaluate.py")
    at.segmented_control(key="evaluate_part").set_value("Your own questions").run()
    check(sent, "own_questions questions")
    at.segmented_control(key="evaluate_part").set_value("Ready-made").run()
    at.button(key="evaluate_show_recorded").click().run()
    check(sent, "compare_rows", "evaluate_drawing")


def test_marks_and_what_is_asked_about_words(app, sent: Sent) -> None:
    app()
    workspace = get_workspace()
    (book_id,) = add(workspace, tale(1))
    book, document = workspace.library.book(book_id), workspace.library.document(book_id)
    mark = make_mark(document, book_id, "note", Spot(0, 0), Spot(0, 5), colour="sky", note="Why?")
    assert not faults(json.loads(json.dumps(mark_record(mark, document))), "MarkRecord")
    assert not faults(json.loads(json.dumps(notes_record(book, [mark]))), "BookMarks")
    words = {"task": "define", "id": "q", "words": "the", "start": [0, 0], "end": [0, 5], "language": "en", "at": 1}
    found = passage_data(workspace, book, document, words)
    assert not faults(json.loads(json.dumps({"book": book_id, **(found or {})})), "PassageData")
    assert (found or {})["signer"]["line"].startswith(NO_DICTIONARY)
    make_stardict(workspace.home / FOLDER, [("lamp", b"a thing that gives light")])
    Dictionaries(workspace.home).update()
    found = passage_data(workspace, book, document, words | {"at": 2})
    assert (found or {})["signer"]["line"].startswith(NOT_FOUND)  # no model is asked for where a word is missing


def test_of_a_common_word_its_number_is_told_and_no_list(app, sent: Sent) -> None:
    app()
    workspace = get_workspace()
    text = (
        "The lamp of Ann was a lamp of the sea and the quay, where Ann sold a boat and the rest of what was hers. " * 12
    )
    book = workspace.library.add(Document("Lamps", (Paragraph(text),)))
    document = workspace.library.document(book.id)
    told = {}
    for number, word in enumerate(["The", "Ann"]):
        start = document.paragraphs[0].text.index(word)
        asked = {"task": "define", "id": word, "start": [0, start], "end": [0, start + len(word)], "at": number}
        told[word] = passage_data(workspace, book, document, asked) or {}
    assert told["The"]["places"] == []
    assert "It stands 48 times in this book" in told["The"]["signer"]["line"]
    assert len(told["Ann"]["places"]) == 8  # a name has a list, however often it occurs


def test_a_web_page(app, sent: Sent) -> None:
    app()
    book = opened(get_workspace(), PAGE, "shop.html")
    app("pages/act.py", book=book.id)
    check(sent, "web_page")


def test_a_catalogue(app, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    app("pages/catalogue.py")
    check(sent, "catalogue catalogue")
    workspace, page = get_workspace(), parse_page(SHELF, "https://x.org/opds")
    now = catalogue.Browsing(
        Catalogue("A shelf", "https://x.org/opds"), [("A shelf", page)], error=LoginError("Sign in")
    )
    monkeypatch.setattr(catalogue, "browsing", lambda: now)
    shown = json.loads(json.dumps(catalogue.data(workspace)))
    assert shown.pop("kind") == "catalogue"
    assert not faults(shown, "CatalogueData")
    assert [one["state"] for one in shown["entries"]] == ["page", "free", "pdf", "borrow", "buy", "none"]
    assert shown["error"] == {"title": "A user and password are needed", "text": "Sign in", "login": True}
    token = shown["entries"][1]["cover"].removeprefix("catalogue-cover/")
    assert token
    assert "x.org" not in json.dumps(shown["entries"])
    assert catalogue.cover_of(workspace, "another") is None
