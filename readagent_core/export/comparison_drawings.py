"""The drawings of a comparison as elements: strips of pages, MemWalker's tree, the topics of semantic compression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from readagent_core.comparing.comparison import ComparedBook, place_of
from readagent_core.export.comparison_words import describe_pages
from readagent_core.export.conversation import short_title

Element = list[Any]  # [tag, attributes, *children]; a child is an Element or a text
KINDS = {  # of a page, by CSS class
    "full": "seen in full",
    "some": "opened in part",
    "gi": "seen in short",
    "pt": "seen in one gist of several pages",
    "un": "not seen",
}
_CLASSES = {"full": "full", "passage": "some", "gist": "gi", "part": "pt"}  # by how a page was seen
DENSE = 120  # pages, above which neighbours of one kind are drawn as one cell
MAX_NUMBERS = 8  # pages seen in full, up to which the map shows their numbers


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
    dense = len(pages) > DENSE
    numbered = kinds.count("full") <= MAX_NUMBERS

    def cells(first: int, end: int) -> Iterator[Element]:
        places = range(first - 1, end - 1)
        for _, run in groupby(places, key=lambda i: kinds[i] if dense or kinds[i] == "pt" else i):
            numbers = [i + 1 for i in run]
            kind, words = kinds[numbers[0] - 1], sum(pages[n - 1] for n in numbers)
            title = f"{describe_pages(numbers, books)}: {KINDS[kind]}"
            labels = [["span", {}, str(place_of(books, numbers[0])[1])]] if kind == "full" and numbered else []
            yield ["i", {"class": kind, "style": f"flex-grow:{words}", "title": title}, *labels]

    if len(books) > 1:
        parts = [["div", {"style": style}, *cells(*bounds)] for _, style, bounds in _by_book(books, pages)]
    else:
        parts = list(cells(1, len(pages) + 1))
    classes = f"hm{' dense' if dense else ''}{' several' if len(books) > 1 else ''}"
    return ["div", {"class": classes, "aria-hidden": "true"}, *parts]


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
