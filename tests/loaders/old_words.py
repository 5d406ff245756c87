"""Makes an old Word file (.doc): a container of streams, the text, its paragraphs' styles, a footnote."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.loaders.converting import Book

SECTOR = 512
CELL, ROW = b"\x16\x24\x01", b"\x17\x24\x01"  # in a table; a row ends


def container(streams: Mapping[str, bytes]) -> bytes:
    """Returns an OLE file of streams, each of 4,096 bytes at least."""
    padded = {name: data.ljust(max(4096, -(-len(data) // SECTOR) * SECTOR), b"\0") for name, data in streams.items()}
    fat, entries, at, body = [0xFFFFFFFD, 0xFFFFFFFE], [], 2, b""
    for number, (name, data) in enumerate(padded.items(), 1):
        sectors = len(data) // SECTOR
        fat += [*range(at + 1, at + sectors), 0xFFFFFFFE]
        after = number + 1 if number < len(padded) else 0xFFFFFFFF
        entries.append(_entry(name, 2, after, 0xFFFFFFFF, at, len(data)))
        body, at = body + data, at + sectors
    head = struct.pack("<8s16xHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0,
                       4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)  # fmt: skip
    head += struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)
    folder = b"".join([_entry("Root Entry", 5, 0xFFFFFFFF, 1, 0xFFFFFFFE, 0), *entries]).ljust(SECTOR, b"\0")
    assert len(fat) <= 128
    assert len(folder) == SECTOR
    return head + struct.pack("<128I", *fat, *[0xFFFFFFFF] * (128 - len(fat))) + folder + body


def _entry(name: str, kind: int, after: int, child: int, start: int, size: int) -> bytes:
    coded = name.encode("utf-16-le")
    fields = (coded, len(coded) + 2, kind, 1, 0xFFFFFFFF, after, child, start, size)
    return struct.pack("<64sHBBIII36xIQ", *fields)


def about(title: str, author: str) -> bytes:
    texts = [text.encode() + b"\0" for text in (title, author)]
    values = [
        struct.pack("<Ihxx", 2, 65001 - 65536),
        *(struct.pack("<II", 30, len(t)) + t + b"\0" * (-len(t) % 4) for t in texts),
    ]
    at, index = 8 + 8 * len(values), b""
    for kind, value in zip((1, 2, 4), values, strict=True):
        index, at = index + struct.pack("<II", kind, at), at + len(value)
    section = struct.pack("<II", at, len(values)) + index + b"".join(values)
    return struct.pack("<HHI16xI16xI", 0xFFFE, 0, 0, 1, 48) + section


def made_doc(book: Book, *, locked: bool = False, kind: int = 0xA5EC) -> bytes:
    """The chapters below headings, a note, a field, a row of a table, a picture in an item of a list."""
    rows: list[tuple[str, int, bytes]] = []  # the text of each paragraph with its end, its style, its properties
    for title, texts in book.chapters.items():
        rows += [(title + "\r", 1, b""), *((text + "\r", 0, b"") for text in texts)]
    rows += [
        ("So\x02 it was, \x13 HYPERLINK \"x\" \x14by the sea\x15.\r", 0, b""),
        ("oil\x07", 0, CELL), ("3\x07", 0, CELL), ("\x07", 0, CELL + ROW),
        ("wick\x01\r", 0, b"\x0b\x46\x01\x00"),
    ]  # fmt: skip
    note = [("\x02 " + book.note + "\r", 0, b""), ("\r", 0, b"")]
    text, notes = ("".join(row[0] for row in part) for part in (rows, note))
    whole = text + notes
    start = 0x800
    main = bytearray(start) + whole.encode("utf-16-le")
    pages = main + b"\0" * (-len(main) % SECTOR)
    struct.pack_into("<H8xH", pages, 0, kind, 0x200 | 0x100 * locked)
    sizes = len(text.encode("utf-16-le")) // 2, len(notes.encode("utf-16-le")) // 2
    struct.pack_into("<ii", pages, 0x4C, *sizes)
    paragraphs, ends = _page([*rows, *note], start)
    table, places = bytearray(), {}

    def put(place: int, data: bytes) -> None:
        places[place] = (len(table), len(data))
        table.extend(data)

    put(0xA2, _styles(("Normal", 0, 0xFFF), ("heading 1", 1, 0)))
    put(0x102, struct.pack("<III", start, ends, len(pages) // SECTOR))
    put(0xAA, struct.pack("<IIH", len(text[: text.index("\x02")].encode("utf-16-le")) // 2, sizes[0], 0))
    put(0xB2, struct.pack("<III", 0, sizes[1] - 1, sizes[1]))
    put(0x1A2, struct.pack("<BIIIHIH", 2, 16, 0, sum(sizes), 0, start, 0))
    for place, found in places.items():
        struct.pack_into("<II", pages, place, *found)
    streams = {"WordDocument": bytes(pages) + paragraphs, "1Table": bytes(table)}
    return container({**streams, "\x05SummaryInformation": about(book.title, book.author)})


def _page(rows: Sequence[tuple[str, int, bytes]], start: int) -> tuple[bytes, int]:
    """Returns the page of the properties of paragraphs, and where the last one ends."""
    ends, entries, held, at = [start], [], bytearray(SECTOR), SECTOR - 2
    for text, style, properties in rows:
        ends.append(ends[-1] + len(text.encode("utf-16-le")))
        entry = struct.pack("<H", style) + properties
        entry = entry.ljust(len(entry) | 1, b"\0") if properties else entry + b"\0"
        at = (at - len(entry) - 1) // 2 * 2
        held[at : at + 1 + len(entry)] = bytes([(len(entry) + 1) // 2]) + entry
        entries.append(at // 2)
    struct.pack_into(f"<{len(ends)}I", held, 0, *ends)
    for number, place in enumerate(entries):
        held[4 * len(ends) + 13 * number] = place
    held[511] = len(rows)
    assert 4 * len(ends) + 13 * len(rows) < at
    return bytes(held), ends[-1]


def _styles(*styles: tuple[str, int, int]) -> bytes:
    made = b"".join(struct.pack("<HHHHH", 8, sti, base << 4 | 1, 0, 0) for _, sti, base in styles)
    return struct.pack("<HHHHHHHHHHH", 18, len(styles), 10, 0, 0, 0, 0, 0, 0, 0, 0)[:20] + made
