"""What PDFium says of the characters of a PDF page: their place, size, turn and font."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from ctypes import c_double, c_int, create_string_buffer
from functools import partial
from itertools import pairwise
from math import hypot, pi

import pypdfium2.raw as pdfium
from pypdfium2 import PdfTextPage

from readagent_core.loaders.pdf.lines import UNKNOWN

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")  # two characters to PDFium, as are the letters of Word's formulas
_FONT_NAME = 128  # bytes
_SMALLEST, _LARGEST = 1.5, 500.0  # points


class Glyphs:
    """The characters of a page, each by its position in ``text``.

    ``turn``: the quarter turns of the line that is looked at; edges are measured along it."""

    def __init__(self, textpage: PdfTextPage, text: str, *, plain: bool) -> None:
        """``plain``: that no character of ``text`` is astral."""
        self.turn = 0
        self._raw, self._scale = textpage.raw, 1.0
        # PDFium writes its results into these
        self._values = [c_double() for _ in range(4)]
        self._matrix, self._box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
        self._font, self._flags = create_string_buffer(_FONT_NAME), c_int()
        self._astral = [] if plain else [found.start() for found in _ASTRAL.finditer(text)]
        same = len(text) + len(self._astral) == textpage.count_chars()
        self._find_index = None if same else partial(pdfium.FPDFText_GetCharIndexFromTextIndex, self._raw)

    def _index(self, position: int) -> int:
        """Returns PDFium's index of the character at ``position`` of the text."""
        if self._astral:
            position += bisect_left(self._astral, position)
        return position if self._find_index is None else self._find_index(position)

    def angle(self, position: int) -> float:
        """Returns by how many quarter turns a character is turned."""
        angle: float = pdfium.FPDFText_GetCharAngle(self._raw, self._index(position))
        return angle / (pi / 2)

    def turn_at(self, position: int, angle: float) -> int:
        """Returns the quarter turns of the writing direction. A negative size turns a letter by two."""
        turned: int = 2 * (pdfium.FPDFText_GetFontSize(self._raw, self._index(position)) < 0)
        return (turned - round(angle)) % 4

    def is_upright(self, position: int) -> bool:
        """Returns whether a character is neither turned nor aslant."""
        pdfium.FPDFText_GetMatrix(self._raw, self._index(position), self._matrix)
        return bool(self._matrix.c == 0)

    def is_generated(self, position: int) -> bool:
        """Returns whether PDFium saw a gap where the file has no character."""
        return bool(pdfium.FPDFText_IsGenerated(self._raw, self._index(position)) == 1)

    def is_unmapped(self, position: int) -> bool:
        """Returns whether the file does not say which letter a glyph shows."""
        return bool(pdfium.FPDFText_HasUnicodeMapError(self._raw, self._index(position)) == 1)

    def is_unknown(self, position: int) -> bool:
        """Returns whether PDFium has no letter for a glyph."""
        return bool(pdfium.FPDFText_GetUnicode(self._raw, self._index(position)) == 0)

    def origin(self, position: int) -> tuple[float, float]:
        """Returns where a character stands on its baseline, in points from the left and from the foot."""
        x, y = self._values[:2]
        pdfium.FPDFText_GetCharOrigin(self._raw, self._index(position), x, y)
        return x.value, y.value

    def size(self, position: int) -> float:
        """Returns the size of a character in points."""
        index = self._index(position)
        pdfium.FPDFText_GetMatrix(self._raw, index, self._matrix)
        size = abs(pdfium.FPDFText_GetFontSize(self._raw, index)) * hypot(self._matrix.c, self._matrix.d)
        return min(size if size >= _SMALLEST else size * self._scale, _LARGEST) or UNKNOWN

    def find_scale(self, samples: Sequence[int]) -> None:
        """Finds how many times as high as their size says the characters at ``samples`` are, where that is too small
        to be seen: some fonts draw letters of a hundred units at a size of 0.1."""
        if min(map(self.size, samples[::5]), default=UNKNOWN) >= _SMALLEST:
            return
        box = pdfium.FS_RECTF()
        measured: list[tuple[float, float]] = []
        for position in samples:
            if (size := self.size(position)) < _SMALLEST:
                pdfium.FPDFText_GetLooseCharBox(self._raw, self._index(position), box)
                measured.append((abs(box.top - box.bottom) / size, abs(box.right - box.left) / size))
        heights, widths = zip(*measured, strict=True) if measured else ((0.0,), (0.0,))
        # letters are about half as wide as high: the box of some such fonts is too low
        self._scale = max(max(heights), 2 * sum(widths) / len(widths)) or 1.0

    def place(self, position: int) -> tuple[float, float]:
        """Returns the left and right edge of the place of a character in its line."""
        box = self._box
        pdfium.FPDFText_GetLooseCharBox(self._raw, self._index(position), box)
        return self._edges(box.left, box.bottom, box.right, box.top) if self.turn else (box.left, box.right)

    def gaps(self, positions: Sequence[int]) -> list[float]:
        """Returns the gaps between characters that follow one another."""
        places = [self.place(position) for position in positions]
        return [after[0] - before[1] for before, after in pairwise(places)]

    def count_parts(self, start: int, stop: int) -> int:
        """Returns in how many parts PDFium sees the line between two positions."""
        first = self._index(start)
        count: int = pdfium.FPDFText_CountRects(self._raw, first, self._index(stop - 1) - first + 1)
        return count

    def part(self, number: int) -> tuple[float, float]:
        """Returns the left and right edge of a part of the line whose parts were counted last."""
        left, top, right, bottom = self._values
        pdfium.FPDFText_GetRect(self._raw, number, left, top, right, bottom)
        return self._edges(left.value, bottom.value, right.value, top.value)

    def _edges(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float]:
        """Returns the left and right edge of a box in the direction of the text."""
        if not self.turn:
            return left, right
        return ((left, right), (bottom, top), (-right, -left), (-top, -bottom))[self.turn]

    def font(self, position: int) -> bytes:
        """Returns the name of the font of a character."""
        pdfium.FPDFText_GetFontInfo(self._raw, self._index(position), self._font, _FONT_NAME, self._flags)
        return self._font.value
