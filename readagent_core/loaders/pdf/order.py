"""Orders the lines of a PDF page into flows: columns, or the whole page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import inf

from readagent_core.loaders.pdf.lines import SAME, Line, join_parts

LONG = 16  # characters
_SWITCHES = 6  # between the columns; a page drawn in columns has fewer
_FEWEST = 5  # long lines of a column
_ACROSS = 0.35  # share of the long lines of a page in columns that cross its middle


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
        if rows and abs(rows[-1][0].y - line.y) < SAME * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def order_into_flows(lines: Sequence[Line]) -> list[Flow]:
    """Returns the lines of a page as flows in reading order: the drawing order, unless it jumps."""
    # short lines are often labels in pictures, which are drawn in any order
    long = [line for line in lines if len(line.text) >= LONG]
    middle = _middle(long)
    up = sum(after.y > before.y + before.size for before, after in pairwise(long))
    switches = sum(_side(before, middle) != _side(after, middle) for before, after in pairwise(long))
    if up * 2 >= max(2, len(long)) or switches > _SWITCHES:  # PDFium reads some sideways pages upwards
        rows = [line for row in find_rows(lines) for line in sorted(row, key=lambda each: each.x)]
        bands = (list(band) for _, band in groupby(rows, key=lambda line: _side(line, middle) == 0))
        lines = [line for band in bands for line in sorted(band, key=lambda each: _side(each, middle))]
    runs = [list(lines[:1])] if lines else []
    for before, line in pairwise(lines):
        across = _side(before, middle) != _side(line, middle) and abs(line.y - before.y) > 0.5 * line.size
        if across or line.y > before.y + 2 * before.size:
            runs.append([])
        runs[-1].append(line)
    return [_flow(run) for run in runs]


def _middle(long: Sequence[Line]) -> float | None:
    """Returns the middle of a page whose lines are in two columns; None with one column."""
    middle = (min((line.x for line in long), default=0.0) + max((line.end for line in long), default=0.0)) / 2
    counts = Counter(_side(line, middle) for line in long)
    columns = min(counts[-1], counts[1]) >= _FEWEST and counts[0] <= _ACROSS * len(long)
    return middle if columns else None


def _side(line: Line, middle: float | None) -> int:
    """Returns the column of a line, -1 or 1; 0 for a line that crosses both."""
    return 0 if middle is None else (line.x > middle) - (line.end < middle)


def _flow(lines: Sequence[Line]) -> Flow:
    """Returns a flow with its left edge and the width of its full lines. Cells at one height become one line."""
    merged = join_parts(lines, inf)
    starts = Counter(round(line.x) for line in merged)
    most = max(starts.values())
    left = min(x for x, n in starts.items() if n >= max(1, most * 0.4))
    widths = sorted(line.end - left for line in merged)
    return Flow(tuple(merged), float(left), widths[int(len(widths) * 0.9)])
