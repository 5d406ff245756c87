"""Which keys a reply cache holds, known without asking SQLite at every call.

A look into the database gives the interpreter away half a dozen times; most calls of a reading or an experiment are
new, and thirty threads that each look first wait for one another. Only what was added since the last look is read.
"""

from __future__ import annotations

import threading
import time
from typing import Any

FRESH = 0.2  # seconds after which what other processes have kept is looked for
SHORT = 12  # characters of a key (a SHA-256 in hex) that are held: two alike only cost a look

_ALL = f"SELECT group_concat(substr(key, 1, {SHORT})), max(rowid) FROM Cache"  # out of the index of keys
_NEWEST = "SELECT max(rowid) FROM Cache"


class KnownKeys:
    """Never says that a key is missing which this process has kept; of others' it may be ``FRESH`` seconds behind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: set[str] = set()
        self._newest = 0  # row of the last key that was read
        self._looked: float | None = None

    def add(self, key: str) -> None:
        """``key`` is being kept."""
        self._keys.add(key[:SHORT])

    def may_hold(self, key: str, cache: Any) -> bool:
        """Whether ``cache``, an open ``diskcache.Cache``, may hold ``key``. Raises what SQLite raises."""
        if not self._fresh():
            with self._lock:
                if not self._fresh():  # else another thread has just looked
                    self._look(cache)
        return key[:SHORT] in self._keys

    def look(self, cache: Any) -> None:
        """Read what was added to ``cache``, well before anyone must wait for it."""
        with self._lock:
            if not self._fresh(FRESH / 2):
                self._look(cache)

    def _fresh(self, seconds: float = FRESH) -> bool:
        return self._looked is not None and time.monotonic() - self._looked <= seconds

    def _look(self, cache: Any) -> None:
        now = time.monotonic()
        newest = cache._sql(_NEWEST).fetchone()[0] or 0
        if newest < self._newest:  # emptied meanwhile: rows are counted from 1 again
            self._newest = 0
        if newest > self._newest:
            some, values = (f"{_ALL} WHERE rowid > ?", (self._newest,)) if self._newest else (_ALL, ())
            keys, self._newest = cache._sql(some, values).fetchone()
            self._keys.update(keys.split(","))
        self._looked = now
