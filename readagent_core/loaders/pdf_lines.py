"""A PDF page to lines of text with their place and size; pypdf gives the pieces, this puts them on lines.

Coordinates are points, y upward, turned so that text runs left to right on pages that are set sideways.
Widths are estimated from the letters, which is enough to tell columns, short lines and gaps.
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
# characters that stand for a hyphen at the end of a line: soft hyphen, and what broken fonts make of it
SOFT = "\u00ad\ufffe\x02"
_SHAPED = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
_SPACES = re.compile(r"[ \t\r\f\v]+")
_NARROW = dict.fromkeys("iljtfI.,;:'’‘|!()[]-r ", 0.29)
_WIDE = dict.fromkeys("mwMW—", 0.78)
_WIDTHS = _NARROW | _WIDE
_GAP = 1.6  # of the size: a wider gap parts columns or cells
_UNSURE = 0.1  # of a piece's width, by which its estimate may be wrong
_BOLD = re.compile(r"bold|black|heavy|-medi|demi|cmbx|\bbx", re.IGNORECASE)
# an accent drawn on its own before the letter it belongs to, as TeX's old fonts do
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}]) ?([A-Za-zı])")


@dataclass(frozen=True)
class Line:
    """``x``–``end``: from where to where (estimated); ``y``: its baseline. ``number``: source page, from 0."""

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


def page_lines(page: PageObject, number: int) -> list[Line]:
    """The lines of ``page`` in the order the file draws them."""
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
            held.append(_turned(piece, turned))
        elif held:
            lines += _parted(held, number)
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


def _turned(piece: _Piece, turned: int) -> _Piece:
    if turned == 1:
        return replace(piece, x=piece.y, y=-piece.x)
    return replace(piece, x=-piece.y, y=piece.x) if turned == 3 else piece


def _parted(pieces: list[_Piece], number: int) -> list[Line]:
    """One drawn line, parted where a gap is too wide for a space, or where it jumps back or to another height."""
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
        text = _composed(_SPACES.sub(" ", "".join(p.text for p in group)).strip())
        if text:
            main = max(group, key=lambda p: (len(p.text.strip()), p.size))
            bold = all(_BOLD.search(p.font) for p in group if p.text.strip())
            last = max(p.x + width(p) for p in group)
            lines.append(Line(text, group[0].x, last, main.y, main.size, bold, number))
    return lines


def _composed(text: str) -> str:
    """Accents put onto their letters; Arabic letters in the shapes of their places as the letters they are."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2).replace("ı", "i") + _ACCENTS[m.group(1)]), text
    )
    return _SHAPED.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)


def width(piece: _Piece) -> float:
    """The width of a piece, estimated from its letters."""
    font = piece.font.lower()
    if "cour" in font or "mono" in font or "cmtt" in font:
        return 0.6 * piece.size * len(piece.text.rstrip())
    total = 0.0
    for c in piece.text.rstrip():
        total += _WIDTHS.get(c) or (0.46 if c.islower() else 1.0 if c > "\u2e7f" else 0.52 if c.isdigit() else 0.66)
    return total * piece.size
