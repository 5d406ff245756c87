"""The earlier books of a series, as the reader of a later one shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from readagent_core.companion.series import SeriesBook, previously_in_series, series_books, series_cast
from readagent_core.library import Library
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace
from readagent_core.world.names import EntityKind, is_description, name_key

MOST_EARLIER = 3  # lines of somebody from an earlier book
MOST_PEOPLE = 12  # whose pages are shown over the books


def series_data(workspace: Workspace, book: Book) -> dict[str, Any] | None:
    """The ``SeriesData`` of protocol.d.ts; None for a book without earlier ones.

    It is made again where a book of the series was read further, or its place or its notes have changed.
    """
    library = workspace.library
    name, ids = library.series_of(book.id)
    earlier = ids[: ids.index(book.id)] if book.id in ids else []
    if not earlier:
        return None
    gistings = [gisting for one in earlier for gisting in library.gistings(one)]
    versions = [(g.id, g.gists, *library.world_version(g.id, g.book_id)) for g in gistings]
    key = [name, ids, [library.position(one) for one in earlier], versions]
    known = st.session_state.setdefault("series", {})
    if known.get(book.id, [None])[0] != key:
        known[book.id] = (key, _series(library, book, name, len(earlier)))
    found: dict[str, Any] = known[book.id][1]
    return found


def _series(library: Library, book: Book, name: str, count: int) -> dict[str, Any]:
    _, books = series_books(library, book.id, page=0)
    told = {one.number: lines for one, lines in previously_in_series(books, book.id)}
    return {
        "book": book.id,
        "name": name,
        "number": count + 1,
        "books": [
            {
                "id": one.book.id,
                "title": one.book.title,
                "number": one.number,
                "known": one.world is not None,
                "whole": one.world is not None and one.page >= len(one.world.memory.pages),
                "told": [[line.text, line.page, line.name] for line in told.get(one.number, ())],
                "words": [page.words for page in one.world.memory.pages] if one.world else [],
                "page": one.page,
            }
            for one in books[:count]
        ],
        "cast": _cast(books[:count]),
        "people": _people(books[:count]),
    }


def _people(books: Sequence[SeriesBook]) -> list[Any]:
    """Who is named most in the earlier books: name, and for each book how often each page read names them."""
    people = [one for one in series_cast(books) if one.kind == EntityKind.PERSON]
    found = []
    for person in people[:MOST_PEOPLE]:
        entities = dict(person.books)
        found.append([person.name, [entities[b.number].pages if b.number in entities else () for b in books]])
    return found


def _cast(books: Sequence[SeriesBook]) -> dict[str, Any]:
    """Who is in the earlier books, by the keys of their names; each with the last book that has them."""
    found: dict[str, Any] = {}
    for person in series_cast(books):
        number, entity = person.books[-1]
        lines = [[line.says, line.page] for line in entity.lines[-MOST_EARLIER:] if line.says]
        names = [n for _, one in person.books for n in (one.name, *(other.name for other in one.also))]
        record = {"name": person.name, "book": number - 1, "lines": lines}
        found |= {name_key(name): record for name in names if not is_description(name)}
    return found
