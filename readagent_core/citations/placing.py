"""Find the words of a mark again in a text that may have changed.

The words are searched where they were; else anywhere, together with the words before and after them; else the most
similar passage is taken, if enough of its words are the same.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, islice

from readagent_core.document import Document
from readagent_core.short_repr import short_repr
from readagent_core.words import CJK, SOUTH_EAST

CONTEXT = 32  # characters before and after the words of a mark
NEAR = 20_000  # characters around the place where a mark should be, which are searched before the whole text
_LEAST_BYTES = 24  # of words that are searched without their context; in UTF-8 Chinese and Japanese count more
_MOST_PLACES = 1000  # of the same words, of which the nearest is taken
_SEED_BYTES = 12  # of the pieces of a mark that are searched to find the most similar passage
_SEEDS = 12  # how many pieces are searched
_MOST_SEEDS = 20  # a piece that occurs more often says nothing about the place
_LONGEST_PIECE = 1000  # characters that are aligned at once
_BUCKET = 64  # characters; pieces found as close to each other belong to one passage
_LEAST_EXACT, _LEAST_ALL = 0.5, 0.6  # share of the characters of a mark, and of mark and context, in words found again
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufeff"  # soft hyphens and joiners
_LIGATURES = {"ffi": "ffi|ﬃ|ﬀi|fﬁ", "ffl": "ffl|ﬄ|ﬀl|fﬂ", "ff": "ff|ﬀ", "fi": "fi|ﬁ", "fl": "fl|ﬂ", "st": "st|ﬆ|ﬅ"}
_APART = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_WORD = re.compile(rf"[{CJK}{SOUTH_EAST}]|[^\W{CJK}{SOUTH_EAST}]+")


@short_repr
@dataclass(frozen=True)
class Quote:
    """Words of a text, and the text before and after them."""

    exact: str
    prefix: str
    suffix: str

    def __str__(self) -> str:
        return self.prefix + self.exact + self.suffix

    @property
    def contexts(self) -> Iterator[tuple[str, str]]:
        """Yield the parts of the context, most first, with which the words are long enough to be searched."""
        for before, after in ((self.prefix, self.suffix), (self.prefix, ""), ("", self.suffix), ("", "")):
            words = before + self.exact + after
            if len(words.encode("utf-8", "replace")) >= _LEAST_BYTES or words == str(self):
                yield before, after


class PlainText:
    """The paragraphs of a document as one text, a line break between two.

    Positions are code points from its start. A paragraph that was split for a gisting is one paragraph again here, so
    that positions are the same whatever the page size. A spot is an index of a paragraph and an offset in it;
    ``whole`` spots count paragraphs that are not split.
    """

    def __init__(self, document: Document) -> None:
        paragraphs = document.paragraphs
        separators = ["" if not index or p.continues else "\n" for index, p in enumerate(paragraphs)]
        pieces = [separator + p.text for separator, p in zip(separators, paragraphs, strict=True)]
        ends = list(accumulate(map(len, pieces)))
        self.text = "".join(pieces)
        self._starts = [end - len(p.text) for end, p in zip(ends, paragraphs, strict=True)]
        self._whole_starts = [start for start, p in zip(self._starts, paragraphs, strict=True) if not p.continues]

    def position(self, spot: tuple[int, int], *, whole: bool = False) -> int:
        """Return the position of a spot; the nearest one in the text where there is no such spot."""
        starts = [*(self._whole_starts if whole else self._starts), len(self.text)]
        paragraph, offset = max(0, spot[0]), max(0, spot[1])
        return min(starts[min(paragraph, len(starts) - 1)] + offset, starts[min(paragraph + 1, len(starts) - 1)])

    def spots(self, start: int, end: int, *, whole: bool = False) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the spots of the positions ``start`` and ``end`` (exclusive)."""
        starts = self._whole_starts if whole else self._starts
        first = max(0, bisect_right(starts, start) - 1)
        last = max(first, bisect_right(starts, end - 1) - 1)  # an end at the start of a paragraph is in the one before
        return (first, start - starts[first]), (last, end - starts[last])

    def quote(self, start: int, end: int) -> Quote:
        """Return the words between two positions with their context."""
        return Quote(self.text[start:end], self.text[max(0, start - CONTEXT) : start], self.text[end : end + CONTEXT])

    def find(self, quote: Quote, around: int, *, far: bool = True) -> tuple[int, int] | None:
        """Return start and end of the words of ``quote``, which should start near ``around``; None if not found.

        ``far``: whether similar words are searched in the whole text. In a long book that takes most of the time.
        """
        begin = around - len(quote.prefix)
        if begin >= 0 and str(quote) and self.text.startswith(str(quote), begin):
            return around, around + len(quote.exact)
        quote = Quote(_one_line(quote.exact), _one_line(quote.prefix), _one_line(quote.suffix))
        near = max(0, around - NEAR), around + NEAR
        whole = 0, len(self.text)
        return (
            self._find_exact(quote, around, *near)
            or self._find_respelt(quote, around, *near)
            or self._find_similar(quote, around, *near)
            or self._find_exact(quote, around, *whole)
            or (self._find_respelt(quote, around, *whole) if far else None)
            or (self._find_similar(quote, around, *whole) if far else None)
        )

    @cached_property
    def _line(self) -> str:
        return _one_line(self.text)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether no character of the text has another spelling, so that none needs to be looked for."""
        return _plain(self._line) == self._line

    def _find_exact(self, quote: Quote, around: int, low: int, high: int) -> tuple[int, int] | None:
        """Return the same words, with as much of the same context as there is, between ``low`` and ``high``."""
        if self._line.find(quote.exact, low, high) < 0:
            return None
        for before, after in quote.contexts:
            words = before + quote.exact + after
            if words:
                starts = (position + len(before) for position in self._occurrences(words, low, high))
                start = min(islice(starts, _MOST_PLACES), key=lambda start: abs(start - around), default=None)
                if start is not None:
                    return start, start + len(quote.exact)
        return None

    def _find_respelt(self, quote: Quote, around: int, low: int, high: int) -> tuple[int, int] | None:
        """Return the same words with other code points: accents apart or composed, ligatures, soft hyphens."""
        if len(quote.exact) > 2 * _LONGEST_PIECE:
            return self._find_ends(self._find_respelt, quote, around, low, high)
        if self._is_plain:
            plain = Quote(*map(_plain, (quote.exact, quote.prefix, quote.suffix)))
            return self._find_exact(plain, around, low, high) if plain != quote else None
        for before, after in quote.contexts if quote.exact else ():
            pattern = re.compile(f"{_spellings(before)}({_spellings(quote.exact)}){_spellings(after)}")
            spans = (found.span(1) for found in islice(pattern.finditer(self._line, max(0, low), high), _MOST_PLACES))
            if (nearest := min(spans, key=lambda span: abs(span[0] - around), default=None)) is not None:
                return nearest
        return None

    def _find_similar(self, quote: Quote, around: int, low: int, high: int) -> tuple[int, int] | None:
        """Return the words of the most similar passage between ``low`` and ``high``, if it is similar enough."""
        if len(quote.exact) > 2 * _LONGEST_PIECE:
            return self._find_ends(self._find_similar, quote, around, low, high)
        begin = self._most_seeds(str(quote), around - len(quote.prefix), low, high)
        return None if begin is None else self._align(quote, begin)

    def _find_ends(
        self,
        find: Callable[[Quote, int, int, int], tuple[int, int] | None],
        quote: Quote,
        around: int,
        low: int,
        high: int,
    ) -> tuple[int, int] | None:
        """Return long words whose beginning and end ``find`` finds: it would take seconds for all of them."""
        length = len(quote.exact)
        head = Quote(quote.exact[:_LONGEST_PIECE], quote.prefix, quote.exact[_LONGEST_PIECE:][:CONTEXT])
        tail = Quote(quote.exact[-_LONGEST_PIECE:], quote.exact[:-_LONGEST_PIECE][-CONTEXT:], quote.suffix)
        first = find(head, around, low, high)
        last = first and find(tail, first[0] + length - _LONGEST_PIECE, first[0], high)
        return (first[0], last[1]) if first and last and last[1] - first[0] < 2 * length else None

    def _most_seeds(self, pattern: str, around: int, low: int, high: int) -> int | None:
        """Return about where the passage between ``low`` and ``high`` begins that has most pieces of ``pattern``."""
        length = max(3, _SEED_BYTES * len(pattern) // max(1, len(pattern.encode("utf-8", "replace"))))
        votes: Counter[int] = Counter()
        for offset in range(0, len(pattern) - length + 1, max(1, length // 2, len(pattern) // _SEEDS)):
            found = list(islice(self._occurrences(pattern[offset : offset + length], low, high), _MOST_SEEDS + 1))
            if len(found) <= _MOST_SEEDS:
                votes.update({(position - offset) // _BUCKET for position in found})
        # a passage may lie across the border of two buckets
        joined = {bucket: votes[bucket] + votes.get(bucket + 1, 0) for bucket in votes}
        best = max(joined, key=lambda bucket: (joined[bucket], -abs(bucket * _BUCKET - around)), default=None)
        return None if best is None else best * _BUCKET

    def _occurrences(self, piece: str, low: int, high: int) -> Iterator[int]:
        position = self._line.find(piece, low, high)
        while position >= 0:
            yield position
            position = self._line.find(piece, position + 1, high)

    def _align(self, quote: Quote, begin: int) -> tuple[int, int] | None:
        """Return the words of ``quote`` in the passage that begins near ``begin``; None if too few are the same.

        Where the first word of a mark was changed, it starts with the word after the one before it; its end likewise.
        """
        pattern = str(quote)
        first, last = len(quote.prefix), len(quote.prefix) + len(quote.exact)
        low, high = max(0, begin - 2 * CONTEXT), begin + _BUCKET + 2 * CONTEXT + len(pattern) * 5 // 4
        old = [match.span() for match in _WORD.finditer(pattern)]
        new = [match.span() for match in _WORD.finditer(self._line, low, high)]
        words = [pattern[start:end] for start, end in old], [self._line[start:end] for start, end in new]
        blocks = SequenceMatcher(None, *words, autojunk=False).get_matching_blocks()
        pairs = {block.a + i: block.b + i for block in blocks for i in range(block.size)}
        inside = [i for i, (start, end) in enumerate(old) if start < last and end > first]
        if _share(old, pairs, range(len(old))) < _LEAST_ALL or _share(old, pairs, inside) < _LEAST_EXACT:
            return None
        if not inside:  # no word: a bookmark, or punctuation
            before = sum(end <= first for _, end in old) - 1
            if before in pairs:
                start = new[pairs[before]][1] + first - old[before][1]
            elif before + 1 in pairs:
                start = max(0, new[pairs[before + 1]][0] - (old[before + 1][0] - first))
            else:
                return None
            return start, min(start + last - first, len(self.text))
        same = [i for i in inside if i in pairs]
        if inside[0] - 1 in pairs and inside[0] not in pairs:
            start = new[pairs[inside[0] - 1] + 1][0]
        else:
            start = new[pairs[same[0]]][0]
            opening = pattern[first : old[same[0]][0]]  # a quotation mark, for example
            start -= len(opening) * self._line.startswith(opening, max(low, start - len(opening)))
        if inside[-1] + 1 in pairs and inside[-1] not in pairs:
            end = new[pairs[inside[-1] + 1] - 1][1]
        else:
            end = new[pairs[same[-1]]][1]
            closing = pattern[old[same[-1]][1] : last]
            end += len(closing) * self._line.startswith(closing, end)
        return start, end


def _spellings(text: str) -> str:
    """Return the expression that ``text`` matches in every spelling of its characters; '' for ''."""
    pieces = re.findall(f"{'|'.join(_LIGATURES)}|.", _plain(text), re.DOTALL)
    spelt = [_LIGATURES.get(piece) or "|".join({piece: 0, unicodedata.normalize("NFD", piece): 0}) for piece in pieces]
    return f"[{_INVISIBLE}]*".join(
        re.escape(piece) if spellings == piece else f"(?:{'|'.join(map(re.escape, spellings.split('|')))})"
        for piece, spellings in zip(pieces, spelt, strict=True)
    )


def _plain(text: str) -> str:
    """Return ``text`` without soft hyphens, joiners and ligatures, its accents composed."""
    return unicodedata.normalize("NFC", re.sub(f"[{_INVISIBLE}]", "", text.translate(_APART)))


def _one_line(text: str) -> str:
    """Return ``text`` with every line break, tab and no-break space as a space; of the same length."""
    return text.replace("\n", " ").replace("\t", " ").replace("\xa0", " ")


def _share(spans: Sequence[tuple[int, int]], found: Container[int], indices: Iterable[int]) -> float:
    """Return the share of the characters of the words ``indices`` that are in found words; 1 where there is no word."""
    lengths = [(spans[i][1] - spans[i][0], i in found) for i in indices]
    return sum(length for length, same in lengths if same) / sum(length for length, _ in lengths) if lengths else 1.0
