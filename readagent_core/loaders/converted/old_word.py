"""Opens old Word documents (.doc, of Word 97 to 2003): headings, tables, notes, text boxes. Pictures are only counted.

The text stands in pieces in the file, and its properties in pages of 512 bytes, both found by tables whose places the
file's first bytes name ([MS-DOC], 'Word (.doc) Binary File Format'). olefile reads the container.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from html import escape
from io import BytesIO
from struct import unpack_from

from olefile import OleFileIO

from readagent_core.document import Document, Notice
from readagent_core.errors import ProtectedDocumentError, TooLargeError, UnknownFormatError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.converted.as_epub import note_at, note_link, open_as_epub, tagged
from readagent_core.loaders.docx.symbols import from_font
from readagent_core.words import count_of

_LATER = 0xA5EC  # the first number of a file of Word 97 or later
_LOCKED, _TABLE_1 = 0x100, 0x200
_STYLES, _PARAGRAPHS, _RUNS, _FONTS, _PIECES = (
    0xA2,
    0x102,
    0xFA,
    0x112,
    0x1A2,
)  # places of tables, named at these places
_NOTES = ((0xAA, 0xB2), (0x20A, 0x212))  # of footnotes and endnotes: where they are referred to, where they begin
_SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}  # bytes of a property's value, by the top three bits of its number
_DELETED, _HIDDEN, _SYMBOL, _ROW_ENDS, _IN_TABLE, _LIST = 0x0800, 0x083C, 0x6A09, 0x2417, 0x2416, 0x460B
_SIGNS = {"\x0b": "\n", "\x1e": "-", "\x0e": " ", "\t": " "}  # others below a space are of objects and marks
_PICTURES = "\x01\x08"
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
                "This document is locked with a password. Nothing was opened. Open it in Word, take the password off, "
                "save it as .docx, and open that."
            )
        table = file.openstream("1Table" if flags & _TABLE_1 else "0Table").read()
        about = file.get_metadata()
    page = f"cp{(about.codepage or 1252) % 65536}".replace("cp65001", "utf-8")
    title, author = ((text or b"").decode(page, "replace").strip("\0 ") for text in (about.title, about.author))
    text = _Text(main, table, limits)
    document = open_as_epub(text.as_html(), name, limits=limits, title=title, author=author)
    told = [("pictures-left-out", "picture", text.pictures), ("parts-left-out", "list mark", text.marks)]
    notices = (
        Notice(code, f"Not shown: {count_of(count, what)}. Save the file as .docx to see them.", count)
        for code, what, count in told
        if count
    )
    return replace(document, warnings=(*document.warnings, *notices))


@dataclass
class _Paragraph:
    """``html``: what was read of it. ``cells``: those of its row of a table that ended before."""

    html: str = ""
    cells: list[str] = field(default_factory=list)


class _Text:
    """``characters``: of all stories, one after the other; ``places``: of each in the file."""

    def __init__(self, main: bytes, table: bytes, limits: Limits) -> None:
        self.main, self.table = main, table
        self.pictures = self.marks = 0
        self.fonts = self._read_fonts()
        self.characters, self.places = self._read_pieces(limits)
        self.runs = _Properties(main, self._table(_RUNS), 1)
        self.paragraphs = _Properties(main, self._table(_PARAGRAPHS), 13)
        self.levels = self._read_levels()
        sizes = unpack_from("<7i", main, 0x4C)  # text, footnotes, headers, macros, comments, endnotes, text boxes
        self.starts = [sum(sizes[:at]) for at in range(8)]
        self.notes: dict[
            int, tuple[str, int, int]
        ] = {}  # by where it is referred to: its key, first and last character
        for story, (refer, begin) in zip((1, 5), _NOTES, strict=True):
            begins = [self.starts[story] + at for at in _numbers(self._table(begin), 0)]
            for number, at in enumerate(_numbers(self._table(refer))[: max(0, len(begins) - 2)]):
                self.notes[at] = f"{'fe'[story == 5]}{number + 1}", begins[number], begins[number + 1]

    def _table(self, place: int) -> bytes:
        at, size = unpack_from("<II", self.main, place)
        return self.table[at : at + size]

    def _read_pieces(self, limits: Limits) -> tuple[str, list[int]]:
        table, at = self._table(_PIECES), 0
        while table[at] == 1:  # changes that pieces refer to
            at += 3 + unpack_from("<H", table, at + 1)[0]
        table = table[at + 5 :]
        count = (len(table) - 4) // 12
        ends = unpack_from(f"<{count + 1}I", table)
        if ends[-1] > limits.text:  # pieces may name the same bytes again and again
            raise TooLargeError("The text in this document is larger than can be opened. Split it and open the parts.")
        texts, places = [], list[int]()
        for number in range(count):
            place = unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)[0]
            size, narrow = ends[number + 1] - ends[number], bool(place & 0x40000000)
            start, step = (place & 0x3FFFFFFF) // (2 if narrow else 1), 1 if narrow else 2
            raw = self.main[start : start + size * step]
            # a pair of surrogates counts as two characters
            texts.append(
                raw.decode("cp1252", "replace") if narrow else "".join(map(chr, unpack_from(f"<{len(raw) // 2}H", raw)))
            )
            places += range(start, start + len(texts[-1]) * step, step)
        return "".join(texts), places

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
        out, rows, fields, held = list[str](), list[str](), list[bool](), _Paragraph()
        for at in range(start, min(end, len(self.characters))):
            sign = self.characters[at]
            if sign in "\x13\x14\x15":  # a field: what it is told to do, what that gave, its end
                if sign == "\x13":
                    fields.append(True)
                elif fields and sign == "\x14":
                    fields[-1] = False
                elif fields:
                    fields.pop()
            elif sign in "\r\x0c\x07":
                style, properties = self.paragraphs.at(self.places[at])
                if sign == "\x07" or _IN_TABLE in properties:
                    if sign == "\x07" and _ROW_ENDS not in properties:
                        held.cells.append(tagged("td", _decoded(held.html)))
                        held.html = ""
                    elif sign == "\x07":
                        rows.append(tagged("tr", "".join(held.cells)))
                        held = _Paragraph()
                    else:
                        held.html += "<br/>"
                    continue
                out, rows = [*out, tagged("table", "".join(rows))] if rows else out, []
                level = self.levels.get(style)
                self.marks += bool(properties.get(_LIST))
                out.append(tagged(f"h{level}" if level else "p", _decoded(held.html)))
                held = _Paragraph()
            elif not any(fields):
                held.html += self._character(at, sign)
        rest = tagged("table", "".join(rows)) if rows else ""
        return "".join(out) + rest + tagged("p", _decoded("".join(held.cells) + held.html))

    def _character(self, at: int, sign: str) -> str:
        properties = self.runs.at(self.places[at])[1]
        if properties.get(_DELETED) or properties.get(_HIDDEN):
            return ""
        if at in self.notes:
            return note_link(self.notes[at][0], self.notes[at][0][1:])
        if _SYMBOL in properties and sign == "(":
            font, code = properties[_SYMBOL] & 0xFFFF, properties[_SYMBOL] >> 16
            return escape(from_font(code, self.fonts[font] if font < len(self.fonts) else "symbol"))
        if sign in _PICTURES:
            self.pictures += 1
        return escape(_SIGNS.get(sign, sign if sign >= " " else "")).replace("\n", "<br/>")


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

    def at(self, place: int) -> tuple[int, dict[int, int]]:
        """Returns the style and the properties of what is at this place."""
        number = bisect_right(self.first, place) - 1
        return self.found[number][1:] if number >= 0 else (0, {})


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
