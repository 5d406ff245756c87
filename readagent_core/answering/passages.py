"""Passages of a book: runs of paragraphs of one page, found by their words and shown under the page's number.

A page of a long book has thousands of words where one sentence of it is wanted. So a page can be opened in part. A
passage has whole paragraphs, and about ``UNIT_WORDS`` words at least: a line of talk comes with what is round it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from readagent_core.answering.base import Passage
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.statistics import Bm25, content
from readagent_core.tags import escape_tags, passage_tag
from readagent_core.words import collapse_whitespace, count_words, fold, is_unspaced, sentences

UNIT_WORDS = 70  # fewest words of a passage that is ranked, where its page has as many
HITS = 10  # most sentences shown for words that were looked for
FEW_HITS = 3  # of so few, whole paragraphs are shown
_QUOTES = str.maketrans("‘’‚‛“”„‟´`\u00a0", "''''\"\"\"\"'' ")
_ENDING = r"(?:['’]?s|e[sdnr]|d|ing|ly|n|r|st|er[sn]?)?"  # that a word in a search may have in the text


@dataclass(frozen=True)
class Hits:
    """Where words were found: paragraphs in book order, those of them that are ``shown``, and the ``forms`` there."""

    paragraphs: tuple[int, ...]
    shown: tuple[int, ...]
    forms: tuple[str, ...]


class BookPassages:
    """The paragraphs of all pages of a memory, searched and shown, also where a gist is not made yet."""

    def __init__(self, memory: GistMemory) -> None:
        self.memory = memory
        self.units = _units(memory)
        self._index = Bm25([content(self.text(unit)) for unit in self.units]) if self.units else None

    def text(self, passage: Passage) -> str:
        """Return the passage's text with the headings in it."""
        return self.memory.document.text(passage.start, passage.end)

    def words(self, passages: Iterable[Passage]) -> int:
        return sum(count_words(self.text(passage)) for passage in passages)

    def rank(self, question: str) -> list[Passage]:
        """Return the passages that share words with ``question``, best first (BM25)."""
        if self._index is None:
            return []
        scores = self._index.scores(dict.fromkeys(content(question)))
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return [self.units[i] for i in ranked if scores[i] > 0]

    def find(self, wanted: str, pages: Sequence[int] = ()) -> Hits:
        """Return the paragraphs that have the words of ``wanted`` as they stand there or with an ending.

        Words that are nowhere as a phrase are looked for as all of them in one paragraph. ``pages``: look only there.
        """
        words = collapse_whitespace(wanted.translate(_QUOTES)).strip(" .,;:!?\"'*_")
        inside = [page.number for page in self.memory.pages if not pages or page.number in pages]
        numbers = [i for n in inside for i in range(self.memory.page(n).start, self.memory.page(n).end)]
        found: dict[int, str] = {}
        if words:
            texts = {i: self._searchable(i) for i in numbers}
            phrase = _pattern(words)
            found = {i: match.group() for i, text in texts.items() if (match := phrase.search(text))}
            each = [_pattern(word) for word in words.split()]
            if not found and len(each) > 1:
                found = {i: "" for i, text in texts.items() if all(one.search(text) for one in each)}
        step = max(1.0, len(found) / HITS)
        shown = tuple(sorted({list(found)[int(n * step)] for n in range(min(HITS, len(found)))}))
        forms = tuple(dict.fromkeys(form.lower() for form in found.values() if form))
        return Hits(tuple(found), shown, forms)

    def sentence(self, paragraph: int, wanted: str) -> str:
        """Return the sentence of a paragraph that has the words; the paragraph's beginning where none has all."""
        found = sentences(self._plain(paragraph), self.memory.document.language)
        pattern = _pattern(collapse_whitespace(wanted.translate(_QUOTES)).strip(" .,;:!?\"'*_"))
        sentence = next((s for s in found if pattern.search(fold_text(s))), found[0] if found else "")
        return collapse_whitespace(sentence)

    def around(self, paragraph: int) -> Passage:
        """Return the unit of its page that has ``paragraph``."""
        return next(unit for unit in self.units if unit.start <= paragraph < unit.end)

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
        first = self.memory.page(passage.page).start
        return passage_tag(
            passage.page, passage.start - first + 1, passage.end - first, language=self.memory.document.language
        )

    def _plain(self, paragraph: int) -> str:
        return self.memory.document.paragraphs[paragraph].text

    @lru_cache(maxsize=100_000)  # noqa: B019  an object of one question
    def _searchable(self, paragraph: int) -> str:
        return fold_text(self._plain(paragraph))


def fold_text(text: str) -> str:
    """Return a text as words are looked for in it: folded, with plain quotation marks and without emphasis marks."""
    return fold(collapse_whitespace(text.translate(_QUOTES)).replace("*", "").replace("_", ""))


def join_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages in book order, those that touch on one page joined."""
    joined: list[Passage] = []
    for passage in sorted(passages, key=lambda p: (p.start, p.end)):
        last = joined[-1] if joined else None
        if last and last.page == passage.page and passage.start <= last.end:
            joined[-1] = Passage(last.page, last.start, max(last.end, passage.end))
        else:
            joined.append(passage)
    return joined


def _pattern(words: str) -> re.Pattern[str]:
    """Return the expression of words as a phrase: in scripts with spaces whole words, the last also with an ending."""
    folded = fold(words)
    if is_unspaced(folded):
        return re.compile(re.escape(folded))
    ending = _ENDING if len(folded) > 3 else "s?"
    return re.compile(rf"(?<!\w){re.escape(folded)}{ending}(?!\w)")


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
