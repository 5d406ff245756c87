"""Opens a Word document (.docx): headings by style become sections; lists and verse keep their lines.

A table is one paragraph a row. Notes come last, with their references; hidden text is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from readagent_core.document import Document, Figure
from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.loaders import headings
from readagent_core.loaders.base import Limits, join_items
from readagent_core.loaders.builder import Builder, Note
from readagent_core.loaders.converted.saved_page import as_page
from readagent_core.loaders.docx.paragraph import RELATION, ParagraphReader, note_key
from readagent_core.loaders.docx.styles import Numbering, Styles, W, value
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.loader import read_fragment
from readagent_core.loaders.marks import without_marks
from readagent_core.loaders.metadata import clean_metadata
from readagent_core.loaders.office import Part, open_office
from readagent_core.words import count_of, count_words

_WRAPPERS = {W + n for n in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")}
_RULE = re.compile(r"^(?:[*_~=#·•—–⁂-]\s*){3,}$|^⁂$")
_NEEDED = ("styles", "numbering", "footnotes", "endnotes")  # parts without which text is lost or is in no order
_COPY = "Download or copy it again."


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Word file ``data``. Raises DocumentError."""
    part, about = open_office(data, limits)
    lost = [one.kind for one in part.relations.values() if one.kind in _NEEDED and not part.archive.find(one.target)]
    builder, shown = Builder(), Pictures(limits)
    if part.damaged or lost:
        builder.add_notice("mended", f"The file is damaged; what could be found in it was opened. {_COPY}")
    reading = _BodyReader(builder, part, shown)
    body = None if part.root is None else part.root.find(W + "body")
    if body is not None:
        reading.run(body)
    if not builder.paragraphs and (body is None or part.damaged):
        raise DamagedDocumentError(f"The text of this Word document is damaged or missing. {_COPY}")
    title, author = clean_metadata(about.title, about.author)
    title = title or reading.title
    document = builder.build(
        title=title, name=name, author=author, language=about.language, format="docx", limits=limits
    )
    return shown.add_to(document)


def _root(part: Part | None) -> Any:
    return None if part is None else part.root


