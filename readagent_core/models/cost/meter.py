"""Counts what a run sent and received, what it cost and what the cache saved; and holds the limits to spending.

``Metered`` counts one run (a reading, an ask) and holds its budget. ``MonthlyBudget`` records every call that is sent,
and holds the month's. Words are counted here, as the paper counts them; tokens are the server's, estimated where it
reports none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from readagent_core.cancel import CancelToken
from readagent_core.errors import BudgetError, CutOffError
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cost.prices import Price, money
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from readagent_core.words import count_words

_NOTHING = Usage()


class UsageCounter:
    """Usage added up by any number of threads, with a limit to what it may cost."""

    def __init__(
        self, price: Price | None, budget: float | None, *, spent: float = 0.0, has_tokens: bool = True
    ) -> None:
        self.has_tokens = has_tokens  # word statistics have none to estimate
        self.price = price
        self.budget = budget
        self.spent = spent  # before this run, of the same budget
        self.usage = Usage()
        self._lock = threading.Lock()
        self._under_way = 0.0

    def admit(self, prompt: Prompt) -> float:
        """Hold back what sending ``prompt`` costs at least; that sum. Raises BudgetError when it does not fit."""
        if self.price is None or not self.budget:
            return 0.0
        least = self.price.cost(estimate_tokens(prompt.text), 0)
        with self._lock:
            spent = self.spent + (self.usage.cost or 0.0)
            if spent + self._under_way + least > self.budget:
                raise BudgetError(
                    f"The budget of {money(self.budget)} for this is used: {money(spent)} is spent. "
                    "Everything so far is kept. Raise the budget in Settings to go on."
                )
            self._under_way += least
        return least

    def settle(self, held: float, used: Usage = _NOTHING) -> None:
        with self._lock:
            self._under_way -= held
            self.usage = self.usage + used

    def of(self, prompt: Prompt, completion: Completion) -> Usage:
        """What one reply counts: nothing consumed when it was kept from before."""
        tokens_in, tokens_out = completion.tokens_in, completion.tokens_out
        if not self.has_tokens:
            tokens_in = tokens_out = 0
        known = tokens_in is not None and tokens_out is not None
        if tokens_in is None:
            tokens_in = estimate_tokens(prompt.text)
        if tokens_out is None:
            tokens_out = estimate_tokens(completion.text) + estimate_tokens(completion.reasoning)
        cost = self.price.cost(tokens_in, tokens_out) if self.price else None
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
            seconds=completion.seconds,
            retries=completion.tries - 1,
            cost=cost,
        )


class Metered(ModelWrapper):
    """A ChatModel with ``usage``, of this run only; thread-safe.

    ``prices``: None takes the price the model itself knows. ``budget``: dollars; None takes the model's own limit
    for one run (set in Settings). ``spent``: what of it was spent before this run. At the limit a call raises
    BudgetError before anything is sent.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        prices: Price | None = None,
        budget: float | None = None,
        spent: float = 0.0,
    ) -> None:
        super().__init__(model)
        self._counter = UsageCounter(
            prices if prices is not None else model.price,
            budget if budget is not None else model.budget,
            spent=spent,
            has_tokens=model.is_language_model,
        )

    @property
    def price(self) -> Price | None:
        return self._counter.price

    @property
    def budget(self) -> None:
        """None: the budget is held here, so a meter around this one must not hold it again."""
        return None

    @property
    def usage(self) -> Usage:
        return self._counter.usage

    def usage_of(self, prompt: Prompt, completion: Completion) -> Usage:
        """What one reply counted: a part of ``usage``, for whoever shows calls one by one."""
        return self._counter.of(prompt, completion)

    def usage_since(self, mark: Usage) -> Usage:
        """What was used since ``mark``, an earlier value of ``usage``."""
        return self.usage - mark

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        held = self._counter.admit(prompt)
        used = Usage()
        try:
            completion = self.model.complete(prompt, cancel)
            used = self._counter.of(prompt, completion)
            return completion
        except CutOffError as error:  # it was sent, and part of a reply came
            used = self._counter.of(prompt, Completion(error.text))
            raise
        finally:
            self._counter.settle(held, used)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        held = self._counter.admit(prompt)
        came: list[str] = []
        used: Usage | None = None
        try:
            for part in self.model.stream(prompt, cancel):
                if isinstance(part, Completion):
                    used = self._counter.of(prompt, part)
                else:
                    came.append(part)
                yield part
        finally:
            if used is None:  # broken off, or nobody listened to the end
                used = self._counter.of(prompt, Completion("".join(came))) if came else Usage()
            self._counter.settle(held, used)


class MonthlyBudget(ModelWrapper):
    """Records what every call costs in the month's spending log, and holds the month's limit."""

    def __init__(self, model: ChatModel, log: SpendingLog, price: Price | None, limit: float | None) -> None:
        super().__init__(model)
        self._log = log
        self._counter = UsageCounter(price, None)
        self._price = price
        self._free = price is None or price.cost(1, 1) == 0
        self._limit = limit
        self._lock = threading.Lock()
        self._under_way = 0.0

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        with self._under_budget(prompt):
            completion = self.model.complete(prompt, cancel)
            self._enter(prompt, completion)
            return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        with self._under_budget(prompt):
            for part in self.model.stream(prompt, cancel):
                if isinstance(part, Completion):
                    self._enter(prompt, part)
                yield part

    @contextmanager
    def _under_budget(self, prompt: Prompt) -> Iterator[None]:
        """Hold back what the call costs at least, so that many side by side do not pass the limit together."""
        if not self._limit or self._price is None or self._free:
            yield
            return
        least = self._price.cost(estimate_tokens(prompt.text), 0)
        with self._lock:
            spent = self._log.month()
            if spent + self._under_way >= self._limit:
                raise BudgetError(
                    f"This month's budget of {money(self._limit)} is used: {money(spent)} is spent. Everything so far "
                    "is kept. Raise it in Settings, or choose a model on this computer, and go on.",
                    monthly=True,
                )
            self._under_way += least
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= least

    def _enter(self, prompt: Prompt, completion: Completion) -> None:
        if not self._free:
            self._log.add(self.name, self._counter.of(prompt, completion).cost or 0.0)
