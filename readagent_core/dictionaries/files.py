"""The files of a dictionary: StarDict (.ifo, .idx, .syn, .dict) and dictd (.index, .dict), also compressed.

A compressed text (.dict.dz) is gzip in pieces that can be read alone (dictzip): its header lists their sizes.
"""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from readagent_core.dictionaries.text import entry_text
from readagent_core.errors import DamagedDictionaryError
from readagent_core.regular_files import open_regular, read_regular

MOST_INDEX = 1 << 29  # bytes of an index, unpacked
MOST_TEXT = 1 << 32  # bytes of the file with the entries
MOST_ENTRY = 1 << 18  # bytes of one entry
PARTS = (".ifo", ".idx", ".idx.gz", ".idx.dz", ".syn", ".syn.gz", ".syn.dz", ".index", ".index.gz", ".index.dz",
    ".dict", ".dict.dz")  # fmt: skip
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"  # the digits of dictd's numbers
_DIGITS = {letter: value for value, letter in enumerate(_LETTERS)}
_MOST_FOUND = 500  # dictionaries in a folder
_NAME, _COMMENT, _EXTRA, _CHECK = 8, 16, 4, 2  # flags of a gzip header


@dataclass(frozen=True)
class DictionaryFiles:
    """One dictionary. ``head``: its .ifo or .index file; the others stand beside it under the same name."""

    head: Path

    @property
    def is_stardict(self) -> bool:
        return self.head.suffix.lower() == ".ifo"

    @cached_property
    def about(self) -> dict[str, str]:
        """What an .ifo file says, by name; of a dictd dictionary nothing."""
        if not self.is_stardict:
            return {}
        lines = read_regular(self.head, most=1 << 20).decode("utf-8-sig", "replace").splitlines()
        if not lines or "dict" not in lines[0]:
            raise DamagedDictionaryError(f"{self.head.name} is no StarDict dictionary: its first line is another one.")
        return {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines[1:])}

    def title(self) -> str:
        return self.about.get("bookname") or self.head.stem

    def parts(self) -> list[Path]:
        """Its files, in order of their names."""
        stem = self.head.stem
        beside = sorted(self.head.parent.glob(f"{glob_of(stem)}.*"))
        return [path for path in beside if path.name[len(stem) :].lower() in PARTS]

    def state(self) -> str:
        """What changes when one of its files does."""
        stats = [(path.name, path.stat()) for path in self.parts() if path.exists()]  # a link may lead nowhere
        return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)

    def words(self) -> Iterator[tuple[str, int, int]]:
        """Yield every word with the place and the size of its entry, in bytes of the unpacked text.

        Raises DamagedDictionaryError, or OSError where a file cannot be read.
        """
        for word, place, size in self._stardict() if self.is_stardict else self._dictd():
            if place + size > MOST_TEXT:
                raise DamagedDictionaryError(
                    f"{self.head.name} points past the end of any text. Get the dictionary again."
                )
            yield word, place, size

    def check(self) -> None:
        """Raise DamagedDictionaryError or OSError where a file is missing or cut off."""
        first = last = (0, 0)
        for number, (_, place, size) in enumerate(self.words()):
            first, last = first if number else (place, size), max(last, (place, size))
        for entry in (first, last):
            self.entry(*entry)

    def _stardict(self) -> Iterator[tuple[str, int, int]]:
        wide = self.about.get("idxoffsetbits") == "64"
        size = 12 if wide else 8
        data = self._unpacked(".idx")
        found: list[tuple[int, int]] = []
        end = 0
        for match in re.finditer(rb"([^\0]{1,1024})\0(.{%d})" % size, data, re.DOTALL):
            if match.start() != end:
                break
            end = match.end()
            place, length = struct.unpack(">QI" if wide else ">II", match[2])
            found.append((place, length))
            yield match[1].decode("utf-8", "replace"), place, length
        if not found or end != len(data):
            raise DamagedDictionaryError(f"{self.head.stem}.idx ends within a word. Get the dictionary again.")
        if self._beside(".syn"):
            for match in re.finditer(rb"([^\0]{1,1024})\0(.{4})", self._unpacked(".syn"), re.DOTALL):
                number = int.from_bytes(match[2], "big")
                if number < len(found):
                    yield match[1].decode("utf-8", "replace"), *found[number]

    def _dictd(self) -> Iterator[tuple[str, int, int]]:
        for line in self._unpacked(".index").decode("utf-8", "replace").splitlines():
            parts = line.split("\t")
            if len(parts) < 3 or parts[0].startswith(("00-database", "00database")):
                continue
            try:
                yield parts[0], _number(parts[1]), _number(parts[2])
            except KeyError:
                raise DamagedDictionaryError(f"{self.head.name} has a line without numbers: {line[:60]}") from None

    def entry(self, place: int, size: int) -> str:
        """Return the text of one entry. Raises DamagedDictionaryError and OSError."""
        types = self.about.get("sametypesequence") or None if self.is_stardict else "m"
        packed = self._beside(".dict.dz")
        plain = self._beside(".dict")
        size = min(size, MOST_ENTRY)
        if plain:
            with open_regular(plain, most=MOST_TEXT) as file:
                file.seek(place)
                data = file.read(size)
        elif packed:
            data = _read_packed(packed, place, size)
        else:
            raise DamagedDictionaryError(f"Beside {self.head.name} there is no {self.head.stem}.dict or .dict.dz file.")
        if len(data) < size:
            raise DamagedDictionaryError(f"The text of {self.title()} is shorter than its index says. Get it again.")
        return entry_text(data, types)

    def _beside(self, end: str) -> Path | None:
        """Return the file with that ending, which may be in capitals."""
        path = self.head.with_name(self.head.stem + end)
        if path.is_file():
            return path
        stem = self.head.stem
        beside = self.head.parent.glob(f"{glob_of(stem)}.*")
        return next((one for one in beside if one.name[len(stem) :].lower() == end and one.is_file()), None)

    def _unpacked(self, end: str) -> bytes:
        """Return the bytes of a file beside the head, which may be compressed."""
        for name in (end, f"{end}.gz", f"{end}.dz"):
            path = self._beside(name)
            if path is None:
                continue
            if name == end:
                return read_regular(path, most=MOST_INDEX)
            with open_regular(path, most=MOST_INDEX) as file:
                try:
                    data = gzip.GzipFile(fileobj=file).read(MOST_INDEX + 1)
                except (EOFError, zlib.error, gzip.BadGzipFile):
                    raise DamagedDictionaryError(f"{path.name} cannot be unpacked. Get the dictionary again.") from None
                if len(data) > MOST_INDEX:
                    raise DamagedDictionaryError(f"{path.name} is larger than {MOST_INDEX >> 20} MB, the limit.")
                return data
        raise DamagedDictionaryError(f"Beside {self.head.name} there is no {self.head.stem}{end} file.")


