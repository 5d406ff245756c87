"""The Ask screen as Streamlit runs it: what it says, and that every choice reaches the question."""

from __future__ import annotations

import pytest

from pages.parts.shared.cached import get_workspace
from readagent_core.document import Document, Paragraph
from readagent_core.methods.base import Question
from readagent_core.workspace import suggesting
from readagent_core.workspace.asking import ask
from readagent_core.workspace.reading import newest_memory
from tests.fakes.server import Reply


def the_keeper(workspace):
    return next(b for b in workspace.library.books() if b.title.startswith("The Keeper"))


def newest(workspace, book):
    conversation = workspace.library.conversations(book.id)[0]
    return workspace.library.exchanges(conversation.id)[-1]


def put(at, text):
    """Ask ``text`` on the screen of the novella; its exchange when it has ended."""
    workspace = get_workspace()
    at.chat_input(key="ask_input").set_value(text).run()
    assert not at.exception
    exchange = newest(workspace, the_keeper(workspace))
    workspace.jobs.get(f"ask {exchange.id}").join(20)
    return workspace.library.exchange(exchange.id)


@pytest.fixture
def opened(app):
    """The screen on the novella with its recording, the workspace, and the book."""
    at = app("pages/ask.py")
    assert not at.exception
    return at, get_workspace(), the_keeper(get_workspace())


def test_a_question_is_asked_as_chosen(opened):
    at, _, _ = opened
    assert at.sidebar.selectbox[0].label == "Book"
    assert at.chat_input[0].placeholder == "Ask about the book"
    at.sidebar.selectbox(key="ask_method").set_value("read-agent-s").run()
    at.segmented_control(key="ask_look_ups").set_value(1).run()
    at.text_area(key="ask_options_0").set_value("(A) to steal\n(B) to stop a ship").run()
    exchange = put(at, "Why did Ambrose Vane put out Harrow Light?")
    assert (exchange.method, exchange.settings["look_ups"]) == ("read-agent-s", 1)
    assert exchange.options == ("to steal", "to stop a ship")
    assert exchange.state == "done"
    assert at.query_params["exchange"] == exchange.id or at.query_params["exchange"] == [exchange.id]


def test_only_what_was_read(app, opened):
    at, workspace, book = opened
    workspace.library.set_furthest(book.id, 40)
    at.sidebar.toggle[0].set_value(True).run()
    caption = next(c.value for c in at.sidebar.caption if "Later pages" in c.value)
    exchange = put(at, "What happened?")
    assert f"{exchange.up_to}. Later pages" in caption
    assert 1 <= exchange.up_to < 25
    assert app("pages/ask.py", book=book.id).sidebar.toggle[0].value is True  # it is remembered for the book


def test_an_exchange_opens_by_its_address_and_a_strange_address_does_no_harm(app, opened):
    """A recorded one, and one whose answer came while nobody had the screen open, as when a tab was closed."""
    _, workspace, book = opened
    conversation = workspace.library.conversations(book.id)[0]
    first = workspace.library.exchanges(conversation.id)[0]
    exchange, job = ask(workspace, book.id, Question("Who is Nora?"))
    job.join(20)
    known = [{"book": book.id, "exchange": found.id, "step": "1"} for found in (first, exchange)]
    for address in (*known, {"exchange": "gone"}, {"book": "gone"}, {"step": "99999"}, {"step": "x"}):
        assert not app("pages/ask.py", **address).exception, address


def test_a_book_that_was_not_read_says_so(app):
    app()
    book = get_workspace().library.add(Document("New", (Paragraph("Words of a book. " * 20),)))
    at = app("pages/ask.py", book=book.id)
    assert any("has not been read" in c.value for c in at.caption)
    assert at.button(key="ask_read")
    assert not at.exception


def test_a_conversation_is_renamed_and_deleted(opened):
    at, workspace, book = opened
    at.sidebar.text_input[0].set_value("The night *it* went out")
    next(b for b in at.sidebar.button if b.label == "Rename").click()
    at.run()
    assert workspace.library.conversations(book.id)[0].title == "The night *it* went out"
    at.sidebar.button(key="ask_delete").click().run()
    assert workspace.library.conversations(book.id) == []
    assert not at.exception


def test_a_late_run_with_the_old_address_does_not_undo_a_new_conversation(opened):
    at, workspace, book = opened
    asked = put(at, "Who is Tilda?").id
    at.query_params["exchange"] = asked
    at.run()
    at.sidebar.button(key="ask_new").click().run()
    at.query_params["exchange"] = asked  # a poll for the answer, sent before the click
    at.run()
    exchange = put(at, "Who is Nora?")
    found = workspace.library.conversations(book.id)
    assert (len(found), found[0].title) == (2, "Who is Nora?")  # it is named after its first question
    assert [e.id for e in workspace.library.exchanges(exchange.conversation_id)] == [exchange.id]


def test_questions_are_suggested_only_when_asked_for(app, fake_server):
    """A call of a connected model costs something: it is made on a click, once, and kept."""
    at = app("pages/ask.py")
    assert not fake_server.chats
    fake_server.before = lambda number, text: Reply("Who put out the light?\nWhy did Tilda wait?")
    at.button(key="ask_suggest").click().run()
    assert not at.exception
    assert len(fake_server.chats) == 1
    workspace = get_workspace()
    reading = newest_memory(workspace, the_keeper(workspace).id)[0]
    assert suggesting.saved_suggestions(workspace, reading.id, up_to=None) == [
        "Who put out the light?",
        "Why did Tilda wait?",
    ]
    assert "ask_suggest" not in {button.key for button in at.button}
