"""Replies already paid for: kept on disk as JSON text, so that the same prompt is never asked twice.

Pickle is never read or written (CVE-2025-69872 runs a planted one through diskcache's own JSONDisk): rows of any
kind but plain text are refused. Only whole, good replies are kept. A damaged cache is set aside and made anew,
with a notice; the cache failing never stops the work.

One thread writes, all replies that came meanwhile in one transaction: SQLite gives the interpreter away at every
statement, and thirty threads that each write for themselves wait for one another most of the time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_RAW

from readagent_core.models.base import Completion
from readagent_core.models.known_keys import KnownKeys
from readagent_core.quick_json import to_json

VERSION = 1
FOLDER = "replies"
MEGABYTES = 512
DAYS = 365
GATHER = 0.02  # seconds that replies wait for others to be written with: what a kill may lose
ROWS = 100  # in one statement: diskcache's own ``set`` takes two for each
CULL_AFTER = 1000  # replies written between looks for those that are too old, or
CULL_BYTES = 2**20  # characters, whether the limit is passed


_COLUMNS = ("key", "raw", "store_time", "expire_time", "access_time", "size", "mode", "value")
_ROW = f"({', '.join('?' * len(_COLUMNS))})"
_INSERT = (
    f"INSERT INTO Cache ({', '.join(_COLUMNS)}) VALUES {{rows}} ON CONFLICT (key, raw) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[2:])
    + ", filename = NULL"
)


class RefusedRow(ValueError):
    """A row that is not plain text: planted, or damaged."""


class TextDisk(diskcache.Disk):  # type: ignore[misc]
    """Keys and values are text, in the database itself; everything else is refused unread."""

    def put(self, key: Any) -> tuple[Any, bool]:
        if not isinstance(key, str):
            raise RefusedRow("a key must be text")
        return key, True

    def get(self, key: Any, raw: Any) -> Any:
        if not isinstance(key, str) or not raw:
            raise RefusedRow("a key that is not text")
        return key

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> tuple[int, int, None, str]:
        if not isinstance(value, str) or read:
            raise RefusedRow("a value must be text")
        return len(value), MODE_RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> str:
        if mode != MODE_RAW or filename or not isinstance(value, str):
            raise RefusedRow("a value that is not text")
        return value


@dataclass(frozen=True)
class CacheState:
    """``oldest``: when the oldest reply was kept (seconds of ``time.time``), None when empty."""

    replies: int
    bytes: int
    limit: int
    oldest: float | None


class ReplyCache:
    """The kept replies of one home folder; shared by threads and processes."""

    def __init__(self, home: Path, *, megabytes: int = MEGABYTES, days: float = DAYS) -> None:
        self.folder = home / FOLDER
        self.notices: list[str] = []
        self._limit = megabytes * 2**20
        self._seconds = days * 86_400
        self._lock = threading.RLock()
        self._waiting: dict[str, str] = {}
        self._in_hand: dict[str, str] = {}  # being written
        self._wake = threading.Event()
        self._written = threading.Condition()
        self._writing = threading.Lock()
        self._writer: threading.Thread | None = None
        self._since_cull, self._since_sized = CULL_AFTER, 0
        self._cache: Any = None
        self._known = KnownKeys()
        self._asking: dict[str, tuple[threading.Lock, int]] = {}

    def get(self, key: str) -> Completion | None:
        """The kept reply; None where there is none, or none that can be trusted."""
        # what is written moves from the first to the second to the disk, so none is missed
        text = self._waiting.get(key) or self._in_hand.get(key) or self._do(lambda cache: self._look(cache, key))
        if not isinstance(text, str):
            return None
        try:
            data = json.loads(text)
            if data["version"] != VERSION or not isinstance(data["text"], str):
                return None
            return Completion(
                data["text"],
                model=data["model"],
                tokens_in=data["tokens_in"],
                tokens_out=data["tokens_out"],
                reasoning=data["reasoning"],
                cached=True,
            )
        except (ValueError, KeyError, TypeError):
            self._do(lambda cache: cache.delete(key))
            return None

    def _look(self, cache: Any, key: str) -> str | None:
        return cache.get(key) if self._known.may_hold(key, cache) else None

    def put(self, key: str, completion: Completion) -> None:
        """Keep a reply, unless it is empty or was cut at its limit."""
        if completion.finish != "stop" or not completion.text.strip():
            return
        data = {
            "version": VERSION,
            "text": completion.text,
            "model": completion.model,
            "tokens_in": completion.tokens_in,
            "tokens_out": completion.tokens_out,
            "reasoning": completion.reasoning,
        }
        text = _encoded(data)
        self._known.add(key)
        with self._lock:
            self._waiting[key] = text
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="kept replies", daemon=True)
                self._writer.start()
        self._wake.set()

    def put_text(self, key: str, text: str) -> None:
        """Keep a text that is no chat reply (an embedding)."""
        self.put(key, Completion(text))

    @contextmanager
    def asking(self, key: str) -> Iterator[None]:
        """Held while one thread asks for ``key``: a second one waits, then finds the reply kept."""
        with self._lock:
            lock, waiting = self._asking.get(key, (threading.Lock(), 0))
            self._asking[key] = (lock, waiting + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                waiting = self._asking[key][1] - 1
                if waiting:
                    self._asking[key] = (lock, waiting)
                else:
                    del self._asking[key]

    def flush(self) -> None:
        """Wait until every reply so far is written."""
        with self._written:
            self._written.wait_for(lambda: not self._waiting and not self._in_hand)

    def state(self) -> CacheState:
        def look(cache: Any) -> CacheState:
            rows = cache._sql("SELECT COUNT(*), COALESCE(SUM(size), 0), MIN(store_time) FROM Cache").fetchall()
            return CacheState(int(rows[0][0]), int(rows[0][1]), self._limit, rows[0][2])

        self.flush()
        found = self._do(look)
        return found if isinstance(found, CacheState) else CacheState(0, 0, self._limit, None)

    def clear(self) -> int:
        """Forget every reply; how many there were."""
        before = self.state().replies
        self._do(lambda cache: cache.clear())
        return before

    def close(self) -> None:
        """Write what waits and let go of the files; a later call opens them again."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._wake.set()
            writer.join()
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            if self._cache is not None:
                self._cache.close()
                self._cache = None

    def _write(self) -> None:
        """The writer's thread, until ``close`` lets it go."""
        me, going = threading.current_thread(), True
        while going:
            self._wake.wait()
            time.sleep(GATHER)
            with self._writing:
                self._wake.clear()
                going = self._writer is me
                with self._lock:
                    self._in_hand, self._waiting = self._waiting, {}
                try:
                    if self._in_hand:
                        self._do(self._write_rows)
                finally:
                    with self._written:
                        self._in_hand = {}
                        self._written.notify_all()
        with self._lock:
            if self._cache is not None:
                self._cache.close()  # this thread's connection; every thread has its own

    def _write_rows(self, cache: Any) -> None:
        now = time.time()
        rows = [
            (key, True, now, now + self._seconds, now, len(text), MODE_RAW, text) for key, text in self._in_hand.items()
        ]
        with cache.transact():
            for start in range(0, len(rows), ROWS):
                some = rows[start : start + ROWS]
                cache._sql(_INSERT.format(rows=", ".join([_ROW] * len(some))), [value for row in some for value in row])
        self._known.look(cache)  # here, where a connection is open: threads that only ask need none
        self._since_cull += len(rows)
        self._since_sized += sum(map(len, self._in_hand.values()))
        due = self._since_sized >= min(CULL_BYTES, self._limit // 4)
        if self._since_cull >= CULL_AFTER or (due and cache.volume() > self._limit):
            self._since_cull = 0
            cache.cull()
        if due:
            self._since_sized = 0

    def _do(self, work: Any) -> Any:
        """``work`` on the open cache. Damage sets the cache aside; a full or locked disk is told and passed over."""
        for _ in range(2):
            try:
                return work(self._opened())
            except (diskcache.Timeout, sqlite3.OperationalError, OSError) as error:
                if isinstance(error, sqlite3.OperationalError) and _is_damage(error):
                    self._set_aside()
                    continue
                self._note("Replies could not be kept just now (the disk is full or busy); the work goes on.")
                return None
            except (sqlite3.DatabaseError, RefusedRow, ValueError):
                self._set_aside()
        return None

    def _opened(self) -> Any:
        with self._lock:
            if self._cache is None:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.chmod(self.folder, 0o700)
                self._cache = diskcache.Cache(
                    str(self.folder),
                    timeout=10,
                    disk=TextDisk,
                    size_limit=self._limit,
                    eviction_policy="least-recently-stored",
                    cull_limit=0,  # not at every reply: see ``_write_rows``
                    statistics=0,
                )
            return self._cache

    def _set_aside(self) -> None:
        with self._lock:
            self._let_go()
            aside = self.folder.with_name(f"{FOLDER}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
            try:
                os.replace(self.folder, aside)
            except OSError:
                return
            self._note(
                f"The kept replies were damaged. They were set aside in {aside.name} and a new store was begun; "
                "nothing else is lost, only that some replies may be asked for again."
            )

    def _note(self, text: str) -> None:
        with self._lock:
            if text not in self.notices:
                self.notices.append(text)


def _encoded(data: Mapping[str, Any]) -> str:
    """``data`` as JSON; SQLite takes no half characters."""
    return to_json(data).decode()


def _is_damage(error: sqlite3.OperationalError) -> bool:
    text = str(error).lower()
    return not any(word in text for word in ("full", "locked", "busy", "readonly", "read-only"))
