"""Retries a call where that may help, and waits where the server asks for it.

Retries are bounded, with jitter, and each wait is reported through ``CancelToken.wait``. Calls go through the server's
``Limiter``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from readagent_core.cancel import CancelToken
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
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.server.limiter import Limiter
from readagent_core.prompts import Prompt

T = TypeVar("T")

LONGEST_WAIT = 300.0  # a server that asks for more is told to the person instead
TRIES = 8  # of one call, whatever went wrong
# how often each fault may come before the call fails; faults that are not named here are never retried
TRIES_OF: dict[type[ModelError], int] = {
    RateLimitError: 8,
    ServerFailedError: 5,
    UnreachableError: 4,
    CutOffError: 4,
    EmptyReplyError: 3,
    ModelTimeoutError: 3,
    RefusedError: 2,  # filters are not consistent: the same text may pass the next time
}
QUICK = (CutOffError, EmptyReplyError, RefusedError)  # nothing is overloaded: no long wait
BASE = 1.0


class Retrying(ModelWrapper):
    """Retries another model. ``time_scale``: factor of the waits of our own choosing (tests)."""

    def __init__(self, model: ChatModel, limiter: Limiter | None = None, *, time_scale: float = 1.0) -> None:
        super().__init__(model)
        self._limiter = limiter or Limiter()
        self._time_scale = time_scale

    @property
    def limiter(self) -> Limiter:
        return self._limiter

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        completion, tries = retried(
            lambda: self.model.complete(prompt, cancel), self.limiter, cancel, time_scale=self._time_scale
        )
        return replace(completion, tries=tries)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        """As ``complete`` until the first part was passed on; after that a fault is final, what came is kept."""
        faced: list[ModelError] = []
        while True:
            given = False
            try:
                with self.limiter.slot(cancel):
                    for part in self.model.stream(prompt, cancel):
                        if isinstance(part, Completion):
                            self.limiter.went_well()
                            yield replace(part, tries=len(faced) + 1)
                            return
                        given = True
                        yield part
            except ModelError as error:
                if given:
                    raise
                _wait_for_next_try(error, faced, self.limiter, cancel, time_scale=self._time_scale)


def retried(call: Callable[[], T], limiter: Limiter, cancel: CancelToken, *, time_scale: float = 1.0) -> tuple[T, int]:
    """Make a call, again where that may help; its result and the number of tries. Raises ModelError."""
    faced: list[ModelError] = []
    while True:
        try:
            with limiter.slot(cancel):
                result = call()
        except ModelError as error:
            _wait_for_next_try(error, faced, limiter, cancel, time_scale=time_scale)
            continue
        limiter.went_well()
        return result, len(faced) + 1


def _wait_for_next_try(
    error: ModelError, faced: list[ModelError], limiter: Limiter, cancel: CancelToken, *, time_scale: float
) -> None:
    """Wait for the next try, or raise ``error`` when no further one is allowed."""
    faced.append(error)
    same = sum(type(e) is type(error) for e in faced)
    if not error.retryable or len(faced) >= TRIES or same >= TRIES_OF[type(error)]:
        raise error
    asked = error.retry_after if isinstance(error, RateLimitError | ServerFailedError) else None
    if asked is not None and asked > LONGEST_WAIT:
        raise error
    wait = time_scale * _backoff(same, quick=isinstance(error, QUICK))
    if asked is not None:
        wait = asked + wait * 0.1  # a little after, and not all at the same moment
    if isinstance(error, RateLimitError):
        limiter.too_many(wait)
    if cancel.wait(wait, f"Waiting {max(1, round(wait))} s: {_reason(error)} (try {len(faced) + 1})"):
        limiter.go_on()


def _backoff(same: int, *, quick: bool) -> float:
    """Seconds, exponential with full jitter above a half: 0.5–1, 1–2, 2–4 …; shorter where nothing is overloaded."""
    most = BASE * float(2 ** (same - 1)) * (0.3 if quick else 1.0)
    return random.uniform(most / 2, most)


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
