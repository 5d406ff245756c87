"""From an answer as a model wrote it to claims that can be followed to the words they rest on.

``check`` looks up every quotation of an answer in the page it names and tells three states apart: the words stand
on a page that was read, only a gist supports the claim, or nothing was found. Never the wrong sentence: a place
is given only where every word of the quotation stands. Knows nothing of how pages were chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from readagent_core.citations.finding import Finder, Place
from readagent_core.citations.parsing import Mark, Parsed, Quotation, parse, quoted_runs, unfinished
from readagent_core.memory import GistMemory
from readagent_core.words import is_unspaced, terms

__all__ = [
    "FROM_MEMORY",
    "FROM_PAGE",
    "NOT_FOUND",
    "Checked",
    "Citation",
    "Finder",
    "Mark",
    "Parsed",
    "Piece",
    "Place",
    "Quotation",
    "check",
    "parse",
    "unfinished",
]

FROM_PAGE, FROM_MEMORY, NOT_FOUND = "page", "memory", "not found"
COPIED = 5  # words; a claim of so many that stands in the page word for word needs no other quotation


@dataclass(frozen=True)
class Citation:
    """One page cited for a claim; page 0 for a quotation that names none and stands on none.

    ``state``: 'page' (its words are quoted and found in the page that was read), 'memory' (rests on the gist, or
    nothing was quoted to check) or 'not found'. ``places``: where the words stand, empty unless every one was found.
    ``why``: for people.
    """

    page: int
    state: str
    claim: str = ""
    quotation: str = ""
    places: tuple[Place, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Piece:
    """A stretch of the answer's body: plain ``text``, then the citations that stand behind it."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True)
class Checked:
    """An answer, checked. ``pieces``: its body in order. ``loose``: quotations that no mark leads to."""

    pieces: tuple[Piece, ...]
    loose: tuple[Citation, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(c for piece in self.pieces for c in piece.citations) + self.loose

    def count(self, state: str) -> int:
        return sum(c.state == state for c in self.citations)


def check(answer: str, memory: GistMemory, *, full: Collection[int], shown: Collection[int] | None = None) -> Checked:
    """Every claim of ``answer`` with what it rests on. ``full``: pages that stood in full before the model.

    ``shown``: pages of which anything stood there; None for every page that has a gist.
    """
    parsed = parse(answer)
    finder = Finder(memory)
    there = finder.readable if shown is None else finder.readable & set(shown)
    used: set[int] = set()
    pieces: list[Piece] = []
    position = 0
    turn: dict[int, int] = {}
    for mark in parsed.marks:
        citations: list[Citation] = []
        for number in mark.pages:
            chosen = _quotation_for(parsed.quotations, number, mark.claim, turn.get(number, 0))
            turn[number] = turn.get(number, 0) + 1
            used |= {chosen} if chosen is not None else set()
            quotation = parsed.quotations[chosen] if chosen is not None else None
            citations.append(_cite(finder, number, mark.claim, quotation, full=full, shown=there))
        text = parsed.body[position : mark.start]
        if pieces and not text.strip():
            pieces[-1] = Piece(pieces[-1].text, pieces[-1].citations + tuple(citations))
        else:
            pieces.append(Piece(text, tuple(citations)))
        position = mark.end
    if parsed.body[position:]:
        pieces.append(Piece(parsed.body[position:]))
    loose = [
        _cite(finder, number, "", quotation, full=full, shown=there)
        for index, quotation in enumerate(parsed.quotations)
        if index not in used
        for number in quotation.pages or _holding(finder, quotation, full)
    ]
    loose += [
        Citation(0, NOT_FOUND, quotation=" … ".join(q.readings[0]), why="These words stand on no page that was read.")
        for index, q in enumerate(parsed.quotations)
        if index not in used and not q.pages and full and not _stands(finder, q, full)
    ]
    return Checked(tuple(pieces), tuple(loose))


def _quotation_for(quotations: Sequence[Quotation], number: int, claim: str, turn: int) -> int | None:
    """The quotation of page ``number`` that shares most words with the claim; equal ones in turn."""
    candidates = [i for i, q in enumerate(quotations) if number in q.pages]
    if not candidates:
        return None
    said = set(terms(claim))
    shared = {i: len(said & set(terms(quotations[i].text))) for i in candidates}
    best = [i for i in candidates if shared[i] == max(shared.values())]
    return best[min(turn, len(best) - 1)]


def _stands(finder: Finder, quotation: Quotation, full: Collection[int]) -> bool:
    """Whether any page that stood in full holds the quotation; on several it is true, but leads to none of them."""
    return any(finder.in_page(words, n) for words in quotation.readings for n in full if n in finder.readable)


def _holding(finder: Finder, quotation: Quotation, full: Collection[int]) -> list[int]:
    """The opened page that holds a quotation given without a page, when it is one page only."""
    found = [n for n in sorted(full) if n in finder.readable and finder.in_page(quotation.readings[0], n)]
    return found if len(found) == 1 else []


def _cite(
    finder: Finder,
    number: int,
    claim: str,
    quotation: Quotation | None,
    *,
    full: Collection[int],
    shown: Collection[int],
) -> Citation:
    if number not in shown:
        why = f"The answer names page {number}, which was not before the model."
        return Citation(number, NOT_FOUND, claim, quotation.text if quotation else "", why=why)
    in_full = number in full
    inline = tuple(run for run in quoted_runs(claim) if len(terms(run)) >= 4)
    said = list(quotation.readings) if quotation else [inline] if inline else []
    if in_full and len(terms(claim)) >= COPIED and (places := finder.in_page([claim], number)):
        return Citation(number, FROM_PAGE, claim, claim, places, f"These words stand on page {number}.")
    for reading in said:
        places = finder.in_page(reading, number)
        words = " … ".join(reading)
        if places and in_full:
            return Citation(number, FROM_PAGE, claim, words, places, f"These words stand on page {number}.")
        if places or finder.in_gist(reading, number):
            why = f"Only the gist of page {number} was before the model."
            if in_full:
                why = f"These words are the gist's, not those of page {number}."
            return Citation(number, FROM_MEMORY, claim, words, places, why)
    if said and (quotation or not any(finder.in_page(inline, n) for n in full if n in shown)):
        why = f"The words quoted do not stand on page {number}."
        return Citation(number, NOT_FOUND, claim, " … ".join(said[0]), why=why)
    if not in_full:
        if not _supported(claim, finder.memory, number):
            return Citation(number, NOT_FOUND, claim, why=f"The gist of page {number} says nothing of this.")
        return Citation(number, FROM_MEMORY, claim, why=f"Only the gist of page {number} was before the model.")
    why = f"Page {number} was read again, but no words of it were quoted."
    return Citation(number, FROM_MEMORY, claim, why=why)


def _supported(claim: str, memory: GistMemory, number: int) -> bool:
    """Whether a gist shares any word (by its first letters) with the claim; short claims are given the benefit."""
    gist = memory.gists[number - 1]
    stems = {t[:5] for t in terms(claim) if len(t) > 3 or is_unspaced(t)}
    if len(stems) < 4 or gist is None:
        return True
    held = {t[:5] for t in terms(gist.text)}
    if is_unspaced(claim) != is_unspaced(gist.text):
        return True  # another language than the book's: nothing to compare
    return bool(stems & held)
