"""A Word document (.docx): headings by their style are sections; lists, tables and verse keep their lines; notes last.

python-docx opens the package, after the archive was checked as every archive is; the text is then taken from the
XML in order, so that nothing it has no object for (links, tracked changes, text boxes, content controls) is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.package import Package

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError
from readagent_core.loaders import headings
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Builder, Limits
from readagent_core.loaders.docx_styles import Numbering, Styles, W, value
from readagent_core.words import count_words

_LONG = 240  # characters of a list's item that is a paragraph rather than a line
_WRAPPERS = {W + n for n in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")}
_UNSAID = {W + n for n in ("del", "moveFrom", "rt", "pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "trPr", "tcPr")}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_ALTERNATIVE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_BOX = W + "txbxContent"
_RULE = re.compile(r"^(?:[*_~=#·•—–⁂-]\s*){3,}$|^⁂$")
_NO_PICTURE_TEXT = re.compile(
    r"^[\w./ -]+\.(?:jpe?g|png|gif|svg|webp|emf|wmf)$|^\W*$|^(?:image|picture|img)\s*\d*$", re.I
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-\w+)*")
_NOTES = {W + "footnoteReference": RELATIONSHIP_TYPE.FOOTNOTES, W + "endnoteReference": RELATIONSHIP_TYPE.ENDNOTES}


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """The document in the Word file ``data``."""
    Archive(data, limits)
    try:
        package = Package.open(BytesIO(data))
        part = package.main_document_part
    except KeyError:
        raise DamagedDocumentError(
            "A part of this Word document is missing, or it was saved as 'Strict Open XML', which cannot be read "
            "here. Nothing was opened. Save it again as an ordinary .docx file, or copy it again."
        ) from None
    builder = Builder()
    body = _tree(part).find(W + "body")
    reading = _Reading(builder, part)
    if body is not None:
        reading.run(body)
    title, author, language = _facts(package)
    return builder.document(
        title=title or reading.title or name,
        author=author,
        language=language,
        format="docx",
        limits=limits,
    )


def _facts(package: Any) -> tuple[str, str, str]:
    """Title, author and language as the file says them; python-docx invents some where the file has none."""
    if all(relation.reltype != RELATIONSHIP_TYPE.CORE_PROPERTIES for relation in package.rels.values()):
        return "", "", ""
    facts = package.core_properties
    title, author, language = (str(said or "").strip() for said in (facts.title, facts.author, facts.language))
    return (
        "" if title.startswith("Microsoft Word - ") else title,
        "" if author == "python-docx" else author,
        language if _LANGUAGE.fullmatch(language) else "",
    )


def _tree(part: Any) -> Any:
    """The XML of a part; python-docx keeps it for those kinds it knows, not for one with macros."""
    return part.element if hasattr(part, "element") else parse_xml(part.blob)


def _related(part: Any, kind: str) -> Any:
    """The XML of the part that ``part`` names as its ``kind``; None where there is none."""
    for relation in part.rels.values():
        if relation.reltype == kind and not relation.is_external:
            return _tree(relation.target_part)
    return None


class _Reading:
    """One pass over the body: what is held of the list under way, and the notes that were met."""

    def __init__(self, builder: Builder, part: Any) -> None:
        self.builder = builder
        self.part = part
        self.styles = Styles(_related(part, RELATIONSHIP_TYPE.STYLES))
        self.numbering = Numbering(_related(part, RELATIONSHIP_TYPE.NUMBERING))
        self.title = ""  # said by a paragraph in the style 'Title'
        self.items: list[str] = []  # of the list under way
        self.plain: list[str] = []  # paragraphs that wait until it is known whether the file has headings
        self.noted: list[tuple[str, str]] = []
        self.boxes: list[Any] = []
        self.contents = 0  # words of tables of contents

    def run(self, body: Any) -> None:
        styled = any(self.styles.level(p) for p in body.iter(W + "p"))
        pieces = [piece for element in _children(body) for piece in self._pieces(element)]
        self._write(pieces if styled else _with_chapters(pieces))
        notes = [text for kind, number in self.noted for text in self._note(kind, number)]
        if notes:
            self.builder.heading("Notes", 1)
            for text in notes:
                self.builder.paragraph(text)
        if self.contents:
            self.builder.notice(
                "contents",
                f"The document's own table of contents ({self.contents:,} words) was left out: the sections say it.",
                self.contents,
            )

    def _write(self, pieces: list[tuple[int, str]]) -> None:
        for level, text in pieces:
            if level:
                self.builder.heading(text, level)
            elif _RULE.match(text):
                self.builder.rule()
            else:
                self.builder.paragraph(text)

    def _pieces(self, element: Any) -> Iterator[tuple[int, str]]:
        """(heading level or 0, text) of what stands in ``element`` and of the list that ends before it."""
        if element.tag == W + "p" and self._in_list(element):
            yield from self._boxed()
            return
        yield from self._end_list()
        if element.tag == W + "p":
            yield from self._paragraph(element)
        elif element.tag == W + "tbl":
            yield from self._table(element)
        elif element.tag == W + "sectPr":
            yield from self._boxed()

    def _paragraph(self, paragraph: Any) -> Iterator[tuple[int, str]]:
        text = self.text(paragraph)
        if self.styles.is_contents(paragraph):
            self.contents += count_words(text)
            return
        level = self.styles.level(paragraph)
        if level and text:
            if self.styles.is_title(paragraph):
                self.title = self.title or " ".join(text.split())
            yield level, text
        elif text:
            yield from ((0, piece) for piece in re.split(r"\n{2,}", text))
        elif paragraph.find(f"{W}pPr/{W}pBdr/{W}bottom") is not None:
            yield 0, "* * *"  # what Word makes of three stars or dashes: a line under an empty paragraph
        yield from self._boxed()

    def _boxed(self) -> Iterator[tuple[int, str]]:
        """Text boxes stand after the paragraph they are fixed to."""
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            for element in _children(box):
                yield from self._pieces(element)
            yield from self._end_list()

    def _in_list(self, paragraph: Any) -> bool:
        """Whether ``paragraph`` is an item of a list; its line is then held."""
        if self.styles.level(paragraph):
            return False
        place = self.styles.numbered(paragraph)
        mark = self.numbering.mark(*place) if place else None
        if place is None or mark is None:
            return False
        text = " ".join(self.text(paragraph).split())
        if text:
            self.items.append("  " * place[1] + mark + text)
        return True

    def _end_list(self) -> Iterator[tuple[int, str]]:
        items, self.items = self.items, []
        if any(len(item) > _LONG for item in items):
            yield from ((0, item.strip()) for item in items)
        elif items:
            yield 0, "\n".join(items)

    def _table(self, table: Any) -> Iterator[tuple[int, str]]:
        """A line a row, cells parted by tabs; one that only lays out a page is read cell by cell."""
        rows = [[list(_children(cell)) for cell in _children(row) if cell.tag == W + "tc"] for row in _children(table)]
        cells = [cell for row in rows for cell in row]
        laid_out = any(element.tag == W + "tbl" for cell in cells for element in cell) or any(
            sum(1 for e in cell if e.tag == W + "p" and any(t.text for t in e.iter(W + "t"))) > 2 for cell in cells
        )
        if laid_out or all(len(row) < 2 for row in rows):
            for cell in cells:
                for element in cell:
                    yield from self._pieces(element)
                yield from self._end_list()
            return
        lines = ["\t".join(" ".join(" ".join(self.text(p) for p in cell).split()) for cell in row) for row in rows]
        text = "\n".join(line.rstrip("\t") for line in lines if line.strip())
        if text:
            yield 0, text
        yield from self._boxed()

    def text(self, paragraph: Any) -> str:
        """What a paragraph says: without what was deleted, ruby, field codes and markers of notes."""
        found: list[str] = []
        stack: list[Iterator[Any]] = [iter(paragraph)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif child.tag == W + "t" or child.tag == _MATH_TEXT:
                found.append((child.text or "").replace("\n", " "))
            elif child.tag == W + "tab":
                found.append(" ")
            elif child.tag == W + "cr" or (child.tag == W + "br" and value(child, "type") in ("", "textWrapping")):
                found.append("\n")
            elif child.tag == W + "noBreakHyphen":
                found.append("-")
            elif child.tag == _ALTERNATIVE:
                told = " ".join((child.get("descr") or "").split())
                found.append("" if _NO_PICTURE_TEXT.match(told) else f"[{told}]")
            elif child.tag in _NOTES:
                self.noted.append((_NOTES[child.tag], value(child, "id")))
            elif child.tag == _BOX:
                self.boxes.append(child)
            elif child.tag not in _UNSAID and child.tag != _FALLBACK:
                stack.append(iter(child))
        return re.sub(r" *\n *", "\n", re.sub(r"[ \u00a0]+", " ", "".join(found))).strip()

    def _note(self, kind: str, number: str) -> list[str]:
        tree = _related(self.part, kind)
        notes = () if tree is None else tree
        texts = [self.text(p) for note in notes if value(note, "id") == number for p in note.iter(W + "p")]
        return [text for text in texts if text]


def _children(element: Any) -> Iterator[Any]:
    """The paragraphs, tables, rows or cells in ``element``, also those in controls and tracked insertions.

    The XML parser bounds how deep these can nest.
    """
    for child in element:
        if child.tag in _WRAPPERS:
            yield from _children(child)
        elif isinstance(child.tag, str):
            yield child


def _with_chapters(pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """A file without heading styles may still say 'Chapter IV', as a text file does."""
    found, contents = headings.find([text.split("\n") for _, text in pieces])
    told: list[tuple[int, str]] = []
    skip = 0
    for i, piece in enumerate(pieces):
        if skip:
            skip -= 1
        elif i in found:
            told.append((found[i].rank if found[i].rank < 3 else 1, found[i].title))
            skip = found[i].used - 1
        elif i in contents and i - 1 in contents and told and not told[-1][0]:
            told[-1] = (0, f"{told[-1][1]}\n{piece[1]}")
        else:
            told.append(piece)
    return told
