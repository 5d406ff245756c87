"""Dictionaries made for tests: StarDict in all its variants, and dictd."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

Words = Sequence[tuple[str, bytes]]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def make_stardict(
    folder: Path,
    words: Words,
    *,
    name: str = "made",
    title: str = "A made one",
    types: str = "m",
    wide: bool = False,
    packed_index: bool = False,
    packed_text: str = "",
    synonyms: Sequence[tuple[str, int]] = (),
) -> Path:
    """Write a dictionary. ``types`` '': every field has its letter. ``packed_text``: '', 'dictzip' or 'gzip'."""
    folder.mkdir(parents=True, exist_ok=True)
    text, index = b"", b""
    for word, entry in words:
        index += word.encode() + b"\0" + struct.pack(">QI" if wide else ">II", len(text), len(entry))
        text += entry
    about = [
        ("version", "3.0.0"),
        ("bookname", title),
        ("wordcount", str(len(words))),
        ("idxfilesize", str(len(index))),
    ]
    about += [("idxoffsetbits", "64")] if wide else []
    about += [("sametypesequence", types)] if types else []
    about += [("synwordcount", str(len(synonyms)))] if synonyms else []
    lines = ["StarDict's dict ifo file", *(f"{key}={value}" for key, value in about)]
    (folder / f"{name}.ifo").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if packed_index:
        (folder / f"{name}.idx.gz").write_bytes(gzip.compress(index))
    else:
        (folder / f"{name}.idx").write_bytes(index)
    if synonyms:
        data = b"".join(word.encode() + b"\0" + struct.pack(">I", number) for word, number in synonyms)
        (folder / f"{name}.syn").write_bytes(data)
    packed = {"": text, "gzip": gzip.compress(text), "dictzip": dictzip(text)}[packed_text]
    (folder / f"{name}.dict{'.dz' if packed_text else ''}").write_bytes(packed)
    return folder


def make_dictd(folder: Path, words: Words, *, name: str = "dictd") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text, lines = b"", []
    for word, entry in words:
        lines.append(f"{word}\t{_number(len(text))}\t{_number(len(entry))}")
        text += entry
    (folder / f"{name}.index").write_text("\n".join(["00-database-short\tA\tA", *lines]) + "\n", encoding="utf-8")
    (folder / f"{name}.dict.dz").write_bytes(dictzip(text))
    return folder


def dictzip(data: bytes, piece: int = 500) -> bytes:
    """gzip in pieces of ``piece`` bytes that can be unpacked alone, as dictzip writes it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    pieces = []
    for at in range(0, len(data), piece):
        pieces.append(packer.compress(data[at : at + piece]) + packer.flush(zlib.Z_FULL_FLUSH))
    sizes = struct.pack(f"<HHH{len(pieces)}H", 1, piece, len(pieces), *map(len, pieces))
    extra = b"RA" + struct.pack("<H", len(sizes)) + sizes
    head = b"\x1f\x8b\x08\x0c" + bytes(6) + struct.pack("<H", len(extra)) + extra + b"made.dict\0"
    return head + b"".join(pieces) + packer.flush() + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def _number(value: int) -> str:
    text = _LETTERS[value % 64]
    while value := value // 64:
        text = _LETTERS[value % 64] + text
    return text
