"""Check the citations of an answer from several books: '[2.7]' is page 7 of book 2, '[2]' the book as a whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from readagent_core.citations.answer_parsing import DETAIL, KIND, parse, parse_unfinished
from readagent_core.citations.checking import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked, Citation, Shown, check_parsed
from readagent_core.citations.quotation_search import Finder
from readagent_core.document import Document, Paragraph
from readagent_core.memory import GistMemory, Page, Passage
from readagent_core.plan import GistingPlan
from readagent_core.tags import join_labels

_FIRST = 10_001  # the number of the first place: a page that a reply names without a book is never taken for one
_LONGEST_RANGE = 20  # pages of one mark that are cited one by one
_ONE = r"\d{1,4}(?:\.\d{1,6}(?:\s*[-–—]\s*(?:\d{1,4}\.)?\d{1,6})?)?"
_MARK = re.compile(rf"\[\s*{KIND}?({_ONE}(?:\s*[,;、]\s*{KIND}?{_ONE})*){DETAIL}\s*\]", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,80}\]|【[^【】\n]{1,80}】|\((?:book|本)[^()\n]{1,80}\)", re.IGNORECASE)
_LABEL = re.compile(r"(\d{1,4})(?:\.(\d{1,6})(?:\s*[-–—]\s*(?:\d{1,4}\.)?(\d{1,6}))?)?")


@dataclass(frozen=True)
class Source:
    """What an answer saw of a book. ``memory``: None without gists; ``found``: the lines of it that were then shown.

    The others: as for ``check``.
    """

    memory: GistMemory | None
    full: Collection[int]
    shown: Collection[int]
    title: str = ""
    passages: Collection[Passage] = ()
    found: Sequence[str] = ()


def check_several(answer: str, sources: Mapping[int, Source]) -> Checked:
    """Return an answer in pieces with its checked citations, each with the number of its book.

    ``sources``: the books that were shown, by number. Page 0 is a book as a whole. A mark without a book that was shown
    is not found; no page is ever taken for one of another book. Of a book without gists the places are in the lines
    that were found: ``paragraph`` is the number of the line, from 0, and the page is 0.
    """
    numbered_text, places = _number_places(answer)
    parsed = parse(numbered_text)
    shown = {
        n: Shown(Finder(s.memory), set(s.full), set(s.shown), n, s.passages) for n, s in sources.items() if s.memory
    }
    lines = {n: Shown(Finder(_as_page(s.found)), {1}, {1}, n) for n, s in sources.items() if s.found and not s.memory}

    def locate(numbered: int, claim: str) -> tuple[Shown, int] | Citation:
        book, page = places[numbered - _FIRST] if 0 <= numbered - _FIRST < len(places) else (0, 0)
        source = sources.get(book)
        if source is None:
            return Citation(page, NOT_FOUND, claim, why="This names no book that the model was shown.", book=book)
        if book in lines:
            return lines[book], 1
        if book not in shown or not page:
            seen = "words found in" if book not in shown else "gists of"
            return Citation(page, FROM_MEMORY, claim, why=f"From {seen} “{source.title}”, no page named.", book=book)
        return shown[book], page

    checked = check_parsed(parsed, locate, [*shown.values(), *lines.values()])

    def without_pages(citations: Iterable[Citation]) -> tuple[Citation, ...]:
        return tuple(_without_page(c, sources[c.book].title) if c.book in lines else c for c in citations)

    pieces = tuple(replace(piece, citations=without_pages(piece.citations)) for piece in checked.pieces)
    return Checked(pieces, without_pages(checked.loose))


def _as_page(lines: Sequence[str]) -> GistMemory:
    """Return a memory whose only page has these lines as paragraphs."""
    document = Document("", tuple(map(Paragraph, lines)))
    return GistMemory(document, GistingPlan(), (Page(1, 0, len(lines), 0),), (None,))


def _without_page(citation: Citation, title: str) -> Citation:
    """Return a citation of ``_as_page`` as one of the book named ``title``, which has no pages."""
    why = {
        FROM_PAGE: f"These words are in the text of “{title}”.",
        NOT_FOUND: f"The quoted words are not in the passages that were found in “{title}”.",
    }.get(citation.state, f"From passages found in “{title}”, of which no words are quoted.")
    places = tuple(replace(place, page=0) for place in citation.places)
    return replace(citation, page=0, places=places, why=why)


def parse_unfinished_several(answer: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return an answer that is still arriving in pieces, each with the (book, page) that its mark names."""
    text, places = _number_places(answer)
    parsed = parse_unfinished(text)
    found: list[tuple[str, list[tuple[int, int]]]] = []
    at = 0
    for mark in parsed.marks:
        named = [places[n - _FIRST] for n in mark.pages if 0 <= n - _FIRST < len(places)]
        found.append((parsed.body[at : mark.start], named))
        at = mark.end
    return [*found, (parsed.body[at:], [])]


def _number_places(answer: str) -> tuple[str, list[tuple[int, int]]]:
    """Return ``answer`` with the numbers of places in its marks in place of labels, and these places: (book, page)."""
    places: list[tuple[int, int]] = []

    def number(found: re.Match[str]) -> str:
        label = join_labels(found.group())
        marked = _MARK.fullmatch(f"[{label[1:-1]}]")
        if not marked:
            return found.group()
        listed: list[tuple[int, int]] = []
        for one in _LABEL.finditer(marked.group(1)):
            first = int(one.group(2) or 0)
            last = min(int(one.group(3) or first), first + _LONGEST_RANGE)
            listed += [(int(one.group(1)), page) for page in range(first, max(first, last) + 1)]
        places.extend(place for place in dict.fromkeys(listed) if place not in places)
        return f"[{', '.join(str(places.index(place) + _FIRST) for place in dict.fromkeys(listed))}]"

    return _BRACKETED.sub(number, answer), places
