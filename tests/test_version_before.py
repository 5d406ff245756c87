"""A library, settings and cached replies of the version before open unchanged: nothing is read again.

``data/home-of-the-version-before.zip`` is a READAGENT_HOME made by that version: a text of six pages, read by a model
of a fake server on port 18999, three questions, a key in settings.json, prices, a position and the reply cache.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from readagent_core.answering import asking, replay
from readagent_core.answering.base import ModelCall, NoteCode, Question
from readagent_core.answering.replay import answer_of, events_of
from readagent_core.cancel import CancelToken
from readagent_core.errors import UnreachableError
from readagent_core.gisting import costs as gisting_costs
from readagent_core.gisting.job import newest_memory, smaller_pages_note, start_gisting
from readagent_core.library import Library, schema
from readagent_core.library.migrations import MIGRATIONS
from readagent_core.library.records import StopReason
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
    gisting, memory = newest_memory(workspace, book.id)
    assert (gisting.state, gisting.model, len(memory.pages)) == ("done", "old-model", 6)
    assert memory.complete
    assert all(gist and gist.text for gist in memory.gists)
    assert gisting.usage.calls > 6
    position = workspace.library.position(book.id)
    assert (position.paragraph, position.furthest, position.allowed) == (5, 5, None)
    assert position.words_read == sum(p.words for p in workspace.library.document(book.id).paragraphs[:5])
    (card,) = workspace.library.cards()
    position = workspace.library.position(book.id)
    assert (card.book, card.position, card.pages, card.gists) == (book, position, 6, 6)
    exchanges = all_exchanges(workspace, book)
    assert sorted(e.method for e in exchanges) == ["memwalker", "read-agent-p", "read-agent-s"]
    for exchange in exchanges:
        assert exchange.state == "done"
        assert answer_of(events_of(exchange)).text


def test_nothing_is_read_again_and_replies_are_taken_for_their_own_prompts_alone(workspace):
    """The server of that library is gone, so any call would fail. Today's prompts have other words."""
    (book,) = workspace.library.books()
    gisting, _ = newest_memory(workspace, book.id)
    assert start_gisting(workspace, book.id, gisting.plan).join(120).state == "done"
    exchange = next(e for e in all_exchanges(workspace, book) if e.method == "read-agent-p")
    calls = [event for event in events_of(exchange) if isinstance(event, ModelCall)]
    assert len(calls) == 2
    for call in calls:
        reply = workspace.model.complete(Prompt(call.task, call.prompt), CancelToken())
        assert (reply.text, reply.cached) == (call.reply, True)
    _, job = asking.ask(workspace, book.id, Question(exchange.question), method=exchange.method)
    assert isinstance(job.join(120).failure, UnreachableError)


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
    (card,) = opened.library.cards()
    assert (card.position.offset, card.position.share > 0) == (-1, with_position)
    assert position.allowed == (None if stored == "false" else 5 if with_position else 0)
    assert opened.library.preference(f"only read {book_id}", None) is None
    opened.library.close()


def test_who_gave_a_stored_answer_gets_its_code(own_home, monkeypatch):
    """An earlier version told it by the line alone."""
    with zipfile.ZipFile(HOME) as archive:
        archive.extractall(own_home)
    before = next(n for n, script in enumerate(MIGRATIONS) if "signed_by" in script)
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", MIGRATIONS[:before])
        Library(own_home).close()
    lines = {"A recording of 2026-11-20, made with m": "recording", "Built-in reader: words": "builtin", "m": "model"}
    old = sqlite3.connect(own_home / "library.db")
    (book_id,) = old.execute("SELECT id FROM book LIMIT 1").fetchone()
    for number, line in enumerate(lines):
        answer = {"question": "Why?", "signature": line, "text": "So.", "pieces": [], "citations": []}
        spot = {"paragraph": 0, "offset": 0}
        body = {"id": f"m{number}", "book_id": book_id, "kind": "answer", "colour": "", "exact": "", "prefix": ""}
        body |= {"suffix": "", "start": spot, "end": spot, "answer": answer}
        old.execute("INSERT INTO mark VALUES (?, ?, ?)", (f"m{number}", book_id, json.dumps(body)))
    old.commit()
    old.close()
    opened = Workspace(load_settings())
    made = {mark.answer["signature"]: mark.answer["signed_by"] for mark in opened.library.marks(book_id) if mark.answer}
    assert {line: made[line] for line in lines} == lines
    opened.library.close()


