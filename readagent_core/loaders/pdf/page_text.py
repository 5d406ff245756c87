"""Reads the lines of a PDF page with their place, size and weight, in the order in which the file draws them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, groupby, pairwise
from math import hypot, inf, pi
from statistics import median

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from readagent_core.loaders.pdf import characters
from readagent_core.loaders.pdf.lines import GUTTER, INDEX, SAME, TOUCHING, UNKNOWN, Line

# all but ASCII, Latin letters, dashes and quotation marks: most lines have nothing to be cleaned
_UNUSUAL = re.compile("[^ -~\u00a1-\u00a7\u00a9-\u00b3\u00b5-\u00b7\u00b9-\u02c5\u2010-\u2026]")
_COMPATIBLE = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\u00a0]+")  # ligatures, Arabic presentation forms
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff][\u0590-\u08ff]+")  # found sooner than {2,}
_LEFT = "[A-Za-z0-9À-ɏͰ-ԯ\u0660-\u0669\u06f0-\u06f9]"  # letters and digits that run from left to right
_LEFT_TO_RIGHT = re.compile(f"[%$€£₪]*{_LEFT}(?:[^\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff]*{_LEFT})?[%$€£₪]*")
# numbers as Unicode's bidirectional algorithm sets them from left to right after Hebrew, and after Arabic letters
_NUMBER, _ARABIC_NUMBER = re.compile(r"[%$€£₪]*\d+(?:[.,:/+-]\d+)*[%$€£₪]*"), re.compile(r"\d+(?:[.,:/٫٬]\d+)*")
_ARABIC, _POINTS = re.compile("[\u0620-\u064a]"), re.compile("[\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f]")
# the words of Arabic and Hebrew presentation forms, which PDFium writes in logical order
_FORMS = {word for code in range(0xFB1D, 0xFEFD) for word in unicodedata.normalize("NFKC", chr(code)).split()}
_BREAK = "\u2028"  # between lines, so that a line feed or carriage return can only be the number of a glyph
# what may be the number of a glyph: no byte, dash or quotation mark, but a control character
_SUSPECT = re.compile("[\u0100-\u200f\u2027\u2029-\ufffd\uffff\0-\x1f\x7f-\x9f]")
# what is neither that, nor to be cleaned, and no accent; a page without it takes the short way
_UNPLAIN = re.compile(
    "[^\u2028\ufffe -~\u00a1-\u00a7\u00a9-\u00ac\u00ae-\u00b3\u00b5-\u00b7\u00b9-\u00ff\u2010-\u2026]"
)
# what some fonts call their ligatures, and how many such words show that it is no number sign
_SIGN_IN_WORD, _FEWEST_SIGNS = re.compile(r"(?<![^\s(“\"])[A-Za-z]?[a-z]+#[a-z]+(?![^\s.,;:)”\"])"), 3
_ANY = re.compile(f"[^ {_BREAK}]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")  # two characters to PDFium, as are the letters of Word's formulas
_SPACES = re.compile(r"[\s\u200b]+")
_BOLD = re.compile(rb"bold|black|heavy|-medi|demi|cmbx|\bbx", re.IGNORECASE)
_SOFT_HYPHENS = re.compile("\ufffe"), re.compile("\u00ad")
_MONO = re.compile(
    rb"courier|mono(?!type)|nimbusmon|consol|menlo|typewriter|(?:cm|sf|lm|tx)(?:sl)?tt|code|fixed", re.IGNORECASE
)
_DIGIT, _PLAIN_DIGIT = re.compile(r"[\d*†‡]"), re.compile("[0-9*†‡]")  # the latter: of a plain page, found sooner
_LETTER = re.compile(r"[^\W\d_]")
_IDEOGRAPHIC = "\u2e80"  # the first of the Chinese and Japanese characters
_SAMPLES, _FEWEST_SAMPLES = 12, 10  # characters that show how a page is turned, and whether it can be read
_FONT_NAME = 128  # bytes
_NUMBER_GAP = 0.4  # of the size; a wider gap separates a number at the edge of a line
_THIN = 0.3  # of the size; characters that are narrower on average may be turned
_SPACED = 0.6  # of the size; characters that are wider on average may have wide gaps between them
_ASLANT = 0.1  # quarter turns
_SMALLEST, _LARGEST = 1.5, 500.0  # points
# an accent before its letter as a character of its own, as in TeX's old fonts
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
_ACCENTED = re.compile(f"([{''.join(_ACCENTS)}]) ?([A-Za-zı])")
_ACCENT_AFTER = re.compile(f"[A-Za-zı][{''.join(_ACCENTS)}]")
# words that may be several, and by how much their gaps are wider than those between letters, in sizes
_LONG = re.compile("[a-zß-öø-ÿ]{12,}|[а-яё]{16,}")
_SMALL = bytes(chr(code).islower() * ord("a") or ord(" ") for code in range(256))  # by which a page is soon searched
_LONGER = re.compile("[a-zß-öø-ÿ]{18}|[а-яё]{24}")
_UNSPACED = re.compile("[.,;][A-ZА-Яa-zа-я][a-zа-я]")
_LONG_WORD_GAP, _WORD_GAP = 0.08, 0.16
# letters set apart, as in titles, between which PDFium writes spaces; how much wider the gaps between words are
_APART = re.compile(r" [^\W\d_] [^\W\d_] ")
_SPACED_OUT, _WIDER = re.compile(r"(?:(?<!\S)[^\W\d_] ){3}"), 0.15
_BEFORE_SPACE, _AFTER_SPACE = re.compile(r"[\w.,;:!?)’”»%]"), re.compile(r"[\w(‘“«]")


@dataclass(frozen=True)
class PageText:
    """The lines of a page in the order of the file. ``mapped``: whether its fonts say which letters they show."""

    lines: list[Line]
    mapped: bool = True
    vertical: bool = False


def read_lines(page: PdfPage, number: int) -> PageText:
    """Returns the lines of ``page``. The text outside its crop box is left out."""
    textpage = page.get_textpage()
    reader = _PageReader(textpage, page.get_bbox(), number)
    if reader.vertical:
        reader.read_vertical()
    # PDFium writes U+FFFE for a hyphen at the end of a line, and no line break after it
    start = 0
    for text in reader.text.replace("\ufffe", f"\ufffe{_BREAK}").split(_BREAK) if not reader.vertical else ():
        if text and text != "\ufffe":
            reader.read(start, start + len(text))
        start += len(text) + (text[-1:] != "\ufffe")
    textpage.close()
    return PageText(reader.lines, reader.mapped, reader.vertical)


class _PageReader:
    """Reads lines from a page of PDFium. Positions are places in ``text``."""

    def __init__(self, textpage: PdfTextPage, crop: tuple[float, float, float, float], number: int) -> None:
        self.raw, self.crop, self.number = textpage.raw, crop, number
        self.lines: list[Line] = []
        # PDFium writes its results into these
        self._values = [c_double() for _ in range(4)]
        self._matrix, self._box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
        self._font, self._flags = create_string_buffer(_FONT_NAME), c_int()
        self.text: str = textpage.get_text_range().replace("\r\n", 2 * _BREAK)
        self._plain = not _UNPLAIN.search(self.text)
        self._astral = [] if self._plain else [found.start() for found in _ASTRAL.finditer(self.text)]
        same = len(self.text) + len(self._astral) == textpage.count_chars()
        self._find_index = None if same else partial(pdfium.FPDFText_GetCharIndexFromTextIndex, self.raw)
        self._right_to_left = False
        self._word_gap = inf  # of a page whose words are not glued
        samples = [i for i in range(0, len(self.text), len(self.text) // _SAMPLES + 1) if not self.text[i].isspace()]
        angles = [self._angle(i) for i in samples]
        turns = Counter(map(self._turn_at, samples, angles))
        self.usual = self.turn = max(turns, key=lambda turn: turns[turn], default=0)
        self._aslant = sum(map(_is_aslant, angles)) * 2 > len(samples)
        self._scale = 1.0
        if min(map(self._size, map(self._index, samples[::5])), default=UNKNOWN) < _SMALLEST:
            self._scale = self._true_scale(samples)
        self.vertical = sum(map(self._is_above_next, samples)) * 2 > len(samples)
        unmapped = sum(self._is_unmapped(i) or bool(characters.PRIVATE.match(self.text[i])) for i in samples)
        self.mapped = 2 * unmapped <= max(_FEWEST_SAMPLES, len(samples))
        small = self.text.encode("latin-1", "replace").translate(_SMALL) if self._plain else b""
        long = _LONG.finditer(self.text) if not self._plain or 12 * b"a" in small else ()
        for found in chain(long, _UNSPACED.finditer(self.text)):
            gap = _LONG_WORD_GAP if _LONGER.match(found.group()) else _WORD_GAP
            if gap < self._word_gap and " " in self._with_spaces(*found.span(), gap):
                self._word_gap = gap
        self._is_apart = bool(_APART.search(self.text))
        for pattern in _SOFT_HYPHENS:
            self.text = pattern.sub(self._hyphen, self.text)
        if "#" in self.text and len(_SIGN_IN_WORD.findall(self.text)) >= _FEWEST_SIGNS:
            self.text = re.sub(r"(?<![^\sa-z])#(?=[a-z])", "\ufffd", self.text)
        self._plain = self._plain and "\ufffd" not in self.text and characters.UNMAPPED not in self.text
        if self._plain:
            return
        tex = bool(characters.TEX_PAGE.search(self.text))
        if tex or not self.text.isascii():
            self.text = (_ANY if tex else _SUSPECT).sub(self._mapped, self.text)
            self._right_to_left = bool(_RIGHT_TO_LEFT.search(self.text))
            if self._right_to_left:
                self.text = _RIGHT_TO_LEFT.sub(self._in_logical_order, self.text)
            if any(accent in self.text for accent in _ACCENTS):
                self.text = _ACCENT_AFTER.sub(self._accent_first, self.text)

    def _angle(self, position: int) -> float:
        """Returns by how many quarter turns a character is turned."""
        angle: float = pdfium.FPDFText_GetCharAngle(self.raw, self._index(position))
        return angle / (pi / 2)

    def _turn_at(self, position: int, angle: float) -> int:
        """Returns the quarter turns of the writing direction. A negative size turns a letter by two."""
        turned: int = 2 * (pdfium.FPDFText_GetFontSize(self.raw, self._index(position)) < 0)
        return (turned - round(angle)) % 4

    def _is_above_next(self, position: int) -> bool:
        """Returns whether the next character is under this one, and both are Chinese or Japanese."""
        following = self.text[position] >= _IDEOGRAPHIC and _ANY.search(self.text, position + 1)
        if not following or following.group() < _IDEOGRAPHIC:
            return False
        (x, y), (under, lower) = self._origin(self._index(position)), self._origin(self._index(following.start()))
        return abs(x - under) < SAME * self._size(self._index(position)) < y - lower

    def read_vertical(self) -> None:
        """Adds the lines of a page that is written from top to bottom: characters that are under one another."""
        x = y = size = top = 0.0
        text = ""
        for found in _ANY.finditer(self.text):
            index = self._index(found.start())
            (across, up), character = self._origin(index), found.group()
            beside = abs(up - y) < SAME * size and 0 <= across - x < 2 * size  # figures set across the line
            under = abs(across - x) < SAME * size and -SAME * size < y - up < 2 * size
            if text and not (beside or under):
                self._add_vertical(text, x, y, size, top)
                text = ""
            if not text:
                top, size = up, self._size(index)
            x, y, text = across if not beside or not text else x, up, text + character
        if text:
            self._add_vertical(text, x, y, size, top)

    def _add_vertical(self, text: str, x: float, y: float, size: float, top: float) -> None:
        if self.crop[0] <= x <= self.crop[2] and self.crop[1] <= y <= self.crop[3] and (text := _clean(text)):
            self.lines.append(Line(text, -top, size - y, x, size, number=self.number))

    def _is_generated(self, position: int) -> bool:
        """Returns whether PDFium saw a gap where the file has no character."""
        return bool(pdfium.FPDFText_IsGenerated(self.raw, self._index(position)) == 1)

    def _is_unmapped(self, position: int) -> bool:
        return bool(pdfium.FPDFText_HasUnicodeMapError(self.raw, self._index(position)) == 1)

    def _mapped(self, found: re.Match[str]) -> str:
        """Returns the character. Where it is only the number of a glyph, fonts of TeX say which, others may not."""
        character = found.group()
        if character != characters.UNMAPPED and not self._is_unmapped(found.start()):  # PDFium has no error for glyph 0
            return character
        known = characters.tex_character(character, self._font_name(self._index(found.start())))
        return character if known == characters.UNMAPPED and not _SUSPECT.match(character) else known

    def _hyphen(self, found: re.Match[str]) -> str:
        """Returns a hyphen for a soft one that has a width: files call the hyphens that they draw so.

        PDFium writes a glyph without a letter as it writes a hyphen at the end of a line."""
        if found.group() == "\ufffe":
            unknown = pdfium.FPDFText_GetUnicode(self.raw, self._index(found.start())) == 0
            return characters.UNMAPPED if unknown else found.group()
        left, right = self._place(self._index(found.start()))
        return "-" if left < right else found.group()

    def _accent_first(self, found: re.Match[str]) -> str:
        """Returns a letter and an accent, which comes first where it stands on the letter and not beside it."""
        (left, right), (start, end) = (self._place(self._index(i)) for i in range(*found.span()))
        return found.group()[:: -1 if (start + end) / 2 < right and start > left - (end - start) else 1]

    def _with_spaces(self, start: int, stop: int, least: float) -> str:
        """Returns a text with spaces at the gaps between words that PDFium takes for gaps between letters."""
        places = [self._place(self._index(i)) for i in range(start, stop)]
        gaps = [after[0] - before[1] for before, after in pairwise(places)]
        widest = median(gaps) + least * self._size(self._index(start)) if gaps else inf
        out = self.text[start]
        for gap, character in zip(gaps, self.text[start + 1 : stop], strict=True):
            apart = gap > widest and _BEFORE_SPACE.match(out[-1]) and _AFTER_SPACE.match(character)
            out += " " * bool(apart) + character
        return out

    def _spaced_out(self, start: int, stop: int) -> str:
        """Returns a text whose letters are set apart with spaces at its wider gaps only."""
        shown = [i for i in range(start, stop) if self.text[i] != " "]
        if any(self.text[i] == " " and not self._is_generated(i) for i in range(start, stop)):
            return self.text[start:stop]
        places = [self._place(self._index(i)) for i in shown]
        gaps = [after[0] - before[1] for before, after in pairwise(places)]
        widest = median(gaps) + _WIDER * self._size(self._index(start))
        words = (" " * (gap > widest) + self.text[i] for gap, i in zip(gaps, shown[1:], strict=True))
        return self.text[start] + "".join(words)

    def _symbols(self, start: int, stop: int) -> str:
        """Returns a text with what its characters show where they are in a font of symbols."""
        return "".join(characters.symbol(self.text[i], self._font_name(self._index(i))) for i in range(start, stop))

    def _in_logical_order(self, found: re.Match[str]) -> str:
        """Returns right-to-left text in logical order: PDFium reverses the letters that a font maps one glyph to."""
        glyphs = groupby(range(*found.span()), lambda i: self._origin(self._index(i)))
        texts = ("".join(self.text[i] for i in places) for _, places in glyphs)
        return "".join(text if text in _FORMS else text[::-1] for text in texts)

    def _line_text(self, start: int, stop: int, size: float) -> str:
        """Returns a line of right-to-left text that PDFium left in the order of sight in logical order; others as are.

        Browsers print Arabic in such a way. Seen from the right, Latin words and numbers run backwards, brackets are
        mirrored, and often only gaps show where spaces are."""
        text: str = self.text[start:stop]
        runs = [found.span() for found in _RIGHT_TO_LEFT.finditer(self.text, start, stop)]
        ordered = all(self._origin(self._index(a))[0] >= self._origin(self._index(b - 1))[0] for a, b in runs)
        # PDFium leaves what is around numbers in the order of sight
        numbers = _DIGIT.search(text) and not _POINTS.search(text)
        if self.turn or not runs or (ordered and not numbers and not _mirrored(text)):
            return text
        shown = [i for i, c in enumerate(text, start) if c != " " or not self._is_generated(i)]
        spaced = len(shown) > stop - start - text.count(" ")  # the file draws the spaces
        # letters of one glyph stay in order; a space may have the place of what follows it
        shown.sort(key=lambda i: (-self._origin(self._index(i))[0], self.text[i] != " "))
        glyphs = [(*self._place(self._index(i)), self.text[i]) for i in shown]
        seen = glyphs[0][2]
        for (left, _, _), (_, right, character) in pairwise(glyphs):
            between = spaced and min(seen[-1], character) > "\u0590"  # the gaps between letters may be wide as well
            seen += (
                " " * (not between and left - right > TOUCHING * size and " " not in (seen[-1], character)) + character
            )
        seen = seen.translate({ord(one): other for one, other in _mirrored(seen).items()})
        number = _ARABIC_NUMBER if _ARABIC.search(seen) else _NUMBER

        def turned(found: re.Match[str]) -> str:
            run: str = found.group()
            return run[::-1] if _LETTER.search(run) else number.sub(lambda one: one.group()[::-1], run)

        return _LEFT_TO_RIGHT.sub(turned, seen)

    def read(self, start: int, stop: int) -> None:
        """Adds the line between two positions, in parts where it has wide gaps or raised numbers."""
        text = self.text[start:stop]
        start, stop = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        if start >= stop:
            return
        half = (start + stop) // 2
        if not self.text[half].isalpha():  # a letter is on the baseline
            letter = _LETTER.search(self.text, half, stop) or _LETTER.search(self.text, start, half)
            half = letter.start() if letter else half
        first, middle, last = self._index(start), self._index(half), self._index(stop - 1)
        self.turn = self.usual
        rects = pdfium.FPDFText_CountRects(self.raw, first, last - first + 1)
        x, y = self._origin(middle)
        if rects < 1 or not (self.crop[0] <= x <= self.crop[2] and self.crop[1] <= y <= self.crop[3]):
            return
        size = self._size(middle)
        upright = self._matrix.c == 0
        if not self.lines or size != self.lines[-1].size:  # the letter may be of another script, or a large one
            some = (_LETTER.search(self.text, start + (stop - start) * n // 4, stop) for n in (1, 3))
            size = median([size, *(self._size(self._index(found.start())) for found in some if found)])
        one, other = self._place(first), self._place(last)
        if abs(other[1] - one[0]) < _THIN * size * (stop - start):
            self.turn = self._turn_at(half, self._angle(half))
            one, other = self._place(first), self._place(last)
        y = (y, -x, -y, x)[self.turn]
        left, end, gaps = min(one[0], other[0]), max(one[1], other[1]), []
        if rects > 1:  # the ink of a bracket or full stop is narrower than its place in the line
            parts = sorted(map(self._rect, range(rects)))
            left, end = min(left, parts[0][0]), max(end, *(edge for _, edge in parts))
            gaps = [before[1] for before, after in pairwise(parts) if after[0] - before[1] > GUTTER * size]
        wide = end - left > _SPACED * size * (stop - start)
        if wide or gaps or (_PLAIN_DIGIT if self._plain else _DIGIT).search(self.text, start, stop):
            cuts = sorted({start, *self._find_cuts(start, stop, size, GUTTER if wide or gaps else inf, gaps), stop})
            if len(cuts) > 2:
                for part in pairwise(cuts):
                    self.read(*part)
                return
        font, lead_font = self._font_name(middle), self._font_name(first)
        sign = not self.text[start : start + 2].isalnum() and characters.is_symbolic(lead_font)
        private = not self._plain and characters.PRIVATE.search(self.text, start, stop)
        symbolic = sign or private or characters.is_symbolic(font)
        if symbolic:
            text = self._symbols(start, stop)
        elif self._is_apart and _SPACED_OUT.search(self.text, start, stop):
            text = self._spaced_out(start, stop)
        elif self._right_to_left and _RIGHT_TO_LEFT.search(self.text, start, stop):
            text = self._line_text(start, stop, size)
        else:
            gap = self._word_gap
            text = self._with_spaces(start, stop, gap) if gap < inf else self.text[start:stop]
        clean = self._plain and not symbolic and "  " not in text and text[-1] != "\ufffe"
        if text := text if clean else _clean(text):
            lead = _is_bold(lead_font)
            bold = lead and _is_bold(font) and _is_bold(self._font_name(last))
            turned = self.turn != self.usual or not (upright or self._aslant or not _is_aslant(self._angle(half)))
            mono = _is_mono(font) and _is_mono(lead_font) and _is_mono(self._font_name(last))
            self.lines.append(Line(text, left, end, y, size, bold, self.number, None, turned, lead and not bold, mono))

    def _find_cuts(self, start: int, stop: int, size: float, widest: float, gaps: Sequence[float]) -> Iterator[int]:
        """Yields where a line is cut: after gaps wider than ``widest`` sizes, and around smaller numbers.

        ``gaps``: where gaps begin that the line goes over, also to the left. A number at an edge may count the lines: a
        narrower gap separates it from the text. A single space of a typewriter font is no gap."""
        edge = self.text[start].isdigit() or self.text[stop - 1].isdigit()
        for gap in _SPACES.finditer(self.text, start, stop) if edge or gaps or widest < inf else ():
            is_number = self.text[start : gap.start()].isdigit() or self.text[gap.end() : stop].isdigit()
            if widest == inf and not gaps and not is_number:
                continue
            before, after = self._place(self._index(gap.start() - 1)), self._place(self._index(gap.end()))
            if self._fills(gap, after[0] - before[1] - TOUCHING * size):
                continue
            over = any((before[0] < at) != (after[0] < at) for at in gaps)
            if over or after[0] - before[1] > (_NUMBER_GAP if is_number else widest) * size:
                yield gap.end()
        for found in characters.SMALL_NUMBER.finditer(self.text, start, stop):
            at = found.end()
            while at > found.start() and self._size(self._index(at - 1)) < INDEX * size:
                at -= 1
            if at < found.end():
                yield from (at, found.end())

    def _fills(self, gap: re.Match[str], width: float) -> bool:
        """Returns whether one space is as wide as a gap: in typewriter fonts, where it is as wide as a letter."""
        left, right = self._place(self._index(gap.start()))
        return len(gap.group()) == 1 and right - left > width > 0

    def _index(self, position: int) -> int:
        """Returns PDFium's index of the character at ``position`` of the text."""
        if self._astral:
            position += bisect_left(self._astral, position)
        return position if self._find_index is None else self._find_index(position)

    def _origin(self, index: int) -> tuple[float, float]:
        x, y = self._values[:2]
        pdfium.FPDFText_GetCharOrigin(self.raw, index, x, y)
        return x.value, y.value

    def _size(self, index: int) -> float:
        """Returns the size of a character in points."""
        pdfium.FPDFText_GetMatrix(self.raw, index, self._matrix)
        size = abs(pdfium.FPDFText_GetFontSize(self.raw, index)) * hypot(self._matrix.c, self._matrix.d)
        return min(size if size >= _SMALLEST else size * self._scale, _LARGEST) or UNKNOWN

    def _true_scale(self, positions: Sequence[int]) -> float:
        """Returns how many times as high as their size says characters are, where that cannot be seen: some fonts draw
        letters of a hundred units at a size of 0.1."""
        box = pdfium.FS_RECTF()
        measured: list[tuple[float, float]] = []
        for index in map(self._index, positions):
            if (size := self._size(index)) < _SMALLEST:
                pdfium.FPDFText_GetLooseCharBox(self.raw, index, box)
                measured.append((abs(box.top - box.bottom) / size, abs(box.right - box.left) / size))
        heights, widths = zip(*measured, strict=True) if measured else ((0.0,), (0.0,))
        # letters are about half as wide as high: the box of some such fonts is too low
        return max(max(heights), 2 * sum(widths) / len(widths)) or 1.0

    def _place(self, index: int) -> tuple[float, float]:
        """Returns the left and right edge of the place of a character in its line."""
        box = self._box
        pdfium.FPDFText_GetLooseCharBox(self.raw, index, box)
        return self._edges(box.left, box.bottom, box.right, box.top) if self.turn else (box.left, box.right)

    def _rect(self, number: int) -> tuple[float, float]:
        """Returns the left and right edge of a part of the line that was measured last."""
        left, top, right, bottom = self._values
        pdfium.FPDFText_GetRect(self.raw, number, left, top, right, bottom)
        return self._edges(left.value, bottom.value, right.value, top.value)

    def _edges(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float]:
        """Returns the left and right edge of a box in the direction of the text."""
        if not self.turn:
            return left, right
        return ((left, right), (bottom, top), (-right, -left), (-top, -bottom))[self.turn]

    def _font_name(self, index: int) -> bytes:
        pdfium.FPDFText_GetFontInfo(self.raw, index, self._font, _FONT_NAME, self._flags)
        return self._font.value