class _BodyReader:
    """One pass over the body: the items of the current list, and the notes found so far."""

    def __init__(self, builder: Builder, part: Part, shown: Pictures) -> None:
        self.builder, self.part, self.marks = builder, part, builder.marks
        self.styles = Styles(_root(part.related("styles")))
        self.numbering = Numbering(_root(part.related("numbering")))
        dark = _root(part).find(W + "background") is not None
        self.reader = ParagraphReader(part, self.styles, shown, self.marks, dark=dark)
        self.captions: set[str] = set()
        self.title = ""  # of a paragraph in the style 'Title'
        self.items: list[str] = []  # of the current list
        self.anchored: dict[int, list[str]] = {}  # bookmarks at each piece
        self.initial = ""  # a drop cap, which begins the next paragraph
        self.lost_chunks = 0
        self.contents = 0  # words in tables of contents

    def run(self, body: Any) -> None:
        styled = any(self.styles.heading_level(p) for p in body.iter(W + "p"))
        pieces: list[tuple[int, str]] = []
        figures: list[tuple[int, Figure]] = []  # each with the number of pieces before it
        for element in _children(body):
            before = len(pieces)
            pieces += self._pieces(element)
            if len(pieces) > before and self.reader.anchors:
                self.anchored[before], self.reader.anchors = self.reader.anchors, []
            figures += [(len(pieces), figure) for figure in self.reader.figures]
            self.reader.figures.clear()
        pieces += self._end_list()
        if not pieces:  # the descriptions are all the text there is
            pieces = [(0, f"[{figure.alt}]") for _, figure in figures if figure.alt]

        def add_figures(before: int) -> None:
            while figures and figures[0][0] <= before:
                self.builder.add_figure(figures.pop(0)[1])

        if styled:
            for number, (level, text) in enumerate(pieces):
                add_figures(number)
                if level:
                    self.builder.add_anchors(self.anchored.get(number, ()))
                    self.builder.add_heading(text, level)
                else:
                    self._add_text(text, self.anchored.get(number, ()))
        else:  # look for headings like 'Chapter IV'
            blocks = [text.split("\n") for _, text in pieces]
            numbers = {id(block): number for number, block in enumerate(blocks)}
            found, contents = headings.find_headings([[without_marks(line) for line in block] for block in blocks])

            def add(block: Sequence[str]) -> None:
                add_figures(numbers[id(block)])
                self._add_text("\n".join(block), self.anchored.get(numbers[id(block)], ()))

            headings.add_blocks(self.builder, blocks, found, contents, add)
        add_figures(len(pieces))
        notes: list[Note] = []
        for kind, note in list(self.reader.noted):
            found_texts = self._note_texts(kind, note)
            notes += [Note(text, "", [note_key(kind, note)] * (at == 0)) for at, text in enumerate(found_texts)]
        self.builder.add_notes(notes)
        if self.lost_chunks:
            self.builder.add_notice(
                "parts-left-out",
                f"{count_of(self.lost_chunks, 'document')} within this one could not be read and "
                f"{'is' if self.lost_chunks == 1 else 'are'} left out. Save it again in Word to make them part of it.",
                self.lost_chunks,
            )
        self.builder.note_hidden(self.reader.hidden)
        if self.contents:
            message = (
                f"The document's own table of contents ({self.contents:,} words) was left out: the sections say it."
            )
            self.builder.add_notice("contents", message, self.contents)

    def _add_text(self, text: str, anchors: Sequence[str] = ()) -> None:
        if _RULE.match(text):
            self.builder.add_anchors(anchors)
            self.builder.add_scene_break()
        else:
            self.builder.add_paragraph(text, caption=text in self.captions, anchors=anchors)

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
        elif element.tag == W + "altChunk":
            yield from self._chunk(element)
        elif element.tag == W + "bookmarkStart":
            self.reader.anchors.append(f"#{value(element, 'name')}")
        elif element.tag == W + "sectPr":
            yield from self._boxed()

    def _chunk(self, element: Any) -> Iterator[tuple[int, str]]:
        """Yields the text of a document of another kind that was put into this one (HTML, text, another Word file)."""
        data = self.part.data(self.part.inside(element.get(RELATION + "id") or ""), self.part.limits.file)
        if data.startswith(b"PK"):
            try:
                body = _root(open_office(data, self.part.limits)[0])
                body = None if body is None else body.find(W + "body")
            except DocumentError:
                body = None
            for child in _children(body) if body is not None else ():
                yield from self._pieces(child)
        elif data and not data.startswith(b"{\\rtf") and (blocks := read_fragment(as_page(data), self.builder)):
            for block in blocks:
                yield (block.level if block.kind == "heading" else 0), block.text
        else:
            self.lost_chunks += 1

    def _paragraph(self, paragraph: Any) -> Iterator[tuple[int, str]]:
        text = self.reader.text(paragraph)
        frame = paragraph.find(f"{W}pPr/{W}framePr")
        if value(frame, "dropCap") in ("drop", "margin"):
            self.initial += text
            return
        if self.initial and text:
            first = next((t.text or "" for t in paragraph.iter(W + "t") if t.text), "")
            text, self.initial = self.initial + " " * first.startswith(" ") + text, ""
        if self.styles.is_contents(paragraph):
            self.contents += count_words(text)
            return
        level = self.styles.heading_level(paragraph)
        if level and text:
            if self.styles.name(paragraph) == "title":
                self.title = self.title or " ".join(without_marks(text).split())
            yield level, self._heading_number(paragraph) + text
        elif text:
            if self.styles.name(paragraph) == "caption":
                self.captions.add(text)
            yield from ((0, piece) for piece in re.split(r"\n{2,}", text))
        elif paragraph.find(f"{W}pPr/{W}pBdr/{W}bottom") is not None:
            yield 0, "* * *"  # Word turns three stars or dashes into a line under an empty paragraph
        yield from self._boxed()

    def _boxed(self) -> Iterator[tuple[int, str]]:
        """Yields the text boxes that are anchored in the last paragraph."""
        boxes, self.reader.boxes = self.reader.boxes, []
        for box in boxes:
            for element in _children(box):
                yield from self._pieces(element)
            yield from self._end_list()

    def _in_list(self, paragraph: Any) -> bool:
        """Returns whether ``paragraph`` is an item of a list, whose line is then added to the current list."""
        if self.styles.heading_level(paragraph):
            return False
        place = self.styles.list_place(paragraph)
        if place is None:
            return False
        depth = self.numbering.depth(*place)
        mark = self.numbering.next_mark(place[0], depth)
        if mark is None:
            return False
        text = " ".join(self.reader.text(paragraph).split())
        if text:
            self.items.append("  " * depth + mark + text)
        return True

    def _heading_number(self, paragraph: Any) -> str:
        """Returns the number that Word writes before a heading, such as 'Article 2. '; '' for one without."""
        place = self.styles.list_place(paragraph)
        return (place and self.numbering.next_mark(place[0], self.numbering.depth(*place))) or ""

    def _end_list(self) -> Iterator[tuple[int, str]]:
        items, self.items = self.items, []
        yield from ((0, text) for text in join_items(items))

    def _table(self, table: Any) -> Iterator[tuple[int, str]]:
        """Yields a table row by row, with tabs between cells; a row that only lays out a page, cell by cell."""
        for row in _children(table):
            cells = [list(_children(cell)) for cell in _children(row) if cell.tag == W + "tc"]
            if len(cells) > 1 and not any(map(_is_laid_out, cells)):
                line = "\t".join(" ".join(" ".join(self.reader.text(p) for p in cell).split()) for cell in cells)
                if line.strip():
                    yield 0, line.rstrip("\t")
                continue
            for cell in cells:
                for element in cell:
                    yield from self._pieces(element)
                yield from self._end_list()
        yield from self._boxed()

    def _note_texts(self, kind: str, number: str) -> list[str]:
        tree = _root(self.part.related(kind))
        notes = () if tree is None else tree
        texts = [self.reader.text(p) for note in notes if value(note, "id") == number for p in note.iter(W + "p")]
        return [text for text in texts if text]


def _is_laid_out(cell: list[Any]) -> bool:
    """Returns whether a cell has a table or more than two paragraphs: it is part of a page, no entry of a table."""
    said = sum(e.tag == W + "p" and any(t.text for t in e.iter(W + "t")) for e in cell)
    return said > 2 or any(e.tag == W + "tbl" for e in cell)


def _children(element: Any) -> Iterator[Any]:
    """Yields the paragraphs, tables, rows or cells in ``element``, also those in controls and tracked insertions.

    The XML parser limits how deep these can nest.
    """
    for child in element:
        if child.tag in _WRAPPERS:
            yield from _children(child)
        elif isinstance(child.tag, str):
            yield child
