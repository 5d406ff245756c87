"""A person's own reading as CSV: days, and the words that were looked up."""

from __future__ import annotations

from datetime import UTC, datetime

from readagent_core.library import Library
from readagent_core.text_files import UTF_8_MARK, csv_line, without_emphasis


def reading_csv(library: Library) -> str:
    """Return one row for each book and day; the day a book was finished has its stars and the remark."""
    books = {book.id: book for book in library.books(include_removed=True)}
    rows = [UTF_8_MARK, csv_line(("day", "book", "author", "words", "minutes", "finished", "stars", "remark"))]
    finished = library.finished()
    days = {(one.day, one.book_id): (one.words, round(one.seconds / 60, 1)) for one in library.reading_log()}
    days |= {(one.day, one.book_id): days.get((one.day, one.book_id), (0, 0.0)) for one in finished.values()}
    for (day, book_id), (words, minutes) in sorted(days.items()):
        end = finished.get(book_id)
        last = ("yes", end.stars or "", end.remark) if end and end.day == day else ("", "", "")
        rows.append(csv_line((day.isoformat(), books[book_id].title, books[book_id].author, words, minutes, *last)))
    return "".join(rows)


def words_csv(library: Library) -> str:
    """Return one row for each word that was looked up, with its sentence and meaning; the last one first."""
    books = {book.id: book for book in library.books()}
    header = ("word", "in the text", "sentence", "meaning", "dictionary", "book", "looked up", "times")
    rows = [UTF_8_MARK, csv_line(header)]
    for word in library.words():
        day = datetime.fromtimestamp(word.looked_up, UTC).date().isoformat()
        row = (
            word.word,
            word.form,
            without_emphasis(word.sentence, books[word.book_id].format),
            word.meaning,
            word.dictionary,
            books[word.book_id].title,
            day,
            word.times,
        )
        rows.append(csv_line(row))
    return "".join(rows)
