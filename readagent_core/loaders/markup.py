"""Parsed HTML to blocks in reading order: headings, paragraphs, breaks, notes; used by web pages and EPUB alike.

Ruby is read once, pictures leave their alternative text, verse, lists and tables keep their lines, markers of
notes are taken out of the sentence. Walks without recursion: no nesting, however deep, can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from textwrap import dedent

from bs4 import BeautifulSoup, Comment, Declaration, Doctype, ProcessingInstruction, Tag
from bs4.element import NavigableString, PageElement

from readagent_core.loaders.base import SCENE_BREAK
from readagent_core.loaders.markup_sets import list_lines, table_lines

_NEVER = frozenset(
    "script style template head iframe object embed canvas audio video map noscript rt rp rtc input button select "  # noqa: SIM905
    "textarea datalist svg meta link title".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer "  # noqa: SIM905
    "form header hgroup html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "caption h1 h2 h3 h4 h5 h6 hr".split()
)
_LONG_PRE = 60  # lines; a shorter piece is a listing or verse, and stays in one
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_NOT_TEXT = (Comment, Declaration, Doctype, ProcessingInstruction)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_AROUND_LINE = re.compile(r" *\n *")
_NUMBER_CLASS = re.compile(r"^(?:lnum|linenum|line-?num(?:ber)?|page-?num(?:ber)?s?|pageno|pgnum|x-ebookmaker-pageno)$")
_VERSE_CLASS = re.compile(r"^(?:line-?group|lg|stanza|verse|poem|poetry|couplet|quatrain)$", re.IGNORECASE)
_NOTE_TYPES = frozenset(["footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes"])
_NOTE_CLASS = re.compile(r"^(?:footnotes?|endnotes?|rearnotes?)$", re.IGNORECASE)
_MARKER = re.compile(r"^[\[(]?\s*(?:\d{1,4}|[*†‡§¶#]{1,3}|[a-z]|[ivxlc]{1,6}|注\d*|※\d*)\s*[\])]?$", re.IGNORECASE)
_BACK = re.compile(r"^[\s\[(]*(?:↩|↑|⏎|⤴|\^|back|return)[\ufe0e\s\])]*$", re.IGNORECASE)
_FILE_NAME = re.compile(r"^[\w./-]+\.(?:jpe?g|png|gif|svg|webp)$|^\W*$|^(?:image|cover|img)\s*\d*$", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """``kind``: 'heading' (of ``level`` 1–6), 'text' or 'break'. ``anchors``: ids that point at this block.
    ``note``: part of a footnote or endnote. ``page``: the printed page it stands on, where marked."""

    kind: str
    text: str
    level: int = 0
    anchors: tuple[str, ...] = ()
    note: bool = False
    page: str = ""


def parse(text: str) -> BeautifulSoup:
    """The tree of ``text``; character data sections are kept as text, external entities are never fetched."""
    if "<![CDATA[" in text:
        text = re.sub(
            r"<!\[CDATA\[(.*?)\]\]>", lambda m: m.group(1).replace("&", "&amp;").replace("<", "&lt;"), text, flags=re.S
        )
    text = _DECLARATION.sub("", text, count=1)
    if not text.lstrip()[:9].lower().startswith("<!doctype"):
        text = f"<!doctype html>{text}"  # so that nothing is taken for a file name
    return BeautifulSoup(text, "lxml")


def types(tag: Tag) -> frozenset[str]:
    """What the element is for: words of ``epub:type`` and of ``role`` (without ``doc-``)."""
    words = f"{tag.get('epub:type') or ''} {str(tag.get('role') or '').replace('doc-', '')}"
    return frozenset(words.lower().split())


def classes(tag: Tag) -> list[str]:
    found = tag.get("class")
    return found.split() if isinstance(found, str) else list(found or ())


def blocks(root: Tag) -> list[Block]:
    """The blocks under ``root`` in reading order."""
    return _Walk().run(root)


def plain(tag: Tag, without: Collection[str] = ()) -> str:
    """The text of ``tag`` on one line, without ruby, note markers and the like, and elements named ``without``."""
    return " ".join("".join(_pieces(tag, without)).split())


def _pieces(tag: Tag, without: Collection[str] = ()) -> Iterator[str]:
    """The inline text under ``tag``; block boundaries and ``<br>`` are line breaks."""
    stack: list[Iterator[PageElement] | str] = [iter(tag.children)]
    while stack:
        top = stack[-1]
        if isinstance(top, str):
            yield top
            stack.pop()
            continue
        child = next(top, None)
        if child is None:
            stack.pop()
        elif isinstance(child, Tag):
            if child.name in without or _left_out(child) or _is_marker(child):
                continue
            if child.name == "br":
                yield "\n"
            elif child.name == "img":
                yield alternative(child)
            elif child.name == "math":
                yield str(child.get("alttext") or child.get_text(" "))
            else:
                if child.name in _BLOCKS:
                    yield "\n"
                    stack.append("\n")
                stack.append(iter(child.children))
        elif isinstance(child, NavigableString) and not isinstance(child, _NOT_TEXT):
            yield _SPACE.sub(" ", child)


def alternative(image: Tag) -> str:
    """The alternative text of a picture in brackets; '' where it tells nothing."""
    text = _SPACE.sub(" ", str(image.get("alt") or "")).strip()
    return "" if not text or _FILE_NAME.match(text) else f"[{text}]"


def _left_out(tag: Tag) -> bool:
    return tag.name in _NEVER or (
        tag.name in ("span", "a", "div", "p", "small")
        and (any(_NUMBER_CLASS.match(c) for c in classes(tag)) or "pagebreak" in types(tag))
    )


def _is_marker(tag: Tag) -> bool:
    """Whether ``tag`` is a note's marker in the text, or the way back from a note."""
    if tag.name not in ("a", "sup"):
        return False
    kind = types(tag)
    if kind & {"noteref", "backlink"}:
        return True
    text = tag.get_text().strip()
    if len(text) > 12:
        return False
    link = tag if tag.name == "a" else tag.find("a")
    if not isinstance(link, Tag) or "#" not in str(link.get("href") or ""):
        return False
    if _BACK.match(text):
        return True
    raised = tag.name == "sup" or tag.find("sup") is not None or text[:1] == "["
    return raised and bool(_MARKER.match(text))


