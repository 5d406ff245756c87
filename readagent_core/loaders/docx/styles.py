"""Reads the styles and the numbering of a Word document: the level of a heading, the list of an item.

The names of styles are the same in every language of Word ('heading 1'); their ids are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from readagent_core.loaders.html.marking import format_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"^heading ([1-9])$", re.IGNORECASE)
_CONTENTS = re.compile(r"^(?:toc \d|toc heading|table of figures)$", re.IGNORECASE)
_DIGITS = "〇一二三四五六七八九"
_PLACEHOLDER = re.compile(r"%([1-9])")
_CHAIN = 20  # styles based on styles


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

    def list_place(self, paragraph: Any) -> tuple[str, int | str] | None:
        """Returns the list of an item and its depth, or the style that tells it; None where it is no item."""
        for holder in (paragraph, *self.chain(paragraph)):
            numbering = holder.find(f"{W}pPr/{W}numPr")
            number = value(numbering.find(W + "numId")) if numbering is not None else ""
            if number:
                level = value(numbering.find(W + "ilvl"))
                depth = min(int(level), 8) if level.isdecimal() else value(holder, "styleId")
                return None if number == "0" else (number, depth or 0)
        return None


class Numbering:
    """The lists of a document. Counts their items in order."""

    def __init__(self, tree: Any) -> None:
        every = [] if tree is None else tree.findall(W + "abstractNum")
        abstract = {value(item, "abstractNumId"): item for item in every}
        numbers = [] if tree is None else tree.findall(W + "num")
        self.lists = {value(n, "numId"): abstract.get(value(n.find(W + "abstractNumId"))) for n in numbers}
        self.counts: dict[str, list[int]] = defaultdict(lambda: [0] * 9)

    def depth(self, number: str, depth: int | str) -> int:
        """Returns the depth in a list: that of the level which names the style ``depth``."""
        if isinstance(depth, int):
            return depth
        named = [lvl for lvl in self._levels(number) if value(lvl.find(W + "pStyle")) == depth]
        level = value(named[0], "ilvl") if named else ""
        return min(int(level), 8) if level.isdecimal() else 0

    def _levels(self, number: str) -> list[Any]:
        definition = self.lists.get(number)
        return [] if definition is None else definition.findall(W + "lvl")

    def next_mark(self, number: str, level: int) -> str | None:
        """Returns the mark of the next item: '3. ', 'Article 2. ', or '' for a bullet; None without such a list."""
        if number not in self.lists:
            return None
        counts = self.counts[number]
        counts[level] += 1
        counts[level + 1 :] = [0] * (8 - level)
        settings = {value(lvl, "ilvl"): lvl for lvl in self._levels(number)}
        own = settings.get(str(level))
        form = value(own.find(W + "numFmt")) if own is not None else "bullet"
        if form in ("bullet", "none"):
            return ""
        pattern = value(own.find(W + "lvlText")) if own is not None else ""

        def count(found: re.Match[str]) -> str:
            at = int(found.group(1)) - 1
            other = settings.get(str(at))
            start = value(other.find(W + "start")) if other is not None else ""
            first = int(start) if start.isdecimal() and len(start) < 6 else 1
            other_form = value(other.find(W + "numFmt")) if other is not None else ""
            return _format_number(max(counts[at], 1) + first - 1, other_form)

        mark = _PLACEHOLDER.sub(count, pattern or f"%{level + 1}.").strip()
        return f"{mark} " if mark else ""


def _format_number(number: int, form: str) -> str:
    if form.startswith(("chineseCounting", "ideographDigital", "japaneseCounting", "taiwaneseCounting")):
        tens, ones = divmod(number, 10)
        ten = ("" if tens < 2 else _DIGITS[tens]) + "十" if tens else ""
        return ten + (_DIGITS[ones] if ones else "") if number < 100 else str(number)
    kind = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}.get(form, "1")
    return f"0{number}" if form == "decimalZero" and number < 10 else format_number(number, kind)
