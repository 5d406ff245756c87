"""Removes running headers, footers and page numbers, and orders the lines of a PDF page into flows (columns)."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from readagent_core.loaders import headings
from readagent_core.loaders.pdf.lines import Line

_NUMBER = re.compile(
    r"^\W*(?:page|seite|p\.)?\s*(\d{1,4}|[ivxlcdm]{1,7})\W*(?:(?:of|von|/|sur|de)\s*\d{1,4}\W*)?$", re.I
)
_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_EDGE = 3  # lines at the top and at the bottom that can be headers or footers
_FEW = 5  # words
_LONG = 20  # characters
_SAME = 0.35  # of the size; pieces closer than this in height are on one line


@dataclass(frozen=True)
class Flow:
    """Lines that follow each other downwards: a column or a page. ``width``: of its full lines."""

    lines: tuple[Line, ...]
    left: float
    width: float


def remove_running_lines(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], int]:
    """Returns the pages without lines that repeat at their edges, and how many lines were removed."""
    edges: list[list[tuple[Line, str]]] = []
    for lines in pages:
        ordered = sorted(lines, key=lambda line: -line.y)
        rows = _rows(ordered)
        outer = [*rows[:_EDGE], *rows[max(_EDGE, len(rows) - _EDGE) :]]
        edges.append([(line, _shape(line.text)) for row in outer for line in row])
    seen: dict[str, list[Line]] = defaultdict(list)
    for edge in edges:
        for line, shape in edge:
            seen[shape].append(line)
    numbers = _page_numbers(edges)
    remaining: list[list[Line]] = []
    removed = 0
    for number, (lines, edge) in enumerate(zip(pages, edges, strict=True)):
        drop = {
            id(line)
            for line, shape in edge
            if id(line) in numbers
            or (
                not _has_sentence(line.text)
                and (_repeats(seen[shape], line, len(pages)) or _resembles(edges, number, line, shape))
            )
        }
        if len(drop) == len(lines) and sum(len(line.text.split()) for line in lines) > _FEW:
            drop &= numbers  # where every line would be removed, the lines are the text
        removed += len(drop)
        remaining.append([line for line in lines if id(line) not in drop])
    return remaining, removed


def _rows(ordered: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in ordered:
        if rows and abs(rows[-1][0].y - line.y) < _SAME * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _shape(text: str) -> str:
    """Returns a line with ``#`` for its numbers, so that 'The Siege 49' and 'The Siege 51' are equal."""
    return _DIGITS.sub("#", text.casefold()).strip()


def _has_sentence(text: str) -> bool:
    return len(text) > 90


def _repeats(alike: Sequence[Line], line: Line, pages: int) -> bool:
    """Returns whether pages nearby have the same line at this height, or one whose number grows with the pages."""
    near = {
        other.number
        for other in alike
        if other.number != line.number
        and abs(other.number - line.number) <= 12
        and abs(other.y - line.y) < 6
        and (other.text == line.text or _counts_pages(other, line))
    }
    return len(near) >= 2 or (pages == 2 and len(near) == 1)


def _counts_pages(one: Line, other: Line) -> bool:
    """Returns whether a number in the lines differs by as much as their pages do."""
    numbers = zip(re.findall(r"\d+", one.text), re.findall(r"\d+", other.text), strict=False)
    return any(int(a[:9]) - int(b[:9]) == one.number - other.number for a, b in numbers)


def _resembles(edges: Sequence[Sequence[tuple[Line, str]]], number: int, line: Line, shape: str) -> bool:
    """Returns whether two pages nearby have a similar line at this height: headers with errors of OCR."""
    if len(shape) < 8 or not any(c.isalpha() for c in shape) or headings.is_named_heading(line.text):
        return False
    found = 0
    for other in range(max(0, number - 4), min(len(edges), number + 5)):
        if other != number:
            found += any(
                abs(candidate.y - line.y) < 0.02 * max(line.y, 400)
                and abs(len(text) - len(shape)) < 4
                and SequenceMatcher(None, text, shape).ratio() > 0.84
                for candidate, text in edges[other]
            )
    return found >= 2


