"""What a person has read: by day, at which pace, and what is left at it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

from readagent_core.library import Library
from readagent_core.library.reading_log import Finished
from readagent_core.library.records import Book

DAYS = 30  # that are shown
WORDS_A_PAGE = 250  # of a printed book, roughly
LEAST_SECONDS = 300.0  # before a pace is told
_SLOWEST, _FASTEST = 60, 900  # words a minute; what lies outside was not reading


@dataclass(frozen=True)
class Day:
    """``words``: read for the first time on that day."""

    day: date
    words: int
    seconds: float


@dataclass(frozen=True)
class Statistics:
    """``days``: the last ``DAYS`` up to today, also those without reading; none where nothing was ever read.

    ``pace``: words a minute, 0 where it is not known. ``left``: books that were begun, with the seconds that the rest
    takes. ``streak``: days with reading in a row, up to today or yesterday. ``to_end``: books that were read to their
    end and not marked as finished, with the last day of reading, the latest first.
    """

    days: tuple[Day, ...]
    words: int
    seconds: float
    pace: float
    left: tuple[tuple[Book, float], ...]
    streak: int
    finished: tuple[tuple[Book, Finished], ...]
    to_end: tuple[tuple[Book, date], ...]


def statistics_of(library: Library, *, today: date | None = None) -> Statistics:
    """Return the statistics of all books."""
    today = today or date.today()
    log = library.reading_log()
    words: dict[date, int] = defaultdict(int)
    seconds: dict[date, float] = defaultdict(float)
    for one in log:
        words[one.day] += one.words
        seconds[one.day] += one.seconds
    shown = [today - timedelta(days) for days in range(DAYS - 1, -1, -1)] if log else []
    days = tuple(Day(day, words[day], seconds[day]) for day in shown)
    pace = _pace(sum(day.words for day in days), sum(day.seconds for day in days))
    finished = library.finished()
    cards = [card for card in library.cards() if card.position.words_read and card.book.id not in finished]
    left = [(card.book, 60 * (card.book.words - card.position.words_read) / pace) for card in cards] if pace else []
    books = {book.id: book for book in library.books()}
    last = {one.book_id: one.day for one in log}
    read = [card.book for card in cards if card.position.words_read >= card.book.words]
    to_end = sorted(((book, last.get(book.id, today)) for book in read), key=lambda row: row[1], reverse=True)
    return Statistics(
        days=days,
        words=sum(day.words for day in days),
        seconds=sum(day.seconds for day in days),
        pace=pace,
        left=tuple(row for row in left if row[1] > 0),
        streak=_streak({one.day for one in log}, today),
        finished=tuple((books[one.book_id], one) for one in finished.values() if one.book_id in books),
        to_end=tuple(to_end),
    )


def _pace(words: int, seconds: float) -> float:
    pace = 60 * words / seconds if seconds >= LEAST_SECONDS else 0.0
    return pace if _SLOWEST <= pace <= _FASTEST else 0.0


def _streak(days: set[date], today: date) -> int:
    day = today if today in days else today - timedelta(1)
    count = 0
    while day in days:
        count, day = count + 1, day - timedelta(1)
    return count
