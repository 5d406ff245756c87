"""Jobs: one a key, progress to be read by anyone, stopped when asked, and no error lost."""

from __future__ import annotations

import gc
import threading
import weakref

from readagent_core.errors import LinkError, UnreachableError
from readagent_core.jobs import Job, Jobs


def test_one_running_job_a_key_says_what_it_is_about_and_how_far_it_is():
    jobs, gate, runs = Jobs(), threading.Event(), []

    def work(job):
        runs.append(job)
        job.publish(done=1, total=4)
        job.publish(done=2)
        gate.wait(10)
        return "value"

    first = jobs.start("a", work, subject=7)
    assert jobs.start("a", work, subject=8) is first
    assert first.subject == 7
    assert jobs.running() == [first]
    gate.set()
    ended = first.join(10)
    assert (ended.state, ended.value, ended.done, ended.total) == ("done", "value", 2, 4)
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
    assert "saved" in snapshot.error


def test_of_several_waits_the_longest_is_shown_until_it_ends():
    job = Job("a", lambda job: None)
    job.waiting(12, "the server asked for 12 s")
    other = threading.Thread(target=job.waiting, args=(5, "another wait"))
    other.start()
    other.join()
    assert job.snapshot.waiting == "the server asked for 12 s"
    job.waiting(0, "")
    assert job.snapshot.waiting == "another wait"


def test_an_error_of_ours_is_shown_and_a_bug_is_only_traced(capsys):
    def fail(error):
        raise error

    ours = Jobs().start("a", lambda job: fail(UnreachableError("No connection to the server."))).join(10)
    assert isinstance(ours.failure, UnreachableError)
    assert (ours.state, ours.error) == ("failed", "No connection to the server.")
    bug = Jobs().start("a", lambda job: fail(KeyError("sk-secret"))).join(10)
    assert bug.state == "failed"
    assert "sk-secret" not in bug.error
    assert isinstance(bug.failure.__cause__, KeyError)
    assert "KeyError" in capsys.readouterr().err


def test_ended_jobs_are_released_but_those_that_are_looked_at():
    class Result:
        pass

    results = weakref.WeakSet()

    def work(job):
        result = Result()
        results.add(result)
        return result

    jobs, gate = Jobs(), threading.Event()
    running = jobs.start("running", lambda job: gate.wait(10))
    jobs.start("looked at", work).join(10)
    for number in range(200):
        jobs.start(f"question {number}", work).join(10)
        assert jobs.get("looked at") is not None
    gc.collect()
    assert len(results) <= 10
    assert jobs.get("question 199").snapshot.state == "done"
    assert jobs.get("question 0") is None
    assert jobs.get("running") is running
    gate.set()
    running.join(10)


def test_what_a_model_failed_at_is_not_told_after_other_settings(workspace):
    def fail(error):
        raise error

    for key, error in (("act", UnreachableError("localhost:9")), ("add", LinkError("No such page."))):
        workspace.jobs.start(key, lambda _, error=error: fail(error)).join(10)
    workspace.reconnect(workspace.settings)
    assert workspace.jobs.get("act") is None
    assert workspace.jobs.get("add") is not None


def test_news_of_a_job_is_waited_for_and_ends_the_wait_at_once():
    go, more = threading.Event(), threading.Event()

    def work(job: Job) -> None:
        go.wait(30)
        job.publish(done=1)
        more.wait(30)

    job = Jobs().start("asking", work)
    seen = job.snapshot
    job.wait_for_news(seen, 0.01)
    assert job.snapshot is seen  # there was none
    threading.Timer(0.05, go.set).start()
    job.wait_for_news(seen, 30)
    assert job.snapshot.done == 1
    job.wait_for_news(seen, 30)  # what came before the wait is news as well
    seen = job.snapshot
    more.set()
    job.wait_for_news(seen, 30)
    assert not job.running
    job.wait_for_news(job.snapshot, 30)  # nothing more comes
