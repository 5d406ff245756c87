"""Search quoted words in a page and return the characters where they are.

The same words in the same order match: letter case, punctuation, quotation marks, dashes, white space, emphasis and
note marks, the vowel signs of Arabic and Hebrew, ё, the forms of Arabic letters and hyphens at line ends are ignored,
but no word may differ. Where a quotation leaves words out (…), every piece must be found, in order and near each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from readagent_core.memory import GistMemory
from readagent_core.words import CJK, SOUTH_EAST

MAX_GAP = 1500  # characters that an ellipsis may replace
MAX_MATCHES = 3  # on a page; words that occur more often do not identify a place
MIN_LETTERS = 4  # shorter quotations match everywhere
_LEFT_OUT = re.compile(r"\s*(?:[\[(]\s*(?:\.{2,}|…+)\s*[\])]|(?:\.\s?){3,}|…+|‥+)\s*")
_NOTE_MARK = re.compile(
    r"\[(?:\^?\d{1,3}|[a-z]|[ivx]{2,4}|[*†‡§]|(?:foot)?note \d{1,3}|(?:fn|n)\.? ?\d{1,3}|citation needed)\]"
    r"|(?<=[^\W\d])(?:\{\d{1,3}\}|\(\d{1,2}\)|[①-⑳]|[(（]注\d{0,3}[)）]|※\d{0,2})|(?<=[^\W\d])[¹²³⁰⁴-⁹]+|(?<=[.,;:!?”’\"»)])[¹²³⁰⁴-⁹]+"
)
_VOWEL_SIGN = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670]"
)
_PLAIN = str.maketrans({"ё": "е", "æ": "ae", "œ": "oe", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه"})
_LINE_END = re.compile(r"(?<=[^\W\d_])[-‐¬]\s+(?=[^\W\d_])")  # in one word, or between two
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐¬]\s*(?=[^\W\d_])")
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")


@dataclass(frozen=True)
class QuotedPlace:
    """Characters ``start`` to ``end`` of paragraph ``paragraph`` of the memory's document, on page ``page``.

    ``start == end``: the words are in a heading above that paragraph.
    """

    page: int
    paragraph: int
    start: int
    end: int


class SearchableText:
    """A normalised text in which every character has its position in the original."""

    def __init__(self, parts: Sequence[tuple[str, int, bool]], *, joined: bool = False) -> None:
        """``parts``: text, paragraph index, whether it is a heading; in order. A gist is one part. ``joined``: words on
        both sides of a hyphen are one.
        """
        self._parts, self._joined = parts, joined
        out: list[str] = []
        at: list[tuple[int, int, int]] = []  # part, start, end
        for number, (text, _, _) in enumerate(parts):
            for start, end, normal in _normalise(text, joined=joined):
                if normal == " " and (not out or out[-1] == " "):
                    continue
                out.extend(normal)
                at.extend([(number, start, end)] * len(normal))
            if out and out[-1] != " ":
                out.append(" ")
                at.append((number, len(text), len(text)))
        text = "".join(out)
        # white space has no meaning next to characters of unspaced scripts
        keep = [
            i
            for i, c in enumerate(text)
            if c != " " or not (_UNSPACED.match(text[i - 1 : i]) or _UNSPACED.match(text[i + 1 : i + 2]))
        ]
        self.text, self._at = "".join(text[i] for i in keep), [at[i] for i in keep]

    @property
    def texts(self) -> list[str]:
        return [text for text, _, _ in self._parts]

    def find(self, quotation: str, begin: int = 0, limit: int = MAX_MATCHES) -> list[tuple[int, int]]:
        """Return every match (start, end) from ``begin`` on; none where the quotation is too short or too frequent."""
        wanted = normalise_words(quotation, joined=self._joined)
        least = 2 if _UNSPACED.search(wanted) else MIN_LETTERS
        if len(wanted.replace(" ", "")) < least and not re.search(r"\d", wanted):
            return []
        found: list[tuple[int, int]] = []
        position = self.text.find(wanted, begin) if wanted else -1
        while position >= 0:
            end = position + len(wanted)
            if self._is_whole_words(position, end):
                found.append((position, end))
                if len(found) > limit:
                    return []
            position = self.text.find(wanted, position + 1)
        return found

    def _is_whole_words(self, start: int, end: int) -> bool:
        """Return whether the match begins and ends between words."""
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        starts = before in ("", " ") or bool(_UNSPACED.match(before) or _UNSPACED.match(self.text[start]))
        ends = after in ("", " ") or bool(_UNSPACED.match(after) or _UNSPACED.match(self.text[end - 1]))
        return starts and ends

    def places(self, start: int, end: int, *, page: int) -> tuple[QuotedPlace, ...]:
        """Return the characters of each paragraph that a match covers."""
        spans: dict[int, tuple[int, int]] = {}
        for index in range(start, end):
            number, low, high = self._at[index]
            if self.text[index] != " ":
                spans[number] = (spans[number][0] if number in spans else low, high)
        return tuple(
            QuotedPlace(page, self._parts[n][1], *((0, 0) if self._parts[n][2] else span)) for n, span in spans.items()
        )


def normalise_words(text: str, *, joined: bool = False) -> str:
    """Return ``text`` for comparison: lower-case words separated by one space; apostrophes within words stay."""
    return SearchableText([(text, 0, False)], joined=joined).text.strip()


def _normalise(text: str, *, joined: bool) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and normal form of every character with its combining marks; ' ' for separators."""
    index = 0
    while index < len(text):
        left_out = _NOTE_MARK.match(text, index) or (_HYPHEN.match(text, index) if joined else None)
        if left_out:
            index = left_out.end()
            continue
        end = index + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        character = text[index]
        if character.isascii() and character.isalnum() and end == index + 1:
            yield index, end, character.lower()
        elif character in "'’ʼ＇" and text[index - 1 : index].isalnum() and text[end : end + 1].isalnum():
            yield index, end, "'"
        elif unicodedata.category(character) != "Cf" and character not in "*_ـ":  # soft hyphens, joiners, emphasis
            folded = unicodedata.normalize("NFKC", _VOWEL_SIGN.sub("", text[index:end])).casefold().translate(_PLAIN)
            letters = "".join(
                c for c in folded if c.isalnum() or unicodedata.combining(c) or unicodedata.category(c)[0] == "M"
            )
            symbol = character == "%" or unicodedata.category(character) == "Sc"
            yield index, end, letters or (character if symbol else " ")
        index = end


