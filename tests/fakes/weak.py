"""A simulated weak model: sensible replies, of which a share is spoilt in the ways that small models spoil theirs.

Which reply is spoilt, and how, depends only on the seed, the prompt and how often that prompt came, so a test gives the
same result each time, whatever the order of its calls.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping

from readagent_core.prompts import Prompt
from tests.fakes.sensible import sensible, understood

PLANTED = "zeppelin"  # stands in every quotation that is wrong, and in no book


def copy_example(prompt: Prompt | None, good: str) -> str:
    """The form of the prompt, not filled in."""
    example = (prompt.fields.get("example") if prompt else None) or "N"
    if prompt and prompt.task.startswith("paginate"):
        return f'Break point: <{example}>\nBecause "first words after the label" ...'
    if prompt and prompt.task.startswith("look_up"):
        return f"I want to look up Page [{example}] to ..."
    return f'Answer: (X)\n\nEvidence:\n[{example.split(",")[0]}] "{PLANTED} of the page"'


def break_form(prompt: Prompt | None, good: str) -> str:
    """Chatter around half of a JSON object."""
    return 'Certainly! What a lovely text. Here is what I think:\n```json\n{"reply": ["it depends",'


def ignore_length(prompt: Prompt | None, good: str) -> str:
    """The good reply over and over."""
    return "\n".join([good] * 20)


def misquote(prompt: Prompt | None, good: str) -> str:
    """Every quotation has a word that its page has not; where there is none, one is made up."""
    spoilt, count = re.subn(r'(["“「])([^"”」]{4,})(["”」])', rf"\1\2 {PLANTED}\3", good)
    return spoilt if count else f'{good} [1]\n\nEvidence:\n[1] "The {PLANTED} came at dawn"'


def name_missing(prompt: Prompt | None, good: str) -> str:
    """Every number is one that nothing in the prompt has."""
    return re.sub(r"\d+", lambda found: str(900 + int(found.group()) % 90), good)


def change_language(prompt: Prompt | None, good: str) -> str:
    return "这是一个很有意思的故事。我认为作者想说的是时间。"


def say_nothing(prompt: Prompt | None, good: str) -> str:
    return ""


FAULTS: Mapping[str, Callable[[Prompt | None, str], str]] = {
    "copies the example": copy_example,
    "breaks the form": break_form,
    "ignores the length": ignore_length,
    "misquotes": misquote,
    "names what is not there": name_missing,
    "changes the language": change_language,
    "says nothing": say_nothing,
}


class WeakModel:
    """A function of a prompt's text for ``FakeServer``. ``rates``: share of replies with each fault.

    ``spoilt``: how many replies had each fault.
    """

    def __init__(self, rates: Mapping[str, float] | float = 0.3, *, seed: int = 0) -> None:
        self._rates = dict.fromkeys(FAULTS, rates / len(FAULTS)) if isinstance(rates, float) else dict(rates)
        self._seed = seed
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.spoilt: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        with self._lock:
            self._seen[text] += 1
            chance = random.Random(f"{self._seed} {self._seen[text]} {text}").random()
            for name, rate in self._rates.items():
                chance -= rate
                if chance < 0:
                    self.spoilt[name] += 1
                    return FAULTS[name](understood(text), sensible(text))
        return sensible(text)
