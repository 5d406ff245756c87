"""What a reading method is: a question and a memory go in, events come out, the last of them the answer.

Screen, command line and evaluation watch the same events. A method is one file in this folder that ends with
``METHOD = …``; ``methods.all_methods()`` finds it. No method imports another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel, Watch
from readagent_core.usage import Usage

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Question:
    """``options``: the choices of a multiple-choice question, without letters; empty for a free-form one."""

    text: str
    options: tuple[str, ...] = ()

    def lettered(self) -> str:
        """The options as models see them: '(A) …' a line."""
        return "\n".join(f"({LETTERS[i]}) {option}" for i, option in enumerate(self.options))


@dataclass(frozen=True)
class AskSettings:
    """``look_ups``: most pages to read again (0 is gists alone). ``context_words``: most words that may stand
    in one prompt besides the instructions, None for no limit. ``by_importance``: pages come in order of
    importance and are added while they fit (books). ``keep``: what full text keeps when it must be cut:
    'left', 'right' or 'ends' (the middle is cut). ``extra``: a method's own settings, by name.
    """

    look_ups: int = 3
    context_words: int | None = None
    by_importance: bool = False
    keep: str = "left"
    extra: Mapping[str, Any] = field(default_factory=dict)


# --- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A prompt went out and its reply came back: one step of a replay, word for word."""

    task: str
    prompt: str
    reply: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class LookedUp:
    """The model named pages to read again. ``pages``: as taken, in the order named. ``reply``: its words.

    ``refused``: what it named that was not opened, with why ('page 99: there is no such page').
    """

    pages: tuple[int, ...]
    reply: str
    reason: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expanded:
    """The memory now stands with ``pages`` (all of them, in book order) in full; ``memory_words`` in all."""

    pages: tuple[int, ...]
    memory_words: int


@dataclass(frozen=True)
class Noted:
    """Something a person should know about this run: a fallback taken, text cut to fit."""

    text: str


@dataclass(frozen=True)
class AnswerPart:
    """The next piece of the answer as it streams."""

    text: str


@dataclass(frozen=True)
class Answer:
    """``option``: index of the chosen option, None for a free-form question or when none was named.

    ``looked_up``: pages opened, in the order opened. ``seen``: pages of which anything stood in the final
    prompt, 'full' or 'gist' (for the map). ``memory_words``: words in context in the longest final prompt,
    instructions left out; ``compression_rate`` from it (docs/methods.md). ``cut_off``: the reply broke off.
    ``notes``: fallbacks and cuts. ``steps``: look-up steps taken. ``method``: its name.
    """

    text: str
    method: str
    option: int | None = None
    looked_up: tuple[int, ...] = ()
    seen: Mapping[int, str] = field(default_factory=dict)
    memory_words: int = 0
    compression_rate: float = 0.0
    cut_off: bool = False
    notes: tuple[str, ...] = ()
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """The last event of every run."""

    answer: Answer


Event = Asked | LookedUp | Expanded | Noted | AnswerPart | Answered
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Asked, LookedUp, Expanded, Noted, AnswerPart, Answered)}


def event_to_dict(event: Event) -> dict[str, Any]:
    """An event as plain JSON values, with its kind. Texts are not copied: prompts are long."""
    values = dict(vars(event))
    if isinstance(event, Answered):
        values["answer"] = {**vars(event.answer), "usage": event.answer.usage.to_dict()}
    elif isinstance(event, Asked):
        values["usage"] = event.usage.to_dict()
    return {"kind": type(event).__name__, **values}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """The event that ``event_to_dict`` gave."""
    values = {name: value for name, value in data.items() if name != "kind"}
    if data["kind"] == "Answered":
        return Answered(answer_from_dict(values["answer"]))
    if "usage" in values:
        values["usage"] = Usage.from_dict(values["usage"])
    event: Event = _KINDS[data["kind"]](**{n: tuple(v) if isinstance(v, list) else v for n, v in values.items()})
    return event


def answer_from_dict(data: Mapping[str, Any]) -> Answer:
    values = dict(data)
    values["usage"] = Usage.from_dict(values["usage"])
    values["seen"] = {int(page): how for page, how in values["seen"].items()}
    for name in ("looked_up", "notes"):
        values[name] = tuple(values[name])
    return Answer(**values)


class Method(Protocol):
    """``name``: 'read-agent-p'. ``title`` and ``about``: for people, a few words and a sentence.

    ``needs_gists``: whether it works on a gist memory (else on the pages' full text only). One that imports much late
    may have ``ready()``, which imports it; an experiment calls it ahead of the first question.
    """

    name: str
    title: str
    about: str
    needs_gists: bool

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        """Events in order, the last one Answered. Raises ModelError or CancelledError."""
        ...
