"""Reads the lines of a PDF page with their place, size and weight, in the order in which the file draws them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from math import inf
from statistics import median

from pypdfium2 import PdfPage, PdfTextPage

from readagent_core.loaders.pdf import characters
from readagent_core.loaders.pdf.glyphs import Glyphs
from readagent_core.loaders.pdf.lines import GUTTER, INDEX, SAME, TOUCHING, Line
from readagent_core.loaders.pdf.right_to_left import RIGHT_TO_LEFT, in_logical_order, line_in_logical_order

# all but ASCII, Latin letters, dashes and quotation marks: most lines have nothing to be cleaned
_UNUSUAL = re.compile("[^ -~\u00a1-\u00a7\u00a9-\u00b3\u00b5-\u00b7\u00b9-\u02c5\u2010-\u2026]")
_COMPATIBLE = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\u00a0]+")  # ligatures, Arabic presentation forms
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
_NUMBER_GAP = 0.4  # of the size; a wider gap separates a number at the edge of a line
_THIN = 0.3  # of the size; characters that are narrower on average may be turned
_SPACED = 0.6  # of the size; characters that are wider on average may have wide gaps between them
_ASLANT = 0.1  # quarter turns
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
        self.crop, self.number = crop, number
        self.lines: list[Line] = []
        self.text: str = textpage.get_text_range().replace("\r\n", 2 * _BREAK)
        self._plain = not _UNPLAIN.search(self.text)
        self.glyphs = Glyphs(textpage, self.text, plain=self._plain)
        self._right_to_left = False
        self._word_gap = inf  # of a page whose words are not glued
        samples = [i for i in range(0, len(self.text), len(self.text) // _SAMPLES + 1) if not self.text[i].isspace()]
        angles = [self.glyphs.angle(i) for i in samples]
        turns = Counter(map(self.glyphs.turn_at, samples, angles))
        self.usual = self.glyphs.turn = max(turns, key=lambda turn: turns[turn], default=0)
        self._aslant = sum(map(_is_aslant, angles)) * 2 > len(samples)
        self.glyphs.find_scale(samples)
        self.vertical = sum(map(self._is_above_next, samples)) * 2 > len(samples)
        unmapped = sum(self.glyphs.is_unmapped(i) or bool(characters.PRIVATE.match(self.text[i])) for i in samples)
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
            self._right_to_left = bool(RIGHT_TO_LEFT.search(self.text))
            if self._right_to_left:
                self.text = in_logical_order(self.text, self.glyphs)
            if any(accent in self.text for accent in _ACCENTS):
                self.text = _ACCENT_AFTER.sub(self._accent_first, self.text)

    def _is_above_next(self, position: int) -> bool:
        """Returns whether the next character is under this one, and both are Chinese or Japanese."""
        following = self.text[position] >= _IDEOGRAPHIC and _ANY.search(self.text, position + 1)
        if not following or following.group() < _IDEOGRAPHIC:
            return False
        (x, y), (under, lower) = self.glyphs.origin(position), self.glyphs.origin(following.start())
        return abs(x - under) < SAME * self.glyphs.size(position) < y - lower

    def read_vertical(self) -> None:
        """Adds the lines of a page that is written from top to bottom: characters that are under one another."""
        x = y = size = top = 0.0
        text = ""
        for found in _ANY.finditer(self.text):
            (across, up), character = self.glyphs.origin(found.start()), found.group()
            beside = abs(up - y) < SAME * size and 0 <= across - x < 2 * size  # figures set across the line
            under = abs(across - x) < SAME * size and -SAME * size < y - up < 2 * size
            if text and not (beside or under):
                self._add_vertical(text, x, y, size, top)
                text = ""
            if not text:
                top, size = up, self.glyphs.size(found.start())
            x, y, text = across if not beside or not text else x, up, text + character
        if text:
            self._add_vertical(text, x, y, size, top)

    def _add_vertical(self, text: str, x: float, y: float, size: float, top: float) -> None:
        if self.crop[0] <= x <= self.crop[2] and self.crop[1] <= y <= self.crop[3] and (text := _clean(text)):
            self.lines.append(Line(text, -top, size - y, x, size, number=self.number))

    def _mapped(self, found: re.Match[str]) -> str:
        """Returns the character. Where it is only the number of a glyph, fonts of TeX say which, others may not."""
        character = found.group()
        if character != characters.UNMAPPED and not self.glyphs.is_unmapped(found.start()):
            return character  # PDFium has no error for glyph 0
        known = characters.tex_character(character, self.glyphs.font(found.start()))
        return character if known == characters.UNMAPPED and not _SUSPECT.match(character) else known

    def _hyphen(self, found: re.Match[str]) -> str:
        """Returns a hyphen for a soft one that has a width: files call the hyphens that they draw so.

        PDFium writes a glyph without a letter as it writes a hyphen at the end of a line."""
        if found.group() == "\ufffe":
            unknown = self.glyphs.is_unknown(found.start())
            return characters.UNMAPPED if unknown else found.group()
        left, right = self.glyphs.place(found.start())
        return "-" if left < right else found.group()

    def _accent_first(self, found: re.Match[str]) -> str:
        """Returns a letter and an accent, which comes first where it stands on the letter and not beside it."""
        (left, right), (start, end) = (self.glyphs.place(i) for i in range(*found.span()))
        return found.group()[:: -1 if (start + end) / 2 < right and start > left - (end - start) else 1]

    def _with_spaces(self, start: int, stop: int, least: float) -> str:
        """Returns a text with spaces at the gaps between words that PDFium takes for gaps between letters."""
        gaps = self.glyphs.gaps(range(start, stop))
        widest = median(gaps) + least * self.glyphs.size(start) if gaps else inf
        out = self.text[start]
        for gap, character in zip(gaps, self.text[start + 1 : stop], strict=True):
            apart = gap > widest and _BEFORE_SPACE.match(out[-1]) and _AFTER_SPACE.match(character)
            out += " " * bool(apart) + character
        return out

    def _spaced_out(self, start: int, stop: int) -> str:
        """Returns a text whose letters are set apart with spaces at its wider gaps only."""
        shown = [i for i in range(start, stop) if self.text[i] != " "]
        if any(self.text[i] == " " and not self.glyphs.is_generated(i) for i in range(start, stop)):
            return self.text[start:stop]
        gaps = self.glyphs.gaps(shown)
        widest = median(gaps) + _WIDER * self.glyphs.size(start)
        words = (" " * (gap > widest) + self.text[i] for gap, i in zip(gaps, shown[1:], strict=True))
        return self.text[start] + "".join(words)

    def _symbols(self, start: int, stop: int) -> str:
        """Returns a text with what its characters show where they are in a font of symbols."""
        return "".join(characters.symbol(self.text[i], self.glyphs.font(i)) for i in range(start, stop))

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
        glyphs = self.glyphs
        glyphs.turn = self.usual
        parts = glyphs.count_parts(start, stop)
        x, y = glyphs.origin(half)
        if parts < 1 or not (self.crop[0] <= x <= self.crop[2] and self.crop[1] <= y <= self.crop[3]):
            return
        size = glyphs.size(half)
        if not self.lines or size != self.lines[-1].size:  # the letter may be of another script, or a large one
            some = (_LETTER.search(self.text, start + (stop - start) * n // 4, stop) for n in (1, 3))
            size = median([size, *(self.glyphs.size(found.start()) for found in some if found)])
        one, other = glyphs.place(start), glyphs.place(stop - 1)
        if abs(other[1] - one[0]) < _THIN * size * (stop - start):
            glyphs.turn = glyphs.turn_at(half, glyphs.angle(half))
            one, other = glyphs.place(start), glyphs.place(stop - 1)
        y = (y, -x, -y, x)[glyphs.turn]
        left, end, gaps = min(one[0], other[0]), max(one[1], other[1]), []
        if parts > 1:  # the ink of a bracket or full stop is narrower than its place in the line
            edges = sorted(map(glyphs.part, range(parts)))
            left, end = min(left, edges[0][0]), max(end, *(edge for _, edge in edges))
            gaps = [before[1] for before, after in pairwise(edges) if after[0] - before[1] > GUTTER * size]
        wide = end - left > _SPACED * size * (stop - start)
        if wide or gaps or (_PLAIN_DIGIT if self._plain else _DIGIT).search(self.text, start, stop):
            cuts = sorted({start, *self._find_cuts(start, stop, size, GUTTER if wide or gaps else inf, gaps), stop})
            if len(cuts) > 2:
                for part in pairwise(cuts):
                    self.read(*part)
                return
        font, lead_font = glyphs.font(half), glyphs.font(start)
        sign = not self.text[start : start + 2].isalnum() and characters.is_symbolic(lead_font)
        private = not self._plain and characters.PRIVATE.search(self.text, start, stop)
        symbolic = sign or private or characters.is_symbolic(font)
        if symbolic:
            text = self._symbols(start, stop)
        elif self._is_apart and _SPACED_OUT.search(self.text, start, stop):
            text = self._spaced_out(start, stop)
        elif self._right_to_left and RIGHT_TO_LEFT.search(self.text, start, stop):
            text = line_in_logical_order(self.text, start, stop, glyphs, size)
        else:
            gap = self._word_gap
            text = self._with_spaces(start, stop, gap) if gap < inf else self.text[start:stop]
        clean = self._plain and not symbolic and "  " not in text and text[-1] != "\ufffe"
        if text := text if clean else _clean(text):
            lead = _is_bold(lead_font)
            bold = lead and _is_bold(font) and _is_bold(glyphs.font(stop - 1))
            turned = glyphs.turn != self.usual or not (
                self._aslant or glyphs.is_upright(half) or not _is_aslant(glyphs.angle(half))
            )
            mono = _is_mono(font) and _is_mono(lead_font) and _is_mono(glyphs.font(stop - 1))
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
            before, after = self.glyphs.place(gap.start() - 1), self.glyphs.place(gap.end())
            if self._fills(gap, after[0] - before[1] - TOUCHING * size):
                continue
            over = any((before[0] < at) != (after[0] < at) for at in gaps)
            if over or after[0] - before[1] > (_NUMBER_GAP if is_number else widest) * size:
                yield gap.end()
        for found in characters.SMALL_NUMBER.finditer(self.text, start, stop):
            at = found.end()
            while at > found.start() and self.glyphs.size(at - 1) < INDEX * size:
                at -= 1
            if at < found.end():
                yield from (at, found.end())

    def _fills(self, gap: re.Match[str], width: float) -> bool:
        """Returns whether one space is as wide as a gap: in typewriter fonts, where it is as wide as a letter."""
        left, right = self.glyphs.place(gap.start())
        return len(gap.group()) == 1 and right - left > width > 0


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


def _clean(text: str) -> str:
    """Returns ``text`` with accents on their letters, without ligatures and Arabic presentation forms."""
    if "  " not in text and not _UNUSUAL.search(text):
        return text
    text = text if text[:2] != f"{characters.UNMAPPED} " else f"•{text[1:]}"
    unmapped = "" if RIGHT_TO_LEFT.search(text) else "\ufffd"  # there often a second sign of a vowel that is mapped
    text = text.replace(characters.UNMAPPED, unmapped).replace("\ufffe", "-")
    text = characters.join_signs(_SPACES.sub(" ", text).strip())
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text)
    return _ACCENTED.sub(lambda m: unicodedata.normalize("NFC", m[2].replace("ı", "i") + _ACCENTS[m[1]]), text)
