"""Pagination by several pause points a prompt: spans asked side by side, joined at a pause point they share.

Every page is checked against the plan's bounds. Where the replies leave a gap no page may have, a break is put
in by rule and the page says so. From any paragraph the next page is found without memory of how it was come to,
so a reading that was stopped goes on exactly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.reading.audit import audit
from readagent_core.reading.gisting import problem
from readagent_core.reading.paginator import Call, Spend
from readagent_core.reading.spans import Points, Span, ask_span, labels_of, spans
from readagent_core.reading.windows import Windows


class Many:
    """The paginator of 'many' and 'one-pass'. ``window``: the model's, in tokens."""

    def __init__(self, windows: Windows, *, kept: Sequence[Page], notes: Mapping[str, Any], window: int | None) -> None:
        self._windows = windows
        self._with_gists = windows.plan.pagination == "one-pass"
        self._points: dict[Span, Points] = {}
        self._asking: set[Span] = set()
        self._retries = 0
        self._spans: list[Span] = []
        self._position = kept[-1].end if kept else 0
        for start in windows.borders[:-1]:
            border = windows.border_after(start)
            if border > self._position and windows.words(start, border) > windows.plan.max_words:
                self._spans += spans(windows, start, border, window=window)
        self._ends = [span.end for span in self._spans]
        for span in self._spans:
            if len(labels_of(windows, span)) < 2:  # the last words of a stretch, shown with the span before
                self._points[span] = Points({})
        unasked = len(self._points)
        by_key = {_key(span): span for span in self._spans}
        for key, value in notes.items():
            if key in by_key:
                self._points[by_key[key]] = Points.from_dict(value)
        self._asked = len(self._points) - unasked
        self._chosen = {span: sorted(points.reasons) for span, points in self._points.items()}
        self._gists: dict[tuple[int, int], str] = {}
        for span, points in self._points.items():
            self._take_gists(span, points)
        self._fresh: list[Page] = []
        self._advance()

    def fresh(self) -> list[Page]:
        found, self._fresh = self._fresh, []
        return found

    def spend(self) -> Spend:
        return Spend(self._asked, 0, self._retries)

    def calls(self, room: int, model: ChatModel, watch: Watch) -> list[Call]:
        chosen: list[Call] = []
        for span in self._spans:
            if len(chosen) >= room:
                break
            if span.end > self._position and span not in self._points and span not in self._asking:
                self._asking.add(span)
                self._asked += 1
                chosen.append(Call(_key(span), self._work(span, model, watch)))
        return chosen

    def absorb(self, key: str, points: Points) -> dict[str, Any] | None:
        span = Span(*map(int, key.split()[1:]))
        self._asking.discard(span)
        self._points[span] = points
        self._chosen[span] = sorted(points.reasons)
        self._retries += points.retries
        self._take_gists(span, points)
        self._advance()
        return points.to_dict()

    def gist_for(self, page: Page) -> Gist | None:
        """The gist that came with the page, where the page is exactly one that the reply shortened."""
        text = self._gists.get((page.start, page.end))
        if text is None or problem(text, page.words):
            return None
        return audit(Gist(text), self._windows.document.text(page.start, page.end), page_words=page.words)

    def _take_gists(self, span: Span, points: Points) -> None:
        start = span.start
        for end in sorted(points.reasons):
            if end in points.gists:
                self._gists[start, end] = points.gists[end]
            start = end

    def _work(self, span: Span, model: ChatModel, watch: Watch) -> Callable[[], Points]:
        return lambda: ask_span(self._windows, span, model, watch=watch, with_gists=self._with_gists)

    def _advance(self) -> None:
        while self._position < self._windows.total and (page := self._next(self._position)) is not None:
            self._fresh.append(page)
            self._position = page.end

    def _next(self, start: int) -> Page | None:
        """The page from ``start`` on; None while a span that may decide it is not read."""
        windows = self._windows
        window = windows.window(start)
        if not window.labels:
            return windows.page(start, window.end, ends=window.ends)
        at = bisect_right(self._ends, start)
        candidates: list[Span] = [self._spans[at]]
        if at + 1 < len(self._spans) and self._spans[at + 1].start < window.end:
            candidates.append(self._spans[at + 1])  # text the next span has seen too
        if any(span not in self._points for span in candidates):
            return None
        if start in self._points[candidates[-1]].reasons:
            candidates.reverse()  # joined at a pause point both share, or only the next one has
        for span in candidates:
            chosen = self._chosen[span]
            position = bisect_left(chosen, window.labels[0])
            if position < len(chosen) and chosen[position] <= window.labels[-1]:
                end = chosen[position]
                return windows.page(start, end, reason=self._points[span].reasons[end])
        return self._by_rule(start, candidates)

    def _by_rule(self, start: int, candidates: Sequence[Span]) -> Page:
        """A break where the replies have none: the way to the next chosen point in equal parts."""
        windows = self._windows
        labels = windows.window(start).labels
        later = [n for span in candidates for n in self._chosen[span] if n > labels[-1]]
        goal = min(later, default=min(labels[-1] + 1, windows.total))
        parts = -(-windows.words(start, goal) // windows.plan.max_words)
        target = windows.words(start, goal) / max(1, parts)
        end = min(labels, key=lambda n: abs(windows.words(start, n) - target))
        return windows.page(start, end, fallback=True)


def _key(span: Span) -> str:
    return f"span {span.start} {span.end}"