def find_in(words: SearchableText, quotation: str, *, page: int) -> tuple[QuotedPlace, ...]:
    """Return where ``quotation`` is in a page; () when any part of it is not found."""
    whole = words.find(quotation)
    if whole:
        return tuple(place for start, end in whole for place in words.places(start, end, page=page))
    pieces = [p for p in _LEFT_OUT.split(quotation) if normalise_words(p)]
    if len(pieces) < 2:
        return ()
    for first in words.find(pieces[0]):
        places = list(words.places(*first, page=page))
        position = first[1]
        for piece in pieces[1:]:
            following = words.find(piece, position, limit=10_000)
            if not following or following[0][0] - position > MAX_GAP:
                break
            places.extend(words.places(*following[0], page=page))
            position = following[0][1]
        else:
            return tuple(places)
    return ()


class Finder:
    """Searches quotations in the pages and gists of one memory; each page is normalised once."""

    def __init__(self, memory: GistMemory) -> None:
        self.memory = memory
        self._pages: dict[tuple[int, bool], SearchableText] = {}

    def find_in_page(self, stretches: Sequence[str], number: int) -> tuple[QuotedPlace, ...]:
        """Return where all ``stretches`` are in page ``number``; () where any of them is not found."""
        words = self._words_of(number)
        found = [find_in(words, stretch, page=number) for stretch in stretches]
        if not all(found) and any(map(_LINE_END.search, (*stretches, *words.texts))):
            words = self._words_of(number, joined=True)
            found = [find_in(words, stretch, page=number) for stretch in stretches]
        return tuple(place for places in found for place in places) if all(found) else ()

    def _words_of(self, number: int, *, joined: bool = False) -> SearchableText:
        if (number, joined) not in self._pages:
            page, document = self.memory.page(number), self.memory.document
            parts: list[tuple[str, int, bool]] = []
            for index in range(page.start, page.end):
                parts.extend((section.title, index, True) for section in document.headings(index))
                parts.append((document.paragraphs[index].text, index, False))
            self._pages[number, joined] = SearchableText(parts, joined=joined)
        return self._pages[number, joined]

    def occurs_in_gist(self, stretches: Sequence[str], number: int) -> bool:
        """Return whether the gist of page ``number`` has all ``stretches``."""
        gist = self.memory.gists[number - 1]
        words = SearchableText([(gist.text if gist else "", 0, False)])
        return bool(stretches) and all(words.find(stretch) for stretch in stretches)
