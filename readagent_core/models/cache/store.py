"""Texts stored on disk with diskcache under hashed keys: the replies of models, which ``model`` writes and reads.

Pickle is never read or written: diskcache's own disks unpickle rows (CVE-2025-69872), so every row that is not plain
text is refused unread. A damaged database is moved aside and a new one is created. No failure stops the work.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import diskcache
from diskcache.core import MODE_RAW

FOLDER = "replies"
MEGABYTES = 512
DAYS = 365
BUSY = "Model replies cannot be cached at the moment (the disk is full or busy). The work continues."
T = TypeVar("T")


class TextDisk(diskcache.Disk):  # type: ignore[misc]
    """Holds text in the database itself, never in files. Raises ValueError for every other row."""

    def get(self, key: Any, raw: Any) -> str:
        return self.fetch(MODE_RAW if raw else None, None, key, False)

    def store(self, value: str, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int | None, filename: str | None, value: Any, read: bool) -> str:
        if mode != MODE_RAW or filename or not isinstance(value, str):
            raise ValueError("This row is not plain text.")
        return value

    def remove(self, file_path: str) -> None:
        """Delete nothing: no row of ours has a file, so a path in the database cannot be trusted."""


@dataclass(frozen=True)
class CacheState:
    """How many replies are stored, the size of the database and its limit, both in bytes."""

    replies: int
    bytes: int
    limit: int


class ReplyCache:
    """The store of one home folder, shared by threads and processes. ``notices``: failures, for the reader."""

    def __init__(self, home: Path, *, megabytes: int = MEGABYTES, days: float = DAYS) -> None:
        self.folder = home / FOLDER
        self.notices: list[str] = []
        self._limit = megabytes * 2**20
        self._seconds = days * 86_400
        self._lock = threading.RLock()
        self._cache: diskcache.Cache | None = None

    def get(self, key: str) -> str | None:
        return self._run(lambda cache: cache.get(key))

    def put(self, key: str, text: str) -> None:
        """Store ``text`` (valid Unicode: no lone surrogates) in place of what was there."""
        self._run(lambda cache: cache.set(key, text, expire=self._seconds))

    def state(self) -> CacheState:
        replies, size = self._run(lambda cache: (len(cache), int(cache.volume()))) or (0, 0)
        return CacheState(replies, size, self._limit)

    def clear(self) -> int:
        """Delete everything and return how many replies there were."""
        return self._run(lambda cache: int(cache.clear())) or 0

    def close(self) -> None:
        """Close this thread's connection; those of other threads close when the threads end. The next call reopens."""
        with self._lock:
            if self._cache is not None:
                self._cache.close()
                self._cache = None

    def _run(self, work: Callable[[diskcache.Cache], T]) -> T | None:
        """The result of ``work`` on the open cache. After a failure it is tried once more, then None is returned."""
        for _ in range(2):
            cache = None
            try:
                cache = self._open()
                return work(cache)
            except (diskcache.Timeout, sqlite3.OperationalError, OSError):
                self.close()  # opening creates again what was deleted
            except (sqlite3.DatabaseError, ValueError):
                self._set_aside(cache)
        if BUSY not in self.notices:
            self.notices.append(BUSY)
        return None

    def _open(self) -> diskcache.Cache:
        with self._lock:
            if self._cache is None:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.chmod(self.folder, 0o700)
                policy = {"size_limit": self._limit, "eviction_policy": "least-recently-stored", "cull_limit": 10}
                self._cache = diskcache.Cache(str(self.folder), timeout=5, disk=TextDisk, **policy)
            return self._cache

    def _set_aside(self, damaged: diskcache.Cache | None) -> None:
        """Rename the folder of ``damaged`` (None: it could not be opened), unless another thread has done so."""
        with self._lock:
            if self._cache is not damaged:
                return
            self.close()
            aside = self.folder.with_name(f"{FOLDER}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
            try:
                os.replace(self.folder, aside)
            except OSError:
                return  # the second try fails as well, and adds a notice
            self.notices.append(
                f"The cache of model replies was damaged. It was moved to {aside.name} and a new one was created. "
                "Books, gists and answers are not affected; some replies may be requested again."
            )
