"""Locks between processes: one process at a time makes a reading, answers a question or runs an experiment.

The lock is on a file, so the operating system releases it when the process ends, also after ``kill -9``.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from readagent_core.errors import LibraryError

FOLDER = "held"


class FileLock:
    """A lock with a name. ``acquire`` takes it if it is free, without waiting; ``release`` gives it up."""

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / FOLDER / f"{name}.lock"
        self._file: int | None = None

    @property
    def acquired(self) -> bool:
        return self._file is not None

    def acquire(self) -> bool:
        """Acquire the lock if it is free and return whether this object holds it. Raises LibraryError."""
        if self._file is not None:
            return True
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LibraryError(
                f"The folder {self._path.parent} cannot be written ({error.strerror}). "
                "Check that the disk has space and that the folder is writable, then try again."
            ) from None
        if not _lock(file):
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)  # which releases the lock
            self._file = None

    def remove(self) -> None:
        """Release it and delete its file, for a name that is used only once."""
        self.release()
        with suppress(OSError):  # another process may have the file open just now, which Windows does not allow
            self._path.unlink(missing_ok=True)

    def is_held(self) -> bool:
        """Whether a process holds it now, this one included. Creates no file."""
        try:
            file = os.open(self._path, os.O_RDWR)
        except OSError:
            return False
        try:
            return not _lock(file)
        finally:
            os.close(file)


if os.name == "nt":
    import msvcrt

    def _lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
