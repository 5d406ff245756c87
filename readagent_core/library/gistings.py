"""Readings: their state and usage, and every page and gist, saved one by one as they are made.

A saved page is not replaced. If two processes read the same book at once, the second one to save a page gets the
page that the first one saved and continues from it, so pages always follow each other without gaps.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.library.books import Books
from readagent_core.library.records import Gisting, GistingState, StopReason
from readagent_core.library.schema import Database
from readagent_core.library.worlds import WorldKind, Worlds
from readagent_core.memory import Gist, GistMemory, Page, PageEnd, StoredText, check_coverage
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage

_CACHED_MEMORIES = 4
_GONE = "These gists are not in the library any more. Make them again in Read."
_SELECT = """
    SELECT id, book_id, document_id, plan, model, place AS "where", state, reason, why, budget AS "limit", successor,
        searched, started, ended, recorded, usage, changed,
        (SELECT count(*) FROM page WHERE reading_id = reading.id) AS pages,
        (SELECT count(*) FROM gist WHERE reading_id = reading.id) AS gists
    FROM reading
"""
_FIND = "SELECT id FROM reading WHERE document_id = ? AND plan_key = ? AND model = ? AND recorded = ?"
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


class GistingStore:
    """The ``store`` of one reading for ``gisting.read``: its pages, gists, notes and usage.

    Notes are replies that are not yet part of a certain page; they are deleted when the gisting is complete.
    """

    def __init__(self, db: Database, gisting_id: int) -> None:
        self._db = db
        self._gisting_id = gisting_id
        self._saved = Usage()  # of this run

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        """All saved pages in order, and the gists by page number."""
        pages = self._db.rows("SELECT * FROM page WHERE reading_id = ? ORDER BY number", (self._gisting_id,))
        gists = self._db.rows("SELECT * FROM gist WHERE reading_id = ?", (self._gisting_id,))
        return [_page(row) for row in pages], {row["number"]: _gist(row) for row in gists}

    def save_page(self, page: Page) -> Page:
        """Save ``page`` and return it, or the page of this number that was saved before. Raises LibraryError."""
        if self._db.change(_INSERT_NEXT_PAGE, (*_page_row(self._gisting_id, page), self._gisting_id)):
            return page
        row = self._db.row("SELECT * FROM page WHERE reading_id = ? AND number = ?", (self._gisting_id, page.number))
        if row is not None:
            return _page(row)
        raise LibraryError(
            f"Page {page.number} does not follow the last saved page of these gists, which were changed elsewhere "
            "in the meantime. Make gists again to continue from the saved pages."
        )

    def save_gist(self, number: int, gist: Gist) -> None:
        self._db.change(_UPSERT_GIST, _gist_row(self._gisting_id, number, gist))

    def save_page_notes(self, number: int, notes: Mapping[str, Any]) -> None:
        Worlds(self._db).save_world_value(self._gisting_id, number, WorldKind.NOTES, notes)

    def load_notes(self) -> dict[str, dict[str, Any]]:
        rows = self._db.rows("SELECT name, value FROM note WHERE reading_id = ?", (self._gisting_id,))
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def save_note(self, key: str, value: Mapping[str, Any]) -> None:
        self._db.change(
            "INSERT INTO note VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (self._gisting_id, key, json.dumps(dict(value), ensure_ascii=False)),
        )

    def clear_notes(self) -> None:
        self._db.change("DELETE FROM note WHERE reading_id = ?", (self._gisting_id,))

    def save_usage(self, usage: Usage) -> None:
        """Save the usage of this run so far; it is added to that of earlier runs. Raises NotInLibraryError."""
        if usage == self._saved:
            return
        with self._db.write() as connection:
            row = connection.execute("SELECT usage FROM reading WHERE id = ?", (self._gisting_id,)).fetchone()
            if row is None:
                raise NotInLibraryError(_GONE)
            total = json.dumps((_usage(row) + (usage - self._saved)).to_dict())
            connection.execute("UPDATE reading SET usage = ? WHERE id = ?", (total, self._gisting_id))
        self._saved = usage


class Gistings(Books):
    """The readings of all books."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        # the arguments change with everything that a memory is made of, in this process or another
        self._current_memory = lru_cache(maxsize=_CACHED_MEMORIES)(self._load_memory)

    def gisting(self, gisting_id: int) -> Gisting:
        row = self._db.row(f"{_SELECT} WHERE id = ?", (gisting_id,))
        if row is None:
            raise NotInLibraryError(_GONE)
        return _gisting(row)

    def gistings(self, book_id: str) -> list[Gisting]:
        """All readings of the book, newest first."""
        rows = self._db.rows(f"{_SELECT} WHERE book_id = ? AND NOT searched ORDER BY started DESC, id DESC", (book_id,))
        return [_gisting(row) for row in rows]

    def gistings_by(self, model_name: str) -> list[Gisting]:
        """All readings that this model made in this library, recordings left out."""
        rows = self._db.rows(f"{_SELECT} WHERE model = ? AND recorded = '' AND NOT searched", (model_name,))
        return [_gisting(row) for row in rows]

    def open_gisting(self, book_id: str, plan: GistingPlan, model_name: str, where: str = "") -> Gisting:
        """The reading of the book's newest text with this plan and model, created if there is none."""
        return self._open_gisting(book_id, self.book(book_id).document_id, plan, model_name, where=where)

    def _open_gisting(
        self, book_id: str, document_id: str, plan: GistingPlan, model: str, *, where: str = "", recorded: str = ""
    ) -> Gisting:
        key = (document_id, plan.key, model, recorded)
        found = self._db.row(_FIND, key)
        return self._insert(book_id, plan, key, where=where) if found is None else self.gisting(found["id"])

    def _insert(
        self, book_id: str, plan: GistingPlan, key: tuple[str, ...], *, where: str = "", searched: bool = False
    ) -> Gisting:
        """Return the gisting of ``key`` (see ``_FIND``), inserted where another process has not done so."""
        document_id, plan_key, model, recorded = key
        self._db.change(
            "INSERT INTO reading (book_id, document_id, plan_key, plan, model, place, state, started, recorded, "
            "searched) VALUES (?, ?, ?, ?, ?, ?, 'reading', ?, ?, ?) ON CONFLICT DO NOTHING",
            (book_id, document_id, plan_key, json.dumps(plan.to_dict()), model, where, time.time(), recorded, searched),
        )
        found = self._db.row(_FIND, key)
        if found is None:
            raise NotInLibraryError(_GONE)
        return self.gisting(found["id"])

    def keep_searched(self, book_id: str, memory: GistMemory, *, gisting: Gisting | None) -> Gisting:
        """Keep the pages of a text that is searched, with the gists that ``gisting`` has so far; ``gistings`` has none.

        So the pages that an old answer names stay what they were when the gists are complete.
        """
        of = f"{gisting.id} {len(memory.readable)}" if gisting else ""
        key = (memory.document.id, f"{memory.plan.key} searched {of}".strip(), memory.model, "")
        found = self._db.row(_FIND, key)
        if found is not None:
            return self.gisting(found["id"])
        kept = self._insert(book_id, memory.plan, key, searched=True)
        self.put_memory(kept.id, memory)
        return self.gisting(kept.id)

    def add_memory(self, book_id: str, memory: GistMemory) -> Gisting:
        """Add a memory that was made elsewhere: a recording or an import."""
        gisting = self._open_gisting(book_id, memory.document.id, memory.plan, memory.model, recorded=memory.recorded)
        self.put_memory(gisting.id, memory)
        return self.gisting(gisting.id)

    def gisting_id_of(self, memory: GistMemory, document_id: str) -> int | None:
        """The gisting of the whole text that ``memory``, or the first pages of it, comes from; None where none is."""
        found = self._db.row(_FIND, (document_id, memory.plan.key, memory.model, memory.recorded))
        return found["id"] if found else None

    def put_memory(self, gisting_id: int, memory: GistMemory) -> None:
        """Replace the pages, gists and usage of the gisting by those of ``memory``."""
        if memory.complete:
            check_coverage(memory.document, memory.pages)
        state = GistingState.DONE if memory.complete else GistingState.PAUSED
        gists = zip(memory.pages, memory.gists, strict=True)
        with self._db.write() as connection:
            connection.execute("DELETE FROM page WHERE reading_id = ?", (gisting_id,))
            connection.execute("DELETE FROM gist WHERE reading_id = ?", (gisting_id,))
            connection.execute("DELETE FROM page_notes WHERE reading_id = ?", (gisting_id,))
            connection.executemany(
                "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [_page_row(gisting_id, p) for p in memory.pages]
            )
            connection.executemany(
                _UPSERT_GIST, [_gist_row(gisting_id, p.number, g) for p, g in gists if g is not None]
            )
            connection.execute(
                "UPDATE reading SET state = ?, reason = '', why = '', ended = ?, usage = ? WHERE id = ?",
                (state, time.time(), json.dumps(memory.usage.to_dict()), gisting_id),
            )

    def set_state(
        self,
        gisting_id: int,
        state: GistingState,
        reason: StopReason = StopReason.NONE,
        *,
        why: str = "",
        limit: float | None = None,
        successor: int | None = None,
    ) -> None:
        """Set the state, and where that is not done why; see ``Gisting``."""
        ended = None if state == GistingState.RUNNING else time.time()
        change = "UPDATE reading SET state = ?, reason = ?, why = ?, budget = ?, successor = ?, ended = ? WHERE id = ?"
        if not self._db.change(change, (state, reason, why, limit, successor, ended, gisting_id)):
            raise NotInLibraryError(_GONE)

    def memory(self, gisting_id: int) -> GistMemory:
        """The pages and gists of a gisting so far; the same object until something in it changes."""
        gisting = self.gisting(gisting_id)
        return self._current_memory(gisting, *self._names(gisting.document_id))

    def _load_memory(self, gisting: Gisting, title: str, author: str) -> GistMemory:
        document = self._titled_document(gisting.document_id, gisting.plan.max_words, title, author)
        pages, gists = self.store(gisting.id).load()
        in_order = tuple(gists.get(page.number) for page in pages)
        covered = bool(pages) and pages[-1].end == len(document.paragraphs)
        return GistMemory(
            document=document,
            plan=gisting.plan,
            pages=tuple(pages),
            gists=in_order,
            model=gisting.model,
            complete=covered and None not in in_order,
            recorded=gisting.recorded,
            usage=gisting.usage,
            stored=StoredText(self._db.path.parent, gisting.document_id),
        )

    def store(self, gisting_id: int) -> GistingStore:
        """The store of this reading's pages and gists, which ``gisting.read`` saves to."""
        return GistingStore(self._db, gisting_id)

    def cut_from(self, gisting_id: int, page: int) -> None:
        """Delete ``page`` and all after it, so that gisting resumes there."""
        self.gisting(gisting_id)
        with self._db.write() as connection:
            connection.execute("DELETE FROM page WHERE reading_id = ? AND number >= ?", (gisting_id, page))
            connection.execute("DELETE FROM gist WHERE reading_id = ? AND number >= ?", (gisting_id, page))
            connection.execute("DELETE FROM page_notes WHERE reading_id = ? AND number >= ?", (gisting_id, page))
            connection.execute("DELETE FROM note WHERE reading_id = ?", (gisting_id,))
            connection.execute(
                "UPDATE reading SET state = ?, reason = ?, why = ?, ended = ? WHERE id = ?",
                (GistingState.PAUSED, StopReason.CUT, f"To be read again from page {page}.", time.time(), gisting_id),
            )


