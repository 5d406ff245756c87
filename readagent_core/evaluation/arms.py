"""An arm of an experiment: a method with its settings, one row of the table.

It can be written as ``read-agent-p``, ``read-agent-p:5`` (up to five look-ups) or ``full-text:keep=ends``. Arms with a
budget of words a question compare methods at equal words. Knows nothing of datasets or results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from readagent_core.answering.base import AskSettings
from readagent_core.answering.explore import REQUESTS, WORDS
from readagent_core.answering.registry import method
from readagent_core.errors import SettingsError

_KEEP = ("left", "right", "ends")
_NO_LOOK_UPS = ("gist-mem", "full-text")  # methods that look nothing up, whatever the setting
_RETRIEVAL = ("bm25", "bm25-dos", "neural", "neural-dos")
_IN_PROMPTS = (  # methods that hold the words of a question themselves
    "read-agent-p", "read-agent-s", "gist-neural", "gist-mem", "recall", "recall-once", "passages-dos", "search-agent",
)  # fmt: skip
_EXPLORING = ("zoom", "read-agent-search")
WORDS_A_REQUEST = 6000  # of a budget: so many words for each request of an exploring method, at least one
VIEW_SHARE = 0.5  # of an exploring prompt, for gists; the rest is for what is opened


@dataclass(frozen=True)
class Arm:
    """A method and its settings.

    ``plan``: changes to the reading plan for this arm alone (its page sizes). ``words``: the most words sent for a
    question, instructions counted; None for no limit.
    """

    method: str
    settings: AskSettings = field(default_factory=AskSettings)
    plan: Mapping[str, Any] = field(default_factory=dict)
    words: int | None = None

    @cached_property
    def key(self) -> str:
        """Identifies the arm in files and tables; the same settings always give the same key."""
        changed = [
            f"{name}={value}"
            for name, value in asdict(self.settings).items()
            if name not in ("look_ups", "extra") and value != getattr(AskSettings(), name)
        ]
        changed += [f"{name}={value}" for name, value in sorted(self.settings.extra.items())]
        changed += [f"plan.{name}={value}" for name, value in sorted(self.plan.items())]
        changed += [] if self.words is None else [f"question_words={self.words}"]
        return ":".join([self.method, str(self.settings.look_ups), *changed])

    @property
    def title(self) -> str:
        """The method's title for people, and the settings that were changed."""
        parts = replace(self, words=None).key.split(":")[2:]
        parts += [] if self.words is None else [f"{self.words:,} words"]
        changed = f" ({', '.join(parts)})" if parts else ""
        return f"{method(self.method).title}{changed}"

    def settings_within_words(self) -> AskSettings:
        """Return the settings with which a run sends at most ``words`` words (docs/methods.md, 'Equal words').

        A question that is asked again because a reply was unusable may exceed it.
        """
        if self.words is None:
            return self.settings
        settings, prompts, own = self.settings, 1, {}
        if self.method in _EXPLORING:
            requests = min(REQUESTS, max(1, self.words // WORDS_A_REQUEST))
            prompts = requests + 1
            view = min(WORDS, int(VIEW_SHARE * self.words / prompts))
            own = {"requests": requests, "words": view}
        elif self.method in _IN_PROMPTS:
            return replace(settings, question_words=self.words)
        elif self.method == "memwalker":
            own = {"most_words": self.words}
        elif self.method in _RETRIEVAL:
            own = {"fill": True}
        return replace(settings, prompt_words=self.words // prompts, extra={**own, **settings.extra})

    def to_dict(self) -> dict[str, Any]:
        words = {} if self.words is None else {"words": self.words}
        return {"method": self.method, "settings": asdict(self.settings), "plan": dict(self.plan), **words}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Arm:
        try:
            settings = AskSettings(**data.get("settings", {}))
            return cls(method(data["method"]).name, settings, dict(data.get("plan", {})), data.get("words"))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SettingsError("A method of this record cannot be read. Correct its 'arms'.") from None


def recorded_arms(record: Mapping[str, Any]) -> list[Arm]:
    """Return the arms in the record of an experiment. Raises SettingsError."""
    return [Arm.from_dict(values) for values in record["experiment"]["arms"]]


def arm_titles(arms: Sequence[Arm]) -> dict[str, str]:
    """Return arm key → title, in the same order; look-ups are added where two arms differ in nothing else."""
    times = Counter(arm.title for arm in arms)
    return {
        arm.key: arm.title if times[arm.title] == 1 else f"{arm.title}, look-ups: {arm.settings.look_ups}"
        for arm in arms
    }


def with_defaults(name: str, base: AskSettings) -> Arm:
    """Return the arm of a method with the settings ``base``; the same for the screen and the command line."""
    name = method(name).name
    return Arm(name, replace(base, look_ups=0) if name in _NO_LOOK_UPS else base)


def with_words(arms: Iterable[Arm], budgets: Sequence[int]) -> tuple[Arm, ...]:
    """Return every arm with each budget of words a question; one that has its own budget is left as it is."""
    found = [arm for one in arms for arm in ([replace(one, words=n) for n in budgets] if one.words is None else [one])]
    return tuple({arm.key: arm for arm in found}.values())


def parse(text: str, base: AskSettings) -> Arm:
    """Return the arm written as NAME[:LOOK-UPS][:setting=value…], on top of ``base``. Raises SettingsError."""
    name, *parts = (part.strip() for part in text.split(":"))
    settings, plan = with_defaults(name, base).settings, {}
    extra, words = dict(base.extra), None
    for part in parts:
        field_name, equals, value = part.partition("=")
        try:
            if not equals:
                settings = replace(settings, look_ups=_parse_count(field_name))
            elif field_name == "keep":
                if value not in _KEEP:
                    raise ValueError
                settings = replace(settings, keep=value)
            elif field_name == "question_words":
                words = _parse_count(value)
            elif field_name == "context_words":
                settings = replace(settings, context_words=_parse_count(value))
            elif field_name in ("by_importance", "may_decline", "reason_first", "plain"):
                flag: dict[str, Any] = {field_name: value.lower() in ("1", "true", "yes")}
                settings = replace(settings, **flag)
            elif field_name.startswith("plan."):
                plan[field_name.removeprefix("plan.")] = _parse_value(value)
            elif not method(name).fits(field_name, found := _parse_value(value)):
                raise ValueError
            else:
                extra[field_name] = found
        except ValueError:
            raise SettingsError(
                f"{part!r} in {text!r} is not understood. Write, for example, read-agent-p:5 or full-text:keep=ends."
            ) from None
    return Arm(method(name).name, replace(settings, extra=extra), plan, words)


def _parse_count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _parse_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
