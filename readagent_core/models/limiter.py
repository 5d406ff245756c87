"""Limits how many calls may be under way at one server at a time, for all gistings of the process together.

The limit follows what the server accepts (additive increase, multiplicative decrease): it is halved when the server
says 'too many', and raised by one after a full round of good replies. A server on this computer that names no number
of slots is given one call; then twice as many as were seen being answered side by side. Calls beyond its slots would
wait there in silence, until they time out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from readagent_core.cancel import CancelToken

MOST_AT_ONCE = 32
SIDE_BY_SIDE = 0.05  # seconds: a reply that begins so soon after the end of another one did not wait for that
LONG_CALL = 45.0  # seconds: with calls this long no further one is tried, which might time out in the server's queue
BETWEEN_CALLS = 1.0  # seconds: a question's next call comes so soon after the last one
ENOUGH = 4  # further calls that were not answered beside the others: the server has no more slots


@dataclass(eq=False)
class Call:
    """One call under way. ``before``: those that were under way when it began. Times: seconds of ``time.monotonic``."""

    cancel: CancelToken
    before: tuple[Call, ...]
    began: float = field(default_factory=time.monotonic)
    ended: float = float("inf")


class Limiter:
    """``most``: the limit that is set; ``allowed``: the one in force. ``finds_slots``: see the module's head.

    What is halved is the number of calls under way, so that a gisting of eight calls at once slows down at the first
    refusal.
    """

    def __init__(self, most: int = MOST_AT_ONCE, *, finds_slots: bool = False) -> None:
        self.most = most
        self.finds_slots = finds_slots
        self.allowed = 1.0 if finds_slots else float(most)
        self._side_by_side = 1
        self._misses = 0  # further calls that were not answered beside the others
        self._under_way: list[Call] = []
        self._first_served = 0  # calls that wait for a slot and are no background work
        self._cool_down_until = 0.0
        self._asked_until = 0.0  # until then the only slot is left to the next call of a question
        self._lowered = 0.0
        self._good = 0
        self._condition = threading.Condition()

    @property
    def lowered(self) -> int | None:
        """The calls at once since the server asked for fewer; None where it takes as many as are set."""
        return self._allowed if self._lowered and self._allowed < self.most and not self.finds_slots else None

    @property
    def notice(self) -> str:
        """For people: that the server takes fewer calls at once than are set; '' where it takes them all."""
        now = self.lowered
        return f"The server asked for fewer calls at once: {now} now, slowly more again" if now else ""

    def forget(self) -> None:
        """Forget that the server asked for fewer calls at once: a person may have changed its limits."""
        with self._condition:
            if self.lowered:
                self.allowed, self._lowered, self._cool_down_until = float(self.most), 0.0, 0.0
                self._condition.notify_all()

    def allow(self, most: int) -> None:
        """Let ``most`` calls be under way from now on."""
        with self._condition:
            if most != self.most or self.finds_slots:
                self.most, self.allowed, self.finds_slots = most, float(most), False
                self._condition.notify_all()

    def found_slots(self, slots: int) -> None:
        """The server says how many calls it answers side by side; a number that was set stays."""
        if self.finds_slots:
            self.allow(slots)

    @property
    def is_single(self) -> bool:
        """Whether the server is known to answer one call at a time."""
        return self.most == 1 and not self.finds_slots

    @contextmanager
    def slot(self, cancel: CancelToken) -> Iterator[Call]:
        """Hold one slot; waits for a free one and for the end of a cool-down. Raises CancelledError."""
        call = None
        while call is None:
            with cancel.on_cancel(self._wake), self._condition:
                if self._taken_by_others(cancel):
                    used = len(self._under_way)
                    cancel.waiting(0.001, _waiting_line(used, self._allowed))
                self._first_served += not cancel.background
                self._condition.wait_for(lambda: cancel.cancelled or self._pause(cancel) or self._is_free_for(cancel))
                self._first_served -= not cancel.background
                cancel.waiting(0.0, "")
                if cancel.cancelled:
                    self._condition.notify_all()  # the slot that may have ended this wait is for another one
                cancel.check()
                cooling, seconds = self._cooling(), self._pause(cancel)
                if not seconds:
                    call = Call(cancel, tuple(self._under_way))
                    self._under_way.append(call)
                    break
            why = f"Waiting {max(1, round(seconds))} s for the server" if cooling else "A question goes first"
            if cancel.wait(seconds, why) and cooling:
                self.go_on()
        try:
            yield call
        finally:
            with self._condition:
                call.ended = time.monotonic()
                self._under_way.remove(call)
                if not cancel.background:
                    self._asked_until = call.ended + BETWEEN_CALLS
                self._condition.notify_all()

    def too_many(self, wait: float) -> None:
        """The server said 'too many': lower the limit, and start no call for ``wait`` seconds (a cool-down)."""
        with self._condition:
            now = time.monotonic()
            self._cool_down_until = max(self._cool_down_until, now + wait)
            self._good = 0
            if now - self._lowered > 1.0:  # one burst of refusals is one signal
                self._lowered = now
                # the call that was refused has left its slot already
                self.allowed = max(1.0, min(self.allowed, len(self._under_way) + 1) / 2)
            self._condition.notify_all()  # who waits for a slot now waits for the end of the cool-down, and says so

    def go_on(self) -> None:
        """End the cool-down: a person does not want to wait any longer."""
        with self._condition:
            self._cool_down_until = 0.0
            self._condition.notify_all()

    def went_well(self, call: Call | None = None, first_word: float | None = None) -> None:
        """A call was answered, its first word ``first_word`` seconds after it began."""
        with self._condition:
            if self.finds_slots:
                self._find_slots(call, first_word)
                return
            self._good += 1
            if self.allowed < self.most and self._good >= self.allowed:
                self._good = 0
                self.allowed = min(float(self.most), self.allowed + 1)
                self._condition.notify_all()

    def _find_slots(self, call: Call | None, first_word: float | None) -> None:
        """Learn from a call whether the server answered it beside those that were there before, or after one ended."""
        if call is None or first_word is None:
            return
        began_to_answer = call.began + first_word
        beside = 1 + sum(other.ended >= began_to_answer - SIDE_BY_SIDE for other in call.before)
        if beside > self._side_by_side:
            self._side_by_side, self._misses = beside, 0
        elif len(call.before) >= self._side_by_side:
            self._misses += 1
        long = time.monotonic() - call.began > LONG_CALL
        more = 1 if self._misses >= ENOUGH or long else 2
        self.allowed = float(min(self.most, more * self._side_by_side))
        self._condition.notify_all()

    def _is_free_for(self, cancel: CancelToken) -> bool:
        """Whether there is a slot for this work; background work leaves it to a question that waits too."""
        return len(self._under_way) < self._allowed and not (cancel.background and self._first_served)

    def _taken_by_others(self, cancel: CancelToken) -> bool:
        """Whether other work alone holds every slot."""
        return len(self._under_way) >= self._allowed and all(call.cancel is not cancel for call in self._under_way)

    @property
    def _allowed(self) -> int:
        return max(1, int(self.allowed))

    def _pause(self, cancel: CancelToken) -> float:
        """Seconds for which this work may not begin: the cool-down; at one slot, background work between the calls of
        a question too.
        """
        asked = self._asked_until - time.monotonic() if cancel.background and self._allowed == 1 else 0.0
        return max(asked, self._cooling())

    def _cooling(self) -> float:
        """Seconds until the cool-down ends."""
        return max(0.0, self._cool_down_until - time.monotonic())

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify_all()


def _waiting_line(used: int, allowed: int) -> str:
    """Return what a person is told who waits for a place at the server."""
    if allowed == 1:
        return "Waiting: the model answers one call at a time"
    return f"Waiting for a free place at the server: {used} of {allowed} in use"
