"""Opens rich text (.rtf): paragraphs, headings, notes, tables by rows; in the code page of each of its fonts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape

from readagent_core.document import Document, Notice
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.converted.as_epub import note_at, note_link, open_as_epub, tagged
from readagent_core.loaders.maths import raise_text
from readagent_core.loaders.symbols import from_font
from readagent_core.words import count_of

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.I)
_APART = frozenset(
    b"fonttbl colortbl stylesheet info object themedata colorschememapping datastore latentstyles listtable "
    b"listoverridetable rsidtbl generator filetbl revtbl header headerl headerr headerf footer footerl footerr footerf "
    b"fldinst bkmkstart bkmkend xe tc private nonshppict shpinst annotation atnid atnauthor mmathPr".split()
)
_RAISED = {b"super": "\x02", b"up": "\x02", b"sub": "\x03", b"dn": "\x03"}  # what begins text that is so, up to \x04
_MARKS = {
    b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"bullet": "•", b"tab": "\t", b"line": "\n", b"cell": "\x01", b"nestcell": "\x01",
    b"~": "\u00a0", b"_": "-", b"emspace": " ",
}  # fmt: skip
_SYMBOL = "symbol"  # no code page: the font's own numbers
_CODE_PAGES = {
    0: "cp1252", 2: _SYMBOL,
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip  # by the number of a font's character set
_DOUBLE_BYTE = ("cp932", "cp936", "cp949", "cp950")
_HEADING = re.compile(r"\s*heading ([1-6])\b", re.IGNORECASE)


@dataclass
class _Group:
    """What holds within braces. ``apart``: of which table or other thing its words are, b'' for the text. ``skipped``:
    characters after ``\\u`` for programs that do not know it. ``cell``: paragraphs belong to a cell of a table.
    ``around``: of a note its index and what it stands in."""

    apart: bytes = b""
    font: int = -1
    skipped: int = 1
    hidden: bool = False
    cell: bool = False
    level: int = 0
    raised: bytes = b""
    around: tuple[int, list[str], list[str]] | None = None


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the rich text ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This file")
    reader = _Reader()
    reader.run(data)
    body = "".join(reader.paragraphs) + "".join(reader.notes)
    title, author = (reader.facts.get(key, "") for key in (b"title", b"author"))
    document = open_as_epub(body, name, limits=limits, title=title, author=author)
    if not reader.pictures:
        return document
    told = f"Not shown: {count_of(reader.pictures, 'picture')}. Save the file as .docx or .odt to see them."
    return replace(document, warnings=(*document.warnings, Notice("pictures-left-out", told, reader.pictures)))


class _Reader:
    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.notes: list[str] = []
        self.facts: dict[bytes, str] = {}
        self.held: list[str] = []
        self.coded = bytearray()  # characters of a code page that are not decoded yet
        self.page, self.charsets, self.styles = "cp1252", dict[int, str](), dict[int, int]()
        self.style = self.skip = self.pictures = 0

    def run(self, data: bytes) -> None:
        group, outer = _Group(), list[_Group]()
        opens = False  # whether the token is the first in its group
        for token in _TOKEN.finditer(data):
            word, number, code, sign, brace, text = token.groups()
            opens, first = brace == b"{", opens
            if brace:
                self.skip = 0
            if brace == b"{":
                self._decode(group)
                outer.append(group)
                group = replace(group, around=None)
            elif brace == b"}":
                self._decode(group)
                self._end(group)
                group = outer.pop() if outer else _Group()
            elif code:
                if self.skip:
                    self.skip -= 1
                else:
                    self.coded += bytes.fromhex(code.decode())
            elif text is not None:
                self.coded += text[self.skip :]
                self.skip = max(0, self.skip - len(text))
            elif (word or sign) and (first or sign != b"*"):
                self._control(group, word or sign, int(number) if number else None)
        self._decode(group)
        self._paragraph(group)

    def _control(self, group: _Group, word: bytes, number: int | None) -> None:
        self._decode(group)
        if self.skip and len(word) > 1:
            self.skip -= 1  # a control word counts as one character for programs that do not know Unicode
        elif word == b"u" and number is not None:
            code = number % 65536
            self._add(group, from_font(code, _SYMBOL) if 0xF000 <= code < 0xF100 else chr(code))
            self.skip = group.skipped
        elif word in (b"result", b"shptxt"):  # what an object or a drawing shows
            group.apart = b""
        elif word in _APART or word == b"*":
            group.apart = group.apart or word
        elif word in (b"title", b"author") and group.apart == b"info" and word not in self.facts:
            group.apart = word
        elif word == b"footnote":
            group.apart = b"" if group.apart == b"*" else group.apart
            self.held.append(f"\x00{len(self.notes) + 1}\x00")
            group.around = len(self.notes), self.paragraphs, self.held
            self.notes.append("")
            self.paragraphs, self.held = [], []
        elif word == b"pict":
            self.pictures += 1
            group.apart = group.apart or word
        elif word == b"ansicpg" and number:
            self.page = f"cp{number}"
        elif word == b"f" and number is not None:
            group.font = number
        elif word == b"fcharset" and group.apart == b"fonttbl" and number in _CODE_PAGES:
            self.charsets[group.font] = _CODE_PAGES[number]
        elif word == b"uc":
            group.skipped = min(number or 0, 8)
        elif word in (b"super", b"up", b"sub", b"dn", b"nosupersub", b"plain"):
            group.raised = word if number != 0 and word in _RAISED else b""
        elif word == b"v":
            group.hidden = number != 0
        elif word == b"s" and number is not None:
            self.style = number
            group.level = self.styles.get(number, 0) if group.apart != b"stylesheet" else 0
        elif word == b"outlinelevel" and number is not None:
            group.level = number + 1 if 0 <= number < 6 else 0
            if group.apart == b"stylesheet":
                self.styles[self.style] = group.level
        elif word == b"pard":
            group.level, group.cell = 0, False
        elif word == b"intbl":
            group.cell = True
        elif word == b"par" and group.cell:
            self._add(group, " ")
        elif word in (b"par", b"sect", b"page", b"row", b"nestrow", b"\n", b"\r"):
            self._paragraph(group)
        else:
            self._add(group, _MARKS.get(word, word.decode("latin-1") if word in (b"{", b"}", b"\\") else ""))

    def _decode(self, group: _Group) -> None:
        """Adds the characters that were collected, in the code page of the current font."""
        if self.coded:
            page = self.charsets.get(group.font, self.page)
            if page == _SYMBOL:
                self._add(group, "".join(from_font(code, _SYMBOL) for code in self.coded).replace("\ufffd", "•"))
                self.coded.clear()
                return
            if page == "cp1252" and self.page not in _DOUBLE_BYTE:  # many programs write 0 for every font
                page = self.page
            try:
                text = self.coded.decode(page, "replace")
            except LookupError:
                text = self.coded.decode("cp1252", "replace")
            self.coded.clear()
            self._add(group, text)

    def _add(self, group: _Group, text: str) -> None:
        if group.apart in (b"title", b"author"):
            self.facts[group.apart] = self.facts.get(group.apart, "") + text
        elif group.apart == b"stylesheet":
            if found := _HEADING.match(text):
                self.styles[self.style] = int(found[1])
        elif not group.apart and not group.hidden:
            self.held.append(f"{_RAISED[group.raised]}{text}\x04" if group.raised and text else text)

    def _paragraph(self, group: _Group) -> None:
        if group.apart:
            return
        joined = "".join(self.held).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        joined = re.sub("\x04\x02|\x04\x03", "", joined)
        joined = re.sub(
            "([\x02\x03])([^\x04]*)\x04", lambda found: raise_text(found[2], up=found[1] == "\x02") or found[2], joined
        )
        text = escape(joined).strip().replace("\n", "<br/>")
        self.held.clear()
        text = re.sub("\x00(\\d+)\x00", lambda found: note_link(f"note-{found[1]}", found[1]), text)
        kind = f"h{group.level}" if group.level else "p"
        if "\x01" in text:
            cells = text.removesuffix("\x01").split("\x01")
            text, kind = tagged("tr", "".join(tagged("td", cell.strip()) for cell in cells)), "table"
        if text:
            self.paragraphs.append(f"<{kind}>{text}</{kind}>")

    def _end(self, group: _Group) -> None:
        """Puts a note that ends with this group beside the text."""
        if group.around:
            self._paragraph(group)
            at, paragraphs, held = group.around
            self.notes[at] = note_at(f"note-{at + 1}", "".join(self.paragraphs))
            self.paragraphs, self.held = paragraphs, held
