"""Span pagination: several pause points from one prompt, and with them, in one-pass reading, the pages' gists.

The text is split into overlapping spans of several pages, which are asked at the same time. Neighbouring spans are
joined at a pause point that both have chosen. Every page is checked against the plan's bounds; where the replies leave
a gap that is too long for a page, a break is put in by rule and the page is marked as a fallback. The next page depends
only on the paragraph it starts at, so an interrupted reading resumes with the same result.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, ReplyError
from readagent_core.gisting.audit import audit_gist
from readagent_core.gisting.gist_prompts import gist_lengths, instructions_text
from readagent_core.gisting.gisting import clean_reply, find_faults, find_problem
from readagent_core.gisting.paginator import Call, CallCounts, Paginator
from readagent_core.gisting.pause_points import BECAUSE, TRIES, following_text, where_to_pause
from readagent_core.gisting.pause_windows import Windows
from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel
from readagent_core.models.thinking import remove_markup
from readagent_core.prompts import Prompt, length_range, render, render_fragment
from readagent_core.tags import escape_tags, label
from readagent_core.words import collapse_whitespace, first_words

SPAN_PAGES = 10  # of the longest size
SPAN_WORDS = 8000  # a span of long pages is shorter than SPAN_PAGES of them, but never under three
OVERLAP = 0.12  # share of a span that the next one repeats: 1 / (1 - 0.12) = 1.14 words sent per word of text
_WINDOW_SHARE = 0.55  # of a model's window (in tokens) that a span (in words) may fill
_REASON_WORDS = 60
_LINE = re.compile(
    r"^[ \t]*(?:[-*•#|]+[ \t]*)*(?:\d+[.)][ \t]+)?"
    r"(?:(?:break point|label|page|印)[ \t]*(?:\d+[ \t]*[:：])?[ \t:：]*)?(?:"
    r"[<‹＜〈《\[([ \t]*(\d+)[ \t]*(?:[|｜][^>›＞〉》\])\n]*)?[>›＞〉》\])]|"
    r"(\d+)[ \t]*(?:[|｜][ \t]*\d+)?(?=[ \t]*(?:because|[-–—:：]|理由|$)))[ \t]*(.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_JSON_LABEL = re.compile(r"[{,]\s*\"(?:label|break_point)\"\s*:\s*\"?<?(\d+)>?\"?", re.IGNORECASE)
_SAME_LINE = re.compile(r"(?<=>)[ \t]*[,、;][ \t]*(?=<\d)")  # '<5>, <9>'
_GIST = re.compile(r"^[ \t]*(?:gist|要点|shortened)[ \t]*[:：][ \t]*", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Span:
    """Paragraphs ``start`` to ``end`` (exclusive), shown in one prompt."""

    start: int
    end: int


@dataclass(frozen=True)
class PausePoints:
    """The pause points of a reply: ``reasons`` and ``gists`` by the paragraph after each pause point."""

    reasons: dict[int, str]
    gists: dict[int, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"reasons": list(self.reasons.items()), "gists": list(self.gists.items())}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PausePoints:
        return cls({int(n): r for n, r in data["reasons"]}, {int(n): g for n, g in data["gists"]})


def split_into_spans(windows: Windows, start: int, end: int, *, window: int | None) -> list[Span]:
    """Return overlapping spans that cover paragraphs ``start`` to ``end``. ``window``: the model's, in tokens."""
    most = windows.plan.max_words
    size = max(3 * most, min(SPAN_PAGES * most, SPAN_WORDS))
    if window is not None:
        size = min(size, max(2 * most, int(window * _WINDOW_SHARE)))
    found: list[Span] = []
    while True:
        stop = min(end, max(start + 1, bisect_right(windows.before, windows.before[start] + size) - 1))
        found.append(Span(start, stop))
        if stop == end:
            return found
        overlap = int(windows.words(start, stop) * OVERLAP)
        start = max(start + 1, bisect_left(windows.before, windows.before[stop] - overlap))


def offered_labels(windows: Windows, span: Span) -> tuple[int, ...]:
    """Return the pause points offered in a span: all that leave a page of ``min_words`` before them."""
    first = bisect_left(windows.before, windows.before[span.start] + windows.plan.min_words)
    return tuple(range(max(first, span.start + 1), span.end + 1))


