"""Two small drawings as SVG: named points with error bars, and histograms. Colours are CSS variables.

Inside the app and the HTML report the page's tokens colour them; alone they have the light theme's colours. Every
text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from readagent_core.answering.registry import Family

_SEA = "var(--sea, #1a5a63)"
_INK, _SOFT = "var(--ink, #20242a)", "var(--ink-2, #50565e)"
_PAPER = "var(--bg, #faf9f6)"
_LINE, _SHADE = "var(--line, #e2ded5)", "var(--m2, #bfbab0)"
_SIZE = "width: 100%; height: auto"
_FONT = "font-family: var(--sans, system-ui, sans-serif); font-size: 13px; font-variant-numeric: tabular-nums"
WIDE, NARROW = 680, 350  # pixels: beside each other in a page, one of them is shown
FAMILIES = {  # of methods, each with its colour
    Family.READ_AGENT: "var(--lamp, #844a00)",
    Family.GISTS: "var(--sea, #1a5a63)",
    Family.SEARCH: "var(--sky-edge, #3f6f9f)",
    Family.SUMMARIES: "var(--lilac-edge, #7a57a3)",
    Family.FULL_TEXT: "var(--alert, #9c2f28)",
}
MOST_INTERVAL = 25.0  # percentage points; a wider interval says only that there are few questions
_SLOT = 18.0  # pixels from one row of names to the next
_BINS = 20  # of a histogram, about
_GAP = 10.0  # pixels from a point to its name
_BETWEEN = 12  # pixels between two names in one row


@dataclass(frozen=True)
class Point:
    """``low``–``high``: the interval of ``y``, None without one. ``hollow``: a published figure, not ours.

    ``family``: of the method; None of a published figure.
    """

    x: float
    y: float
    label: str
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    family: Family | None = None


@dataclass(frozen=True)
class Label:
    """A name in the drawing. ``x``, ``y``: where its middle line begins, or ends (``anchor`` 'end').

    ``anchor``: 'start' and 'end' are beside the point, '' is above or below it.
    """

    text: str
    x: float
    y: float
    anchor: str

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom in pixels."""
        left = self.x - text_width(self.text) if self.anchor == "end" else self.x
        return left, self.y - _SLOT / 2, left + text_width(self.text), self.y + _SLOT / 2


def order_points(points: Sequence[Point]) -> list[Point]:
    """Return the points in the order in which they are drawn: ours before the published, the highest first."""
    return sorted(points, key=lambda p: (p.hollow, -p.y, p.x))


