"""Passages of a book: runs of paragraphs of one page, found by their words and shown under the page's number.

A page of a long book has thousands of words where one sentence of it is wanted. So a page can be opened in part. A
passage has whole paragraphs, and about ``UNIT_WORDS`` words at least: a line of talk comes with what is round it.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from readagent_core.answering.shown_text import join_passages
from readagent_core.document import Document
from readagent_core.memory import GistMemory, Passage
from readagent_core.models.builtin.statistics import content, inverse_frequencies
from readagent_core.tags import escape_tags, passage_tag
from readagent_core.words import collapse_whitespace, count_words, first_words, fold, is_unspaced, last_words, sentences

UNIT_WORDS = 40  # fewest words of a passage that is ranked, where its page has as many
FEW_HITS = 3  # of so few, whole paragraphs are shown
MOST_OF_PAGE = 3  # passages of one page for a question
MET = 0.5  # weight of a question's word that a chosen passage has
LEAST = 40  # words; with less room no passage is chosen
RARE = 1.4  # exponent of a word's idf: what a question turns on is mostly its rare words
AROUND = 100  # words shown round a place that was looked for
MOST_AROUND = 180  # the same where whole paragraphs are shown
MOST_PAGES = 6  # a word of the question on more pages says little about where to look
_INSIDE = 3  # letters; a longer word is looked for inside others too
_NEAREST = 50  # passages that come into question by their embedding alone
_INDEXING = threading.Lock()
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_QUOTES = str.maketrans("‘’‚‛“”„‟´`\u00a0", "''''\"\"\"\"'' ")
_ENDING = r"(?:['’]?s|e[sdnr]|d|ing|ly|n|r|st|er[sn]?)?"  # that a word in a search may have in the text


@dataclass(frozen=True)
class Hits:
    """Where words were found: paragraphs in book order, and the ``forms`` of the words there.

    ``exact``: as they stand, or with an ending; False where only parts of words or words apart were found. ``inside``:
    longer words that have a single word of the search inside, each with its first paragraph.
    """

    paragraphs: tuple[int, ...]
    forms: tuple[str, ...]
    exact: bool = True
    inside: Mapping[str, int] = field(default_factory=dict)


class BookPassages:
    """The paragraphs of all pages of a memory, searched and shown, also where a gist is not made yet."""

    def __init__(self, memory: GistMemory) -> None:
        self.memory = memory
        with _INDEXING:  # questions on one book start together; the first one builds the index for all
            self._index = _index_of(PagesOf(memory))

    def text(self, passage: Passage) -> str:
        """Return the passage's text with the headings in it; the page's label says which of several books it is of."""
        return Document.text(self.memory.document, passage.start, passage.end)

    def words(self, passages: Iterable[Passage]) -> int:
        return sum(count_words(self.text(passage)) for passage in passages)

    @property
    def units(self) -> Sequence[Passage]:
        """The passages that are ranked."""
        return self._index.units

    def choose(self, question: str, room: int, near: Sequence[float] = ()) -> list[Passage]:
        """Return passages for ``question`` of at most ``room`` words, best first, at most ``MOST_OF_PAGE`` of a page.

        By BM25; of words that a chosen passage has, the next ones count less, so that each part of a question is met.
        ``near``: how near each of the ``units`` is to the question by embeddings; then both are joined by rank.
        """
        wanted = set(_stems(question))
        index = self._index
        left = {i: terms for i, terms in enumerate(index.terms) if not wanted.isdisjoint(terms)}
        met: set[str] = set()
        chosen: list[Passage] = []

        def gain(i: int) -> float:
            length = 0.25 + 0.75 * sum(left[i].values()) / index.mean
            return sum(
                index.idf[term] * (MET if term in met else 1.0) * n * 2.5 / (n + 1.5 * length)
                for term in wanted & left[i].keys()
                for n in (left[i][term],)
            )

        joined: dict[int, float] = {}
        if near:
            left |= {i: index.terms[i] for i in sorted(range(len(near)), key=lambda i: -near[i])[:_NEAREST]}
            for scores in ({i: n for i in left if (n := gain(i))}, {i: near[i] for i in left}):
                for rank, i in enumerate(sorted(scores, key=lambda i: (-scores[i], i))):
                    joined[i] = joined.get(i, 0.0) + 1 / (60 + rank)
        while left and room >= LEAST:
            best = max(left, key=lambda i: (joined[i] if near else gain(i), -i))
            terms, unit = left.pop(best), index.units[best]
            words = self.words([unit])
            if words <= room and sum(one.page == unit.page for one in chosen) < MOST_OF_PAGE:
                chosen.append(unit)
                room -= words
                met |= wanted & terms.keys()
        return chosen

    def spread(self, room: int) -> list[Passage]:
        """Return passages of at most ``room`` words from the beginning to the end, at even distances."""
        units = self.units
        count = min(len(units), room // max(1, self.words(units) // max(1, len(units))))
        while count and (chosen := [units[i * (len(units) - 1) // max(1, count - 1)] for i in range(count)]):
            if self.words(chosen) <= room:
                return chosen
            count -= 1
        return []

    def end(self, room: int, *, last: bool) -> list[Passage]:
        """Return passages of at most ``room`` words from the end of the text, or from its beginning; notes left out."""
        chosen: list[Passage] = []
        paragraphs = self.memory.document.paragraphs
        told = [unit for unit in self.units if not all(one.note for one in paragraphs[unit.start : unit.end])]
        for unit in reversed(told) if last else told:
            if chosen and (room := room - self.words(chosen[-1:])) < self.words([unit]):
                break
            chosen.append(unit)
        return chosen

    def find(self, wanted: str, pages: Sequence[int] = ()) -> Hits:
        """Return the paragraphs that have the words of ``wanted`` as they stand there or with an ending.

        A word that is nowhere is looked for inside others ('prentice in apprentice), a phrase that is nowhere as all
        of its words in one paragraph. ``pages``: look only there.
        """
        words, exact = _plain_words(wanted), True
        within: dict[str, int] = {}
        inside = [page.number for page in self.memory.pages if not pages or page.number in pages]
        numbers = [i for n in inside for i in range(self.memory.page(n).start, self.memory.page(n).end)]
        found: dict[int, str] = {}
        if words:
            texts = {i: self._searchable(i) for i in numbers}
            phrase = _pattern(words)
            found = {i: match.group() for i, text in texts.items() if (match := phrase.search(text))}
            exact = bool(found)
            each = [_pattern(word) for word in words.split()]
            long = len(words) > (1 if words.isdecimal() else _INSIDE)  # also the 18 of 1840
            if len(each) == 1 and long and not is_unspaced(words):
                inner = _inside(words)
                longer = {i: match.group() for i, text in texts.items() if (match := inner.search(text))}
                for i, word in longer.items():
                    if i not in found and not phrase.fullmatch(word):
                        within.setdefault(word, i)
                found = found or longer
            if not found and len(each) > 1:
                found = {i: "" for i, text in texts.items() if all(one.search(text) for one in each)}
        forms = tuple(dict.fromkeys(form.lower() for form in found.values() if form))
        return Hits(tuple(found), forms, exact, within)

    def sentence(self, paragraph: int, wanted: str, most: int) -> str:
        """Return the sentence of a paragraph that has the words, else the first with any of them.

        At most about ``most`` words of it, those round the first place of the words.
        """
        found = sentences(self._plain(paragraph), self.memory.document.language)
        for pattern in _patterns(wanted):
            for sentence in found:
                if match := pattern.search(fold_text(sentence)):
                    return _clip(collapse_whitespace(sentence), match.start(), most)
        return first_words(collapse_whitespace(found[0] if found else ""), most)

    def excerpt(self, paragraph: int, wanted: str, most: int) -> str:
        """Return about ``most`` words of a paragraph round the place of the words."""
        return clip_to(collapse_whitespace(self._plain(paragraph)), wanted, most)

    def around(self, paragraph: int) -> Passage:
        """Return the unit that has ``paragraph``, with its neighbours on the page up to ``AROUND`` words."""
        units = self._index.units
        page, start, end, *_ = units[bisect_right(units, paragraph, key=lambda unit: unit.start) - 1]
        first, last = self.memory.page(page).start, self.memory.page(page).end
        while (start > first or end < last) and self.words([Passage(page, start, end)]) < AROUND:
            start, end = max(first, start - 1), min(last, end + 1)
        return Passage(page, start, end)

    def places(self, question: str) -> dict[str, tuple[int, ...]]:
        """Return the pages of each word of ``question`` that is on at most ``MOST_PAGES``; () where it is on none.

        Empty in scripts without spaces.
        """
        found: dict[str, tuple[int, ...]] = {}
        for word in () if is_unspaced(question) else _WORD.findall(question):
            stems = set(_stems(word))
            units = zip(self.units, self._index.terms, strict=True)
            pages = {unit.page for unit, terms in units if stems <= terms.keys()}
            if stems and len(word) > 1 and len(pages) <= MOST_PAGES:
                found[word] = tuple(sorted(pages))
        return found

    def named(self, page: int, first: int, last: int) -> Passage | None:
        """Return paragraphs ``first`` to ``last`` (from 1) of a page as a passage; None where it has none of them."""
        if not 1 <= page <= len(self.memory.pages):
            return None
        start, end = self.memory.page(page).start, self.memory.page(page).end
        low, high = start + max(1, first) - 1, min(end, start + last)
        return Passage(page, low, high) if low < high else None

    def show(self, passages: Iterable[Passage]) -> str:
        """Return passages as the model sees them, in book order, each under its page and paragraphs."""
        return "\n\n".join(
            f"{self.tag(passage)}\n{escape_tags(self.text(passage))}" for passage in join_passages(passages)
        )

    def tag(self, passage: Passage) -> str:
        return passage_tag(
            self.memory.label(passage.page), self.paragraphs(passage), language=self.memory.document.language
        )

    def paragraphs(self, passage: Passage) -> str:
        """Return the paragraphs of a passage, counted from 1 on its page: '4' or '4-9'."""
        first = self.memory.page(passage.page).start
        return "-".join(dict.fromkeys([str(passage.start - first + 1), str(passage.end - first)]))

    def _plain(self, paragraph: int) -> str:
        return self.memory.document.paragraphs[paragraph].text

    @lru_cache(maxsize=100_000)  # noqa: B019  an object of one question
    def _searchable(self, paragraph: int) -> str:
        return fold_text(self._plain(paragraph))


def _plain_words(wanted: str) -> str:
    return collapse_whitespace(wanted.translate(_QUOTES)).strip(" .,;:!?\"'*_")


def _clip(sentence: str, at: int, most: int) -> str:
    """Return about ``most`` words of a sentence round the character ``at``, with an ellipsis for what is left out."""
    if count_words(sentence) <= most:
        return sentence
    before = last_words(sentence[:at], most // 3)
    rest = sentence[at:]
    after = first_words(rest, most - count_words(before))
    space = " " * sentence[:at].endswith(" ")
    cut_before, cut_after = before.strip() != sentence[:at].strip(), after.strip() != rest.strip()
    return f"{'… ' * cut_before}{before.strip()}{space}{after.strip()}{' …' * cut_after}"


def fold_text(text: str) -> str:
    """Return a text as words are looked for in it: folded, with plain quotation marks and without emphasis marks."""
    return fold(collapse_whitespace(text.translate(_QUOTES)).replace("*", "").replace("_", ""))


def _pattern(words: str) -> re.Pattern[str]:
    """Return the expression of words as a phrase: in scripts with spaces whole words, the last also with an ending."""
    folded = fold(words)
    if is_unspaced(folded):
        return re.compile(re.escape(folded))
    ending = _ENDING if len(folded) > 3 else "s?"
    return re.compile(rf"(?<!\w){re.escape(folded)}{ending}(?!\w)")


def _inside(word: str) -> re.Pattern[str]:
    """Return the expression of a word inside others: 'hood' in 'neighbourhood'."""
    return re.compile(rf"\w*{re.escape(fold(word))}\w*")


def _patterns(wanted: str) -> Iterator[re.Pattern[str]]:
    """Yield the expressions by which words are found, the best first: as they stand, each of them, inside others."""
    words = _plain_words(wanted)
    yield from map(_pattern, dict.fromkeys((words, *words.split())))
    yield _inside(words)


def clip_to(text: str, wanted: str, most: int) -> str:
    """Return about ``most`` words of a text round the first place of the words."""
    folded = fold_text(text)
    places = (pattern.search(folded) for pattern in _patterns(wanted))
    found = next(filter(None, places), None)
    return _clip(text, found.start() if found else 0, most)


def sentences_with(text: str, wanted: str, language: str) -> list[str]:
    """Return the sentences of a text that have the words as a phrase, or else all of them."""
    words = _plain_words(wanted)
    found = [(sentence, fold_text(sentence)) for sentence in sentences(text, language)] if words else []
    phrase, each = _pattern(words), [_pattern(word) for word in words.split()]
    whole = [collapse_whitespace(sentence) for sentence, folded in found if phrase.search(folded)]
    return whole or [collapse_whitespace(s) for s, folded in found if all(one.search(folded) for one in each)]


def _stems(text: str) -> list[str]:
    """Return the terms that carry meaning, so that 'taste' meets 'tasted'."""
    return [term.rstrip("e") if len(term) > 4 else term for term in content(text)]


class PagesOf:
    """A memory as a cache key: equal where the text and the bounds of the pages are, whatever the gists."""

    def __init__(self, memory: GistMemory) -> None:
        self.memory = memory
        self._key = (memory.document.id, tuple((page.start, page.end) for page in memory.pages))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PagesOf) and self._key == other._key


@dataclass(frozen=True)
class _Index:
    """The ``units`` that are ranked, the ``terms`` of each with their number, ``idf``, and the ``mean`` length."""

    units: list[Passage]
    terms: list[Counter[str]]
    idf: Mapping[str, float]
    mean: float


@lru_cache(maxsize=16)
def _index_of(text: PagesOf) -> _Index:
    units = _units(text.memory)
    terms = [Counter(_stems(Document.text(text.memory.document, unit.start, unit.end))) for unit in units]
    mean = sum(sum(bag.values()) for bag in terms) / max(1, len(terms))
    rarity = {term: weight**RARE for term, weight in inverse_frequencies(terms).items()}
    return _Index(units, terms, rarity, max(1.0, mean))


def _units(memory: GistMemory) -> list[Passage]:
    """Return every page cut into passages: paragraphs are joined until they have ``UNIT_WORDS`` words."""
    units: list[Passage] = []
    for page in memory.pages:
        number, start, words, own = page.number, page.start, 0, len(units)
        for index in range(page.start, page.end):
            words += memory.document.paragraphs[index].words
            if words >= UNIT_WORDS:
                units.append(Passage(number, start, index + 1))
                start, words = index + 1, 0
        if start < page.end:
            if len(units) > own:
                start = units.pop().start
            units.append(Passage(number, start, page.end))
    return units
