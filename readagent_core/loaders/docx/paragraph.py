"""The text of a Word paragraph: its runs, fields, links, formulas, pictures and references to notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from readagent_core.document import Figure, SpanKind, is_outside_address
from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.docx.equations import parse_omml
from readagent_core.loaders.docx.styles import Styles, W, value
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.marking import format_number
from readagent_core.loaders.marks import CLOSE, Marks
from readagent_core.loaders.maths import formula_line, raise_text, safe_mathml
from readagent_core.loaders.office import Part, chart_rows, diagram_texts
from readagent_core.loaders.symbols import from_font, text_in_font
from readagent_core.words import count_words

_UNSAID = {W + n for n in ("del", "moveFrom", "rt", "pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "trPr", "tcPr")}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_ALTERNATIVE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"
_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_EQUATION = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_BOX = W + "txbxContent"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_FIELD_LINK = re.compile(r'^\s*HYPERLINK\s+(?:"([^"]+)"\s*)?(?:\\l\s+"([^"]+)")?')
_HEX = re.compile(r"[0-9A-Fa-f]{1,6}")
_PAGE_BREAKS = ("page", "column")
_NOTES = {W + "footnoteReference": "footnotes", W + "endnoteReference": "endnotes"}
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


class ParagraphReader:
    """Reads paragraphs one after the other, and collects what stands beside their text.

    ``figures``, ``boxes``, ``anchors``: since they were taken last. ``noted``: kind and number of each note that is
    referred to, with its sign. ``hidden``: words that Word does not show."""

    def __init__(self, part: Part, styles: Styles, shown: Pictures, marks: Marks, *, dark: bool) -> None:
        self.part, self.styles, self.shown, self.marks, self.dark = part, styles, shown, marks, dark
        self.figures: list[Figure] = []
        self.boxes: list[Any] = []
        self.anchors: list[str] = []
        self.noted: dict[tuple[str, str], str] = {}
        self.hidden = 0
        self._field: list[str] = []  # the codes of the fields that are open

    def text(self, paragraph: Any) -> str:
        """Returns the text of a paragraph without deletions, field codes and the signs of notes, with its marks."""
        found: list[str] = []
        stack: list[tuple[Iterator[Any], str]] = [(iter(paragraph), "")]  # with what ends each element
        self._field.clear()
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
            elif tag == W + "instrText" and self._field:
                self._field[-1] += child.text or ""
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
        found += [CLOSE for code in self._field if code.startswith("\x00")]
        return re.sub(r" *\n *", "\n", re.sub(r"[ \u00a0]+", " ", "".join(found))).strip()

    def _note_mark(self, kind: str, number: str) -> str:
        """Returns the mark of a reference to a note, and notes that it is to be read."""
        if (kind, number) not in self.noted:
            count = 1 + sum(1 for other, _ in self.noted if other == kind)
            self.noted[kind, number] = format_number(count, "1" if kind == "footnotes" else "i")
        return self.marks.mark(SpanKind.NOTE, "", self.noted[kind, number], note_key(kind, number))

    def _link(self, element: Any) -> str:
        """Returns the mark that opens a link; '' for one that leads nowhere."""
        relation = self.part.relations.get(element.get(RELATION + "id") or "")
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
            self._field.append("")
            if box is not None:
                state = box.find(W + "checked")
                state = box.find(W + "default") if state is None else state
                return "☒" if state is not None and value(state) not in ("0", "false") else "☐"
            if choice is not None:
                entries = [value(entry) for entry in choice.iter(W + "listEntry")]
                at = value(choice.find(W + "result")) or value(choice.find(W + "default")) or "0"
                return entries[int(at)] if at.isdecimal() and int(at) < len(entries) else ""
        elif kind == "separate" and self._field:
            link = _FIELD_LINK.match(self._field[-1])
            opening = self._open_link(link.group(1) or "", link.group(2) or "") if link else ""
            self._field[-1] = "\x00" * bool(opening)
            return opening
        elif kind == "end" and self._field:
            return CLOSE if self._field.pop().startswith("\x00") else ""
        return ""

    def _picture(self, holder: Any, alt: str) -> str:
        """Takes the picture in ``holder`` as a figure, or returns its description where it is not shown."""
        for child in holder.iter(_BLIP, _IMAGE_DATA):
            name = self.part.inside(child.get(RELATION + "embed") or child.get(RELATION + "id") or "")
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


def note_key(kind: str, number: str) -> str:
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
