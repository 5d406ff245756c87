"""Reads the lines of a PDF page with their place, size and weight, in the order in which the file draws them.

Coordinates are in points, y upwards, rotated so that text runs from left to right on sideways pages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import hypot

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

_COMPATIBLE = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\u00a0]+")  # ligatures, Arabic presentation forms
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]{2,}")
# the words of Arabic and Hebrew presentation forms, which PDFium writes in logical order
_FORMS = {
    word
    for code in (*range(0xFB1D, 0xFE00), *range(0xFE70, 0xFEFD))
    for word in unicodedata.normalize("NFKC", chr(code)).split()
}
_NO_BYTE = re.compile("[\u0100-\uffff]")
_UNMAPPED = "\0"  # in place of a character that the font does not map to Unicode
_SPACES = re.compile(r"[ \t\f\v\u200b]+")
# PDFium writes U+FFFE for a hyphen at the end of a line, and no line break after it
_LINE = re.compile("[^\r\n\ufffe]+\ufffe?")
_BOLD = re.compile(rb"bold|black|heavy|-medi|demi|cmbx|\bbx", re.IGNORECASE)
_SAMPLES = 20  # characters that show how a page is turned
_FONT_NAME = 128  # bytes
GAP = 1.1  # of the size; a wider gap separates columns or cells
_SPACED = 0.6  # of the size; characters that are wider on average may have wide gaps between them
_TOUCHING = 0.15  # of the size; a narrower gap is no space
_RAISED = 0.6  # of the size; the most by which an index is raised or lowered
_INDEX = 0.85  # of the size; the largest index
_LARGEST, _UNKNOWN = 500.0, 10.0  # points
# an accent before its letter as a character of its own, as in TeX's old fonts
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}]) ?([A-Za-zı])")


@dataclass(frozen=True)
class Line:
    """``x``, ``end``: left and right edge. ``y``: baseline. ``number``: source page, from 0."""

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


def read_lines(page: PdfPage, number: int) -> list[Line]:
    """Returns the lines of ``page`` without the text outside its crop box."""
    textpage = page.get_textpage()
    reader = _PageReader(textpage, page.get_cropbox(), number)
    lines = [line for found in _LINE.finditer(reader.text) for line in reader.read(*found.span())]
    textpage.close()
    return _join_indices(lines)


class _PageReader:
    """Reads lines from a page of PDFium. Positions are places in ``text``."""

    def __init__(self, textpage: PdfTextPage, crop: tuple[float, float, float, float], number: int) -> None:
        self.textpage, self.crop, self.number = textpage, crop, number
        self.text = textpage.get_text_range()
        self.text = _NO_BYTE.sub(self._without_unmapped, self.text)
        self.text = _RIGHT_TO_LEFT.sub(self._in_logical_order, self.text)
        step = len(self.text) // _SAMPLES + 1
        turns = Counter(self._turn(i) for i in range(0, len(self.text), step) if not self.text[i].isspace())
        self.turn = turns.most_common(1)[0][0] if turns else 0

    def _without_unmapped(self, found: re.Match[str]) -> str:
        """Returns the character, or _UNMAPPED where it is only the number of a glyph."""
        unmapped = pdfium.FPDFText_HasUnicodeMapError(self.textpage, self._index(found.start())) == 1
        return _UNMAPPED if unmapped else found.group()

    def _in_logical_order(self, found: re.Match[str]) -> str:
        """Returns right-to-left text in logical order: PDFium reverses the letters that a font maps one glyph to."""
        glyphs = groupby(range(*found.span()), lambda i: self._origin(self._index(i)))
        texts = ("".join(self.text[i] for i in places) for _, places in glyphs)
        return "".join(text if text in _FORMS else text[::-1] for text in texts)

    def read(self, start: int, stop: int) -> Iterator[Line]:
        """Yields the line between two positions, in parts where it has a wide gap."""
        start += len(self.text[start:stop]) - len(self.text[start:stop].lstrip())
        stop = start + len(self.text[start:stop].rstrip())
        first, middle, last = (self._index(i) for i in (start, (start + stop) // 2, stop - 1))
        rects = range(self.textpage.count_rects(first, last - first + 1)) if start < stop and first >= 0 else ()
        edges = sorted(self._edges(self.textpage.get_rect(i)) for i in rects)
        x, y = self._origin(middle)
        if not edges or not self._is_visible(x, y):
            return
        matrix = self._matrix(middle)
        size = pdfium.FPDFText_GetFontSize(self.textpage, middle) * hypot(matrix.c, matrix.d)
        size = min(size, _LARGEST) or _UNKNOWN
        wide = max(end for _, end in edges) - edges[0][0] > _SPACED * size * (stop - start)
        if wide or any(after[0] - before[1] > GAP * size for before, after in pairwise(edges)):
            cuts = self._find_gaps(start, stop, GAP * size)
            if cuts:
                for part in pairwise([start, *cuts, stop]):
                    yield from self.read(*part)
                return
        text = _clean(self.text[start:stop])
        if text:
            # the ink of a bracket or full stop is narrower than its place in the line
            edges += [self._edges(self.textpage.get_charbox(i, loose=True)) for i in (first, last)]
            left, end = min(edge[0] for edge in edges), max(edge[1] for edge in edges)
            bold = all(self._is_bold(i) for i in (first, middle, last))
            yield Line(text, left, end, _turn_back(x, y, self.turn)[1], size, bold, self.number)

    def _is_visible(self, x: float, y: float) -> bool:
        left, bottom, right, top = self.crop
        return left <= x <= right and bottom <= y <= top

    def _find_gaps(self, start: int, stop: int, gap: float) -> list[int]:
        """Returns the positions of the characters that follow a gap wider than ``gap``."""
        found: list[int] = []
        end: float | None = None
        for i in range(start, stop):
            if not self.text[i].isspace():
                left, right = self._edges(self.textpage.get_charbox(self._index(i)))
                if end is not None and left - end > gap:
                    found.append(i)
                end = right
        return found

    def _index(self, position: int) -> int:
        """Returns PDFium's index of the character at ``position`` of the text."""
        return int(pdfium.FPDFText_GetCharIndexFromTextIndex(self.textpage, position))

    def _origin(self, index: int) -> tuple[float, float]:
        x, y = c_double(), c_double()
        pdfium.FPDFText_GetCharOrigin(self.textpage, index, x, y)
        return x.value, y.value

    def _matrix(self, index: int) -> pdfium.FS_MATRIX:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self.textpage, index, matrix)
        return matrix

    def _turn(self, position: int) -> int:
        """Returns the quarter turns of the writing direction."""
        matrix = self._matrix(self._index(position))
        if abs(matrix.a) >= abs(matrix.b):
            return 0 if matrix.a >= 0 else 2
        return 1 if matrix.b > 0 else 3

    def _edges(self, box: tuple[float, float, float, float]) -> tuple[float, float]:
        """Returns the left and right edge of a box in the direction of the text."""
        one, other = _turn_back(*box[:2], self.turn)[0], _turn_back(*box[2:], self.turn)[0]
        return min(one, other), max(one, other)

    def _is_bold(self, index: int) -> bool:
        buffer = create_string_buffer(_FONT_NAME)
        pdfium.FPDFText_GetFontInfo(self.textpage, index, buffer, _FONT_NAME, c_int())
        return bool(_BOLD.search(buffer.value))


