"""The lines of a PDF page, and how parts on one baseline, also raised and lowered ones, become one line.

Coordinates are in points, y upwards, rotated so that text runs from left to right on sideways pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from readagent_core.loaders.pdf import characters

BULLETS = "•‣▪◦●○■"
GAP = 1.1  # of the size; a wider gap separates cells
GUTTER = 0.55  # of the size; a wider gap may separate columns
SAME = 0.35  # of the size; parts that differ less in height are on one line
TOUCHING = 0.15  # of the size; a narrower gap is no space
_RAISED = 0.6  # of the size; the most by which an index is raised or lowered
_HUGE = 0.5  # of the size; a part beside a larger one is its title, not its index
_SUPERSCRIPT = 0.15  # of the size; the least by which a superscript is raised
INDEX = 0.85  # of the size; the largest index
UNKNOWN = 10.0  # points; the size of letters that say none
_SAID, _WORD = re.compile(r"\w"), re.compile(r"[^\W\d_]{2}")


class Line(NamedTuple):
    """``x``, ``end``: left and right edge. ``y``: baseline. ``number``: source page, from 0. ``confidence``: of
    recognised text, None for text of the file. ``turned``: against most text of its page, as stamps are. ``lead``:
    whether it begins in bold letters and goes on in others, as after a heading in the line. ``mono``: whether it is in
    a typewriter font.

    Edges and baseline are seen in the direction of the text. Vertical lines run from left to right, the first on top.
    """

    text: str
    x: float
    end: float
    y: float
    size: float
    bold: bool = False
    number: int = 0
    confidence: float | None = None
    turned: bool = False
    lead: bool = False
    mono: bool = False


def join_parts(lines: Sequence[Line], widest: float = GUTTER) -> list[Line]:
    """Returns the lines with their parts joined, also raised and lowered indices: PDFium breaks a line after these.

    ``widest``: the widest gap between two parts in sizes. Wider ones than that of a column become tabs."""
    joined: list[Line] = []
    for i, line in enumerate(lines):
        beside = joined and abs(joined[-1].y - line.y) < _RAISED * max(joined[-1].size, line.size)
        if beside and _is_continued(joined[-1], line, widest):
            last = joined.pop()
            share = min(last.size, line.size) / max(last.size, line.size)
            said = _SAID if share > _HUGE else _WORD  # the number of a chapter may be three times as large as its title
            parts = [each for each in (last, line) if said.search(each.text)] or [last, line]
            main = max(parts, key=lambda each: (share < INDEX and each.size, len(each.text)))
            text = line.text
            if line.y - last.y > _SUPERSCRIPT * last.size and line.size < INDEX * last.size:
                text = characters.replace_raised(last.text, text, "".join(each.text for each in lines[i + 1 : i + 2]))
            gap = (line.x - last.end) / main.size
            apart = text and (gap > TOUCHING or gap < -0.5) and last.text[-1:] != " "
            space = "\t" if gap > GAP and last.text not in BULLETS else " " if apart else ""
            bold = main.bold and all(part.bold or not _WORD.search(part.text) for part in (last, line))
            mono = last.mono and line.mono
            line = main._replace(text=f"{last.text}{space}{text}", x=last.x, end=max(last.end, line.end))
            line = line._replace(bold=bold, lead=not bold and (last.bold or last.lead), mono=mono)
        joined.append(line)
    return joined


def _is_continued(last: Line, line: Line, widest: float) -> bool:
    """Returns whether ``line``, beside ``last``, is an index of it, or what follows on its baseline."""
    size = max(last.size, line.size)
    if last.turned != line.turned:
        return False
    gap = (line.x - last.end) / size
    if min(last.size, line.size) < INDEX * size and -0.5 < gap < 0.5:
        return True
    return abs(last.y - line.y) < SAME * size and (line.x >= last.x if widest == inf else -0.5 < gap < widest)