def scatter(
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    chance: float | None = None,
    x_bounds: tuple[float, float] = (-math.inf, math.inf),
    width: int = WIDE,
) -> str:
    """Return named points over two axes; a dashed line at ``chance``. ``y`` is in percent.

    Intervals wider than MOST_INTERVAL are not drawn. ``x_bounds``: the least and the greatest value of the x axis.
    """
    points = order_points(points)
    left, right, top, bottom = 40, 28, 30, 48
    height = max(360, math.ceil(top + bottom + _SLOT * (len(points) + 2)))
    intervals = [p for p in points if p.low is not None and p.high is not None and p.high - p.low <= MOST_INTERVAL]
    ys = [p.y for p in points] + [v for p in intervals for v in (p.low, p.high) if v is not None]
    xs = [p.x for p in points] + [0.0] * (x_bounds[0] == 0)  # words and money are compared from nothing on
    x_low, x_high, x_step = round_axis(
        *_range(xs, x_bounds, least=0.2 * max(map(abs, xs), default=0.0)), ticks=6 if width > NARROW else 3, least=0.0
    )
    ys += [0.0, *([] if chance is None else [chance])]  # a height is read as a share of all questions
    y_low, y_high, y_step = round_axis(*_range(ys, (0.0, 100.0), least=40.0))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low)
        up = (y - y_low) / (y_high - y_low)
        return left + across * (width - left - right), height - bottom - up * (height - top - bottom)

    out = draw_grid((y_low, y_high, y_step), lambda value: at(x_low, value)[1], left, width - right)
    for x in ticks(x_low, x_high, x_step):
        px, _ = at(x, y_low)
        out.append(draw_line(px, height - bottom, px, height - bottom + 4, _SOFT))
        out.append(draw_text(px, height - bottom + 19, f"{x:,g}", anchor="middle"))
    out.append(draw_line(left, height - bottom, width - right, height - bottom, _SOFT))
    taken: list[Label] = []
    if chance is not None:
        _, py = at(x_low, chance)
        out.append(draw_line(left, py, width - right, py, _SOFT, dash="4 4"))
        taken.append(Label(f"by guessing: {chance:.0f} %", width - right, py - 9, "end"))
    places = [at(p.x, p.y) for p in points]
    names = place_labels(places, [p.label for p in points], taken, frame=(left, top, width - 4, height - bottom))
    for point in intervals:
        x, low = at(point.x, point.low or 0.0)
        out.append(draw_line(x, at(point.x, point.high or 0.0)[1], x, low, _colour(point), width=1.5))
    for (x, y), name in zip(places, names, strict=True):
        if abs(name.y - y) > _SLOT:
            end = name.x if name.anchor else min(max(x, name.box[0]), name.box[2])
            out.append(draw_line(x, y, end, name.y, _SOFT))
    out += [_dot(*place, point) for place, point in zip(places, points, strict=True)]
    out += [draw_text(n.x, n.y + 4.5, n.text, anchor=n.anchor or "start", soft=False, kind="name") for n in names]
    out += [draw_text(n.x, n.y + 4.5, n.text, anchor=n.anchor, kind="name") for n in taken]
    out.append(draw_text((left + width - right) / 2, height - 8, x_title, anchor="middle", soft=False))
    out.append(draw_text(0, 12, y_title, soft=False))
    return draw_svg(width, height, out, f"{y_title} against {x_title}")


