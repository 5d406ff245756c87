"""Reads the styles and the numbering of a Word document: the level of a heading, the list of an item.

The names of styles are the same in every language of Word ('heading 1'); their ids are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"^heading ([1-9])$", re.IGNORECASE)
_CONTENTS = re.compile(r"^(?:toc \d|toc heading|table of figures)$", re.IGNORECASE)
_CHAIN = 20  # styles based on styles
_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def value(element: Any, name: str = "val") -> str:
    """Returns an attribute of ``element``; '' without the element or the attribute."""
    return "" if element is None else str(element.get(W + name) or "")


class Styles:
    """The paragraph styles of a document, by id."""

    def __init__(self, tree: Any) -> None:
        every = [] if tree is None else tree.findall(W + "style")
        self.found = {value(style, "styleId"): style for style in every if value(style, "type") == "paragraph"}
        self.default = next((i for i, style in self.found.items() if value(style, "default") in ("1", "true")), "")

    def chain(self, paragraph: Any) -> list[Any]:
        """Returns the paragraph's style and the styles it is based on."""
        name = value(paragraph.find(f"{W}pPr/{W}pStyle")) or self.default
        chain: list[Any] = []
        while name in self.found and len(chain) < _CHAIN:
            chain.append(self.found[name])
            name = value(chain[-1].find(W + "basedOn"))
        return chain

    def heading_level(self, paragraph: Any) -> int:
        """Returns the level of a heading, from 1; 0 for text."""
        if self.is_contents(paragraph):
            return 0
        outline = value(paragraph.find(f"{W}pPr/{W}outlineLvl"))
        for style in self.chain(paragraph):
            if outline:
                break
            name = value(style.find(W + "name"))
            heading = _HEADING.match(name)
            if heading:
                return int(heading.group(1))
            if name.lower() == "title":
                return 1
            outline = value(style.find(f"{W}pPr/{W}outlineLvl"))
        return int(outline) + 1 if outline.isdecimal() and int(outline) < 9 else 0

    def name(self, paragraph: Any) -> str:
        """Returns the name of the paragraph's style in small letters; '' where it has none."""
        return "".join(value(style.find(W + "name")).lower() for style in self.chain(paragraph)[:1])

    def is_contents(self, paragraph: Any) -> bool:
        """Returns whether the paragraph belongs to a table of contents made by Word."""
        return bool(_CONTENTS.match(self.name(paragraph)))

    def list_place(self, paragraph: Any) -> tuple[str, int] | None:
        """Returns the list of an item and its depth; None where the paragraph is no item."""
        for holder in (paragraph, *self.chain(paragraph)):
            numbering = holder.find(f"{W}pPr/{W}numPr")
            number = value(numbering.find(W + "numId")) if numbering is not None else ""
            if number:
                level = value(numbering.find(W + "ilvl"))
                return None if number == "0" else (number, min(int(level), 8) if level.isdecimal() else 0)
        return None


class Numbering:
    """The lists of a document. Counts their items in order."""

    def __init__(self, tree: Any) -> None:
        every = [] if tree is None else tree.findall(W + "abstractNum")
        abstract = {value(item, "abstractNumId"): item for item in every}
        numbers = [] if tree is None else tree.findall(W + "num")
        self.lists = {value(n, "numId"): abstract.get(value(n.find(W + "abstractNumId"))) for n in numbers}
        self.counts: dict[str, list[int]] = defaultdict(lambda: [0] * 9)

    def next_mark(self, number: str, level: int) -> str | None:
        """Returns the mark of the next item: '3. ', or '' for a bullet; None where there is no such list."""
        if number not in self.lists:
            return None
        counts = self.counts[number]
        counts[level] += 1
        counts[level + 1 :] = [0] * (8 - level)
        definition = self.lists[number]
        levels = [] if definition is None else definition.findall(W + "lvl")
        settings = [s for s in levels if value(s, "ilvl") == str(level)]
        form = value(settings[0].find(W + "numFmt")) if settings else "bullet"
        start = value(settings[0].find(W + "start")) if settings else ""
        at = counts[level] + (int(start) - 1 if start.isdecimal() and len(start) < 6 and int(start) else 0)
        return "" if form in ("bullet", "none") else f"{_format_number(at, form)}. "


def _format_number(number: int, form: str) -> str:
    if form.endswith("Letter") and 0 < number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter.upper() if form.startswith("upper") else letter
    if form.endswith("Roman") and 0 < number < 40:
        roman, rest = "", number
        for size, sign in _ROMAN:
            roman, rest = roman + sign * (rest // size), rest % size
        return roman.upper() if form.startswith("upper") else roman
    return str(number)