def glob_of(name: str) -> str:
    """Return ``name`` for a pattern in which its brackets and stars are only themselves."""
    return re.sub(r"([*?[])", r"[\1]", name)


def find_dictionaries(folder: Path) -> list[DictionaryFiles]:
    """Return the dictionaries in ``folder`` and the folders in it, three levels down; none where it cannot be read."""
    found: list[Path] = []
    for depth in range(4):
        pattern = "*/" * depth
        found += [*folder.glob(f"{pattern}*.[iI][fF][oO]"), *folder.glob(f"{pattern}*.[iI][nN][dD][eE][xX]")]
    return [DictionaryFiles(path) for path in sorted(found)[:_MOST_FOUND]]


def _number(text: str) -> int:
    value = 0
    for letter in text.strip():
        value = value * 64 + _DIGITS[letter]
    return value


def _read_packed(path: Path, place: int, size: int) -> bytes:
    """Return ``size`` bytes from ``place`` of the unpacked text: of dictzip only the pieces that have them."""
    with open_regular(path, most=MOST_TEXT) as file:
        try:
            pieces, length, start = _pieces(file.read(1 << 20))
            if not pieces:  # plain gzip
                file.seek(0)
                unpacked = gzip.GzipFile(fileobj=file)
                unpacked.seek(place)
                return unpacked.read(size)
            first, last = place // length, (place + size - 1) // length
            file.seek(start + sum(pieces[:first]))
            data = b"".join(
                zlib.decompressobj(-15).decompress(file.read(packed), length) for packed in pieces[first : last + 1]
            )
            return data[place - first * length :][:size]
        except (EOFError, zlib.error, gzip.BadGzipFile, struct.error, LookupError, ValueError, ArithmeticError):
            raise DamagedDictionaryError(f"{path.name} cannot be unpacked. Get the dictionary again.") from None


def _pieces(data: bytes) -> tuple[tuple[int, ...], int, int]:
    """Return the packed sizes of dictzip's pieces, the size of each unpacked, and where they begin; none of gzip."""
    flags, at = data[3], 10
    pieces: tuple[int, ...] = ()
    length = 0
    if flags & _EXTRA:
        (size,) = struct.unpack_from("<H", data, at)
        at, end = at + 2, at + 2 + size
        while at < end:
            (one,) = struct.unpack_from("<H", data, at + 2)
            if data[at : at + 2] == b"RA":
                _, length, count = struct.unpack_from("<HHH", data, at + 4)
                pieces = struct.unpack_from(f"<{count}H", data, at + 10)
            at += 4 + one
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            at = data.index(b"\0", at) + 1
    return pieces, length, at + (2 if flags & _CHECK else 0)
