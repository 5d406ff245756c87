"""Opens old Word documents (.doc, of Word 97 to 2003): headings, tables, notes, text boxes. Pictures are only counted.

The text stands in pieces in the file, and its properties in pages of 512 bytes, both found by tables whose places the
file's first bytes name ([MS-DOC], 'Word (.doc) Binary File Format'). olefile reads the container.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from bisect import bisect_right
from dataclasses import replace
from html import escape
from io import BytesIO
from struct import error as StructError
from struct import iter_unpack, unpack_from
from typing import NamedTuple

from olefile import OleFileIO

from readagent_core.document import Document, Notice
from readagent_core.errors import ProtectedDocumentError, TooLargeError, UnknownFormatError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.converted.as_epub import note_at, note_link, open_as_epub, tagged
from readagent_core.loaders.symbols import from_font
from readagent_core.words import count_of

_LATER = 0xA5EC  # the first number of a file of Word 97 or later
_LOCKED, _TABLE_1 = 0x100, 0x200
# where the places of tables are named
_STYLES, _PARAGRAPHS, _RUNS, _FONTS, _PIECES = 0xA2, 0x102, 0xFA, 0x112, 0x1A2
_NOTES = ((0xAA, 0xB2), (0x20A, 0x212))  # of footnotes and endnotes: where they are referred to, where they begin
_SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}  # bytes of a property's value, by the top three bits of its number
_DELETED, _HIDDEN, _SYMBOL, _ROW_ENDS, _IN_TABLE, _LIST = 0x0800, 0x083C, 0x6A09, 0x2417, 0x2416, 0x460B
_PART = re.compile("[\r\x0c\x07\x13-\x15\x02]|[^\r\x0c\x07\x13-\x15\x02]+")
_SIGNS = {0x0B: "<br/>", 0x1E: "-", 0x0E: " ", 0x09: " "} | dict.fromkeys({*range(32)} - {9, 11, 14, 30}, "")
_PICTURES = "\x01\x08"
_SUMMARY, _MOST_FACTS = "\x05SummaryInformation", 100
_DEEPEST = 20  # styles based on styles


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the old Word file ``data``. Raises DocumentError."""
    with OleFileIO(BytesIO(data)) as file:
        main = file.openstream("WordDocument").read()
        kind, flags = unpack_from("<H8xH", main)
        if kind != _LATER:
            raise UnknownFormatError("This is a document of Word 6 or older. Save it as .docx in Word or LibreOffice.")
        if flags & _LOCKED:
            raise ProtectedDocumentError(
                "This document is locked with a password. Open it in Word, take the password off, "
                "save it as .docx, and open that."
            )
        table = file.openstream("1Table" if flags & _TABLE_1 else "0Table").read()
        title = author = ""
        with contextlib.suppress(StructError, OSError):  # without them, or damaged, the text can be read all the same
            title, author = _read_facts(file.openstream(_SUMMARY).read())
    text = _Text(main, table, limits)
    document = open_as_epub(text.as_html(), name, limits=limits, title=title, author=author)
    told = [("pictures-left-out", "picture", text.pictures), ("parts-left-out", "list mark", text.marks)]
    advice = "Save the file as .docx to see them."
    notices = (Notice(code, f"Not shown: {count_of(n, what)}. {advice}", n) for code, what, n in told if n)
    return replace(document, warnings=(*document.warnings, *notices))


def _read_facts(data: bytes) -> tuple[str, str]:
    """Returns title and author. (olefile reads as many properties as the file says there are, if need be for ever.)"""
    at = unpack_from("<I", data, 44)[0]
    found, page = dict[int, bytes](), 1252
    for kind, place in iter_unpack("<II", data[at + 8 :][: 8 * min(_MOST_FACTS, unpack_from("<I", data, at + 4)[0])]):
        form, value = unpack_from("<II", data, at + place)
        if kind == 1 and form == 2:
            page = value % 65536
        elif form == 30:
            found[kind] = data[at + place + 8 :][:value]
    try:
        codec = codecs.lookup("utf-8" if page == 65001 else f"cp{page}").name
    except LookupError:
        codec = "cp1252"
    title, author = (found.get(kind, b"").decode(codec, "replace").strip("\0 ") for kind in (2, 4))
    return title, author


class _Piece(NamedTuple):
    """A stretch of the text: its first character, where that is in the file, the bytes of a character."""

    start: int
    place: int
    step: int


