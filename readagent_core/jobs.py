"""Background work with progress and cancellation: one thread a job, one registry a workspace.

A job publishes snapshots, which any number of screens may read.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, LimitError, ReadAgentError

_ENDED_KEPT = 8


class JobState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class Snapshot:
    """The state of a job at one moment.

    ``done`` of about ``total`` (0: not known). ``waiting``: why it waits, '' while it works, until
    ``waiting_until`` (seconds of ``time.time``). ``failure``: what ended the work early; of a fault of our own an error
    that says so, caused by it. ``value``: what the work last published or returned; readers must not change it.
    """

    state: JobState = JobState.RUNNING
    done: float = 0
    total: float = 0
    started: float = 0.0
    ended: float | None = None
    waiting: str = ""
    waiting_until: float = 0.0
    failure: ReadAgentError | None = None
    value: Any = None

    @property
    def error(self) -> str:
        """What ``failure`` says, fit to show a person; '' without one."""
        return str(self.failure or "")


class Job(CancelToken):
    """Work in a thread of its own. The work calls ``publish`` and ``waiting``; everything else is for its callers.

    ``subject``: what the work is about, for example the id of the gisting that it continues.
    """

    def __init__(self, key: str, work: Callable[[Job], Any], *, subject: Any = None) -> None:
        super().__init__()
        self.key = key
        self.subject = subject
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._snapshot = Snapshot(started=time.time())
        self._waits: dict[int, tuple[float, str]] = {}  # by thread: several calls of one job may wait
        self._thread = threading.Thread(target=self._run, args=(work,), name=f"job {key}", daemon=True)

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def running(self) -> bool:
        return self._snapshot.state == JobState.RUNNING

    def publish(self, **changes: Any) -> None:
        """Change the snapshot: done=, total=, value=."""
        with self._lock:
            self._snapshot = replace(self._snapshot, **changes)
            self._changed.notify_all()

    def waiting(self, seconds: float, why: str) -> None:
        """Publish that this thread waits, or with 0 seconds that it no longer does; of several waits the longest."""
        with self._lock:
            if seconds:
                self._waits[threading.get_ident()] = (time.time() + seconds, why)
            else:
                self._waits.pop(threading.get_ident(), None)
            until, reason = max(self._waits.values(), default=(0.0, ""))
            self.publish(waiting=reason, waiting_until=until)

    def join(self, timeout: float | None = None) -> Snapshot:
        """The snapshot when the job has ended, or after ``timeout`` seconds."""
        self._thread.join(timeout)
        return self._snapshot

    def wait_for_news(self, seen: Snapshot | None, seconds: float) -> None:
        """Return when the snapshot is another one than ``seen``, at the latest after ``seconds``."""
        with self._changed:
            self._changed.wait_for(lambda: self._snapshot is not seen or not self.running, seconds)

    def start(self) -> Job:
        self._thread.start()
        return self

    def _run(self, work: Callable[[Job], Any]) -> None:
        try:
            value = work(self)
            end = {"state": JobState.DONE} | ({} if value is None else {"value": value})
        except CancelledError as error:
            end = {"state": JobState.CANCELLED, "failure": error}
        except ReadAgentError as error:
            end = {"state": JobState.FAILED, "failure": error}
        except Exception as error:  # noqa: BLE001  a bug of ours goes to the log and must not end the app
            traceback.print_exc()
            told = ReadAgentError("Something in ReadAgent itself went wrong. What was done is saved; please try again.")
            told.__cause__ = error
            end = {"state": JobState.FAILED, "failure": told}
        self.publish(**end, ended=time.time(), waiting="")


class Jobs:
    """The registry: at most one running job a key, however many ask for it.

    ``most``: how many may run altogether; None for any number. Of ended jobs, whose results are large, only the few
    that were asked for last are kept.
    """

    def __init__(self, *, most: int | None = None) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}  # those asked for last at the end

    def start(self, key: str, work: Callable[[Job], Any], *, subject: Any = None) -> Job:
        """The running job of this key, or a new one. Raises LimitError where too many run."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job.running:
                if self._most is not None and len(self.running()) >= self._most:
                    raise LimitError(
                        f"{self._most} things of yours run on this server at the moment, and no more may. Wait until "
                        "one has ended, or stop one."
                    )
                self._jobs.pop(key, None)
                ended = [other for other, job in self._jobs.items() if not job.running]
                for other in ended[:-_ENDED_KEPT]:
                    del self._jobs[other]
                job = self._jobs[key] = Job(key, work, subject=subject).start()
            return job

    def get(self, key: str) -> Job | None:
        """The newest job of this key, running or ended; None where there was none, or none asked for in a while."""
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is not None:
                self._jobs[key] = job
            return job

    def forget(self, key: str) -> None:
        """Drop an ended job, for example when its error has been shown."""
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and not job.running:
                del self._jobs[key]

    def forget_failures(self, kind: type[ReadAgentError]) -> None:
        """Drop the jobs that an error of this kind ended."""
        with self._lock:
            self._jobs = {key: job for key, job in self._jobs.items() if not isinstance(job.snapshot.failure, kind)}

    def running(self) -> list[Job]:
        return [job for job in list(self._jobs.values()) if job.running]
