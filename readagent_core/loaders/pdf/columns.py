"""Finds the reading order of the lines on a page: columns, in any number and changing down the page, and bands.

A region is cut in two at the gap that most of its lines share, and from top to bottom at the lines that cross that gap;
then each part likewise (a recursive X-Y cut). Two parts are columns where the file draws one after the other, or
where both are running text; other lines beside one another are the cells of a table, which is read by rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from math import inf

from readagent_core.loaders.pdf.lines import GUTTER, SAME, Line, join_parts

_MOST_GUTTERS = 5  # places that are tried before a region is one column
_BESIDE = 0.75  # of the size; lines that differ less in height are beside one another
_RUN = 2  # lines that a file draws in one column before it goes to the other; fewer are drawn row by row
_FEWEST, _NARROWEST = 4, 8.0  # rows of a column of running text, and its width in sizes
_FULL, _MOSTLY = 0.7, 0.55  # of that width are full rows, and the least share of them
_LETTERS = 0.6  # share of the characters of running text
_FEWEST_DRAWN = 3  # lines of a column that a file draws by itself
_OVERLAP = 0.5  # of the height of the lower column; columns are beside one another for more
_BACK = 0.1  # share of the lines that follow one below them; a file with more is in no order
_APART = 2.5  # of the size; a higher gap across the page separates what is above from what is below
_HEADLINE = 1.08  # of the usual size of a region


@dataclass(frozen=True)
class Flow:
    """Lines that follow each other downwards: a column or a page. ``width``: of its full lines."""

    lines: tuple[Line, ...]
    left: float
    width: float


def find_rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Returns the lines at one height together, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: -each.y):
        if rows and abs(rows[-1][0].y - line.y) < SAME * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def order_into_flows(lines: Sequence[Line]) -> list[Flow]:
    """Returns the lines of a page as flows in reading order; what is turned comes last."""
    turned = [line for line in lines if line.turned]
    straight = [line for line in lines if not line.turned] if turned else list(lines)
    return [_flow(part) for group in (straight, turned) if group for part in _cut(group, more=False)]


def _flow(lines: Sequence[Line]) -> Flow:
    """Returns a flow with its left edge and the width of its full lines. Cells at one height become one line."""
    merged = join_parts(lines, inf)
    starts = Counter(round(line.x) for line in merged)
    most = max(starts.values())
    left = min(x for x, n in starts.items() if n >= max(1, most * 0.4))
    widths = sorted(line.end - left for line in merged)
    return Flow(tuple(merged), float(left), widths[int(len(widths) * 0.9)])


def _cut(lines: list[Line], *, more: bool) -> list[list[Line]]:
    """Returns the columns and bands of a region in reading order. ``lines`` are in the order of the file.

    ``more``: whether another part follows the region."""
    beside = any(before.y - line.y <= _BESIDE * line.size for before, line in pairwise(lines))
    for gutter in _gutters(lines) if beside else ():
        parts = _divide(lines, gutter, more=more)
        if len(parts) > 1:
            return [run for n, part in enumerate(parts, 1) for run in _cut(part, more=more or n < len(parts))]
    return _in_order(lines)


def _gutters(lines: Sequence[Line]) -> Iterator[float]:
    """Yields where lines beside one another have gaps between them, first where most have one."""
    ordered = sorted(lines, key=lambda line: -line.y)
    nearest = [inf] * len(ordered)  # the left edge of what is right of each line
    for i, line in enumerate(ordered):
        for j in range(i + 1, len(ordered)):
            other = ordered[j]
            if line.y - other.y > _BESIDE * max(line.size, other.size):
                break
            if other.x >= line.end:
                nearest[i] = min(nearest[i], other.x)
            elif line.x >= other.end:
                nearest[j] = min(nearest[j], line.x)
    gaps = [(line.end, x) for line, x in zip(ordered, nearest, strict=True) if GUTTER * line.size < x - line.end < inf]
    for _ in range(_MOST_GUTTERS):
        most = here = 0
        at = (0.0, 0.0)
        edges = sorted([*((x, 1) for x, _ in gaps), *((x, -1) for _, x in gaps)])
        for (x, step), (end, _) in pairwise(edges):
            here += step
            if here > most:
                most, at = here, (x, end)
        if most < 2:
            return
        yield sum(at) / 2
        gaps = [gap for gap in gaps if not (gap[0] <= at[0] and at[1] <= gap[1])]


def _divide(lines: list[Line], gutter: float, *, more: bool) -> list[list[Line]]:
    """Returns the parts of a region: above and below what has columns at ``gutter``, and each two sides of that."""
    places = sorted(range(len(lines)), key=lambda i: -lines[i].y)
    runs = [(crosses, list(run)) for crosses, run in groupby(places, lambda i: lines[i].x < gutter < lines[i].end)]
    parts: list[list[Line]] = []
    whole: list[int] = []  # what has no columns here
    for number, (crosses, run) in enumerate(runs):
        for band in [run] if crosses else _bands(lines, run, gutter, closed=more or number + 1 < len(runs)):
            drawn = [lines[i] for i in sorted(band)]
            if crosses or not _are_columns(drawn, gutter):
                whole += band
                continue
            right = [line for line in drawn if line.x > gutter]
            highest = max(line.y for line in right)
            above = [i for i in band if whole and lines[i].x < gutter and lines[i].y > highest + lines[i].size]
            whole += above  # so the last line of a paragraph above the columns stays with it
            left = [lines[i] for i in sorted(set(band) - set(above)) if lines[i].x < gutter]
            parts += [part for part in ([lines[i] for i in sorted(whole)], left, right) if part]
            whole = []
    return [*parts, [lines[i] for i in sorted(whole)]] if whole else parts


def _bands(lines: Sequence[Line], run: list[int], gutter: float, *, closed: bool) -> list[list[int]]:
    """Returns ``run``, places of lines from the top, in bands that are read one after the other.

    ``closed``: a line that crosses the gutter is below."""
    drawn = sorted(run)
    sides = [lines[i].x > gutter for i in drawn]
    turns = [n for n in range(1, len(drawn)) if sides[n] != sides[n - 1]]
    cuts: set[float] = set()  # heights
    rows = find_rows(lines[i] for i in run)
    if _RUN * len(turns) < len(rows):  # the file draws a column of one band, then its other column, then the next band
        for n in turns:
            above, below = min(lines[i].y for i in drawn[:n]), max(lines[i].y for i in drawn[n:])
            if sides[n - 1] and above > below:
                cuts.add(below)
        bands = _cut_at(lines, run, cuts)
    else:
        usual = sorted(lines[i].size for i in run)[len(run) // 2]
        heads = set()
        for n, i in enumerate(run[1:], start=1):
            line, before = lines[i], lines[run[n - 1]]
            alone = n + 1 == len(run) or line.y - lines[run[n + 1]].y > line.size
            headline = line.bold or line.size > _HEADLINE * usual
            if before.y - line.y > (line.size if headline and alone else _APART * usual):
                cuts.add(line.y)
                if headline and alone:
                    heads.add(line.y)
        bands = _cut_at(lines, run, cuts)
        joined: list[list[int]] = []  # what is on one side only belongs to the column above
        for band in bands:
            both = len({lines[i].x > gutter for i in band}) == 2
            if joined and not both and not (closed and band is bands[-1] and lines[band[0]].y in heads):
                joined[-1] += band
            else:
                joined.append(band)
        bands = joined
    return bands


def _cut_at(lines: Sequence[Line], run: Sequence[int], cuts: set[float]) -> list[list[int]]:
    """Returns ``run`` cut above the lines at the heights ``cuts``."""
    bands: list[list[int]] = [[]]
    for i in run:
        if lines[i].y in cuts and bands[-1]:
            cuts = cuts - {lines[i].y}
            bands.append([])
        bands[-1].append(i)
    return bands


def _are_columns(drawn: Sequence[Line], gutter: float) -> bool:
    """Returns whether the two sides of ``gutter`` are columns, not the cells of rows."""
    sides = [line.x > gutter for line in drawn]
    turns = sum(one != other for one, other in pairwise(sides))
    tops, feet = (
        [pick(line.y for line in drawn if (line.x > gutter) == side) for side in set(sides)] for pick in (max, min)
    )
    beside = min(tops) - max(feet)
    if beside < max(drawn[0].size, _OVERLAP * min(top - foot for top, foot in zip(tops, feet, strict=True))):
        return False
    parts = [[line for line in drawn if (line.x > gutter) == side] for side in (False, True)]
    in_turn = _RUN * turns <= len(find_rows(drawn)) and min(map(len, parts)) >= _FEWEST_DRAWN
    return all(_has_words(part) and (in_turn or _is_running(part)) for part in parts)


def _has_words(lines: Sequence[Line]) -> bool:
    """Returns whether lines are mostly letters, not numbers."""
    text = "".join(line.text for line in lines).replace(" ", "")
    return sum(map(str.isalpha, text)) > _LETTERS * len(text)


def _is_running(lines: Sequence[Line]) -> bool:
    """Returns whether lines are running text: most of them fill a column that is not narrow."""
    rows = find_rows(lines)
    widths = sorted(sum(line.end - line.x for line in row) for row in rows)  # without the gaps
    full = widths[len(widths) * 4 // 5]
    size = sorted(line.size for line in lines)[len(lines) // 2]
    across = max(line.end for line in lines) - min(line.x for line in lines)
    filled = sum(width > _FULL * full for width in widths)
    return len(rows) >= _FEWEST and full > max(_NARROWEST * size, _FULL * across) and filled > _MOSTLY * len(rows)


def _in_order(lines: list[Line]) -> list[list[Line]]:
    """Returns the lines of one column in runs that go down: in the order of the file, unless that often goes back.

    It may go up to the right of the line before: to the next cell of a row."""
    blocks: list[list[list[Line]]] = [[lines[:1]]]  # runs between the places where the file goes back
    for before, line in pairwise(lines):
        if line.y - before.y > max(before.size, line.size):
            if line.x < max(each.end for each in blocks[-1][-1]):
                blocks.append([])
            blocks[-1].append([])
        blocks[-1][-1].append(line)
    if len(blocks) == 1:
        return blocks[0]
    ordered = sorted(blocks, key=lambda block: -block[0][0].y)
    heights = [[line.y for run in block for line in run] for block in ordered]
    if all(min(above) > max(below) for above, below in pairwise(heights)):
        return list(chain.from_iterable(ordered))
    if len(blocks) < _BACK * len(lines):
        return list(chain.from_iterable(blocks))
    return [[line for row in find_rows(lines) for line in sorted(row, key=lambda each: each.x)]]
