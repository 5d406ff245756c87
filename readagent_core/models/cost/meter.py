"""Counts what a run sent and received, what it cost and what the cache saved; and holds the limits to spending.

``Metered`` counts one run (a gisting, an ask) and holds its budget. ``MonthlyBudget`` records every call that is sent,
and holds the month's. Words are counted here, as the paper counts them; tokens are the server's, estimated where it
reports none. A reply that broke off is counted by what of it came, estimated too.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from readagent_core.cancel import CancelToken
from readagent_core.errors import BudgetError, CutOffError
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cost.prices import Price, money
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from readagent_core.words import count_words


@dataclass
class _Account:
    """What a wrapper and its copies used, and the dollars reserved for calls under way."""

    used: Usage = field(default_factory=Usage)
    reserved: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Accounting(ModelWrapper):
    """Reserves a part of a budget for each call, and records what the call used, also where its reply broke off.

    ``price``: None where it is not known. ``limit``: dollars; None or 0 for no limit.
    """

    def __init__(self, model: ChatModel, price: Price | None, limit: float | None) -> None:
        super().__init__(model)
        self._price = price
        self._limit = limit
        self._account = _Account()

    @property
    def price(self) -> Price | None:
        return self._price

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        with self._accounted(prompt) as came:
            completion = self.model.complete(prompt, cancel)
            came.append(completion)
            return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        with self._accounted(prompt) as came:
            for part in self.model.stream(prompt, cancel):
                came.append(part)
                yield part

    @contextmanager
    def _accounted(self, prompt: Prompt) -> Iterator[list[str | Completion]]:
        """Account for one call. The caller adds to the list what came: parts, and last the Completion."""
        least = self._price.cost(estimate_tokens(prompt.text), 0) if self._price else 0.0
        account = self._account
        with account.lock:
            if least and self._limit:
                self._check_budget(self._limit, least)
            account.reserved += least
        came: list[str | Completion] = []
        try:
            yield came
        except CutOffError as error:
            came[:] = [error.text]
            raise
        finally:
            last = came[-1] if came else None
            if isinstance(last, str):  # the reply broke off, or nobody listened to its end
                last = Completion("".join(map(str, came)))
            used = self.usage_of(prompt, last) if last else Usage()
            with account.lock:
                account.reserved -= least
                account.used += used
            self._record(used)

    def usage_of(self, prompt: Prompt, completion: Completion) -> Usage:
        """The usage of one call; its cost and words count as saved where the reply comes from the cache."""
        tokens_in, tokens_out = completion.tokens_in, completion.tokens_out
        if not self.is_language_model:  # word statistics have no tokens to estimate
            tokens_in = tokens_out = 0
        known = tokens_in is not None and tokens_out is not None
        if tokens_in is None:
            tokens_in = estimate_tokens(prompt.text)
        if tokens_out is None:
            tokens_out = estimate_tokens(completion.text) + estimate_tokens(completion.reasoning)
        cost = self._price.cost(tokens_in, tokens_out, completion.tokens_reused) if self._price else None
        if completion.cached:
            free = None if cost is None else 0.0
            return Usage(cached_calls=1, saved_words_in=prompt.words, cost=free, saved_cost=cost)
        return Usage(
            calls=1,
            words_in=prompt.words,
            words_out=count_words(completion.text),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_estimated=0 if known else 1,
            tokens_reused=completion.tokens_reused,
            seconds=completion.seconds,
            retries=completion.tries - 1,
            cost=cost,
        )

    @abstractmethod
    def _check_budget(self, limit: float, least: float) -> None:
        """Raise BudgetError where a call that costs ``least`` dollars or more may not be sent."""

    def _record(self, used: Usage) -> None:
        """Called with what each call used."""


class Metered(_Accounting):
    """A ChatModel with ``usage``, of this run only; thread-safe.

    ``budget``: dollars; None takes the model's own limit for one run (set in Settings). ``spent``: what of it was spent
    before this run. At the limit a call raises BudgetError before anything is sent.
    """

    def __init__(self, model: ChatModel, *, budget: float | None = None, spent: float = 0.0) -> None:
        super().__init__(model, model.price, budget if budget is not None else model.budget)
        self._spent_before = spent

    @property
    def budget(self) -> None:
        """None: the budget is held here, so a meter around this one must not hold it again."""
        return None

    @property
    def usage(self) -> Usage:
        return self._account.used

    def _check_budget(self, limit: float, least: float) -> None:
        spent = self._spent_before + (self.usage.cost or 0.0)
        if spent + self._account.reserved + least > limit:
            raise BudgetError(
                f"The budget of {money(limit)} for this is used: {money(spent)} is spent. "
                "Everything so far is saved. Raise the budget in Settings to continue."
            )


class MonthlyBudget(_Accounting):
    """Records what every call costs in the month's spending log, and holds the month's limit.

    ``advice``: what to do where it is reached.
    """

    def __init__(
        self,
        model: ChatModel,
        log: SpendingLog,
        price: Price | None,
        limit: float | None,
        *,
        advice: str = "Raise it in Settings, or choose a model on this computer, then try again.",
    ) -> None:
        super().__init__(model, price, limit)
        self._log = log
        self._advice = advice

    def _check_budget(self, limit: float, least: float) -> None:
        spent = self._log.month()
        if spent + self._account.reserved >= limit:
            raise BudgetError(
                f"This month's budget of {money(limit)} is used: {money(spent)} is spent. Everything so far is saved. "
                f"{self._advice}",
                monthly=True,
            )

    def _record(self, used: Usage) -> None:
        self._log.add(self.name, used.cost or 0.0)
