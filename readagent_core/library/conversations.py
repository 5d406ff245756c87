"""Conversations about a book, with every question and every event of its answer; and preferences."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from readagent_core.errors import NotInLibraryError
from readagent_core.library.events import EventLog
from readagent_core.library.records import Conversation, Exchange
from readagent_core.library.schema import Database

_SELECT = """
    SELECT conversation.*, (SELECT count(*) FROM exchange WHERE conversation_id = conversation.id) AS exchanges
    FROM conversation
"""


def conversations(db: Database, book_id: str) -> list[Conversation]:
    """All conversations about the book, newest first."""
    rows = db.rows(f"{_SELECT} WHERE book_id = ? ORDER BY updated DESC, rowid DESC", (book_id,))
    return [Conversation(**dict(row)) for row in rows]


def conversation(db: Database, conversation_id: str) -> Conversation:
    row = db.row(f"{_SELECT} WHERE id = ?", (conversation_id,))
    if row is None:
        raise NotInLibraryError("This conversation is not in the library any more.")
    return Conversation(**dict(row))


def new_conversation(db: Database, book_id: str, title: str) -> Conversation:
    now = time.time()
    conversation_id = secrets.token_hex(6)
    with db.write() as connection:
        if connection.execute("SELECT 1 FROM book WHERE id = ?", (book_id,)).fetchone() is None:
            raise NotInLibraryError("This book is not in the library. It may have been removed; open its file again.")
        connection.execute(
            "INSERT INTO conversation VALUES (?, ?, ?, ?, ?)", (conversation_id, book_id, title, now, now)
        )
    return conversation(db, conversation_id)


def rename(db: Database, conversation_id: str, title: str) -> None:
    conversation(db, conversation_id)
    db.change("UPDATE conversation SET title = ? WHERE id = ?", (title, conversation_id))


def delete(db: Database, conversation_id: str) -> None:
    db.change("DELETE FROM conversation WHERE id = ?", (conversation_id,))


def start_exchange(
    db: Database,
    log: EventLog,
    conversation_id: str,
    reading_id: int,
    *,
    question: str,
    options: Sequence[str],
    method: str,
    settings: Mapping[str, Any],
    up_to: int | None,
    extra: Mapping[str, Any],
) -> Exchange:
    conversation(db, conversation_id)
    now = time.time()
    exchange_id = secrets.token_hex(6)
    values = (
        exchange_id,
        conversation_id,
        reading_id,
        question,
        json.dumps(list(options), ensure_ascii=False),
        method,
        json.dumps(dict(settings), ensure_ascii=False),
        up_to,
        now,
        json.dumps(dict(extra), ensure_ascii=False),
    )
    with db.write() as connection:
        connection.execute(
            "INSERT INTO exchange (id, conversation_id, reading_id, question, options, method, settings, up_to, asked, "
            "state, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?)",
            values,
        )
        connection.execute("UPDATE conversation SET updated = ? WHERE id = ?", (now, conversation_id))
    return exchange(db, log, exchange_id)


def finish_exchange(
    db: Database, log: EventLog, exchange_id: str, *, state: str, error: str, extra: Mapping[str, Any] | None
) -> Exchange:
    """Set the final state of an exchange. ``extra`` is merged into what the exchange has there."""
    before = exchange(db, log, exchange_id)
    merged = json.dumps({**before.extra, **(extra or {})}, ensure_ascii=False)
    with db.write() as connection:
        connection.execute(
            "UPDATE exchange SET state = ?, error = ?, extra = ? WHERE id = ?", (state, error, merged, exchange_id)
        )
        connection.execute("UPDATE conversation SET updated = ? WHERE id = ?", (time.time(), before.conversation_id))
    return exchange(db, log, exchange_id)


def exchanges(db: Database, log: EventLog, conversation_id: str) -> list[Exchange]:
    """All exchanges of the conversation in the order asked."""
    return _with_events(
        log, db.rows("SELECT * FROM exchange WHERE conversation_id = ? ORDER BY number", (conversation_id,))
    )


def exchange(db: Database, log: EventLog, exchange_id: str) -> Exchange:
    found = _with_events(log, db.rows("SELECT * FROM exchange WHERE id = ?", (exchange_id,)))
    if not found:
        raise NotInLibraryError("This question is not in the library any more.")
    return found[0]


def _with_events(log: EventLog, rows: Sequence[sqlite3.Row]) -> list[Exchange]:
    events = log.of([row["id"] for row in rows])
    return [
        Exchange(
            id=row["id"],
            conversation_id=row["conversation_id"],
            reading_id=row["reading_id"],
            question=row["question"],
            options=tuple(json.loads(row["options"])),
            method=row["method"],
            settings=json.loads(row["settings"]),
            up_to=row["up_to"],
            asked=row["asked"],
            state=row["state"],
            error=row["error"],
            events=events[row["id"]],
            extra=json.loads(row["extra"]),
        )
        for row in rows
    ]


def preference(db: Database, name: str) -> Any:
    """The value saved under ``name``. Raises KeyError if there is none."""
    row = db.row("SELECT value FROM preference WHERE name = ?", (name,))
    if row is None:
        raise KeyError(name)
    return json.loads(row["value"])


def set_preference(db: Database, name: str, value: Any) -> None:
    db.change(
        "INSERT INTO preference VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        (name, json.dumps(value, ensure_ascii=False)),
    )
