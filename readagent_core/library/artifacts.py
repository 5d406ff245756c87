"""Artifacts: what methods make of a text besides a reading, for example a tree of summaries or page embeddings.

They are stored as JSON and deleted together with their text. Knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import time
from typing import Any

from readagent_core.library.schema import Database


class BookShelf:
    """One text's artifacts. ``kind``: what it is; ``key``: the model and settings it was made with."""

    def __init__(self, db: Database, document_id: str) -> None:
        self._db = db
        self._document_id = document_id

    def load(self, kind: str, key: str) -> Any | None:
        """The saved value, or None."""
        return load(self._db, self._document_id, kind, key)

    def save(self, kind: str, key: str, value: Any) -> None:
        """Save ``value`` (anything JSON can hold) in place of what was there."""
        save(self._db, self._document_id, kind, key, value)


def load(db: Database, document_id: str, kind: str, key: str) -> Any | None:
    row = db.row("SELECT body FROM artifact WHERE document_id = ? AND kind = ? AND key = ?", (document_id, kind, key))
    return json.loads(row["body"]) if row else None


def save(db: Database, document_id: str, kind: str, key: str, value: Any) -> None:
    body = json.dumps(value, ensure_ascii=False)
    db.change(
        "INSERT INTO artifact VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body, "
        "made = excluded.made",
        (document_id, kind, key, body, time.time()),
    )
