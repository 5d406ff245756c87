"""Values stored as JSON: artifacts, which methods make of a text besides a gisting, and preferences.

An artifact is for example a tree of summaries or page embeddings; it is deleted together with its text. Knows nothing
of what the values mean.
"""

from __future__ import annotations

import json
import time
from typing import Any

from readagent_core.library.schema import Database, LibraryPart


class DocumentArtifacts:
    """One text's artifacts. ``kind``: what it is; ``key``: the model and settings it was made with."""

    def __init__(self, db: Database, document_id: str) -> None:
        self._db = db
        self._document_id = document_id

    def load(self, kind: str, key: str) -> Any | None:
        """The saved value, or None."""
        where = (self._document_id, kind, key)
        row = self._db.row("SELECT body FROM artifact WHERE document_id = ? AND kind = ? AND key = ?", where)
        return json.loads(row["body"]) if row else None

    def save(self, kind: str, key: str, value: Any) -> None:
        """Save ``value`` (anything JSON can hold) in place of what was there; nothing where the text is gone."""
        body = json.dumps(value, ensure_ascii=False)
        self._db.change(
            "INSERT INTO artifact SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM document WHERE id = ?) "
            "ON CONFLICT DO UPDATE SET body = excluded.body, made = excluded.made",
            (self._document_id, kind, key, body, time.time(), self._document_id),
        )


class Artifacts(LibraryPart):
    """The artifacts of all texts, and the preferences."""

    def artifacts(self, document_id: str) -> DocumentArtifacts:
        """The store of what methods make of this text."""
        return DocumentArtifacts(self._db, document_id)

    def preference(self, name: str, default: Any) -> Any:
        row = self._db.row("SELECT value FROM preference WHERE name = ?", (name,))
        return json.loads(row["value"]) if row else default

    def set_preference(self, name: str, value: Any) -> None:
        """``value``: anything JSON can hold."""
        self._db.change(
            "INSERT INTO preference VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (name, json.dumps(value, ensure_ascii=False)),
        )
