"""Which text of a book was shown: passages joined, and where the lines that a search shows stand in their pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from readagent_core.citations.quotation_search import Finder
from readagent_core.memory import GistMemory, Passage

_FIRST_SIGNS, _LAST_SIGNS = re.compile(r"\A[^\w\s]+"), re.compile(r"[^\w\s]+\Z")


def join_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages in book order, those that touch on one page joined."""
    joined: list[Passage] = []
    for passage in sorted(passages, key=lambda p: (p.begins, p.ends)):
        last = joined[-1] if joined else None
        if last and last.page == passage.page and passage.begins <= last.ends:
            longer = max(last, passage, key=lambda p: p.ends)
            joined[-1] = last._replace(end=longer.end, stop=longer.stop)
        else:
            joined.append(passage)
    return joined


def passages_of(memory: GistMemory, lines: Mapping[int, Iterable[str]]) -> tuple[Passage, ...]:
    """Return where found lines stand, given by their pages."""
    finder, found = Finder(memory), []
    for page, of_page in lines.items():
        for line in of_page:
            places = [p for p in finder.find_in_page([line.strip("… ")], page) if p.end > p.start]
            if places:
                start, end, paragraphs = places[0].paragraph, places[-1].paragraph, memory.document.paragraphs
                first = len(_LAST_SIGNS.sub("", paragraphs[start].text[: places[0].start]))
                text = paragraphs[end].text
                left = _FIRST_SIGNS.sub("", text[places[-1].end :])
                stop = len(text) - len(left) if left else 0
                found.append(Passage(page, start, end + 1, first, stop))
    return tuple(join_passages(found))
