"""Parses HTML and returns the text of single elements: inline text, and lists and tables as lines.

Ruby annotations and the markers of notes are left out; pictures give their alternative text. There is no recursion over
the tree, so that deep nesting cannot exhaust the stack. Used for web pages and EPUB.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bs4 import BeautifulSoup, Comment, Declaration, Doctype, ProcessingInstruction, Tag
from bs4.element import PageElement

from readagent_core.loaders.base import raise_text
from readagent_core.loaders.descriptions import bracket_description

_NEVER = frozenset(
    "script style template head iframe object embed canvas audio video map noscript rt rp rtc input button select "  # noqa: SIM905
    "textarea datalist svg meta link title".split()
)
BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer "  # noqa: SIM905
    "form header hgroup html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "caption h1 h2 h3 h4 h5 h6 hr".split()
)
RAISED_TAGS = ("sup", "sub")
NOT_TEXT = (Comment, Declaration, Doctype, ProcessingInstruction)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_NUMBER_CLASS = re.compile(r"^(?:lnum|linenum|line-?num(?:ber)?|page-?num(?:ber)?s?|pageno|pgnum|x-ebookmaker-pageno)$")
_MARKER = re.compile(r"^[\[(]?\s*(?:\d{1,4}|[*†‡§¶#]{1,3}|[a-z]|[ivxlc]{1,6}|注\d*|※\d*)\s*[\])]?$", re.IGNORECASE)
_BACK = re.compile(r"^[\s\[(]*(?:↩|↑|⏎|⤴|\^|back|return)[\ufe0e\s\])]*$", re.IGNORECASE)
_INSIDE = ["table", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article"]
_LONG = 240  # characters; a longer item is a paragraph, not a line
_DEEPEST = 4


def parse_html(text: str) -> BeautifulSoup:
    """Returns the tree of ``text``. CDATA sections become text; external entities are not fetched."""
    if "<![CDATA[" in text:
        text = re.sub(
            r"<!\[CDATA\[(.*?)\]\]>", lambda m: m.group(1).replace("&", "&amp;").replace("<", "&lt;"), text, flags=re.S
        )
    text = _DECLARATION.sub("", text, count=1)
    if not text.lstrip()[:9].lower().startswith("<!doctype"):
        text = f"<!doctype html>{text}"  # else Beautiful Soup may take a short text for a file name
    return BeautifulSoup(text, "lxml")


def semantic_types(tag: Tag) -> frozenset[str]:
    """Returns the words of the element's ``epub:type`` and ``role`` (without ``doc-``)."""
    words = f"{tag.get('epub:type') or ''} {str(tag.get('role') or '').replace('doc-', '')}"
    return frozenset(words.lower().split())


def class_names(tag: Tag) -> list[str]:
    """Returns the element's classes."""
    found = tag.get("class")
    return found.split() if isinstance(found, str) else list(found or ())


def inline_text(tag: Tag, without: Collection[str] = ()) -> str:
    """Returns the text of ``tag`` on one line, without note markers, ruby and the elements named in ``without``."""
    pieces: list[str] = []
    waiting: list[PageElement | str] = [*tag.contents[::-1]]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Tag):
            pieces += [str(node)] * (not isinstance(node, NOT_TEXT))
        elif node.name in without or is_left_out(node) or is_note_marker(node):
            continue
        elif node.name == "br":
            pieces.append(" ")
        elif node.name == "img":
            pieces.append(alternative_text(node))
        elif node.name == "math":
            pieces.append(formula_text(node))
        elif node.name in RAISED_TAGS and (raised := raised_text(node)):
            pieces.append(raised)
        else:
            edge = [" "] * (node.name in BLOCK_TAGS)
            waiting += [*edge, *node.contents[::-1], *edge]
    return " ".join("".join(pieces).split())


def raised_text(tag: Tag) -> str:
    """Returns the digits of a ``<sup>`` or ``<sub>`` as raised or lowered characters ('⁶' in 10⁶); '' for others."""
    return raise_text(tag.get_text().strip(), up=tag.name in ("sup", "msup"))


