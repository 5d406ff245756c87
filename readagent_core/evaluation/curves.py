"""Methods at equal words: the score of each over the words sent for a question, as a table, a drawing and plain values.

Only rows with a budget of words are compared (``Arm.words``). The scores are those of the main table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import cycle, pairwise
from typing import Any

from readagent_core.evaluation.arms import Arm, arm_titles, recorded_arms
from readagent_core.evaluation.plots import draw_grid, draw_line, draw_svg, draw_text, round_axis, ticks
from readagent_core.evaluation.report import ROUGE_L, Summary, score_of

_COLOURS = (
    "var(--sea, #1a5a63)",
    "var(--lamp, #844a00)",
    "var(--sky-edge, #3f6f9f)",
    "var(--lilac-edge, #7a57a3)",
    "var(--alert, #9c2f28)",
    "var(--ink-2, #50565e)",
)
_SLOT = 17.0  # pixels from one name to the next


@dataclass(frozen=True)
class CurvePoint:
    """One row of the main table. ``budget``: the most words a question; ``words``: those sent, on average.

    ``value``, ``low``, ``high``: the score in percent and its interval, None for ROUGE.
    """

    arm: str
    budget: int
    words: float
    value: float
    low: float | None = None
    high: float | None = None


def word_curves(summary: Summary) -> dict[str, tuple[CurvePoint, ...]]:
    """Return the points of each method by its title, in the order of the table; empty without budgets of words."""
    rows = {row.arm: row for row in summary.rows}
    plain: dict[str, Arm] = {}
    found: dict[str, list[CurvePoint]] = {}
    for arm in recorded_arms(summary.record):
        row = rows.get(arm.key)
        score = score_of(row, summary.measure) if row is not None else None
        if arm.words is not None and row is not None and score is not None:
            point = CurvePoint(row.arm, arm.words, row.words_each, *score)
            without = replace(arm, words=None)
            plain[without.key] = without
            found.setdefault(without.key, []).append(point)
    titles = arm_titles(list(plain.values()))
    return {titles[key]: tuple(sorted(points, key=lambda p: p.budget)) for key, points in found.items()}


def curves_to_dict(summary: Summary) -> dict[str, Any]:
    """Return the curves as plain JSON values."""
    curves = {title: [asdict(point) for point in points] for title, points in word_curves(summary).items()}
    return {"measure": summary.measure, "methods": curves} if curves else {}


def equal_words_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return a row a method and a column a budget: the score with its interval, and the words that were sent."""
    curves = word_curves(summary)
    budgets = sorted({point.budget for points in curves.values() for point in points})
    rows = []
    for title, points in curves.items():
        cells = {point.budget: _cell(point) for point in points}
        rows.append([title, *(cells.get(budget, "") for budget in budgets)])
    return ["Method", *(f"{budget:,} words" for budget in budgets)], rows


def _cell(point: CurvePoint) -> str:
    value = f"{point.value:.2f}" if point.low is None else f"{point.value:.2f} % ({point.low:.1f}–{point.high:.1f})"
    return f"{value}, {point.words:,.0f} sent"


def draw_curves(summary: Summary, *, narrow: bool = False) -> str:
    """Return the curves as SVG: the score over the words sent a question, each with its name beside its end."""
    curves = word_curves(summary)
    measure = summary.measure
    left, top, bottom = 40, 30, 48
    width, right = (350, 190) if narrow else (680, 230)
    height = max(360, top + bottom + int(_SLOT * (len(curves) + 1)))
    points = [point for own in curves.values() for point in own]
    _, x_high, x_step = round_axis(0.0, max(point.words for point in points))
    y_low, y_high, y_step = round_axis(0.0, max(point.value for point in points))

    def at(words: float, value: float) -> tuple[float, float]:
        up = (height - top - bottom) * (value - y_low) / (y_high - y_low)
        return left + (width - left - right) * words / x_high, height - bottom - up

    out = draw_grid((y_low, y_high, y_step), lambda value: at(0.0, value)[1], left, width - right)
    for x in (0.0, x_high) if narrow else ticks(0.0, x_high, x_step):
        out.append(draw_text(at(x, y_low)[0], height - bottom + 19, f"{x:,.0f}", anchor="middle"))
    colours = dict(zip(curves, cycle(_COLOURS), strict=False))
    lines = {title: [at(point.words, point.value) for point in own] for title, own in curves.items()}
    for title, places in lines.items():
        colour = colours[title]
        out += [draw_line(*one, *two, colour, width=1.5) for one, two in pairwise(places)]
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
    for title, y in _spread({title: places[-1][1] for title, places in lines.items()}, top, height - bottom).items():
        end_x, end_y = lines[title][-1]
        out.append(draw_line(end_x, end_y, width - right + 12, y, colours[title], dash="2 3"))
        out.append(draw_text(width - right + 16, y + 4.5, title, soft=False))
    out.append(draw_text(left, height - 8, "Words sent a question", soft=False))
    out.append(draw_text(0, 12, measure if measure == ROUGE_L else f"{measure}, %", soft=False))
    return draw_svg(width, height, out, f"{measure} over the words sent a question")


def _spread(wanted: Mapping[str, float], top: float, bottom: float) -> dict[str, float]:
    """Return a height for each name, near the one wanted and at least _SLOT from the next, within the drawing."""
    placed: dict[str, float] = {}
    lowest = top
    for title in sorted(wanted, key=lambda name: wanted[name]):
        placed[title] = max(wanted[title], lowest)
        lowest = placed[title] + _SLOT
    highest = bottom
    for title in reversed(placed):
        placed[title] = min(placed[title], highest)
        highest = placed[title] - _SLOT
    return placed