def _is_aslant(angle: float) -> bool:
    """Returns whether an angle is none of quarter turns, as that of a watermark is."""
    return abs(angle - round(angle)) > _ASLANT


@lru_cache(maxsize=256)
def _is_bold(font: bytes) -> bool:
    """Returns whether a font of this name has bold letters."""
    return bool(_BOLD.search(font))


@lru_cache(maxsize=256)
def _is_mono(font: bytes) -> bool:
    """Returns whether the letters of a font of this name are all as wide as each other."""
    return bool(_MONO.search(font))


def _mirrored(text: str) -> dict[str, str]:
    """Returns the brackets and quotation marks that close before they open, each with the other of its pair."""
    pairs = [(a, b) for a, b in ("()", "[]", "{}", "«»") if -1 < text.find(b) < text.find(a)]
    return {one: other for a, b in pairs for one, other in ((a, b), (b, a))}


def _clean(text: str) -> str:
    """Returns ``text`` with accents on their letters, without ligatures and Arabic presentation forms."""
    if "  " not in text and not _UNUSUAL.search(text):
        return text
    text = text if text[:2] != f"{characters.UNMAPPED} " else f"•{text[1:]}"
    unmapped = "" if _RIGHT_TO_LEFT.search(text) else "\ufffd"  # there often a second sign of a vowel that is mapped
    text = text.replace(characters.UNMAPPED, unmapped).replace("\ufffe", "-")
    text = characters.join_signs(_SPACES.sub(" ", text).strip())
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)
    return _ACCENTED.sub(lambda m: unicodedata.normalize("NFC", m[2].replace("ı", "i") + _ACCENTS[m[1]]), text)
