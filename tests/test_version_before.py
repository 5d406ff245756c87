"""A library, settings and cached replies of the version before open unchanged: nothing is read again.

``data/home-of-the-version-before.zip`` is a READAGENT_HOME made by that version: a text of six pages, read by a model
of a fake server on port 18999, three questions, a key in settings.json, prices, a position and the reply cache.
"""

from __future__ import annotations

import sqlite3
import zipfile
from pathlib import Path

import pytest

from readagent_core.answering import asking
from readagent_core.answering.base import ModelCall, Question
from readagent_core.answering.replay import answer_of, events_of
from readagent_core.cancel import CancelToken
from readagent_core.gisting.job import newest_memory, start_reading
from readagent_core.prompts import Prompt
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace

HOME = Path(__file__).parent / "data" / "home-of-the-version-before.zip"


@pytest.fixture
def workspace(own_home):
    with zipfile.ZipFile(HOME) as archive:
        archive.extractall(own_home)
    opened = Workspace(load_settings())
    yield opened
    opened.library.close()


def test_settings_books_readings_and_answers_are_there(workspace):
    settings = workspace.settings
    assert (settings.base_url, settings.model) == ("http://127.0.0.1:18999/v1", "old-model")
    assert settings.api_key.reveal() == "sk-kept-by-the-version-before"
    assert settings.connected
    assert workspace.connections == 4
    assert (workspace.model.price.read, workspace.model.price.written, workspace.model.budget) == (1.0, 2.0, 5.0)
    assert workspace.model.window == 16_000
    (book,) = workspace.library.books()
    reading, memory = newest_memory(workspace, book.id)
    assert (reading.state, reading.model, len(memory.pages)) == ("done", "old-model", 6)
    assert memory.complete
    assert all(gist and gist.text for gist in memory.gists)
    assert reading.usage.calls > 6
    position = workspace.library.position(book.id)
    assert (position.paragraph, position.furthest, position.allowed) == (5, 5, None)
    assert position.words_read == sum(p.words for p in workspace.library.document(book.id).paragraphs[:5])
    (card,) = workspace.library.cards()
    assert (card.book, card.position, card.pages, card.gists) == (book, position, 6, 6)
    exchanges = all_exchanges(workspace, book)
    assert sorted(e.method for e in exchanges) == ["memwalker", "read-agent-p", "read-agent-s"]
    for exchange in exchanges:
        assert exchange.state == "done"
        assert answer_of(events_of(exchange)).text


def test_nothing_is_read_again_and_replies_are_taken_for_their_own_prompts_alone(workspace):
    """The server of that library is gone, so any call would fail. Today's prompts have other words."""
    (book,) = workspace.library.books()
    reading, _ = newest_memory(workspace, book.id)
    assert start_reading(workspace, book.id, reading.plan).join(30).state == "done"
    exchange = next(e for e in all_exchanges(workspace, book) if e.method == "read-agent-p")
    calls = [event for event in events_of(exchange) if isinstance(event, ModelCall)]
    assert len(calls) == 2
    for call in calls:
        reply = workspace.model.complete(Prompt(call.task, call.prompt), CancelToken())
        assert (reply.text, reply.cached) == (call.reply, True)
    _, job = asking.ask(workspace, book.id, Question(exchange.question), method=exchange.method)
    assert job.join(30).error_kind == "UnreachableError"


@pytest.mark.parametrize(("stored", "with_position"), [("true", True), ("true", False), ("false", True)])
def test_a_book_that_was_limited_to_what_is_read_still_is(own_home, stored, with_position):
    """That version had the spoiler limit as a preference of each book; the limit was as far as the person had read."""
    with zipfile.ZipFile(HOME) as archive:
        archive.extractall(own_home)
    old = sqlite3.connect(own_home / "library.db")
    (book_id,) = old.execute("SELECT id FROM book").fetchone()
    old.execute("INSERT INTO preference VALUES (?, ?)", (f"only read {book_id}", stored))
    if not with_position:
        old.execute("DELETE FROM position")
    old.commit()
    old.close()
    opened = Workspace(load_settings())
    position = opened.library.position(book_id)
    assert position.limited == (stored == "true")
    assert position.allowed == (None if stored == "false" else 5 if with_position else 0)
    assert opened.library.preference(f"only read {book_id}", None) is None
    opened.library.close()


def all_exchanges(workspace, book):
    return [e for c in workspace.library.conversations(book.id) for e in workspace.library.exchanges(c.id)]
