"""The text of single elements: inline text, and lists and tables as lines. Used for web pages and EPUB."""

from __future__ import annotations

import re
from collections.abc import Collection

from lxml import etree

from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.html.tree import BLOCK_TAGS, Element, ancestor, class_names, semantic_types, text_of
from readagent_core.loaders.maths import raise_text

_NEVER = frozenset(
    "script style template head iframe object embed canvas audio video map noscript rt rp rtc input button select "  # noqa: SIM905
    "textarea datalist svg meta link title del".split()
)
RAISED_TAGS = frozenset(("sup", "sub"))
_NUMBER_CLASS = re.compile(r"^(?:lnum|linenum|line-?num(?:ber)?|page-?num(?:ber)?s?|pageno|pgnum|x-ebookmaker-pageno)$")
_NUMBERED_TAGS = frozenset(("span", "a", "div", "p", "small"))
_INSIDE = ("table", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article")
_LONG = 240  # characters; a longer item is a paragraph, not a line
_DEEPEST = 4
_MOST_SPANNED = 50  # rows or columns of one cell


def inline_text(tag: Element, without: Collection[str] = ()) -> str:
    """Return the text of ``tag`` on one line, with its marks, without the elements named in ``without``."""
    pieces: list[str] = [tag.text or ""]
    stack = [(iter(tag), tag)]
    while stack:
        children, parent = stack[-1]
        node = next(children, None)
        if node is None:
            stack.pop()
            if stack:
                pieces += [" " * (parent.tag in BLOCK_TAGS), parent.tail or ""]
            continue
        name = node.tag
        if name in without or is_left_out(node):
            pieces.append(node.tail or "")
        elif name == "br":
            pieces += [" ", node.tail or ""]
        elif name == "img":
            pieces += [alternative_text(node), node.tail or ""]
        elif name in RAISED_TAGS and (raised := raised_text(node)):
            pieces += [raised, node.tail or ""]
        else:
            pieces += [" " * (name in BLOCK_TAGS), node.text or ""]
            stack.append((iter(node), node))
    return " ".join("".join(pieces).split())


def raised_text(tag: Element) -> str:
    """Return the digits of a ``<sup>`` or ``<sub>`` as raised or lowered characters ('⁶' in 10⁶); '' for others."""
    return raise_text(text_of(tag).strip(), up=tag.tag == "sup")


def alternative_text(image: Element) -> str:
    """Return the alternative text of a picture in brackets; '' where it describes nothing."""
    return bracket_description(image.get("alt") or "")


def picture_source(tag: Element) -> tuple[str, str]:
    """Return the address and the alternative text of an ``<img>``, or of the picture that an ``<svg>`` only frames.

    The address of any other drawing is '#'; it is '' for an icon, which has neither a role nor a caption.
    """
    if tag.tag == "img":
        return tag.get("src") or "", tag.get("alt") or ""
    title, image = tag.find(".//title"), tag.find(".//image")
    alt = tag.get("aria-label") or ("" if title is None else text_of(title))
    if image is not None:
        return image.get("xlink-href") or image.get("href") or "", alt
    return ("#" if tag.get("role") == "img" or ancestor(tag, "figure") is not None else ""), alt


def is_left_out(tag: Element) -> bool:
    """Return whether the element has no text of the book: scripts, line and page numbers."""
    return tag.tag in _NEVER or (bool(tag.attrib) and tag.tag in _NUMBERED_TAGS and _is_number(tag))


def _is_number(tag: Element) -> bool:
    return any(map(_NUMBER_CLASS.match, class_names(tag))) or "pagebreak" in semantic_types(tag)


def has_inside(tag: Element, *names: str) -> bool:
    """Return whether one of the elements named ``names`` is in ``tag``."""
    return next((one for one in tag.iter(*names) if one is not tag), None) is not None


def list_items(tag: Element, depth: int = 0) -> list[str] | None:
    """Return the items of a list; nested items are lines of theirs, indented.

    None where the items are longer than lines, so that they are walked like other elements.
    """
    if tag.tag == "dl":
        return _definitions(tag)
    items = tag.findall("li")
    if not items or depth > _DEEPEST:
        return None
    found: list[str] = []
    for item in items:
        if has_inside(item, "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"):
            return None
        if sum(1 for _ in item.iter("p")) > 1:
            return None
        inner = [one for one in item.iter("ul", "ol") if ancestor(one, "li") is item]
        text = inline_text(item, ("ul", "ol"))
        if len(text) > _LONG:
            return None
        lines = ["  " * depth + text] * bool(text)
        for nested in inner:
            deeper = list_items(nested, depth + 1)
            if deeper is None:
                return None
            lines += deeper
        found += ["\n".join(lines)] * bool(lines)
    return found


def _definitions(tag: Element) -> list[str] | None:
    """Return each term with its definitions below it."""
    if has_inside(tag, *_INSIDE):
        return None
    found: list[str] = []
    for part in tag.iter("dt", "dd"):
        text = inline_text(part)
        if text and part.tag == "dd" and found:
            found[-1] += f"\n  {text}"
        elif text:
            found.append(text)
    return None if not found or any(len(line) > 4 * _LONG for line in found) else found


def table_rows(tag: Element) -> list[str] | None:
    """Return the rows of a table, cells separated by tabs; None where the table only lays out a page.

    A cell that spans rows or columns stands in the first of them, and the others are empty."""
    if has_inside(tag, *_INSIDE) or ancestor(tag, "table") is not None:
        return None
    lines: list[str] = []
    caption = tag.find("caption")
    if caption is not None and (text := inline_text(caption)):
        lines.append(text)
    spanned: dict[int, int] = {}  # how many more rows each column is taken
    for row in tag.iter("tr"):
        cells = list(row.iter("td", "th"))
        texts: list[str] = []
        for cell in cells:
            while spanned.get(len(texts), 0) > 0:
                spanned[len(texts)] -= 1
                texts.append("")
            text = inline_text(cell)
            if (len(cells) <= 1 and len(text) > _LONG) or sum(1 for _ in cell.iter("p", "div")) > 2:
                return None
            for column in range(_spanned(cell, "colspan")):
                spanned[len(texts)] = _spanned(cell, "rowspan") - 1
                texts.append("" if column else text)
        for column in range(len(texts), max(spanned, default=-1) + 1):
            spanned[column] = max(0, spanned.get(column, 0) - 1)
        if any(texts):
            lines.append("\t".join(texts).rstrip("\t"))
    return lines or None


def _spanned(cell: Element, name: str) -> int:
    number = cell.get(name) or "1"
    return min(max(int(number), 1), _MOST_SPANNED) if number.isdecimal() and len(number) < 6 else 1


def elements(tag: Element, *names: str) -> list[Element]:
    """Return all elements in ``tag`` of these names, or all, in order."""
    return [one for one in tag.iter(*(names or (etree.Element,))) if one is not tag]