def span_prompt(windows: Windows, span: Span, *, with_gists: bool) -> Prompt:
    """Return the prompt of a span. ``with_gists``: for one-pass reading."""
    document, plan = windows.document, windows.plan
    pieces: list[str] = []
    run = span.start
    for index in offered_labels(windows, span):
        pieces += [escape_tags(document.text(run, index)), label(index, windows.words(span.start, index))]
        run = index
    values = {
        "where": where_to_pause(plan, document.language),
        "least": str(plan.min_words),
        "most": str(plan.max_words),
        "example": "N",
        "passage": "\n\n".join(pieces),
        "following": following_text(windows, span.end),
    }
    pages = max(2, windows.words(span.start, span.end) // plan.min_words)
    if not with_gists:
        return render("paginate_many", document.language, reply_words=pages * 40, **values)
    shortest, longest = length_range(100 * plan.gist_share)
    values |= {"shortest": str(shortest), "longest": str(longest)}
    values["rules"] = render_fragment("gist.rules", document.language)
    values["instructions"] = instructions_text(plan, document.language)
    length = int(windows.words(span.start, span.end) * plan.gist_share * 3)
    return render("paginate_gist", document.language, reply_words=pages * 40 + length, **values)


def parse_pause_points(reply: str, offered: Collection[int]) -> PausePoints:
    """Return the pause points of a reply, in order, offered ones only. Raises ReplyError where there is none."""
    text = _SAME_LINE.sub("\n", _JSON_LABEL.sub(r"\n<\1> ", remove_markup(reply)))
    lines = [m for m in _LINE.finditer(text) if len(m.group(1) or m.group(2)) < 12]
    ends = [line.start() for line in lines[1:]] + [len(text)]
    reasons: dict[int, str] = {}
    gists: dict[int, str] = {}
    last = -1
    for line, end in zip(lines, ends, strict=False):  # without lines there is still one end
        number = int(line.group(1) or line.group(2))
        if number not in offered or number <= last:
            continue
        last = number
        reason, *gist = _GIST.split(line.group(3) + text[line.end() : end], maxsplit=1)
        reasons[number] = first_words(_clean_reason(reason), _REASON_WORDS)
        if gist and gist[0].strip():
            gists[number] = clean_reply(gist[0])
    if not reasons:
        raise ReplyError("The reply names no label that was offered.")
    return PausePoints(reasons, gists)


def _clean_reason(reason: str) -> str:
    """Return a reason on one line, without what leads to it and what is left of a table or of JSON."""
    plain = collapse_whitespace(reason.replace("*", ""))
    return BECAUSE.sub("", plain).lstrip(" :：,|–—-").rstrip(' |{}[]",')


def ask_span(windows: Windows, span: Span, model: ChatModel, *, cancel: CancelToken, with_gists: bool) -> PausePoints:
    """Ask for the pause points of a span; none after three unusable replies. Raises ModelError, CancelledError."""
    prompt = current = span_prompt(windows, span, with_gists=with_gists)
    offered = offered_labels(windows, span)
    best = PausePoints({})
    for _ in range(TRIES):
        reply = ""
        try:
            reply = model.complete(current, cancel).text
            return parse_pause_points(reply, offered)
        except CutOffError as error:
            reply = error.text
            best = max(best, _parse_cut_off(error.text, offered), key=lambda p: len(p.reasons))
        except (EmptyReplyError, RefusedError, ReplyError):
            pass
        current = prompt.with_follow_up(
            "paginate_many.again",
            first=f"<{offered[0]}>",
            last=f"<{offered[-1]}>",
            reply=first_words(reply, _REASON_WORDS),
        )
    return best


def _parse_cut_off(text: str, offered: Collection[int]) -> PausePoints:
    """Return the pause points of a reply that broke off, without the last one, which may be incomplete."""
    try:
        points = parse_pause_points(text, offered)
    except ReplyError:
        return PausePoints({})
    last = max(points.reasons)
    reasons = {n: r for n, r in points.reasons.items() if n != last}
    return PausePoints(reasons, {n: g for n, g in points.gists.items() if n != last})


class SpanPaginator(Paginator):
    """The paginator of 'many' and 'one-pass'. ``window``: the model's, in tokens."""

    def __init__(
        self, windows: Windows, *, saved: Sequence[Page], notes: Mapping[str, Any], window: int | None
    ) -> None:
        super().__init__(windows)
        self._with_gists = windows.plan.pagination == "one-pass"
        self._points: dict[Span, PausePoints] = {}
        self._chosen: dict[Span, list[int]] = {}  # the same pause points, sorted
        self._gists: dict[tuple[int, int], str] = {}
        self._running: set[Span] = set()
        self._asked = 0
        self._position = saved[-1].end if saved else 0
        self._spans: list[Span] = []
        for start in windows.borders[:-1]:
            border = windows.border_after(start)
            if border > self._position and windows.words(start, border) > windows.plan.max_words:
                self._spans += split_into_spans(windows, start, border, window=window)
        self._ends = [span.end for span in self._spans]
        for span in self._spans:
            if _key(span) in notes:
                self._asked += 1
                self._add(span, PausePoints.from_dict(notes[_key(span)]))
            elif len(offered_labels(windows, span)) < 2:  # the last words before a border, shown with the span before
                self._add(span, PausePoints({}))
        self._advance()

    def call_counts(self) -> CallCounts:
        return CallCounts(self._asked, 0)

    def next_calls(self, room: int, model: ChatModel, cancel: CancelToken) -> list[Call]:
        chosen: list[Call] = []
        for span in self._spans:
            if len(chosen) >= room:
                break
            if span.end > self._position and span not in self._points and span not in self._running:
                self._running.add(span)
                self._asked += 1
                ask = partial(ask_span, self._windows, span, model, cancel=cancel, with_gists=self._with_gists)
                chosen.append(Call(_key(span), ask))
        return chosen

    def accept_reply(self, key: str, points: PausePoints) -> dict[str, Any] | None:
        span = Span(*map(int, key.split()[1:]))
        self._running.discard(span)
        self._add(span, points)
        self._advance()
        return points.to_dict()

    def gist_for(self, page: Page) -> Gist | None:
        """Return the gist of the page where a reply has a faultless one for exactly these paragraphs; else None."""
        text = self._gists.get((page.start, page.end))
        if text is None or find_problem(text, page.words):
            return None
        document = self._windows.document
        whole, lengths = document.text(page.start, page.end), gist_lengths(page.words, self._windows.plan.gist_share)
        if find_faults(text, whole, lengths, document.language):
            return None
        return audit_gist(Gist(text), whole, page_words=page.words)

    def _add(self, span: Span, points: PausePoints) -> None:
        self._points[span] = points
        self._chosen[span] = sorted(points.reasons)
        start = span.start
        for end in self._chosen[span]:
            if end in points.gists:
                self._gists[start, end] = points.gists[end]
            start = end

    def _advance(self) -> None:
        while self._position < self._windows.total and (page := self._next(self._position)) is not None:
            self._new_pages.append(page)
            self._position = page.end

    def _next(self, start: int) -> Page | None:
        """Return the page that starts at ``start``; None while a span that decides where it ends has no reply."""
        windows = self._windows
        window = windows.window(start)
        if not window.labels:
            return windows.page(start, window.end, ends=window.ends)
        at = bisect_right(self._ends, start)
        candidates: list[Span] = [self._spans[at]]
        if at + 1 < len(self._spans) and self._spans[at + 1].start < window.end:
            candidates.append(self._spans[at + 1])  # shows part of the same text
        if any(span not in self._points for span in candidates):
            return None
        if start in self._points[candidates[-1]].reasons:
            candidates.reverse()  # the page starts at a pause point of the next span, so that one comes first
        for span in candidates:
            chosen = self._chosen[span]
            position = bisect_left(chosen, window.labels[0])
            if position < len(chosen) and chosen[position] <= window.labels[-1]:
                end = chosen[position]
                return windows.page(start, end, reason=self._points[span].reasons[end])
        return self._fallback_page(start, candidates)

    def _fallback_page(self, start: int, candidates: Sequence[Span]) -> Page:
        """Return a page that ends by rule: the text up to the next chosen pause point is split into equal parts."""
        windows = self._windows
        labels = windows.window(start).labels
        later = [n for span in candidates for n in self._chosen[span] if n > labels[-1]]
        goal = min(later, default=labels[-1] + 1)  # longer than a page, so that there are two parts or more
        parts = -(-windows.words(start, goal) // windows.plan.max_words)
        target = windows.words(start, goal) / parts
        end = min(labels, key=lambda n: abs(windows.words(start, n) - target))
        return windows.page(start, end, fallback=True)


def _key(span: Span) -> str:
    return f"span {span.start} {span.end}"
