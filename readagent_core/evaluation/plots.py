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
_PAPER = "var(--bg, #faf9f6)"
_LINE, _SHADE = "var(--line, #e2ded5)", "var(--m2, #bfbab0)"
_SIZE = "width: 100%; max-width: 600px; height: auto"
_FONT = "font-family: var(--sans, system-ui, sans-serif); font-size: 13px; font-variant-numeric: tabular-nums"
_NEAR = 12.0  # pixels; points closer than this share a label


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
    labels: list[tuple[float, float, list[int]]] = []
    for number, point in enumerate(order_points(points), start=1):
        x, y = at(point.x, point.y)
        if point.low is not None and point.high is not None:
            out.append(_line(x, at(0, point.high)[1], x, at(0, point.low)[1], _SEA, width=1.5))
        out.append(_dot(x, y, point))
        near = next((own for px, py, own in labels if abs(px - x) < _NEAR and abs(py - y) < _NEAR), None)
        if near is None:
            labels.append((x, y, [number]))
        else:
            near.append(number)
    for x, y, own in labels:
        aside, anchor = (10, "start") if x < width - 60 else (-10, "end")
        out.append(_text(x + aside, y + 4.5, ", ".join(map(str, own)), anchor=anchor, soft=False))
    if chance is not None:
        out.append(_text(width - right, at(x_low, chance)[1] - 6, f"chance, {chance:g} %", anchor="end"))
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
    outline = f'stroke="{_PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'  # over lines and dots
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {outline}>{escape(text)}</text>'


def _svg(width: int, height: int, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title, quote=True)}" style="{_FONT}; {_SIZE}">'
        f"{''.join(parts)}</svg>"
    )
