"""Reads one file of an EPUB: its blocks, its kind of page, and what of it is left out."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from readagent_core.errors import DocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import MEGABYTE, Limits
from readagent_core.loaders.contents import is_contents_title
from readagent_core.loaders.decode import decode
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.blocks import Block, extract_blocks
from readagent_core.loaders.html.hidden import remove_hidden
from readagent_core.loaders.html.marking import mark_formulas, mark_links, mark_ruby, mark_structure
from readagent_core.loaders.html.markup import inline_text
from readagent_core.loaders.html.tree import Element, body_of, parse_html, remove, semantic_types, text_of
from readagent_core.loaders.marks import Marks, without_marks

FILE_START = "readagent-file-start"  # the anchor of the start of a file
CHAPTER, TITLE_PAGE, PUBLISHER = "", "title page", "publisher"
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s+[^<>]*?)?)/>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_OUTSIDE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
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
class EpubPart:
    """One file of the book. ``reason``: why it has no blocks, if it was left out. ``kind``: one of the three above.
    ``hidden``: words in it that are not shown. ``entries``: of the table of contents that was left out."""

    name: str
    blocks: list[Block]
    reason: str = ""
    pictures: int = 0
    kind: str = CHAPTER
    hidden: int = 0
    entries: int = 0


def read_part(
    archive: Archive,
    name: str,
    limits: Limits,
    shown: Pictures,
    marks: Marks,
    language: str,
    *,
    is_nav: bool,
    titles: list[str],
) -> EpubPart:
    """Returns the part ``name``. ``titles``: what the table of contents calls it. ``is_nav``: it holds that table.

    ``shown``: takes its pictures. ``marks``: takes what stands beside its text."""
    try:
        tree = parse_html(_expand_self_closed(decode(archive.read(name, limits.page))[0]))
    except DocumentError as error:
        return EpubPart(name, [], reason=str(error).split(". ")[0])

    def resolve(path: str) -> str:
        return archive.find(posixpath.join(posixpath.dirname(name), path))

    def resolve_link(address: str) -> tuple[str, str]:
        if _OUTSIDE.match(address):
            return "", address
        path, _, anchor = address.partition("#")
        file = resolve(unquote(path)) if path else name
        return (f"{file}#{unquote(anchor)}", "") if file else ("", "")

    images = list(tree.iter("img", "image"))
    sources = [one.get("src") or one.get("xlink-href") or one.get("href") for one in images]
    pictures = sum(not shown.cover or resolve(unquote(str(source))) != shown.cover for source in sources)
    body = body_of(tree)
    for nav in list(body.iter("nav")):
        if is_nav or "toc" in semantic_types(nav):
            remove(nav)  # the sections show the table of contents
    sheets, complete = _style_sheets(tree, archive, name)
    mark_formulas(body, marks)
    hidden = remove_hidden(body, sheets, complete=complete)
    mark_ruby(body, marks)
    mark_structure(body, tree.get("xml-lang") or tree.get("lang") or language)
    links = [inline_text(a) for a in body.iter("a") if a.get("href") and "://" not in a.get("href")]
    mark_links(body, marks, resolve_link)
    found = extract_blocks(body, lambda source, alt: shown.find(source, alt, resolve), marks)
    letters = sum(len(without_marks(block.text)) for block in found)
    if is_nav and letters < _SHORT:
        return EpubPart(name, [])
    entries = _count_contents_entries([text for text in links if text], found, letters, titles)
    if entries:
        return EpubPart(name, [], pictures=pictures, entries=entries)
    first = next((at for at, block in enumerate(found) if not block.figure), None)
    if first is not None:
        found[first] = replace(found[first], anchors=(FILE_START, *found[first].anchors))
    if tree.tag == "svg" and not found:
        pictures = max(pictures, 1)
    return EpubPart(name, found, pictures=pictures, kind=_page_kind(body, titles), hidden=hidden)


def _style_sheets(tree: Element, archive: Archive, name: str) -> tuple[list[str], bool]:
    """Returns the style sheets of a part, and whether these are all of them."""
    sheets = [text_of(style) for style in tree.iter("style")]
    links = [link for link in tree.iter("link") if "stylesheet" in (link.get("rel") or "").split()][:_MOST_SHEETS]
    for link in links:
        file = archive.find(posixpath.join(posixpath.dirname(name), unquote(link.get("href") or "")))
        if not file:
            return sheets, False
        try:
            sheets.append(archive.read(file, MEGABYTE).decode("utf-8", "replace"))
        except DocumentError:
            return sheets, False
    return sheets, len(links) < _MOST_SHEETS


def _count_contents_entries(links: list[str], found: list[Block], letters: int, titles: list[str]) -> int:
    """Returns how many entries a part lists that is only a table of contents; 0 for any other part.

    ``links``: the texts of its links. ``letters``: how many it has."""
    first = next((without_marks(block.text).split("\n")[0] for block in found if not block.figure), "")
    if not any(map(is_contents_title, [first, *titles])):
        return 0
    return len(links) if sum(map(len, links)) > _LINKED * letters else 0


def _page_kind(body: Element, titles: list[str]) -> str:
    """What ``body`` is the page of; ``titles``: what the table of contents calls it."""
    types = set(semantic_types(body))
    tag = body
    while (only := _only_child(tag)) is not None:
        types |= semantic_types(only)
        tag = only
    if types & _PUBLISHER_TYPES or any(_PUBLISHER_TITLE.fullmatch(title.strip(" .:")) for title in titles):
        return PUBLISHER
    return TITLE_PAGE if types & _TITLE_TYPES else CHAPTER


def _only_child(tag: Element) -> Element | None:
    """The one element that holds everything in ``tag``."""
    if len(tag) != 1 or (tag.text or "").strip() or (tag[0].tail or "").strip():
        return None
    return tag[0] if tag[0].tag in ("section", "div", "article", "main") else None


def _expand_self_closed(text: str) -> str:
    """Replaces ``<title/>`` by ``<title></title>``: an HTML parser ignores the slash and leaves the element open."""
    return _SELF_CLOSED.sub(
        lambda m: m.group() if m.group(1).lower() in _VOID else f"<{m.group(1)}{m.group(2)}></{m.group(1)}>", text
    )
