"""A server that asks for a pause: it is shown with the time left, and a person can go on at once."""

from __future__ import annotations

import time

from pages.parts.ask.record import waiting_line
from pages.parts.shared import reading_status
from readagent_core.jobs import Job, Snapshot
from readagent_core.workspace.asking import ask
from readagent_core.workspace.reading import start_reading
from tests.fakes.server import FakeServer, Reply, error
from tests.workspace.test_fault_table import PLAN, QUESTION, book

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
        job = start_reading(workspace, shelved.id, PLAN)
        snapshot = until_it_waits(job)
        (reading,) = workspace.library.readings(shelved.id)
        line = reading_status.job_line(job.snapshot, reading, workspace.library.memory(reading.id), now=time.time())
        assert line["line"] == "Paused: the model asked us to wait"
        assert "Waiting 6" in line["rest"]
        assert "continues by itself in" in line["rest"]
        assert line["actions"] == [["hurry", "Go on now"], ["pause", "Pause"]]
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
