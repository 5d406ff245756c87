"""Finds where words of a paragraph stand on the pages of its PDF: rectangles to mark on a picture of the page.

The text of a book is not the text of its pages: hyphens at line ends are removed, ligatures and quotation marks are
written in another way, running headers and marks of notes are left out. So letters and digits alone are compared, and
every letter keeps the index of PDFium's character that it comes from.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from ctypes import c_double, c_int
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise, takewhile
from math import pi, sin

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom
Run = tuple[int, int]  # PDFium's indexes of the first and the last character

_PAGES = 4  # that a paragraph is followed over; for long ones a page more for every
_LETTERS_A_PAGE = 1_200  # before the quotation, and at most
_MOST_PAGES = 60
_CONTEXT = 60  # letters before and after a quotation that tell its places apart
_SHORT = 24  # letters; a shorter quotation must have its neighbours
_NEIGHBOURS = 8  # letters
_ANCHOR_WORDS, _ANCHOR_LETTERS = 4, 20  # equal words in a row that are no coincidence
_NEAR, _DIFFERENT = 30, 4  # letters between two equal passages that belong together: at most, and by how much more
_FOUND = 0.8  # of the letters of a quotation
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # each is a word of its own here
_STEPS = 100  # to a point; PDFium gives places on what is shown in whole numbers
_LEVEL = 0.6  # of the height of the lower of two rectangles on one line, that the other has as well
_UPRIGHT = 3.0  # height by width of columns of vertical writing
_SPACE = 1.2  # of the height of the higher one; the widest gap between rectangles that are joined


@dataclass(frozen=True)
class PagePlace:
    """Where a part of a quotation stands. ``number``: source page, from 1.

    Rectangles are in fractions of the page's width and height as it is shown, from its upper left corner."""

    number: int
    rectangles: tuple[Rectangle, ...]


class _Letters:
    """The letters and digits of a text, without case and accents.

    ``places``: the index of the character that each comes from. ``words_end``: where a word ends, by where it starts.
    """

    def __init__(self, characters: Sequence[str]) -> None:
        letters: list[str] = []
        self.places: list[int] = []
        self.words_end: dict[int, int] = {}
        word: int | None = None
        for index, character in enumerate(characters):
            plain = _plain(character)
            if not plain:
                # an accent does not end a word
                word = word if unicodedata.category(character) in ("Mn", "Lm", "Sk") else None
                continue
            if word is None or _UNSPACED.match(plain):
                word = len(letters)
            letters += plain
            self.places += [index] * len(plain)
            self.words_end[word] = len(letters)
        self.text = "".join(letters)