def _gisting(row: sqlite3.Row) -> Gisting:
    values = {**dict(row), "plan": GistingPlan.from_dict(json.loads(row["plan"])), "usage": _usage(row)}
    return Gisting(
        **{
            **values,
            "state": GistingState(row["state"]),
            "reason": StopReason(row["reason"]),
            "searched": bool(row["searched"]),
        }
    )


def _usage(row: sqlite3.Row) -> Usage:
    return Usage.from_dict(json.loads(row["usage"]))


def _page(row: sqlite3.Row) -> Page:
    fallback, ends = bool(row["fallback"]), PageEnd(row["ends"])
    return Page(row["number"], row["first"], row["beyond"], row["words"], row["reason"], fallback, ends)


def _page_row(gisting_id: int, page: Page) -> tuple[Any, ...]:
    return gisting_id, page.number, page.start, page.end, page.words, page.reason, page.fallback, page.ends


def _gist(row: sqlite3.Row) -> Gist:
    return Gist(
        row["text"],
        bool(row["fallback"]),
        bool(row["whole"]),
        bool(row["edited"]),
        row["level"],
        tuple(json.loads(row["marks"])),
    )


def _gist_row(gisting_id: int, number: int, gist: Gist) -> tuple[Any, ...]:
    marks = json.dumps(gist.marks, ensure_ascii=False)
    return gisting_id, number, gist.text, gist.fallback, gist.whole, gist.edited, gist.level, marks
