"""Shelves, tags, and the cards of the library's screen.

A book can be on several shelves and have several tags. Every change returns what its inverse needs to undo it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library.books import book_of, position_of
from readagent_core.library.records import Card, GistingState, Position, Shelf, StopReason
from readagent_core.library.schema import Database, LibraryPart

_LONGEST_NAME = 60  # characters of a shelf or a tag
_NO_SHELF = "This shelf is not in the library any more."
_SEPARATOR = "\x1f"  # between the names in one column
_CARDS = """
    SELECT book.*, version.number AS version, version.document_id, document.words,
        cover.document_id IS NOT NULL AS has_cover,
        position.paragraph, position.furthest, coalesce(position.words_read, 0) AS words_read, position.limited,
        position.spoiler_limit, position.section, position.offset, position.share, position.words_before,
        position.words_after,
        reading.id AS reading_id, reading.state, coalesce(reading.reason, '') AS reason,
        coalesce(reading.why, '') AS why,
        coalesce(reading.model, '') AS model, coalesce(reading.recorded, '') AS recorded, reading.ended,
        (SELECT coalesce(max(number), 0) FROM page WHERE reading_id = reading.id) AS pages,
        (SELECT count(*) FROM gist WHERE reading_id = reading.id) AS gists,
        CASE reading.state WHEN 'done' THEN (SELECT words FROM document WHERE id = reading.document_id) ELSE
            (SELECT coalesce(sum(page.words), 0) FROM page JOIN gist USING (reading_id, number)
                WHERE page.reading_id = reading.id) END AS words_covered,
        (SELECT group_concat(name, char(31)) FROM tag WHERE book_id = book.id) AS tags,
        (SELECT group_concat(shelf.name, char(31)) FROM shelved JOIN shelf ON shelf.id = shelf_id
            WHERE book_id = book.id) AS shelves,
        CASE WHEN document.words < 20000 THEN
            (SELECT count(*) FROM picture WHERE document_id = document.id) ELSE 0 END AS pictures,
        series.name AS series, series.number AS place_in_series, finished.day AS finished,
        indexed.id IS NOT NULL AS searchable
    FROM book
    JOIN version ON version.book_id = book.id
        AND version.number = (SELECT max(number) FROM version WHERE book_id = book.id)
    JOIN document ON document.id = version.document_id
    LEFT JOIN cover ON cover.document_id = document.id
    LEFT JOIN position ON position.book_id = book.id
    LEFT JOIN series ON series.book_id = book.id
    LEFT JOIN finished ON finished.book_id = book.id
    LEFT JOIN indexed ON indexed.owner = 'text ' || document.id
    LEFT JOIN reading ON reading.id = (
        SELECT id FROM reading AS newest WHERE newest.book_id = book.id AND NOT searched
        ORDER BY EXISTS (SELECT 1 FROM page WHERE reading_id = newest.id) DESC, started DESC, id DESC LIMIT 1)
    WHERE book.removed IS NULL
    ORDER BY coalesce(book.opened, book.added) DESC, book.id
