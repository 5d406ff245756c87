"""The words that a person looked up, each with the sentence it stood in. They belong to the book."""

from __future__ import annotations

import time
from dataclasses import astuple, dataclass, fields
from typing import Any

from readagent_core.library.schema import LibraryPart


@dataclass(frozen=True)
class LookedUpWord:
    """``word``: as the dictionary has it; ``form``: as the text has it, at ``offset`` of ``paragraph``.

    ``meaning``: the first entry's text. ``looked_up``: the last time, in seconds since 1970; ``times``: how often.
    """

    book_id: str
    word: str
    form: str
    sentence: str
    paragraph: int
    offset: int
    meaning: str
    dictionary: str
    looked_up: float = 0.0
    times: int = 1


_COLUMNS = [field.name for field in fields(LookedUpWord)]


class Vocabulary(LibraryPart):
    """The looked-up words of all books."""

    def put_word(self, word: LookedUpWord) -> None:
        """Store a word; of one that was looked up in this book before, the new sentence, and once more."""
        values: list[Any] = list(astuple(word))
        values[-2] = word.looked_up or time.time()
        self._db.change(
            f"INSERT INTO looked_up ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
            "ON CONFLICT DO UPDATE SET form = excluded.form, sentence = excluded.sentence, "
            "paragraph = excluded.paragraph, offset = excluded.offset, meaning = excluded.meaning, "
            "dictionary = excluded.dictionary, looked_up = excluded.looked_up, times = times + 1",
            values,
        )

    def words(self, book_id: str | None = None) -> list[LookedUpWord]:
        """The words of a book, or of all that were not removed; those looked up last come first."""
        rows = self._db.rows(
            f"SELECT {', '.join(f'looked_up.{name}' for name in _COLUMNS)} FROM looked_up "
            "JOIN book ON book.id = book_id WHERE book.removed IS NULL AND ? IN (book_id, '') "
            "ORDER BY looked_up.looked_up DESC, word",
            (book_id or "",),
        )
        return [LookedUpWord(*row) for row in rows]

    def remove_word(self, book_id: str, word: str) -> None:
        self._db.change("DELETE FROM looked_up WHERE book_id = ? AND word = ?", (book_id, word))
