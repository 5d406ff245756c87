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

from readagent_core.document import Figure
from readagent_core.loaders.base import SCENE_BREAK, join_items
from readagent_core.loaders.html.markup import (
    RAISED_TAGS,
    alternative_text,
    elements,
    inline_text,
    is_left_out,
    list_items,
    picture_source,
    raised_text,
    table_rows,
)
from readagent_core.loaders.html.tree import (
    BLOCK_TAGS,
    HEADINGS,
    Element,
    class_names,
    ids_in,
    semantic_types,
    single_spaces,
    text_of,
)
from readagent_core.loaders.marks import Marks, without_marks
from readagent_core.loaders.text.lines import Layout, split_paragraphs

_LONG_PRE = 60  # lines; a shorter piece is a listing or verse, and stays in one
_AROUND_LINE = re.compile(r" *\n *")
_VERSE_CLASS = re.compile(
    r"^(?:line-?group|lg|stanza|verse|poem|poetry|couplet|quatrain)(?:[-_ ]?(?:container|group|\d+))?$", re.IGNORECASE
)
_VERSE_TYPES = frozenset({"z3998:verse", "z3998:poem", "z3998:song", "z3998:hymn"})
_LONGEST_VERSE = 120  # characters of a line
_FEWEST_DRAWN = 12  # words of a drawing that is text
_NOTE_TAGS = frozenset(["aside", "section", "div", "li", "p", "ol", "ul", "dl", "dd", "footer", "body"])
_NOTE_TYPES = frozenset(["footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes"])
_NOTE_CLASS = re.compile(r"^(?:footnotes?|endnotes?|rearnotes?)$", re.IGNORECASE)
_CAPTION_CLASS = re.compile(r"^(?:wp-|fig-?|figure-?|image-?|pic-?)?caption(?:-?text)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """``kind``: 'heading' (of ``level`` 1–6), 'text', 'figure' or 'break'. ``text``: with the marks in it, of a heading
    without. ``anchors``: ids that point to this block.
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


def extract_blocks(
    root: Element, find_picture: FindPicture = lambda source, alt: None, marks: Marks | None = None
) -> list[Block]:
    """Returns the blocks of ``root`` in reading order.

    Where ``find_picture`` returns None for a picture, its alternative text is part of the text. ``marks``: those of the
    text, which were made before."""
    found = _Walk(find_picture, marks or Marks()).run(root)
    # the description of a picture that has a page for itself is the text of that page
    return [part for block in found for part in _describe(block)] if all(b.figure for b in found) else found


def _tidy(text: str) -> str:
    """Returns ``text`` without spaces around line breaks and with single spaces elsewhere."""
    if "\n" not in text:
        return single_spaces(text).strip()
    return _AROUND_LINE.sub("\n", "\n".join(map(single_spaces, text.split("\n")))).strip()


def _describe(block: Block) -> list[Block]:
    """Returns the block of a figure, and its description as a block of text."""
    if block.figure is None or not block.figure.alt:
        return [block]
    figure = replace(block.figure, alt="")
    return [replace(block, text=figure.text, figure=figure), Block("text", f"[{block.figure.alt}]", caption=True)]


class _Walk:
    """One pass over a tree: the text of the current paragraph, and the blocks so far."""

    def __init__(self, find_picture: FindPicture, marks: Marks) -> None:
        self.find_picture = find_picture
        self.marks = marks
        self.found: list[Block] = []
        self.held: list[str] = []
        self.carried = ""  # marks of notes that stood in a heading, for the next paragraph
        self.figures: list[Figure] = []  # within the current paragraph, after which they come
        self.anchors: list[str] = []
        self.notes = 0  # depth of nested note elements
        self.verse = 0  # depth of nested elements of verse
        self.captions = 0  # depth of nested captions
        self.page = ""

    def run(self, root: Element) -> list[Block]:
        self._enter(root)
        self._say(root.text)
        stack: list[tuple[Iterator[Element], Element]] = [(iter(root), root)]
        while stack:
            children, tag = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._leave(tag)
                if stack:
                    self._say(tag.tail)
            elif self._whole(child):
                self._say(child.tail)
            else:
                self._enter(child)
                self._say(child.text)
                stack.append((iter(child), child))
        self._close()
        return self.found

    def _say(self, text: str | None) -> None:
        if text:
            self.held.append(single_spaces(text))

    def _enter(self, tag: Element) -> None:
        self._bound(tag)
        if tag.attrib:
            self._anchor(tag)
            self.notes += _is_note(tag)
            self.verse += _is_verse(tag)
        self.captions += _is_caption(tag)

    def _leave(self, tag: Element) -> None:
        self._bound(tag)
        self.captions -= _is_caption(tag)
        if tag.attrib:
            self.verse -= _is_verse(tag)
            self.notes -= _is_note(tag)

    def _bound(self, tag: Element) -> None:
        """Ends the paragraph at the start and end of a block. A line of verse ends a line only."""
        if tag.tag not in BLOCK_TAGS:
            return
        if not self.verse or _is_verse(tag) or not _is_line(tag):
            self._close()
        elif "".join(self.held).strip(" ")[-1:] not in ("", "\n"):
            self.held.append("\n")

    def _anchor(self, tag: Element) -> None:
        for name in (tag.get("id"), tag.get("name") if tag.tag == "a" else None):
            if name:
                self.anchors.append(name)

    def _whole(self, tag: Element) -> bool:
        """Adds ``tag`` if it is one piece (a heading, break, table, list, verse, picture); returns whether it is."""
        name = tag.tag
        if name == "svg":
            self.anchors += ids_in(tag)
            if texts := drawn_text(tag):
                self._set(tag, texts)
            else:
                self._picture(tag)
            return True
        if is_left_out(tag):
            if "pagebreak" in semantic_types(tag):
                self.page = (tag.get("title") or tag.get("aria-label") or text_of(tag)).strip()
            self.anchors += ids_in(tag)
            return True
        if name in HEADINGS or name == "hgroup":
            return self._heading(tag)
        if name == "br":
            self.held.append("\n")
        elif name == "hr":
            self._close()
            self._add("break", SCENE_BREAK)
        elif name == "img":
            self._anchor(tag)
            self._picture(tag)
        elif name in RAISED_TAGS and (raised := raised_text(tag)):
            self._anchor(tag)
            self.held.append(raised)
        elif name == "pre":
            self._preformatted(tag)
        elif name == "table" and (rows := table_rows(tag)):
            self._set(tag, rows)
        elif name in ("ul", "ol", "dl", "menu", "dir") and not self.notes and not _is_note(tag):
            items = list_items(tag)
            if items is None:
                return False
            self._set(tag, join_items(items))
        else:
            return False
        return True

    def _heading(self, tag: Element) -> bool:
        self._close()
        parts = [inline_text(h) for h in elements(tag, *HEADINGS, "p")] if tag.tag == "hgroup" else []
        marked = ": ".join(p for p in parts if p) or inline_text(tag)
        text = " ".join(without_marks(marked).split())
        first = tag if tag.tag in HEADINGS else next(tag.iter(*HEADINGS), None)
        self.anchors += ids_in(tag)
        if text and first is not None:
            self._add("heading", text, HEADINGS[first.tag])
            self.carried += self.marks.notes_in(marked)
        elif text:
            self._add("text", marked)
        for image in elements(tag, "img") if not text else ():
            self._picture(image)
        return True

    def _picture(self, tag: Element) -> None:
        """Adds a picture: before the text of the paragraph that it is in, or after that paragraph."""
        source, alt = picture_source(tag)
        figure = self.find_picture(source, alt) if source else None
        if figure is None:
            self.held.append(self.marks.describe(alternative_text(tag)) if tag.tag == "img" else "")
            return
        self.figures.append(figure)
        if not "".join(self.held).strip():
            self._add_figures()

    def _add_figures(self) -> None:
        for figure in self.figures:
            self.found.append(Block("figure", figure.text, note=self.notes > 0, figure=figure))
        self.figures.clear()

    def _preformatted(self, tag: Element) -> None:
        """Adds a ``<pre>`` with its lines. In a long one, such as a film script, empty lines separate paragraphs."""
        lines = [line.rstrip() for line in text_of(tag).strip("\n").splitlines()]
        groups = [list(group) for filled, group in groupby(lines, key=bool) if filled]
        if len(lines) > _LONG_PRE:
            self._set(tag, [dedent("\n".join(group)).strip() for group in groups], exact=True)
        else:
            self._set(tag, ["\n".join(lines)], exact=True)

    def _set(self, tag: Element, texts: list[str], *, exact: bool = False) -> None:
        """Adds ``texts``, each a paragraph that keeps its lines."""
        self._close()
        self.anchors += ids_in(tag)
        for text in texts:
            if text.strip():
                self._add("text", text, exact=exact)
        # the alternative text is in the text already
        found = [self.find_picture(picture_source(image)[0], "") for image in elements(tag, "img")]
        self.figures += [figure for figure in found if figure]
        self._add_figures()

    def _close(self) -> None:
        """Ends the current paragraph. An empty line in it (two ``<br>``) separates paragraphs."""
        if self.held:
            text = _tidy("".join(self.held))
            self.held.clear()
            for piece in re.split(r"\n{2,}", text):
                if without_marks(piece).strip():
                    self._add("text", piece.strip())
                else:
                    self.carried += piece.strip()
        if self.figures:
            self._add_figures()

    def _add(self, kind: str, text: str, level: int = 0, *, exact: bool = False) -> None:
        caption = self.captions > 0 and kind == "text"
        if kind == "text" and self.carried:
            text, self.carried = self.carried + text, ""
        self.found.append(Block(kind, text, level, tuple(self.anchors), self.notes > 0, self.page, exact, caption))
        self.anchors.clear()


def _is_note(tag: Element) -> bool:
    if not tag.attrib or tag.tag not in _NOTE_TAGS:
        return False
    types = semantic_types(tag)
    if types & _NOTE_TYPES or any(map(_NOTE_CLASS.match, class_names(tag))):
        return True
    return tag.tag in ("aside", "li") and "note" in (tag.get("epub-type") or "").split()


def _is_caption(tag: Element) -> bool:
    if tag.tag == "figcaption":
        return True
    return bool(tag.attrib) and tag.tag in BLOCK_TAGS and any(map(_CAPTION_CLASS.match, class_names(tag)))


def _is_verse(tag: Element) -> bool:
    """Returns whether ``tag`` holds verse: each block in it that holds no other block is a line."""
    if not tag.attrib or tag.tag not in ("div", "section", "blockquote", "figure", "article", "p"):
        return False
    return bool(semantic_types(tag) & _VERSE_TYPES) or any(map(_VERSE_CLASS.match, class_names(tag)))


def _is_line(tag: Element) -> bool:
    """Returns whether a block within verse is one line of it, not a stanza or a paragraph."""
    # only the children: a search in all descendants takes as long as the tree is deep
    if any(child.tag in BLOCK_TAGS for child in tag):
        return False
    return len(text_of(tag)) <= _LONGEST_VERSE and sum(1 for _ in tag.iter("br")) < 2


def drawn_text(svg: Element) -> list[str]:
    """Returns the paragraphs of a page that is drawn as SVG with its words; [] for a picture with a few labels."""
    # a part with a place of its own begins a line
    lines = [text_of(one, " " if one.xpath("tspan[@x or @y or @dy]") else "") for one in svg.iter("text")]
    lines = [line for line in (" ".join(line.split()) for line in lines) if line]
    if sum(len(line.split()) for line in lines) < _FEWEST_DRAWN:
        return []
    return split_paragraphs(lines, Layout.detect([lines]))
