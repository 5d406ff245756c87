"""One reader a reading, one run an experiment: a lock file that the system lets go of by itself when a process dies,
however it dies.

Knows nothing of what is done while it is held.
"""

from __future__ import annotations

import os
from pathlib import Path

from readagent_core.errors import LibraryError

FOLDER = "held"


class Hold:
    """The right to work on what has this name. ``take`` says whether it was free; ``release`` gives it back."""

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / FOLDER / f"{name}.lock"
        self._file: int | None = None

    @property
    def taken(self) -> bool:
        return self._file is not None

    def take(self) -> bool:
        """Whether this process holds it now. Raises LibraryError where the folder cannot be written."""
        if self._file is not None:
            return True
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LibraryError(
                f"The folder {self._path.parent} cannot be written ({error.strerror}). "
                "See that the disk has room and that the folder may be written to, then go on."
            ) from None
        if not _lock(file):
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)  # and with it goes the lock
            self._file = None


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
