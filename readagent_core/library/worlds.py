"""What pages establish of a book's world, saved page by page, and the changes a person made to its names.

Values are stored as JSON; ``world`` knows what they mean.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from readagent_core.library.schema import LibraryPart


class WorldKind(StrEnum):
    """What is stored for a page: its own notes, or the links between names that the pages up to it show."""

    NOTES = "notes"
    LINKS = "links"


class Worlds(LibraryPart):
    """The notes of all gistings, and the changes to names of all books."""

    def world_values(self, gisting_id: int, kind: WorldKind) -> dict[int, Any]:
        """What is stored of this kind, by page number."""
        rows = self._db.rows(
            "SELECT number, body FROM page_notes WHERE reading_id = ? AND kind = ? ORDER BY number", (gisting_id, kind)
        )
        return {row["number"]: json.loads(row["body"]) for row in rows}

    def has_notes(self, gisting_id: int) -> bool:
        return bool(self._db.row("SELECT 1 FROM page_notes WHERE reading_id = ? LIMIT 1", (gisting_id,)))

    def save_world_value(self, gisting_id: int, number: int, kind: WorldKind, value: Mapping[str, Any]) -> None:
        """Save a page's value in place of what was there; nothing where the page is gone."""
        self._db.change(
            "INSERT INTO page_notes SELECT ?, ?, ?, ? WHERE EXISTS "
            "(SELECT 1 FROM page WHERE reading_id = ? AND number = ?) "
            "ON CONFLICT DO UPDATE SET body = excluded.body",
            (gisting_id, number, kind, json.dumps(dict(value), ensure_ascii=False), gisting_id, number),
        )

    def world_version(self, gisting_id: int, book_id: str) -> tuple[str, ...]:
        """A value that changes with everything stored of the world of this gisting: hashes of it."""
        row = self._db.row(
            "SELECT (SELECT group_concat(number || kind || body) FROM page_notes WHERE reading_id = ?) AS notes, "
            "(SELECT group_concat(id || body) FROM name_edit WHERE book_id = ?) AS edits",
            (gisting_id, book_id),
        )
        return tuple(hashlib.blake2b(str(stored).encode()).hexdigest() for stored in row or ())

    def name_edits(self, book_id: str) -> list[tuple[int, dict[str, Any]]]:
        """The id and value of every change by hand, in order."""
        rows = self._db.rows("SELECT id, body FROM name_edit WHERE book_id = ? ORDER BY id", (book_id,))
        return [(row["id"], json.loads(row["body"])) for row in rows]

    def add_name_edit(self, book_id: str, value: Mapping[str, Any]) -> int:
        """Save a change and return its id, by which ``remove_name_edit`` undoes it."""
        with self._db.write() as connection:
            body = json.dumps(dict(value), ensure_ascii=False)
            cursor = connection.execute("INSERT INTO name_edit (book_id, body) VALUES (?, ?)", (book_id, body))
            return int(cursor.lastrowid or 0)

    def remove_name_edit(self, book_id: str, edit_id: int) -> None:
        self._db.change("DELETE FROM name_edit WHERE book_id = ? AND id = ?", (book_id, edit_id))
