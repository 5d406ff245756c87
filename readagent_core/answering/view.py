"""A view of a gist memory: each part of the book at its own level, pages in full in place, and where words were found.

The first view is the finest that fits a number of words. Opening a part replaces it in place by the level below;
opening a page shows its full text. Where a view grows too long, parts that hold nothing that was asked for are folded
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from readagent_core.answering.levels import ROOM, BookPart, Levels
from readagent_core.answering.shown_text import passages_of
from readagent_core.memory import GistMemory, Passage
from readagent_core.prompts import render_fragment
from readagent_core.tags import escape_tags, gist_mark, page_tag, range_tag
from readagent_core.words import collapse_whitespace, count_words, spread

PLACES = 8  # most places shown for one search
_AROUND = 60  # characters shown on either side of a place
_QUOTES = str.maketrans("‘’‚‛“”„‟´`\u00a0", "''''\"\"\"\"'' ")


@dataclass(frozen=True)
class FoundLine:
    """Where words were found: the page, and a line of text around them.

    ``book``: the book's number on a shelf, 0 for the only book. ``page`` is 0 in a book without pages.
    ``count``: of all places in the book.
    """

    page: int
    line: str
    book: int = 0
    count: int = 1


@dataclass
class View:
    """A view. ``shown``: parts in book order, which cover every readable page once. ``full``: pages shown in full.

    ``book``: the book's number on a shelf, which every page number then begins with ('2.7'); 0 for the only book.
    """

    levels: Levels
    shown: list[BookPart]
    full: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)  # pages that the model or a search has named: never folded
    places: dict[int, list[str]] = field(default_factory=dict)
    book: int = 0

    @property
    def prefix(self) -> str:
        return f"{self.book}." if self.book else ""

    @property
    def memory(self) -> GistMemory:
        return self.levels.memory

    def text(self) -> str:
        """Return the view as the model sees it."""
        return "\n\n".join(self.entry(part) for part in self.shown)

    def words(self) -> int:
        """Return the words of gists, full pages and found lines, without tags."""
        return sum(map(self._words, self.shown))

    def entries(self) -> tuple[tuple[int, int, str], ...]:
        """Return (first page, last page, 'full', 'gist' or 'part') of everything shown, in book order."""
        return tuple((p.first, p.last, "part" if p.first != p.last else self._state(p.first)) for p in self.shown)

    def seen(self) -> dict[int, str]:
        """Return how each readable page is seen: 'full', 'passage', 'gist' or 'part'."""
        pages = {n: how for first, last, how in self.entries() for n in range(first, last + 1)}
        return pages | dict.fromkeys((passage.page for passage in self.passages()), "passage")

    def passages(self) -> tuple[Passage, ...]:
        """Return where the found lines stand that are shown."""
        shown = {page: lines for page, lines in self.places.items() if page not in self.full}
        return passages_of(self.memory, shown)

    def open(self, part: BookPart) -> None:
        """Replace ``part`` in place by the parts below it, also where it was folded; show a page in full."""
        self.asked.update(range(part.first, part.last + 1))
        while part not in self.shown:
            self._unfold(next(shown for shown in self.shown if part.first in shown))
        if part.level:
            self._unfold(part)
        else:
            self.full.add(part.first)

    def words_of_opening(self, part: BookPart) -> int:
        """Return about how many words more the view has when ``part`` is opened."""
        below = self.memory.page(part.first).words if not part.level else sum(map(self.levels.words, part.parts))
        return below - self.levels.words(part)

    def is_open(self, part: BookPart) -> bool:
        """Return whether the levels below ``part`` are shown in its place, or the page in full."""
        if not part.level:
            return part.first in self.full
        return not any(part.first in shown and shown.level >= part.level for shown in self.shown)

    def add_places(self, places: Iterable[FoundLine]) -> None:
        """Show found lines below the part that has them."""
        for place in places:
            self.asked.add(place.page)
            lines = self.places.setdefault(place.page, [])
            if place.line not in lines:
                lines.append(place.line)

    def fold(self, most: int) -> list[str]:
        """Fold parts that hold no page asked for, from the end of the book on, until the view has ``most`` words.

        Returns the names of the parts that were folded.
        """
        folded: list[str] = []
        while self.words() > most:
            above = [
                part
                for level in self.levels.levels[1:]
                for part in level
                if part not in self.shown
                and all(below in self.shown for below in part.parts)
                and not any(n in part for n in self.asked)
            ]
            if not above:
                break
            part = above[-1]
            at = self.shown.index(part.parts[0])
            self.shown[at : at + len(part.parts)] = [part]
            folded.append(f"{self.prefix}{part.label}")
        return folded

    def unfold_towards(self, pages: Iterable[int], most: int) -> None:
        """Unfold the parts that have ``pages``, the most important first, while the view has at most ``most`` words."""
        readable = self._readable
        for page in pages:
            while page in readable:
                part = next(shown for shown in self.shown if page in shown)
                if not part.level:
                    break
                grown = self.words() - self._words(part) + sum(map(self._words, part.parts))
                if grown > most:
                    break
                self._unfold(part)

    def named(self, label: str) -> BookPart | None:
        """Return the part or page of a name such as '7' or '31-33'; None where there is none.

        A range that is no part names the smallest part that has both ends.
        """
        numbers = [int(n) for n in re.findall(r"\d{1,7}", label)]
        if not numbers or any(n not in self._readable for n in numbers):
            return None
        first, last = min(numbers), max(numbers)
        if first == last:
            return self.levels.levels[0][self.memory.readable.index(first)]
        within = (p for level in self.levels.levels for p in level if first in p and last in p)
        return next(within, None)

    @property
    def _language(self) -> str:
        return self.memory.document.language

    @property
    def _readable(self) -> frozenset[int]:
        return frozenset(self.memory.readable)

    def _unfold(self, part: BookPart) -> None:
        at = self.shown.index(part)
        self.shown[at : at + 1] = part.parts

    def _state(self, page: int) -> str:
        return "full" if page in self.full else "gist"

    def _lines(self, part: BookPart) -> Iterator[tuple[int, str]]:
        """Yield the lines found in the pages of ``part`` that are not shown in full, each with its page."""
        for page in range(part.first, part.last + 1):
            if page not in self.full:
                for line in self.places.get(page, ()):
                    shown = f"{self.prefix}{page}"
                    yield page, render_fragment("found", self._language, page=shown, line=escape_tags(line))

    def entry(self, part: BookPart) -> str:
        """Return a part as the model sees it, below its tag, with the lines found in it."""
        return "\n".join([self._own_entry(part), *(line for _, line in self._lines(part))])

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield everything shown piece by piece, parts before found lines: (its name, which no other has, its text)."""
        for part in self.shown:
            yield f"{self.prefix}{part.label} {self._state(part.first)}", self._own_entry(part)
        for part in self.shown:
            for page, line in self._lines(part):
                yield f"{self.prefix}{page} {line}", line

    def _own_entry(self, part: BookPart) -> str:
        if part.first != part.last:
            tag = range_tag(part.first, part.last, self.prefix) + gist_mark(self._language)
        else:
            full = part.first in self.full
            tag = page_tag(f"{self.prefix}{part.first}", full=full, language=self._language)
            tag += "" if full else gist_mark(self._language)
        whole = not part.level and part.first in self.full
        body = escape_tags(self.memory.page_text(part.first)) if whole else self.levels.text(part)
        return f"{tag}\n{body}"

    def _words(self, part: BookPart) -> int:
        whole = not part.level and part.first in self.full
        body = self.memory.page(part.first).words if whole else self.levels.words(part)
        return body + sum(count_words(line) for _, line in self._lines(part))