def _turn_back(x: float, y: float, turn: int) -> tuple[float, float]:
    """Returns a place after the page is rotated so that its text runs from left to right."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _clean(text: str) -> str:
    """Returns ``text`` with accents on their letters, without ligatures and Arabic presentation forms."""
    text = _SPACES.sub(" ", text.replace(_UNMAPPED, "")).strip()
    if text.isascii():
        return text
    text = text.replace("\ufffe", "-")
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)
    return _ACCENTED.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2).replace("ı", "i") + _ACCENTS[m.group(1)]), text
    )


def _join_indices(lines: Iterable[Line]) -> list[Line]:
    """Returns the lines with raised and lowered indices in them: PDFium breaks a line after such an index."""
    joined: list[Line] = []
    for line in lines:
        if joined and _is_continued(joined[-1], line):
            last = joined.pop()
            main = max((last, line), key=lambda each: (each.size, len(each.text)))
            space = " " if line.x - last.end > _TOUCHING * main.size else ""
            line = replace(main, text=f"{last.text}{space}{line.text}", x=last.x, end=max(last.end, line.end))
        joined.append(line)
    return joined


def _is_continued(last: Line, line: Line) -> bool:
    """Returns whether ``line`` is an index of ``last``, or what follows on its baseline."""
    size = max(last.size, line.size)
    level = abs(last.y - line.y) < (_RAISED if min(last.size, line.size) < _INDEX * size else 0.1) * size
    return level and -0.5 * size < line.x - last.end < 0.5 * size
