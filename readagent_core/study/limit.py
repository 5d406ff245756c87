"""How far a person has read, as a page of a reading: the spoiler limit."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from readagent_core.document import Document
from readagent_core.library.records import Position
from readagent_core.memory import GistMemory


def page_reached(memory: GistMemory, whole: Document, position: Position) -> int:
    """The number of the page that holds the furthest place reached; the last one read where that lies beyond.

    A position is a paragraph of the ``whole`` document, a page one of the document as limited for its reading:
    the two have the same characters in the same order.
    """
    if not memory.pages:
        return 0
    paragraph = min(max(position.furthest, position.paragraph), len(whole.paragraphs) - 1)
    before = sum(len(p.text) for p in whole.paragraphs[:paragraph])
    ends = list(accumulate(len(p.text) for p in memory.document.paragraphs))
    index = min(bisect_right(ends, before), len(ends) - 1)
    page = memory.page_at(index)
    return page.number if page else memory.pages[-1].number
