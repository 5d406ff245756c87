"""Check an answer's citations against the pages and gists they name.

``check`` searches every quotation of an answer in the page it cites. A citation has one of three states: its words
are found on a page that was read in full, only a gist supports it, or nothing was found. Places in the text are given
only where every word of the quotation was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from readagent_core.citations.answer_parsing import Parsed, Quotation, parse, quoted_runs
from readagent_core.citations.quotation_search import Finder, QuotedPlace
from readagent_core.memory import GistMemory, Passage
from readagent_core.short_repr import short_repr
from readagent_core.words import is_unspaced, terms

FROM_PAGE, FROM_MEMORY, NOT_FOUND = "page", "memory", "not found"
_SENTENCES = re.compile(r"(?s:.*)[.!?。！？][”’\"」』]?\s*")
_SENTENCE_END = re.compile(r"[^\w\s“‘「『(]*(?:\s…)?\s*")
_ENDED = re.compile(r"[.!?…。！？][”’\"」』)]*\s*\Z")
_OPENING = '"“„«「『'
_PARAGRAPH_END = re.compile(r"\n\s*\n")
COPIED = 5  # words; a claim this long that occurs in the page word for word needs no other quotation


@short_repr
@dataclass(frozen=True)
class Citation:
    """One page cited for a claim; page 0 for a quotation that names no page and was found on none.

    ``state``: 'page' (quoted words were found on a page read in full), 'memory' (based on the gist, or nothing was
    quoted) or 'not found'. ``places``: where the words are, empty unless all were found. ``why``: the reason, for
    screens. ``recognised``: the words are in text that was recognised in a picture of its page, so may be wrong.
    ``book``: of an answer from several books, the number of the one cited; page 0 is then the book as a whole.
    ``in_part``: the page was opened in part. ``bare``: it was opened, but the answer quotes no words of it for this.
    """

    page: int
    state: str
    claim: str = ""
    quotation: str = ""
    places: tuple[QuotedPlace, ...] = ()
    why: str = ""
    recognised: bool = False
    book: int = 0
    in_part: bool = False
    bare: bool = False


@dataclass(frozen=True)
class Shown:
    """What an answer saw of a book: ``full`` pages, and all pages that were ``shown``; ``book``: its number, if any.

    ``passages``: of pages that were shown in part.
    """

    finder: Finder
    full: Collection[int]
    shown: Collection[int]
    book: int = 0
    passages: Collection[Passage] = ()

    @property
    def opened(self) -> set[int]:
        """The pages whose text was shown, in full or in part."""
        return {*self.full, *(passage.page for passage in self.passages)}

    def has_shown(self, places: Sequence[QuotedPlace]) -> bool:
        """Return whether the text at ``places`` was shown."""
        return bool(places) and all(
            place.page in self.full
            or any(
                passage.page == place.page
                and passage.begins <= (place.paragraph, place.start)
                and (place.paragraph, place.end) <= passage.ends
                for passage in self.passages
            )
            for place in places
        )


# the book and page that a number in an answer names; a Citation where it names none that can be checked
Locate = Callable[[int, str], tuple[Shown, int] | Citation]


@short_repr
@dataclass(frozen=True)
class Piece:
    """A part of the answer's body: ``text``, and the citations that follow it."""

    text: str
    citations: tuple[Citation, ...] = ()


