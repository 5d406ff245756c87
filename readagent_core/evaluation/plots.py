"""Two small drawings as SVG: points with error bars, and histograms. Colours are CSS variables.

Inside the app and the HTML report the page's tokens colour them; alone they have the light theme's colours. Every
text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_SEA = "var(--sea, #1a5a63)"
_INK, _SOFT = "var(--ink, #20242a)", "var(--ink-2, #50565e)"
_LINE, _SHADE = "var(--line, #e2ded5)", "var(--m2, #bfbab0)"
_SIZE = "width: 100%; max-width: 600px; height: auto"
_FONT = "font-family: var(--sans, system-ui, sans-serif); font-size: 13px; font-variant-numeric: tabular-nums"
_WIDE, _TALL = 7.4, 13.0  # of a digit at 13 px
_DOT = 6.0
_NEAR = 6.0  # points closer than this share a label

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Point:
    """``low``–``high``: the interval of ``y``, None without one. ``hollow``: a published figure, not ours."""

    x: float
    y: float
    label: str
    low: float | None = None
    high: float | None = None
    hollow: bool = False


def order_points(points: Sequence[Point]) -> list[Point]:
    """Return the points in the order of their numbers in the drawing: ours before the published, the highest first."""
    return sorted(points, key=lambda p: (p.hollow, -p.y, p.x))


def scatter(points: Sequence[Point], *, x_title: str, y_title: str, chance: float | None = None) -> str:
    """Return numbered points over two percent axes, in the order of ``order_points``; a dashed line at ``chance``.

    Points at one place share one label ('3, 8'). Their names are listed beside the drawing, not in it.
    """
    width, height, left, right, top, bottom = 480, 360, 40, 16, 26, 48
    xs = [p.x for p in points] or [0.0, 100.0]
    ys = [v for p in points for v in (p.y, p.low, p.high) if v is not None] or [0.0, 100.0]
    ys += [chance] if chance is not None else []
    x_low, x_high, x_step = _axis(min(xs), max(xs))
    y_low, y_high, y_step = _axis(min(ys), max(ys))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low)
        up = (y - y_low) / (y_high - y_low)
        return left + across * (width - left - right), height - bottom - up * (height - top - bottom)

    out: list[str] = []
    for y in _ticks(y_low, y_high, y_step):
        _, py = at(x_low, y)
        out.append(_line(left, py, width - right, py, _LINE))
        out.append(_text(left - 8, py + 4, f"{y:g}", anchor="end"))
    for x in _ticks(x_low, x_high, x_step):
        px, _ = at(x, y_low)
        out.append(_line(px, height - bottom, px, height - bottom + 4, _SOFT))
        out.append(_text(px, height - bottom + 19, f"{x:g}", anchor="middle"))
    out.append(_line(left, height - bottom, width - right, height - bottom, _SOFT))
    if chance is not None:
        _, py = at(x_low, chance)
        out.append(_line(left, py, width - right, py, _SOFT, dash="4 4"))
    labels = Labels(width, top, height - bottom)
    marks: list[Mark] = []
    for number, point in enumerate(order_points(points), start=1):
        x, y = at(point.x, point.y)
        high, low = (at(0, point.y if v is None else v)[1] for v in (point.high, point.low))
        marks.append(Mark(x, y, high, low, [number]))
        if high != low:
            out.append(_line(x, high, x, low, _SEA, width=1.5))
        out.append(_dot(x, y, point))
    merged = merge_marks(marks)
    for mark in merged:
        labels.add_mark(mark)
    for mark in merged:
        out.append(_text(*labels.place(mark), mark.text, anchor="middle", soft=False))
    if chance is not None:
        caption = f"chance, {chance:g} %"
        x, y = labels.place_on_line(caption, width - right, at(x_low, chance)[1])
        out.append(_text(x, y, caption, anchor="middle"))
    out.append(_text((left + width - right) / 2, height - 8, x_title, anchor="middle", soft=False))
    out.append(_text(0, 12, y_title, soft=False))
    return _svg(width, height, out, f"{y_title} against {x_title}")


def histogram(series: Sequence[tuple[str, Sequence[int]]], *, x_title: str, bins: int = 20) -> str:
    """Return counts of one or two series over the same bins, side by side in each bin (paper, figures 2–5)."""
    width, height, left, right, top, bottom = 480, 240, 48, 24, 34, 48
    values = [v for _, found in series for v in found]
    if not values:
        return _svg(width, 60, [_text(left, 36, "Nothing to draw yet.")], x_title)
    _, x_high, step = _axis(0, max(values), ticks=bins)
    count = max(1, math.ceil(x_high / step))
    counts = [[0] * count for _ in series]
    for row, (_, found) in zip(counts, series, strict=True):
        for value in found:
            row[min(count - 1, int(value / step))] += 1
    most = max(max(row) for row in counts)
    _, y_high, y_step = _axis(0, most, ticks=4)
    y_step = max(1.0, y_step)
    y_high = max(y_high, y_step)
    inner, tall = width - left - right, height - top - bottom
    out: list[str] = []
    for y in _ticks(0, y_high, y_step):
        py = height - bottom - tall * y / y_high
        out += [_line(left, py, width - right, py, _LINE), _text(left - 8, py + 4, f"{y:g}", anchor="end")]
    one = inner / count
    thick = max(1.0, one * 0.9 / len(series))
    for index, row in enumerate(counts):
        colour = (_SHADE, _SEA)[index % 2] if len(series) > 1 else _SEA
        for at, n in enumerate(row):
            if n:
                tall_n = tall * n / y_high
                out.append(
                    f'<rect x="{left + at * one + index * thick:.1f}" y="{height - bottom - tall_n:.1f}" '
                    f'width="{thick:.1f}" height="{tall_n:.1f}" fill="{colour}"><title>{at * step:,.0f} to '
                    f"{(at + 1) * step:,.0f} words: {n}</title></rect>"
                )
        x = left + index * 150
        out.append(f'<rect x="{x}" y="6" width="12" height="12" fill="{colour}"/>')
        out.append(_text(x + 18, 16, series[index][0]))
    every = max(1, math.ceil(count / 6))
    for at in range(0, count + 1, every):
        out.append(_text(left + at * one, height - bottom + 19, f"{at * step:,.0f}", anchor="middle"))
    out.append(_line(left, height - bottom, width - right, height - bottom, _SOFT))
    out.append(_text((left + width - right) / 2, height - 12, x_title, anchor="middle", soft=False))
    return _svg(width, height, out, x_title)


def _axis(low: float, high: float, *, ticks: int = 6) -> tuple[float, float, float]:
    """Return (from, to, step) with round steps of 1, 2 or 5 that cover low–high."""
    span = max(high - low, 1e-9 + abs(high) * 0.02, 1.0)
    raw = span / ticks
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first = math.floor(low / step) * step
    last = math.ceil(high / step) * step
    return first, last if last > first else first + step, step


def _ticks(low: float, high: float, step: float) -> list[float]:
    return [low + i * step for i in range(round((high - low) / step) + 1)]


def _dot(x: float, y: float, point: Point) -> str:
    fill, stroke = ("none", _SOFT) if point.hollow else (_SEA, _SEA)
    caption = f"{point.label}: {point.y:.1f}, {point.x:.1f}"
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{stroke}" stroke-width="2">'
        f"<title>{escape(caption)}</title></circle>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", soft: bool = True) -> str:
    colour = _SOFT if soft else _INK
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _svg(width: int, height: int, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title, quote=True)}" style="{_FONT}; {_SIZE}">'
        f"{''.join(parts)}</svg>"
    )


# --- where the numbers of the points go -----------------------------------------------------------------------


@dataclass
class Mark:
    """A point at (``x``, ``y``) in pixels, its interval from ``high`` down to ``low``, and the numbers there."""

    x: float
    y: float
    high: float
    low: float
    numbers: list[int]

    @property
    def text(self) -> str:
        return ", ".join(map(str, self.numbers))


def merge_marks(marks: Sequence[Mark]) -> list[Mark]:
    """Return ``marks`` with those at one place merged into one."""
    found: list[Mark] = []
    for mark in marks:
        same = next((m for m in found if abs(m.x - mark.x) < _NEAR and abs(m.y - mark.y) < _NEAR), None)
        if same is None:
            found.append(Mark(mark.x, mark.y, mark.high, mark.low, list(mark.numbers)))
        else:
            same.numbers += mark.numbers
            same.high, same.low = min(same.high, mark.high), max(same.low, mark.low)
    return found


class Labels:
    """Places labels where they hide the least of points, intervals and the labels placed before."""

    def __init__(self, width: float, top: float, bottom: float) -> None:
        self._edges: Box = (0.0, top, width, bottom)
        self._taken: list[Box] = []
        self._marks: list[Mark] = []

    def add_mark(self, mark: Mark) -> None:
        """Add a point and its interval to what labels should not hide."""
        self._marks.append(mark)
        self._taken.append((mark.x - _DOT, mark.y - _DOT, mark.x + _DOT, mark.y + _DOT))
        if mark.low > mark.high:
            self._taken.append((mark.x - 1.5, mark.high, mark.x + 1.5, mark.low))

    def place(self, mark: Mark) -> tuple[float, float]:
        """Return the middle of the baseline for the label of ``mark``: beside it, else at an end of its interval."""
        aside = _DOT + 4 + _WIDE * len(mark.text) / 2
        return self._best(
            mark.text,
            [
                (mark.x + aside, mark.y + 4.5),
                (mark.x - aside, mark.y + 4.5),
                *((mark.x, min(mark.high, mark.y - _DOT) - 4 - 14 * step) for step in range(4)),
                *((mark.x, max(mark.low, mark.y + _DOT) + _TALL + 14 * step) for step in range(4)),
            ],
            mark,
        )

    def place_on_line(self, text: str, right: float, y: float) -> tuple[float, float]:
        """Return a place for ``text`` above or below a line at ``y``, as far to the right as there is room."""
        half = _WIDE * len(text) / 2
        across = [right - half - 40 * step for step in range(12)]
        return self._best(text, [(x, row) for x in across for row in (y - 6, y + _TALL + 2)])

    def _best(self, text: str, places: Sequence[tuple[float, float]], own: Mark | None = None) -> tuple[float, float]:
        place = min(places, key=lambda at: self._hidden(_box(text, at)) + self._ambiguity(at, own))
        self._taken.append(_box(text, place))
        return place

    def _ambiguity(self, place: tuple[float, float], own: Mark | None) -> float:
        """Return the penalty for a label that is nearer to another point than to its own."""
        if own is None:
            return 0.0
        return 60.0 * sum(_distance(place, mark) < _distance(place, own) for mark in self._marks if mark is not own)

    def _hidden(self, box: Box) -> float:
        """Return how much the box would hide, in square pixels; what is past the edges counts most."""
        left, top, right, bottom = self._edges
        outside = (
            max(0.0, left - box[0]) + max(0.0, top - box[1]) + max(0.0, box[2] - right) + max(0.0, box[3] - bottom)
        )
        return sum(_overlap(box, taken) for taken in self._taken) + 100 * outside


def _box(text: str, place: tuple[float, float]) -> Box:
    half = _WIDE * len(text) / 2
    return place[0] - half, place[1] - _TALL + 2, place[0] + half, place[1] + 2


def _distance(place: tuple[float, float], mark: Mark) -> float:
    """Return the squared distance from the middle of a label to a point or the nearest end of its interval."""
    y = place[1] - _TALL / 2 + 2
    return (place[0] - mark.x) ** 2 + min((y - at) ** 2 for at in (mark.y, mark.high, mark.low))


def _overlap(one: Box, two: Box) -> float:
    across = min(one[2], two[2]) - max(one[0], two[0])
    down = min(one[3], two[3]) - max(one[1], two[1])
    return across * down if across > 0 and down > 0 else 0.0
