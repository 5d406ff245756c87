"""The model as an experiment calls it: a limited number of calls at once, words counted, one budget for all of it.

Words are counted whether a reply was sent for or came from the cache, so that an experiment that was killed and
resumed reports what it would have cost in one go. The budget counts only what really was sent.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from readagent_core.answering.run import shared_beginning
from readagent_core.cancel import CancelToken
from readagent_core.errors import BudgetError, CancelledError
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import money
from readagent_core.models.limiter import Limiter
from readagent_core.prompts import Prompt
from readagent_core.quick_json import to_json
from readagent_core.regular_files import write_whole
from readagent_core.usage import Usage
from readagent_core.words import count_words

SPENT_FILE = "spent.json"
_SAVE_SECONDS = 1.0  # between two writes of the file: what a kill may lose


class ExperimentBudget:
    """What an experiment has sent and spent, against its limits; safe for several threads.

    ``most_words``, ``most_dollars``: None for no limit. ``folder``: where the sums are saved, so that the limits hold
    however often the experiment is stopped and resumed; None for nowhere. ``words_sent``: in this run; ``words`` and
    ``dollars``: of the whole experiment. Cached replies count nothing. ``reported``: the model names that servers gave.
    """

    def __init__(
        self, most_words: int | None = None, *, most_dollars: float | None = None, folder: Path | None = None
    ) -> None:
        self.most_words, self.most_dollars = most_words, most_dollars
        self.words_sent = 0
        self.reported: set[str] = set()
        self.words, self.dollars = load_spent(folder) if folder else (0, 0.0)
        self._folder = folder
        self.closed = False
        self._saved = time.monotonic()
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise BudgetError once a limit is reached, CancelledError once the run has ended."""
        if self.closed:
            raise CancelledError("The experiment has stopped. Every answer so far is saved.")
        if self.used_up:
            raise BudgetError(
                f"The budget of {self.used_up}. Every answer so far is saved; raise the budget and start again to "
                "continue."
            )

    @property
    def used_up(self) -> str:
        """Which limit is reached: '5,000 words is used up (5,210 were sent)'; '' while none is."""
        if self.most_words is not None and self.words >= self.most_words:
            return f"{self.most_words:,} words is used up ({self.words:,} were sent)"
        if self.most_dollars is not None and self.dollars >= self.most_dollars:
            return f"{money(self.most_dollars)} is used up ({money(self.dollars)} is spent)"
        return ""

    def add(self, words: int, completion: Completion, *, dollars: float = 0.0) -> None:
        """Count one reply; ``words`` and ``dollars``: of what was sent for it."""
        with self._lock:
            if completion.model:
                self.reported.add(completion.model)
            if completion.cached:
                return
            self.words_sent += words
            self.words += words
            self.dollars += dollars
            due = time.monotonic() - self._saved >= _SAVE_SECONDS
        if due:
            self.save()

    def save(self) -> None:
        """Write the sums. A failure is ignored here: a full disk is reported when the next result is written."""
        with self._lock:
            self._saved = time.monotonic()
            if self._folder is None:
                return
            with suppress(OSError):
                write_whole(self._folder / SPENT_FILE, to_json({"words": self.words, "dollars": self.dollars}))

    def close(self) -> None:
        """Let no further call begin, and write the sums."""
        self.closed = True
        self.save()


def load_spent(folder: Path) -> tuple[int, float]:
    """Return (words, dollars) an experiment has sent so far; zeros where nothing is saved."""
    try:
        saved = json.loads((folder / SPENT_FILE).read_text(encoding="utf-8"))
        return int(saved["words"]), float(saved["dollars"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0.0


class LimitedModel(ModelWrapper):
    """At most ``connections`` calls at once, whoever makes them."""

    def __init__(self, model: ChatModel, connections: int) -> None:
        super().__init__(model)
        self._limiter = Limiter(connections)

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        with self._limiter.slot(cancel):
            return self.model.complete(prompt, cancel)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        with self._limiter.slot(cancel):
            yield from self.model.stream(prompt, cancel)


_RAISED: dict[Limiter, tuple[int, list[int]]] = {}  # the limit before, and what each experiment under way asks for
_RAISED_LOCK = threading.Lock()


@contextmanager
def raise_server_limit(model: ChatModel, connections: int) -> Iterator[None]:
    """Let ``connections`` calls be under way at the model's server within the block, where it allows fewer.

    Of several experiments at once the one that asks for the most decides.
    """
    limiter = model.limiter
    if limiter is None:
        yield
        return
    with _RAISED_LOCK:
        before, wanted = _RAISED.setdefault(limiter, (limiter.most, []))
        wanted.append(connections)
        limiter.allow(max(before, *wanted))
    try:
        yield
    finally:
        with _RAISED_LOCK:
            wanted.remove(connections)
            limiter.allow(max([before, *wanted]))
            if not wanted:
                del _RAISED[limiter]


class CountingModel(ModelWrapper):
    """Counts the words of one piece of work (a gisting, an answer, a rating) and charges them to the budget.

    ``run``: which run of the experiment asks, from 1; the replies of one run do not depend on those of another.
    ``on_reply``: called with every prompt that was answered. ``words``: sent, cached or not; ``built``: those of
    prompts without a question, for what a method builds of the text once, for all questions. ``new``: words of the
    others after the longest beginning that one before them had, which a server's cache of prompts cannot save.

    A reply is always asked for whole, because nobody watches it arrive and one that broke off can be retried.
    """

    def __init__(
        self,
        model: ChatModel,
        budget: ExperimentBudget,
        *,
        run: int = 1,
        on_reply: Callable[[Prompt], None] | None = None,
    ) -> None:
        self._meter = Metered(model, budget=0.0)  # the limit for one book or question does not apply here
        super().__init__(self._meter)
        self._budget, self._run, self._on_reply = budget, run, on_reply
        self.words = self.words_out = self.built = self.new = 0
        self._asked: list[str] = []
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        return self._meter.usage

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        self._budget.check()
        sent = prompt if self._run == 1 else replace(prompt, sample=self._run)
        completion = self.model.complete(sent, cancel)
        with self._lock:
            self.words += prompt.words
            if "question" in prompt.fields:
                shared = max((shared_beginning(text, prompt.text) for text in self._asked), default=0)
                self.new += count_words(prompt.text[shared:])
                self._asked.append(prompt.text)
            else:
                self.built += prompt.words
            self.words_out += count_words(completion.text)
        dollars = self._meter.usage_of(prompt, completion).cost or 0.0
        self._budget.add(prompt.words, completion, dollars=dollars)
        if self._on_reply is not None:
            self._on_reply(prompt)
        return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        completion = self.complete(prompt, cancel)
        yield completion.text
        yield completion
