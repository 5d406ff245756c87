"""Uniform pagination (the paper's Table 5): pages of one average length, cut by rule, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.reading.paginator import Call, Spend
from readagent_core.reading.windows import Windows


class Uniform:
    """The 'uniform' paginator: every page ends at the label nearest to the middle of the plan's bounds."""

    def __init__(self, windows: Windows, *, kept: Sequence[Page]) -> None:
        self._fresh = rule_pages(windows, kept[-1].end if kept else 0, windows.total)

    def fresh(self) -> list[Page]:
        found, self._fresh = self._fresh, []
        return found

    def spend(self) -> Spend:
        return Spend()

    def calls(self, room: int, model: ChatModel, watch: Watch) -> list[Call]:
        return []

    def absorb(self, key: str, result: Any) -> dict[str, Any] | None:
        return None

    def gist_for(self, page: Page) -> Gist | None:
        return None


def rule_pages(windows: Windows, start: int, end: int) -> list[Page]:
    """Pages by rule from paragraph ``start`` until ``end`` is reached or passed."""
    target = (windows.plan.min_words + windows.plan.max_words) / 2
    pages: list[Page] = []
    while start < end:
        window = windows.window(start)
        at, ends = window.end, window.ends
        if window.labels:
            at = min(window.labels, key=lambda label: abs(windows.words(window.start, label) - target))
            ends = "rule"
        pages.append(windows.page(start, at, ends=ends))
        start = at
    return pages
