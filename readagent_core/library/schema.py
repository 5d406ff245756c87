"""The one SQLite file: its connections, its transactions and its errors; ``library.migrations`` has its tables.

It is in WAL mode, each thread has its own connection, and the tables of an earlier version are brought up to date.
Every SQLite error is turned into a LibraryError here.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from readagent_core.errors import DiskFullError, LibraryBusyError, LibraryError, NewerLibraryError
from readagent_core.library.migrations import MIGRATIONS

FILE = "library.db"
BUSY_SECONDS = 15.0
_log = logging.getLogger(__name__)
_UNDAMAGED = "Nothing that was saved before is damaged."


def _is_busy(error: sqlite3.Error) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


class _Connection(sqlite3.Connection):
    """A connection that is closed when its thread has ended. ``lock``: held while it is in use."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lock = threading.RLock()
        self.closed = False

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


@contextmanager
def _transaction(connection: _Connection) -> Iterator[_Connection]:
    """A transaction, committed when the block ends and rolled back when it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


class Database:
    """The library's file. ``rows`` and ``row`` read; ``change`` runs one statement and ``write`` is a transaction.

    ``notes_changed``: called after a change of what a person wrote in a book or about it; it must be quick.
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._write_lock = threading.Lock()
        self._opening = threading.Lock()  # held while ``_open`` is used
        self._open: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self.notes_changed: Callable[[], object] = lambda: None
        self._make_file()
        with self._translate_errors():
            self._migrate_with_retry()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._translate_errors(), self._held() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def change(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> int:
        """Execute one statement that writes and return how many rows it changed."""
        with self._one_writer(), self._translate_errors(), self._held() as connection:
            return connection.execute(sql, values).rowcount

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction, committed when the block ends and rolled back when it raises."""
        with self._one_writer(), self._translate_errors(), self._held() as connection, _transaction(connection):
            yield connection

    def size(self) -> int:
        """The size on disk in bytes, including the write-ahead log."""
        files = [self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))]
        return sum(file.stat().st_size for file in files if file.is_file())

    def close(self) -> None:
        """Close the connections of all threads, each when it is not in use. The next use opens a new one."""
        with self._opening:
            connections = list(self._open)
        for connection in connections:
            with connection.lock:
                connection.closed = True
                connection.close()

    @contextmanager
    def _held(self) -> Iterator[_Connection]:
        """This thread's connection. Nobody closes it meanwhile: closing one in use ends the process."""
        while True:
            connection = self._connection()
            with connection.lock:
                if not connection.closed:
                    yield connection
                    return

    def _make_file(self) -> None:
        """Make the file, for this person alone, where there is none.

        One that is there is not opened here: closing it again would drop the locks of all connections of this process
        (POSIX has them so), and another process would remove the log of changes while it is in use.
        """
        can_use = partial(os.access, self.path, os.R_OK | os.W_OK)
        if can_use():
            return
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            there = isinstance(error, FileExistsError)
            if there and can_use():  # another process has made it meanwhile
                return
            reason = os.strerror(errno.EACCES) if there else error.strerror
            raise LibraryError(
                f"The library {self.path} cannot be opened for writing ({reason}). "
                "Set READAGENT_HOME to a folder you can write to."
            ) from None

    def _connection(self) -> _Connection:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = sqlite3.connect(
                self.path,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,  # ``close`` may run in another thread
                factory=_Connection,
            )
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")  # in WAL mode a killed process loses no committed data
            self._local.connection = connection
            with self._opening:
                self._open.add(connection)
        return connection

    def _migrate_with_retry(self) -> None:
        """Migrate; retry while busy, because SQLite ignores its timeout when two processes switch to WAL at once."""
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                return self._migrate(self._connection())
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > until:
                    raise
            time.sleep(0.02)

    def _migrate(self, connection: _Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise NewerLibraryError(
                f"The library {self.path} was written by a newer ReadAgent. "
                "Update this program, or set READAGENT_HOME to another folder. Nothing was changed."
            )
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        if version == len(MIGRATIONS):
            return
        with _transaction(connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been first
            for script in MIGRATIONS[version:]:
                for statement in script.split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        """Let one thread write at a time: with a lock the next one starts at once, SQLite's own wait sleeps longer."""
        if not self._write_lock.acquire(timeout=self._busy_seconds):
            raise self._busy_error()
        try:
            yield
        finally:
            self._write_lock.release()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._to_library_error(error) from None

    def _busy_error(self) -> LibraryBusyError:
        return LibraryBusyError(
            "The library is locked by another program, so nothing could be written for "
            f"{self._busy_seconds:.0f} seconds. Close other windows of ReadAgent or wait, then try again. {_UNDAMAGED}"
        )

    def _to_library_error(self, error: sqlite3.Error) -> LibraryError:
        code = getattr(error, "sqlite_errorname", None) or ""
        if _is_busy(error):
            return self._busy_error()
        if code.startswith("SQLITE_FULL"):
            return DiskFullError(
                f"The disk is full, so this could not be saved. Free some space, then try again. {_UNDAMAGED}"
            )
        if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return LibraryError(
                f"The library {self.path} is damaged. Restore a copy of it if you have one, or move it away to start "
                "with an empty library."
            )
        if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_AUTH")):
            return LibraryError(
                f"The library {self.path} cannot be read or written. Check that the disk has space and that the folder "
                f"is writable, then try again. {_UNDAMAGED}"
            )
        detail = f"{code or type(error).__name__}: {error}"
        _log.error("library: %s", detail)  # a screen shows only the message
        return LibraryError(
            "Something unexpected went wrong in the library, so this was not done. What was saved before is unchanged. "
            "Try again; if that does not help, stop ReadAgent and start it again.",
            detail,
        )


class LibraryPart:
    """Base class of the parts of ``Library``: keeps the database."""

    def __init__(self, db: Database) -> None:
        self._db = db
