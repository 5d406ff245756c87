"""Jobs: one a key, progress to be read by anyone, stopped when asked, and no error lost."""

from __future__ import annotations

import threading

from readagent_core.errors import UnreachableError
from readagent_core.jobs import Jobs


def test_one_running_job_a_key():
    jobs, gate, runs = Jobs(), threading.Event(), []

    def work(job):
        runs.append(job)
        gate.wait(10)
        return "value"

    first = jobs.start("a", work)
    assert jobs.start("a", work) is first
    assert jobs.running() == [first]
    gate.set()
    assert first.join(10).state == "done"
    assert first.snapshot.value == "value"
    assert len(runs) == 1
    assert jobs.start("a", work) is not first


def test_cancel_wakes_a_wait():
    seen = threading.Event()

    def work(job):
        seen.set()
        job.wait(60, "the server asked for 60 s")

    job = Jobs().start("a", work)
    seen.wait(10)
    job.cancel()
    snapshot = job.join(10)
    assert snapshot.state == "cancelled"
    assert "kept" in snapshot.error


def test_waiting_is_shown():
    waiting, go_on = threading.Event(), threading.Event()

    def work(job):
        job.waiting(12, "the server asked for 12 s")
        waiting.set()
        go_on.wait(10)
        job.waiting(0, "")

    job = Jobs().start("a", work)
    waiting.wait(10)
    assert job.snapshot.waiting == "the server asked for 12 s"
    go_on.set()
    assert job.join(10).waiting == ""


def test_errors_are_told():
    def unreachable(job):
        raise UnreachableError("No connection to the server. Check that it runs.")

    snapshot = Jobs().start("a", unreachable).join(10)
    assert (snapshot.state, snapshot.error_kind) == ("failed", "UnreachableError")
    assert snapshot.error == "No connection to the server. Check that it runs."


def test_our_own_bug_is_told_plainly_and_traced(capsys):
    def broken(job):
        raise KeyError("sk-secret")

    snapshot = Jobs().start("a", broken).join(10)
    assert snapshot.state == "failed"
    assert "sk-secret" not in snapshot.error
    assert "KeyError" in capsys.readouterr().err


def test_publish_grows_the_version():
    def work(job):
        job.publish(done=1, total=4)
        job.publish(done=2)

    snapshot = Jobs().start("a", work).join(10)
    assert (snapshot.done, snapshot.total) == (2, 4)
    assert snapshot.version >= 3


def test_a_job_says_what_it_is_about():
    jobs, gate = Jobs(), threading.Event()
    job = jobs.start("read 7", lambda job: gate.wait(10), subject=7)
    assert jobs.start("read 7", lambda job: None, subject=8).subject == 7  # the job under way
    gate.set()
    assert job.join(10).state == "done"
