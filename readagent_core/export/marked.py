"""Marks in exported pages: words highlighted in the text, and notes listed below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from readagent_core.library.marks import BOOKMARK, HIGHLIGHT, NOTE, Mark
from readagent_core.memory import GistMemory, Page
from readagent_core.templates import Markup, escape, fill

Span = tuple[int, int, str]  # first and last character (exclusive), and the colour of the mark


def marks_of(page: Page, marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks that begin on ``page``, of marks placed in the memory's document."""
    return [mark for mark in marks if page.start <= mark.start.paragraph < page.end]


def spans_in(memory: GistMemory, page: Page, marks: Iterable[Mark]) -> list[Span]:
    """Return where highlights and notes are in the text of ``page``, also those that begin or end on another page."""
    document = memory.document
    starts: dict[int, int] = {}  # where the own text of each paragraph begins in the page's text

    def position(paragraph: int, offset: int) -> int:
        if paragraph not in starts:
            own = document.paragraphs[paragraph].text
            starts[paragraph] = max(0, document.text(page.start, paragraph + 1).rfind(own))
        return starts[paragraph] + offset

    spans: list[Span] = []
    last = page.end - 1
    for mark in marks:
        if mark.kind in (HIGHLIGHT, NOTE) and mark.start.paragraph < page.end and mark.end.paragraph >= page.start:
            before, beyond = mark.start.paragraph < page.start, mark.end.paragraph > last
            start = 0 if before else position(mark.start.paragraph, mark.start.offset)
            end = len(document.text(page.start, page.end)) if beyond else position(mark.end.paragraph, mark.end.offset)
            spans.append((start, end, mark.colour))
    return spans


def marked_paragraphs(
    text: str, spans: Sequence[Span] = (), *, instead: Callable[[str], Markup] = lambda piece: Markup()
) -> Markup:
    """Return ``text`` as HTML paragraphs, one for each part between empty lines, with ``spans`` highlighted.

    ``instead``: returns the HTML to show instead of a part, '' to show the part itself.
    """
    parts: list[Markup] = []
    at = 0
    for piece in text.split("\n\n"):
        if piece.strip():
            own = [(start - at, end - at, colour) for start, end, colour in spans]
            parts.append(instead(piece) or Markup("<p>{}</p>").format(_marked(piece, own)))
        at += len(piece) + 2
    return Markup().join(parts)


def _marked(text: str, spans: Sequence[Span]) -> Markup:
    """Return ``text`` escaped, each span in a <mark>; where several overlap, the one given last is shown."""
    inside = [(max(0, start), min(end, len(text)), colour) for start, end, colour in spans]
    cuts = sorted({0, len(text), *(cut for start, end, _ in inside if start < end for cut in (start, end))})
    parts: list[Markup] = []
    for first, last in pairwise(cuts):
        colours = [colour for start, end, colour in inside if start <= first and last <= end]
        words = escape(text[first:last])
        parts.append(Markup('<mark class="{}">{}</mark>').format(colours[-1], words) if colours else words)
    return Markup().join(parts)


def notes_list(marks: Sequence[Mark]) -> Markup:
    """Return the marks as a list with their words, notes and answers; '' where there is none."""
    return fill("marks", marks=[(mark, _words(mark)) for mark in marks], BOOKMARK=BOOKMARK) if marks else Markup()


def _words(mark: Mark) -> str:
    return mark.exact or (f"{mark.suffix.strip()} …" if mark.kind == BOOKMARK and mark.suffix.strip() else "")
