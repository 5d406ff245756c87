"""What was spent each month on each model: one small SQLite file, so that a monthly limit outlives the process."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from readagent_core.errors import LibraryError

FILE = "spending.db"


class Ledger:
    """Threads and processes may share it: every call opens and closes its own connection."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE

    def add(self, model: str, dollars: float, *, month: str = "") -> None:
        """Add to what ``model`` cost this month."""
        if dollars <= 0:
            return
        with self._open() as db:
            db.execute(
                "INSERT INTO spent VALUES (?, ?, ?, 1) "
                "ON CONFLICT DO UPDATE SET dollars = dollars + excluded.dollars, calls = calls + 1",
                (month or this_month(), model, dollars),
            )

    def month(self, month: str = "") -> float:
        """Dollars spent in ``month`` ('2026-11'; '' for this one)."""
        with self._open() as db:
            row = db.execute("SELECT COALESCE(SUM(dollars), 0) FROM spent WHERE month = ?", (month or this_month(),))
            return float(row.fetchone()[0])

    def by_model(self, month: str = "") -> dict[str, float]:
        with self._open() as db:
            rows = db.execute("SELECT model, dollars FROM spent WHERE month = ?", (month or this_month(),)).fetchall()
        return {str(model): float(dollars) for model, dollars in rows}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=10)) as db, db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute(
                    "CREATE TABLE IF NOT EXISTS spent "
                    "(month TEXT, model TEXT, dollars REAL, calls INTEGER, PRIMARY KEY (month, model))"
                )
                yield db
        except sqlite3.Error:
            raise LibraryError(
                f"{self.path} cannot be read or written, so what is spent cannot be counted. Check the disk, or remove "
                "the file to begin a new count."
            ) from None


def this_month() -> str:
    return time.strftime("%Y-%m")
