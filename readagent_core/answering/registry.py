"""The methods that can answer a question, by name: every file of ``methods/`` that ends with ``METHOD = …``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from readagent_core.answering.base import AskSettings, Event, Question
from readagent_core.answering.resources import Resources
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import Shelf
from readagent_core.cancel import CancelToken
from readagent_core.errors import SettingsError
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered

FOLDER = "readagent_core.methods"
ORDER = (  # in lists and tables; a method not named here follows, sorted by name
    "read-agent-p",
    "read-agent-s",
    "read-agent-search",
    "zoom",
    "gist-mem",
    "bm25",
    "bm25-dos",
    "neural",
    "neural-dos",
    "gist-neural",
    "memwalker",
    "semantic-compression",
    "recurrence",
    "full-text",
)


@dataclass(frozen=True)
class Method:
    """A reading method.

    ``name``: 'read-agent-p'. ``title`` and ``about``: a few words and one sentence for screens. ``answer``: yields the
    events of a run, the last one Answered. ``answer_shelf``: does so for several books, each with its own pages; None
    where several are read as one text. ``needs_gists``: whether it uses gists, not only the pages' full text.
    ``compares_embeddings``: whether another embedder gives other answers. ``looks_up``: whether the limit on look-ups
    changes anything.
    """

    name: str
    title: str
    about: str
    answer: Callable[[Run], Iterator[Event]]
    answer_shelf: Callable[[Run, Shelf], Iterator[Event]] | None = None
    needs_gists: bool = False
    compares_embeddings: bool = False
    looks_up: bool = True

    def run(
        self,
        question: Question,
        books: GistMemory | Shelf,
        model: ChatModel,
        settings: AskSettings,
        cancel: CancelToken,
        resources: Resources | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a run with exactly these ``settings``. Raises ModelError or CancelledError."""
        resources = resources or Resources()
        if isinstance(books, GistMemory):
            yield from self.answer(Run(self.name, question, books, Metered(model), settings, cancel, resources))
        elif self.answer_shelf is not None:
            run = Run(self.name, question, books.no_pages, Metered(model), settings, cancel, resources)
            yield from self.answer_shelf(run, books)
        else:
            yield from self.run(question, books.joined, model, settings, cancel, resources)


@cache
def all_methods() -> dict[str, Method]:
    """Return every method by name, sorted by ``ORDER``. A new file in this folder needs no entry anywhere."""
    found: dict[str, Method] = {}
    for module in pkgutil.iter_modules(importlib.import_module(FOLDER).__path__):
        method = getattr(importlib.import_module(f"{FOLDER}.{module.name}"), "METHOD", None)
        if method is not None:
            found[method.name] = method
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    return {name: found[name] for name in sorted(found, key=lambda name: (ranks.get(name, len(ranks)), name))}


def method(name: str) -> Method:
    """Return the method of this name. Raises SettingsError for an unknown one."""
    try:
        return all_methods()[name]
    except KeyError:
        raise SettingsError(f"There is no method {name!r}. Choose one of: {', '.join(all_methods())}.") from None
