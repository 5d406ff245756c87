"""A book is asked before it has gists: by search, then with those there are, and again when all are made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from readagent_core.answering import replay
from readagent_core.answering.ask import SEARCH, SEARCH_AND_GISTS, WHOLE
from readagent_core.answering.asking import ask
from readagent_core.answering.base import AskSettings, NoteCode, Question
from readagent_core.citations import FROM_PAGE
from readagent_core.document import Document, Paragraph, Section
from readagent_core.gisting.job import start_gisting
from readagent_core.library.records import GistingState
from readagent_core.memory import Gist
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel

LINES = " ".join(f"Line {n} of the log was kept by a patient clerk in the harbour office." for n in range(9))
WORDS = [f"{LINES} The lamp of part {n} was lit by keeper{n} with oil{n}." for n in range(60)]
ASKED = "Who lit the lamp of part 57 with oil57?"


@pytest.fixture
def book(open_workspace):
    workspace = open_workspace()
    sections = tuple(Section(f"Chapter {n + 1}", n * 10) for n in range(6))
    document = Document("Log", tuple(map(Paragraph, WORDS)), sections=sections)
    return workspace, workspace.library.add(document)


def asked(workspace, book, text=ASKED, **how):
    exchange, job = ask(workspace, book.id, Question(text), settings=AskSettings(may_decline=True), **how)
    job.join(120)
    return workspace.library.exchange(exchange.id)


def said(exchange):
    return replay.notes(replay.events_of(exchange), NoteCode.BY_SEARCH)


def checked(workspace, exchange):
    events = replay.events_of(exchange)
    memory = workspace.library.memory(exchange.gisting_id)
    return replay.checked_answer(replay.answer_text(events), replay.answer_of(events), memory), memory


def test_a_book_without_gists_is_searched_and_the_answer_stays_right_when_they_are_made(book):
    workspace, log = book
    exchange = asked(workspace, log)
    assert (exchange.state, exchange.method) == ("done", SEARCH)
    assert said(exchange) == ["Answered by search; no gists yet."]
    before, memory = checked(workspace, exchange)
    cited = before.citations[0]
    assert cited.state == FROM_PAGE
    assert "keeper57" in memory.document.paragraphs[cited.places[0].paragraph].text
    assert workspace.library.gistings(log.id) == []  # what is searched is no gisting, on no card and in no list
    assert workspace.library.cards()[0].gisting_id is None
    again = asked(workspace, log)
    assert again.gisting_id == exchange.gisting_id
    start_gisting(workspace, log.id, GistingPlan(max_words=400, min_words=100)).join(120)
    (made,) = workspace.library.gistings(log.id)
    assert made.state == GistingState.DONE
    assert checked(workspace, workspace.library.exchange(exchange.id))[0] == before
    assert asked(workspace, log).gisting_id == made.id


def test_while_gists_are_made_an_answer_has_those_and_searches_the_rest(book):
    workspace, log = book
    plan = GistingPlan(max_words=400, min_words=100)
    start_gisting(workspace, log.id, plan).join(120)
    (made,) = workspace.library.gistings(log.id)
    whole = workspace.library.memory(made.id)
    half = replace(whole.up_to(3), document=whole.document, gists=tuple(Gist(f"gistword{n}") for n in range(1, 4)))
    workspace.library.put_memory(made.id, half)
    model = FakeModel("ANSWER keeper57 did [9].")
    exchange = asked(workspace, log, model=model)
    assert exchange.method == SEARCH_AND_GISTS
    assert said(exchange) == ["Answered with the gists of pages 1 to 3; the rest by search."]
    assert "gistword3" in model.prompts[-1].text
    assert "keeper57" in model.prompts[-1].text
    kept = workspace.library.memory(exchange.gisting_id)
    assert kept.gists[:3] == half.gists
    assert kept.pages[-1].end == len(kept.document.paragraphs)
    assert [g.id for g in workspace.library.gistings(log.id)] == [made.id]


def test_a_short_text_is_sent_whole(open_workspace):
    workspace = open_workspace(model=FakeModel("keeper3."))
    short = workspace.library.add(Document("Short", tuple(map(Paragraph, WORDS[:5]))))
    exchange = asked(workspace, short)
    assert exchange.method == WHOLE
    assert said(exchange) == ["Answered from the whole text; no gists yet."]
    assert all(words in workspace.model.prompts[-1].text for words in ("keeper0", "keeper4"))
