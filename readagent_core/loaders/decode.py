"""Bytes of a text file to characters: byte order marks, what the file says of itself, UTF-8, else a guess.

The guess is charset-normalizer's, kept to encodings books are found in. Every guess and every character that
could not be decoded is told in a notice.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from readagent_core.languages import detect_language

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOOKS = [
    "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949", "cp1252", "latin_1",
    "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2",
    "iso8859_15", "cp437", "cp850", "cp866", "mac_roman", "tis_620",
]  # fmt: skip
_SAYS = re.compile(
    rb"(?:character set encoding:|charset\s*=\s*[\"']?|encoding\s*=\s*[\"'])\s*([A-Za-z0-9_.:-]{3,20})", re.IGNORECASE
)
_NOT_ASCII = re.compile(rb"[\x80-\xff\x1b]")
_NEIGHBOURS = {"cp1250", "iso8859_2", "iso8859_15", "cp1254", "mac_roman", "cp437", "cp850", "cp1257"}
_WESTERN = {"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "ca", "la", "id"}
_SAMPLE = 60_000


@dataclass(frozen=True)
class Decoded:
    """``guessed``: neither a mark, nor the file itself, nor valid UTF-8 told the encoding."""

    text: str
    encoding: str
    guessed: bool = False


def decode(data: bytes) -> Decoded:
    """The characters of ``data``; those that cannot be decoded become U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"), encoding)
    wide = _wide(data)
    if wide:
        return Decoded(data.decode(wide, "replace"), wide)
    if b"\x1b$" not in data[:_SAMPLE]:  # ISO-2022-JP is ASCII to the eye
        try:
            return Decoded(data.decode("utf-8"), "utf-8")
        except UnicodeDecodeError as error:
            if _nearly_utf8(data, error):
                return Decoded(data.decode("utf-8", "replace"), "utf-8")
    said = _said(data)
    if said:
        return Decoded(data.decode(said, "replace"), said)
    encoding = _guess(data)
    return Decoded(data.decode(encoding, "replace"), encoding, guessed=True)


def _wide(data: bytes) -> str:
    """UTF-16 without its mark: every other byte of Western text is zero."""
    head = data[:4000]
    if len(head) < 8 or b"\x00" not in head:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > len(head) * 0.3 and even * 10 < odd:
        return "utf-16-le"
    if even > len(head) * 0.3 and odd * 10 < even:
        return "utf-16-be"
    return ""


def _nearly_utf8(data: bytes, error: UnicodeDecodeError) -> bool:
    """Whether this is UTF-8 with damage: proper many-byte characters are common, wrong ones rare."""
    sample = data[max(0, error.start - _SAMPLE // 2) : error.start + _SAMPLE // 2]
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    proper = sum(c > "\x7f" for c in text) - wrong
    return proper > 4 * wrong


def _said(data: bytes) -> str:
    """The encoding the file names in its first lines, if all of it can be decoded so."""
    found = _SAYS.search(data[:4000])
    if not found:
        return ""
    try:
        name = codecs.lookup(found.group(1).decode("ascii")).name
        name = {"iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932"}.get(name, name)
        data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return ""
    return name if isinstance("".encode(name), bytes) else ""


def _guess(data: bytes) -> str:
    # from the first byte that is not ASCII, where the difference shows
    first = _NOT_ASCII.search(data)
    start = data.rfind(b"\n", 0, max(0, first.start() - 2000)) + 1 if first else 0
    sample = data[start : start + _SAMPLE]
    if b"\n" in sample and len(data) > start + _SAMPLE:
        sample = sample[: sample.rfind(b"\n")]  # not through the middle of a character
    from charset_normalizer import from_bytes  # takes longer to import than most books to load, and is seldom needed

    best = from_bytes(sample, cp_isolation=_BOOKS, threshold=0.35).best()
    encoding = best.encoding if best is not None else "cp1252"
    # cp1252 holds latin-1's letters at the same places, and the curly quotes besides
    encoding = {"latin_1": "cp1252", "iso8859_1": "cp1252", "shift_jis": "cp932"}.get(encoding, encoding)
    if encoding in _NEIGHBOURS and detect_language(sample.decode("cp1252", "replace")) in _WESTERN:
        return "cp1252"  # the code pages differ in a few letters only; the words tell better
    return encoding
