"""Books and the versions of their text.

The same text belongs to the same book. Another text from a file of the same name is a new version of the book.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from dataclasses import replace

from readagent_core.document import Cover, Document
from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library.records import Book, Position
from readagent_core.library.schema import Database
from readagent_core.quick_json import from_json, to_json

_LONGEST_TITLE = 300  # characters; of an author as well
_SELECT = """
    SELECT book.*, version.number, version.document_id, document.words, cover.document_id IS NOT NULL AS has_cover
    FROM book
    JOIN version ON version.book_id = book.id
        AND version.number = (SELECT max(number) FROM version WHERE book_id = book.id)
    JOIN document ON document.id = version.document_id
    LEFT JOIN cover ON cover.document_id = document.id
"""


def _book(row: sqlite3.Row) -> Book:
    return Book(
        id=row["id"],
        document_id=row["document_id"],
        title=row["title"],
        author=row["author"],
        language=row["language"],
        format=row["format"],
        words=row["words"],
        source_name=row["source_name"],
        sample=bool(row["sample"]),
        version=row["number"],
        added=row["added"],
        opened=row["opened"],
        removed=row["removed"],
        has_cover=bool(row["has_cover"]),
    )


def book(db: Database, book_id: str) -> Book:
    row = db.row(f"{_SELECT} WHERE book.id = ?", (book_id,))
    if row is None:
        raise NotInLibraryError("This book is not in the library. It may have been removed; open its file again.")
    return _book(row)


def books(db: Database, *, include_removed: bool) -> list[Book]:
    """All books, last opened first; a book that was never opened counts as opened when it was added."""
    where = "" if include_removed else "WHERE book.removed IS NULL"
    return [_book(r) for r in db.rows(f"{_SELECT} {where} ORDER BY coalesce(book.opened, book.added) DESC, book.id")]


def add(db: Database, document: Document, *, source_name: str, sample: bool) -> Book:
    now = time.time()
    body = to_json(document.to_dict()).decode()
    with db.write() as connection:
        _insert_text(connection, document, body)
        book_id = _book_with_text(connection, document.id) or _book_from_file(connection, document, source_name, sample)
        if book_id is None:
            book_id = secrets.token_hex(6)
            connection.execute(
                "INSERT INTO book VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                (
                    book_id,
                    document.title,
                    document.author,
                    document.language,
                    document.format,
                    source_name,
                    sample,
                    now,
                ),
            )
        newest = connection.execute(
            "SELECT number, document_id FROM version WHERE book_id = ? ORDER BY number DESC", (book_id,)
        ).fetchone()
        if newest is None or newest["document_id"] != document.id:
            number = newest["number"] + 1 if newest else 1
            connection.execute("INSERT INTO version VALUES (?, ?, ?, ?)", (book_id, number, document.id, now))
        connection.execute("UPDATE book SET removed = NULL WHERE id = ?", (book_id,))
    return book(db, book_id)


def _insert_text(connection: sqlite3.Connection, document: Document, body: str) -> None:
    # a stored text is not replaced: readings refer to its paragraphs, which another file may split differently
    connection.execute(
        "INSERT INTO document VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (document.id, document.words, body)
    )
    if document.cover is not None:
        connection.execute(
            "INSERT INTO cover VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (document.id, document.cover.kind, document.cover.data),
        )


def _book_with_text(connection: sqlite3.Connection, document_id: str) -> str | None:
    row = connection.execute("SELECT book_id FROM version WHERE document_id = ?", (document_id,)).fetchone()
    return row["book_id"] if row else None


def _book_from_file(connection: sqlite3.Connection, document: Document, source_name: str, sample: bool) -> str | None:
    """The id of the book that an earlier version of this file belongs to, if this is still the same work."""
    if not source_name:
        return None
    row = connection.execute(
        "SELECT id, title FROM book WHERE source_name = ? AND sample = ? ORDER BY added DESC", (source_name, sample)
    ).fetchone()
    if row is None:
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


def rename(db: Database, book_id: str, *, title: str, author: str) -> None:
    """Change the title and author. Raises LibraryError for a title without a letter or digit."""
    book(db, book_id)
    title, author = (" ".join(text.split())[:_LONGEST_TITLE] for text in (title, author))
    if not any(c.isalnum() for c in title):
        raise LibraryError("A book needs a title. Write one, then save again.")
    db.change("UPDATE book SET title = ?, author = ? WHERE id = ?", (title, author, book_id))


def names(db: Database, document_id: str) -> tuple[str, str]:
    """The current title and author of the book that has this text; both '' if there is no such text."""
    row = db.row(
        "SELECT title, author FROM version JOIN book ON book.id = book_id WHERE document_id = ?", (document_id,)
    )
    return (row["title"], row["author"]) if row else ("", "")


def document(db: Database, document_id: str) -> Document:
    """The text with the current title and author of its book, which the reader may have changed."""
    row = db.row(
        "SELECT body, title, author FROM document JOIN version ON document_id = document.id "
        "JOIN book ON book.id = book_id WHERE document.id = ?",
        (document_id,),
    )
    if row is None:
        raise NotInLibraryError("This text is not in the library. Open its file again.")
    return replace(Document.from_dict(from_json(row["body"])), title=row["title"], author=row["author"])


def cover(db: Database, book_id: str) -> Cover | None:
    row = db.row("SELECT kind, data FROM cover WHERE document_id = ?", (book(db, book_id).document_id,))
    return Cover(row["data"], row["kind"]) if row else None


def touch(db: Database, book_id: str) -> None:
    _set(db, book_id, "opened", time.time())


def remove(db: Database, book_id: str) -> None:
    _set(db, book_id, "removed", time.time())


def restore(db: Database, book_id: str) -> None:
    _set(db, book_id, "removed", None)


def _set(db: Database, book_id: str, column: str, value: float | None) -> None:
    book(db, book_id)
    db.change(f"UPDATE book SET {column} = ? WHERE id = ?", (value, book_id))


def purge(db: Database, *, before: float | None) -> int:
    """Delete removed books permanently: all, or those removed ``before`` a time. Returns how many."""
    limit = time.time() + 1 if before is None else before
    with db.write() as connection:
        deleted = connection.execute("DELETE FROM book WHERE removed < ?", (limit,)).rowcount
        if deleted:
            connection.execute("DELETE FROM document WHERE id NOT IN (SELECT document_id FROM version)")
            _delete_orphaned_indexes(connection)
    if deleted:
        db.compact()
    return deleted


def _delete_orphaned_indexes(connection: sqlite3.Connection) -> None:
    """Delete the search indexes of texts and readings that no longer exist."""
    owners = {f"text {r[0]}" for r in connection.execute("SELECT id FROM document")}
    owners |= {f"gist {r[0]}" for r in connection.execute("SELECT id FROM reading")}
    for number, owner in connection.execute("SELECT id, owner FROM indexed").fetchall():
        if owner not in owners:
            connection.execute("DELETE FROM found WHERE rowid >= ? AND rowid < ?", (number << 24, (number + 1) << 24))
            connection.execute("DELETE FROM indexed WHERE id = ?", (number,))


def position(db: Database, book_id: str) -> Position:
    row = db.row("SELECT paragraph, furthest FROM position WHERE book_id = ?", (book_id,))
    return Position(row["paragraph"], row["furthest"]) if row else Position()


def set_position(db: Database, book_id: str, paragraph: int) -> None:
    book(db, book_id)
    db.change(
        "INSERT INTO position VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET paragraph = excluded.paragraph, "
        "furthest = max(furthest, excluded.furthest)",
        (book_id, paragraph, paragraph),
    )
