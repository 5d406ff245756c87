"""Reads the lines of a PDF page with their place, size and weight, in the order in which the file draws them.

Coordinates are in points, y upwards, rotated so that text runs from left to right on sideways pages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import hypot

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from readagent_core.loaders.pdf.characters import (
    UNMAPPED,
    is_readable,
    is_tex_page,
    join_signs,
    replace_raised,
    tex_character,
)

_COMPATIBLE = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\u00a0]+")  # ligatures, Arabic presentation forms
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]{2,}")
# the words of Arabic and Hebrew presentation forms, which PDFium writes in logical order
_FORMS = {
    word
    for code in (*range(0xFB1D, 0xFE00), *range(0xFE70, 0xFEFD))
    for word in unicodedata.normalize("NFKC", chr(code)).split()
}
# what may be the number of a glyph: no byte, or a control character that is no line break of PDFium
_SUSPECT = re.compile("[\u0100-\uffff]|[\0-\t\x0b\x0c\x0e-\x1f]|\r(?!\n)|(?<!\r)\n")
_ANY = re.compile("[^ \r\n]|\r(?!\n)|(?<!\r)\n")
_SPACES = re.compile(r"[ \t\f\v\u200b]+")
# PDFium writes U+FFFE for a hyphen at the end of a line, and no line break after it
_LINE = re.compile("[^\r\n\ufffe]+\ufffe?")
_BOLD = re.compile(rb"bold|black|heavy|-medi|demi|cmbx|\bbx", re.IGNORECASE)
_DIGIT = re.compile(r"[\d*†‡]")
_LETTER = re.compile(r"[^\W\d_]")
_SMALL_NUMBER = re.compile(r"[-−]?\d{1,3}(?:[,–-]\d{1,3}){0,3}(?!\d)|[*†‡]")  # an exponent or the mark of a note
_MARGIN_NUMBER = re.compile(r"\d{1,4}(?=[ \t])|(?<=[ \t])\d{1,4}$")
_SAMPLES = 12  # characters that show how a page is turned, and whether it can be read
_FONT_NAME = 128  # bytes
GAP = 1.1  # of the size; a wider gap separates columns or cells
_MARGIN_GAP = 0.5  # of the size; a number at the edge of a line that is farther from the text stands apart
_SPACED = 0.6  # of the size; characters that are wider on average may have wide gaps between them
_TOUCHING = 0.15  # of the size; a narrower gap is no space
_RAISED = 0.6  # of the size; the most by which an index is raised or lowered
_SUPERSCRIPT = 0.15  # of the size; the least by which a superscript is raised
_INDEX = 0.85  # of the size; the largest index
_LARGEST, _UNKNOWN = 500.0, 10.0  # points
# an accent before its letter as a character of its own, as in TeX's old fonts
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}]) ?([A-Za-zı])")


@dataclass(frozen=True, slots=True)
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


def read_lines(page: PdfPage, number: int) -> tuple[list[Line], bool]:
    """Returns the lines of ``page`` without the text outside its crop box, and whether its fonts can be read."""
    textpage = page.get_textpage()
    reader = _PageReader(textpage, page.get_cropbox(), number)
    for found in _LINE.finditer(reader.text):
        reader.read(*found.span())
    textpage.close()
    return _join_indices(reader.lines), reader.readable


class _PageReader:
    """Reads lines from a page of PDFium. Positions are places in ``text``."""

    def __init__(self, textpage: PdfTextPage, crop: tuple[float, float, float, float], number: int) -> None:
        self.raw, self.crop, self.number = textpage.raw, crop, number
        self.lines: list[Line] = []
        # PDFium writes its results into these
        self._x, self._y, self._left, self._right = c_double(), c_double(), c_double(), c_double()
        self._matrix, self._box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
        self._font, self._flags = create_string_buffer(_FONT_NAME), c_int()
        self.text = textpage.get_text_range()
        self._same_index = len(self.text) == textpage.count_chars()
        step = len(self.text) // _SAMPLES + 1
        samples = [i for i in range(0, len(self.text), step) if not self.text[i].isspace()]
        turns = Counter(map(self._turn, samples))
        self.turn = turns.most_common(1)[0][0] if turns else 0
        self.readable = is_readable(self.text, sum(map(self._is_unmapped, samples)), len(samples))
        tex = is_tex_page(self.text)
        if tex or not self.text.isascii():
            self.text = (_ANY if tex else _SUSPECT).sub(self._mapped, self.text)
            self.text = _RIGHT_TO_LEFT.sub(self._in_logical_order, self.text)

    def _is_unmapped(self, position: int) -> bool:
        return bool(pdfium.FPDFText_HasUnicodeMapError(self.raw, self._index(position)) == 1)

    def _mapped(self, found: re.Match[str]) -> str:
        """Returns the character. Where it is only the number of a glyph, fonts of TeX say which, others may not."""
        character = found.group()
        if character != UNMAPPED and not self._is_unmapped(found.start()):  # PDFium has no error for glyph 0
            return character
        known = tex_character(character, self._font_name(self._index(found.start())))
        return character if known == UNMAPPED and not _SUSPECT.match(character) else known

    def _in_logical_order(self, found: re.Match[str]) -> str:
        """Returns right-to-left text in logical order: PDFium reverses the letters that a font maps one glyph to."""
        glyphs = groupby(range(*found.span()), lambda i: self._origin(self._index(i)))
        texts = ("".join(self.text[i] for i in places) for _, places in glyphs)
        return "".join(text if text in _FORMS else text[::-1] for text in texts)

    def read(self, start: int, stop: int) -> None:
        """Adds the line between two positions, in parts where it has a wide gap."""
        text = self.text[start:stop].rstrip()
        stop = start + len(text)
        start += len(text) - len(text.lstrip())
        if start >= stop:
            return
        half = (start + stop) // 2
        if not self.text[half].isalpha():  # a letter is on the baseline
            letter = _LETTER.search(self.text, half, stop) or _LETTER.search(self.text, start, half)
            half = letter.start() if letter else half
        first, middle, last = self._index(start), self._index(half), self._index(stop - 1)
        rects = pdfium.FPDFText_CountRects(self.raw, first, last - first + 1) if first >= 0 else 0
        x, y = self._origin(middle)
        if rects < 1 or not self._is_visible(x, y):
            return
        size = self._size(middle)
        # the ink of a bracket or full stop is narrower than its place in the line
        edges = [self._place(first), self._place(last)]
        if rects > 1:
            edges += sorted(map(self._rect, range(rects)))
        left, end = min(edges)[0], max(edge[1] for edge in edges)
        wide = end - left > _SPACED * size * (stop - start)
        cuts: list[int] = []
        if wide or (rects > 1 and any(after[0] - before[1] > GAP * size for before, after in pairwise(edges[2:]))):
            cuts = self._find_gaps(start, stop, GAP * size)
        if not cuts and (self.text[start].isdigit() or self.text[stop - 1].isdigit()):
            cuts = self._find_number(start, stop, _MARGIN_GAP * size)
        if cuts:
            for part in pairwise([start, *cuts, stop]):
                self.read(*part)
            return
        y = _turn_back(x, y, self.turn)[1] if self.turn else y
        text = _clean(self._with_superscripts(start, stop, y, size))
        if text:
            bold = all(_BOLD.search(self._font_name(i)) for i in (middle, first, last))
            self.lines.append(Line(text, left, end, y, size, bold, self.number))

    def _is_visible(self, x: float, y: float) -> bool:
        left, bottom, right, top = self.crop
        return left <= x <= right and bottom <= y <= top

    def _find_number(self, start: int, stop: int, gap: float) -> list[int]:
        """Returns where a line is cut between its text and a number at its edge, which may count the lines."""
        found = _MARGIN_NUMBER.search(self.text, start, stop)
        if not found or (start != found.start() and stop != found.end()):
            return []
        return self._find_gaps(max(start, found.start() - 2), min(stop, found.end() + 2), gap)

    def _find_gaps(self, start: int, stop: int, gap: float) -> list[int]:
        """Returns the positions of the characters that follow a gap wider than ``gap``."""
        found: list[int] = []
        end: float | None = None
        for i in range(start, stop):
            if not self.text[i].isspace():
                left, right = self._ink(self._index(i))
                if end is not None and left - end > gap:
                    found.append(i)
                end = right
        return found

    def _with_superscripts(self, start: int, stop: int, y: float, size: float) -> str:
        """Returns the text of a line with exponents as raised digits, and without the marks of notes."""
        text: str = self.text[start:stop]
        if not _DIGIT.search(text):
            return text
        parts: list[str] = []
        done = 0
        for found in _SMALL_NUMBER.finditer(text):
            at = end = found.end()
            while at > found.start() and self._is_raised(self._index(start + at - 1), y, size):
                at -= 1
            if 0 < at < end:
                after = self.text[start + end : start + end + 3].lstrip("\r\n")  # a raised digit may end PDFium's line
                parts += [text[done:at], replace_raised(text[:at], text[at:end], after[:1])]
                done = end
        return "".join([*parts, text[done:]]).strip()

    def _is_raised(self, index: int, y: float, size: float) -> bool:
        raised = _turn_back(*self._origin(index), self.turn)[1] - y
        return raised > _SUPERSCRIPT * size and self._size(index) < _INDEX * size

    def _index(self, position: int) -> int:
        """Returns PDFium's index of the character at ``position`` of the text."""
        return position if self._same_index else pdfium.FPDFText_GetCharIndexFromTextIndex(self.raw, position)

    def _origin(self, index: int) -> tuple[float, float]:
        pdfium.FPDFText_GetCharOrigin(self.raw, index, self._x, self._y)
        return self._x.value, self._y.value

    def _size(self, index: int) -> float:
        """Returns the size of a character in points."""
        pdfium.FPDFText_GetMatrix(self.raw, index, self._matrix)
        size = pdfium.FPDFText_GetFontSize(self.raw, index) * hypot(self._matrix.c, self._matrix.d)
        return min(size, _LARGEST) or _UNKNOWN

    def _turn(self, position: int) -> int:
        """Returns the quarter turns of the writing direction."""
        pdfium.FPDFText_GetMatrix(self.raw, self._index(position), self._matrix)
        if abs(self._matrix.a) >= abs(self._matrix.b):
            return 0 if self._matrix.a >= 0 else 2
        return 1 if self._matrix.b > 0 else 3

    def _place(self, index: int) -> tuple[float, float]:
        """Returns the left and right edge of the place of a character in its line."""
        box = self._box
        pdfium.FPDFText_GetLooseCharBox(self.raw, index, box)
        return self._edges(box.left, box.bottom, box.right, box.top)

    def _ink(self, index: int) -> tuple[float, float]:
        """Returns the left and right edge of the ink of a character."""
        pdfium.FPDFText_GetCharBox(self.raw, index, self._left, self._right, self._y, self._x)
        return self._edges(self._left.value, self._y.value, self._right.value, self._x.value)

    def _rect(self, number: int) -> tuple[float, float]:
        """Returns the left and right edge of a part of the line that was measured last."""
        pdfium.FPDFText_GetRect(self.raw, number, self._left, self._y, self._right, self._x)
        return self._edges(self._left.value, self._x.value, self._right.value, self._y.value)

    def _edges(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float]:
        """Returns the left and right edge of a box in the direction of the text."""
        if self.turn == 0:
            return left, right
        one, other = _turn_back(left, bottom, self.turn)[0], _turn_back(right, top, self.turn)[0]
        return min(one, other), max(one, other)

    def _font_name(self, index: int) -> bytes:
        pdfium.FPDFText_GetFontInfo(self.raw, index, self._font, _FONT_NAME, self._flags)
        return self._font.value


