"""Opens a Word document (.docx): headings by style become sections; lists and verse keep their lines.

A table is one paragraph a row. Notes come last; hidden text is left out. python-docx opens the package after the
archive was checked. The text is read from the XML itself, because python-docx has no objects for links, tracked
changes, text boxes and content controls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.package import Package

from readagent_core.document import Document, Figure
from readagent_core.errors import DamagedDocumentError
from readagent_core.loaders import headings
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Builder, Limits, Note, join_items, raise_text
from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.docx.styles import Numbering, Styles, W, value
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.metadata import clean_metadata
from readagent_core.words import count_words

_WRAPPERS = {W + n for n in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")}
_UNSAID = {W + n for n in ("del", "moveFrom", "rt", "pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "trPr", "tcPr")}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_ALTERNATIVE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"
_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_BOX = W + "txbxContent"
_RULE = re.compile(r"^(?:[*_~=#·•—–⁂-]\s*){3,}$|^⁂$")
_NOTES = {W + "footnoteReference": RELATIONSHIP_TYPE.FOOTNOTES, W + "endnoteReference": RELATIONSHIP_TYPE.ENDNOTES}


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Word file ``data``. Raises DocumentError."""
    Archive(data, limits)
    try:
        package = Package.open(BytesIO(data))
        part = package.main_document_part
    except KeyError as error:
        raise DamagedDocumentError(
            f"A part of this Word document is missing ({error.args[0] if error.args else 'without a name'}), or it was "
            "saved as 'Strict Open XML', which cannot be read here. Nothing was opened. Save it again as an ordinary "
            ".docx file, or copy it again."
        ) from None
    builder = Builder()
    body = _tree(part).find(W + "body")
    shown = Pictures(limits)
    reading = _BodyReader(builder, part, shown)
    if body is not None:
        reading.run(body)
    title, author, language = _read_metadata(package)
    title = title or reading.title or name
    document = builder.build(title=title, author=author, language=language, format="docx", limits=limits)
    return shown.add_to(document)


def _read_metadata(package: Any) -> tuple[str, str, str]:
    """Returns title, author and language of the file, without the ones that programs make up."""
    if all(relation.reltype != RELATIONSHIP_TYPE.CORE_PROPERTIES for relation in package.rels.values()):
        return "", "", ""
    facts = package.core_properties
    title, author, language = (str(fact or "") for fact in (facts.title, facts.author, facts.language))
    return (*clean_metadata(title, author), language)


def _tree(part: Any) -> Any:
    """Returns the XML of a part. python-docx has parsed it for the types it knows, not for a file with macros."""
    return part.element if hasattr(part, "element") else parse_xml(part.blob)


def _related(part: Any, kind: str) -> Any:
    """Returns the XML of the part that is related to ``part`` as ``kind``; None where there is none."""
    for relation in part.rels.values():
        if relation.reltype == kind and not relation.is_external:
            return _tree(relation.target_part)
    return None


