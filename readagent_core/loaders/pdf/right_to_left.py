"""Puts Hebrew and Arabic of a PDF page, which PDFium gives partly in the order of sight, in the order of reading."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby, pairwise

from readagent_core.loaders.pdf.glyphs import Glyphs
from readagent_core.loaders.pdf.lines import TOUCHING

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff][\u0590-\u08ff]+")  # found sooner than {2,}
_LEFT = "[A-Za-z0-9À-ɏͰ-ԯ\u0660-\u0669\u06f0-\u06f9]"  # letters and digits that run from left to right
_LEFT_TO_RIGHT = re.compile(f"[%$€£₪]*{_LEFT}(?:[^\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff]*{_LEFT})?[%$€£₪]*")
# numbers as Unicode's bidirectional algorithm sets them from left to right after Hebrew, and after Arabic letters
_NUMBER, _ARABIC_NUMBER = re.compile(r"[%$€£₪]*\d+(?:[.,:/+-]\d+)*[%$€£₪]*"), re.compile(r"\d+(?:[.,:/٫٬]\d+)*")
_ARABIC, _POINTS = re.compile("[\u0620-\u064a]"), re.compile("[\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f]")
# the words of Arabic and Hebrew presentation forms, which PDFium writes in logical order
_FORMS = {word for code in range(0xFB1D, 0xFEFD) for word in unicodedata.normalize("NFKC", chr(code)).split()}
_DIGIT, _LETTER = re.compile(r"[\d*†‡]"), re.compile(r"[^\W\d_]")


def in_logical_order(text: str, glyphs: Glyphs) -> str:
    """Returns the text of a page with its words in logical order: PDFium reverses letters that a font maps one glyph
    to. Positions stay."""

    def ordered(found: re.Match[str]) -> str:
        same = groupby(range(*found.span()), glyphs.origin)
        texts = ("".join(text[i] for i in places) for _, places in same)
        return "".join(part if part in _FORMS else part[::-1] for part in texts)

    return RIGHT_TO_LEFT.sub(ordered, text)


def line_in_logical_order(text: str, start: int, stop: int, glyphs: Glyphs, size: float) -> str:
    """Returns a line of right-to-left text that PDFium left in the order of sight in logical order; others as are.

    ``text``: of the page; the line is between ``start`` and ``stop``. ``size``: of its letters, in points. Browsers
    print Arabic in such a way. Seen from the right, Latin words and numbers run backwards, brackets are mirrored, and
    often only gaps show where spaces are."""
    line = text[start:stop]
    runs = [found.span() for found in RIGHT_TO_LEFT.finditer(text, start, stop)]
    ordered = all(glyphs.origin(a)[0] >= glyphs.origin(b - 1)[0] for a, b in runs)
    # PDFium leaves what is around numbers in the order of sight
    numbers = _DIGIT.search(line) and not _POINTS.search(line)
    if glyphs.turn or not runs or (ordered and not numbers and not _mirrored(line)):
        return line
    shown = [i for i, c in enumerate(line, start) if c != " " or not glyphs.is_generated(i)]
    spaced = len(shown) > stop - start - line.count(" ")  # the file draws the spaces
    # letters of one glyph stay in order; a space may have the place of what follows it
    shown.sort(key=lambda i: (-glyphs.origin(i)[0], text[i] != " "))
    places = [(*glyphs.place(i), text[i]) for i in shown]
    seen = places[0][2]
    for (left, _, _), (_, right, character) in pairwise(places):
        between = spaced and min(seen[-1], character) > "\u0590"  # the gaps between letters may be wide as well
        gap = not between and left - right > TOUCHING * size and " " not in (seen[-1], character)
        seen += " " * gap + character
    seen = seen.translate({ord(one): other for one, other in _mirrored(seen).items()})
    number = _ARABIC_NUMBER if _ARABIC.search(seen) else _NUMBER

    def turned(found: re.Match[str]) -> str:
        run = found.group()
        return run[::-1] if _LETTER.search(run) else number.sub(lambda one: one.group()[::-1], run)

    return _LEFT_TO_RIGHT.sub(turned, seen)


def _mirrored(text: str) -> dict[str, str]:
    """Returns the brackets and quotation marks that close before they open, each with the other of its pair."""
    pairs = [(a, b) for a, b in ("()", "[]", "{}", "«»") if -1 < text.find(b) < text.find(a)]
    return {one: other for a, b in pairs for one, other in ((a, b), (b, a))}
