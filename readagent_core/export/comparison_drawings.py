"""The drawings of a comparison as elements: strips of pages, MemWalker's tree, the topics of semantic compression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

from readagent_core.comparing.comparison import ComparedBook, place_of
from readagent_core.export.citation_labels import short_title
from readagent_core.export.comparison_words import describe_pages

Element = list[Any]  # [tag, attributes, *children]; a child is an Element or a text
KINDS = {  # of a page, by CSS class
    "full": "seen in full",
    "some": "opened in part",
    "gi": "seen in short",
    "pt": "seen in one gist of several pages",
    "un": "not seen",
}
_CLASSES = {"full": "full", "passage": "some", "gist": "gi", "part": "pt"}  # by how a page was seen
DENSE = 120  # pages in the width of a strip, above which neighbours of one kind are drawn as one cell
MAX_NUMBERS = 8  # pages seen in full, up to which the map shows their numbers
WIDE, NARROW = 520, 328  # pixels of a strip: from the first one on it shows what has the class ``wide`` (compare.css)
DIGIT, GAP = 7, 3  # pixels of a number under a cell


def draw_titles(books: Sequence[ComparedBook], pages: Sequence[int]) -> list[Element]:
    """The titles of several books, each as wide as its part of every strip."""
    if len(books) < 2:
        return []
    parts = _by_book(books, pages)
    titles = [["span", {"title": book.title, "style": style}, short_title(book.title)] for book, style, _ in parts]
    return [["div", {"class": "books small dim"}, *titles]]


def _by_book(
    books: Sequence[ComparedBook], pages: Sequence[int]
) -> Iterator[tuple[ComparedBook, str, tuple[int, int]]]:
    """Yield each book, its style in a strip, and its first page and the one after its last, numbered through."""
    first = 1
    for book in books:
        end = first + book.pages
        yield book, f"flex-grow:{sum(pages[first - 1 : end - 1])}", (first, end)
        first = end


def draw_strip(seen: Mapping[int, str], pages: Sequence[int], books: Sequence[ComparedBook]) -> Element:
    """The map of the text: a cell for each page, as wide as it is long, and the higher the further it was opened.

    The cells of several books are in a box for each.
    """
    kinds = [_CLASSES.get(seen.get(n, ""), "un") for n in range(1, len(pages) + 1)]

    def is_dense(first: int, end: int) -> bool:
        return (end - first) * sum(pages) > DENSE * sum(pages[first - 1 : end - 1])

    def runs(first: int, end: int) -> list[list[int]]:
        """The pages from ``first`` to before ``end``, those of one cell together."""
        places, dense = range(first - 1, end - 1), is_dense(first, end)
        grouped = groupby(places, key=lambda i: kinds[i] if dense or kinds[i] == "pt" else i)
        return [[i + 1 for i in run] for _, run in grouped]

    whole = (1, len(pages) + 1)
    boxes = [(style, part) for _, style, part in _by_book(books, pages)] if len(books) > 1 else []
    full = [
        run for part in [part for _, part in boxes] or [whole] for run in runs(*part) if kinds[run[0] - 1] == "full"
    ]
    labels = _labels(full, pages, books) if kinds.count("full") <= MAX_NUMBERS else {}

    def cells(first: int, end: int) -> Iterator[Element]:
        for run in runs(first, end):
            kind, words = kinds[run[0] - 1], sum(pages[n - 1] for n in run)
            title = f"{describe_pages(run, books)}: {KINDS[kind]}"
            label = [labels[run[0]]] if run[0] in labels else []
            yield ["i", {"class": kind, "style": f"flex-grow:{words}", "title": title}, *label]

    def box(part: tuple[int, int], classes: str) -> dict[str, str]:
        return {"class": f"{classes}{' dense' if is_dense(*part) else ''}"}

    if not boxes:
        return ["div", box(whole, "hm") | {"aria-hidden": "true"}, *cells(*whole)]
    drawn: list[Element] = [["div", box(part, "part") | {"style": style}, *cells(*part)] for style, part in boxes]
    return ["div", {"class": "hm several", "aria-hidden": "true"}, *drawn]


def _labels(runs: Sequence[Sequence[int]], pages: Sequence[int], books: Sequence[ComparedBook]) -> dict[int, Element]:
    """The numbers under the cells of ``runs`` that have room, by the first page of each.

    Those with room in a wide strip only have the class ``wide``.
    """
    words = [0, *accumulate(pages)]
    names = {run[0]: str(place_of(books, run[0])[1]) for run in runs}
    places = {run[0]: (words[run[0] - 1] + words[run[-1]]) / 2 / max(1, words[-1]) for run in runs}

    def apart(numbers: Sequence[int], width: int) -> list[int]:
        """Those of ``numbers`` that do not touch the one before them in a strip of ``width``."""
        kept: list[int] = []
        end = 0.0
        for number in numbers:
            half = (DIGIT * len(names[number]) + GAP) / 2
            if not kept or places[number] * width - half >= end:
                kept.append(number)
                end = places[number] * width + half
        return kept

    wide = apart(list(names), WIDE)
    narrow = apart(wide, NARROW)
    return {number: ["span", {} if number in narrow else {"class": "wide"}, names[number]] for number in wide}


def draw_tree(nodes: list[dict[str, Any]], walk: list[dict[str, Any]]) -> Element:
    """MemWalker's tree, every node as wide as the text it summarises, with the numbers of the steps that visited it."""
    visits: dict[int, list[str]] = {}
    for number, step in enumerate(walk, start=1):
        visits.setdefault(step["node"], []).append(str(number))
    levels: list[Element] = []
    for level in sorted({node["level"] for node in nodes}, reverse=True):
        cells: list[Element] = []
        for node in (n for n in nodes if n["level"] == level):
            steps = visits.get(node["id"], [])
            kind = "" if not steps else " at" if node["children"] else " read"
            attributes = {
                "class": f"node{kind}",
                "style": f"flex-grow:{max(1, node['words'])}",
                "title": node["summary"],
            }
            cells.append(["i", attributes, " ".join(steps[:3]) + " …" * (len(steps) > 3)])
        levels.append(["div", {"class": "level"}, *cells])
    return ["div", {"class": "tree", "aria-hidden": "true"}, *levels]


def draw_topics(topics: list[dict[str, Any]], words: int) -> Element:
    """The topics of semantic compression, as colours along the book."""
    stretches = sorted((a, b, number) for number, topic in enumerate(topics) for a, b in topic["stretches"])
    whole = max([words, 1, *(b for _, b, _ in stretches)])
    cells: list[Element] = []
    for a, b, number in stretches:
        topic, width = topics[number], 100 * (b - a) / whole
        title = f"Topic {number + 1}: “{topic['begins']} …”, {topic['words']:,} words kept in {topic['kept']:,}"
        style = f"left:{100 * a / whole:.3f}%;width:{width:.3f}%"
        label = str(number + 1) if width > 5 else ""
        cells.append(["i", {"class": f"t{number % 8}", "style": style, "title": title}, label])
    return ["div", {"class": "topics"}, *cells]
