"""The Dask cluster that a run uses, and the loop that keeps it busy. Knows nothing of books."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, NoReturn, TypeVar

import dask
import distributed

from readagent_core.cancel import CancelToken
from readagent_core.corpus.worker import RunSpec, cancel_run, end_run, set_share
from readagent_core.errors import CancelledError, ReadAgentError, SettingsError, UnreachableError
from readagent_core.words import count_of

T = TypeVar("T")
_TASKS_A_CALL = 1.5
_CONNECT_SECONDS = 20
_POLL_SECONDS = 0.2
_GATHERED = 8  # results fetched at once
_LOOK_SECONDS = 2.0  # between looks at which workers there are
_GONE_SECONDS = 30.0  # then a worker has left: before that it may be restarting, and its share of the calls is reserved
_LOST_SECONDS = 30.0  # without a connection to the scheduler
# Dask looks at the frames of all threads every 10 ms; before Python 3.11.9 and 3.12.3 that can lock up the process
# when garbage is collected just then (github.com/python/cpython/issues/106883)
_OPTIONS = {"distributed.worker.profile.enabled": False}
_STOP_SECONDS = 15.0  # for tasks under way to end after a cancel
_RESUMES = "What was read is saved; the same command resumes."


def dashboard(client: distributed.Client, scheduler: str) -> str:
    """Return the address of Dask's dashboard; '' for a cluster started here without the package it needs (bokeh)."""
    if scheduler:
        return str(client.dashboard_link or "")
    port = client.scheduler_info()["services"].get("dashboard")
    return f"http://127.0.0.1:{port}/status" if port and importlib.util.find_spec("bokeh") else ""


