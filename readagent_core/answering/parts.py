"""The parts of a book as the views of one answer had them: pages, titles, and the gist of each.

Made from the saved events and the memory. The gists are those in the prompts that were sent, so an old answer is drawn
as it ran, whatever was made again since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.answering.base import Event, Expanded, ModelCall
from readagent_core.answering.levels import lay_out
from readagent_core.memory import GistMemory
from readagent_core.prompts import render_fragment

Range = tuple[int, int]  # first and last page, inclusive
_ENTRY = (  # after the number of the book, if there are several
    r"^<Pages {prefix}(\d+)-(\d+)>(?: \(gist\)|（要点）)?\n(.*?)(?=^<Pages? [\d.]+(?:-\d+)?>|^<Book \d+> |^</text>|\Z)"
)
_BOOK = re.compile(r"^<Book (\d+)> [^\n]*\n(.*?)(?=^<Book \d+> |^</text>|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class PartSeen:
    """Pages ``first`` to ``last``. ``level``: 1 above pages. ``title``: of its chapters; '' without sections.

    ``gist``: as it was in a prompt; '' where the part was open from the start.
    """

    first: int
    last: int
    level: int
    title: str
    gist: str


def parts_seen(events: Sequence[Event], memory: GistMemory, *, book: int = 0) -> list[PartSeen]:
    """Return the parts of ``memory`` that the views of an answer had, the outer before the inner, in book order.

    ``memory``: as it was asked, without the pages after the spoiler limit. ``book``: its number among several. Empty
    where every page was shown by itself.
    """
    ranges = _ranges(events, book)
    if not ranges or max(last for _, last in ranges) > len(memory.pages):
        return []
    levels: dict[Range, int] = {}
    for number, level in enumerate(lay_out(memory, 0)[1:], start=1):
        for part in level:
            if part.first != part.last:
                levels.setdefault((part.first, part.last), number)
    if not ranges <= levels.keys():  # gists were changed since: the parts that were seen are all that is known
        levels = {r: 1 + len({o for o in ranges if o != r and r[0] <= o[0] and o[1] <= r[1]}) for r in ranges}
    top = max(levels[r] for r in ranges)
    gists = _gists(events, memory.document.language, book)
    found = [
        PartSeen(first, last, level, part_title(memory, first, last), gists.get((first, last), ""))
        for (first, last), level in levels.items()
        if level <= top
    ]
    return sorted(found, key=lambda part: (part.first, -part.level))


def part_title(memory: GistMemory, first: int, last: int) -> str:
    """Return the titles of the first and the last section of the pages; '' where there is none."""
    start, end = memory.page(first).start, memory.page(last).end
    begins = memory.section_of(first)
    inside = [s for s in memory.document.sections if start <= s.start < end]
    if begins is None:
        return " to ".join(dict.fromkeys(s.title.rstrip(".") for s in inside[:1] + inside[-1:]))
    title = begins.title.rstrip(".") + ("" if begins.start >= start else ", continued")
    later = [s.title.rstrip(".") for s in inside if s.start > begins.start and s.level <= begins.level]
    return f"{title} to {later[-1]}" if later else title


@dataclass(frozen=True)
class ClosedBook:
    """What a prompt had of a book that was not opened: its gist, and the lines in which words were found.

    ``found``: the page of each, 0 in a book without gists, and its text.
    """

    gist: str
    found: tuple[tuple[int, str], ...]


def closed_books(events: Sequence[Event], language: str) -> dict[int, ClosedBook]:
    """Return what the prompts of a question about several books had of those that were closed, by number.

    ``language``: of the prompts.
    """
    found: dict[int, ClosedBook] = {}
    on_page, in_book = (_line_of(name, field, language) for name, field in (("found", "page"), ("found.book", "book")))
    for event in events:
        if isinstance(event, ModelCall):
            for entry in _BOOK.finditer(event.prompt):
                if entry[2].startswith("\n"):  # pages follow: it is open
                    continue
                lines = entry[2].strip().splitlines()
                told = [one for line in lines if (one := on_page.fullmatch(line) or in_book.fullmatch(line))]
                gist = "\n".join(line for line in lines if not (on_page.fullmatch(line) or in_book.fullmatch(line)))
                places = ((int(one[1].partition(".")[2] or 0), one[2]) for one in told)
                found[int(entry[1])] = ClosedBook(gist, tuple(places))
    return found


def _line_of(name: str, field: str, language: str) -> re.Pattern[str]:
    """Return what matches a line of found words as a prompt has it: its place, and its text."""
    line = re.escape(render_fragment(name, language, **{field: "PLACE"}, line="TEXT"))
    return re.compile(line.replace("PLACE", r"([\d.]+)").replace("TEXT", "(.*)"))


def _ranges(events: Sequence[Event], book: int) -> set[Range]:
    return {
        (first, last)
        for event in events
        if isinstance(event, Expanded) and event.book == book
        for first, last, how in event.shown
        if how == "part" and first != last
    }


def _gists(events: Sequence[Event], language: str, book: int) -> dict[Range, str]:
    """Return the gists of parts in the prompts, without the lines of found words below them."""
    before = render_fragment("found", language, page="0", line="").partition("0")[0]
    lines = re.compile(rf"\n{re.escape(before)}\d")
    of_book = re.compile(_ENTRY.format(prefix=rf"{book}\." if book else ""), re.MULTILINE | re.DOTALL)
    found: dict[Range, str] = {}
    for event in events:
        if isinstance(event, ModelCall):
            for entry in of_book.finditer(event.prompt):
                found.setdefault((int(entry[1]), int(entry[2])), lines.split(entry[3])[0].strip())
    return found
