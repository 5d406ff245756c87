"""Records what was spent each month on each model, in one small SQLite file, so that a monthly limit outlives the
process.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from readagent_core.errors import LibraryError
from readagent_core.settings import SPENDING_FILE


class SpendingLog:
    """Threads share one connection, which is opened when first needed; processes may share the file."""

    def __init__(self, home: Path) -> None:
        self.path = home / SPENDING_FILE
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    def add(self, model: str, dollars: float) -> None:
        """Add to what ``model`` cost this month."""
        if dollars <= 0:
            return
        with self._open() as db:
            db.execute(
                "INSERT INTO spent VALUES (?, ?, ?, 1) "
                "ON CONFLICT DO UPDATE SET dollars = dollars + excluded.dollars, calls = calls + 1",
                (_this_month(), model, dollars),
            )

    def month(self) -> float:
        """Return the dollars spent this month."""
        return sum(self.by_model().values())

    def by_model(self) -> dict[str, float]:
        """Return the dollars spent on each model this month."""
        with self._open() as db:
            rows = db.execute("SELECT model, dollars FROM spent WHERE month = ?", (_this_month(),)).fetchall()
        return {str(model): float(dollars) for model, dollars in rows}

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection within a transaction. Raises LibraryError."""
        try:
            with self._lock:
                if self._db is None:
                    self._db = self._connect()
                with self._db:
                    yield self._db
        except sqlite3.Error:
            self.close()
            raise LibraryError(
                f"{self.path} cannot be read or written, so what is spent cannot be counted. Check the disk, or remove "
                "the file to begin a new count."
            ) from None

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=10, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(
                "CREATE TABLE IF NOT EXISTS spent "
                "(month TEXT, model TEXT, dollars REAL, calls INTEGER, PRIMARY KEY (month, model))"
            )
        except sqlite3.Error:
            db.close()
            raise
        return db


def _this_month() -> str:
    """Return the month as the file holds it: '2026-11'."""
    return time.strftime("%Y-%m")
