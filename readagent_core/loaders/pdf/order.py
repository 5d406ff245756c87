"""Orders the lines of a PDF page into flows: columns, or the whole page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from readagent_core.loaders.pdf.lines import GAP, Line

LONG = 16  # characters
_SWITCHES = 6  # between the columns; a page drawn in columns has fewer
_NARROW = 150.0  # points; the smallest width of two columns
_LEFTMOST = 0.25  # share of the width of a page; a column starts farther from its edges
_STARTS = 6  # places at which most lines start
_EDGE = 4.0  # points left of them; the lines of a column may start a little farther left
_SAME = 0.35  # of the size; pieces closer than this in height are on one line


@dataclass(frozen=True)
class Flow:
    """Lines that follow each other downwards: a column or a page. ``width``: of its full lines."""

    lines: tuple[Line, ...]
    left: float
    width: float


def find_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Returns the lines at one height together, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: -each.y):
        if rows and abs(rows[-1][0].y - line.y) < _SAME * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def order_into_flows(lines: Sequence[Line]) -> list[Flow]:
    """Returns the lines of a page as flows in reading order: the drawing order, unless it jumps."""
    if not lines:
        return []
    gutter = _gutter(lines)
    # short lines are often labels in pictures, which are drawn in any order
    long = [line for line in lines if len(line.text) >= LONG]
    up = sum(b.y > a.y + a.size for a, b in pairwise(long))
    switches = sum(a != b for a, b in pairwise(_side(line, gutter) for line in long))
    jumps = (up > 4 and up * 6 > len(long)) or up * 2 >= max(2, len(long))  # PDFium reads some sideways pages upwards
    if jumps or switches > _SWITCHES:
        return [_flow(run) for run in _sort(lines)]
    runs: list[list[Line]] = [[lines[0]]]
    for before, line in pairwise(lines):
        across = _side(before, gutter) != _side(line, gutter) and abs(line.y - before.y) > 0.5 * line.size
        if across or line.y > before.y + 2 * before.size:
            runs.append([])
        runs[-1].append(line)
    return [_flow(run) for run in runs]


def _gutter(lines: Sequence[Line]) -> float | None:
    """Returns where a column starts that has the fewest lines across its left edge; None on a page with one column."""
    long = [line for line in lines if len(line.text) >= LONG]
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    starts = Counter(round(line.x) for line in long if _LEFTMOST < (line.x - left) / (right - left) < 1 - _LEFTMOST)
    if right - left < _NARROW or not starts:
        return None
    found: list[tuple[int, float]] = []
    for start, _ in starts.most_common(_STARTS):
        sides = Counter(_side(line, start - _EDGE) for line in long)
        if min(sides[0], sides[1]) >= max(5, 0.18 * len(long)) and sides[-1] <= 0.35 * len(long):
            found.append((sides[-1], start - _EDGE))
    return min(found)[1] if found else None


def _side(line: Line, gutter: float | None) -> int:
    """Returns the column of a line, 0 or 1; -1 for a line that crosses both."""
    if gutter is None or line.x >= gutter:
        return 1
    return 0 if line.end <= gutter + 4 else -1


def _sort(lines: Sequence[Line]) -> list[list[Line]]:
    """Returns lines ordered by their places: columns between the lines that cross them, each from the top."""
    if not lines:
        return []
    gutter = _gutter(lines)
    down = [line for row in find_rows(lines) for line in sorted(row, key=lambda each: each.x)]
    if gutter is None:
        return [down]
    runs: list[list[Line]] = []
    for crosses, group in groupby(down, key=lambda line: _side(line, gutter) == -1):
        band = list(group)
        if crosses:
            runs.append(band)
        else:
            for side in (0, 1):
                runs += _sort([line for line in band if _side(line, gutter) == side])
    return runs


def _flow(lines: Sequence[Line]) -> Flow:
    """Returns a flow with its left edge and the width of its full lines. Cells at one height become one line."""
    merged: list[Line] = []
    for line in lines:
        last = merged[-1] if merged else None
        if last and abs(last.y - line.y) < _SAME * max(last.size, line.size) and line.x >= last.x:
            gap = "\t" if line.x - last.end > GAP * line.size else " "
            merged[-1] = replace(last, text=f"{last.text}{gap}{line.text}", end=max(last.end, line.end))
        else:
            merged.append(line)
    starts = Counter(round(line.x) for line in merged)
    most = max(starts.values())
    left = min(x for x, n in starts.items() if n >= max(1, most * 0.4))
    widths = sorted(line.end - left for line in merged)
    return Flow(tuple(merged), float(left), widths[int(len(widths) * 0.9)] if len(widths) > 4 else widths[-1])