@contextmanager
def open_cluster(scheduler: str, *, workers: int, connections: int) -> Iterator[distributed.Client]:
    """Connect to the cluster at ``scheduler``; without an address start one that ends with the block.

    ``workers``: processes of the cluster that is started; 0 runs its tasks in this process. ``connections``: model
    calls at once; there are more tasks, because a task does not always have a call under way. Raises UnreachableError
    where the scheduler does not answer.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the run itself reports what concerns a person
    with dask.config.set(_OPTIONS):
        local = None
        if not scheduler:
            local = distributed.LocalCluster(
                n_workers=workers or 1,
                threads_per_worker=max(1, round(_TASKS_A_CALL * connections / (workers or 1))),
                processes=workers > 0,
                silence_logs=logging.CRITICAL,
                preload=["readagent_core.corpus.worker"] if workers else [],
                dashboard_address="127.0.0.1:0",  # this machine's alone, as everything here
                worker_dashboard_address="127.0.0.1:0",
                host="127.0.0.1" if workers else None,
            )
            if workers:  # one that dies while it starts is not started again without this
                local.adapt(minimum=workers, maximum=workers, interval="2s")
        try:
            client = distributed.Client(local or scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UnreachableError(f"The Dask scheduler at {scheduler} does not answer ({error}).") from None
        try:
            yield client
        finally:
            with suppress(TimeoutError, OSError):
                client.close(timeout=5)
            if local is not None:
                with suppress(TimeoutError, OSError):
                    local.close(timeout=5)


class WorkerDiedError(ReadAgentError):
    """The worker of a task died, more often than Dask tries again."""


@dataclass(frozen=True)
class Done(Generic[T]):
    """The end of the task of ``item``: its ``value``, or the ``error`` it raised."""

    item: T
    value: Any = None
    error: BaseException | None = None


class Run:
    """One run on a cluster. ``connections``: model calls at once of all workers together.

    ``notify``: called with what workers report, for people.
    """

    def __init__(
        self, client: distributed.Client, connections: int, cancel: CancelToken, notify: Callable[[str], object]
    ) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.workers = 0
        self._client, self._connections, self._cancel, self._notify = client, connections, cancel, notify
        self._threads, self._looked = 0, 0.0
        self._sharers, self._whole = 0, 0.0  # workers that share the calls; when all of them were last there
        self._ended: queue.SimpleQueue[tuple[Any, Any, BaseException | None]] = queue.SimpleQueue()
        self._gathering = ThreadPoolExecutor(_GATHERED, thread_name_prefix="results")
        self._waiting: dict[Any, distributed.Future[Any]] = {}

    @property
    def share(self) -> int:
        """Calls at once of one worker."""
        return max(1, self._connections // max(1, self._sharers))

    def run(
        self, spec: RunSpec, submit: Callable[[], tuple[T, tuple[Any, ...]] | None], work: Any
    ) -> Generator[Done[T], None, None]:
        """Yield the end of every task as it comes.

        ``submit``: returns the next item and the arguments of ``work`` after the spec, None where no task is to
        begin now. Ends when nothing is under way and nothing follows. Raises CancelledError, and UnreachableError
        where the scheduler is gone.
        """
        items: dict[Any, T] = {}
        self._client.subscribe_topic(spec.topic, lambda event: self._notify(str(event[1])))
        try:
            while True:
                self._cancel.check()
                self._look(spec)
                while len(self._waiting) < self._threads + self.workers and (found := submit()) is not None:
                    item, arguments = found
                    key = f"{work.__name__}-{uuid.uuid4().hex}"
                    items[key] = item
                    shared = replace(spec, share=self.share)
                    future = self._client.submit(work, shared, *arguments, key=key, pure=False)
                    self._waiting[key] = future
                    future.add_done_callback(lambda ended: self._gathering.submit(self._gather, ended))
                if not self._waiting and self.workers:
                    return
                with suppress(queue.Empty):
                    key, value, error = self._ended.get(timeout=_POLL_SECONDS)
                    if self._waiting.pop(key, None) is not None:
                        yield Done(items.pop(key), value, error)
        finally:
            self._end(spec)

    def _gather(self, future: distributed.Future[Any]) -> None:
        """Fetch what a task returned, in a thread: where the worker that had it has died, Dask runs the task again."""
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                value = future.result(timeout=_LOST_SECONDS)
            except distributed.KilledWorker:
                error = WorkerDiedError("Its worker died several times.")
            except (TimeoutError, OSError):
                if self._client.status == "running":
                    continue
                error = _lost()
            except asyncio.CancelledError:
                error = _lost()
            except Exception as raised:  # noqa: BLE001  handed to the caller
                error = _lost() if future.status in ("cancelled", "lost") else raised
            self._ended.put((future.key, value, error))
            return

    def _look(self, spec: RunSpec) -> None:
        """Count the workers; where that has changed, give each its new share of the calls."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        try:
            threads = self._client.nthreads(callback_timeout=_LOST_SECONDS)
        except (OSError, TimeoutError):
            raise _lost() from None
        self._looked = time.monotonic()
        if len(threads) > self._connections:
            raise SettingsError(
                f"{count_of(len(threads), 'worker')} cannot share {count_of(self._connections, 'call')} at once. "
                "Raise --connections, or use fewer workers."
            )
        self.workers, self._threads = len(threads), sum(threads.values())
        now = time.monotonic()
        if self.workers >= self._sharers:
            self._whole = now
        elif not self.workers and now - self._whole > _GONE_SECONDS:
            raise UnreachableError(f"No Dask worker is left. {_RESUMES}")
        if self.workers > self._sharers or now - self._whole > _GONE_SECONDS:
            self._sharers, self._whole = self.workers, now
            with suppress(OSError, TimeoutError):  # a worker that has just died
                self._client.run(set_share, spec.id, self.share, on_error="ignore")

    def _end(self, spec: RunSpec) -> None:
        """Cancel what is under way, and wait a while for what it saves."""
        with suppress(OSError, TimeoutError, ReadAgentError):
            if self._waiting and self._client.status == "running":
                self._client.run(cancel_run, spec.id, on_error="ignore")
                until = time.monotonic() + _STOP_SECONDS
                while self._waiting and time.monotonic() < until:
                    with suppress(queue.Empty):
                        self._waiting.pop(self._ended.get(timeout=_POLL_SECONDS)[0], None)
            if self._client.status == "running":
                self._client.unsubscribe_topic(spec.topic)
                self._client.run(end_run, spec.id, on_error="ignore")
        self._waiting.clear()
        self._gathering.shutdown(wait=False, cancel_futures=True)


def _lost() -> UnreachableError:
    return UnreachableError(f"The connection to the Dask scheduler is lost. {_RESUMES}")


def raise_stop(error: BaseException) -> NoReturn:
    """Raise the error of a task that stops the run, as an error for people."""
    if isinstance(error, CancelledError):
        raise CancelledError(f"Stopped. {_RESUMES}")
    if isinstance(error, ReadAgentError):
        raise error
    raise ReadAgentError(f"A worker failed ({type(error).__name__}: {error}).") from error
