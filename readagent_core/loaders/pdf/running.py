"""Finds what is printed around the text of PDF pages: running headers and footers, page numbers and line numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from readagent_core.loaders import headings
from readagent_core.loaders.pdf.lines import Line, join_parts
from readagent_core.loaders.pdf.order import LONG, find_rows

LARGE = 1.15  # of the usual size; larger text is a heading
_NUMBER = re.compile(
    r"^[-–—~*·•|(\[\s]*(?:page|seite|p\.)?\s*(\d{1,4}|[ivxlcdm]{1,7})\W*(?:(?:of|von|/|sur|de)\s*\d{1,4}\W*)?$", re.I
)
_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_NUMBERED = re.compile(r"^[^\W\d_]{2,} \d{1,4}[.:]?$")  # 'Day 3'
_PERIOD = re.compile(r"^(?:day|week|month|lesson|lecture|unit|tag|woche|lektion|jour|leçon|día|lección)\b", re.I)
_LINE_NUMBER = re.compile(r"^(\d{1,4})[RLrl]?$")
_MEASURED = 100  # pages that show the usual size
_EDGE = 3  # rows at the top and at the bottom that can be headers or footers
_NEARBY = 6  # pages that are compared
_HIGHER = 8.0  # points by which the heights of a running header differ
_PLACE = 1.5  # points by which its place differs from page to page
_SENTENCE = 90  # characters; a longer line is text
_SHORTEST = 8  # characters of a line that may be similar instead of equal
_ALIKE = 0.84  # share of two lines that is equal where they differ by errors of OCR
_FEW = 8  # words of the running lines of a page without text
_APART = 1.3  # of the size; a header is at least so far from the text
_LINE_NUMBERS = 5  # on a page; fewer are no line numbers


def remove_running_lines(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], int]:
    """Returns the pages without lines that repeat at their edges and line numbers, and how many were removed."""
    pages, removed = _without_line_numbers(pages)
    total = sum(map(len, pages))
    rows = [find_rows(lines) for lines in pages]
    edges = [[line for row in _edge_rows(each) for line in row] for each in rows]
    size = _usual_size(pages)
    numbers = _page_numbers(edges if len(pages) > 1 else [[row[0] for row in rows[0][-1:] if len(row) == 1]])
    repeated = [line for edge in edges for line in edge if _repeats(line, edges, size)]
    counted = {id(line) for line in repeated if _counts_sections(line, edges, size)}
    running = {id(line) for line in repeated} - counted
    dropped: list[set[int]] = []
    for lines, edge in zip(pages, edges, strict=True):
        drop = {id(line) for line in edge if id(line) in numbers or id(line) in running}
        words = sum(len(line.text.split()) for line in lines if id(line) in drop)
        if words > _FEW and words * 2 > sum(len(line.text.split()) for line in lines):
            drop &= numbers  # where most words would be removed, the lines are the text
        dropped.append(drop)
    places = [[line for line in edge if id(line) in drop] for edge, drop in zip(edges, dropped, strict=True)]
    remaining: list[list[Line]] = []
    for number, (lines, drop) in enumerate(zip(pages, dropped, strict=True)):
        drop |= {id(line) for line in _in_their_place(rows[number], drop, places, number, size)}
        rest = [replace(line, bold=True) if id(line) in counted else line for line in lines if id(line) not in drop]
        # a line is never removed where it is the only text of its page
        remaining.append(rest or [line for line in lines if id(line) not in numbers])
    return remaining, removed + total - sum(map(len, remaining))


def _edge_rows(rows: list[list[Line]]) -> list[list[Line]]:
    return [*rows[:_EDGE], *rows[max(_EDGE, len(rows) - _EDGE) :]]


def _usual_size(pages: Sequence[Sequence[Line]]) -> float:
    """Returns the size of most of the text."""
    sizes: Counter[float] = Counter()
    for line in (line for lines in pages[:: len(pages) // _MEASURED + 1] for line in lines):
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _repeats(line: Line, edges: Sequence[Sequence[Line]], size: float) -> bool:
    """Returns whether two pages nearby, or the only other one, have the same line at this height.

    The first of large lines that are equal is text."""
    if len(line.text) > _SENTENCE:
        return False
    nearby = edges[max(0, line.number - _NEARBY) : line.number + _NEARBY + 1]
    same = [found for edge in nearby if edge and edge[0].number != line.number for found in _same_line(line, edge)]
    if len(same) < (2 if len(edges) > 2 else 1):
        return False
    return line.size < LARGE * size or any(other.number < line.number or other.text != line.text for other in same)


def _same_line(line: Line, edge: Sequence[Line]) -> Iterator[Line]:
    """Yields the line of another page that is the same at the same height, if there is one."""
    for other in edge:
        if abs(other.y - line.y) < _HIGHER and _is_same(other.text, line.text):
            yield other
            return


def _counts_sections(line: Line, edges: Sequence[Sequence[Line]], size: float) -> bool:
    """Returns whether a repeated line is a heading such as 'Day 3', not the title of a book with the page number.

    The text below a heading starts with a sentence on each page."""
    if not _DIGITS.search(line.text):
        return False
    nearby = [each for edge in edges[max(0, line.number - 1) : line.number + 2] for each in edge if each is not line]
    if any(each.text == line.text for each in nearby):  # the chapter's number above each of its pages
        return False
    if line.size >= LARGE * size or headings.is_named_heading(line.text) or _PERIOD.match(line.text):
        return True
    if not _NUMBERED.match(line.text):
        return False
    starts = [edge[i + 1].text[:1] for edge in edges for i in range(len(edge) - 1) if _is_same(edge[i].text, line.text)]
    return len(starts) > 2 and not any(start.islower() for start in starts)


@lru_cache(maxsize=10_000)
def _is_same(one: str, other: str) -> bool:
    """Returns whether two lines are equal but for their numbers ('The Siege 49', 'The Siege 51') or errors of OCR."""
    a, b = (_DIGITS.sub("#", text.casefold()).strip() for text in (one, other))
    if a == b:
        return any(c.isalpha() for c in a)
    if min(len(a), len(b)) < _SHORTEST:
        return False
    matcher = SequenceMatcher(None, a, b)
    return matcher.real_quick_ratio() > _ALIKE and matcher.quick_ratio() > _ALIKE and matcher.ratio() > _ALIKE


def _page_numbers(edges: Sequence[Sequence[Line]]) -> set[int]:
    """Returns the ids of lines that are only a number which grows with the pages."""
    candidates: dict[int, list[tuple[int, Line]]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for line in edge:
            found = _NUMBER.match(line.text)
            if found:
                text = found.group(1)
                value = int(text) if text.isdigit() else headings.roman_value(text)
                if value:
                    candidates[value - number].append((number, line))
    drop: set[int] = set()
    for group in candidates.values():
        if len({n for n, _ in group}) >= min(2, len(edges)):
            drop |= {id(line) for _, line in group}
    return drop


def _in_their_place(
    rows: list[list[Line]], drop: set[int], places: Sequence[Sequence[Line]], number: int, size: float
) -> Iterator[Line]:
    """Yields the outermost lines of a page that are apart from the text, where pages nearby have a running line.

    So a header is found that changes with each chapter."""
    nearby = [place for place in places[max(0, number - _NEARBY) : number + _NEARBY + 1] if place]
    for row, inner in ((rows[0], rows[1]), (rows[-1], rows[-2])) if len(rows) > 2 else ():
        gap = abs(row[0].y - inner[0].y)
        for line in row:
            if id(line) in drop or line.size >= LARGE * size or len(line.text) > _SENTENCE or gap < _APART * size:
                continue
            same = sum(any(abs(p.y - line.y) < _PLACE and p.size >= 0.9 * line.size for p in place) for place in nearby)
            if same > 2 and same * 2 > len(nearby) and not headings.is_heading_line(line.text):
                yield line


def _without_line_numbers(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], int]:
    """Returns the pages without the numbers of lines in a margin, and how many these are.

    Other numbers join their lines again."""
    found = [_line_numbers(lines) for lines in pages]
    if sum(map(bool, found)) < min(2, len(pages)):
        found = [set() for _ in pages]
    text = [[line for line in lines if id(line) not in ids] for lines, ids in zip(pages, found, strict=True)]
    return [join_parts(lines) for lines in text], sum(map(len, found))


def _line_numbers(lines: Sequence[Line]) -> set[int]:
    """Returns the ids of numbers that are beside the text in one column, and count by a constant step."""
    text = [line for line in lines if len(line.text) >= LONG]
    numbers = [line for line in lines if _LINE_NUMBER.match(line.text)]
    if len(numbers) < _LINE_NUMBERS or len(text) < _LINE_NUMBERS:
        return set()
    left = sorted(line.x for line in text)[len(text) // 20]
    right = sorted(line.end for line in text)[-1 - len(text) // 20]
    found: set[int] = set()
    for column in ([n for n in numbers if n.end <= left], [n for n in numbers if n.x >= right]):
        down = sorted(column, key=lambda line: -line.y)
        values = [int(match.group(1)) for line in down if (match := _LINE_NUMBER.match(line.text))]
        steps = Counter(after - before for before, after in pairwise(values))
        step, times = steps.most_common(1)[0] if steps else (0, 0)
        if len(values) >= _LINE_NUMBERS and step > 0 and times * 5 >= 4 * (len(values) - 1):
            found |= {id(line) for line in down}
    return found