def first_view(levels: Levels, most: int, ranking: Iterable[int]) -> View:
    """Return the finest view of at most ``most`` words.

    All pages as gists where they fit; else the top level, with the parts of the pages that come first in ``ranking``
    unfolded as far as there is room.
    """
    pages, *above = levels.levels
    if sum(map(levels.words, pages)) <= most:
        return View(levels, list(pages))
    coarse = next((level for level in above if sum(map(levels.words, level)) <= most * ROOM), levels.top)
    view = View(levels, list(coarse))
    view.unfold_towards(ranking, most)
    return view


def find_places(memory: GistMemory, wanted: str, *, most: int = PLACES) -> list[FoundLine]:
    """Return where ``wanted`` occurs in the readable pages (see ``find_in_texts``)."""
    pages = ((number, memory.page_text(number)) for number in memory.readable)
    return find_in_texts(pages, wanted, most=most)


def find_in_texts(texts: Iterable[tuple[int, str]], wanted: str, *, most: int = PLACES) -> list[FoundLine]:
    """Return where ``wanted`` occurs in numbered texts, as whole words whose case does not matter.

    Of more than ``most`` places those spread evenly over all.
    """
    words = collapse_whitespace(wanted.translate(_QUOTES)).strip(" .,;:!?\"'*_")
    found: list[tuple[int, str, int, int]] = []
    if not words:
        return []
    # '*' and '_' may be round words for emphasis
    pattern = "[*_]* [*_]*".join(map(re.escape, words.split(" ")))
    after = r"(?:['’]?s)?(?![^\W_])" if words[-1].isascii() else ""
    bounded = re.compile((r"(?<![^\W_])" if words[0].isascii() else "") + pattern + after, re.IGNORECASE)
    for number, whole in texts:
        text = collapse_whitespace(whole)
        last = -1
        for place in bounded.finditer(text.translate(_QUOTES)):
            if last < 0 or place.start() - last > 2 * _AROUND:  # nearer ones stand in the same line
                found.append((number, text, place.start(), place.end()))
                last = place.end()
    shown = [found[n] for n in spread(range(len(found)), most)]
    return [FoundLine(number, _line_around(text, a, b), count=len(found)) for number, text, a, b in shown]


def _line_around(text: str, start: int, end: int) -> str:
    left, right = max(0, start - _AROUND), min(len(text), end + _AROUND)
    while left and not text[left - 1].isspace() and start - left < 2 * _AROUND:
        left -= 1
    while right < len(text) and not text[right].isspace() and right - end < 2 * _AROUND:
        right += 1
    return ("… " if left else "") + text[left:right].strip() + (" …" if right < len(text) else "")