"""


def load_cards(db: Database) -> tuple[Card, ...]:
    """The cards of all books that were not removed, last opened first."""
    return tuple(_card(row) for row in db.rows(_CARDS))


class Shelves(LibraryPart):
    """The shelves and tags of all books."""

    def shelves(self) -> list[Shelf]:
        """All shelves in the order they were made."""
        rows = self._db.rows(
            "SELECT name, (SELECT count(*) FROM shelved JOIN book ON book.id = book_id "
            "WHERE shelf_id = shelf.id AND removed IS NULL) AS books FROM shelf ORDER BY id"
        )
        return [Shelf(**dict(row)) for row in rows]

    def books_on_shelf(self, shelf: str) -> list[str]:
        """The ids of the books on a shelf, by title. Raises NotInLibraryError where there is no such shelf."""
        if not any(known.name == shelf for known in self.shelves()):
            raise NotInLibraryError(f"There is no shelf “{shelf}” in the library.")
        on_it = "SELECT book_id FROM shelved JOIN shelf ON shelf.id = shelf_id WHERE name = ?"
        return self._by_title(on_it, shelf)

    def books_with_tag(self, tag: str) -> list[str]:
        """The ids of the books that have this tag, by title. Raises NotInLibraryError where none has it."""
        found = self._by_title("SELECT book_id FROM tag WHERE name = ?", tag)
        if not found:
            raise NotInLibraryError(f"No book in the library has the tag “{tag}”.")
        return found

    def _by_title(self, chosen: str, name: str) -> list[str]:
        rows = self._db.rows(
            f"SELECT id FROM book WHERE id IN ({chosen}) AND removed IS NULL ORDER BY title, id", (name,)
        )
        return [row["id"] for row in rows]

    def add_shelf(self, name: str, book_ids: Iterable[str] = ()) -> str:
        """Add a shelf with these books and return its name as stored. Raises LibraryError if there is one already."""
        name = _checked(name, "shelf")
        with self._db.write() as connection:
            if connection.execute("INSERT INTO shelf (name) VALUES (?) ON CONFLICT DO NOTHING", (name,)).rowcount == 0:
                raise LibraryError(f"There is a shelf “{name}” already. Choose another name.")
            _put(connection, book_ids, name)
        return name

    def series_of(self, book_id: str) -> tuple[str, list[str]]:
        """The name of the series that a book belongs to and the ids of its books in order; ('', []) for none."""
        row = self._db.row("SELECT name FROM series WHERE book_id = ?", (book_id,))
        rows = self._db.rows(
            "SELECT book_id FROM series JOIN book ON book.id = book_id WHERE name = ? AND removed IS NULL "
            "ORDER BY number, title, book_id",
            (row["name"] if row else "",),
        )
        return (row["name"], [found["book_id"] for found in rows]) if row else ("", [])

    def place_in_series(self, book_id: str, name: str, number: float) -> None:
        """Put a book into the series that its file or catalogue names; where it is in one already, it stays there."""
        self._db.change("INSERT INTO series VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (book_id, name, number))

    def put_in_order(self, name: str, book_ids: Sequence[str], *, before: str = "") -> None:
        """Make a series of these books, in this order; a book that was in another one leaves it.

        Those that were in this series and are not named leave it too; with no books it ends. ``before``: the name that
        it had.
        """
        name = _checked(name, "series")
        with self._db.write() as connection:
            connection.execute("DELETE FROM series WHERE name IN (?, ?)", (name, before))
            connection.executemany(
                "INSERT INTO series VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, "
                "number = excluded.number",
                [(book_id, name, number) for number, book_id in enumerate(book_ids, start=1)],
            )

    def rename_shelf(self, shelf: str, name: str) -> str:
        """Rename a shelf and return its new name as stored."""
        name = _checked(name, "shelf")
        if name != shelf and any(known.name == name for known in self.shelves()):
            raise LibraryError(f"There is a shelf “{name}” already. Choose another name.")
        if not self._db.change("UPDATE shelf SET name = ? WHERE name = ?", (name, shelf)):
            raise NotInLibraryError(_NO_SHELF)
        return name

    def remove_shelf(self, shelf: str) -> list[str]:
        """Remove a shelf, not its books, and return their ids; ``add_shelf`` with these undoes it."""
        on_it = "SELECT book_id FROM shelved JOIN shelf ON shelf.id = shelf_id WHERE name = ?"
        books = [row["book_id"] for row in self._db.rows(on_it, (shelf,))]
        self._db.change("DELETE FROM shelf WHERE name = ?", (shelf,))
        return books

    def put_on_shelf(self, book_ids: Iterable[str], shelf: str) -> list[str]:
        """Put the books on a shelf and return those that were not on it; ``take_off_shelf`` with these undoes it."""
        with self._db.write() as connection:
            return _put(connection, book_ids, shelf)

    def take_off_shelf(self, book_ids: Iterable[str], shelf: str) -> list[str]:
        """Take the books off a shelf and return those that were on it; ``put_on_shelf`` with these undoes it."""
        take = "DELETE FROM shelved WHERE book_id = ? AND shelf_id = (SELECT id FROM shelf WHERE name = ?)"
        with self._db.write() as connection:
            return [book for book in book_ids if connection.execute(take, (book, shelf)).rowcount]

    def tags(self) -> list[str]:
        """The tags of all books that were not removed, by name."""
        rows = self._db.rows(
            "SELECT DISTINCT name FROM tag JOIN book ON book.id = book_id WHERE removed IS NULL ORDER BY name"
        )
        return [row["name"] for row in rows]

    def set_tags(self, book_id: str, tags: Iterable[str]) -> tuple[str, ...]:
        """Replace the tags of a book and return those it had; ``set_tags`` with these undoes it."""
        wanted = dict.fromkeys(_checked(tag, "tag") for tag in tags)
        with self._db.write() as connection:
            before = connection.execute("SELECT name FROM tag WHERE book_id = ? ORDER BY name", (book_id,)).fetchall()
            connection.execute("DELETE FROM tag WHERE book_id = ?", (book_id,))
            _tag(connection, [book_id] * len(wanted), list(wanted))
        return tuple(row["name"] for row in before)

    def add_tag(self, book_ids: Iterable[str], tag: str) -> list[str]:
        """Add a tag to the books and return those that did not have it; ``remove_tag`` with these undoes it."""
        tag = _checked(tag, "tag")
        with self._db.write() as connection:
            ids = list(book_ids)
            return _tag(connection, ids, [tag] * len(ids))

    def remove_tag(self, book_ids: Iterable[str], tag: str) -> list[str]:
        """Remove a tag from the books and return those that had it; ``add_tag`` with these undoes it."""
        remove = "DELETE FROM tag WHERE book_id = ? AND name = ?"
        with self._db.write() as connection:
            return [book for book in book_ids if connection.execute(remove, (book, tag)).rowcount]


def _checked(name: str, kind: str) -> str:
    """``name`` without needless white space. Raises LibraryError for one without a letter or digit."""
    name = " ".join(name.split())[:_LONGEST_NAME]
    if not any(c.isalnum() for c in name):
        raise LibraryError(f"A {kind} needs a name. Write one, then save again.")
    return name


def _put(connection: sqlite3.Connection, book_ids: Iterable[str], shelf: str) -> list[str]:
    row = connection.execute("SELECT id FROM shelf WHERE name = ?", (shelf,)).fetchone()
    if row is None:
        raise NotInLibraryError(_NO_SHELF)
    put = "INSERT INTO shelved SELECT ?, id FROM book WHERE id = ? ON CONFLICT DO NOTHING"
    return [book for book in book_ids if connection.execute(put, (row["id"], book)).rowcount]


def _tag(connection: sqlite3.Connection, book_ids: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Add each tag to the book of the same place; the books that did not have it."""
    add = "INSERT INTO tag SELECT id, ? FROM book WHERE id = ? ON CONFLICT DO NOTHING"
    pairs = zip(book_ids, tags, strict=True)
    return [book for book, tag in pairs if connection.execute(add, (tag, book)).rowcount]


def _card(row: sqlite3.Row) -> Card:
    return Card(
        book=book_of(row),
        position=Position() if row["paragraph"] is None else position_of(row),
        gisting_id=row["reading_id"],
        state=GistingState(row["state"]) if row["state"] else None,
        reason=StopReason(row["reason"]),
        why=row["why"],
        model=row["model"],
        recorded=row["recorded"],
        ended=row["ended"],
        pages=row["pages"],
        gists=row["gists"],
        words_covered=row["words_covered"],
        tags=tuple(sorted((row["tags"] or "").split(_SEPARATOR))) if row["tags"] else (),
        shelves=tuple((row["shelves"] or "").split(_SEPARATOR)) if row["shelves"] else (),
        searchable=bool(row["searchable"]),
        series=row["series"] or "",
        place_in_series=row["place_in_series"] or 0.0,
        finished=row["finished"] or "",
        pictures=row["pictures"],
    )
