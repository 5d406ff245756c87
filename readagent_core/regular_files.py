"""Opens files that a person or a program named: regular files only, of a limited size. Writes files whole.

A device, a pipe or a socket would give bytes without end, or none for ever. What is wrong is an OSError, whose
``strerror`` completes 'It cannot be read (…)'.
"""

from __future__ import annotations

import errno
import math
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

DRAFT = ".part"  # ends the name of a file that is being written
_KINDS = {
    stat.S_IFDIR: "it is a folder, not a file",
    stat.S_IFIFO: "it is a pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
}
_NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path, *, most: float) -> BinaryIO:
    """Open a file of at most ``most`` bytes for reading. Raises OSError, with EFBIG for a larger one."""
    try:
        _check(os.stat(path), most)
        file = os.open(path, os.O_RDONLY | _NEVER_WAIT)
    except ValueError:  # a NUL in the name
        raise OSError(errno.EINVAL, "no file has such a name") from None
    try:
        _check(os.fstat(file), most)  # another one may have taken its place
        return os.fdopen(file, "rb")
    except OSError:
        os.close(file)
        raise


def open_for_output(path: Path) -> BinaryIO:
    """Open what a person named for a result: also a device, or a pipe that is read. Raises OSError, at once."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NEVER_WAIT, 0o666)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(file, True)
    return os.fdopen(file, "wb")


def check_replaceable(path: Path) -> None:
    """Raise OSError where something is at ``path`` whose place no file may take: a folder, a device, a pipe."""
    if path.exists():
        _check(path.stat(), math.inf)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, completely or not at all. Raises OSError."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}{DRAFT}")  # several may write at the same time
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def read_regular(path: Path, *, most: int) -> bytes:
    """Return the bytes of a file, also of one that grows meanwhile, of at most ``most`` bytes. Raises OSError."""
    with open_regular(path, most=most) as file:
        data = file.read(most + 1) or b""
    if len(data) > most:
        raise _too_large(most)
    return data


def read_lines(path: Path, *, most: int, most_in_line: int) -> Iterator[bytes]:
    """Yield the lines of a file, with limits in bytes on all together and on each. Raises OSError."""
    left = most
    with open_regular(path, most=most) as file:
        while line := file.readline(most_in_line + 1):
            left -= len(line)
            if len(line) > most_in_line or left < 0:
                raise _too_large(most_in_line if len(line) > most_in_line else most)
            yield line


def _check(state: os.stat_result, most: float) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, _KINDS.get(stat.S_IFMT(state.st_mode), "it is a device, not a file"))
    if state.st_size > most:
        raise _too_large(most)


def _too_large(most: float) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most / (1 << 20):,.0f} MB, the limit")
