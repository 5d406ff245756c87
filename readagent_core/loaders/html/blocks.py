"""Parsed HTML to blocks in reading order: headings, paragraphs, scene breaks and notes.

Verse, lists and tables keep their lines. Walks without recursion, as ``markup`` does. Used by web pages and EPUB alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from textwrap import dedent

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from readagent_core.loaders.base import SCENE_BREAK
from readagent_core.loaders.html.markup import (
    BLOCK_TAGS,
    NOT_TEXT,
    SPACE,
    alternative_text,
    class_names,
    inline_pieces,
    inline_text,
    is_left_out,
    is_note_marker,
    list_lines,
    semantic_types,
    table_lines,
)

_LONG_PRE = 60  # lines; a shorter piece is a listing or verse, and stays in one
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_AROUND_LINE = re.compile(r" *\n *")
_VERSE_CLASS = re.compile(r"^(?:line-?group|lg|stanza|verse|poem|poetry|couplet|quatrain)$", re.IGNORECASE)
_NOTE_TYPES = frozenset(["footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes"])
_NOTE_CLASS = re.compile(r"^(?:footnotes?|endnotes?|rearnotes?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """``kind``: 'heading' (of ``level`` 1–6), 'text' or 'break'. ``anchors``: ids that point to this block.
    ``note``: part of a footnote or endnote. ``page``: its page in print, where marked."""

    kind: str
    text: str
    level: int = 0
    anchors: tuple[str, ...] = ()
    note: bool = False
    page: str = ""


def extract_blocks(root: Tag) -> list[Block]:
    """Returns the blocks of ``root`` in reading order."""
    return _Walk().run(root)


def _tidy(text: str) -> str:
    """Returns ``text`` without spaces around line breaks and with single spaces elsewhere."""
    return _AROUND_LINE.sub("\n", re.sub(r"[ \t\u00a0]+", " ", text)).strip()


class _Walk:
    """One pass over a tree: the text of the current paragraph, and the blocks so far."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.held: list[str] = []
        self.anchors: list[str] = []
        self.notes = 0  # depth of nested note elements
        self.page = ""

    def run(self, root: Tag) -> list[Block]:
        stack: list[tuple[Iterator[PageElement], Tag]] = [(iter(root.children), root)]
        self._enter(root)
        while stack:
            children, tag = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._leave(tag)
            elif isinstance(child, Tag):
                if self._whole(child):
                    continue
                self._enter(child)
                stack.append((iter(child.children), child))
            elif isinstance(child, NavigableString) and not isinstance(child, NOT_TEXT):
                self.held.append(SPACE.sub(" ", child))
        self._close()
        return self.found

    def _enter(self, tag: Tag) -> None:
        if tag.name in BLOCK_TAGS:
            self._close()
        self._anchor(tag)
        self.notes += _is_note(tag)

    def _leave(self, tag: Tag) -> None:
        if tag.name in BLOCK_TAGS:
            self._close()
        self.notes -= _is_note(tag)

    def _anchor(self, tag: Tag) -> None:
        for name in (tag.get("id"), tag.get("name") if tag.name == "a" else None):
            if name:
                self.anchors.append(str(name))

    def _inner_anchors(self, tag: Tag) -> None:
        for inner in [tag, *tag.find_all(id=True), *tag.find_all("a", attrs={"name": True})]:
            self._anchor(inner)

    def _whole(self, tag: Tag) -> bool:
        """Adds ``tag`` if it is one piece (a heading, break, table, list, verse, picture); returns whether it is."""
        if is_left_out(tag) or is_note_marker(tag):
            if "pagebreak" in semantic_types(tag):
                self.page = str(tag.get("title") or tag.get("aria-label") or tag.get_text()).strip()
            self._inner_anchors(tag)
            return True
        if tag.name in _HEADINGS or tag.name == "hgroup":
            return self._heading(tag)
        if tag.name == "br":
            self.held.append("\n")
        elif tag.name == "hr":
            self._close()
            self._add("break", SCENE_BREAK)
        elif tag.name == "img":
            self._anchor(tag)
            self.held.append(alternative_text(tag))
        elif tag.name == "math":
            self.held.append(str(tag.get("alttext") or SPACE.sub(" ", tag.get_text(" "))))
        elif tag.name == "pre":
            self._preformatted(tag)
        elif tag.name == "table":
            lines = table_lines(tag)
            if lines is None:
                return False
            self._set(tag, lines)
        elif tag.name in ("ul", "ol", "dl", "menu", "dir"):
            lines = list_lines(tag) if not self.notes and not _is_note(tag) else None
            if lines is None:
                return False
            self._set(tag, lines)
        elif any(_VERSE_CLASS.match(c) for c in class_names(tag)) and _are_lines(tag):
            self._set(tag, _tidy("".join(inline_pieces(tag))).splitlines())
        else:
            return False
        return True

    def _heading(self, tag: Tag) -> bool:
        self._close()
        parts = (
            [inline_text(h) for h in tag.find_all(["h1", "h2", "h3", "h4", "h5", "h6", "p"])]
            if tag.name == "hgroup"
            else []
        )
        text = ": ".join(p for p in parts if p) or inline_text(tag)
        first = tag if tag.name in _HEADINGS else tag.find(list(_HEADINGS))
        self._inner_anchors(tag)
        if text and isinstance(first, Tag):
            self._add("heading", text, _HEADINGS[first.name])
        elif text:
            self._add("text", text)
        return True

    def _preformatted(self, tag: Tag) -> None:
        """Adds a ``<pre>`` with its lines. In a long one, such as a film script, empty lines separate paragraphs."""
        lines = tag.get_text().strip("\n").splitlines()
        if len(lines) <= _LONG_PRE:
            self._set(tag, lines)
            return
        self._close()
        self._inner_anchors(tag)
        for empty, group in groupby(lines, key=lambda line: not line.strip()):
            if not empty:
                self._add("text", dedent("\n".join(line.rstrip() for line in group)).strip())

    def _set(self, tag: Tag, lines: list[str]) -> None:
        """Adds a block that keeps its lines."""
        self._close()
        self._inner_anchors(tag)
        text = "\n".join(line.rstrip() for line in lines if line.strip())
        if text.strip():
            self._add("text", text)

    def _close(self) -> None:
        """Ends the current paragraph. An empty line in it (two ``<br>``) separates paragraphs."""
        if not self.held:
            return
        text = _tidy("".join(self.held))
        self.held.clear()
        for piece in re.split(r"\n{2,}", text):
            if piece.strip():
                self._add("text", piece.strip())

    def _add(self, kind: str, text: str, level: int = 0) -> None:
        self.found.append(Block(kind, text, level, tuple(self.anchors), self.notes > 0, self.page))
        self.anchors.clear()


def _is_note(tag: Tag) -> bool:
    if tag.name not in ("aside", "section", "div", "li", "p", "ol", "ul", "dl", "dd", "footer", "body"):
        return False
    if semantic_types(tag) & _NOTE_TYPES or any(_NOTE_CLASS.match(c) for c in class_names(tag)):
        return True
    return tag.name in ("aside", "li") and "note" in str(tag.get("epub:type") or "").split()


def _are_lines(tag: Tag) -> bool:
    """Returns whether ``tag`` consists of lines of verse, each in one element."""
    children = [c for c in tag.children if isinstance(c, Tag)]
    if len(children) < 2 or any(c.name not in ("div", "p", "span", "br", "a") for c in children):
        return False
    return not any(c.find(list(BLOCK_TAGS)) for c in children)
