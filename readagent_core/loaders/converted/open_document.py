"""Opens OpenDocument texts (.odt): headings, lists, tables, notes, pictures."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from lxml import etree

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, DocumentError, ProtectedDocumentError, UnknownFormatError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Limits
from readagent_core.loaders.calibre import parse_xml
from readagent_core.loaders.converted.as_epub import (
    Pictures,
    Renderer,
    Rule,
    attribute,
    note_at,
    note_link,
    open_as_epub,
    picture,
    plain_text,
    tagged,
)
from readagent_core.loaders.maths import local_name

_LEFT_OUT = (
    "tracked-changes", "annotation", "forms", "sequence-decls", "variable-decls", "user-field-decls", "note-citation",
    "table-of-content", "illustration-index", "table-index", "title", "desc", "object-ole", "soft-page-break",
)  # fmt: skip
_MOST_REPEATS = 100  # of a cell or a space


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the OpenDocument text ``data``. Raises DocumentError."""
    archive = Archive(data, limits)
    if b"encryption-data" in _read(archive, "META-INF/manifest.xml", limits):
        raise ProtectedDocumentError(
            "This document is locked with a password. Open it in LibreOffice, save it without the "
            "password, and open it here again."
        )
    root = parse_xml(archive.read("content.xml", limits.text))
    text = None if root is None else root.find("{*}body/{*}text")
    if text is None and root is not None and root.find("{*}body") is not None:
        raise UnknownFormatError(
            "This is an OpenDocument sheet, drawing or presentation, which ReadAgent does not open: save it as PDF."
        )
    if text is None:
        raise DamagedDocumentError("The text of this document cannot be read. Download or copy it again.")
    return _Text(archive, root, limits).open(text, name)


def _read(archive: Archive, name: str, limits: Limits) -> bytes:
    return archive.read(name, limits.text) if archive.find(name) else b""


class _Text:
    def __init__(self, archive: Archive, root: Any, limits: Limits) -> None:
        self.archive, self.limits = archive, limits
        self.pictures, self.notes = Pictures(), list[str]()
        named = parse_xml(_read(archive, "styles.xml", limits))
        trees = [tree for tree in (named, root) if tree is not None]
        styles = [style for tree in trees for style in tree.iter("{*}style")]
        self.numbered = {  # the form and the first number of lists by their style and depth
            (attribute(level.getparent(), "name"), _number(level, "level")): (form, _number(level, "start-value"))
            for tree in trees
            for level in tree.iter("{*}list-level-style-number")
            if (form := attribute(level, "num-format")) in ("1", "a", "A", "i", "I")
        }
        self.counted: dict[tuple[str, int], int] = {}
        shown = [(style, style.find("{*}text-properties")) for style in styles]
        self.hidden = {attribute(s, "name") for s, text in shown if text is not None and attribute(text, "display")}
        places = [(attribute(s, "name"), attribute(text, "text-position")) for s, text in shown if text is not None]
        self.raised = {  # the elements of superscript and subscript: 'super 58%', '-33% 58%'
            name: "sub" if place.startswith(("sub", "-")) else "sup"
            for name, place in places
            if place and not place.startswith("0%")
        }
        rules: dict[str, Rule] = {
            **dict.fromkeys(_LEFT_OUT, None),
            "p": self._block,
            "h": self._block,
            "span": self._block,
            "list": self._list,
            "list-item": "li",
            "list-header": "li",
            "table": "table",
            "table-row": "tr",
            "table-cell": self._cell,
            "note": self._note,
            "s": lambda space: " " * _number(space, "c"),
            "tab": lambda _: "\t",
            "line-break": lambda _: "<br/>",
            "frame": self._frame,
            "image": self._image,
            "a": self._link,
            "bookmark": self._anchor,
            "bookmark-start": self._anchor,
            "ruby": "ruby",
            "ruby-text": "rt",
        }
        self.renderer = Renderer(rules)

    def open(self, text: Any, name: str) -> Document:
        meta = parse_xml(_read(self.archive, "meta.xml", self.limits))
        facts = {} if meta is None else {key: plain_text(meta.find(f".//{{*}}{key}")) for key in _FACTS}
        body = self.renderer.inside(text)
        return open_as_epub(
            body + "".join(self.notes),
            name,
            limits=self.limits,
            title=facts.get("title", ""),
            author=facts.get("creator", "") if not facts.get("initial-creator") else facts["initial-creator"],
            language=facts.get("language", ""),
            pictures=self.pictures.files,
        )

    def _block(self, block: Any) -> str:
        kind = block.tag.rpartition("}")[2]
        style = attribute(block, "style-name")
        kind = f"h{min(6, _number(block, 'outline-level'))}" if kind == "h" else kind
        kind = self.raised.get(style, kind) if kind == "span" else kind
        hidden = " hidden" if style in self.hidden else ""
        return f"<{kind}{hidden}>{self.renderer.inside(block)}</{kind}>"

    def _list(self, items: Any) -> str:
        around = list(items.iterancestors("{*}list"))
        styles = (attribute(one, "style-name") for one in (items, *around))
        key = next(filter(None, styles), ""), 1 + len(around)
        if key not in self.numbered:
            return tagged("ul", self.renderer.inside(items))
        form, start = self.numbered[key]
        if attribute(items, "continue-numbering") == "true" or attribute(items, "continue-list"):
            start = self.counted.get(key, 0) + 1
        self.counted[key] = start - 1 + len(items.findall("{*}list-item"))
        return f'<ol type="{form}" start="{start}">{self.renderer.inside(items)}</ol>'

    def _cell(self, cell: Any) -> str:
        return tagged("td", self.renderer.inside(cell)) * _number(cell, "number-columns-repeated")

    def _note(self, note: Any) -> str:
        anchor, body = f"note-{len(self.notes) + 1}", note.find("{*}note-body")
        if body is None:
            return ""
        self.notes.append("")  # so that a note in this one has another number
        self.notes[int(anchor[5:]) - 1] = note_at(anchor, self.renderer.inside(body))
        return note_link(anchor, plain_text(note.find("{*}note-citation")))

    def _frame(self, frame: Any) -> str:
        """Returns the formula in a frame; else what it holds: the picture of an object is beside it."""
        held = frame.find("{*}object")
        name = attribute(held, "href").removeprefix("./").rstrip("/") if held is not None else ""
        formula = parse_xml(_read(self.archive, f"{name}/content.xml", self.limits)) if name else None
        if formula is None or local_name(formula) != "math":
            return self.renderer.inside(frame)
        return str(etree.tostring(formula, encoding="unicode", with_tail=False))

    def _image(self, image: Any) -> str:
        name = attribute(image, "href").removeprefix("./")
        frame = image.getparent()
        alt = plain_text(frame.find("{*}desc")) or plain_text(frame.find("{*}title"))
        try:
            found = self.archive.read(name, self.limits.picture_bytes) if self.archive.find(name) else b""
        except DocumentError:
            found = b""
        return picture(self.pictures.add(name, found) if found else "missing.png", alt)

    def _link(self, link: Any) -> str:
        address = re.sub(r"\|\w+$", "", attribute(link, "href"))
        return f'<a href="{escape(address)}">{self.renderer.inside(link)}</a>'

    def _anchor(self, bookmark: Any) -> str:
        return f'<a id="{escape(attribute(bookmark, "name"))}"></a>'


_FACTS = ("title", "creator", "initial-creator", "language")


def _number(element: Any, name: str) -> int:
    value = attribute(element, name)
    return max(1, min(int(value), _MOST_REPEATS)) if value.isascii() and value.isdigit() else 1
