"""A pool of daemon threads for model calls.

``concurrent.futures`` joins its threads when the interpreter exits, so a program that is stopped would wait for calls
that may take minutes. Daemon threads do not block the exit.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from readagent_core.cancel import CancelToken

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Outcome:
    """The result of the work submitted under ``tag``: its ``value``, or the ``error`` it raised."""

    tag: Any
    value: Any = None
    error: BaseException | None = None


class Pool:
    """Runs up to ``size`` functions at once and returns their outcomes in the order they end."""

    def __init__(self, size: int) -> None:
        self.size = max(1, size)
        self.running = 0
        self._threads = 0
        self._work: queue.SimpleQueue[tuple[Any, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    @property
    def room(self) -> int:
        return self.size - self.running

    def submit(self, tag: Any, work: Callable[[], Any]) -> None:
        self.running += 1
        if self.running > self._threads:
            self._threads += 1
            threading.Thread(target=self._serve, name=f"call {self._threads}", daemon=True).start()
        self._work.put((tag, work))

    def next(self, timeout: float) -> Outcome | None:
        """Return the next outcome; None when none came within ``timeout`` seconds."""
        try:
            outcome = self._outcomes.get(timeout=timeout)
        except queue.Empty:
            return None
        self.running -= 1
        return outcome

    def close(self) -> None:
        """End the threads after their present call."""
        for _ in range(self._threads):
            self._work.put(None)

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            tag, work = item
            try:
                outcome = Outcome(tag, value=work())
            except BaseException as error:  # noqa: BLE001  passed on in the outcome
                outcome = Outcome(tag, error=error)
            self._outcomes.put(outcome)


def run_all(
    works: Mapping[K, Callable[[], V]],
    *,
    connections: int,
    cancel: CancelToken,
    each: Callable[[K, V], None] | None = None,
) -> dict[K, V]:
    """Run ``works`` on a pool and return their results by key; calls ``each`` with every result as it comes.

    Raises the first error, and CancelledError; running calls are not waited for.
    """
    pool = Pool(min(connections, len(works)))
    done: dict[K, V] = {}
    waiting = list(works.items())[::-1]
    try:
        while waiting or pool.running:
            cancel.check()
            while waiting and pool.room:
                pool.submit(*waiting.pop())
            outcome = pool.next(0.2)
            if outcome is None:
                continue
            if outcome.error is not None:
                raise outcome.error
            done[outcome.tag] = outcome.value
            if each is not None:
                each(outcome.tag, outcome.value)
    finally:
        pool.close()
    return done
