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
    ModelLoadingError,
    ModelTimeoutError,
    RateLimitError,
    RefusedError,
    RetryAfterError,
    ServerFailedError,
    UnreachableError,
    UnusableRepliesError,
)
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.limiter import Limiter
from readagent_core.prompts import Prompt

T = TypeVar("T")

LONGEST_WAIT = 300.0  # seconds; where a server asks for more, the call fails
TRIES = 8  # of one call, whatever went wrong; asking whether a model is loaded is no try
LOADING_WAIT = 10.0  # seconds, between two such questions
# how often each fault may come before the call fails, and what a person reads; all others are never retried
RETRIES: dict[type[ModelError], tuple[int, str]] = {
    ModelLoadingError: (180, ""),  # half an hour: a large model takes minutes
    RateLimitError: (8, "the server asked for it"),
    ServerFailedError: (5, "the server failed"),
    UnreachableError: (4, "the server could not be reached"),
    CutOffError: (4, "the reply broke off"),
    EmptyReplyError: (3, "the reply was empty"),
    ModelTimeoutError: (3, "no reply in time"),
    RefusedError: (2, "the model declined"),  # filters are not consistent: the same text may pass the next time
}
# replies in a row without a word, of all calls together, that end it: more than one page can use up in its retries
IN_A_ROW, IN_A_ROW_LATER = 16, 40  # once the model said something
QUICK = (CutOffError, EmptyReplyError, RefusedError)  # nothing is overloaded: no long wait


class Retrying(ModelWrapper):
    """Retries another model. ``time_scale``: factor of the waits of our own choosing (tests). ``on_end``: told how each
    call ended, with its error or None.
    """

    def __init__(
        self,
        model: ChatModel,
        limiter: Limiter | None = None,
        *,
        time_scale: float = 1.0,
        on_end: Callable[[ModelError | None], None] = lambda _: None,
    ) -> None:
        super().__init__(model)
        self._on_end = on_end
        self._limiter = limiter or Limiter()
        self._time_scale = time_scale
        self._wordless, self._spoke = 0, False

    @property
    def limiter(self) -> Limiter:
        return self._limiter

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        completion, tries = self.call(
            lambda: self.model.complete(prompt, cancel), cancel, first_word=lambda reply: reply.first_word
        )
        self._count(completion.text, f"{self.name} sent only {completion.text[:20]!r}.")
        return replace(completion, tries=tries)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        """As ``complete`` until the first part was passed on; after that a fault is final."""
        faults: list[ModelError] = []
        while True:
            given = False
            try:
                with self.limiter.slot(cancel) as call:
                    for part in self.model.stream(prompt, cancel):
                        if isinstance(part, Completion):
                            self.limiter.went_well(call, part.first_word)
                            self._wordless, self._spoke = 0, True
                            self._on_end(None)
                            yield replace(part, tries=len(faults) + 1)
                            return
                        given = True
                        yield part
            except ModelError as error:
                if given:
                    raise
                self._wait_for_next_try(error, faults, cancel)

    def call(
        self, work: Callable[[], T], cancel: CancelToken, *, first_word: Callable[[T], float | None] = lambda _: None
    ) -> tuple[T, int]:
        """Call ``work``, again where that may help; return its result and the number of tries. Raises ModelError.

        ``first_word``: the seconds to the first word of a result.
        """
        faults: list[ModelError] = []
        while True:
            try:
                with self.limiter.slot(cancel) as call:
                    result = work()
            except ModelError as error:
                self._wait_for_next_try(error, faults, cancel)
                continue
            self.limiter.went_well(call, first_word(result))
            self._on_end(None)
            return result, len(faults) + 1

    def _wait_for_next_try(self, error: ModelError, faults: list[ModelError], cancel: CancelToken) -> None:
        """Add ``error`` to ``faults`` and wait for the next try, or raise it when no further one is allowed."""
        faults.append(error)
        if isinstance(error, EmptyReplyError | RefusedError):
            self._count("", str(error))
        same = sum(type(fault) is type(error) for fault in faults)
        most, reason = RETRIES.get(type(error), (1, ""))
        tries = 1 + sum(not isinstance(fault, ModelLoadingError) for fault in faults)
        asked = error.retry_after if isinstance(error, RetryAfterError) else None
        if same >= most or tries > TRIES or (asked or 0.0) > LONGEST_WAIT:
            self._on_end(error)
            raise error
        # exponential, with jitter of a half: 0.5–1 s, 1–2 s, 2–4 s …; shorter where nothing is overloaded
        longest = 2.0 ** (same - 1) * (0.3 if isinstance(error, QUICK) else 1.0)
        wait = self._time_scale * random.uniform(longest / 2, longest)
        if asked is not None:
            wait = asked + wait * 0.1  # a little after, and not all at the same moment
        why = f"Waiting {max(1, round(wait))} s: {reason} (try {tries})"
        if isinstance(error, ModelLoadingError):
            wait, why = min(wait, self._time_scale * LOADING_WAIT), "The server is loading the model"
        if isinstance(error, RateLimitError):
            self.limiter.too_many(wait)
        if cancel.wait(wait, why):
            self.limiter.go_on()

    def _count(self, text: str, told: str) -> None:
        """Count replies without words; one with words sets the count to 0. Raises UnusableRepliesError at the limit."""
        if any(map(str.isalnum, text)):
            self._wordless, self._spoke = 0, True
            return
        self._wordless += 1
        if self._wordless >= (IN_A_ROW_LATER if self._spoke else IN_A_ROW):
            raise UnusableRepliesError(
                f"{self._wordless} replies in a row had no words that can be used: {told} Test the model in "
                "Settings (or with `readagent check-model`)."
            )
