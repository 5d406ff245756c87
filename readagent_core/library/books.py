"""Books and the versions of their text.

The same text belongs to the same book. Another text from a file of the same name is a new version of the book.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import lru_cache

from readagent_core.document import Cover, Document, Picture
from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library.records import Book, Position
from readagent_core.library.schema import Database, LibraryPart
from readagent_core.library.search import remove_from_index
from readagent_core.quick_json import from_json, to_json
from readagent_core.stories import is_story

_CACHED_DOCUMENTS = 8  # some texts twice: whole and with a paragraph limit
_GONE = "This book is not in the library. It may have been removed; open its file again."
_LONGEST_TITLE = 300  # characters; of an author as well
_BOOK = [field.name for field in fields(Book)]
_SELECT = """
    SELECT book.*, version.number AS version, version.document_id, document.words,
        cover.document_id IS NOT NULL AS has_cover
    FROM book
    JOIN version ON version.book_id = book.id
        AND version.number = (SELECT max(number) FROM version WHERE book_id = book.id)
    JOIN document ON document.id = version.document_id
    LEFT JOIN cover ON cover.document_id = document.id
"""


class Books(LibraryPart):
    """The books, their texts and covers, and the reader's position in each."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._titled_document = lru_cache(maxsize=_CACHED_DOCUMENTS)(self._load_document)

    def book(self, book_id: str) -> Book:
        row = self._db.row(f"{_SELECT} WHERE book.id = ?", (book_id,))
        if row is None:
            raise NotInLibraryError(_GONE)
        return book_of(row)

    def books(self, *, include_removed: bool = False) -> list[Book]:
        """All books, last opened first; a book that was never opened counts as opened when it was added."""
        where = "" if include_removed else "WHERE book.removed IS NULL"
        rows = self._db.rows(f"{_SELECT} {where} ORDER BY coalesce(book.opened, book.added) DESC, book.id")
        return [book_of(row) for row in rows]

    def removed(self) -> list[Book]:
        """The books that were removed and can be restored, last removed first."""
        rows = self._db.rows(f"{_SELECT} WHERE book.removed IS NOT NULL ORDER BY book.removed DESC, book.id")
        return [book_of(row) for row in rows]

    def add(self, document: Document, *, source_name: str = "", sample: bool = False) -> Book:
        """Add a text and return its book: the existing one if the text is known, or its file is a new version."""
        now = time.time()
        with self._db.write() as connection:
            if _insert_text(connection, document):
                self._titled_document.cache_clear()
            book_id = _find_book(connection, document, source_name, sample)
            if book_id is None:
                book_id = secrets.token_hex(6)
                described = (document.title, document.author, document.language, document.format)
                connection.execute(
                    "INSERT INTO book VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                    (book_id, *described, source_name, sample, now),
                )
                if is_story(document):  # it begins with 'Only what I have read': 2, that nobody has chosen it
                    connection.execute(
                        "INSERT INTO position (book_id, paragraph, furthest, words_read, limited) "
                        "VALUES (?, 0, 0, 0, 2)",
                        (book_id,),
                    )
            newest = connection.execute(
                "SELECT number, document_id FROM version WHERE book_id = ? ORDER BY number DESC", (book_id,)
            ).fetchone()
            if newest is None or newest["document_id"] != document.id:
                number = newest["number"] + 1 if newest else 1
                connection.execute("INSERT INTO version VALUES (?, ?, ?, ?)", (book_id, number, document.id, now))
            connection.execute("UPDATE book SET removed = NULL WHERE id = ?", (book_id,))
            if document.series:
                place = "INSERT INTO series VALUES (?, ?, ?) ON CONFLICT DO NOTHING"  # an order by hand stays
                connection.execute(place, (book_id, *document.series))
        return self.book(book_id)

    def document(self, book_id: str, *, document_id: str | None = None) -> Document:
        """The newest version of the book's text, or the version ``document_id``; without cover and pictures."""
        return self._document(document_id or self.book(book_id).document_id)

    def cover(self, book_id: str) -> Cover | None:
        row = self._db.row("SELECT kind, data FROM cover WHERE document_id = ?", (self.book(book_id).document_id,))
        return Cover(row["data"], row["kind"]) if row else None

    def picture(self, document_id: str, picture_id: str) -> Picture | None:
        """The picture of a figure of this text; None where the library has none."""
        row = self._db.row("SELECT * FROM picture WHERE document_id = ? AND id = ?", (document_id, picture_id))
        return Picture(row["id"], row["kind"], row["data"]) if row else None

    def rename(self, book_id: str, *, title: str, author: str) -> None:
        """Change the title and author of the book and of its texts.

        Raises LibraryError for a title without a letter or digit.
        """
        self.book(book_id)
        title, author = (" ".join(text.split())[:_LONGEST_TITLE] for text in (title, author))
        if not any(c.isalnum() for c in title):
            raise LibraryError("A book needs a title. Write one, then save again.")
        self._db.change("UPDATE book SET title = ?, author = ? WHERE id = ?", (title, author, book_id))
        self._db.notes_changed()

    def touch(self, book_id: str) -> None:
        """Record that the book was opened now."""
        self._set([book_id], "opened", time.time())

    def remove(self, *book_ids: str) -> None:
        """Hide the books; ``restore`` shows them again until ``delete_removed``."""
        self._set(book_ids, "removed", time.time())

    def restore(self, *book_ids: str) -> None:
        self._set(book_ids, "removed", None)

    def delete_removed(self, *, before: float = math.inf) -> int:
        """Delete for good the books removed before this time, with all that was made of them; their number.

        Samples are only ever hidden, because they would be added again.
        """
        with self._db.write() as connection:
            gone = connection.execute("SELECT id FROM book WHERE removed < ? AND NOT sample", (before,)).fetchall()
            for (book_id,) in gone:
                texts = connection.execute("SELECT document_id FROM version WHERE book_id = ?", (book_id,)).fetchall()
                gistings = connection.execute("SELECT id FROM reading WHERE book_id = ?", (book_id,)).fetchall()
                owners = [f"text {text}" for (text,) in texts] + [f"gist {gisting}" for (gisting,) in gistings]
                remove_from_index(connection, owners)
                connection.execute("DELETE FROM book WHERE id = ?", (book_id,))
                connection.executemany("DELETE FROM document WHERE id = ?", [tuple(text) for text in texts])
        return len(gone)

    def _set(self, book_ids: Iterable[str], column: str, value: float | None) -> None:
        with self._db.write() as connection:
            for book_id in book_ids:
                if not connection.execute(f"UPDATE book SET {column} = ? WHERE id = ?", (value, book_id)).rowcount:
                    raise NotInLibraryError(_GONE)

    def position(self, book_id: str) -> Position:
        row = self._db.row("SELECT * FROM position WHERE book_id = ?", (book_id,))
        if row is None:
            return Position()
        if row["words_read"] is None:  # a position of an earlier version
            self.set_furthest(book_id, row["furthest"])
            return self.position(book_id)
        return position_of(row)

    def set_position(
        self, book_id: str, paragraph: int, offset: int = -1, *, words: tuple[str, str] = ("", "")
    ) -> None:
        """Set where the person is: see ``Position``. ``words``: those before and after the place.

        What counts as read stays as it was.
        """
        document = self.document(book_id)
        section = document.section_of(paragraph)
        sizes = [len(p.text) for p in document.paragraphs]
        share = min(1.0, (sum(sizes[:paragraph]) + max(0, offset)) / max(1, sum(sizes)))
        self._db.change(
            "INSERT INTO position (book_id, paragraph, furthest, words_read, section, offset, share, words_before, "
            "words_after) VALUES (?, ?, 0, 0, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET paragraph = excluded.paragraph, section = excluded.section, "
            "offset = excluded.offset, share = excluded.share, words_before = excluded.words_before, "
            "words_after = excluded.words_after",
            (book_id, paragraph, section.title if section else "", offset, share, *words),
        )

    def set_furthest(self, book_id: str, furthest: int) -> int:
        """Set how many paragraphs from the start count as read; return how many words more these are than before."""
        paragraphs = self.document(book_id).paragraphs
        furthest = min(max(0, furthest), len(paragraphs))
        with self._db.write() as connection:
            row = connection.execute(
                "SELECT furthest, words_read FROM position WHERE book_id = ? AND words_read IS NOT NULL", (book_id,)
            ).fetchone()
            before, words = row or (0, 0)
            # only what is added or taken away is counted: to count a whole long book takes a second
            more = sum(p.words for p in paragraphs[before:furthest])
            more -= sum(p.words for p in paragraphs[furthest:before])
            connection.execute(
                "INSERT INTO position (book_id, paragraph, furthest, words_read) VALUES (?, 0, ?, ?) "
                "ON CONFLICT DO UPDATE SET furthest = excluded.furthest, words_read = excluded.words_read",
                (book_id, furthest, words + more),
            )
        return more

    def set_limit(self, book_id: str, *, on: bool, paragraph: int | None = None) -> None:
        """Turn the spoiler limit on or off. ``paragraph``: how many paragraphs it lets in; None: those read.

        One that is turned off keeps where it was, and that somebody did so: 3.
        """
        self.book(book_id)
        self._db.change(
            "INSERT INTO position (book_id, paragraph, furthest, words_read, limited, spoiler_limit) "
            "VALUES (?, 0, 0, 0, ?, ?) "
            "ON CONFLICT DO UPDATE SET limited = excluded.limited, "
            "spoiler_limit = CASE excluded.limited WHEN 1 THEN excluded.spoiler_limit ELSE spoiler_limit END",
            (book_id, 1 if on else 3, paragraph),
        )

    def _document(self, document_id: str) -> Document:
        return self._titled_document(document_id, 0, *self._names(document_id))

    def _names(self, document_id: str) -> tuple[str, str]:
        """The current title and author of the book that has this text, which this or another process may change."""
        row = self._db.row(
            "SELECT title, author FROM version JOIN book ON book.id = book_id WHERE document_id = ?", (document_id,)
        )
        if row is None:
            raise NotInLibraryError("This text is not in the library. Open its file again.")
        return row["title"], row["author"]

    def _load_document(self, document_id: str, limit: int, title: str, author: str) -> Document:
        """The text as stored, or with its paragraphs split at ``limit`` words."""
        if limit:
            return self._titled_document(document_id, 0, title, author).limited(limit)
        (row,) = self._db.rows("SELECT body FROM document WHERE id = ?", (document_id,))
        return replace(Document.from_dict(from_json(row["body"])), title=title, author=author)