class _BodyReader:
    """One pass over the body: the items of the current list, and the notes found so far."""

    def __init__(self, builder: Builder, part: Any, shown: Pictures) -> None:
        self.builder = builder
        self.part = part
        self.shown = shown
        self.figures: list[Figure] = []  # in the element that is read
        self.captions: set[str] = set()
        self.styles = Styles(_related(part, RELATIONSHIP_TYPE.STYLES))
        self.numbering = Numbering(_related(part, RELATIONSHIP_TYPE.NUMBERING))
        self.title = ""  # of a paragraph in the style 'Title'
        self.items: list[str] = []  # of the current list
        self.noted: list[tuple[str, str]] = []
        self.boxes: list[Any] = []
        self.contents = 0  # words in tables of contents
        self.hidden = 0  # words that Word does not show
        self.dark = part.element.find(W + "background") is not None if hasattr(part, "element") else False

    def run(self, body: Any) -> None:
        styled = any(self.styles.heading_level(p) for p in body.iter(W + "p"))
        pieces: list[tuple[int, str]] = []
        figures: list[tuple[int, Figure]] = []  # each with the number of pieces before it
        for element in _children(body):
            pieces += self._pieces(element)
            figures += [(len(pieces), figure) for figure in self.figures]
            self.figures.clear()
        if not pieces:  # the descriptions are all the text there is
            pieces = [(0, f"[{figure.alt}]") for _, figure in figures if figure.alt]

        def add_figures(before: int) -> None:
            while figures and figures[0][0] <= before:
                self.builder.add_figure(figures.pop(0)[1])

        if styled:
            for number, (level, text) in enumerate(pieces):
                add_figures(number)
                if level:
                    self.builder.add_heading(text, level)
                else:
                    self._add_text(text)
        else:  # look for headings like 'Chapter IV'
            blocks = [text.split("\n") for _, text in pieces]
            numbers = {id(block): number for number, block in enumerate(blocks)}
            found, contents = headings.find_headings(blocks)

            def add(block: Sequence[str]) -> None:
                add_figures(numbers[id(block)])
                self._add_text("\n".join(block))

            headings.add_blocks(self.builder, blocks, found, contents, add)
        add_figures(len(pieces))
        self.builder.add_notes([Note(text) for note in self.noted for text in self._note_texts(*note)])
        self.builder.note_hidden(self.hidden)
        if self.contents:
            self.builder.add_notice(
                "contents",
                f"The document's own table of contents ({self.contents:,} words) was left out: the sections say it.",
                self.contents,
            )

    def _add_text(self, text: str) -> None:
        if _RULE.match(text):
            self.builder.add_scene_break()
        else:
            self.builder.add_paragraph(text, caption=text in self.captions)

    def _pieces(self, element: Any) -> Iterator[tuple[int, str]]:
        """Yields (heading level or 0, text) for ``element`` and for the list that ends before it."""
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
        text = self.paragraph_text(paragraph)
        if self.styles.is_contents(paragraph):
            self.contents += count_words(text)
            return
        level = self.styles.heading_level(paragraph)
        if level and text:
            if self.styles.name(paragraph) == "title":
                self.title = self.title or " ".join(text.split())
            yield level, text
        elif text:
            if self.styles.name(paragraph) == "caption":
                self.captions.add(text)
            yield from ((0, piece) for piece in re.split(r"\n{2,}", text))
        elif paragraph.find(f"{W}pPr/{W}pBdr/{W}bottom") is not None:
            yield 0, "* * *"  # Word turns three stars or dashes into a line under an empty paragraph
        yield from self._boxed()

    def _boxed(self) -> Iterator[tuple[int, str]]:
        """Yields the text boxes that are anchored in the last paragraph."""
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            for element in _children(box):
                yield from self._pieces(element)
            yield from self._end_list()

    def _in_list(self, paragraph: Any) -> bool:
        """Returns whether ``paragraph`` is an item of a list, whose line is then added to the current list."""
        if self.styles.heading_level(paragraph):
            return False
        place = self.styles.list_place(paragraph)
        mark = self.numbering.next_mark(*place) if place else None
        if place is None or mark is None:
            return False
        text = " ".join(self.paragraph_text(paragraph).split())
        if text:
            self.items.append("  " * place[1] + mark + text)
        return True

    def _end_list(self) -> Iterator[tuple[int, str]]:
        items, self.items = self.items, []
        yield from ((0, text) for text in join_items(items))

    def _table(self, table: Any) -> Iterator[tuple[int, str]]:
        """Yields a table row by row, with tabs between cells; a table that only lays out a page, cell by cell."""
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
        for row in rows:
            line = "\t".join(" ".join(" ".join(self.paragraph_text(p) for p in cell).split()) for cell in row)
            if line.strip():
                yield 0, line.rstrip("\t")
        yield from self._boxed()

    def paragraph_text(self, paragraph: Any) -> str:
        """Returns the text of a paragraph without deletions, ruby, field codes and markers of notes."""
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
                found.append(self._picture(child.getparent(), child.get("descr") or ""))
            elif child.tag == _IMAGE_DATA:
                found.append(self._picture(child.getparent(), child.get(_OFFICE + "title") or ""))
            elif child.tag in _NOTES:
                self.noted.append((_NOTES[child.tag], value(child, "id")))
            elif child.tag == _BOX:
                self.boxes.append(child)
            elif child.tag == W + "r" and self._is_hidden(child, paragraph):
                self.hidden += count_words(_run_text(child))
            elif child.tag == W + "r" and (raised := _raised_text(child)):
                found.append(raised)
            elif child.tag not in _UNSAID and child.tag != _FALLBACK:
                stack.append(iter(child))
        return re.sub(r" *\n *", "\n", re.sub(r"[ \u00a0]+", " ", "".join(found))).strip()

    def _picture(self, holder: Any, alt: str) -> str:
        """Takes the picture in ``holder`` as a figure, or returns its description where it is not shown."""
        for child in holder.iter(_BLIP, _IMAGE_DATA):
            relation = self.part.rels.get(child.get(_RELATION + "embed") or child.get(_RELATION + "id") or "")
            if relation is None or relation.is_external:
                self.shown.leave_out("elsewhere")
                continue
            target = relation.target_part
            figure = self.shown.add(str(target.partname), partial(getattr, target, "blob"), alt)
            if figure is not None:
                self.figures.append(figure)
                return ""
        return bracket_description(alt)

    def _is_hidden(self, run: Any, paragraph: Any) -> bool:
        """Returns whether a run is hidden, or white where nothing says that its background is another colour."""
        settings = run.find(W + "rPr")
        if settings is None:
            return False
        vanish = settings.find(W + "vanish")
        if vanish is not None and value(vanish) not in ("0", "false"):
            return True
        if self.dark or value(settings.find(W + "color")).upper() != "FFFFFF":
            return False
        shaded = any(settings.find(W + name) is not None for name in ("shd", "highlight"))
        shaded |= any(
            holder.find(f"{W}pPr/{W}shd") is not None for holder in (paragraph, *self.styles.chain(paragraph))
        )
        return not shaded and all(holder.tag not in (W + "tc", _BOX) for holder in paragraph.iterancestors())

    def _note_texts(self, kind: str, number: str) -> list[str]:
        tree = _related(self.part, kind)
        notes = () if tree is None else tree
        texts = [self.paragraph_text(p) for note in notes if value(note, "id") == number for p in note.iter(W + "p")]
        return [text for text in texts if text]


def _run_text(run: Any) -> str:
    return "".join(piece.text or "" for piece in run.iter(W + "t"))


def _raised_text(run: Any) -> str:
    """Returns the digits of a superscript or subscript run as raised or lowered characters; '' for another run."""
    kind = value(run.find(f"{W}rPr/{W}vertAlign"))
    text = _run_text(run).strip()
    return raise_text(text, up=kind == "superscript") if text and kind in ("superscript", "subscript") else ""


def _children(element: Any) -> Iterator[Any]:
    """Yields the paragraphs, tables, rows or cells in ``element``, also those in controls and tracked insertions.

    The XML parser limits how deep these can nest.
    """
    for child in element:
        if child.tag in _WRAPPERS:
            yield from _children(child)
        elif isinstance(child.tag, str):
            yield child
