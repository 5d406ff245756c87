"""Conversations about a book or several, with every question and every event of its answer."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, overload

from readagent_core.errors import NotInLibraryError, Remedy
from readagent_core.library.records import Conversation, Exchange, ExchangeFacts, ExchangeState
from readagent_core.library.schema import Database, LibraryPart

CACHED_ANSWERS = 16  # in a book of 1000 pages the events of one answer are a megabyte of JSON, prompts included
_SELECT = """
    SELECT conversation.*,
        (SELECT count(DISTINCT question) FROM exchange WHERE conversation_id = conversation.id) AS questions
    FROM conversation
"""
_SELECT_EXCHANGE = """
    SELECT exchange.*, (SELECT count(*) FROM event WHERE exchange_id = exchange.id) AS events FROM exchange
"""

_ROWS = {  # of a conversation, by table, in the order in which they can be put back
    "conversation": "id = ?",
    "asked_book": "conversation_id = ?",
    "exchange": "conversation_id = ?",
    "event": "exchange_id IN (SELECT id FROM exchange WHERE conversation_id = ?)",
}

_Events = tuple[dict[str, Any], ...]
DeletedRows = Mapping[str, Sequence[tuple[Any, ...]]]


class StoredEvents(Sequence[dict[str, Any]]):
    """The events of an exchange, loaded when they are looked at: a long conversation has too many to hold.

    Callers must not change the dictionaries, which are cached.
    """

    def __init__(self, load: Callable[[], _Events]) -> None:
        self._load = load

    def __len__(self) -> int:
        return len(self._load())

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> _Events: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | _Events:
        return self._load()[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._load() == tuple(other)

    __hash__ = None  # type: ignore[assignment]


class Conversations(LibraryPart):
    """The conversations of all books."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        # by exchange and number of events: events are only ever appended, so as many of them are the same ones
        self._events = lru_cache(maxsize=CACHED_ANSWERS)(self._load_events)

    def conversations(self, book_id: str) -> list[Conversation]:
        """All conversations about this book alone, newest first."""
        rows = self._db.rows(
            f"{_SELECT} WHERE book_id = ? AND about = '' ORDER BY updated DESC, rowid DESC", (book_id,)
        )
        return [Conversation(**dict(row)) for row in rows]

    def conversations_about_several(self) -> list[Conversation]:
        """All conversations about several books, newest first."""
        rows = self._db.rows(f"{_SELECT} WHERE about <> '' ORDER BY updated DESC, rowid DESC")
        return [Conversation(**dict(row)) for row in rows]

    def conversation_books(self, conversation_id: str) -> list[str]:
        """The ids of the books that a conversation about several was begun with, without those deleted since."""
        rows = self._db.rows(
            "SELECT book_id FROM asked_book WHERE conversation_id = ? ORDER BY number", (conversation_id,)
        )
        return [row["book_id"] for row in rows]

    def conversation(self, conversation_id: str) -> Conversation:
        row = self._db.row(f"{_SELECT} WHERE id = ?", (conversation_id,))
        if row is None:
            raise NotInLibraryError("This conversation is not in the library any more.")
        return Conversation(**dict(row))

    def new_conversation(
        self, book_id: str, title: str, *, about: str = "", book_ids: Sequence[str] = ()
    ) -> Conversation:
        """A new conversation about a book, or with ``about`` (see ``Conversation``) about all of ``book_ids``."""
        now = time.time()
        conversation_id = secrets.token_hex(6)
        with self._db.write() as connection:
            added = connection.execute(
                "INSERT INTO conversation (id, book_id, title, created, updated, about) "
                "SELECT ?, id, ?, ?, ?, ? FROM book WHERE id = ?",
                (conversation_id, title, now, now, about, book_id),
            ).rowcount
            connection.executemany(
                "INSERT INTO asked_book SELECT ?, ?, id FROM book WHERE id = ?",
                [(conversation_id, number, book) for number, book in enumerate(book_ids, start=1)] if added else [],
            )
        if not added:
            raise NotInLibraryError("This book is not in the library. It may have been removed; open its file again.")
        return self.conversation(conversation_id)

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        self.conversation(conversation_id)
        self._db.change("UPDATE conversation SET title = ? WHERE id = ?", (title, conversation_id))

    def delete_conversation(self, conversation_id: str) -> DeletedRows:
        """Delete a conversation and return what ``put_conversation`` puts back."""
        with self._db.write() as connection:
            rows = {
                table: [
                    tuple(row) for row in connection.execute(f"SELECT * FROM {table} WHERE {its}", (conversation_id,))
                ]
                for table, its in _ROWS.items()
            }
            connection.execute("DELETE FROM conversation WHERE id = ?", (conversation_id,))
        return rows

    def put_conversation(self, deleted: DeletedRows) -> None:
        """Put back a conversation that was deleted. Raises NotInLibraryError where its book is deleted since."""
        try:
            with self._db.write() as connection:
                for table, rows in deleted.items():
                    for row in rows:
                        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        except sqlite3.IntegrityError as error:
            raise NotInLibraryError("The book of this conversation is not in the library any more.") from error

    def exchanges(self, conversation_id: str) -> list[Exchange]:
        """All exchanges of the conversation in the order asked; their events are loaded when they are looked at."""
        rows = self._db.rows(f"{_SELECT_EXCHANGE} WHERE conversation_id = ? ORDER BY number", (conversation_id,))
        return [self._exchange(row) for row in rows]

    def exchange(self, exchange_id: str) -> Exchange:
        row = self._db.row(f"{_SELECT_EXCHANGE} WHERE id = ?", (exchange_id,))
        if row is None:
            raise NotInLibraryError("This question is not in the library any more.")
        return self._exchange(row)

    def start_exchange(
        self,
        conversation_id: str,
        gisting_id: int,
        question: str,
        *,
        options: Sequence[str] = (),
        method: str = "read-agent-p",
        settings: Mapping[str, Any] | None = None,
        up_to: int | None = None,
        facts: ExchangeFacts | None = None,
    ) -> Exchange:
        self.conversation(conversation_id)
        now = time.time()
        exchange_id = secrets.token_hex(6)
        listed = json.dumps(list(options), ensure_ascii=False)
        chosen = json.dumps(dict(settings or {}), ensure_ascii=False)
        more = json.dumps((facts or ExchangeFacts()).to_dict(), ensure_ascii=False)
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO exchange (id, conversation_id, reading_id, question, options, method, settings, up_to, "
                "asked, state, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?)",
                (exchange_id, conversation_id, gisting_id, question, listed, method, chosen, up_to, now, more),
            )
            connection.execute("UPDATE conversation SET updated = ? WHERE id = ?", (now, conversation_id))
        return self.exchange(exchange_id)

    def append_event(self, exchange_id: str, event: Mapping[str, Any]) -> None:
        self._db.change(
            "INSERT INTO event SELECT ?, coalesce(max(number), 0) + 1, ? FROM event WHERE exchange_id = ?",
            (exchange_id, json.dumps(dict(event), ensure_ascii=False), exchange_id),
        )

    def change_facts(self, exchange_id: str, **facts: Any) -> None:
        """Set these of the ``ExchangeFacts`` of an exchange."""
        changed = replace(self.exchange(exchange_id).facts, **facts).to_dict()
        self._db.change(
            "UPDATE exchange SET extra = ? WHERE id = ?", (json.dumps(changed, ensure_ascii=False), exchange_id)
        )

    def finish_exchange(
        self,
        exchange_id: str,
        state: ExchangeState,
        error: str = "",
        *,
        remedy: Remedy = Remedy.NONE,
        **facts: Any,
    ) -> Exchange:
        """Set the final state of an exchange, and these of its ``ExchangeFacts``."""
        before = self.exchange(exchange_id)
        self.change_facts(exchange_id, **facts)
        with self._db.write() as connection:
            connection.execute(
                "UPDATE exchange SET state = ?, error = ?, remedy = ? WHERE id = ?", (state, error, remedy, exchange_id)
            )
            connection.execute(
                "UPDATE conversation SET updated = ? WHERE id = ?", (time.time(), before.conversation_id)
            )
        return self.exchange(exchange_id)

    def _exchange(self, row: sqlite3.Row) -> Exchange:
        values = dict(row)
        del values["number"]
        values["options"] = tuple(json.loads(row["options"]))
        values["settings"] = json.loads(row["settings"])
        values["gisting_id"] = values.pop("reading_id")
        values["facts"] = ExchangeFacts.from_dict(json.loads(values.pop("extra")))
        values |= {"state": ExchangeState(row["state"]), "remedy": Remedy(row["remedy"])}
        values["events"] = StoredEvents(partial(self._events, row["id"], row["events"]))
        return Exchange(**values)

    def pages_opened(self, gisting_id: int) -> dict[str, set[int]]:
        """For each exchange whose answer from this gisting opened pages, in the order asked, all that it opened.

        One that came with a sample is not among them: nobody here asked it.
        """
        rows = self._db.rows(
            "SELECT exchange.id, json_extract(body, '$.pages') AS pages FROM exchange JOIN event "
            'ON exchange_id = exchange.id WHERE reading_id = ? AND body LIKE \'{"kind": "Expanded"%\' '
            "AND json_extract(extra, '$.recorded') IS NULL ORDER BY asked, exchange.number",
            (gisting_id,),
        )
        found: dict[str, set[int]] = {}
        for row in rows:
            found.setdefault(row["id"], set()).update(json.loads(row["pages"]))
        return {exchange: pages for exchange, pages in found.items() if pages}

    def _load_events(self, exchange_id: str, count: int) -> _Events:
        """The first ``count`` events of an exchange."""
        rows = self._db.rows(
            "SELECT body FROM event WHERE exchange_id = ? ORDER BY number LIMIT ?", (exchange_id, count)
        )
        return tuple(json.loads(row["body"]) for row in rows)