def _tidy(text: str) -> str:
    """``text`` without spaces around its line breaks, and single ones elsewhere; line breaks stay as they are."""
    return _AROUND_LINE.sub("\n", re.sub(r"[ \t\u00a0]+", " ", text)).strip()


class _Walk:
    """One pass over a tree: what is held of the paragraph under way, and the blocks so far."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.held: list[str] = []
        self.anchors: list[str] = []
        self.notes = 0  # how many note elements we are inside of
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
            elif isinstance(child, NavigableString) and not isinstance(child, _NOT_TEXT):
                self.held.append(_SPACE.sub(" ", child))
        self._close()
        return self.found

    def _enter(self, tag: Tag) -> None:
        if tag.name in _BLOCKS:
            self._close()
        self._anchor(tag)
        self.notes += _is_note(tag)

    def _leave(self, tag: Tag) -> None:
        if tag.name in _BLOCKS:
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
        """Take ``tag`` as one piece, if it is one: a heading, a break, a table, a list, verse, a picture."""
        if _left_out(tag) or _is_marker(tag):
            if "pagebreak" in types(tag):
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
            self.held.append(alternative(tag))
        elif tag.name == "math":
            self.held.append(str(tag.get("alttext") or _SPACE.sub(" ", tag.get_text(" "))))
        elif tag.name == "pre":
            self._preformatted(tag)
        elif tag.name == "table":
            lines = table_lines(tag, plain)
            if lines is None:
                return False
            self._set(tag, lines)
        elif tag.name in ("ul", "ol", "dl", "menu", "dir"):
            lines = list_lines(tag, plain) if not self.notes and not _is_note(tag) else None
            if lines is None:
                return False
            self._set(tag, lines)
        elif any(_VERSE_CLASS.match(c) for c in classes(tag)) and _are_lines(tag):
            self._set(tag, _tidy("".join(_pieces(tag))).splitlines())
        else:
            return False
        return True

    def _heading(self, tag: Tag) -> bool:
        self._close()
        parts = (
            [plain(h) for h in tag.find_all(["h1", "h2", "h3", "h4", "h5", "h6", "p"])] if tag.name == "hgroup" else []
        )
        text = ": ".join(p for p in parts if p) or plain(tag)
        first = tag if tag.name in _HEADINGS else tag.find(list(_HEADINGS))
        self._inner_anchors(tag)
        if text and isinstance(first, Tag):
            self._add("heading", text, _HEADINGS[first.name])
        elif text:
            self._add("text", text)
        return True

    def _preformatted(self, tag: Tag) -> None:
        """Its lines stay; in a long one, as film scripts are, an empty line parts paragraphs."""
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
        """A piece that keeps its lines."""
        self._close()
        self._inner_anchors(tag)
        text = "\n".join(line.rstrip() for line in lines if line.strip())
        if text.strip():
            self._add("text", text)

    def _close(self) -> None:
        """End the paragraph under way; an empty line in it (two ``<br>``) parts paragraphs."""
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
    if types(tag) & _NOTE_TYPES or any(_NOTE_CLASS.match(c) for c in classes(tag)):
        return True
    return tag.name in ("aside", "li") and "note" in str(tag.get("epub:type") or "").split()


def _are_lines(tag: Tag) -> bool:
    """Whether ``tag`` holds lines of verse, each in an element of its own, and nothing deeper."""
    children = [c for c in tag.children if isinstance(c, Tag)]
    if len(children) < 2 or any(c.name not in ("div", "p", "span", "br", "a") for c in children):
        return False
    return not any(c.find(list(_BLOCKS)) for c in children)
