"""Make the marks of a book, and place them in another text of it: split for other pages, or imported again.

A mark has no page: pages belong to a gisting. It is placed by its words in whatever text is shown.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from readagent_core.citations.placing import PlainText, Quote
from readagent_core.document import Document
from readagent_core.errors import NotInLibraryError
from readagent_core.library import Library
from readagent_core.library.marks import HIGHLIGHT, NOTE, Mark, Spot, order_in_book

_MOST_FAR = 100  # marks that are not found until the others are searched with less effort: they are of another book


@dataclass(frozen=True)
class PlacedMarks:
    """The marks of a book in one text of it.

    ``placed``: in the order of the text; ``start``, ``end`` and ``section`` are those of the text. ``lost``: the marks
    whose words were not found, as they were made.
    """

    placed: tuple[Mark, ...] = ()
    lost: tuple[Mark, ...] = ()


NO_MARKS = PlacedMarks()


@dataclass(frozen=True)
class ImportedMarks:
    """What an import did. ``added``: new marks; ``replaced``: older marks of the same ids, as they were before.

    ``lost``: how many of the imported marks were not found in the book's text. ``damaged``: how many annotations of the
    file could not be read.
    """

    added: tuple[Mark, ...] = ()
    replaced: tuple[Mark, ...] = ()
    lost: int = 0
    damaged: int = 0


def make_mark(
    document: Document,
    book_id: str,
    kind: str,
    start: Spot,
    end: Spot,
    *,
    colour: str = "",
    note: str = "",
    answer: dict[str, Any] | None = None,
) -> Mark:
    """Return a new mark on the words of ``document`` between two spots, without white space at their ends.

    A spot outside the text counts as the nearest one inside. ``start`` and ``end`` of the mark are spots in paragraphs
    that are not split for a gisting, so they may differ from those given. It is not saved; see ``Library.put_mark``.
    """
    text = PlainText(document)
    first, last = sorted((text.position((start.paragraph, start.offset)), text.position((end.paragraph, end.offset))))
    words = text.text[first:last]
    if words.strip():
        first, last = last - len(words.lstrip()), first + len(words.rstrip())
    else:
        last = first
    quote = text.quote(first, last)
    now = _now()
    mark = Mark(
        id=str(uuid.uuid4()),
        book_id=book_id,
        kind=kind,
        colour=colour,
        exact=quote.exact,
        prefix=quote.prefix,
        suffix=quote.suffix,
        start=start,
        end=end,
        note=note,
        created=now,
        changed=now,
        answer=answer,
    )
    return _stored_at(mark, text, document, (first, last))


def change_mark(library: Library, mark_id: str, *, colour: str | None = None, note: str | None = None) -> Mark:
    """Change the colour or the note of a stored mark and return the mark as it was; ``put_mark`` of it undoes this.

    A highlight that gets a note becomes a mark of kind 'note', and a highlight again when its note is emptied.
    Raises NotInLibraryError if there is none with this id.
    """
    before = library.mark(mark_id)
    if before is None:
        raise NotInLibraryError("This mark is not in the library any more, so it was not changed.")
    colour, note = before.colour if colour is None else colour, before.note if note is None else note
    kind = before.kind if before.kind not in (HIGHLIGHT, NOTE) else NOTE if note else HIGHLIGHT
    library.put_mark(replace(before, kind=kind, colour=colour, note=note, changed=_now()))
    return before


def import_marks(library: Library, book_id: str, marks: Iterable[Mark], *, damaged: int = 0) -> ImportedMarks:
    """Add exported marks to a book, placed in its newest text. One that is not found there is added as well.

    A mark that the book has already is replaced if the imported one was changed later. ``damaged``: how many more
    annotations the file has that could not be read.
    """
    document = library.document(book_id)
    marks = sorted(marks, key=order_in_book)
    text, spans = _found(marks, document)
    stored = {mark.id: mark for mark in library.marks(book_id)}
    added: list[Mark] = []
    replacing: list[Mark] = []
    lost = 0
    for mark, (span, *_) in zip(marks, spans, strict=True):
        own_id = mark.id
        known = library.mark(mark.id)
        if known is not None and known.book_id != book_id:  # a file may be imported for two books, and again
            own_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{book_id} {mark.id}"))
        if own_id in stored and stored[own_id].changed >= mark.changed:
            continue
        lost += span is None
        own = replace(mark, id=own_id, book_id=book_id)
        own = own if span is None else _stored_at(own, text, document, span)
        (replacing if own_id in stored else added).append(own)
    library.put_mark(*added, *replacing)
    return ImportedMarks(tuple(added), tuple(stored[mark.id] for mark in replacing), lost, damaged)


def undo_import(library: Library, imported: ImportedMarks) -> None:
    """Remove the marks that an import added, and restore those that it replaced."""
    for mark in imported.added:
        library.remove_mark(mark.id)
    library.put_mark(*imported.replaced)


def placed_marks(library: Library, book_id: str, document: Document) -> PlacedMarks:
    """Return the marks of the book, placed in ``document``: a text of the book, or that of one of its gistings."""
    return place_marks(library.marks(book_id), document)


def place_marks(marks: Iterable[Mark], document: Document) -> PlacedMarks:
    """Return ``marks`` placed in ``document``. They are searched for in the order given."""
    marks = tuple(marks)
    if not marks:
        return NO_MARKS
    placed: list[Mark] = []
    lost: list[Mark] = []
    text, spans = _found(marks, document)
    for mark, (own, *cited) in zip(marks, spans, strict=True):
        if own is None:
            lost.append(mark)
        else:
            placed.append(_placed_at(mark, text, document, own, cited))
    return PlacedMarks(tuple(sorted(placed, key=order_in_book)), tuple(lost))


def _found(marks: Sequence[Mark], document: Document) -> tuple[PlainText, list[list[tuple[int, int] | None]]]:
    """Return the text of ``document``, and for each mark where its words are and those of its answer's citations."""
    text = PlainText(document)
    wanted = [list(_quotes(mark)) for mark in marks]
    quotes = tuple((quote, text.position(spot, whole=True)) for group in wanted for quote, spot in group)
    found = iter(_search(_Wanted(document.id, quotes, text)))
    return text, [[next(found) for _ in group] for group in wanted]


