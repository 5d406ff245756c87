"""Limits how many calls may be under way at one server at a time, for all readings of the process together.

The limit follows what the server accepts (additive increase, multiplicative decrease): it is halved when the server
says 'too many', and raised by one after a full round of good replies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from readagent_core.cancel import CancelToken

MOST_AT_ONCE = 32


class Limiter:
    """``most``: the limit that is set; ``allowed``: the one in force.

    What is halved is the number of calls under way, so that a reading of eight calls at once slows down at the first
    refusal.
    """

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self.most = most
        self.allowed = float(most)
        self._under_way = 0
        self._cool_down_until = 0.0
        self._lowered = 0.0
        self._good = 0
        self._condition = threading.Condition()

    @property
    def notice(self) -> str:
        """For people: that the server takes fewer calls at once than are set; '' where it takes them all."""
        now = self._allowed
        return "" if now >= self.most else f"The server asked for fewer calls at once: {now} now, slowly more again"

    def allow(self, most: int) -> None:
        """Let ``most`` calls be under way from now on."""
        with self._condition:
            if most != self.most:
                self.most, self.allowed = most, float(most)
                self._condition.notify_all()

    @contextmanager
    def slot(self, cancel: CancelToken) -> Iterator[None]:
        """Hold one slot; waits for a free one and for the end of a cool-down. Raises CancelledError."""
        while True:
            with cancel.on_cancel(self._wake), self._condition:
                self._condition.wait_for(lambda: cancel.cancelled or self._cooling() or self._under_way < self._allowed)
                if cancel.cancelled:
                    self._condition.notify()  # the slot that may have ended this wait is for another one
                cancel.check()
                seconds = self._cooling()
                if not seconds:
                    self._under_way += 1
                    break
            if cancel.wait(seconds, f"Waiting {max(1, round(seconds))} s for the server"):
                self.go_on()
        try:
            yield
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify()

    def too_many(self, wait: float) -> None:
        """The server said 'too many': lower the limit, and start no call for ``wait`` seconds (a cool-down)."""
        with self._condition:
            now = time.monotonic()
            self._cool_down_until = max(self._cool_down_until, now + wait)
            self._good = 0
            if now - self._lowered > 1.0:  # one burst of refusals is one signal
                self._lowered = now
                # the call that was refused has left its slot already
                self.allowed = max(1.0, min(self.allowed, self._under_way + 1) / 2)
            self._condition.notify_all()  # who waits for a slot now waits for the end of the cool-down, and says so

    def go_on(self) -> None:
        """End the cool-down: a person does not want to wait any longer."""
        with self._condition:
            self._cool_down_until = 0.0
            self._condition.notify_all()

    def went_well(self) -> None:
        with self._condition:
            self._good += 1
            if self.allowed < self.most and self._good >= self.allowed:
                self._good = 0
                self.allowed = min(float(self.most), self.allowed + 1)
                self._condition.notify()

    @property
    def _allowed(self) -> int:
        return max(1, int(self.allowed))

    def _cooling(self) -> float:
        """Seconds until the cool-down ends."""
        return max(0.0, self._cool_down_until - time.monotonic())

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify_all()