def _page_numbers(edges: Sequence[Sequence[tuple[Line, str]]]) -> set[int]:
    """Returns the ids of lines that are only a number which grows with the pages."""
    candidates: dict[int, list[tuple[int, Line]]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for line, _ in edge:
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
    if gutter is None:
        ordered = _sort_by_height(lines) if _order_jumps(lines) else list(lines)
        return [_flow(run) for run in _runs(ordered)]
    # short lines are often labels in pictures, which are drawn in any order
    sides = [_side(line, gutter) for line in lines if len(line.text) >= _LONG]
    switches = sum(a != b for a, b in itertools.pairwise(sides))
    if switches <= 6 and not _order_jumps(lines):
        return [_flow(run) for run in _runs(lines, gutter)]
    return [_flow(run) for run in _split_bands(lines, gutter)]


def _order_jumps(lines: Sequence[Line]) -> bool:
    """Returns whether the drawing order goes upwards more often than columns explain."""
    long = [line for line in lines if len(line.text) >= _LONG]
    up = sum(b.y > a.y + 2 * a.size for a, b in itertools.pairwise(long))
    return up > 4 and up * 6 > len(long)


def _sort_by_height(lines: Sequence[Line]) -> list[Line]:
    return [line for row in _rows(sorted(lines, key=lambda line: -line.y)) for line in sorted(row, key=lambda v: v.x)]


def _gutter(lines: Sequence[Line]) -> float | None:
    """Returns where the second column starts; None on a page with one column."""
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    span = right - left
    starts = Counter(round(line.x) for line in lines if left + 0.35 * span < line.x < left + 0.72 * span)
    if span < 150 or not starts:
        return None
    start = max(starts, key=lambda x: sum(starts[x + i] for i in (-1, 0, 1)))
    gutter = start - 4.0
    beside = [line for line in lines if line.x >= gutter]
    before = [line for line in lines if line.x < gutter and line.end - 0.12 * line.width <= start]
    across = len(lines) - len(beside) - len(before)
    if min(len(beside), len(before)) < max(5, 0.18 * len(lines)) or across > 0.35 * len(lines):
        return None
    texts = sorted(len(line.text) for line in beside), sorted(len(line.text) for line in before)
    return gutter if all(t[len(t) // 2] >= 16 for t in texts) else None


def _side(line: Line, gutter: float) -> int:
    if line.x >= gutter:
        return 1
    return 0 if line.end - 0.12 * line.width <= gutter + 4 else -1


def _split_bands(lines: Sequence[Line], gutter: float) -> list[list[Line]]:
    """Returns the columns between lines that cross both, each band from left to right."""
    runs: list[list[Line]] = []
    band: dict[int, list[Line]] = {0: [], 1: []}
    for line in [*sorted(lines, key=lambda v: -v.y), None]:
        side = -1 if line is None else _side(line, gutter)
        if side >= 0 and line is not None:
            band[side].append(line)
            continue
        runs += [_sort_by_height(column) for column in band.values() if column]
        band = {0: [], 1: []}
        if line is not None:
            if runs and runs[-1] and _side(runs[-1][-1], gutter) == -1:
                runs[-1].append(line)
            else:
                runs.append([line])
    return runs


def _runs(lines: Sequence[Line], gutter: float | None = None) -> list[list[Line]]:
    """Splits lines where they jump upwards or to the other column."""
    runs: list[list[Line]] = [[lines[0]]]
    for before, line in itertools.pairwise(lines):
        other = gutter is not None and _side(before, gutter) != _side(line, gutter)
        if line.y > before.y + 2 * before.size or (other and abs(line.y - before.y) > 0.5 * line.size):
            runs.append([])
        runs[-1].append(line)
    return runs


def _flow(lines: Sequence[Line]) -> Flow:
    """Returns a flow with its left edge and the width of its full lines. Cells at one height become one line."""
    merged: list[Line] = []
    for line in lines:
        last = merged[-1] if merged else None
        if last and abs(last.y - line.y) < _SAME * max(last.size, line.size) and line.x >= last.x:
            gap = "\t" if line.x - last.end > 2 * line.size + 0.1 * last.width else " "
            merged[-1] = replace(last, text=f"{last.text}{gap}{line.text}", end=max(last.end, line.end))
        else:
            merged.append(line)
    starts = Counter(round(line.x) for line in merged)
    most = max(starts.values())
    left = min(x for x, n in starts.items() if n >= max(1, most * 0.4))
    widths = sorted(line.end - left for line in merged)
    return Flow(tuple(merged), float(left), widths[int(len(widths) * 0.9)] if len(widths) > 4 else widths[-1])
