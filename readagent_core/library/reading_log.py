"""What a person has read on which day, and the books that are finished. Made from the places that are stored anyway."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date, datetime

from readagent_core.errors import SettingsError
from readagent_core.library.schema import LibraryPart

STILL = 60.0  # seconds without a move: longer ones count only as far as words were read in them,
WORD = 1.0  # each as long as the slowest reader takes for it,
PAUSE = 300.0  # and not at all from here on
MOST_STARS = 5


@dataclass(frozen=True)
class ReadOn:
    """Reading in one book on one day of this computer's calendar. ``words``: read for the first time."""

    day: date
    book_id: str
    words: int
    seconds: float


@dataclass(frozen=True)
class Finished:
    """A book that is finished. ``stars``: 1 to 5, 0 for none. ``remark``: a line of one's own."""

    book_id: str
    day: date
    stars: int = 0
    remark: str = ""


class ReadingLog(LibraryPart):
    """When and how much was read of all books."""

    def log_reading(self, book_id: str, words: int, *, now: float | None = None) -> None:
        """Add ``words`` to today, and the time since the last call of today, as far as it was spent with reading."""
        now = time.time() if now is None else now
        day = datetime.fromtimestamp(now).date().isoformat()
        self._db.change(
            "INSERT INTO read_on (day, book_id, words, seconds, last) VALUES (:day, :book, :words, 0, :now) "
            "ON CONFLICT DO UPDATE SET words = words + :words, last = :now, "
            "seconds = seconds + CASE WHEN :now - last BETWEEN 0 AND :still THEN :now - last "
            "WHEN :now - last BETWEEN 0 AND :pause THEN min(:now - last, :words * :word) ELSE 0 END",
            {"day": day, "book": book_id, "words": max(0, words), "now": now}
            | {"still": STILL, "word": WORD, "pause": PAUSE},
        )

    def reading_log(self) -> list[ReadOn]:
        """All days with reading, the first day first."""
        rows = self._db.rows("SELECT day, book_id, words, seconds FROM read_on ORDER BY day, book_id")
        return [ReadOn(date.fromisoformat(row["day"]), row["book_id"], row["words"], row["seconds"]) for row in rows]

    def finish(self, book_id: str, *, day: date | None = None, stars: int = 0, remark: str = "") -> None:
        """Mark the book as finished, or change what was written. Raises SettingsError for more than five stars.

        A book that becomes finished has nothing left to spoil: its limit is off, until it is finished no more.
        """
        if not 0 <= stars <= MOST_STARS:
            raise SettingsError(f"A book has 1 to {MOST_STARS} stars, or none.")
        self._db.change(  # below 0: the limit that comes back
            "UPDATE position SET limited = -limited WHERE book_id = ? AND limited > 0 "
            "AND NOT EXISTS (SELECT 1 FROM finished WHERE finished.book_id = position.book_id)",
            (book_id,),
        )
        self._db.change(
            "INSERT INTO finished (book_id, day, stars, remark) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "day = excluded.day, stars = excluded.stars, remark = excluded.remark",
            (book_id, (day or date.today()).isoformat(), stars, " ".join(remark.split())[:500]),
        )
        self._db.notes_changed()

    def unfinish(self, book_id: str) -> None:
        self._db.change("DELETE FROM finished WHERE book_id = ?", (book_id,))
        self._db.change("UPDATE position SET limited = abs(limited) WHERE book_id = ?", (book_id,))
        self._db.notes_changed()

    def finished(self) -> dict[str, Finished]:
        """The finished books by their id, those finished last first."""
        rows = self._db.rows("SELECT * FROM finished ORDER BY day DESC, book_id")
        return {
            row["book_id"]: Finished(row["book_id"], date.fromisoformat(row["day"]), row["stars"], row["remark"])
            for row in rows
        }
