"""What every way of paginating is to the reader: calls worth making now, and pages as they become certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel, Watch


@dataclass(frozen=True)
class Call:
    """A call on the model: ``work`` makes it, its result goes to ``absorb`` under ``key``."""

    key: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Spend:
    """``asked``: windows asked so far. ``ahead``: those of them that no page rests on, not yet or never.

    ``retries``: prompts asked again because a reply could not be used.
    """

    asked: int = 0
    ahead: int = 0
    retries: int = 0


class Paginator(Protocol):
    def fresh(self) -> list[Page]:
        """Pages that became certain since last asked; not numbered, not always in order."""
        ...

    def spend(self) -> Spend: ...

    def calls(self, room: int, model: ChatModel, watch: Watch) -> list[Call]:
        """At most ``room`` calls worth making now, the most urgent first."""
        ...

    def absorb(self, key: str, result: Any) -> dict[str, Any] | None:
        """Take a call's result in; what should be kept of it against a crash, None where pages keep it."""
        ...

    def gist_for(self, page: Page) -> Gist | None:
        """The gist that came along with the pages, where this way of paginating asks for both at once."""
        ...
