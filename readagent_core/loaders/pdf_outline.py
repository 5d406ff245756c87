"""A PDF's outline (its bookmarks) as marks on pages; loops and broken entries are passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader

from readagent_core.loaders.base import clean

_MOST = 5_000
_DEEPEST = 12
_NUMBERING = re.compile(r"^(?:(?:chapter|section|part|appendix)\s+)?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.:)]?\s+", re.I)


@dataclass(frozen=True)
class Mark:
    """``number``: source page, from 0. ``top``: height on it in points, None when not told."""

    title: str
    number: int
    top: float | None
    level: int


def read_outline(reader: PdfReader, total: int) -> list[Mark]:
    """The entries that point to a page, in reading order; [] where there are none."""
    try:
        outline: Any = reader.outline
    except Exception:  # noqa: BLE001  the outline of a broken file may fail in any way; the text is still there
        return []
    marks: list[Mark] = []
    stack: list[tuple[Any, int]] = [(iter(outline), 1)]
    while stack and len(marks) < _MOST:
        entries, level = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
        elif isinstance(entry, list):
            if level < _DEEPEST:
                stack.append((iter(entry), level + 1))
        else:
            mark = _mark(reader, entry, level, total)
            if mark is not None:
                marks.append(mark)
    # sorted by page only: a sort by height would tear columns apart
    return sorted(marks, key=lambda mark: mark.number)


def _mark(reader: PdfReader, entry: Any, level: int, total: int) -> Mark | None:
    try:
        number = reader.get_destination_page_number(entry)
        title = " ".join(clean(str(entry.title)).split())
        top = entry.top
    except Exception:  # noqa: BLE001  see read_outline
        return None
    if number is None or not 0 <= number < total or not title:
        return None
    height = float(top) if isinstance(top, int | float) else None
    return Mark(title, number, height, level)


def same_title(title: str, text: str) -> bool:
    """Whether ``text`` is the heading of this entry, with or without its number."""
    one, two = (_NUMBERING.sub("", _plain(t)) or _plain(t) for t in (title, text))
    return bool(one) and (one == two or one.replace(" ", "") == two.replace(" ", ""))


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())
