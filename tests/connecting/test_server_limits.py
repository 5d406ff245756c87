"""What a server asks for: pauses, shown with the time left, which a person can end; prompts that fit its window.

A window that it does not name is found out, told with the remedy, and found out again for another model.
"""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from pages.parts.shared import gisting_status
from pages.parts.shared.answer import waiting_line
from readagent_core import errors
from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.connecting import connecting
from readagent_core.gisting.job import newest_memory, smaller_pages_note, start_gisting
from readagent_core.jobs import Job, Snapshot
from readagent_core.models import connection
from readagent_core.models.server.quirks import MOST_GUESSES
from readagent_core.plan import GistingPlan
from readagent_core.settings import Secret
from readagent_core.workspace import Workspace
from tests.connecting.test_fault_table import PLAN, QUESTION, book
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply, error

LONG = GistingPlan(max_words=1800, min_words=600)


@pytest.fixture
def workspace_at(open_workspace):
    return lambda server: open_workspace(server.url, connections=1)


def read(workspace: Workspace, plan: GistingPlan):
    kept = workspace.library.add(book(120))
    start_gisting(workspace, kept.id, plan).join(60)
    while running := workspace.jobs.running():  # in smaller pages
        running[0].join(60)
    return newest_memory(workspace, kept.id)


def test_a_server_that_cuts_in_silence_is_told_with_the_remedy_and_learnt_anew(workspace_at):
    takes_in = 1200

    def cutting(text: str) -> Reply:
        return Reply(sensible(text), tokens_in=min(takes_in, len(text) // 4))

    with FakeServer(cutting) as server:
        workspace = workspace_at(server)
        gisting, memory = read(workspace, LONG)
        assert memory.complete
        assert (gisting.state, gisting.plan.max_words < LONG.max_words) == ("done", True)
        assert not any(p.fallback for p in memory.pages)
        assert "A larger one (Ollama: set OLLAMA_CONTEXT_LENGTH" in smaller_pages_note(workspace, gisting)
        assert "cut a prompt without saying so: it read 1,200 of about" in workspace.model.cutting
        assert workspace.model.cutting in workspace.model.notices
        assert workspace.model.window == takes_in
        # the person gives the model more, and takes it up again
        takes_in = 100_000
        connecting.use_model(workspace, address=server.url, model="fake-model", key=Secret())
        assert (workspace.model.cutting, workspace.model.window) == ("", None)


def test_pages_are_not_made_smaller_for_a_window_that_is_only_guessed(workspace_at):
    """Ollama gives a model more than its default when told to; before it is loaded it does not say so."""
    with FakeServer(kind="ollama", loaded=False, loaded_window=32_768) as server:
        workspace = workspace_at(server)
        assert workspace.model.window == 4096
        gisting, memory = read(workspace, GistingPlan(max_words=3000, min_words=500))
        assert memory.complete
        assert gisting.plan.max_words == 3000
        assert workspace.model.window == 32_768


TOO_LONG = Reply(status=400, error=error("This prompt is too long: too many tokens.", code="context_length_exceeded"))


@pytest.mark.parametrize(
    ("methods", "pages", "words"),
    [
        (("read-agent-p", "gist-mem"), (60, 160), 450),  # most gists
        (("read-agent-p", "full-text"), (280, 600), 600),
    ],
)
def test_an_ask_alone_that_meets_a_window_nobody_names_is_answered_within_it(workspace_at, methods, pages, words):
    """The book was read while the model took in more; now it takes in so few words and does not say so."""
    most, refused = 100_000, []

    def narrow(text: str) -> str | Reply:
        if len(text.split()) <= most:
            return sensible(text)
        refused.append(text)
        return TOO_LONG

    with FakeServer(narrow) as server:
        workspace = workspace_at(server)
        kept = workspace.library.add(book(200))
        start_gisting(workspace, kept.id, GistingPlan(min_words=pages[0], max_words=pages[1])).join(60)
        for method in methods:
            connection.close_all()
            connection.relearn(server.url, "fake-model", workspace.home)  # what was learnt of the model is forgotten
            most, workspace = words, workspace_at(server)
            before = len(server.answered)
            refused.clear()
            question = Question("What did Mrs. Oake win with a silver bell?")
            exchange, job = ask(workspace, kept.id, question, method=method, use_cache=False)
            with suppress(errors.ReadAgentError):
                job.join(60)
            found = workspace.library.exchange(exchange.id)
            assert (found.state, found.error) == ("done", "")
            assert refused
            assert all(len(text.split()) <= words for text in server.answered[before:])
            assert len(refused) <= MOST_GUESSES


SLOW_DOWN = Reply(status=429, error=error("slow down"), headers={"Retry-After": "60"})


def until_it_waits(job: Job) -> Snapshot:
    end = time.monotonic() + 20
    while not job.snapshot.waiting and job.running and time.monotonic() < end:
        time.sleep(0.01)
    return job.snapshot


def test_the_wait_is_shown_and_can_be_ended(open_workspace):
    paused: list[int] = []

    def before(number: int, text: str) -> Reply | None:
        if not paused or (len(paused) == 1 and "?" in text and "silver bell" in text and QUESTION.text in text):
            paused.append(number)
            return SLOW_DOWN
        return None

    with FakeServer(before=before) as server:
        workspace = open_workspace(server.url, connections=3)
        shelved = workspace.library.add(book())
        job = start_gisting(workspace, shelved.id, PLAN)
        snapshot = until_it_waits(job)
        (gisting,) = workspace.library.gistings(shelved.id)
        line = gisting_status.job_line(job.snapshot, gisting, workspace.library.memory(gisting.id), now=time.time())
        assert line["line"] == "Waiting to try again"
        assert line["rest"].startswith("the server asked for it · continues by itself in")
        assert "continues by itself in" in line["rest"]
        assert line["actions"] == [["hurry", "Try now"], ["pause", "Pause"]]
        assert 40 < snapshot.waiting_until - time.time() < 70
        job.hurry()
        assert job.join(20).state == "done"
        assert job.snapshot.waiting == ""

        _, asking = ask(workspace, shelved.id, QUESTION)
        snapshot = until_it_waits(asking)
        told = waiting_line(snapshot, now=snapshot.waiting_until - 7.5)
        assert told.startswith("Waiting 6")
        assert told.endswith("continues in 8 s")
        asking.hurry()
        assert asking.join(20).state == "done"
    assert len(paused) == 2