def book_of(row: sqlite3.Row) -> Book:
    values = {name: row[name] for name in _BOOK}
    return Book(**{**values, "sample": bool(row["sample"]), "has_cover": bool(row["has_cover"])})


def position_of(row: sqlite3.Row) -> Position:
    return Position(
        row["paragraph"], row["furthest"], row["words_read"], row["limited"] in (1, 2), row["spoiler_limit"],
        row["section"], row["offset"], row["share"] or 0.0, row["words_before"], row["words_after"],
        row["limited"] == 2, row["limited"] == 3,
    )  # fmt: skip


def _insert_text(connection: sqlite3.Connection, document: Document) -> bool:
    """Store a text that is not stored yet; return whether one that is stored got what stands beside its words.

    These are its figures, and its notes, references, readings and formulas, if it had none.

    Else a stored text is not replaced: readings refer to its paragraphs, which another file may split differently.
    """
    body = to_json(document.to_dict()).decode()
    stored = connection.execute("SELECT body FROM document WHERE id = ?", (document.id,)).fetchone()
    gained = False
    if stored is None:
        connection.execute("INSERT INTO document VALUES (?, ?, ?)", (document.id, document.words, body))
    elif document.pictures or document.has_spans:
        known = Document.from_dict(from_json(stored["body"]))
        merged = known
        if [p.text for p in known.paragraphs] == [p.text for p in document.paragraphs]:
            merged = replace(known, figures=known.figures or document.figures)
            if not known.has_spans:
                pairs = zip(known.paragraphs, document.paragraphs, strict=True)
                paragraphs = tuple(replace(old, note=new.note, spans=new.spans) for old, new in pairs)
                merged = replace(merged, paragraphs=paragraphs)
        gained = merged != known
        if gained:
            remove_from_index(connection, [f"text {document.id}"])  # readings are searched too
            connection.execute(
                "UPDATE document SET body = ? WHERE id = ?", (to_json(merged.to_dict()).decode(), document.id)
            )
    connection.executemany(
        "INSERT INTO picture VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(document.id, picture.id, picture.kind, picture.data) for picture in document.pictures],
    )
    if document.cover is not None:
        connection.execute(
            "INSERT INTO cover VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (document.id, document.cover.kind, document.cover.data),
        )
    return gained


def _find_book(connection: sqlite3.Connection, document: Document, source_name: str, sample: bool) -> str | None:
    """The id of the book that has this text, or an earlier version of this file if that is still the same work."""
    known = connection.execute("SELECT book_id FROM version WHERE document_id = ?", (document.id,)).fetchone()
    if known is not None:
        return str(known["book_id"])
    row = connection.execute(
        "SELECT id, title FROM book WHERE source_name = ? AND sample = ? ORDER BY added DESC", (source_name, sample)
    ).fetchone()
    if row is None or not source_name:
        return None
    if row["title"] == document.title:
        return str(row["id"])
    # two different books can both be called book.txt: with another title, some paragraph must be the same
    body = connection.execute(
        "SELECT body FROM document JOIN version ON document.id = document_id WHERE book_id = ? ORDER BY number DESC",
        (row["id"],),
    ).fetchone()["body"]
    earlier = {text for text, *_ in from_json(body)["paragraphs"] if len(text) > 40}
    return str(row["id"]) if any(p.text in earlier for p in document.paragraphs) else None