def _turn_back(x: float, y: float, turn: int) -> tuple[float, float]:
    """Returns a place after the page is rotated so that its text runs from left to right."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _clean(text: str) -> str:
    """Returns ``text`` with accents on their letters, without ligatures and Arabic presentation forms."""
    if "  " in text or not text.isprintable():
        text = _SPACES.sub(" ", text.replace(UNMAPPED, "")).strip()
    if text.isascii():
        return text
    text = join_signs(text.replace("\ufffe", "-"))
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)
    return _ACCENTED.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2).replace("ı", "i") + _ACCENTS[m.group(1)]), text
    )


def _join_indices(lines: Sequence[Line]) -> list[Line]:
    """Returns the lines with raised and lowered indices in them: PDFium breaks a line after such an index."""
    joined: list[Line] = []
    for i, line in enumerate(lines):
        if joined and _is_continued(joined[-1], line):
            last = joined.pop()
            main = max((last, line), key=lambda each: (each.size, len(each.text)))
            text = line.text
            raised = line.y - last.y > _SUPERSCRIPT * last.size and line.size < _INDEX * last.size
            if raised and _SMALL_NUMBER.fullmatch(text):
                text = replace_raised(last.text, text, "".join(each.text for each in lines[i + 1 : i + 2]))
            space = " " if text and line.x - last.end > _TOUCHING * main.size and last.text[-1:] != " " else ""
            line = replace(main, text=f"{last.text}{space}{text}".strip(), x=last.x, end=max(last.end, line.end))
        joined.append(line)
    return joined


def _is_continued(last: Line, line: Line) -> bool:
    """Returns whether ``line`` is an index of ``last``, or what follows on its baseline."""
    size = max(last.size, line.size)
    level = abs(last.y - line.y) < (_RAISED if min(last.size, line.size) < _INDEX * size else 0.1) * size
    return level and -0.5 * size < line.x - last.end < 0.5 * size
