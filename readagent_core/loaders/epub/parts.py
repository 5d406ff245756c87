"""Reads one file of an EPUB: its blocks, its kind of page, and what of it is left out."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from readagent_core.errors import DocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import MEGABYTE, Limits
from readagent_core.loaders.contents import is_contents_title
from readagent_core.loaders.decode import decode
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.blocks import Block, extract_blocks
from readagent_core.loaders.html.hidden import remove_hidden
from readagent_core.loaders.html.markup import inline_text, parse_html, semantic_types

FILE_START = "readagent-file-start"  # the anchor of the start of a file
CHAPTER, TITLE_PAGE, PUBLISHER = "", "title page", "publisher"
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s+[^<>]*?)?)/>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_SHORT = 200  # characters of a navigation file beside its lists
_LINKED = 0.6  # share of a contents page's letters that are links
_MOST_SHEETS = 20  # style sheets of one part
_PUBLISHER_TYPES = frozenset({"imprint", "colophon", "copyright-page"})
_TITLE_TYPES = frozenset({"titlepage", "halftitlepage", "halftitle"})
_PUBLISHER_TITLE = re.compile(
    r"(?:un)?copyright(?:\s+(?:page|notice|information))?|imprint|colophon|impressum|copyright[- ]seite|奥付",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Part:
    """One file of the book. ``reason``: why it has no blocks, if it was left out. ``kind``: one of the three above.
    ``hidden``: words in it that are not shown. ``entries``: of the table of contents that was left out."""

    name: str
    blocks: list[Block]
    reason: str = ""
    pictures: int = 0
    kind: str = CHAPTER
    hidden: int = 0
    entries: int = 0


def read_part(archive: Archive, name: str, limits: Limits, shown: Pictures, *, is_nav: bool, titles: list[str]) -> Part:
    """Returns the part ``name``. ``titles``: what the table of contents calls it. ``is_nav``: it holds that table.

    ``shown``: takes its pictures."""
    try:
        tree = parse_html(_expand_self_closed(decode(archive.read(name, limits.page))[0]))
    except DocumentError as error:
        return Part(name, [], reason=str(error).split(". ")[0])

    def resolve(path: str) -> str:
        return archive.find(posixpath.join(posixpath.dirname(name), path))

    sources = [tag.get("src") or tag.get("xlink:href") or tag.get("href") for tag in tree.find_all(["img", "image"])]
    pictures = sum(not shown.cover or resolve(unquote(str(source))) != shown.cover for source in sources)
    body = tree.body or tree
    for nav in body.find_all("nav"):
        if is_nav or "toc" in semantic_types(nav):
            nav.decompose()  # the sections show the table of contents
    sheets, complete = _style_sheets(tree, archive, name)
    hidden = remove_hidden(body, sheets, complete=complete)
    found = extract_blocks(body, lambda source, alt: shown.find(source, alt, resolve))
    if is_nav and sum(len(block.text) for block in found) < _SHORT:
        return Part(name, [])
    entries = _count_contents_entries(body, found, titles)
    if entries:
        return Part(name, [], pictures=pictures, entries=entries)
    first = next((at for at, block in enumerate(found) if not block.figure), None)
    if first is not None:
        found[first] = replace(found[first], anchors=(FILE_START, *found[first].anchors))
    return Part(name, found, pictures=pictures, kind=_page_kind(body, titles), hidden=hidden)


def _style_sheets(tree: BeautifulSoup, archive: Archive, name: str) -> tuple[list[str], bool]:
    """Returns the style sheets of a part, and whether these are all of them."""
    sheets = [style.get_text() for style in tree.find_all("style")]
    links = tree.find_all("link", rel="stylesheet", limit=_MOST_SHEETS)
    for link in links:
        file = archive.find(posixpath.join(posixpath.dirname(name), unquote(str(link.get("href") or ""))))
        if not file:
            return sheets, False
        try:
            sheets.append(archive.read(file, MEGABYTE).decode("utf-8", "replace"))
        except DocumentError:
            return sheets, False
    return sheets, len(links) < _MOST_SHEETS


def _count_contents_entries(body: Tag, found: list[Block], titles: list[str]) -> int:
    """Returns how many entries a part lists that is only a table of contents; 0 for any other part."""
    first = next((block.text.split("\n")[0] for block in found if not block.figure), "")
    if not any(map(is_contents_title, [first, *titles])):
        return 0
    links = [inline_text(link) for link in body.find_all("a", href=True) if "://" not in str(link["href"])]
    entries = [text for text in links if text]
    return len(entries) if sum(map(len, entries)) > _LINKED * sum(len(block.text) for block in found) else 0


def _page_kind(body: Tag, titles: list[str]) -> str:
    """What ``body`` is the page of; ``titles``: what the table of contents calls it."""
    types = set(semantic_types(body))
    tag = body
    while (only := _only_child(tag)) is not None:
        types |= semantic_types(only)
        tag = only
    if types & _PUBLISHER_TYPES or any(_PUBLISHER_TITLE.fullmatch(title.strip(" .:")) for title in titles):
        return PUBLISHER
    return TITLE_PAGE if types & _TITLE_TYPES else CHAPTER


def _only_child(tag: Tag) -> Tag | None:
    """The one element that holds everything in ``tag``."""
    held = [child for child in tag.children if isinstance(child, Tag) or str(child).strip()]
    only = held[0] if len(held) == 1 else None
    return only if isinstance(only, Tag) and only.name in ("section", "div", "article", "main") else None


def _expand_self_closed(text: str) -> str:
    """Replaces ``<title/>`` by ``<title></title>``: an HTML parser ignores the slash and leaves the element open."""
    return _SELF_CLOSED.sub(
        lambda m: m.group() if m.group(1).lower() in _VOID else f"<{m.group(1)}{m.group(2)}></{m.group(1)}>", text
    )
