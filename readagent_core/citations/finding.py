"""Finding quoted words in a page, with the characters they stand at.

The same words in the same order are found: letter case, punctuation, quotation marks, dashes, white space and
emphasis marks do not matter, one other word does. Where words are left out (…) every piece must be found, in
order and near. Knows nothing of answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from readagent_core.document import Document
from readagent_core.memory import GistMemory
from readagent_core.words import CJK, SOUTH_EAST

GAP = 1500  # characters that an ellipsis may stand for
COMMON = 3  # words that stand more often on a page than this mark no place on it
LEAST = 4  # letters; shorter quotations are found everywhere
_LEFT_OUT = re.compile(r"\s*(?:[\[(]\s*(?:\.{2,}|…+)\s*[\])]|(?:\.\s?){3,}|…+|‥+)\s*")
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")


@dataclass(frozen=True)
class Place:
    """Characters ``start`` to ``end`` of paragraph ``paragraph`` of the memory's document, on page ``page``.

    ``start == end``: the words are those of a heading above that paragraph.
    """

    page: int
    paragraph: int
    start: int
    end: int


class Words:
    """A text as its words only, each character knowing where it came from."""

    def __init__(self, parts: Sequence[tuple[str, int, bool]]) -> None:
        """``parts``: (text, its paragraph, whether it is a heading), in order; a gist is one part."""
        self._parts = parts
        out: list[str] = []
        at: list[tuple[int, int, int]] = []  # part, start, end
        for number, (text, _, _) in enumerate(parts):
            for start, end, plain in _plain(text):
                if plain == " " and (not out or out[-1] == " "):
                    continue
                out.extend(plain)
                at.extend([(number, start, end)] * len(plain))
            if out and out[-1] != " ":
                out.append(" ")
                at.append((number, len(text), len(text)))
        self.text, self._at = _close_up("".join(out), at)

    def find(self, quotation: str, begin: int = 0, limit: int = COMMON) -> list[tuple[int, int]]:
        """Every stretch with the same words, none where they are too few or too common to mark a place."""
        wanted = words_only(quotation)
        if len(wanted.replace(" ", "")) < (2 if _UNSPACED.search(wanted) else LEAST) and not re.search(r"\d", wanted):
            return []
        found: list[tuple[int, int]] = []
        position = self.text.find(wanted, begin) if wanted else -1
        while position >= 0:
            end = position + len(wanted)
            if self._whole(position, end):
                found.append((position, end))
                if len(found) > limit:
                    return []
            position = self.text.find(wanted, position + 1)
        return found

    def _whole(self, start: int, end: int) -> bool:
        """Whether the stretch begins and ends between words."""
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        starts = before in ("", " ") or bool(_UNSPACED.match(before) or _UNSPACED.match(self.text[start]))
        ends = after in ("", " ") or bool(_UNSPACED.match(after) or _UNSPACED.match(self.text[end - 1]))
        return starts and ends

    def places(self, start: int, end: int, *, page: int) -> tuple[Place, ...]:
        """The stretch as characters of the paragraphs it runs through."""
        spans: dict[int, tuple[int, int]] = {}
        for index in range(start, end):
            number, low, high = self._at[index]
            if self.text[index] != " ":
                spans[number] = (spans[number][0] if number in spans else low, high)
        return tuple(
            Place(page, self._parts[n][1], *((0, 0) if self._parts[n][2] else span)) for n, span in spans.items()
        )


def words_only(text: str) -> str:
    """``text`` as compared: lower-case words, a space between, no punctuation; apostrophes within words stay."""
    plain = "".join(piece for _, _, piece in _plain(text))
    return _close_up(re.sub(" +", " ", plain).strip(), None)[0]


def _close_up(text: str, at: list[tuple[int, int, int]] | None) -> tuple[str, list[tuple[int, int, int]]]:
    """Without the spaces beside characters of unspaced scripts, where white space means nothing."""
    if not _UNSPACED.search(text):
        return text, at or []
    keep = [
        i
        for i, c in enumerate(text)
        if c != " " or not (_UNSPACED.match(text[i - 1 : i]) or _UNSPACED.match(text[i + 1 : i + 2]))
    ]
    return "".join(text[i] for i in keep), [at[i] for i in keep] if at else []


def _plain(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, as compared) for every character with its combining marks; ' ' for what parts words."""
    index = 0
    while index < len(text):
        end = index + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        character = text[index]
        if character.isascii() and character.isalnum() and end == index + 1:
            yield index, end, character.lower()
        elif character in "'’ʼ＇" and text[index - 1 : index].isalnum() and text[end : end + 1].isalnum():
            yield index, end, "'"
        elif unicodedata.category(character) != "Cf" and character not in "*_":  # soft hyphens, joiners, emphasis
            plain = unicodedata.normalize("NFKC", text[index:end]).casefold()
            kept = "".join(
                c for c in plain if c.isalnum() or unicodedata.combining(c) or unicodedata.category(c)[0] == "M"
            )
            symbol = character == "%" or unicodedata.category(character) == "Sc"
            yield index, end, kept or (character if symbol else " ")
        index = end


def _page_words(document: Document, start: int, end: int) -> Words:
    parts: list[tuple[str, int, bool]] = []
    for index in range(start, end):
        parts.extend((section.title, index, True) for section in document.headings(index))
        parts.append((document.paragraphs[index].text, index, False))
    return Words(parts)


def find_in(words: Words, quotation: str, *, page: int) -> tuple[Place, ...]:
    """Where ``quotation`` stands in a page, all of it; () when any part of it does not."""
    whole = words.find(quotation)
    if whole:
        return tuple(place for start, end in whole for place in words.places(start, end, page=page))
    pieces = [p for p in _LEFT_OUT.split(quotation) if words_only(p)]
    if len(pieces) < 2:
        return ()
    for first in words.find(pieces[0]):
        places = list(words.places(*first, page=page))
        position = first[1]
        for piece in pieces[1:]:
            following = words.find(piece, position, limit=10_000)
            if not following or following[0][0] - position > GAP:
                break
            places.extend(words.places(*following[0], page=page))
            position = following[0][1]
        else:
            return tuple(places)
    return ()


class Finder:
    """Looks quotations up in the pages and gists of one memory."""

    def __init__(self, memory: GistMemory) -> None:
        self.memory = memory
        self._pages: dict[int, Words] = {}

    def in_page(self, stretches: Sequence[str], number: int) -> tuple[Place, ...]:
        """Where the words stand in page ``number``; () where any of them do not."""
        if number not in self._pages:
            page = self.memory.page(number)
            self._pages[number] = _page_words(self.memory.document, page.start, page.end)
        found = [find_in(self._pages[number], stretch, page=number) for stretch in stretches]
        return tuple(place for places in found for place in places) if all(found) else ()

    def in_gist(self, stretches: Sequence[str], number: int) -> bool:
        """Whether the gist of page ``number`` has the words."""
        gist = self.memory.gists[number - 1]
        words = Words([(gist.text if gist else "", 0, False)])
        return bool(stretches) and all(words.find(stretch) for stretch in stretches)

    @cached_property
    def readable(self) -> frozenset[int]:
        return frozenset(self.memory.readable)