@dataclass(frozen=True)
class _Wanted:
    """Words to search in a text, each with the position where they were stored."""

    document_id: str
    quotes: tuple[tuple[Quote, int], ...]
    text: PlainText = field(compare=False)


@lru_cache(maxsize=2)  # a search for words that are no longer in a long book takes 10 ms, and screens are drawn often
def _search(wanted: _Wanted) -> tuple[tuple[int, int] | None, ...]:
    """Return where each of the words is in the text; None where they are not found."""
    spans: list[tuple[int, int] | None] = []
    moved = 0  # characters by which the words before were moved: what was put in moves all that follows
    lost = 0
    for quote, stored in wanted.quotes:
        span = wanted.text.find(quote, stored + moved, far=lost < _MOST_FAR)
        lost += span is None and bool(str(quote))
        moved = span[0] - stored if span else moved
        spans.append(span)
    return tuple(spans)


def _quotes(mark: Mark) -> Iterator[tuple[Quote, tuple[int, int]]]:
    """Yield the words of a mark with the start of their stored place, then those of each citation of its answer."""
    yield Quote(mark.exact, mark.prefix, mark.suffix), (mark.start.paragraph, mark.start.offset)
    for cited in mark.answer["citations"] if mark.answer else ():
        yield Quote(cited["exact"], cited["prefix"], cited["suffix"]), (cited["paragraph"] or 0, cited["offset"] or 0)


def _placed_at(
    mark: Mark, text: PlainText, document: Document, span: tuple[int, int], cited: Sequence[tuple[int, int] | None]
) -> Mark:
    """Return ``mark`` with the spots and the section of the positions ``span``, and its citations at ``cited``."""
    first, last = (Spot(*spot) for spot in text.spots(*span))
    section = document.section_of(first.paragraph)
    answer = mark.answer
    if answer is not None:
        spots = (text.spots(*at)[0] if at else (None, None) for at in cited)
        citations = [
            {**citation, "paragraph": paragraph, "offset": offset}
            for citation, (paragraph, offset) in zip(answer["citations"], spots, strict=True)
        ]
        answer = {**answer, "citations": citations}
    return replace(mark, start=first, end=last, section=section.title if section else "", answer=answer)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stored_at(mark: Mark, text: PlainText, document: Document, span: tuple[int, int]) -> Mark:
    """Return ``mark`` with the spots of two positions in paragraphs that are not split, as marks are stored."""
    first, last = (Spot(*spot) for spot in text.spots(*span, whole=True))
    section = document.section_of(text.spots(*span)[0][0])
    return replace(mark, start=first, end=last, section=section.title if section else "")
