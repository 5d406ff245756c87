"""Reading as a job: one a reading, paused and gone on with, and told plainly when it cannot go on."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.errors import DiskFullError, KeyRefusedError, NoCreditError
from readagent_core.gisting.job import (
    ELSEWHERE,
    PAUSED,
    default_plan,
    fit_plan,
    newest_memory,
    reread_from,
    start_gisting,
)
from readagent_core.library.gistings import GistingStore
from readagent_core.library.records import StopReason
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel
from tests.gisting.helpers import make_document, random_document, replier
from tests.incoming.blocking import Blocking

PLAN = GistingPlan(max_words=100, min_words=40)


@pytest.fixture
def make_workspace(open_workspace):
    return lambda answer: open_workspace(model=FakeModel(answer))


def test_a_book_is_read_to_its_end(make_workspace):
    workspace = make_workspace(replier())
    book = workspace.library.add(random_document(1))
    assert newest_memory(workspace, book.id) is None
    empty = workspace.library.add(make_document([]))
    assert "nothing to read" in start_gisting(workspace, empty.id, PLAN).join(20).error
    job = start_gisting(workspace, book.id, PLAN)
    assert job.join(20).state == "done"
    gisting, memory = newest_memory(workspace, book.id)
    assert (gisting.state, gisting.why) == ("done", "")
    assert memory.complete
    assert job.snapshot.done == job.snapshot.total == book.words
    assert job.snapshot.value.memory.pages == memory.pages
    asked = len(workspace.model.prompts)
    assert gisting.usage.calls == asked
    assert start_gisting(workspace, book.id).join(20).state == "done"  # again, by the plan last chosen
    assert len(workspace.model.prompts) == asked


def test_a_reading_under_way_is_one_job_however_often_it_is_started(open_workspace):
    workspace = open_workspace(model=Blocking(FakeModel(replier()), "gist"))
    book = workspace.library.add(random_document(2, most=40))
    first = start_gisting(workspace, book.id, PLAN)
    assert start_gisting(workspace, book.id, PLAN) is first
    workspace.model.free.set()
    assert first.join(20).state == "done"
    assert len(workspace.library.gistings(book.id)) == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, StopReason.PAUSED),
        (KeyRefusedError("The key was not accepted."), StopReason.SETTINGS),
        (NoCreditError("It is used up, say Settings."), StopReason.ERROR),
    ],
)
def test_a_reading_that_stops_says_why_and_goes_on_where_it_was(make_workspace, error, reason):
    """It is paused by a person, or by an error."""
    plain = replier()
    started = threading.Event()

    def until_stopped(prompt):
        if len(workspace.model.prompts) == 20:
            assert started.wait(10)
            if error:
                workspace.model.prompts.pop()  # it has no reply
                raise error
            job.cancel()
        return plain(prompt)

    workspace = make_workspace(until_stopped)
    book = workspace.library.add(random_document(4, paragraphs=200, most=40))
    job = start_gisting(workspace, book.id, PLAN)
    started.set()
    assert job.join(20).state == ("failed" if error else "cancelled")
    stopped = workspace.library.gisting(job.subject)
    assert (stopped.state, stopped.reason, stopped.why) == ("paused", reason, str(error) if error else PAUSED)
    workspace.model._answer = plain
    assert start_gisting(workspace, book.id, PLAN).join(20).state == "done"
    texts = [p.text for p in workspace.model.prompts]
    assert len(texts) == len(set(texts))


def test_read_again_from_a_page(make_workspace):
    workspace = make_workspace(replier())
    book = workspace.library.add(random_document(6, most=40))
    start_gisting(workspace, book.id, PLAN).join(20)
    gisting, live = newest_memory(workspace, book.id)
    made = len(workspace.model.prompts)
    # a recording stays as it is: its first pages are copied to a reading of our own, which goes on from there
    recording = workspace.library.add_memory(book.id, replace(live, model="a large model", recorded="2026-11-01"))
    workspace.library.cut_from(gisting.id, 1)
    assert reread_from(workspace, recording.id, 4).join(20).state == "done"
    assert workspace.library.memory(recording.id).pages == live.pages
    assert workspace.library.memory(gisting.id).pages == live.pages
    assert len(workspace.model.prompts) - made < made
    used = workspace.library.gisting(gisting.id).usage.calls
    # our own is read again in place
    made = len(workspace.model.prompts)
    workspace.model._answer = replier(9)
    assert reread_from(workspace, gisting.id, 3).join(20).state == "done"
    after = workspace.library.memory(gisting.id)
    assert after.pages[:2] == live.pages[:2]
    assert after.pages[2:] != live.pages[2:]
    assert after.complete
    assert workspace.library.gisting(gisting.id).usage.calls - used == len(workspace.model.prompts) - made


def test_a_plan_fits_the_text_and_the_window():
    assert default_plan(5_000).preset == "article"
    assert default_plan(90_000).preset == "book"
    document = random_document(3)
    assert fit_plan(PLAN, 128_000, document) is PLAN
    tiny = fit_plan(PLAN, 10, document)
    assert (tiny.max_words, tiny.min_words) == (60, 24)
    assert fit_plan(GistingPlan(max_words=1000, min_words=2), 10, document).min_words == 1
    prose = Document("T", (Paragraph("The keeper lit the lamp at dusk. " * 300),))
    fitted = fit_plan(GistingPlan(max_words=2000), 1500, prose)
    words = prose.text().split()[: fitted.max_words]
    assert 0.98 * 700 < estimate_tokens(" ".join(words)) < 1.02 * 700


def test_pages_are_made_to_fit_the_models_window(make_workspace):
    workspace = make_workspace(replier())
    workspace.model.window = 1200
    book = workspace.library.add(random_document(3))
    job = start_gisting(workspace, book.id, GistingPlan(max_words=1000, min_words=400))
    assert job.join(20).state == "done"
    gisting, memory = newest_memory(workspace, book.id)
    assert 60 <= gisting.plan.max_words < 500
    assert gisting.plan.min_words < gisting.plan.max_words
    assert memory.usage.calls == len(workspace.model.prompts)


def test_a_second_process_follows_the_first_and_asks_nothing(make_workspace):
    gate = threading.Event()
    plain = replier()

    def slow(prompt):
        if len(first.model.prompts) > 10:
            gate.wait(10)
        return plain(prompt)

    first, second = make_workspace(slow), make_workspace(plain)  # two libraries on one file, as two processes have
    book = first.library.add(random_document(9, most=40))
    job = start_gisting(first, book.id, PLAN)
    while not first.library.gistings(book.id)[0].pages:
        threading.Event().wait(0.01)
    follower = start_gisting(second, book.id, PLAN)
    seen = follower.snapshot
    while not seen.waiting:
        threading.Event().wait(0.01)
        seen = follower.snapshot
    assert seen.waiting == ELSEWHERE
    assert seen.value.pages >= 1
    gate.set()
    assert job.join(20).state == "done"
    assert follower.join(20).state == "done"
    assert second.model.prompts == []
    gisting, memory = newest_memory(second, book.id)
    assert memory.complete
    assert gisting.usage.calls == len(first.model.prompts)


def test_a_full_disk_stops_a_reading_and_damages_nothing(make_workspace, monkeypatch):
    workspace = make_workspace(replier())
    book = workspace.library.add(random_document(10, paragraphs=300, most=40))
    save_gist = GistingStore.save_gist

    def full(store, number, gist):
        if number > 5:
            raise DiskFullError("The disk is full, so this could not be kept. Free some space, then go on.")
        save_gist(store, number, gist)

    with monkeypatch.context() as patch:
        patch.setattr(GistingStore, "save_gist", full)
        snapshot = start_gisting(workspace, book.id, PLAN, connections=1).join(20)
    assert "Free some space" in snapshot.error
    gisting, memory = newest_memory(workspace, book.id)
    assert (gisting.state, gisting.why) == ("paused", snapshot.error)
    assert len(memory.readable) == 5
    assert start_gisting(workspace, book.id, PLAN).join(20).state == "done"
    assert newest_memory(workspace, book.id)[1].complete


def test_a_text_is_read_as_a_book_from_20000_words_on():
    plans = [GistingPlan.from_preset(name) for name in ("article", "book")]
    assert [default_plan(words) for words in (19_999, 20_000)] == plans
