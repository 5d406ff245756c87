"""Readings: their state and usage, and every page and gist, saved one by one as they are made.

A saved page is not replaced. If two processes read the same book at once, the second one to save a page gets the
page that the first one saved and continues from it, so pages always follow each other without gaps.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library.records import Reading
from readagent_core.library.schema import Database
from readagent_core.memory import Gist, GistMemory, Page, check_coverage
from readagent_core.plan import ReadingPlan
from readagent_core.usage import Usage

_GONE = "This reading is not in the library any more. Read the book again."
STATES = ("reading", "paused", "done", "failed")
_SELECT = """
    SELECT reading.*, (SELECT count(*) FROM page WHERE reading_id = reading.id) AS pages,
        (SELECT count(*) FROM gist WHERE reading_id = reading.id) AS gists
    FROM reading
"""
# inserts a page only if it is the next one after those that are saved
_INSERT_NEXT_PAGE = """
    INSERT INTO page SELECT value.* FROM (SELECT ?, ? AS number, ? AS first, ?, ?, ?, ?, ?) AS value
    JOIN (SELECT max(number) AS number, beyond FROM page WHERE reading_id = ?) AS last
    WHERE value.number = coalesce(last.number, 0) + 1 AND value.first = coalesce(last.beyond, 0)
"""
_UPSERT_GIST = """
    INSERT INTO gist VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET text = excluded.text,
        fallback = excluded.fallback, whole = excluded.whole, edited = excluded.edited, level = excluded.level,
        marks = excluded.marks, indexed = 0
