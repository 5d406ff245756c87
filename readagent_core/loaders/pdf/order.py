"""Removes running headers, footers and page numbers, and orders the lines of a PDF page into flows (columns)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, pairwise

from readagent_core.loaders import headings
from readagent_core.loaders.pdf.lines import GAP, Line

_NUMBER = re.compile(
    r"^\W*(?:page|seite|p\.)?\s*(\d{1,4}|[ivxlcdm]{1,7})\W*(?:(?:of|von|/|sur|de)\s*\d{1,4}\W*)?$", re.I
)
_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_EDGE = 3  # lines at the top and at the bottom that can be headers or footers
_NEARBY = 6  # pages that are compared
_HIGHER = 8.0  # points by which the heights of a running header differ
_SENTENCE = 90  # characters; a longer line is text
_SHORTEST = 8  # characters of a line that may be similar instead of equal
_ALIKE = 0.84  # share of two lines that is equal where they differ by errors of OCR
_FEW = 8  # words of the running lines of a page without text
_LONG = 16  # characters
_SWITCHES = 6  # between the columns; a page drawn in columns has fewer
_NARROW = 150.0  # points; the smallest width of two columns
_SAME = 0.35  # of the size; pieces closer than this in height are on one line


@dataclass(frozen=True)
class Flow:
    """Lines that follow each other downwards: a column or a page. ``width``: of its full lines."""

    lines: tuple[Line, ...]
    left: float
    width: float


def remove_running_lines(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], int]:
    """Returns the pages without lines that repeat at their edges, and how many lines were removed."""
    edges: list[list[Line]] = []
    for lines in pages:
        rows = _rows(lines)
        edges.append([line for row in [*rows[:_EDGE], *rows[max(_EDGE, len(rows) - _EDGE) :]] for line in row])
    numbers = _page_numbers(edges)
    remaining: list[list[Line]] = []
    for lines, edge in zip(pages, edges, strict=True):
        drop = {id(line) for line in edge if id(line) in numbers or _repeats(line, edges)}
        dropped = sum(len(line.text.split()) for line in lines if id(line) in drop)
        if dropped > _FEW and dropped * 2 > sum(len(line.text.split()) for line in lines):
            drop &= numbers  # where most words would be removed, the lines are the text
        remaining.append([line for line in lines if id(line) not in drop])
    return remaining, sum(map(len, pages)) - sum(map(len, remaining))


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Returns the lines at one height together, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: -each.y):
        if rows and abs(rows[-1][0].y - line.y) < _SAME * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _repeats(line: Line, edges: Sequence[Sequence[Line]]) -> bool:
    """Returns whether two pages nearby, or the only other one, have the same line at this height."""
    if len(line.text) > _SENTENCE:
        return False
    nearby = edges[max(0, line.number - _NEARBY) : line.number + _NEARBY + 1]
    found = sum(
        any(abs(other.y - line.y) < _HIGHER and _is_same(other.text, line.text) for other in edge)
        for edge in nearby
        if edge and edge[0].number != line.number
    )
    return found >= (2 if len(edges) > 2 else 1)


@lru_cache(maxsize=10_000)
def _is_same(one: str, other: str) -> bool:
    """Returns whether two lines are equal but for their numbers ('The Siege 49', 'The Siege 51') or errors of OCR."""
    if one == other:
        return True
    a, b = (_DIGITS.sub("#", text.casefold()).strip() for text in (one, other))
    if min(len(a), len(b)) < _SHORTEST or headings.is_named_heading(one) or not any(map(str.isalpha, a)):
        return False
    matcher = SequenceMatcher(None, a, b)
    return matcher.real_quick_ratio() > _ALIKE and matcher.quick_ratio() > _ALIKE and matcher.ratio() > _ALIKE


def _page_numbers(edges: Sequence[Sequence[Line]]) -> set[int]:
    """Returns the ids of lines that are only a number which grows with the pages."""
    candidates: dict[int, list[tuple[int, Line]]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for line in edge:
            found = _NUMBER.match(line.text)
            if found:
                text = found.group(1)
                value = int(text) if text.isdigit() else headings.roman_value(text)
                if value:
                    candidates[value - number].append((number, line))
    drop: set[int] = set()
    for group in candidates.values():
        if len({n for n, _ in group}) >= min(2, len(edges)):
            drop |= {id(line) for _, line in group}
    return drop


def order_into_flows(lines: Sequence[Line]) -> list[Flow]:
    """Returns the lines of a page as flows in reading order: the drawing order, unless it jumps."""
    if not lines:
        return []
    gutter = _gutter(lines)
    # short lines are often labels in pictures, which are drawn in any order
    long = [line for line in lines if len(line.text) >= _LONG]
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
    """Returns where the second column starts; None on a page with one column."""
    long = [line for line in lines if len(line.text) >= _LONG]
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    starts = Counter(round(line.x) for line in long if 0.35 < (line.x - left) / (right - left) < 0.72)
    if right - left < _NARROW or not starts:
        return None
    gutter = starts.most_common(1)[0][0] - 4.0
    sides = Counter(_side(line, gutter) for line in long)
    few = min(sides[0], sides[1]) < max(5, 0.18 * len(long))
    return None if few or sides[-1] > 0.35 * len(long) else gutter


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
    down = [line for row in _rows(lines) for line in sorted(row, key=lambda each: each.x)]
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
