"""A queue of books: gists made one after another within hours, held on battery, gone on with after a restart."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from readagent_core.errors import NoCreditError, UnreachableError
from readagent_core.gisting import queue
from readagent_core.gisting.job import job_key, newest_memory
from readagent_core.gisting.queue import (
    QUEUE_KEY,
    Hold,
    Queue,
    load_queue,
    move_in_queue,
    pause_queue,
    put_in_queue,
    set_hours,
    start_queue,
    take_from_queue,
    timetable,
)
from tests.fakes.model import FakeModel
from tests.gisting.helpers import random_document, replier
from tests.incoming.blocking import Blocking


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(queue, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(queue, "AGAIN_SECONDS", 0.05)


def wait_until(true) -> None:
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def books_of(workspace, count: int) -> list[str]:
    return [workspace.library.add(random_document(n, most=40)).id for n in range(1, count + 1)]


def test_a_queue_makes_the_gists_of_one_book_after_another(open_workspace):
    model = Blocking(FakeModel(replier()), "gist")
    workspace = open_workspace(model=model)
    first, second, third = books_of(workspace, 3)
    job = put_in_queue(workspace, [first, second, third])
    wait_until(lambda: [one for one in workspace.jobs.running() if one.subject])
    assert len([one for one in workspace.jobs.running() if one.subject]) == 1
    move_in_queue(workspace, third, 1)
    take_from_queue(workspace, second)
    assert load_queue(workspace).books == (first, third)
    model.free.set()
    assert job.join(20).state == "done"
    assert [(end.book_id, end.why) for end in load_queue(workspace).ended] == [(first, ""), (third, "")]
    assert newest_memory(workspace, third)[1].complete
    assert newest_memory(workspace, second) is None


def test_a_battery_holds_it_and_mains_power_lets_it_go_on(open_workspace, monkeypatch):
    model = Blocking(FakeModel(replier()), "gist")
    workspace = open_workspace(model=model)
    (book,) = books_of(workspace, 1)
    job = put_in_queue(workspace, [book])
    wait_until(lambda: [one for one in workspace.jobs.running() if one.subject])
    (reading,) = [one for one in workspace.jobs.running() if one.subject]
    monkeypatch.setattr(queue, "on_battery", lambda: True)
    wait_until(lambda: reading.cancelled)
    model.free.set()
    wait_until(lambda: job.snapshot.value is Hold.BATTERY)
    assert load_queue(workspace).books == (book,)
    monkeypatch.setattr(queue, "on_battery", lambda: False)
    assert job.join(20).state == "done"
    assert newest_memory(workspace, book)[1].complete


def test_after_a_restart_it_goes_on_unless_a_person_paused_it(open_workspace):
    model = Blocking(FakeModel(replier()), "gist")
    workspace = open_workspace(model=model)
    one, other = books_of(workspace, 2)
    job = put_in_queue(workspace, [one, other])
    wait_until(lambda: [it for it in workspace.jobs.running() if it.subject])
    job.cancel()  # as the end of the app does
    model.free.set()
    job.join(20)
    again = open_workspace(model=FakeModel(replier()))
    pause_queue(again)
    assert start_queue(again) is None
    pause_queue(again, False)
    assert again.jobs.get(QUEUE_KEY).join(20).state == "done"
    assert [end.book_id for end in load_queue(again).ended] == [one, other]


def test_a_server_that_is_away_is_asked_again_and_a_book_that_fails_does_not_stop_the_others(open_workspace):
    plain, faults = replier(), [UnreachableError("It is away."), UnreachableError("It is away.")]

    def answer(prompt):
        if faults:
            raise faults.pop()
        return plain(prompt)

    workspace = open_workspace(model=FakeModel(answer))
    empty = workspace.library.add(random_document(5, paragraphs=0)).id
    (book,) = books_of(workspace, 1)
    assert put_in_queue(workspace, [empty, book]).join(20).state == "done"
    ended = load_queue(workspace).ended
    assert [end.book_id for end in ended] == [empty, book]
    assert "nothing to read" in ended[0].why
    assert not ended[1].why


def test_what_no_other_book_would_escape_pauses_it_and_is_said(open_workspace):
    def refuse(prompt):
        raise NoCreditError("There is no credit left.")

    workspace = open_workspace(model=FakeModel(refuse))
    books = books_of(workspace, 2)
    put_in_queue(workspace, books).join(20)
    found = load_queue(workspace)
    assert (found.paused, found.why, found.books) == (True, "There is no credit left.", tuple(books))


def test_pausing_one_book_in_the_reader_leaves_the_others(open_workspace):
    model = Blocking(FakeModel(replier()), "gist")
    workspace = open_workspace(model=model)
    one, other = books_of(workspace, 2)
    job = put_in_queue(workspace, [one, other])
    wait_until(lambda: [it for it in workspace.jobs.running() if it.subject])
    (gisting,) = workspace.library.gistings(one)
    workspace.jobs.get(job_key(gisting)).cancel()
    model.free.set()
    assert job.join(20).state == "done"
    assert [(end.book_id, bool(end.why)) for end in load_queue(workspace).ended] == [(one, True), (other, False)]


def test_its_hours_pass_midnight_and_what_does_not_fit_goes_on_the_next_night(open_workspace):
    workspace = open_workspace(model=FakeModel(replier()))
    set_hours(workspace, "07:00", now=datetime(2026, 11, 26, 22, 0))
    night = load_queue(workspace)
    open_at = [night.is_open(datetime(2026, 11, 27, hour)) for hour in (23, 0, 6, 7, 12, 21, 22)]
    assert open_at == [True, True, True, False, False, False, True]
    asked = Queue(books=("a", "b", "c"), since="22:00", until="07:00")
    evening, noon = datetime(2026, 11, 26, 22, 0), datetime(2026, 11, 26, 12, 0)
    for now in (evening, noon):
        table = timetable(asked, {"a": 60, "b": 600, "c": 30}, now)
        assert table["a"] == (evening, datetime(2026, 11, 26, 23, 0), 1.0)
        assert table["b"] == (datetime(2026, 11, 26, 23, 0), datetime(2026, 11, 28), 0.8)
        assert table["c"][0] == table["b"][1]
    assert list(timetable(asked, {"a": 60}, evening)) == ["a"]
    assert timetable(Queue(books=("a",)), {"a": 6000}, noon)["a"][2] == 1.0
