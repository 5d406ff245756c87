"""A series: one cast over all its books, and what happened in the earlier ones, each book as far as it was read.

Nothing is asked of a model: everything comes from the notes and gists of each book, up to its own limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from readagent_core.answering.limits import page_reached
from readagent_core.library import Library
from readagent_core.library.records import Book
from readagent_core.short_repr import short_repr
from readagent_core.words import spread
from readagent_core.world.as_of import Entity, Known, World
from readagent_core.world.names import EntityKind, is_description, name_key
from readagent_core.world.recap import RecapLine, gist_lines
from readagent_core.world.storage import load_world

_RECAP_LINES = 5  # of one earlier book


@short_repr
@dataclass(frozen=True)
class SeriesBook:
    """A book of a series. ``number``: from 1, in the order of the series. ``page``: the last that was read.

    ``world``: None for a book without gists. ``known``: what its pages tell up to ``page``.
    """

    number: int
    book: Book
    page: int = 0
    world: World | None = None
    known: Known | None = None


@dataclass(frozen=True)
class SeriesEntity:
    """Someone in a series. ``books``: the entity of each book that has it, by the book's number, in order."""

    name: str
    kind: EntityKind
    books: tuple[tuple[int, Entity], ...]

    @property
    def mentions(self) -> int:
        return sum(entity.mentions for _, entity in self.books)


def series_books(library: Library, book_id: str, *, page: int | None = None) -> tuple[str, tuple[SeriesBook, ...]]:
    """Return the name of a book's series and its books in order; ('', ()) for a book of none.

    ``page``: of this book; by default the last that was read. No book is told further than it was read.
    """
    name, ids = library.series_of(book_id)
    found = [_series_book(library, number, id) for number, id in enumerate(ids, start=1)]
    for index, one in enumerate(found):
        if one.book.id == book_id and page is not None and one.world is not None:
            found[index] = replace(one, page=page, known=one.world.as_of(page))
    return name, tuple(found)


def _series_book(library: Library, number: int, book_id: str) -> SeriesBook:
    book = library.book(book_id)
    gisting = next((g for g in library.gistings(book_id) if g.pages), None)
    if gisting is None:
        return SeriesBook(number, book)
    world = load_world(library, gisting.id)
    whole = library.document(book_id, document_id=gisting.document_id)
    page = page_reached(world.memory, whole, library.position(book_id))
    return SeriesBook(number, book, page, world, world.as_of(page))


def series_cast(books: Sequence[SeriesBook]) -> tuple[SeriesEntity, ...]:
    """Return everybody and everything in the books, as far as each was read; those named most come first.

    The same proper name in two books names one; who are joined within a book bring all their names.
    """
    found: list[SeriesEntity] = []
    by_name: dict[tuple[EntityKind, str], int] = {}
    for one in books:
        for entity in one.known.entities if one.known else ():
            names = [entity.name, *(other.name for other in entity.also)]
            keys = [(entity.kind, name_key(name)) for name in names if not is_description(name)]
            at = next((by_name[key] for key in keys if key in by_name), None)
            if at is None:
                at = len(found)
                found.append(SeriesEntity(entity.name, entity.kind, ()))
            found[at] = replace(found[at], books=(*found[at].books, (one.number, entity)))
            by_name.update((key, at) for key in keys if key not in by_name)
    return tuple(sorted(found, key=lambda entity: -entity.mentions))


def previously_in_series(
    books: Sequence[SeriesBook], book_id: str
) -> tuple[tuple[SeriesBook, tuple[RecapLine, ...]], ...]:
    """Return for each book before ``book_id`` sentences of its gists, spread over what was read of it."""
    earlier = []
    for one in books:
        if one.book.id == book_id:
            break
        if one.world is not None and one.known is not None and one.page:
            lines = gist_lines(one.world.memory, one.known, pages=one.page)
            earlier.append((one, tuple(lines[i] for i in spread(range(len(lines)), _RECAP_LINES))))
    return tuple(earlier)
