"""Puts the recognised lines of a page in their place in a PDF, and says in notices what was recognised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from statistics import median

from readagent_core.document import Document, Notice
from readagent_core.loaders.builder import MOST_PLACES
from readagent_core.loaders.pdf.columns import Flow
from readagent_core.loaders.pdf.layout import LONG, BodyStyle, measure_body
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.recognition.page import DOUBTFUL, RecognisedPage
from readagent_core.words import count_of

_NAMES = 20  # of pages in a notice
_SAME = 0.2  # sizes that differ less from the usual one are the usual one
_NARROWEST, _WIDEST = 300.0, 612.0  # points


def place_lines(page: RecognisedPage, width: float, number: int) -> list[Line]:
    """Returns the lines of source page ``number``, from 0, which is ``width`` points wide."""
    width = min(max(width, _NARROWEST), _WIDEST)  # as of printed pages: some scans have a point for every dot
    certain = page.confidence
    return [
        Line(each.text, each.x * width, each.end * width, each.y * width, each.size * width, False, number, certain)
        for each in page.lines
    ]


def with_even_sizes(pages: Sequence[list[Line]], recognised: Collection[int]) -> list[list[Line]]:
    """Returns the lines of all pages with the sizes of the ``recognised`` pages made even.

    Boxes of text show only about how large its letters are. The usual size of recognised text becomes the usual size of
    the other pages, so that no text is taken for a heading."""
    if not recognised:
        return list(pages)
    usual = _usual_size(pages[number] for number in recognised)
    others = _usual_size(lines for number, lines in enumerate(pages) if number not in recognised)
    body = others or usual

    def even(size: float) -> float:
        return body if abs(size - usual) < _SAME * usual else size * body / usual

    return [
        [line._replace(size=even(line.size)) for line in lines] if number in recognised else lines
        for number, lines in enumerate(pages)
    ]


def body_styles(flows: Sequence[Flow], usual: BodyStyle, recognised: Collection[int]) -> list[BodyStyle]:
    """Returns the style of each flow: recognised pages have a leading and an indent of their own."""
    if not recognised:
        return [usual] * len(flows)
    kinds = [flow.lines[0].number in recognised for flow in flows]
    groups = {kind: [flow for flow, other in zip(flows, kinds, strict=True) if other == kind] for kind in set(kinds)}
    styles = {kind: replace(measure_body(group), size=usual.size, words=usual.words) for kind, group in groups.items()}
    return [styles[kind] for kind in kinds]


def _usual_size(pages: Iterable[Sequence[Line]]) -> float:
    """Returns the size of most lines; 0.0 of none."""
    lines = list(chain.from_iterable(pages))
    return median(line.size for line in [each for each in lines if len(each.text) >= LONG] or lines) if lines else 0.0


def describe_recognition(
    document: Document, recognised: Mapping[int, float], pages: Mapping[int, RecognisedPage], labels: Sequence[str]
) -> Document:
    """Returns the document with its recognised ``pages``, and notices of how much was recognised and what to compare.

    ``recognised``: the confidence of each page, from 0, whose text was recognised."""
    return replace(
        document,
        warnings=(*_notices(document, recognised, labels), *document.warnings),
        recognised_pages=tuple((n + 1, confidence) for n, confidence in recognised.items()),
        vertical=document.vertical or 2 * sum(page.vertical for page in pages.values()) > len(labels),
    )


def _notices(document: Document, recognised: Mapping[int, float], labels: Sequence[str]) -> list[Notice]:
    """Returns how much of the text was recognised, and which pages should be compared with their pictures."""
    if not recognised:
        return []
    share = 100 * document.recognised_words / max(1, document.words)
    pages = f"{count_of(len(recognised), 'page')} ({join_names(list(recognised), labels)})"
    message = f"Recognised in pictures of pages: {share:.0f} % of the words, on {pages}. Some of them may be wrong."
    notices = [Notice("recognised", message, len(recognised))]
    doubtful = [number for number, confidence in recognised.items() if confidence < DOUBTFUL]
    if doubtful:
        pages = f"{count_of(len(doubtful), 'page')} ({join_names(doubtful, labels)})"
        message = f"Hard to recognise, so compare the text with the picture: {pages}."
        paragraphs = enumerate(document.paragraphs)
        places = [n for n, p in paragraphs if p.confidence is not None and p.confidence < DOUBTFUL]
        notices.append(Notice("recognised-doubtful", message, len(doubtful), tuple(places[:MOST_PLACES])))
    return notices


def join_names(numbers: Sequence[int], labels: Sequence[str]) -> str:
    """Returns the labels of pages: '3, 7–9 … and 12 more'."""
    names: list[str] = []
    named = 0
    for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        pages = [labels[number] for _, number in run]
        names += [f"{pages[0]}–{pages[-1]}"] if len(pages) > 2 else pages
        named += len(pages)
        if len(names) >= _NAMES:
            break
    more = len(numbers) - named
    return ", ".join(names) + (f" and {more:,} more" if more else "")
