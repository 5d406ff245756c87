"""Asks again where that may help, waits where the server asks for it, and never holds too many lines open.

Retries are bounded, with jitter, and told through ``Watch.wait``. The number of calls at once is one figure a
server, shared by all readings in the process: halved when the server says 'too many', raised slowly again.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from readagent_core.errors import (
    CutOffError,
    EmptyReplyError,
    ModelError,
    ModelTimeoutError,
    RateLimitError,
    RefusedError,
    ServerFailedError,
    UnreachableError,
)
from readagent_core.models.base import Around, ChatModel, Completion, Watch
from readagent_core.prompts import Prompt

MOST_AT_ONCE = 32
LONGEST_WAIT = 300.0  # a server that asks for more is told to the person instead
TRIES = 8  # of one call, whatever went wrong
# how often each fault may come before it is believed; faults that are not named here are believed at once
PATIENCE: dict[type[ModelError], int] = {
    RateLimitError: 8,
    ServerFailedError: 5,
    UnreachableError: 4,
    CutOffError: 4,
    EmptyReplyError: 3,
    ModelTimeoutError: 3,
    RefusedError: 2,  # filters are moody; a model that means it says so twice
}
QUICK = (CutOffError, EmptyReplyError, RefusedError)  # nothing is overloaded: no long wait
BASE = 1.0


class Limiter:
    """How many calls may be under way at one server. AIMD: halves on 'too many', one more after a full round.

    What is halved is what was under way, so that a reading of eight calls at once slows at the first refusal.
    """

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self.most = most
        self.allowed = float(most)
        self._under_way = 0
        self._not_before = 0.0
        self._lowered = 0.0
        self._good = 0
        self._condition = threading.Condition()

    @property
    def told(self) -> str:
        """For people, where the server is asked less at once than it may be; else ''."""
        now = max(1, int(self.allowed))
        if now >= self.most:
            return ""
        return f"The server asked for fewer calls at once: {now} now, slowly more again"

    @property
    def under_way(self) -> int:
        return self._under_way

    def allow(self, most: int) -> None:
        """Let ``most`` calls be under way from now on."""
        if most != self.most:
            with self._condition:
                self.most, self.allowed = most, float(most)
                self._condition.notify_all()

    @contextmanager
    def line(self, watch: Watch, *, ahead: int = 0) -> Iterator[None]:
        """Hold one of the lines; waits for a free one, and while the server asked for peace. ``ahead``: how many more
        are welcome, because they wait elsewhere; none while the server is asked less than it may be.
        """
        self._take(watch, ahead)
        try:
            yield
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify()

    def _take(self, watch: Watch, ahead: int) -> None:
        while True:
            watch.check()
            with self._condition:
                peace = self._not_before - time.monotonic()
                if peace <= 0:
                    if self._under_way < max(1, int(self.allowed)) + (ahead if self.allowed >= self.most else 0):
                        self._under_way += 1
                        return
                    self._condition.wait(0.25)  # looks up now and then for a cancel
                    continue
            if watch.wait(peace, f"Waiting {max(1, round(peace))} s for the server"):
                self.go_on()

    def too_many(self, wait: float) -> None:
        """The server said 'too many': fewer lines, and none new for ``wait`` seconds."""
        with self._condition:
            now = time.monotonic()
            self._not_before = max(self._not_before, now + wait)
            self._good = 0
            if now - self._lowered > 1.0:  # one burst of refusals is one signal
                self._lowered = now
                self.allowed = max(1.0, min(self.allowed, self._under_way + 1) / 2)  # the refused one has let go

    def go_on(self) -> None:
        """A person does not want to wait any longer: the next call is sent now."""
        with self._condition:
            self._not_before = 0.0
            self._condition.notify_all()

    def went_well(self) -> None:
        with self._condition:
            self._good += 1
            if self.allowed < self.most and self._good >= self.allowed:
                self._good = 0
                self.allowed = min(float(self.most), self.allowed + 1)
                self._condition.notify()


class Patient(Around):
    """A ChatModel that retries another one. ``pace``: scales every wait of our own choosing (tests)."""

    def __init__(self, model: ChatModel, limiter: Limiter | None = None, *, pace: float = 1.0) -> None:
        super().__init__(model)
        self.limiter = limiter or Limiter()
        self._pace = pace
        self._random = random.Random()

    @property
    def _ahead(self) -> int:
        ahead: int = getattr(self.model, "ahead", 0)
        return ahead

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        faced: list[ModelError] = []
        while True:
            try:
                with self.limiter.line(watch, ahead=self._ahead):
                    completion = self.model.complete(prompt, watch)
            except ModelError as error:
                self._consider(error, faced, watch)
                continue
            self.limiter.went_well()
            return replace(completion, tries=len(faced) + 1) if faced else completion

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        """As ``complete`` until the first part was passed on; after that a fault is final, what came is kept."""
        faced: list[ModelError] = []
        while True:
            given = False
            try:
                with self.limiter.line(watch):
                    for part in self.model.stream(prompt, watch):
                        if isinstance(part, Completion):
                            self.limiter.went_well()
                            yield replace(part, tries=len(faced) + 1) if faced else part
                            return
                        given = True
                        yield part
            except ModelError as error:
                if given:
                    raise
                self._consider(error, faced, watch)

    def _consider(self, error: ModelError, faced: list[ModelError], watch: Watch) -> None:
        """Wait for the next try, or raise ``error`` when patience is at its end."""
        faced.append(error)
        same = sum(type(e) is type(error) for e in faced)
        if len(faced) >= TRIES or same >= PATIENCE.get(type(error), 1):
            raise error
        asked = getattr(error, "retry_after", None)
        if asked is not None and asked > LONGEST_WAIT:
            raise error
        wait = self._pace * self._backoff(same, quick=isinstance(error, QUICK))
        if asked is not None:
            wait = asked + wait * 0.1  # a little after, and not all at the same moment
        if isinstance(error, RateLimitError):
            self.limiter.too_many(wait)
        if watch.wait(wait, f"Waiting {max(1, round(wait))} s: {_reason(error)} (try {len(faced) + 1})"):
            self.limiter.go_on()

    def _backoff(self, same: int, *, quick: bool) -> float:
        """Exponential with full jitter above a half: 0.5–1, 1–2, 2–4 … s; shorter where nothing is overloaded."""
        most = BASE * float(2 ** (same - 1)) * (0.3 if quick else 1.0)
        return self._random.uniform(most / 2, most)


def _reason(error: ModelError) -> str:
    told: dict[type[ModelError], str] = {
        RateLimitError: "the server asked for it",
        ServerFailedError: "the server failed",
        UnreachableError: "the server could not be reached",
        CutOffError: "the reply broke off",
        EmptyReplyError: "the reply was empty",
        ModelTimeoutError: "no reply in time",
        RefusedError: "the model declined",
    }
    return told.get(type(error), "it did not work")
