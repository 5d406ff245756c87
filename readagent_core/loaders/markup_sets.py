"""Lists and tables of a web page as lines; None where they only lay out a page or hold long texts.

Such a list or table is then walked like any other element, a paragraph at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from bs4 import Tag

_INSIDE = ["table", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article"]
_LONG = 240  # characters of an item that is a paragraph rather than a line
_DEEPEST = 4


def list_lines(tag: Tag, plain: Callable[..., str], depth: int = 0) -> list[str] | None:
    """A line an item, numbered as the page would show it; items within items are indented."""
    if tag.name == "dl":
        return _definitions(tag, plain)
    items = tag.find_all("li", recursive=False)
    if not items or depth > _DEEPEST:
        return None
    lines: list[str] = []
    number = _start(tag)
    for item in items:
        inner = [t for t in item.find_all(["ul", "ol"]) if isinstance(t, Tag) and t.find_parent("li") is item]
        if item.find(["table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"]) or len(item.find_all("p")) > 1:
            return None
        deeper: list[str] = []
        for nested in inner:
            found = list_lines(nested, plain, depth + 1)
            if found is None:
                return None
            deeper += found
        text = plain(item, ("ul", "ol"))
        if len(text) > _LONG:
            return None
        if text:
            mark = f"{number}. " if tag.name == "ol" and not text[0].isdigit() else ""
            lines.append("  " * depth + mark + text)
            number += 1
        lines += deeper
    return lines


def _start(tag: Tag) -> int:
    start = str(tag.get("start") or "1")
    return int(start) if start.isdecimal() and len(start) < 6 else 1


def _definitions(tag: Tag, plain: Callable[..., str]) -> list[str] | None:
    if tag.find(_INSIDE):
        return None
    lines = [("  " if part.name == "dd" else "") + text for part in tag.find_all(["dt", "dd"]) if (text := plain(part))]
    return None if not lines or any(len(line) > _LONG for line in lines) else lines


def table_lines(tag: Tag, plain: Callable[..., str]) -> list[str] | None:
    """A line a row, its cells parted by tabs."""
    if tag.find(_INSIDE) or tag.find_parent("table"):
        return None
    rows = tag.find_all("tr")
    lines: list[str] = []
    caption = tag.find("caption")
    if isinstance(caption, Tag) and plain(caption):
        lines.append(plain(caption))
    for row in rows:
        cells = [plain(cell) for cell in row.find_all(["td", "th"])]
        if len(cells) <= 1 and any(len(cell) > _LONG for cell in cells):
            return None
        if any(len(cell.find_all(["p", "div"])) > 2 for cell in row.find_all(["td", "th"])):
            return None
        if any(cells):
            lines.append("\t".join(cells).rstrip("\t"))
    return lines or None