def all_exchanges(workspace, book):
    return [e for c in workspace.library.conversations(book.id) for e in workspace.library.exchanges(c.id)]


SMALLER = "It is too long. The book is read again in smaller pages, of at most 1,300 words."


@pytest.mark.parametrize(
    ("state", "why", "reason"),
    [
        ("paused", "Paused. Every page read so far is kept; reading goes on from there.", StopReason.PAUSED),
        ("paused", "The budget for this book is used: $2.00 of $2.00 is spent, with all saved.", StopReason.BUDGET),
        ("paused", SMALLER, StopReason.SMALLER_PAGES),
        ("paused", "To be read again from page 3.", StopReason.CUT),
        ("paused", "x.org did not accept the key. Enter a key that is valid there in Settings.", StopReason.SETTINGS),
        ("paused", "The model declined. Another one may take this text.", StopReason.ERROR),
        ("failed", "Something in ReadAgent itself went wrong.", StopReason.BUG),
        ("paused", "", StopReason.NONE),
        ("reading", "", StopReason.NONE),
    ],
)
def test_why_a_reading_stopped_gets_its_code(own_home, state, why, reason):
    """That version told it by the sentence alone."""
    with zipfile.ZipFile(HOME) as archive:
        archive.extractall(own_home)
    old = sqlite3.connect(own_home / "library.db")
    old.execute("UPDATE reading SET state = ?, why = ?", (state, why))
    old.execute(
        "INSERT INTO reading SELECT 99, book_id, document_id, 'smaller', json_set(plan, '$.max_words', 1300), model, "
        "place, 'paused', '', started + 1, ended, recorded, usage, 0 FROM reading"
    )
    old.execute("UPDATE exchange SET state = 'failed', error = ? WHERE number = 1", (why,))
    old.commit()
    old.close()
    opened = Workspace(load_settings())
    new, stopped = opened.library.gistings(opened.library.books()[0].id)
    assert (stopped.state, stopped.reason, stopped.why) == (state, reason, why)
    assert ("were too long" in smaller_pages_note(opened, new)) == (reason == StopReason.SMALLER_PAGES)
    assert (gisting_costs.exceeded_budget(opened, stopped) is not None) == (reason == StopReason.BUDGET)
    failed = min(all_exchanges(opened, opened.library.books()[0]), key=lambda exchange: exchange.asked)
    assert (failed.state, failed.remedy == "settings") == ("failed", reason == StopReason.SETTINGS)
    opened.library.close()


def test_notes_get_their_code_and_facts_that_nobody_knows_are_kept(own_home):
    with zipfile.ZipFile(HOME) as archive:
        archive.extractall(own_home)
    old = sqlite3.connect(own_home / "library.db")
    (exchange_id,) = old.execute("SELECT id FROM exchange ORDER BY number LIMIT 1").fetchone()
    for number, text in ((-2, "Answered from the 2 pages read so far."), (-1, "Cut to fit.")):
        body = json.dumps({"kind": "Noted", "text": text})
        old.execute("INSERT INTO event VALUES (?, ?, ?)", (exchange_id, number, body))
    facts = {"model": "m", "words": 7, "seconds": "slow", "stars": 4, "books": [["b", 3, None]]}
    old.execute("UPDATE exchange SET extra = ? WHERE id = ?", (json.dumps(facts), exchange_id))
    old.commit()
    old.close()
    opened = Workspace(load_settings())
    exchange = opened.library.exchange(exchange_id)
    assert replay.notes(events_of(exchange), NoteCode.READ_SO_FAR) == ["Answered from the 2 pages read so far."]
    assert replay.notes(events_of(exchange), NoteCode.OTHER) == ["Cut to fit."]
    assert (exchange.facts.model, exchange.facts.words, exchange.facts.seconds) == ("m", 7, 0.0)
    assert exchange.facts.books == (("b", 3, None),)
    assert exchange.facts.to_dict() == facts
    opened.library.change_facts(exchange_id, standalone="Who?")
    assert opened.library.exchange(exchange_id).facts.to_dict() == {**facts, "standalone": "Who?"}
    opened.library.close()
