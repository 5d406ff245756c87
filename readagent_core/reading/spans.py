"""Many pause points from one prompt: the text in spans of several pages, their labels with the words so far.

A reply is read label by label; what it lacks or gets wrong is left to ``many``, which joins the spans. Asked for
gists as well, the same reply carries the gist of each page (one-pass reading). Knows nothing of other spans.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, ReplyError
from readagent_core.models.base import ChatModel, Watch
from readagent_core.models.server.thinking import remove_thinking
from readagent_core.prompts import Prompt, language_of, render, template
from readagent_core.reading.gisting import clean, instructions_text
from readagent_core.reading.windows import Windows
from readagent_core.tags import disarm, label
from readagent_core.words import first_words, squeeze

TRIES = 3
SPAN_PAGES = 10  # of the longest size
SPAN_WORDS = 8000  # a span of long pages is shorter than SPAN_PAGES of them, but never under three
OVERLAP = 0.12  # of a span is shown again with the next one: 1 / (1 - 0.12) = 1.14 words shown per word
_WINDOW_SHARE = 0.55  # of a model's window (in tokens) that a span (in words) may fill
_REASON_WORDS = 60
_LINE = re.compile(
    r"^[ \t]*(?:[-*•#]+[ \t]*)?(?:\d+[.)][ \t]+)?(?:(?:break point|label|印)[ \t:：]*)?(?:"
    r"[<‹＜〈\[(][ \t]*(\d+)[ \t]*(?:[|｜][^>›＞〉\])\n]*)?[>›＞〉\])]|"
    r"(\d+)[ \t]*(?:[|｜][ \t]*\d+)?(?=[ \t]*(?:because|[-–—:：]|理由|$)))[ \t]*(.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_GIST = re.compile(r"^[ \t]*(?:gist|要点|shortened)[ \t]*[:：][ \t]*", re.MULTILINE | re.IGNORECASE)
_BECAUSE = re.compile(r"^\W*(?:because|reason|理由)\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Span:
    """Paragraphs ``start`` to ``end``, shown in one prompt."""

    start: int
    end: int


@dataclass(frozen=True)
class Points:
    """What a reply chose. ``reasons``: by the paragraph after each pause point. ``gists``: likewise, as replied."""

    reasons: dict[int, str]
    gists: dict[int, str] = field(default_factory=dict)
    retries: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {"reasons": list(self.reasons.items()), "gists": list(self.gists.items())}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Points:
        return cls({int(n): r for n, r in data["reasons"]}, {int(n): g for n, g in data["gists"]})


def spans(windows: Windows, start: int, end: int, *, window: int | None) -> list[Span]:
    """The spans that cover paragraphs ``start`` to ``end``, each sharing its end with the next one's start."""
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


def labels_of(windows: Windows, span: Span) -> tuple[int, ...]:
    """The pause points offered in a span: all that leave a page of ``min_words`` before them."""
    first = bisect_left(windows.before, windows.before[span.start] + windows.plan.min_words)
    return tuple(range(max(first, span.start + 1), span.end + 1))


def span_prompt(windows: Windows, span: Span, *, with_gists: bool) -> Prompt:
    """The prompt of a span; ``with_gists``: for one-pass reading."""
    document, plan = windows.document, windows.plan
    pieces: list[str] = []
    run = span.start
    for index in labels_of(windows, span):
        pieces += [disarm(document.text(run, index)), label(index, windows.words(span.start, index))]
        run = index
    where = template("where.chapters" if plan.asks_chapters else "where", language_of(document.language)).template
    values = {
        "where": where,
        "least": str(plan.min_words),
        "most": str(plan.max_words),
        "passage": "\n\n".join(pieces),
    }
    pages = max(2, windows.words(span.start, span.end) // plan.min_words)
    if not with_gists:
        return render("paginate_many", document.language, reply_words=pages * 40, **values)
    values["percent"] = str(max(1, round(plan.gist_share * 100)))
    values["instructions"] = instructions_text(plan, document.language)
    length = int(windows.words(span.start, span.end) * plan.gist_share * 3)
    return render("paginate_gist", document.language, reply_words=pages * 40 + length, **values)


def parse_points(reply: str, offered: Collection[int]) -> Points:
    """The pause points of a reply, in order, offered ones only. Raises ReplyError where there is none."""
    text = remove_thinking(reply)
    lines = [m for m in _LINE.finditer(text) if len(m.group(1) or m.group(2)) < 12]
    reasons: dict[int, str] = {}
    gists: dict[int, str] = {}
    last = -1
    for at, line in enumerate(lines):
        number = int(line.group(1) or line.group(2))
        if number not in offered or number <= last:
            continue
        last = number
        head, _, shortened = _split_gist(line.group(3) + _until(text, lines, at))
        reasons[number] = first_words(_BECAUSE.sub("", squeeze(head.replace("*", ""))), _REASON_WORDS)
        if shortened:
            gists[number] = clean(shortened)
    if not reasons:
        raise ReplyError("The reply names no label that was offered.")
    return Points(reasons, gists)


def _until(text: str, lines: list[re.Match[str]], at: int) -> str:
    return text[lines[at].end() : lines[at + 1].start() if at + 1 < len(lines) else len(text)]


def _split_gist(text: str) -> tuple[str, str, str]:
    found = _GIST.search(text)
    return (text, "", "") if found is None else (text[: found.start()], found.group(), text[found.end() :].strip())


def ask_span(windows: Windows, span: Span, model: ChatModel, *, watch: Watch, with_gists: bool) -> Points:
    """The pause points of a span; none at all after three useless replies. Raises ModelError, CancelledError."""
    prompt = asked = span_prompt(windows, span, with_gists=with_gists)
    offered = labels_of(windows, span)
    best = Points({}, retries=TRIES - 1)
    for attempt in range(TRIES):
        try:
            points = parse_points(model.complete(asked, watch).text, offered)
            return Points(points.reasons, points.gists, attempt)
        except CutOffError as error:
            best = max(best, _begun(error.text, offered), key=lambda p: len(p.reasons))
        except (EmptyReplyError, RefusedError, ReplyError):
            pass
        asked = prompt.again("paginate_many.again", first=f"<{offered[0]}>", last=f"<{offered[-1]}>")
    return best


def _begun(text: str, offered: Collection[int]) -> Points:
    """What a reply that broke off had said for certain: all but its last label and gist."""
    try:
        points = parse_points(text, offered)
    except ReplyError:
        return Points({})
    last = max(points.reasons)
    reasons = {n: r for n, r in points.reasons.items() if n != last}
    return Points(reasons, {n: g for n, g in points.gists.items() if n != last}, TRIES - 1)
