"""Reads the lines of a PDF page with their place and size from the pieces of text that pypdf returns.

Coordinates are in points, y upwards, rotated so that text runs from left to right on sideways pages. Widths are
estimated from the letters, which is enough to find columns, short lines and gaps.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from pypdf import PageObject

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st", "\u00a0": " ", "\u200b": ""}
)
# hyphens at the end of a line: the soft hyphen, and what broken fonts map it to
SOFT = "\u00ad\ufffe\x02"
_SHAPED = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
_SPACES = re.compile(r"[ \t\r\f\v]+")
_NARROW = dict.fromkeys("iljtfI.,;:'’‘|!()[]-r ", 0.29)
_WIDE = dict.fromkeys("mwMW—", 0.78)
_WIDTHS = _NARROW | _WIDE
_GAP = 1.6  # of the size; a wider gap separates columns or cells
_UNSURE = 0.1  # error of an estimated width, as a share of it
_BOLD = re.compile(r"bold|black|heavy|-medi|demi|cmbx|\bbx", re.IGNORECASE)
# an accent before its letter as a character of its own, as in TeX's old fonts
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}]) ?([A-Za-zı])")


@dataclass(frozen=True)
class Line:
    """``x``, ``end``: left and right edge (estimated). ``y``: baseline. ``number``: source page, from 0."""

    text: str
    x: float
    end: float
    y: float
    size: float
    bold: bool = False
    number: int = 0

    @property
    def width(self) -> float:
        return self.end - self.x


@dataclass(frozen=True)
class _Piece:
    text: str
    x: float
    y: float
    size: float
    font: str
    turned: int  # quarter turns of the writing direction


def read_lines(page: PageObject, number: int) -> list[Line]:
    """Returns the lines of ``page`` in the order in which the file draws them."""
    pieces: list[_Piece | None] = []  # None: the line ends here

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if not text:
            return
        parts = text.split("\n")
        for i, part in enumerate(parts):
            if i:
                pieces.append(None)
            if part.strip():
                piece = _piece(part, cm, tm, str(font.get("/BaseFont", "")) if font else "", size or 0.0)
                pieces.append(replace(piece, y=piece.y - 1.2 * piece.size * i) if i and len(parts) > 2 else piece)
            elif part and pieces and pieces[-1] is not None and not pieces[-1].text.endswith(" "):
                pieces[-1] = replace(pieces[-1], text=pieces[-1].text + " ")

    page.extract_text(visitor_text=visit)
    turns = Counter(p.turned for p in pieces if p)
    turned = turns.most_common(1)[0][0] if turns else 0
    lines: list[Line] = []
    held: list[_Piece] = []
    for piece in [*pieces, None]:
        if piece is not None:
            held.append(_rotate(piece, turned))
        elif held:
            lines += _split_at_gaps(held, number)
            held = []
    return lines


def _piece(text: str, cm: Any, tm: Any, font: str, size: float) -> _Piece:
    a, b = tm[0] * cm[0] + tm[1] * cm[2], tm[0] * cm[1] + tm[1] * cm[3]
    c, d = tm[2] * cm[0] + tm[3] * cm[2], tm[2] * cm[1] + tm[3] * cm[3]
    x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
    y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
    scale = math.hypot(c, d) or math.hypot(a, b) or 1.0
    values = [v if math.isfinite(v) else 0.0 for v in (x, y, abs(size) * scale)]
    turned = 0 if abs(a) >= abs(b) else (1 if b > 0 else 3)
    return _Piece(text.translate(_LIGATURES), values[0], values[1], min(values[2], 500.0) or 10.0, font, turned)


def _rotate(piece: _Piece, turned: int) -> _Piece:
    if turned == 1:
        return replace(piece, x=piece.y, y=-piece.x)
    return replace(piece, x=-piece.y, y=piece.x) if turned == 3 else piece


def _split_at_gaps(pieces: list[_Piece], number: int) -> list[Line]:
    """Splits one drawn line where a gap is wider than a space, or where it jumps back or to another height."""
    groups: list[list[_Piece]] = [[pieces[0]]]
    end = pieces[0].x + width(pieces[0])
    for before, piece in itertools.pairwise(pieces):
        size = max(before.size, piece.size)
        if (
            piece.x - end > _GAP * size + _UNSURE * width(before)
            or piece.x < before.x - size
            or abs(piece.y - before.y) > size
        ):
            groups.append([])
        groups[-1].append(piece)
        end = max(end if groups[-1][0] is not piece else 0.0, piece.x + width(piece))
    lines = []
    for group in groups:
        text = _compose_accents(_SPACES.sub(" ", "".join(p.text for p in group)).strip())
        if text:
            main = max(group, key=lambda p: (len(p.text.strip()), p.size))
            bold = all(_BOLD.search(p.font) for p in group if p.text.strip())
            last = max(p.x + width(p) for p in group)
            lines.append(Line(text, group[0].x, last, main.y, main.size, bold, number))
    return lines


def _compose_accents(text: str) -> str:
    """Returns ``text`` with accents on their letters and without Arabic presentation forms."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2).replace("ı", "i") + _ACCENTS[m.group(1)]), text
    )
    return _SHAPED.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)


def width(piece: _Piece) -> float:
    """Returns the width of a piece, estimated from its letters."""
    font = piece.font.lower()
    if "cour" in font or "mono" in font or "cmtt" in font:
        return 0.6 * piece.size * len(piece.text.rstrip())
    total = 0.0
    for c in piece.text.rstrip():
        total += _WIDTHS.get(c) or (0.46 if c.islower() else 1.0 if c > "\u2e7f" else 0.52 if c.isdigit() else 0.66)
    return total * piece.size