def _plain(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(c for c in unicodedata.normalize("NFKD", character).casefold() if c.isalnum()).replace("ı", "i")


class _PageLetters(_Letters):
    """The letters of a page; ``places`` are PDFium's indexes of characters."""

    def __init__(self, textpage: PdfTextPage) -> None:
        # one call a character: in the text of a whole page some characters are missing, so that indexes differ
        super().__init__([_character(textpage, index) for index in range(textpage.count_chars())])


def _character(textpage: PdfTextPage, index: int) -> str:
    return chr(min(pdfium.FPDFText_GetUnicode(textpage, index), sys.maxunicode))


def find_quotation(
    document: PdfDocument, text: str, start: int, end: int, numbers: Sequence[int]
) -> tuple[PagePlace, ...]:
    """Returns where characters ``start`` to ``end`` of the paragraph ``text`` stand; () where that is not known.

    ``numbers``: the source pages, from 1, on one of which the paragraph begins. It may go on over the next pages."""
    wanted = _Letters(text)
    first, last = bisect_left(wanted.places, start), bisect_left(wanted.places, end)
    if first == last:
        return ()
    tail = len(text[start:end].rstrip()) - (wanted.places[last - 1] + 1 - start)  # marks after the last letter
    for number in numbers:
        found = _find_from(document, wanted, first, last, number)
        if found:
            places = (PagePlace(at, _rectangles(document[at - 1], runs, tail)) for at, runs in found)
            return tuple(place for place in places if place.rectangles)
    return ()


def _find_from(
    document: PdfDocument, wanted: _Letters, first: int, last: int, number: int
) -> list[tuple[int, list[Run]]]:
    """Returns the runs of characters by page for letters ``first`` to ``last``; [] where too few are found."""
    pages: list[tuple[int, _PageLetters]] = []
    best: tuple[int, int, Run] | None = None
    count = min(_PAGES + first // _LETTERS_A_PAGE, _MOST_PAGES)
    for at in range(number, min(number + count, len(document) + 1)):
        textpage = document[at - 1].get_textpage()
        letters = _PageLetters(textpage)
        textpage.close()
        pages.append((at, letters))
        for place in (m.start() for m in re.finditer(f"(?={wanted.text[first:last]})", letters.text)):
            score = _neighbours(wanted.text, first, last, letters.text, place)
            if best is None or score > best[0]:
                best = score, at, (letters.places[place], letters.places[place + last - first - 1])
        if best is not None and (best[0] >= _CONTEXT or at > number):
            break
    near = min(_NEIGHBOURS, first + len(wanted.text) - last)
    if best is not None and (last - first >= _SHORT or best[0] >= near):
        return [(best[1], [best[2]])]
    return _align(pages, wanted, first, last)


def _neighbours(text: str, first: int, last: int, other: str, place: int) -> int:
    """Returns how many letters before and after two equal passages are equal as well."""
    end = place + last - first
    before = (text[max(0, first - _CONTEXT) : first][::-1], other[max(0, place - _CONTEXT) : place][::-1])
    after = (text[last : last + _CONTEXT], other[end : end + _CONTEXT])
    equal = (takewhile(lambda pair: pair[0] == pair[1], zip(*each, strict=False)) for each in (before, after))
    return sum(1 for _ in chain.from_iterable(equal))


def _align(
    pages: Sequence[tuple[int, _PageLetters]], wanted: _Letters, first: int, last: int
) -> list[tuple[int, list[Run]]]:
    """Returns the runs of a quotation that is interrupted on its pages: by a page break, a mark of a note, a column."""
    found: list[tuple[int, list[Run]]] = []
    covered: set[int] = set()
    for number, page in pages:
        runs: list[tuple[int, Run]] = []  # with the place in the quotation, which is their order
        among = range(len(wanted.text))  # at first with what stands around the quotation
        while among:
            passages = list(_equal_passages(wanted, page, first, last, among))
            for start, end, at, beyond in passages:
                covered.update(range(start, end))
                runs.append((start, (page.places[at], page.places[beyond - 1])))
            # PDFium may give the lines of a page in another order, so what is left is looked for by itself
            among = _longest_gap(covered, first, last) if passages else range(0)
        if not runs and covered:  # a page break may leave a word or two of the quotation on the next page
            rest = wanted.text[max(covered) + 1 : last]
            at = page.text.find(rest)
            if at >= 0:
                runs.append((last - len(rest), (page.places[at], page.places[at + len(rest) - 1])))
                covered.update(range(last - len(rest), last))
        if runs:
            found.append((number, [run for _, run in sorted(runs)]))
        if len(covered) == last - first:
            break
    return found if len(covered) >= _FOUND * (last - first) else []


def _longest_gap(covered: set[int], first: int, last: int) -> range:
    edges = [first - 1, *sorted(covered), last]
    start, end = max(pairwise(edges), key=lambda pair: pair[1] - pair[0])
    return range(start + 1, end)


def _equal_passages(
    wanted: _Letters, page: _Letters, first: int, last: int, among: range
) -> Iterator[tuple[int, int, int, int]]:
    """Yields the equal passages of a quotation and a page: start and end in ``wanted``, start and end on the page."""
    for pairs in _chains(wanted, page, among):
        inside = [(a, b) for a, b in pairs if a < last and wanted.words_end[a] > first]
        if inside:
            (start, at), (final, beyond) = inside[0], inside[-1]
            end, beyond = wanted.words_end[final], page.words_end[beyond]
            # a word that a line end divides is two words of the page
            while start > first and at > 0 and wanted.text[start - 1] == page.text[at - 1]:
                start, at = start - 1, at - 1
            while end < last and beyond < len(page.text) and wanted.text[end] == page.text[beyond]:
                end, beyond = end + 1, beyond + 1
            yield max(start, first), min(end, last), at, beyond


def _chains(wanted: _Letters, page: _Letters, among: range) -> Iterator[list[tuple[int, int]]]:
    """Yields passages of equal words: where each begins in ``wanted`` and on the page. Small differences are within."""
    starts = [start for start in wanted.words_end if start in among]
    places = list(page.words_end)
    one = [wanted.text[a : wanted.words_end[a]] for a in starts]
    other = [page.text[b : page.words_end[b]] for b in places]
    run: list[tuple[int, int]] = []
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        pairs = [(starts[block.a + n], places[block.b + n]) for n in range(block.size)]
        if run and not (pairs and _is_near(wanted, page, run[-1], pairs[0])):
            if len(run) >= _ANCHOR_WORDS or sum(wanted.words_end[a] - a for a, _ in run) >= _ANCHOR_LETTERS:
                yield run
            run = []
        run += pairs


def _is_near(wanted: _Letters, page: _Letters, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Returns whether two pairs of equal words are of one passage: as much is between them here as there."""
    here, there = after[0] - wanted.words_end[before[0]], after[1] - page.words_end[before[1]]
    return max(here, there) <= _NEAR and abs(here - there) <= _DIFFERENT


def _rectangles(page: PdfPage, runs: Sequence[Run], tail: int) -> tuple[Rectangle, ...]:
    """Returns the rectangles of runs of characters; of the last one with up to ``tail`` marks that follow it."""
    textpage = page.get_textpage()
    width, height = page.get_size()
    found: list[Rectangle] = []
    angle = pdfium.FPDFText_GetCharAngle(textpage, runs[0][0]) + page.get_rotation() * pi / 180
    for first, last in runs:
        if (first, last) == runs[-1]:
            last = _with_marks(textpage, last, tail)
        for index in range(pdfium.FPDFText_CountRects(textpage, first, last - first + 1)):
            edges = [c_double() for _ in range(4)]
            pdfium.FPDFText_GetRect(textpage, index, *edges)
            left, top, right, bottom = _on_shown_page(page, *(edge.value for edge in edges))
            shown = max(0.0, left), max(0.0, top), min(width, right), min(height, bottom)
            if shown[0] < shown[2] and shown[1] < shown[3]:
                found.append(shown)
    textpage.close()
    joined = _join_on_lines(found, sideways=abs(sin(angle)) > 0.5)
    return tuple((a / width, b / height, c / width, d / height) for a, b, c, d in joined)


def _with_marks(textpage: PdfTextPage, last: int, tail: int) -> int:
    for index in range(last + 1, min(last + 1 + tail, textpage.count_chars())):
        character = _character(textpage, index)
        if character.isspace() or _plain(character):
            break
        last = index
    return last


def _on_shown_page(page: PdfPage, left: float, top: float, right: float, bottom: float) -> Rectangle:
    """Returns a rectangle of the page on what is shown of it, turned and cut to its crop box, in points from above."""
    width, height = page.get_size()
    x, y = c_int(), c_int()
    corners: list[tuple[float, float]] = []
    for across, up in ((left, top), (right, bottom)):
        device = round(width * _STEPS), round(height * _STEPS)
        pdfium.FPDF_PageToDevice(page, 0, 0, *device, 0, across, up, x, y)
        corners.append((x.value / _STEPS, y.value / _STEPS))
    (a, b), (c, d) = corners
    return min(a, c), min(b, d), max(a, c), max(b, d)


def _join_on_lines(rectangles: Sequence[Rectangle], *, sideways: bool) -> list[Rectangle]:
    """Returns the rectangles with neighbours on one line as one, so that a mark has no gaps at changes of the font.

    ``sideways``: the lines run from top to bottom, or upwards."""
    if sideways:
        return [
            (a, b, c, d) for b, a, d, c in _join_on_lines([(b, a, d, c) for a, b, c, d in rectangles], sideways=False)
        ]
    joined: list[Rectangle] = []
    for left, top, right, bottom in rectangles:
        if joined:
            a, b, c, d = joined[-1]
            lower, higher = sorted((bottom - top, d - b))
            level = min(bottom, d) - max(top, b) > _LEVEL * lower
            upright = min((bottom - top) / (right - left), (d - b) / (c - a)) > _UPRIGHT
            near = max(left, a) - min(right, c) < _SPACE * higher
            if level and near and not upright:
                joined[-1] = min(a, left), min(b, top), max(c, right), max(d, bottom)
                continue
        joined.append((left, top, right, bottom))
    return joined