def formula_text(math: Tag) -> str:
    """Returns a MathML formula as text: its alternative text, else its symbols, with exponents raised."""
    if math.get("alttext"):
        return str(math["alttext"])
    for tag in reversed(math.find_all(["msup", "msub"])):
        parts = [part for part in tag.children if isinstance(part, Tag)]
        mark = raise_text(parts[1].get_text().strip(), up=tag.name == "msup") if len(parts) == 2 else ""
        if mark:
            tag.string = parts[0].get_text(" ").strip() + mark
    return " ".join(math.get_text(" ").split())


def alternative_text(image: Tag) -> str:
    """Returns the alternative text of a picture in brackets; '' where it describes nothing."""
    return bracket_description(str(image.get("alt") or ""))


def picture_source(tag: Tag) -> tuple[str, str]:
    """Returns the address and the alternative text of an ``<img>``, or of the picture that an ``<svg>`` only frames.

    The address of any other drawing is '#'; it is '' for an icon, which has neither a role nor a caption.
    """
    if tag.name == "img":
        return str(tag.get("src") or ""), str(tag.get("alt") or "")
    title = tag.find("title")
    alt = str(tag.get("aria-label") or (title.get_text() if isinstance(title, Tag) else ""))
    image = tag.find("image")
    if isinstance(image, Tag):
        return str(image.get("xlink:href") or image.get("href") or ""), alt
    return ("#" if tag.get("role") == "img" or tag.find_parent("figure") else ""), alt


def is_left_out(tag: Tag) -> bool:
    """Returns whether the element has no text of the book: scripts, ruby, line and page numbers."""
    return tag.name in _NEVER or (
        tag.name in ("span", "a", "div", "p", "small")
        and (any(_NUMBER_CLASS.match(c) for c in class_names(tag)) or "pagebreak" in semantic_types(tag))
    )


def is_note_marker(tag: Tag) -> bool:
    """Returns whether ``tag`` is the marker of a note in the text, or the link back from a note."""
    if tag.name not in ("a", "sup"):
        return False
    kind = semantic_types(tag)
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


def list_items(tag: Tag, depth: int = 0) -> list[str] | None:
    """Returns the items of a list, numbered as a browser shows them; nested items are lines of theirs, indented.

    None where the items are longer than lines, so that they are walked like other elements.
    """
    if tag.name == "dl":
        return _definitions(tag)
    items = tag.find_all("li", recursive=False)
    if not items or depth > _DEEPEST:
        return None
    found: list[str] = []
    number = _start(tag)
    for item in items:
        inner = [t for t in item.find_all(["ul", "ol"]) if isinstance(t, Tag) and t.find_parent("li") is item]
        if item.find(["table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"]) or len(item.find_all("p")) > 1:
            return None
        text = inline_text(item, ("ul", "ol"))
        if len(text) > _LONG:
            return None
        lines: list[str] = []
        if text:
            mark = f"{number}. " if tag.name == "ol" and not text[0].isdigit() else ""
            lines.append("  " * depth + mark + text)
            number += 1
        for nested in inner:
            deeper = list_items(nested, depth + 1)
            if deeper is None:
                return None
            lines += deeper
        found += ["\n".join(lines)] * bool(lines)
    return found


def _start(tag: Tag) -> int:
    start = str(tag.get("start") or "1")
    return int(start) if start.isdecimal() and len(start) < 6 else 1


def _definitions(tag: Tag) -> list[str] | None:
    """Returns each term with its definitions below it."""
    if tag.find(_INSIDE):
        return None
    found: list[str] = []
    for part in tag.find_all(["dt", "dd"]):
        text = inline_text(part)
        if text and part.name == "dd" and found:
            found[-1] += f"\n  {text}"
        elif text:
            found.append(text)
    return None if not found or any(len(line) > 4 * _LONG for line in found) else found


def table_rows(tag: Tag) -> list[str] | None:
    """Returns the rows of a table, cells separated by tabs; None where the table only lays out a page."""
    if tag.find(_INSIDE) or tag.find_parent("table"):
        return None
    lines: list[str] = []
    caption = tag.find("caption")
    if isinstance(caption, Tag) and inline_text(caption):
        lines.append(inline_text(caption))
    for row in tag.find_all("tr"):
        cells = row.find_all(["td", "th"])
        texts = [inline_text(cell) for cell in cells]
        if len(cells) <= 1 and any(len(text) > _LONG for text in texts):
            return None
        if any(len(cell.find_all(["p", "div"])) > 2 for cell in cells):
            return None
        if any(texts):
            lines.append("\t".join(texts).rstrip("\t"))
    return lines or None