class _Text:
    """``characters``: of all stories, one after the other. ``pieces``: where they are in the file."""

    def __init__(self, main: bytes, table: bytes, limits: Limits) -> None:
        self.main, self.table = main, table
        self.pictures = self.marks = 0
        self.fonts = self._read_fonts()
        self.characters, self.pieces = self._read_pieces(limits)
        self.runs = _Properties(main, self._table(_RUNS), 1)
        self.paragraphs = _Properties(main, self._table(_PARAGRAPHS), 13)
        self.levels = self._read_levels()
        sizes = unpack_from("<7i", main, 0x4C)  # text, footnotes, headers, macros, comments, endnotes, text boxes
        self.starts = [sum(sizes[:at]) for at in range(8)]
        # by where a note is referred to: its key, first and last character
        self.notes: dict[int, tuple[str, int, int]] = {}
        for story, (refer, begin) in zip((1, 5), _NOTES, strict=True):
            begins = [self.starts[story] + at for at in _numbers(self._table(begin), 0)]
            for number, at in enumerate(_numbers(self._table(refer))[: max(0, len(begins) - 2)]):
                self.notes[at] = f"{'fe'[story == 5]}{number + 1}", begins[number], begins[number + 1]

    def _table(self, place: int) -> bytes:
        at, size = unpack_from("<II", self.main, place)
        return self.table[at : at + size]

    def _read_pieces(self, limits: Limits) -> tuple[str, list[_Piece]]:
        table, at = self._table(_PIECES), 0
        while table[at] == 1:  # changes that pieces refer to
            at += 3 + unpack_from("<H", table, at + 1)[0]
        table = table[at + 5 :]
        count = (len(table) - 4) // 12
        ends = unpack_from(f"<{count + 1}I", table)
        if ends[-1] > limits.text:  # pieces may name the same bytes again and again
            raise TooLargeError("The text in this document is larger than can be opened. Split it and open the parts.")
        text, pieces = "", list[_Piece]()
        for number in range(count):
            place = unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)[0]
            step = 1 if place & 0x40000000 else 2
            piece = _Piece(len(text), (place & 0x3FFFFFFF) // (3 - step), step)
            raw = self.main[piece.place :][: max(0, ends[number + 1] - ends[number]) * step]
            # half a pair of surrogates counts as a character
            wide = "" if step == 1 else "".join(map(chr, unpack_from(f"<{len(raw) // 2}H", raw)))
            text += raw.decode("cp1252", "replace") if step == 1 else wide
            pieces.append(piece)
        return text, pieces

    def _stretch(self, at: int, end: int, found: _Properties) -> tuple[int, int, dict[int, int]]:
        """Returns up to where, ``end`` at most, what is known of the character ``at`` holds; its style; properties."""
        number = bisect_right(self.pieces, at, key=lambda each: each.start) - 1
        piece = self.pieces[number]
        if number + 1 < len(self.pieces):
            end = min(end, self.pieces[number + 1].start)
        place = piece.place + (at - piece.start) * piece.step
        number = bisect_right(found.first, place)
        if number < len(found.first):
            end = min(end, at + max(1, (found.first[number] - place) // piece.step))
        return end, *(found.found[number - 1][1:] if number else (0, {}))

    def _read_fonts(self) -> list[str]:
        table, at, names = self._table(_FONTS), 4, list[str]()
        while at + 40 < len(table):
            end = at + table[at] + 1
            names.append(table[at + 40 : end].decode("utf-16-le", "replace").partition("\0")[0])
            at = end
        return names

    def _read_levels(self) -> dict[int, int]:
        """Returns the levels of headings by the numbers of their styles."""
        table = self._table(_STYLES)
        at, count = 2 + unpack_from("<H", table)[0], unpack_from("<H", table, 2)[0]
        kinds, bases = dict[int, int](), dict[int, int]()
        for number in range(count):
            size = unpack_from("<H", table, at)[0]
            if size >= 4:
                kind, base = unpack_from("<HH", table, at + 2)
                kinds[number], bases[number] = kind & 0xFFF, base >> 4
            at += 2 + size + size % 2
        levels = dict[int, int]()
        for number in kinds:
            base = number
            for _ in range(_DEEPEST):
                if 1 <= kinds.get(base, 0) <= 9:
                    levels[number] = min(6, kinds[base])
                base = bases.get(base, -1) if number not in levels else -1
        return levels

    def as_html(self) -> str:
        main = self._story(0, self.starts[1])
        boxes = self._story(self.starts[6], self.starts[7])
        notes = (note_at(key, self._story(start, end)) for key, start, end in self.notes.values())
        return main + boxes + "".join(notes)

    def _story(self, start: int, end: int) -> str:
        """Returns what is between two characters as HTML."""
        out, rows, cells, html = list[str](), list[str](), list[str](), ""
        fields: list[bool] = []  # of each field around: whether this is what it is told to do, not what that gave
        for part in _PART.finditer(self.characters, max(0, start), max(0, end)):
            sign, at = part[0], part.start()
            if sign == "\x13":
                fields.append(True)
            elif sign == "\x14":
                fields[-1:] = [False] * bool(fields)
            elif sign == "\x15":
                del fields[-1:]
            elif sign in "\r\x0c\x07":
                _, style, properties = self._stretch(at, at + 1, self.paragraphs)
                self.marks += bool(properties.get(_LIST))
                if sign == "\x07" and _ROW_ENDS in properties:
                    rows, cells, html = [*rows, tagged("tr", "".join(cells))], [], ""
                elif sign == "\x07":
                    cells, html = [*cells, tagged("td", _decoded(html))], ""
                elif _IN_TABLE in properties:
                    html += "<br/>"
                else:
                    out += [tagged("table", "".join(rows))] * bool(rows)
                    out.append(tagged(f"h{level}" if (level := self.levels.get(style)) else "p", _decoded(html)))
                    rows, html = [], ""
            elif not any(fields):
                html += self._words(at, part.end())
        return "".join([*out, tagged("table", "".join(rows)), tagged("p", _decoded("".join(cells) + html))])

    def _words(self, at: int, end: int) -> str:
        html = ""
        while at < end:
            stop, _, properties = self._stretch(at, end, self.runs)
            text = self.characters[at:stop]
            if properties.get(_DELETED) or properties.get(_HIDDEN):
                text = ""
            elif at in self.notes:
                html, text = html + note_link(self.notes[at][0], self.notes[at][0][1:]), ""
            elif _SYMBOL in properties:
                font, code = properties[_SYMBOL] & 0xFFFF, properties[_SYMBOL] >> 16
                text = from_font(code, self.fonts[font] if font < len(self.fonts) else "symbol") * len(text)
            self.pictures += sum(map(text.count, _PICTURES))
            html, at = html + escape(text).translate(_SIGNS), stop
        return html


class _Properties:
    """The properties of a text by places in the file, in the pages of 512 bytes that ``table`` names.

    ``wide``: bytes of an entry of a page: 13 of paragraphs, 1 of characters."""

    def __init__(self, main: bytes, table: bytes, wide: int) -> None:
        self.found: list[tuple[int, int, dict[int, int]]] = []  # where it starts, style, values by their properties
        count = max(0, len(table) - 4) // 8
        for page in unpack_from(f"<{count}I", table[4 * count + 4 :]):
            data = main[512 * (page & 0x3FFFFF) :][:512].ljust(512, b"\0")
            starts = unpack_from(f"<{data[511]}I", data)
            for number, start in enumerate(starts):
                at = 2 * data[4 * len(starts) + 4 + wide * number]
                self.found.append((start, *(_paragraph_entry(data, at) if wide > 1 else (0, _values(data, at)))))
        self.found.sort(key=lambda each: each[0])
        self.first = [start for start, _, _ in self.found]


def _paragraph_entry(data: bytes, at: int) -> tuple[int, dict[int, int]]:
    if not at:
        return 0, {}
    size, at = (2 * data[at], at) if data[at] else (2 * data[at + 1] + 1, at + 1)
    return unpack_from("<H", data, at + 1)[0], _read_values(data[at + 3 : at + size])


def _values(data: bytes, at: int) -> dict[int, int]:
    return _read_values(data[at + 1 : at + 1 + data[at]]) if at else {}


def _read_values(data: bytes) -> dict[int, int]:
    """Returns the values of the properties in ``data``; of a longer one its first bytes."""
    found, at = dict[int, int](), 0
    while at + 3 <= len(data):
        name = unpack_from("<H", data, at)[0]
        size = _SIZES.get(name >> 13) or data[at + 2] + 1
        found[name] = int.from_bytes(data[at + 2 : at + 2 + min(size, 4)], "little")
        at += 2 + size
    return found


def _numbers(table: bytes, size: int = 2) -> list[int]:
    """Returns the places that a table begins with, each followed, after the last, by ``size`` bytes of something."""
    count = (len(table) - 4) // (4 + size) + 1 if len(table) >= 4 else 0
    return list(unpack_from(f"<{count}I", table))


def _decoded(html: str) -> str:
    """Returns ``html`` with pairs of surrogates as the characters that they stand for."""
    return html.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
