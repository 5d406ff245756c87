"""Parsed HTML to blocks in reading order: headings, paragraphs, scene breaks and notes.

Verse and lists keep their lines; a table is one paragraph a row. Walks without recursion, as ``markup`` does. Used by
web pages and EPUB alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import dedent

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from readagent_core.document import Figure
from readagent_core.loaders.base import SCENE_BREAK, join_items
from readagent_core.loaders.html.markup import (
    BLOCK_TAGS,
    NOT_TEXT,
    RAISED_TAGS,
    SPACE,
    alternative_text,
    class_names,
    formula_text,
    inline_text,
    is_left_out,
    is_note_marker,
    list_items,
    picture_source,
    raised_text,
    semantic_types,
    table_rows,
)

_LONG_PRE = 60  # lines; a shorter piece is a listing or verse, and stays in one
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_AROUND_LINE = re.compile(r" *\n *")
_VERSE_CLASS = re.compile(
    r"^(?:line-?group|lg|stanza|verse|poem|poetry|couplet|quatrain)(?:[-_ ]?(?:container|group|\d+))?$", re.IGNORECASE
)
_VERSE_TYPES = frozenset({"z3998:verse", "z3998:poem", "z3998:song", "z3998:hymn"})
_LONGEST_VERSE = 120  # characters of a line
_NOTE_TYPES = frozenset(["footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes"])
_NOTE_CLASS = re.compile(r"^(?:footnotes?|endnotes?|rearnotes?)$", re.IGNORECASE)
_CAPTION_CLASS = re.compile(r"^(?:wp-|fig-?|figure-?|image-?|pic-?)?caption(?:-?text)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """``kind``: 'heading' (of ``level`` 1–6), 'text', 'figure' or 'break'. ``anchors``: ids that point to this block.
    ``note``: part of a footnote or endnote. ``page``: its page in print, where marked. ``exact``: its spaces count.
    ``caption``: it is the caption of a picture. ``figure``: the picture, of a block of that kind."""

    kind: str
    text: str
    level: int = 0
    anchors: tuple[str, ...] = ()
    note: bool = False
    page: str = ""
    exact: bool = False
    caption: bool = False
    figure: Figure | None = None


FindPicture = Callable[[str, str], Figure | None]  # called with a picture's address and its alternative text


def extract_blocks(root: Tag, find_picture: FindPicture = lambda source, alt: None) -> list[Block]:
    """Returns the blocks of ``root`` in reading order.

    Where ``find_picture`` returns None for a picture, its alternative text is part of the text."""
    found = _Walk(find_picture).run(root)
    # the description of a picture that has a page for itself is the text of that page
    return [part for block in found for part in _describe(block)] if all(b.figure for b in found) else found


def _tidy(text: str) -> str:
    """Returns ``text`` without spaces around line breaks and with single spaces elsewhere."""
    return _AROUND_LINE.sub("\n", re.sub(r"[ \t\u00a0]+", " ", text)).strip()


def _describe(block: Block) -> list[Block]:
    """Returns the block of a figure, and its description as a block of text."""
    if block.figure is None or not block.figure.alt:
        return [block]
    figure = replace(block.figure, alt="")
    return [replace(block, text=figure.text, figure=figure), Block("text", f"[{block.figure.alt}]", caption=True)]


class _Walk:
    """One pass over a tree: the text of the current paragraph, and the blocks so far."""

    def __init__(self, find_picture: FindPicture) -> None:
        self.find_picture = find_picture
        self.found: list[Block] = []
        self.held: list[str] = []
        self.figures: list[Figure] = []  # within the current paragraph, after which they come
        self.anchors: list[str] = []
        self.notes = 0  # depth of nested note elements
        self.verse = 0  # depth of nested elements of verse
        self.captions = 0  # depth of nested captions
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
        self._bound(tag)
        self._anchor(tag)
        self.notes += _is_note(tag)
        self.verse += _is_verse(tag)
        self.captions += _is_caption(tag)

    def _leave(self, tag: Tag) -> None:
        self._bound(tag)
        self.captions -= _is_caption(tag)
        self.verse -= _is_verse(tag)
        self.notes -= _is_note(tag)

    def _bound(self, tag: Tag) -> None:
        """Ends the paragraph at the start and end of a block. A line of verse ends a line only."""
        if tag.name not in BLOCK_TAGS:
            return
        if not self.verse or _is_verse(tag) or not _is_line(tag):
            self._close()
        elif "".join(self.held).strip(" ")[-1:] not in ("", "\n"):
            self.held.append("\n")

    def _anchor(self, tag: Tag) -> None:
        for name in (tag.get("id"), tag.get("name") if tag.name == "a" else None):
            if name:
                self.anchors.append(str(name))

    def _inner_anchors(self, tag: Tag) -> None:
        for inner in [tag, *tag.find_all(id=True), *tag.find_all("a", attrs={"name": True})]:
            self._anchor(inner)

    def _whole(self, tag: Tag) -> bool:
        """Adds ``tag`` if it is one piece (a heading, break, table, list, verse, picture); returns whether it is."""
        if tag.name == "svg":
            self._inner_anchors(tag)
            self._picture(tag)
            return True
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
            self._picture(tag)
        elif tag.name == "math":
            self.held.append(formula_text(tag))
        elif tag.name in RAISED_TAGS and (raised := raised_text(tag)):
            self._anchor(tag)
            self.held.append(raised)
        elif tag.name == "pre":
            self._preformatted(tag)
        elif tag.name == "table" and (rows := table_rows(tag)):
            self._set(tag, rows)
        elif tag.name in ("ul", "ol", "dl", "menu", "dir") and not self.notes and not _is_note(tag):
            items = list_items(tag)
            if items is None:
                return False
            self._set(tag, join_items(items))
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
        for image in tag.find_all("img") if not text else ():
            self._picture(image)
        return True

    def _picture(self, tag: Tag) -> None:
        """Adds a picture: before the text of the paragraph that it is in, or after that paragraph."""
        source, alt = picture_source(tag)
        figure = self.find_picture(source, alt) if source else None
        if figure is None:
            self.held.append(alternative_text(tag) if tag.name == "img" else "")
            return
        self.figures.append(figure)
        if not "".join(self.held).strip():
            self._add_figures()

    def _add_figures(self) -> None:
        for figure in self.figures:
            self.found.append(Block("figure", figure.text, note=self.notes > 0, figure=figure))
        self.figures.clear()

    def _preformatted(self, tag: Tag) -> None:
        """Adds a ``<pre>`` with its lines. In a long one, such as a film script, empty lines separate paragraphs."""
        lines = [line.rstrip() for line in tag.get_text().strip("\n").splitlines()]
        groups = [list(group) for filled, group in groupby(lines, key=bool) if filled]
        if len(lines) > _LONG_PRE:
            self._set(tag, [dedent("\n".join(group)).strip() for group in groups], exact=True)
        else:
            self._set(tag, ["\n".join(line for group in groups for line in group)], exact=True)

    def _set(self, tag: Tag, texts: list[str], *, exact: bool = False) -> None:
        """Adds ``texts``, each a paragraph that keeps its lines."""
        self._close()
        self._inner_anchors(tag)
        for text in texts:
            if text.strip():
                self._add("text", text, exact=exact)
        # the alternative text is in the text already
        found = [self.find_picture(picture_source(image)[0], "") for image in tag.find_all("img", src=True)]
        self.figures += [figure for figure in found if figure]
        self._add_figures()

    def _close(self) -> None:
        """Ends the current paragraph. An empty line in it (two ``<br>``) separates paragraphs."""
        text = _tidy("".join(self.held))
        self.held.clear()
        for piece in re.split(r"\n{2,}", text):
            if piece.strip():
                self._add("text", piece.strip())
        self._add_figures()

    def _add(self, kind: str, text: str, level: int = 0, *, exact: bool = False) -> None:
        caption = self.captions > 0 and kind == "text"
        self.found.append(Block(kind, text, level, tuple(self.anchors), self.notes > 0, self.page, exact, caption))
        self.anchors.clear()


def _is_note(tag: Tag) -> bool:
    if tag.name not in ("aside", "section", "div", "li", "p", "ol", "ul", "dl", "dd", "footer", "body"):
        return False
    if semantic_types(tag) & _NOTE_TYPES or any(_NOTE_CLASS.match(c) for c in class_names(tag)):
        return True
    return tag.name in ("aside", "li") and "note" in str(tag.get("epub:type") or "").split()


def _is_caption(tag: Tag) -> bool:
    return tag.name == "figcaption" or (tag.name in BLOCK_TAGS and any(map(_CAPTION_CLASS.match, class_names(tag))))


def _is_verse(tag: Tag) -> bool:
    """Returns whether ``tag`` holds verse: each block in it that holds no other block is a line."""
    if tag.name not in ("div", "section", "blockquote", "figure", "article", "p"):
        return False
    return bool(semantic_types(tag) & _VERSE_TYPES) or any(_VERSE_CLASS.match(c) for c in class_names(tag))


def _is_line(tag: Tag) -> bool:
    """Returns whether a block within verse is one line of it, not a stanza or a paragraph."""
    # only the children: a search in all descendants takes as long as the tree is deep
    if any(isinstance(child, Tag) and child.name in BLOCK_TAGS for child in tag.children):
        return False
    return len(tag.get_text()) <= _LONGEST_VERSE and len(tag.find_all("br", limit=2)) < 2
