"""Opens a Word document (.docx): headings by style become sections; lists and verse keep their lines.

A table is one paragraph a row. Notes come last, with their references; hidden text is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from readagent_core.document import Document, Figure, SpanKind, is_outside_address
from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.loaders import headings
from readagent_core.loaders.base import Builder, Limits, Note, join_items
from readagent_core.loaders.converted.saved_page import as_page
from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.docx.styles import Numbering, Styles, W, value
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.loader import read_fragment
from readagent_core.loaders.html.marking import format_number
from readagent_core.loaders.marks import CLOSE, Marks, without_marks
from readagent_core.loaders.maths import formula_line, parse_omml, raise_text, safe_mathml
from readagent_core.loaders.metadata import clean_metadata
from readagent_core.loaders.office import Part, chart_rows, diagram_texts, open_office
from readagent_core.loaders.symbols import from_font, text_in_font
from readagent_core.words import count_of, count_words

_WRAPPERS = {W + n for n in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")}
_UNSAID = {W + n for n in ("del", "moveFrom", "rt", "pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "trPr", "tcPr")}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_ALTERNATIVE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"
_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_EQUATION = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_BOX = W + "txbxContent"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_FIELD_LINK = re.compile(r'^\s*HYPERLINK\s+(?:"([^"]+)"\s*)?(?:\\l\s+"([^"]+)")?')
_HEX = re.compile(r"[0-9A-Fa-f]{1,6}")
_PAGE_BREAKS = ("page", "column")
_RULE = re.compile(r"^(?:[*_~=#·•—–⁂-]\s*){3,}$|^⁂$")
_NEEDED = ("styles", "numbering", "footnotes", "endnotes")  # parts without which text is lost or is in no order
_COPY = "Download or copy it again."
_NOTES = {W + "footnoteReference": "footnotes", W + "endnoteReference": "endnotes"}


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
        raise DamagedDocumentError(f"The text of this Word document is damaged or missing. Nothing was opened. {_COPY}")
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
        self.builder = builder
        self.part = part
        self.shown = shown
        self.figures: list[Figure] = []  # in the element that is read
        self.captions: set[str] = set()
        self.styles = Styles(_root(part.related("styles")))
        self.numbering = Numbering(_root(part.related("numbering")))
        self.title = ""  # of a paragraph in the style 'Title'
        self.items: list[str] = []  # of the current list
        self.marks: Marks = builder.marks
        self.noted: dict[tuple[str, str], str] = {}  # kind and number of each note that is referred to, with its sign
        self.anchors: list[str] = []  # bookmarks since the last piece
        self.anchored: dict[int, list[str]] = {}  # those at each piece
        self.initial = ""  # a drop cap, which begins the next paragraph
        self.field: list[str] = []  # the codes of the fields that are open
        self.lost_chunks = 0
        self.boxes: list[Any] = []
        self.contents = 0  # words in tables of contents
        self.hidden = 0  # words that Word does not show
        self.dark = _root(part).find(W + "background") is not None

    def run(self, body: Any) -> None:
        styled = any(self.styles.heading_level(p) for p in body.iter(W + "p"))
        pieces: list[tuple[int, str]] = []
        figures: list[tuple[int, Figure]] = []  # each with the number of pieces before it
        for element in _children(body):
            before = len(pieces)
            pieces += self._pieces(element)
            if len(pieces) > before and self.anchors:
                self.anchored[before], self.anchors = self.anchors, []
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
        for kind, note in list(self.noted):
            found_texts = self._note_texts(kind, note)
            notes += [Note(text, "", [_note_key(kind, note)] * (at == 0)) for at, text in enumerate(found_texts)]
        self.builder.add_notes(notes)
        if self.lost_chunks:
            self.builder.add_notice(
                "parts-left-out",
                f"{count_of(self.lost_chunks, 'document')} within this one could not be read and "
                f"{'is' if self.lost_chunks == 1 else 'are'} left out. Save it again in Word to make them part of it.",
                self.lost_chunks,
            )
        self.builder.note_hidden(self.hidden)
        if self.contents:
            self.builder.add_notice(
                "contents",
                f"The document's own table of contents ({self.contents:,} words) was left out: the sections say it.",
                self.contents,
            )

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
            self.anchors.append(f"#{value(element, 'name')}")
        elif element.tag == W + "sectPr":
            yield from self._boxed()

    def _chunk(self, element: Any) -> Iterator[tuple[int, str]]:
        """Yields the text of a document of another kind that was put into this one (HTML, text, another Word file)."""
        data = self.part.data(self.part.inside(element.get(_RELATION + "id") or ""), self.part.limits.file)
        if data.startswith(b"PK"):
            try:
                body = _root(open_office(data, self.part.limits)[0])
                body = None if body is None else body.find(W + "body")
            except DocumentError:
                body = None
            for child in _children(body) if body is not None else ():
                yield from self._pieces(child)
        elif data and not data.startswith(b"{\\rtf") and (blocks := read_fragment(as_page(data), self.marks)):
            for block in blocks:
                yield (block.level if block.kind == "heading" else 0), block.text
        else:
            self.lost_chunks += 1

    def _paragraph(self, paragraph: Any) -> Iterator[tuple[int, str]]:
        text = self.paragraph_text(paragraph)
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
        if place is None:
            return False
        depth = self.numbering.depth(*place)
        mark = self.numbering.next_mark(place[0], depth)
        if mark is None:
            return False
        text = " ".join(self.paragraph_text(paragraph).split())
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
        """Returns the text of a paragraph without deletions, field codes and the signs of notes, with its marks."""
        found: list[str] = []
        stack: list[tuple[Iterator[Any], str]] = [(iter(paragraph), "")]  # with what ends each element
        self.field.clear()
        while stack:
            child = next(stack[-1][0], None)
            if child is None:
                found.append(stack.pop()[1])
                continue
            tag = child.tag
            if tag == W + "t":
                found.append(text_in_font((child.text or "").replace("\n", " "), _font(child.getparent())))
            elif tag == _EQUATION:
                math = parse_omml(child)
                line = formula_line(math)
                found.append(self.marks.mark(SpanKind.FORMULA, line, safe_mathml(math)) if line else "")
            elif tag == W + "sym":
                code = value(child, "char")
                found.append(from_font(int(code, 16), value(child, "font")) if _HEX.fullmatch(code) else "\ufffd")
            elif tag == W + "tab":
                found.append(" ")
            elif tag == W + "br" and value(child, "type") in _PAGE_BREAKS:
                found.append("\n\n")
            elif tag == W + "cr" or (tag == W + "br" and value(child, "type") in ("", "textWrapping")):
                found.append("\n")
            elif tag == W + "noBreakHyphen":
                found.append("-")
            elif tag == W + "ruby":
                base, reading = (_run_text(child.find(W + name)) for name in ("rubyBase", "rt"))
                found.append(self.marks.mark(SpanKind.RUBY, base, reading) if base and reading else base)
            elif tag == _ALTERNATIVE:
                found.append(self._picture(child.getparent(), child.get("descr") or ""))
            elif tag == _IMAGE_DATA:
                found.append(self._picture(child.getparent(), child.get(_OFFICE + "title") or ""))
            elif tag in _NOTES:
                found.append(self._note_mark(_NOTES[tag], value(child, "id")))
            elif tag == W + "bookmarkStart":
                self.anchors.append(f"#{value(child, 'name')}")
            elif tag == W + "fldChar":
                found.append(self._field_mark(child))
            elif tag == W + "instrText" and self.field:
                self.field[-1] += child.text or ""
            elif tag == _BOX:
                self.boxes.append(child)
            elif tag in (_DIAGRAM, _CHART):
                chart = ["\t".join(row) for row in chart_rows(child, self.part)] if tag == _CHART else []
                found.append("\n" + "\n".join(chart or diagram_texts(child, self.part)))
            elif tag == W + "r" and self._is_hidden(child, paragraph):
                self.hidden += count_words(_run_text(child))
            elif tag == W + "r" and (raised := _raised_text(child)):
                found.append(raised)
            elif tag == W + "hyperlink":
                opening = self._link(child)
                found.append(opening)
                stack.append((iter(child), CLOSE * bool(opening)))
            elif tag not in _UNSAID and tag != _FALLBACK:
                stack.append((iter(child), ""))
        found += [CLOSE for code in self.field if code.startswith("\x00")]
        return re.sub(r" *\n *", "\n", re.sub(r"[ \u00a0]+", " ", "".join(found))).strip()

    def _note_mark(self, kind: str, number: str) -> str:
        """Returns the mark of a reference to a note, and notes that it is to be read."""
        if (kind, number) not in self.noted:
            count = 1 + sum(1 for other, _ in self.noted if other == kind)
            self.noted[kind, number] = format_number(count, "1" if kind == "footnotes" else "i")
        return self.marks.mark(SpanKind.NOTE, "", self.noted[kind, number], _note_key(kind, number))

    def _link(self, element: Any) -> str:
        """Returns the mark that opens a link; '' for one that leads nowhere."""
        relation = self.part.relations.get(element.get(_RELATION + "id") or "")
        address = relation.target if relation is not None and relation.outside else ""
        return self._open_link(address, value(element, "anchor"))

    def _open_link(self, address: str, anchor: str) -> str:
        if is_outside_address(address):
            return self.marks.opening(SpanKind.LINK, f"{address}#{anchor}" if anchor else address)
        return self.marks.opening(SpanKind.LINK, "", f"#{anchor}") if anchor and not address else ""

    def _field_mark(self, element: Any) -> str:
        """Returns what a field adds to the text: the mark of a link, or the state of a form's box or list."""
        kind, box = value(element, "fldCharType"), element.find(f"{W}ffData/{W}checkBox")
        choice = element.find(f"{W}ffData/{W}ddList")
        if kind == "begin":
            self.field.append("")
            if box is not None:
                state = box.find(W + "checked")
                state = box.find(W + "default") if state is None else state
                return "☒" if state is not None and value(state) not in ("0", "false") else "☐"
            if choice is not None:
                entries = [value(entry) for entry in choice.iter(W + "listEntry")]
                at = value(choice.find(W + "result")) or value(choice.find(W + "default")) or "0"
                return entries[int(at)] if at.isdecimal() and int(at) < len(entries) else ""
        elif kind == "separate" and self.field:
            link = _FIELD_LINK.match(self.field[-1])
            opening = self._open_link(link.group(1) or "", link.group(2) or "") if link else ""
            self.field[-1] = "\x00" * bool(opening)
            return opening
        elif kind == "end" and self.field:
            return CLOSE if self.field.pop().startswith("\x00") else ""
        return ""

    def _picture(self, holder: Any, alt: str) -> str:
        """Takes the picture in ``holder`` as a figure, or returns its description where it is not shown."""
        for child in holder.iter(_BLIP, _IMAGE_DATA):
            name = self.part.inside(child.get(_RELATION + "embed") or child.get(_RELATION + "id") or "")
            if not name:
                self.shown.leave_out("elsewhere")
                continue
            figure = self.shown.add(name, partial(self.part.data, name, self.part.limits.picture_bytes), alt)
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
        tree = _root(self.part.related(kind))
        notes = () if tree is None else tree
        texts = [self.paragraph_text(p) for note in notes if value(note, "id") == number for p in note.iter(W + "p")]
        return [text for text in texts if text]


def _note_key(kind: str, number: str) -> str:
    return f"{kind}/{number}"


def _font(run: Any) -> str:
    """Returns the font of a run that names one of its own."""
    fonts = run.find(f"{W}rPr/{W}rFonts")
    return "" if fonts is None else value(fonts, "ascii") or value(fonts, "hAnsi")


def _run_text(run: Any) -> str:
    return "" if run is None else "".join(piece.text or "" for piece in run.iter(W + "t"))


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
