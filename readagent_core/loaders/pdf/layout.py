"""Finds what PDF pages are made of: running headers and footers, page and line numbers, and body text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise

from readagent_core.loaders.headings import is_heading_line, is_named_heading, roman_value
from readagent_core.loaders.pdf.columns import Flow, find_rows
from readagent_core.loaders.pdf.lines import Line, join_parts

LONG = 16  # characters
LARGE = 1.15  # of the usual size; larger text is a heading
_NUMBER = re.compile(
    r"^[-–—~*·•|(\[\s]*(?:page|seite|p\.)?\s*(\d{1,4}|[ivxlcdm]{1,7})\W*(?:(?:of|von|/|sur|de)\s*\d{1,4}\W*)?$", re.I
)
_PRINTED = re.compile(r"\b(?:page|seite|p\.)\s*\d|://", re.IGNORECASE)  # no heading, however large
_DIGITS = re.compile(r"[\divxlc](?:(?<=\d)\d*|(?<!\w.)[ivxlc]{0,5}\b)")  # \d+|\b[ivxlc]{1,6}\b, but found sooner
_COUNTED = re.compile(
    r"^(?:day|night|week|month|lesson|lecture|unit|psalm|sonnet|tag|woche|lektion|jour|leçon|día|lección) \d", re.I
)
_LINE_NUMBER = re.compile(r"^\d{1,4}[RLrl]?$")
_MEASURED = 100  # pages of a long document that show what is usual in it
HYPHENS = ("-", "\u2010")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_EDGE, _DEEPEST = 3, 7  # rows at the top and at the bottom that can be headers or footers, alone or with all before
_NEARBY = 6  # pages that are compared
_HIGHER = 8.0  # points by which the heights of a running header differ
_PLACE = 1.5  # points by which its place differs from page to page
_SENTENCE = 90  # characters; a longer line is text, unless it is the outermost and repeated
_TABLE = 10  # times as many characters of a table as of other text show the usual size
_FEW = 8  # words of the running lines of a page without text
_STAMP = 3  # of the usual size
_LINE_NUMBERS = 5  # on a page; fewer are no line numbers


@dataclass(frozen=True)
class BodyStyle:
    """The usual values of a document. ``size``: of body text. ``leading``: from line to line. ``indent``: of the first
    line of a paragraph, 0 without one. ``words``: its vocabulary in small letters, for hyphens at line ends. ``bold``:
    whether most of it is. ``mono``: whether most of it is in a typewriter font."""

    size: float
    leading: float
    indent: float
    words: Set[str] = frozenset()
    bold: bool = False
    mono: bool = False


def remove_running_lines(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], int]:
    """Returns the pages without line numbers and what repeats at their edges, and how many lines were removed."""
    numbers = [_line_numbers(lines) for lines in pages]
    if sum(map(bool, numbers)) < min(2, len(pages)):  # they may be of a table or list
        numbers = [set() for _ in pages]
    pages = [
        join_parts([line for line in page if line not in no] if no else page)
        for page, no in zip(pages, numbers, strict=True)
    ]
    size = usual_size(pages[:: len(pages) // _MEASURED + 1])
    pages = _with_watermarks(pages, size)
    rows = [find_rows(line for line in lines if not line.turned) for lines in pages]
    edges = [list(_edge_lines(each)) for each in rows]
    turned = [[line for line in lines if line.turned] for lines in pages]  # stamps and watermarks
    found, counted = _find_running([[*edge, *stamps] for edge, stamps in zip(edges, turned, strict=True)], size)
    running = [
        [line for line in stamps if line in repeated] + list(_outermost(each, repeated))
        for each, stamps, repeated in zip(rows, turned, found, strict=True)
    ]
    removed = sum(map(len, numbers))
    remaining: list[list[Line]] = []
    for number, lines in enumerate(pages):
        nearby = [each for each in running[max(0, number - _NEARBY) : number + _NEARBY + 1] if each]
        drop = {*running[number], *_in_their_place(rows[number], nearby, size)}
        rest = [line for line in lines if line not in drop] if drop else lines
        rest = [line._replace(bold=True) if line in counted else line for line in rest] if counted else rest
        words = _count_words(drop)
        if not rest or (words > _FEW and words > _count_words(rest)):  # then they are the text
            rest = [line for line in lines if line not in drop or not _NUMBER.match(line.text)]
        removed += len(lines) - len(rest)
        remaining.append(rest)
    return remaining, removed


def _with_watermarks(pages: Sequence[list[Line]], size: float) -> list[list[Line]]:
    """Returns the pages with the lines as turned that are printed over others: large, or on most pages in one place."""
    half = max(2, len(pages)) / 2
    texts = Counter(chain.from_iterable({line.text for line in lines} for lines in pages))
    often = [line for lines in pages for line in lines if texts[line.text] > half]  # few, so few places are compared
    places = Counter(place for _, place in {(line.number, _place(line)) for line in often})
    return [
        [
            line._replace(turned=True)
            if (line.size > _STAMP * size or (texts[line.text] > half and places[_place(line)] > half))
            and any(_are_crossed(line, other) for other in lines)
            else line
            for line in lines
        ]
        for lines in pages
    ]


def _place(line: Line) -> tuple[str, int, int]:
    return line.text, round(line.x), round(line.y)


def _count_words(lines: Iterable[Line]) -> int:
    return sum(len(line.text.split()) for line in lines)


def _are_crossed(one: Line, other: Line) -> bool:
    """Returns whether two lines are printed over each other."""
    large, small = (one, other) if one.size >= other.size else (other, one)
    if not -0.25 < (small.y - large.y) / large.size < 0.75:
        return False
    return large.text != small.text and min(large.end, small.end) - max(large.x, small.x) > large.size


def usual_size(groups: Iterable[Sequence[Line]]) -> float:
    """Returns the size of most of the text; that of tables counts where there is hardly another."""
    sizes: dict[float, float] = defaultdict(float)
    for line in (line for lines in groups for line in lines):
        sizes[round(line.size * 2) / 2] += len(line.text) / (_TABLE if "\t" in line.text else 1)
    return max(sizes, key=lambda size: sizes[size], default=10.0)


def _find_running(edges: Sequence[Sequence[Line]], size: float) -> tuple[list[list[Line]], set[Line]]:
    """Returns the running lines of each page, and the headings that differ from each other by their number.

    A running line is at the same height on two pages nearby, or the only other. Page numbers grow with the pages."""
    seen: dict[str | int, dict[int, list[Line]]] = defaultdict(dict)  # by what is the same and by page
    for line in chain.from_iterable(edges):
        seen[_key(line)].setdefault(line.number, []).append(line)
    running: list[list[Line]] = [[] for _ in edges]
    counted: set[Line] = set()
    for key, number, lines in (
        (k, n, lines) for k, pages in seen.items() if len(pages) > 1 for n, lines in pages.items()
    ):
        near = [n for n in range(number - _NEARBY, number + _NEARBY + 1) if n != number and n in seen[key]]
        for line in lines:
            same = [each for n in near for each in seen[key][n] if abs(each.y - line.y) < _HIGHER]
            repeats = isinstance(key, int)
            if isinstance(key, str):
                found = len({each.number for each in same})
                repeats = any(c.isalpha() for c in key) and found >= (2 if len(edges) > 2 else 1)
            if not repeats:
                continue
            large = line.size >= LARGE * size and not line.turned and not _PRINTED.search(line.text)
            if large or is_named_heading(line.text) or _COUNTED.match(line.text):
                # a heading is repeated by lines with its whole text; in large letters the first of them is the heading
                repeats = any(each.text == line.text and (each.number < number or not large) for each in same)
                counted |= set() if repeats else {line}
            if repeats:
                running[number].append(line)
    return running, counted


def _edge_lines(rows: list[list[Line]]) -> Iterator[Line]:
    for depth, row in ((min(n, len(rows) - 1 - n), row) for n, row in enumerate(rows)):
        yield from (line for line in row if depth < _EDGE or (depth < _DEEPEST and len(line.text) > LONG))


def _outermost(rows: list[list[Line]], running: Collection[Line]) -> Iterator[Line]:
    """Yields the ``running`` lines in the outermost rows of a page, and in all rows from an edge to the first other."""
    for ordered in (rows[:_DEEPEST], rows[::-1][:_DEEPEST]):
        whole = True
        for depth, row in enumerate(ordered):
            here = [line for line in row if line in running]
            whole = whole and len(here) == len(row)
            yield from (x for x in here if whole or not depth or (depth < _EDGE and len(x.text) <= _SENTENCE))


def _key(line: Line) -> str | int:
    """Returns what is the same in a running line on other pages: its text without numbers, or how far its number is
    from that of its source page."""
    found = _NUMBER.match(line.text)
    value = (int(found.group(1)) if found.group(1).isdigit() else roman_value(found.group(1))) if found else 0
    return value - line.number if value else _DIGITS.sub("#", line.text.casefold()).strip()


def _in_their_place(rows: list[list[Line]], nearby: Sequence[Sequence[Line]], size: float) -> Iterator[Line]:
    """Yields the outermost lines of a page where pages nearby have a running line at the same height.

    So a header is found that changes with each chapter."""
    for line in chain(rows[0], rows[-1]) if len(rows) > 2 else ():
        if line.size < LARGE * size and len(line.text) <= _SENTENCE:
            same = sum(any(abs(each.y - line.y) < _PLACE for each in page) for page in nearby)
            if same > 2 and same * 2 > len(nearby) and not is_heading_line(line.text):
                yield line


def _line_numbers(lines: Sequence[Line]) -> set[Line]:
    """Returns the numbers that are beside the text in one column, and count the lines."""
    text = [line for line in lines if len(line.text) >= LONG]
    numbers = sorted((line for line in lines if _LINE_NUMBER.match(line.text)), key=lambda line: -line.y)
    if min(len(numbers), len(text)) < _LINE_NUMBERS:
        return set()
    left = sorted(line.x for line in text)[len(text) // 20]
    right = sorted(line.end for line in text)[-1 - len(text) // 20]
    found: set[Line] = set()
    for column in ([n for n in numbers if n.end <= left], [n for n in numbers if n.x >= right]):
        values = [int(line.text.rstrip("RLrl")) for line in column]
        if len(values) >= _LINE_NUMBERS and all(before < after for before, after in pairwise(values)):
            found.update(column)
    return found


def measure_body(flows: Sequence[Flow]) -> BodyStyle:
    """Returns the usual size, leading and indent of ``flows``, and the words that are not broken at a line end."""
    some = flows[:: len(flows) // (2 * _MEASURED) + 1]
    size = usual_size([flow.lines for flow in some])
    pairs = [
        (flow.left, before, line)
        for flow in some
        for before, line in pairwise(flow.lines)
        if max(abs(line.size - size), abs(before.size - size)) < 0.6
    ]
    gaps = Counter(round((before.y - line.y) * 2) / 2 for _, before, line in pairs).most_common(3)
    leading = min((gap for gap, n in gaps if n * 3 >= gaps[0][1] and gap > 0.9 * size), default=1.2 * size)
    close = [pair for pair in pairs if pair[1].y - pair[2].y <= 1.3 * leading]
    indents = Counter(
        round(before.x - left)
        for left, before, line in close
        if 0.5 * size < before.x - left < 5 * size and abs(line.x - left) < 2  # the next line is back at the edge
    )
    indent, times = next(iter(indents.most_common(1)), (0, 0))
    text = "\n".join(line.text for flow in flows for line in flow.lines).lower()
    for hyphen in HYPHENS:
        text = text.replace(f"{hyphen}\n", "\0")  # the halves of a broken word are no words
    words = set(_WORD.findall(" ".join(word for word in set(text.split()) if "\0" not in word)))
    words.update(*(word.split("-") for word in words if "-" in word))  # the parts of a compound are words too
    half = sum(len(flow.lines) for flow in some) / 2
    bold, mono = (
        sum([getattr(line, kind) for flow in some for line in flow.lines]) > half for kind in ("bold", "mono")
    )
    return BodyStyle(size, leading, float(indent) if times >= 3 else 0.0, words, bold, mono)
