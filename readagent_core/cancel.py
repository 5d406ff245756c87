"""Cancellation: one token is passed down with every piece of work, and says when to stop.

It also reports waits: why the work waits, and for how long. ``key_lock`` is a lock whose wait it ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from readagent_core.errors import CancelledError

_POLL_SECONDS = 0.1  # between checks for cancellation while waiting for a lock
_LOCKS: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
_LOCKS_LOCK = threading.Lock()


class CancelToken:
    """Cancels work from another thread, ends its waits early, and reports them.

    ``background``: long work, which lets a question that a person asks meanwhile go first.
    """

    background = False

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._hurries = 0
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Ask the work to stop at its next step, and end its waits. Results so far stay saved."""
        with self._changed:
            self._stop.set()
            self._changed.notify_all()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def on_cancel(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call ``callback`` when the work is cancelled meanwhile; at once if it is cancelled already.

        It is called in the thread that cancels, so it must be quick: it wakes what waits.
        """
        with self._changed:
            self._callbacks.append(callback)
        try:
            if self.cancelled:
                callback()
            yield
        finally:
            with self._changed:
                self._callbacks.remove(callback)

    def hurry(self) -> None:
        """End the present waits early, so that the work continues now."""
        with self._changed:
            self._hurries += 1
            self._changed.notify_all()

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    def check(self) -> None:
        """Raise CancelledError when the work was asked to stop."""
        if self.cancelled:
            raise CancelledError("Stopped. What was done so far is saved.")

    def wait(self, seconds: float, why: str) -> bool:
        """Wait, and return whether ``hurry`` ended the wait. ``why``: shown to the reader. Raises CancelledError."""
        self.waiting(seconds, why)
        try:
            with self._changed:
                before = self._hurries
                self._changed.wait_for(lambda: self.cancelled or self._hurries != before, seconds)
                hurried = self._hurries != before
            self.check()
            return hurried
        finally:
            self.waiting(0.0, "")

    def waiting(self, seconds: float, why: str) -> None:
        """Called when a wait begins (``seconds`` > 0) and ends (0). Overridden by what shows it."""


@contextmanager
def ended_with_block(cancel: CancelToken | None) -> Iterator[CancelToken]:
    """Yield a token that is cancelled with ``cancel`` and when the block is left, so that Ctrl-C ends calls under way.

    It reports waits to ``cancel``.
    """
    outer, own = cancel or CancelToken(), CancelToken()
    own.waiting = outer.waiting  # type: ignore[method-assign]
    with outer.on_cancel(own.cancel):
        try:
            yield own
        finally:
            own.cancel()


@contextmanager
def key_lock(key: str, cancel: CancelToken) -> Iterator[None]:
    """Hold the lock of ``key``, so that one thread of this process at a time makes what the key stands for.

    The next thread then finds it stored. Raises CancelledError when ``cancel`` is cancelled before or during the wait.
    """
    cancel.check()
    with _LOCKS_LOCK:
        lock = _LOCKS.setdefault(key, threading.Lock())
    while not lock.acquire(timeout=_POLL_SECONDS):
        cancel.check()
    try:
        yield
    finally:
        lock.release()