@short_repr
@dataclass(frozen=True)
class Checked:
    """A checked answer. ``pieces``: its body in order. ``loose``: quotations that no page mark refers to."""

    pieces: tuple[Piece, ...]
    loose: tuple[Citation, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(c for piece in self.pieces for c in piece.citations) + self.loose

    def count(self, state: str) -> int:
        return sum(c.state == state for c in self.citations)


def check(
    answer: str,
    memory: GistMemory,
    *,
    full: Collection[int],
    shown: Collection[int] | None = None,
    passages: Collection[Passage] = (),
) -> Checked:
    """Return ``answer`` in pieces with their checked citations.

    ``full``: pages that were in the prompt in full; ``passages``: parts of pages that were. ``shown``: pages that were
    in it in any form; None for every page that has a gist.
    """
    in_prompt = set(memory.readable if shown is None else shown).intersection(range(1, len(memory.pages) + 1))
    source = Shown(Finder(memory), full, in_prompt, passages=passages)
    return check_parsed(parse(answer), lambda number, _: (source, number), [source])


_Cited = TypeVar("_Cited")


def split_paragraphs(
    pieces: Iterable[tuple[str, Sequence[_Cited]]], *, copied: bool
) -> list[list[tuple[str, Sequence[_Cited]]]]:
    """Return the pieces of an answer in paragraphs: each a text and what is cited after it.

    ``copied``: from the book. Its sentences are no text together, so each is a paragraph.
    """
    found: list[list[tuple[str, Sequence[_Cited]]]] = [[]]
    for text, cited in pieces:
        if copied:
            found.append([])
        *before, last = _PARAGRAPH_END.split(text)
        for words in before:
            found[-1].append((words.rstrip(), ()))
            found.append([])
        last = last if found[-1] else last.lstrip()
        found[-1].append((last.rstrip() if cited or copied else last, cited))
    return [paragraph for paragraph in found if any(text.strip() or cited for text, cited in paragraph)]


def answer_paragraphs(checked: Checked, *, copied: bool) -> list[list[Piece]]:
    """Return a checked answer in paragraphs. ``copied``: from the book, so that each sentence is one."""
    pieces = _with_pages(checked) if copied else [*checked.pieces, Piece("", checked.loose)]
    paragraphs = split_paragraphs([(piece.text, piece.citations) for piece in pieces], copied=copied)
    return [[Piece(text, tuple(cited)) for text, cited in paragraph] for paragraph in paragraphs]


def _with_pages(checked: Checked) -> Iterator[Piece]:
    """Yield the pieces of a copied answer; where it names no pages, each sentence with that of its quoted words."""

    def goes_on(piece: Piece) -> bool:
        return bool(piece.citations) and not _ENDED.search(piece.text)

    if any(piece.citations for piece in checked.pieces):
        yield from checked.pieces
        return
    own, _, text = "".join(piece.text for piece in checked.pieces).rpartition("\n\n")
    last = Piece(own)  # the reader's own words
    at = 0
    for citation in checked.loose:
        words = citation.quotation.rstrip(";:, ")  # a sentence that is left off there ends with an ellipsis
        begin = text.find(words, at) if citation.page else -1
        if begin >= 0 and (end := _SENTENCE_END.match(text, begin + len(words))):
            if before := _SENTENCES.match(text, at, begin):
                if goes_on(last):
                    last = replace(last, text=last.text + before[0])
                else:
                    yield last
                    last = Piece(before[0])
                at = before.end()
            yield last
            last = Piece(text[at : end.end()], (citation,))
            at = end.end()
    if goes_on(last):  # what was said is quoted, and who said it comes after
        last = replace(last, text=last.text + text[at:])
        at = len(text)
    yield last
    yield Piece(text[at:])


def mark_pages(answer: str, memory: GistMemory, full: Collection[int], *, copied: bool) -> str:
    """Return an answer that names no pages with the mark of the page before each quotation of its evidence that was
    found on one of ``full``; of a ``copied`` answer also after each sentence.
    """
    checked = check(answer, memory, full=full, shown=full)
    marked, at = "", 0
    for (piece,) in answer_paragraphs(checked, copied=True) if copied else ():
        begin = answer.find(words := piece.text, at)
        if piece.citations and begin >= 0:
            end = begin + len(words)
            marked += f"{answer[at:end]} [{piece.citations[0].page}]"
            at = end
    marked += answer[at:]
    for citation in checked.loose:
        begin = marked.rfind(citation.quotation)
        begin -= marked[:begin].endswith(tuple(_OPENING))
        if citation.page and begin >= 0 and not marked[:begin].rstrip().endswith("]"):
            marked = f"{marked[:begin]}[{citation.page}] {marked[begin:]}"
    return marked


def check_parsed(parsed: Parsed, locate: Locate, sources: Sequence[Shown]) -> Checked:
    """Return a parsed answer in pieces with its checked citations. ``sources``: the books it may quote from."""
    used: set[int] = set()
    pieces: list[Piece] = []
    position = 0
    turn: dict[int, int] = {}
    for mark in parsed.marks:
        citations: list[Citation] = []
        for number in mark.pages:
            chosen = _quotation_for(parsed.quotations, number, mark.claim, turn.get(number, 0), used)
            turn[number] = turn.get(number, 0) + 1
            used |= {chosen} if chosen is not None else set()
            quotation = parsed.quotations[chosen] if chosen is not None else None
            citations.append(_cite_located(locate, number, mark.claim, quotation))
        text = parsed.body[position : mark.start]
        if pieces and not text.strip():
            pieces[-1] = Piece(pieces[-1].text, pieces[-1].citations + tuple(citations))
        else:
            pieces.append(Piece(text, tuple(citations)))
        position = mark.end
    if parsed.body[position:]:
        pieces.append(Piece(parsed.body[position:]))
    loose: list[Citation] = []
    for quotation in (q for index, q in enumerate(parsed.quotations) if index not in used):
        found = [
            (source, n)
            for source in sources
            for n in sorted(source.opened)
            if n in source.shown
            and any(source.has_shown(source.finder.find_in_page(words, n)) for words in quotation.extents)
        ]
        loose += [_cite_located(locate, n, "", quotation) for n in quotation.pages]
        if not quotation.pages and len(found) == 1:
            loose.append(_cite_shown(*found[0], "", quotation))
        elif not quotation.pages and not found and any(source.opened for source in sources):
            why = "These words are on no page that the model read in full."
            loose.append(Citation(0, NOT_FOUND, quotation=quotation.text, why=why))
    return Checked(tuple(pieces), tuple(loose))


def _quotation_for(quotations: Sequence[Quotation], number: int, claim: str, turn: int, used: set[int]) -> int | None:
    """Return the index of the page's quotation nearest to the claim in words; of equal ones, number ``turn``.

    None where none has a longer word of the claim, and all are of other claims.
    """
    candidates = [i for i, q in enumerate(quotations) if number in q.pages]
    if not candidates:
        return None
    wanted = _telling(claim)
    shared = {i: len(wanted & _telling(quotations[i].text)) for i in candidates}
    if not max(shared.values()) and used.issuperset(candidates):
        return None
    best = [i for i in candidates if shared[i] == max(shared.values())]
    return best[min(turn, len(best) - 1)]


def _cite_located(locate: Locate, number: int, claim: str, quotation: Quotation | None) -> Citation:
    found = locate(number, claim)
    if isinstance(found, Citation):
        return replace(found, quotation=quotation.text if quotation else "")
    return _cite_shown(*found, claim, quotation)


def _cite_shown(source: Shown, page: int, claim: str, quotation: Quotation | None) -> Citation:
    in_part = page in source.opened and page not in source.full
    return replace(_cite(source, page, claim, quotation), book=source.book, in_part=in_part)


def _cite(source: Shown, number: int, claim: str, quotation: Quotation | None) -> Citation:
    """Return the checked citation of page ``number`` for a claim."""
    finder = source.finder
    if number not in source.shown:
        why = f"The answer names page {number}, which the model was not shown."
        return Citation(number, NOT_FOUND, claim, quotation.text if quotation else "", why=why)
    in_full = number in source.opened
    inline = tuple(run for run in quoted_runs(claim) if len(terms(run)) >= 4)
    extents = list(quotation.extents) if quotation else [inline] if inline else []
    places = finder.find_in_page([claim], number) if in_full and len(terms(claim)) >= COPIED else ()
    if source.has_shown(places):
        return _on_page(finder, number, claim, claim, places)
    for extent in extents:
        places = finder.find_in_page(extent, number)
        words = " … ".join(extent)
        if source.has_shown(places):
            return _on_page(finder, number, claim, words, places)
        if places or finder.occurs_in_gist(extent, number):
            why = f"The model was shown only the gist of page {number}."
            if places and in_full:
                why = f"These words are on page {number}, in a part that the model was not shown."
            elif in_full:
                why = f"These words are in the gist of page {number}, not on the page itself."
            return Citation(number, FROM_MEMORY, claim, words, places, why)
    if extents and (quotation or not any(finder.find_in_page(inline, n) for n in source.opened if n in source.shown)):
        why = f"The quoted words are not on page {number}."
        return Citation(number, NOT_FOUND, claim, " … ".join(extents[0]), why=why)
    in_part = in_full and number not in source.full
    if in_part and not extents and len(terms(claim)) >= COPIED and finder.occurs_in_gist([claim], number):
        return Citation(number, FROM_MEMORY, claim, why=f"These words are in the gist of page {number}.")
    if not in_full:
        if not _supported(claim, finder.memory, number):
            return Citation(number, NOT_FOUND, claim, why=f"The gist of page {number} does not mention this.")
        return Citation(number, FROM_MEMORY, claim, why=f"The model was shown only the gist of page {number}.")
    why = f"The model read page {number}, but the answer quotes no words of it for this."
    return Citation(number, FROM_MEMORY, claim, why=why, bare=True)


def _on_page(finder: Finder, number: int, claim: str, quotation: str, places: tuple[QuotedPlace, ...]) -> Citation:
    """Return the citation of words that are in a page read in full."""
    paragraphs = finder.memory.document.paragraphs
    recognised = any(paragraphs[place.paragraph].confidence is not None for place in places)
    why = f"These words are on page {number}."
    if recognised:
        why = f"These words are on page {number}, in text recognised in a picture, so some may be wrong."
    return Citation(number, FROM_PAGE, claim, quotation, places, why, recognised)


def _telling(text: str) -> set[str]:
    """Return the first letters of the words that tell something; short ones are in any sentence."""
    return {t[:5] for t in terms(text) if len(t) > 3 or is_unspaced(t)}


def _supported(claim: str, memory: GistMemory, number: int) -> bool:
    """Return whether a gist shares any word (compared by first letters) with the claim; true for short claims."""
    gist = memory.gists[number - 1]
    stems = _telling(claim)
    if len(stems) < 4 or gist is None or is_unspaced(claim) != is_unspaced(gist.text):
        return True  # too little to compare, or an answer in another language than the book
    return bool(stems & {t[:5] for t in terms(gist.text)})
