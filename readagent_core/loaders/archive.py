"""An untrusted zip file, opened only after its sizes, compression ratios, number of files and paths were checked.

Nothing is unpacked to disk.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
import zipfile
import zlib
from io import BytesIO
from urllib.parse import unquote

from readagent_core.errors import DamagedDocumentError, ProtectedDocumentError, TooLargeError, UnsafeDocumentError
from readagent_core.loaders.base import MEGABYTE, Limits

_SMALL = 8 * MEGABYTE  # smaller files may have any compression ratio


class Archive:
    """Reads the files of the archive ``data`` by name.

    Raises UnsafeDocumentError, TooLargeError, DamagedDocumentError or ProtectedDocumentError.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        try:
            self.zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise DamagedDocumentError(
                "This file's archive is damaged: its list of files cannot be read, as after a download that broke "
                "off. Download or copy it again."
            ) from error
        entries = self.zip.infolist()
        _check(entries, limits)
        self._entries = {_decoded_name(entry): entry for entry in entries}
        self.sizes = {name: entry.file_size for name, entry in self._entries.items()}
        self._folded = {key: name for name in self.sizes for key in (_key(unquote(name)), _key(name))}

    @property
    def names(self) -> list[str]:
        return list(self.sizes)

    def find(self, path: str) -> str:
        """Returns the name in the archive for ``path``, '' where there is none.

        Case, the form of accents and the encoding of an address do not matter."""
        path = posixpath.normpath(path.replace("\\", "/")).lstrip("/") if path else ""
        return path if path in self.sizes else self._folded.get(_key(path)) or self._folded.get(_key(unquote(path)), "")

    def read(self, name: str, limit: int) -> bytes:
        """Returns the content of a file. Raises DamagedDocumentError, or TooLargeError over ``limit`` bytes."""
        if self.sizes.get(name, 0) > limit:
            raise TooLargeError(
                f"One part of this file is {self.sizes[name] / MEGABYTE:,.0f} MB unpacked; at most "
                f"{limit / MEGABYTE:,.0f} MB can be opened. Split it with the program that made it."
            )
        try:
            return self.zip.read(self._entries[name])
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
            raise DamagedDocumentError(
                f"The part {name} of this file's archive is damaged. Download or copy it again."
            ) from error


def natural_sort_key(name: str) -> list[tuple[int, int, str]]:
    """Returns a key that sorts chapter-2 before chapter-10."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name.lower()) if part
    ]


def _decoded_name(entry: zipfile.ZipInfo) -> str:
    """Returns the name of a file with '/' between folders; it may be in UTF-8 where nothing says so."""
    name = entry.filename
    if not entry.flag_bits & 0x800 and not name.isascii():
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = entry.filename
    return name.replace("\\", "/")


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _check(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    if len(entries) > limits.entries:
        raise UnsafeDocumentError(
            f"This archive holds {len(entries):,} files, which no book needs; at most {limits.entries:,} are opened. "
            "If you trust it, unpack it and open the parts."
        )
    total = sum(entry.file_size for entry in entries)
    for entry in entries:
        grows = entry.file_size > _SMALL and entry.file_size > limits.ratio * max(1, entry.compress_size)
        if grows:
            raise UnsafeDocumentError(
                "This archive is built to grow without bound when it is unpacked (a 'zip bomb'). Nothing was "
                "opened, and nothing was harmed. Get the book from a source you trust."
            )
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or (len(name) > 1 and name[1] == ":"):
            raise UnsafeDocumentError(
                "This archive names files outside of itself, as harmful archives do. Get the "
                "book from a source you trust."
            )
    if total > limits.unpacked:
        raise TooLargeError(
            f"Unpacked, this file is {total / MEGABYTE:,.0f} MB; at most {limits.unpacked / MEGABYTE:,.0f} MB can be "
            "opened. Make its pictures smaller, or split it."
        )
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise ProtectedDocumentError(
            "The files in this archive are locked with a password. Unpack it with the password "
            "and open the book without it."
        )
