"""An arm of an experiment: a method with its settings, one row of the table.

Written short as ``read-agent-p``, ``read-agent-p:5`` (up to five look-ups) or ``full-text:keep=ends``. Knows
nothing of datasets or results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.methods import method
from readagent_core.methods.base import AskSettings

_KEEP = ("left", "right", "ends")
_NO_LOOK_UPS = ("gist-mem", "full-text")  # where none are looked up, however many might be


@dataclass(frozen=True)
class Arm:
    """``plan``: changes to the reading plan for this arm alone (uniform pages, other page sizes)."""

    method: str
    settings: AskSettings = field(default_factory=AskSettings)
    plan: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """Tells arms apart, in files and tables; the same settings always give the same key."""
        changed = [
            f"{name}={value}"
            for name, value in asdict(self.settings).items()
            if name not in ("look_ups", "extra") and value != getattr(AskSettings(), name)
        ]
        changed += [f"{name}={value}" for name, value in sorted(self.settings.extra.items())]
        changed += [f"plan.{name}={value}" for name, value in sorted(self.plan.items())]
        return ":".join([self.method, str(self.settings.look_ups), *changed])

    @property
    def title(self) -> str:
        """For people: the method's own title, and what was changed."""
        parts = self.key.split(":")[2:]
        changed = f" ({', '.join(parts)})" if parts else ""
        return f"{method(self.method).title}{changed}"

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "settings": asdict(self.settings), "plan": dict(self.plan)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Arm:
        try:
            settings = AskSettings(**data.get("settings", {}))
            return cls(method(data["method"]).name, settings, dict(data.get("plan", {})))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SettingsError("A method of this record cannot be read. Mend its 'arms' or begin anew.") from None


def plainly(name: str, base: AskSettings) -> Arm:
    """The method with ``base``, the same arm whether the screen or the command line asks for it."""
    name = method(name).name
    return Arm(name, replace(base, look_ups=0) if name in _NO_LOOK_UPS else base)


def parse(text: str, base: AskSettings) -> Arm:
    """The arm written as NAME[:LOOK-UPS][:setting=value…], on top of ``base``. Raises SettingsError."""
    name, *parts = (part.strip() for part in text.split(":"))
    settings, plan = plainly(name, base).settings, {}
    extra = dict(base.extra)
    for part in parts:
        field_name, equals, value = part.partition("=")
        try:
            if not equals:
                settings = replace(settings, look_ups=_count(field_name))
            elif field_name == "keep":
                if value not in _KEEP:
                    raise ValueError
                settings = replace(settings, keep=value)
            elif field_name == "context_words":
                settings = replace(settings, context_words=_count(value))
            elif field_name == "by_importance":
                settings = replace(settings, by_importance=value.lower() in ("1", "true", "yes"))
            elif field_name.startswith("plan."):
                plan[field_name.removeprefix("plan.")] = _value(value)
            else:
                extra[field_name] = _value(value)
        except ValueError:
            raise SettingsError(
                f"{part!r} in {text!r} is not understood. Write, for example, read-agent-p:5 or full-text:keep=ends."
            ) from None
    return Arm(method(name).name, replace(settings, extra=extra), plan)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
