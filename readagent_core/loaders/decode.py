"""Decodes the bytes of a text file: by byte order mark, as UTF-8, by the encoding it declares, else by a guess.

The guess is the encoding, of those that are common in books, in which most characters stand as in some language, also
where some bytes are wrong. It is reported in a notice.
"""

from __future__ import annotations

import codecs
import re

from readagent_core.loaders.builder import Builder
from readagent_core.loaders.letters import bits_of
from readagent_core.loaders.readable import FIRST_LEVELS

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOOKS = [  # of several that fit alike the first
    "cp1252", "cp949", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp1250", "cp1251", "koi8_u", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "iso8859_2", "iso8859_5", "iso8859_7", "iso8859_15", "cp437", "cp850",
    "cp852", "cp866", "mac_roman", "mac_cyrillic", "cp874", "iso8859_6",
]  # fmt: skip
_GB, _JIS, _BIG5, _KS = FIRST_LEVELS
_LEVELS = {
    "cp932": [_JIS], "euc_jp": [_JIS], "iso2022_jp": [_JIS], "gb18030": [_GB, _BIG5], "big5": [_BIG5], "cp949": [_KS]
}  # fmt: skip
_DECLARATION = re.compile(
    rb"(?:character set encoding:|charset\s*=\s*[\"']?|encoding\s*=\s*[\"'])\s*([A-Za-z0-9_.:-]{3,20})", re.IGNORECASE
)
_NOT_ASCII = re.compile(rb"[\x80-\xff\x1b]")
_IN_TEXTS = re.compile("[\t\r\n -~\u00a0-\u05ff\u2010-\u2030\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_SAMPLE, _MEASURED = 60_000, 3_000  # bytes; those of lines that are not ASCII
_EARLIER, _NEARLY = 0.3, 8.0  # bits by which an encoding fits better that comes earlier, or is certain
_NAMES = {"cp1252": "Western European (Windows-1252)", "cp932": "Shift_JIS"}


def decode(data: bytes) -> tuple[str, list[str]]:
    """Returns the characters of ``data``, and, where it was guessed, the encoding and those that fit nearly as well.

    It is a guess where it follows neither from a mark, nor from valid UTF-8, nor from a declaration. Bytes that cannot
    be decoded become U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), []
    utf16 = utf16_without_mark(data)
    if utf16:
        return data.decode(utf16, "replace"), []
    if b"\x1b$" not in data[:_SAMPLE]:  # ISO-2022-JP consists of ASCII bytes
        try:
            return data.decode("utf-8"), []
        except UnicodeDecodeError as error:
            if _nearly_utf8(data, error):
                return data.decode("utf-8", "replace"), []
    declared = _declared_encoding(data)
    if declared:
        return data.decode(declared, "replace"), []
    guessed = _guess(data)
    return data.decode(guessed[0], "replace"), guessed


def utf16_without_mark(data: bytes) -> str:
    """Returns the UTF-16 variant of text without a mark; '' for anything else.

    Of Latin letters every other byte is zero. Other text is known by its characters, nearly all of which are letters,
    spaces and punctuation of a few scripts in one variant only."""
    head = data[: 4000 - 4000 % 2]
    if len(head) < 8 or b"\x00" not in head:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > len(head) * 0.3 and even * 10 < odd:
        return "utf-16-le"
    if even > len(head) * 0.3 and odd * 10 < even:
        return "utf-16-be"
    for encoding in ("utf-16-le", "utf-16-be"):
        text = head.decode(encoding, "replace")
        if sum(bool(_IN_TEXTS.match(c)) for c in text) > 0.97 * len(text) and any(c in "\n 。，.," for c in text):
            return encoding
    return ""


def _nearly_utf8(data: bytes, error: UnicodeDecodeError) -> bool:
    """Whether this is damaged UTF-8: valid characters of several bytes are common, invalid ones rare."""
    sample = data[max(0, error.start - _SAMPLE // 2) : error.start + _SAMPLE // 2]
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    proper = sum(c > "\x7f" for c in text) - wrong
    return proper > 4 * wrong


def _declared_encoding(data: bytes) -> str:
    """Returns the encoding named in the first 4,000 bytes, if the whole file can be decoded with it; else ''."""
    found = _DECLARATION.search(data[:4000])
    if not found:
        return ""
    try:
        name = codecs.lookup(found.group(1).decode("ascii")).name
        name = {"iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932"}.get(name, name)
        data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return ""
    return name if isinstance("".encode(name), bytes) else ""


def _guess(data: bytes) -> list[str]:
    """Returns the encoding that fits best, and those that fit nearly as well and give other characters."""
    first = _NOT_ASCII.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    lines = [line for line in data[start : start + _SAMPLE].split(b"\n") if _NOT_ASCII.search(line)]
    sample = b"\n".join(lines)[:_MEASURED]  # only there encodings differ
    found: dict[str, tuple[float, str]] = {}
    for order, encoding in enumerate(_BOOKS):
        text = sample.decode(encoding, "replace")
        found.setdefault(text, (_EARLIER * order + bits_of(text, _LEVELS.get(encoding, ())), encoding))
    best = min(found.values())
    return [encoding for bits, encoding in sorted(found.values()) if bits < best[0] + _NEARLY]


def decode_noting_guess(data: bytes, builder: Builder) -> str:
    """Returns the characters of ``data``. Adds a notice where the encoding was guessed."""
    text, guessed = decode(data)
    if guessed:
        name, *others = (_NAMES.get(each, each) for each in guessed)
        doubt = f" {others[0]} fits nearly as well, so some letters may be wrong." if others else ""
        message = f"The file does not say how its characters are coded; it was read as {name}, which fits best.{doubt}"
        builder.add_notice("encoding", message)
    return text
