"""Marks: the highlights, notes, bookmarks and answers that a person puts in a book.

A mark belongs to a book, not to a version of its text or to a gisting. It has the words it is on and the words before
and after them (the text quote selector of the W3C Web Annotation Data Model), so that it can be placed in another text
of the same book; see ``companion.marks``. Knows nothing of how marks are placed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from readagent_core.errors import NotInLibraryError
from readagent_core.library.schema import LibraryPart

HIGHLIGHT, NOTE, BOOKMARK, ANSWER = KINDS = ("highlight", "note", "bookmark", "answer")
COLOURS = ("", "rose", "leaf", "sky", "lilac")


@dataclass(frozen=True, order=True)
class Spot:
    """A place between two characters. ``offset``: code points from the start of paragraph ``paragraph`` (from 0)."""

    paragraph: int
    offset: int


@dataclass(frozen=True)
class Mark:
    """A mark in a book.

    ``exact``: the words it is on, '' for a place between two characters; ``prefix`` and ``suffix``: the text before
    and after them. Paragraphs are separated by one line break in all three. ``start`` and ``end``: where the words
    were, in paragraphs that are not split for a gisting; ``companion.marks.placed_marks`` returns them for the text
    that is shown. ``section``: title of the chapter or heading. ``created`` and ``changed``: ISO 8601 in UTC.
    ``answer``: of kind 'answer', the stored answer as plain JSON values; see ``companion.kept_answers``.
    Raises ValueError for another kind or colour.
    """

    id: str
    book_id: str
    kind: str
    colour: str
    exact: str
    prefix: str
    suffix: str
    start: Spot
    end: Spot
    note: str = ""
    section: str = ""
    created: str = ""
    changed: str = ""
    answer: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.colour not in COLOURS:
            raise ValueError(f"no mark is a {self.kind!r} of colour {self.colour!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mark:
        """Return the mark that ``to_dict`` turned into ``data``."""
        return cls(**{**data, "start": Spot(**data["start"]), "end": Spot(**data["end"])})


class Marks(LibraryPart):
    """The marks of all books. ``put_mark`` of what ``remove_mark`` returned undoes a removal."""

    def marks(self, book_id: str) -> tuple[Mark, ...]:
        """All marks of the book, in the order of the text they were made in."""
        rows = self._db.rows("SELECT body FROM mark WHERE book_id = ?", (book_id,))
        return tuple(sorted((_load(row["body"]) for row in rows), key=order_in_book))

    def all_marks(self) -> tuple[Mark, ...]:
        """The marks of every book that was not removed, those of the book opened last first."""
        books = self._db.rows(
            "SELECT DISTINCT book.id FROM book JOIN mark ON book_id = book.id WHERE removed IS NULL "
            "ORDER BY coalesce(opened, added) DESC, book.id"
        )
        return tuple(mark for row in books for mark in self.marks(row["id"]))

    def mark_digests(self) -> dict[str, str]:
        """A hash of all marks of each book that has some, which changes with them."""
        digests: dict[str, Any] = {}
        for row in self._db.rows("SELECT book_id, body FROM mark ORDER BY book_id, id"):
            digests.setdefault(row["book_id"], hashlib.sha256()).update(row["body"].encode())
        return {book_id: digest.hexdigest() for book_id, digest in digests.items()}

    def mark(self, mark_id: str) -> Mark | None:
        row = self._db.row("SELECT body FROM mark WHERE id = ?", (mark_id,))
        return _load(row["body"]) if row else None

    def put_mark(self, *marks: Mark) -> None:
        """Add the marks; one with the same id is replaced. Raises NotInLibraryError where their book is not there."""
        with self._db.write() as connection:
            for mark in marks:
                if connection.execute("SELECT 1 FROM book WHERE id = ?", (mark.book_id,)).fetchone() is None:
                    raise NotInLibraryError("This book is not in the library any more, so nothing was marked in it.")
                row = (mark.id, mark.book_id, json.dumps(mark.to_dict()))
                connection.execute("INSERT OR REPLACE INTO mark VALUES (?, ?, ?)", row)
        self._db.notes_changed()

    def remove_mark(self, mark_id: str) -> Mark | None:
        """Remove a mark and return it; None if there is none with this id."""
        with self._db.write() as connection:
            row = connection.execute("SELECT body FROM mark WHERE id = ?", (mark_id,)).fetchone()
            connection.execute("DELETE FROM mark WHERE id = ?", (mark_id,))
        self._db.notes_changed()
        return _load(row["body"]) if row else None


def order_in_book(mark: Mark) -> tuple[Any, ...]:
    """The key to sort the marks of a book by."""
    return mark.start, mark.end, mark.created, mark.id


def _load(body: str) -> Mark:
    return Mark.from_dict(json.loads(body))
