"""What an entry of a dictionary says, as plain text: StarDict's types of fields, and mark-up without its tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup

LONGEST = 4_000  # characters of an entry that are shown
_PLAIN, _MARKED = "mltyw", "ghkxn"  # types of fields; the rest are pictures, sounds and lists of files
_BLOCKS = ("br", "p", "div", "li", "dt", "dd", "tr", "blockquote", "def", "ex", "deftext", "ar", "h1", "h2", "h3", "h4")
_TAGS = re.compile(r"<[A-Za-z/!][^<>]*>|&(?:#\d+|#x[0-9A-Fa-f]+|[A-Za-z]\w*);")


def entry_text(data: bytes, types: str | None) -> str:
    """Return an entry's text, of at most ``LONGEST`` characters. ``types``: StarDict's 'sametypesequence', if any."""
    parts = (_plain(field.decode("utf-8", "replace"), kind) for kind, field in _fields(data, types))
    text = "\n".join(dict.fromkeys(filter(None, parts)))
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"


def _fields(data: bytes, types: str | None) -> Iterator[tuple[str, bytes]]:
    """Yield type and content of each field. A small letter ends with a zero byte, a capital begins with its size.

    With ``types`` the letters stand in the .ifo file and the last field has neither zero byte nor size.
    """
    at, number = 0, 0
    while at < len(data) and (types is None or number < len(types)):
        if types is None:
            kind, at = chr(data[at]), at + 1
        else:
            kind = types[number]
        number += 1
        if types is not None and number == len(types):
            yield kind, data[at:]
            return
        if kind.isupper():
            size = int.from_bytes(data[at : at + 4], "big")
            at, end = at + 4, at + 4 + size
        else:
            end = data.find(b"\0", at)
            end = len(data) if end < 0 else end
        yield kind, data[at:end]
        at = end + (not kind.isupper())


def _plain(text: str, kind: str) -> str:
    if kind in _PLAIN and not (kind == "m" and _TAGS.search(text)):
        return _lines(f"[{text.strip()}]" if kind == "t" and text.strip() else text)
    if kind not in _PLAIN + _MARKED:
        return ""
    soup = BeautifulSoup(text, "lxml")
    for tag in soup(["script", "style"]):
        tag.decompose()
    for tag in soup(list(_BLOCKS)):
        tag.insert_before("\n")
        tag.insert_after("\n")
    return _lines(soup.get_text())


def _lines(text: str) -> str:
    """Return ``text`` without control characters, and without empty lines."""
    lines = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
