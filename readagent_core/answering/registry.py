"""The methods that can answer a question, by name.

They are the files of ``methods/`` that end with ``METHOD = …``, and the entry points ``readagent.methods`` of installed
packages.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cache
from importlib.metadata import entry_points

from readagent_core.answering.base import AskSettings, Event, Question
from readagent_core.answering.resources import Resources
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.errors import SettingsError
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered

FOLDER = "readagent_core.methods"
GROUP = "readagent.methods"  # of entry points
ORDER = (  # in lists and tables; a method not named here follows, sorted by name
    "read-agent-p",
    "read-agent-s",
    "read-agent-search",
    "zoom",
    "recall",
    "recall-once",
    "gist-mem",
    "bm25",
    "bm25-dos",
    "passages-dos",
    "search-agent",
    "neural",
    "neural-dos",
    "gist-neural",
    "memwalker",
    "semantic-compression",
    "recurrence",
    "full-text",
)
_TYPES: Mapping[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
_log = logging.getLogger(__name__)


class Reads(Enum):
    """What of the text a method reads word by word to answer."""

    ALL = "all"
    PAGES = "pages"
    PASSAGES = "passages"
    NOTHING = "nothing"  # gists, or a memory of its own


class Family(StrEnum):
    """What kind a method is of, as the legend of a drawing says it."""

    READ_AGENT = "ReadAgent"
    GISTS = "Gists"
    SEARCH = "Search"
    SUMMARIES = "Summaries"
    FULL_TEXT = "Full text"


@dataclass(frozen=True)
class Method:
    """A reading method.

    ``name``: 'read-agent-p'. ``title`` and ``about``: a few words and one sentence for screens. ``family``: its kind;
    by default GISTS where it uses them, else SUMMARIES. ``answer``: yields the events of a run, the last one Answered.
    ``answer_shelf``: does so for several books, each with its own pages; None where several are read as one text.
    ``needs_gists``: whether it uses gists, not only the pages' full text. ``searches``: whether, using gists, it also
    answers from pages that have none yet. ``compares_embeddings``: whether another embedder gives other answers.
    ``reads``: what of the text it reads word by word to answer. ``looks_up``: whether the limit on look-ups changes
    anything. ``options``: its own settings (``AskSettings.extra``), each with the type of its value.
    """

    name: str
    title: str
    about: str
    answer: Callable[[Run], Iterator[Event]]
    answer_shelf: Callable[[Run, AskedShelf], Iterator[Event]] | None = None
    family: Family | None = None
    needs_gists: bool = False
    searches: bool = False
    compares_embeddings: bool = False
    reads: Reads = Reads.PAGES
    looks_up: bool = True
    options: Mapping[str, type] = field(default_factory=dict)

    def fits(self, option: str, value: object) -> bool:
        """Return whether its own setting may have this value; a whole number is a number too."""
        kind = self.options.get(option)
        return type(value) is kind or (kind is float and type(value) is int)

    def run(
        self,
        question: Question,
        books: GistMemory | AskedShelf,
        model: ChatModel,
        settings: AskSettings,
        cancel: CancelToken,
        resources: Resources | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a run with exactly these ``settings``.

        Raises SettingsError for an own setting of another type, ModelError or CancelledError.
        """
        for name, value in settings.extra.items():
            if name in self.options and not self.fits(name, value):
                wanted = _TYPES.get(self.options[name], "of another type")
                raise SettingsError(f"The setting {name!r} of {self.name} must be {wanted}, not {value!r}.")
        resources = resources or Resources()
        if isinstance(books, GistMemory):
            yield from self.answer(Run(self.name, question, books, Metered(model), settings, cancel, resources))
        elif self.answer_shelf is not None:
            run = Run(self.name, question, books.no_pages, Metered(model), settings, cancel, resources)
            yield from self.answer_shelf(run, books)
        else:
            yield from self.run(question, books.joined, model, settings, cancel, resources)


@cache
def _load() -> tuple[dict[str, Method], tuple[str, ...]]:
    """Return the methods by name, and a sentence for each installed one that cannot be used."""
    modules = [f"{FOLDER}.{module.name}" for module in pkgutil.iter_modules(importlib.import_module(FOLDER).__path__)]
    own = (getattr(importlib.import_module(name), "METHOD", None) for name in modules)
    found = {method.name: method for method in own if method is not None}
    faults: list[str] = []
    for entry in entry_points(group=GROUP):
        package = entry.dist.name if entry.dist else entry.value
        try:
            method = entry.load()
            if not isinstance(method, Method):
                raise TypeError(f"{entry.value} is no Method")
            if method.name in found:
                raise ValueError(f"there is a method {method.name!r} already")
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it does, the other methods stay
            faults.append(f"The method {entry.name!r} of the package {package} cannot be used: {error!r}.")
            _log.warning("%s", faults[-1])
        else:
            found[method.name] = method
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    names = sorted(found, key=lambda name: (ranks.get(name, len(ranks)), name))
    return {name: found[name] for name in names}, tuple(faults)


def all_methods() -> dict[str, Method]:
    """Return every method by name, sorted by ``ORDER``. A new file or package needs no entry anywhere here."""
    return _load()[0]


def family_of(name: str) -> Family:
    """Return the family of a method; SUMMARIES for one that is not installed any more."""
    known = all_methods().get(name)
    return (known and known.family) or (Family.GISTS if known and known.needs_gists else Family.SUMMARIES)


def sends_gists(name: str) -> bool:
    """Return whether the gists of the memory are in the prompts of a method; also for one of another version."""
    known = all_methods().get(name)
    return known is None or known.needs_gists


def method_faults() -> tuple[str, ...]:
    """Return why methods of other packages cannot be used, a sentence for each."""
    return _load()[1]


def method(name: str) -> Method:
    """Return the method of this name. Raises SettingsError for an unknown one."""
    try:
        return all_methods()[name]
    except KeyError:
        known = f"There is no method {name!r}. Choose one of: {', '.join(all_methods())}."
        raise SettingsError(" ".join([known, *method_faults()])) from None
