"""The events of every answer, with a cache: events are only ever appended, so parsed ones stay valid.

Each event holds its prompt. In a book of 1000 pages the events of one answer are a megabyte of JSON, and a screen
that shows a conversation needs all of them each time it is drawn.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from readagent_core.library.schema import Database

CACHED_CHARACTERS = 32_000_000

Events = tuple[dict[str, Any], ...]


class EventLog:
    """The events of exchanges by exchange id. Callers must not change the returned dictionaries."""

    def __init__(self, db: Database, *, cached_characters: int = CACHED_CHARACTERS) -> None:
        self._db, self._limit = db, cached_characters
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, tuple[int, Events]] = OrderedDict()  # with their size in characters
        self._characters = 0  # of all cached events

    def append(self, exchange_id: str, event: Mapping[str, Any]) -> None:
        body = json.dumps(dict(event), ensure_ascii=False)
        self._db.change(
            "INSERT INTO event SELECT ?, coalesce(max(number), 0) + 1, ? FROM event WHERE exchange_id = ?",
            (exchange_id, body, exchange_id),
        )

    def of(self, exchange_ids: Sequence[str]) -> dict[str, Events]:
        """The events of each exchange, in order."""
        marks = ",".join("?" * len(exchange_ids))
        counted = f"SELECT exchange_id, count(*) FROM event WHERE exchange_id IN ({marks}) GROUP BY exchange_id"
        counts = dict(tuple(row) for row in self._db.rows(counted, exchange_ids))
        found: dict[str, Events] = {}
        for exchange_id in exchange_ids:
            with self._lock:
                _, events = self._cache.get(exchange_id, (0, ()))
                if events:
                    self._cache.move_to_end(exchange_id)
            found[exchange_id] = events if len(events) == counts.get(exchange_id, 0) else self._read(exchange_id)
        return found

    def _read(self, exchange_id: str) -> Events:
        rows = self._db.rows("SELECT body FROM event WHERE exchange_id = ? ORDER BY number", (exchange_id,))
        events = tuple(json.loads(row["body"]) for row in rows)
        characters = sum(len(row["body"]) for row in rows)
        with self._lock:
            self._characters += characters - self._cache.pop(exchange_id, (0, ()))[0]
            self._cache[exchange_id] = characters, events
            while self._characters > self._limit:
                self._characters -= self._cache.popitem(last=False)[1][0]
        return events