"""


def _reading(row: sqlite3.Row) -> Reading:
    return Reading(
        id=row["id"],
        book_id=row["book_id"],
        document_id=row["document_id"],
        plan=ReadingPlan.from_dict(json.loads(row["plan"])),
        model=row["model"],
        where=row["place"],
        state=row["state"],
        why=row["why"],
        pages=row["pages"],
        gists=row["gists"],
        started=row["started"],
        ended=row["ended"],
        recorded=row["recorded"],
        usage=Usage.from_dict(json.loads(row["usage"])),
        changed=row["changed"],
    )


def reading(db: Database, reading_id: int) -> Reading:
    row = db.row(f"{_SELECT} WHERE reading.id = ?", (reading_id,))
    if row is None:
        raise NotInLibraryError(_GONE)
    return _reading(row)


def readings(db: Database, book_id: str) -> list[Reading]:
    """All readings of the book, newest first."""
    return [_reading(r) for r in db.rows(f"{_SELECT} WHERE book_id = ? ORDER BY started DESC, id DESC", (book_id,))]


def open_reading(
    db: Database, book_id: str, document_id: str, *, plan: ReadingPlan, model: str, where: str, recorded: str = ""
) -> Reading:
    key = (document_id, plan.key, model, recorded)
    find = "SELECT id FROM reading WHERE document_id = ? AND plan_key = ? AND model = ? AND recorded = ?"
    found = db.row(find, key)
    if found is None:
        db.change(
            "INSERT INTO reading (book_id, document_id, plan_key, plan, model, place, state, started, recorded) "
            "VALUES (?, ?, ?, ?, ?, ?, 'reading', ?, ?) ON CONFLICT DO NOTHING",
            (book_id, document_id, plan.key, json.dumps(plan.to_dict()), model, where, time.time(), recorded),
        )
        found = db.row(find, key)
    if found is None:
        raise NotInLibraryError(_GONE)
    return reading(db, found["id"])


def set_state(db: Database, reading_id: int, state: str, *, why: str) -> None:
    if state not in STATES:
        raise ValueError(f"{state!r} is not one of {STATES}")
    ended = None if state == "reading" else time.time()
    change = "UPDATE reading SET state = ?, why = ?, ended = ? WHERE id = ?"
    if not db.change(change, (state, why, ended, reading_id)):
        raise NotInLibraryError(_GONE)


def add_usage(db: Database, reading_id: int, used: Usage) -> None:
    """Add ``used`` to the usage of the reading. Raises NotInLibraryError."""
    with db.write() as connection:
        row = connection.execute("SELECT usage FROM reading WHERE id = ?", (reading_id,)).fetchone()
        if row is None:
            raise NotInLibraryError(_GONE)
        total = Usage.from_dict(json.loads(row["usage"])) + used
        connection.execute("UPDATE reading SET usage = ? WHERE id = ?", (json.dumps(total.to_dict()), reading_id))


def load_pages(db: Database, reading_id: int) -> tuple[list[Page], dict[int, Gist]]:
    """All saved pages in order, and the gists by page number."""
    pages = [_page(r) for r in db.rows("SELECT * FROM page WHERE reading_id = ? ORDER BY number", (reading_id,))]
    gists = {r["number"]: _gist(r) for r in db.rows("SELECT * FROM gist WHERE reading_id = ?", (reading_id,))}
    return pages, gists


def _page(row: sqlite3.Row) -> Page:
    return Page(
        row["number"], row["first"], row["beyond"], row["words"], row["reason"], bool(row["fallback"]), row["ends"]
    )


def _gist(row: sqlite3.Row) -> Gist:
    return Gist(
        row["text"],
        bool(row["fallback"]),
        bool(row["whole"]),
        bool(row["edited"]),
        row["level"],
        tuple(json.loads(row["marks"])),
    )


def memory(db: Database, this: Reading, document: Document) -> GistMemory:
    """The gist memory of reading ``this``. ``document``: its text, limited to the ``max_words`` of its plan."""
    pages, gists = load_pages(db, this.id)
    in_order = tuple(gists.get(p.number) for p in pages)
    covered = bool(pages) and pages[-1].end == len(document.paragraphs)
    return GistMemory(
        document=document,
        plan=this.plan,
        pages=tuple(pages),
        gists=in_order,
        model=this.model,
        complete=covered and None not in in_order,
        recorded=this.recorded,
        usage=this.usage,
    )


def save_page(db: Database, reading_id: int, page: Page) -> Page:
    """Save ``page`` and return it, or the page of this number that was saved before. Raises LibraryError."""
    values = (reading_id, page.number, page.start, page.end, page.words, page.reason, page.fallback, page.ends)
    if db.change(_INSERT_NEXT_PAGE, (*values, reading_id)):
        return page
    row = db.row("SELECT * FROM page WHERE reading_id = ? AND number = ?", (reading_id, page.number))
    if row is not None:
        return _page(row)
    raise LibraryError(
        f"Page {page.number} does not follow the last saved page of this reading, which was changed elsewhere "
        "in the meantime. Start reading again to continue from the saved pages."
    )


def save_gist(db: Database, reading_id: int, number: int, *, gist: Gist) -> None:
    db.change(_UPSERT_GIST, _gist_row(reading_id, number, gist))


def _gist_row(reading_id: int, number: int, gist: Gist) -> tuple[Any, ...]:
    marks = json.dumps(gist.marks, ensure_ascii=False)
    return reading_id, number, gist.text, gist.fallback, gist.whole, gist.edited, gist.level, marks


def cut_from(db: Database, reading_id: int, number: int) -> None:
    """Delete page ``number`` and all after it, so that reading resumes there."""
    reading(db, reading_id)
    with db.write() as connection:
        connection.execute("DELETE FROM page WHERE reading_id = ? AND number >= ?", (reading_id, number))
        connection.execute("DELETE FROM gist WHERE reading_id = ? AND number >= ?", (reading_id, number))
        connection.execute("DELETE FROM note WHERE reading_id = ?", (reading_id,))
        connection.execute(
            "UPDATE reading SET state = 'paused', why = ?, ended = ? WHERE id = ?",
            (f"To be read again from page {number}.", time.time(), reading_id),
        )


def put_memory(db: Database, reading_id: int, memory: GistMemory) -> None:
    """Replace the pages, gists and usage of the reading by those of ``memory`` (a recording, an import)."""
    if memory.complete:
        check_coverage(memory.document, memory.pages)
    with db.write() as connection:
        connection.execute("DELETE FROM page WHERE reading_id = ?", (reading_id,))
        connection.execute("DELETE FROM gist WHERE reading_id = ?", (reading_id,))
        connection.executemany(
            "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(reading_id, p.number, p.start, p.end, p.words, p.reason, p.fallback, p.ends) for p in memory.pages],
        )
        gists = zip(memory.pages, memory.gists, strict=True)
        connection.executemany(_UPSERT_GIST, [_gist_row(reading_id, p.number, g) for p, g in gists if g is not None])
        connection.execute(
            "UPDATE reading SET state = ?, why = '', ended = ?, usage = ? WHERE id = ?",
            (
                "done" if memory.complete else "paused",
                time.time(),
                json.dumps(memory.usage.to_dict()),
                reading_id,
            ),
        )


class ReadingStore:
    """The ``store`` of one reading for ``reading.read``: its pages, gists, notes and usage.

    Notes are replies that are not yet part of a certain page; they are deleted when the reading is complete.
    """

    def __init__(self, db: Database, reading_id: int) -> None:
        self._db = db
        self._reading_id = reading_id
        self._saved = Usage()  # of this run

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        return load_pages(self._db, self._reading_id)

    def save_page(self, page: Page) -> Page:
        return save_page(self._db, self._reading_id, page)

    def save_gist(self, number: int, gist: Gist) -> None:
        save_gist(self._db, self._reading_id, number, gist=gist)

    def load_notes(self) -> dict[str, dict[str, Any]]:
        rows = self._db.rows("SELECT name, value FROM note WHERE reading_id = ?", (self._reading_id,))
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def save_note(self, key: str, value: Mapping[str, Any]) -> None:
        self._db.change(
            "INSERT INTO note VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (self._reading_id, key, json.dumps(dict(value), ensure_ascii=False)),
        )

    def clear_notes(self) -> None:
        self._db.change("DELETE FROM note WHERE reading_id = ?", (self._reading_id,))

    def save_usage(self, usage: Usage) -> None:
        """Save the usage of this run so far; the usage of earlier runs of the reading is added to it."""
        if usage != self._saved:
            add_usage(self._db, self._reading_id, usage - self._saved)
            self._saved = usage
