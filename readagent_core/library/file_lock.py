"""Locks between processes: one process at a time makes a gisting, answers a question or runs an experiment.

The lock is on a file, so the operating system releases it when the process ends, also after ``kill -9``. Looking
whether it is held takes it together with others, for an instant, which whoever wants it waits out.
"""

from __future__ import annotations

import os
import random
import time
import weakref
from contextlib import suppress
from pathlib import Path

from readagent_core.errors import LibraryError

FOLDER = "held"
_TRIES = 400  # to take it while others look, which takes each an instant: a second altogether


class FileLock:
    """A lock with a name. ``acquire`` takes it if it is free; ``release``, or the end of the object, gives it up."""

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / FOLDER / f"{name}.lock"
        self._close: weakref.finalize[[int], FileLock] | None = None

    @property
    def acquired(self) -> bool:
        return self._close is not None

    def acquire(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free and return whether this object holds it. Raises LibraryError.

        ``shared``: together with others who share it. Who wants it alone does not get it while it is shared.
        """
        if self._close is not None:
            return True
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LibraryError(
                f"The folder {self._path.parent} cannot be written ({error.strerror}). "
                "Check that the disk has space and that the folder is writable, then try again."
            ) from None
        for _ in range(_TRIES):
            if _lock(file, shared=shared):
                self._close = weakref.finalize(self, os.close, file)
                self._close.atexit = False  # held until the process has ended
                return True
            if not _lock(file, shared=True):  # somebody has it alone: who looks or shares lets others share
                break
            _unlock(file)  # another one who waits must get it
            time.sleep(random.uniform(0, 0.005))
        os.close(file)
        return False

    def release(self) -> None:
        if self._close is not None:
            self._close()
            self._close = None

    def remove(self) -> None:
        """Release it and delete its file, for a name that is used only once."""
        self.release()
        with suppress(OSError):  # another process may have the file open just now, which Windows does not allow
            self._path.unlink(missing_ok=True)

    def is_held(self) -> bool:
        """Return whether an object holds it alone, in this process or another. Creates no file, keeps nobody off."""
        try:
            file = os.open(self._path, os.O_RDWR)
        except OSError:
            return False
        try:
            return not _lock(file, shared=True)
        finally:
            os.close(file)


if os.name == "nt":
    import msvcrt

    _SHARES = 64  # bytes of the file: who shares the lock takes one of them, who has it alone takes all

    def _lock(file: int, *, shared: bool) -> bool:
        for first in range(_SHARES if shared else 1):
            os.lseek(file, first, os.SEEK_SET)
            with suppress(OSError):
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1 if shared else _SHARES)  # type: ignore[attr-defined,unused-ignore]
                return True
        return False

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(file: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
