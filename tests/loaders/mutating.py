"""Damages real files in a reproducible way: bytes flipped, cut, doubled or swapped; archives also inside."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from random import Random

_TOKENS = [
    *(b"\x00", b"\xff\xfe", b"<", b">", b"</p>", b"&#xD800;", b"]]>", b"<![CDATA[", b"<?xml", b"#", b"../../"),
    *(b"<table>", b"<ol><li>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"\xed\xa0\x80", "\u202e".encode()),
    *(b"endobj", b"stream\n", b"xref", b"/Kids", b"/Parent 1 0 R", b"/Length -1", b"99999999999", b"-1", b"(", b"\\"),
    *(b"%PDF-", b"1 0 R", b"<<", b">>"),
]


def mutated(data: bytes, random: Random) -> bytes:
    """Returns ``data`` with one to eight changes; an archive often has them inside its files."""
    if zipfile.is_zipfile(BytesIO(data)) and random.random() < 0.7:
        return _inside(data, random)
    return _damaged(data, random)


def _damaged(data: bytes, random: Random) -> bytes:
    body = bytearray(data)
    for _ in range(random.randint(1, 8)):
        if not body:
            break
        at = random.randrange(len(body))
        length = min(len(body) - at, int(2 ** random.uniform(0, 12)))
        what = random.randrange(7)
        if what == 0:
            body[at] ^= 1 << random.randrange(8)
        elif what == 1:
            del body[at : at + length]
        elif what == 2:
            body[at:at] = body[at : at + length]
        elif what == 3:
            body[at : at + length] = bytes(random.randrange(256) for _ in range(min(length, 64)))
        elif what == 4:
            body[at:at] = random.choice(_TOKENS) * random.choice((1, 1, 1, 50))
        elif what == 5 and random.random() < 0.3:
            del body[at:]
        else:
            other = random.randrange(len(body))
            body[at : at + length] = body[other : other + length]
    return bytes(body)


def _inside(data: bytes, random: Random) -> bytes:
    """Returns a valid archive with some of its files damaged or missing."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        names = [n for n in source.namelist() if n.lower().endswith(("ml", "opf", "ncx"))]
        chosen = {random.choice(names) for _ in range(random.randint(1, 3))} if names else set()
        for name in source.namelist():
            try:
                content = source.read(name)
            except (zipfile.BadZipFile, zlib.error):
                continue
            if name in chosen:
                if random.random() < 0.15:
                    continue
                content = _damaged(content, random)
            if len(content) < 1 << 20:
                target.writestr(name, content)
    return out.getvalue()