def place_labels(
    places: Sequence[tuple[float, float]],
    texts: Sequence[str],
    taken: Sequence[Label] = (),
    *,
    frame: tuple[float, float, float, float],
) -> list[Label]:
    """Return a label for each place, none over another or over one of ``taken``, each as near as there is room.

    ``frame``: left, top, right and bottom in pixels. Names are set in rows, beside the point or above and below it.
    Each name takes one row, one of ``taken`` at most two, so there is room for all where there are as many rows.
    """
    left, top, right, bottom = frame
    rows = [top + _SLOT * (n + 0.5) for n in range(int((bottom - top) / _SLOT))]
    dots = [(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    found: list[Label] = []
    for (x, y), whole in zip(places, texts, strict=True):
        text = _shortened(whole, right - left)
        named = [other.box for other in (*taken, *found)]
        over = min(max(left, x - text_width(text) / 2), right - text_width(text))
        free = [
            label
            for row in rows
            for label in (
                Label(text, x + _GAP, row, "start"),
                Label(text, x - _GAP, row, "end"),
                Label(text, over, row, ""),
            )
            if label.box[0] >= left and label.box[2] <= right + 0.1
            if not any(_overlap(label.box, (a - _BETWEEN, b, c + _BETWEEN, d)) for a, b, c, d in named)
        ]
        clear = [label for label in free if not any(_overlap(label.box, dot) for dot in dots)]
        found.append(min(clear or free, key=lambda n: abs(n.y - y) + ("start", "end", "").index(n.anchor)))
    return found


def text_width(text: str) -> float:
    """Return about how many pixels a text of 13 pixels in height needs."""
    return sum(13.0 if ord(c) > 0x2E7F else 7.0 for c in text)


def _shortened(text: str, width: float) -> str:
    while text_width(text) > width and len(text) > 2:
        text = text[:-2].rstrip() + "…"
    return text


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _range(values: Sequence[float], bounds: tuple[float, float], *, least: float) -> tuple[float, float]:
    """Return the least and the greatest value within ``bounds``, at least ``least`` apart."""
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    missing = least - (high - low)
    if missing > 0:
        low, high = low - missing / 2, high + missing / 2
        low, high = low - max(0.0, high - bounds[1]), min(high, bounds[1])
        low, high = max(low, bounds[0]), high + max(0.0, bounds[0] - low)
    return low, high


def histogram(series: Sequence[tuple[str, Sequence[int]]], *, x_title: str) -> str:
    """Return counts of one or two series over the same bins, side by side in each bin (paper, figures 2–5)."""
    width, height, left, right, top, bottom = 480, 240, 48, 24, 34, 48
    values = [v for _, found in series for v in found]
    if not values:
        return draw_svg(width, 60, [draw_text(left, 36, "Nothing to draw yet.")], x_title)
    _, x_high, step = round_axis(0, max(values), ticks=_BINS)
    count = max(1, math.ceil(x_high / step))
    counts = [[0] * count for _ in series]
    for row, (_, found) in zip(counts, series, strict=True):
        for value in found:
            row[min(count - 1, int(value / step))] += 1
    most = max(max(row) for row in counts)
    _, y_high, y_step = round_axis(0, most, ticks=4)
    y_step = max(1.0, y_step)
    y_high = max(y_high, y_step)
    inner, tall = width - left - right, height - top - bottom
    out = draw_grid((0, y_high, y_step), lambda value: height - bottom - tall * value / y_high, left, width - right)
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
        out.append(draw_text(x + 18, 16, series[index][0]))
    every = max(1, math.ceil(count / 6))
    for at in range(0, count + 1, every):
        out.append(draw_text(left + at * one, height - bottom + 19, f"{at * step:,.0f}", anchor="middle"))
    out.append(draw_line(left, height - bottom, width - right, height - bottom, _SOFT))
    out.append(draw_text((left + width - right) / 2, height - 12, x_title, anchor="middle", soft=False))
    return draw_svg(width, height, out, x_title)


def round_axis(low: float, high: float, *, ticks: int = 6, least: float = 1.0) -> tuple[float, float, float]:
    """Return (from, to, step) with round steps of 1, 2 or 5 that cover low–high. ``least``: of the span."""
    span = max(high - low, 1e-9 + abs(high) * 0.02, least)
    raw = span / ticks
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first = math.floor(low / step) * step
    last = math.ceil(high / step) * step
    return first, last if last > first else first + step, step


def ticks(low: float, high: float, step: float) -> list[float]:
    return [low + i * step for i in range(round((high - low) / step) + 1)]


def draw_grid(
    axis: tuple[float, float, float], height_of: Callable[[float], float], left: float, right: float
) -> list[str]:
    """Return a line across the drawing at each tick of the vertical ``axis``, and the figure beside it."""
    out: list[str] = []
    for value in ticks(*axis):
        y = height_of(value)
        out += [draw_line(left, y, right, y, _LINE), draw_text(left - 8, y + 4, f"{value:g}", anchor="end")]
    return out


def _colour(point: Point) -> str:
    return _SOFT if point.hollow else FAMILIES[point.family] if point.family else _SEA


def _dot(x: float, y: float, point: Point) -> str:
    fill, stroke = "none" if point.hollow else _colour(point), _colour(point)
    caption = f"{point.label}: {point.y:.1f}, {point.x:,.1f}"
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{stroke}" stroke-width="2">'
        f"<title>{escape(caption)}</title></circle>"
    )


def draw_line(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def draw_text(x: float, y: float, text: str, *, anchor: str = "start", soft: bool = True, kind: str = "") -> str:
    colour = _SOFT if soft else _INK
    outline = f'stroke="{_PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'  # over lines and dots
    named = f' class="{kind}"' if kind else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text{named} {place} fill="{colour}" {outline}>{escape(text)}</text>'


def draw_svg(width: int, height: int, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title, quote=True)}" style="{_FONT}; {_SIZE}; max-width: {max(width, 600)}px">'
        f"{''.join(parts)}</svg>"
    )
