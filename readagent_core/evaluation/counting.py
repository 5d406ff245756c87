"""The model as an experiment sees it: at most so many calls at once, and every word counted by task.

Words are counted whether a reply was sent for or came from the cache, so that a run that was killed and resumed
reports what it would have cost in one go; what really was sent is the budget's. Models around models.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from readagent_core.cancel import CancelToken
from readagent_core.evaluation.till import Till
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.meter import UsageCounter as Spending
from readagent_core.models.server.limiter import Limiter
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from readagent_core.words import count_words


class Limited(ModelWrapper):
    """At most ``connections`` calls at once, whoever makes them."""

    def __init__(self, model: ChatModel, connections: int) -> None:
        super().__init__(model)
        self._limiter = Limiter(connections)

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        with self._limiter.slot(cancel):
            return self.model.complete(prompt, cancel)


class Whole(ModelWrapper):
    """Nobody watches these answers come, so each is asked for whole: one that broke off is asked for again."""

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        completion = self.complete(prompt, cancel)
        yield completion.text
        yield completion


def limited(model: ChatModel, connections: int) -> ChatModel:
    """``model`` asked for whole replies, at most so many calls at once. One that is kept already is no call: looking
    for it takes no connection from those that are sent.
    """
    return Whole(model.wrap_inner(lambda asked: Limited(asked, connections)))


class Repeated(ModelWrapper):
    """The same model asked anew for a further run: its replies are independent of the runs before."""

    def __init__(self, model: ChatModel, run: int) -> None:
        super().__init__(model)
        self._run = run

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        return self.model.complete(replace(prompt, sample=self._run), cancel)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        return self.model.stream(replace(prompt, sample=self._run), cancel)


def repeated(model: ChatModel, run: int) -> ChatModel:
    """``model`` for the given run, counted from 1."""
    return model if run == 1 else Repeated(model, run)


class Counted(ModelWrapper):
    """Counts the words of one piece of work (a reading, an answer, a rating) and pays them into the till."""

    def __init__(self, model: ChatModel, till: Till) -> None:
        self._meter = Metered(model, budget=0.0)  # the till holds the budget
        super().__init__(self._meter)
        self._till = till
        price = self._meter.price
        self._spending = Spending(price, None) if price is not None and price.cost(1, 1) else None
        self._words: Counter[str] = Counter()
        self._words_out = self._built = 0
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        return self._meter.usage

    @property
    def words(self) -> int:
        """Words sent, cached or not."""
        return sum(self._words.values())

    @property
    def built(self) -> int:
        """Words of prompts that hold no question: what a method makes of the text once, for all questions."""
        return self._built

    @property
    def words_out(self) -> int:
        return self._words_out

    def words_of(self, task: str) -> int:
        """Words sent for a task and its kin ('paginate', 'paginate_many', …)."""
        return sum(words for name, words in list(self._words.items()) if name.startswith(task))

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        self._till.check()
        completion = self.model.complete(prompt, cancel)
        self._add(prompt, completion)
        return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        self._till.check()
        for part in self.model.stream(prompt, cancel):
            if isinstance(part, Completion):
                self._add(prompt, part)
            yield part

    def _add(self, prompt: Prompt, completion: Completion) -> None:
        with self._lock:
            self._words[prompt.task] += prompt.words
            self._built += 0 if "question" in prompt.fields else prompt.words
            self._words_out += count_words(completion.text)
        dollars = (self._spending.of(prompt, completion).cost or 0.0) if self._spending else 0.0
        self._till.add(prompt.words, completion, dollars=dollars)
