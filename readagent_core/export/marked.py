"""Marks in exported pages: words highlighted in the text, and notes listed below it; links, notes, ruby and formulas.

The MathML of a formula has safe elements only (``document.Span``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from readagent_core import document as documents
from readagent_core.companion.kept_answers import kept_blocks, quoted_words
from readagent_core.document import SpanKind
from readagent_core.library.marks import BOOKMARK, HIGHLIGHT, NOTE, Mark
from readagent_core.memory import GistMemory, Page
from readagent_core.templates import Markup, escape, fill
from readagent_core.text_files import emphasis_pieces, emphasised_markdown, escape_markdown, markdown_line

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


@dataclass(frozen=True)
class Beside:
    """What stands beside the text of a page. ``spans``: with their places in that text. ``targets``: the number of each
    paragraph that is referred to, by the place where it begins. ``format``: of the book, for words in italics.
    ``titles``: of sections, by the lines that they are in that text."""

    spans: tuple[documents.Span, ...] = ()
    targets: Mapping[int, int] = field(default_factory=dict)
    format: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)


def beside(memory: GistMemory, page: Page) -> Beside:
    """Return what stands beside the text of ``page``, as ``memory.page_text`` gives it."""
    document = memory.document
    spans: list[documents.Span] = []
    targets: dict[int, int] = {}
    for index in range(page.start, page.end):
        paragraph = document.paragraphs[index]
        if paragraph.spans or index in document.references_to:
            start = max(0, document.text(page.start, index + 1).rfind(paragraph.text))
            spans += [replace(s, start=start + s.start, end=start + s.end) for s in paragraph.spans]
            if index in document.references_to:
                targets[start] = index
    sections = [section for index in range(page.start, page.end) for section in document.headings(index)]
    titles = {section.line: section.title for section in sections}
    return Beside(tuple(spans), targets, document.format, titles)


def marked_paragraphs(
    text: str,
    spans: Sequence[Span] = (),
    *,
    instead: Callable[[str], Markup] = lambda piece: Markup(),
    around: Beside = Beside(),
) -> Markup:
    """Return ``text`` as HTML paragraphs, one for each part between empty lines, with ``spans`` highlighted.

    ``instead``: returns the HTML to show instead of a part, '' to show the part itself. ``around``: what stands beside
    the text.
    """
    parts: list[Markup] = []
    at = 0
    for piece in text.split("\n\n"):
        if piece.strip():
            own = [(start - at, end - at, colour) for start, end, colour in spans]
            here = [replace(s, start=s.start - at, end=s.end - at) for s in around.spans if at <= s.start <= s.end]
            ids = [index for place, index in around.targets.items() if at <= place <= at + len(piece)]
            name = Markup(' id="t{}"').format(ids[0]) if ids else Markup()
            if title := around.titles.get(piece):
                parts.append(Markup("<h3>{}</h3>").format(title))
            else:
                words = _linked(piece, own, here, around.format)
                parts.append(instead(piece) or Markup("<p{}>{}</p>").format(name, words))
        at += len(piece) + 2
    return Markup().join(parts)


def _linked(text: str, spans: Sequence[Span], around: Sequence[documents.Span], format: str) -> Markup:
    """Return ``text`` as ``_marked`` does, with its links, references to notes, ruby and formulas."""
    parts: list[Markup] = []
    at = 0

    def words(start: int, end: int) -> Markup:
        return _marked(
            text[start:end], [(first - start, last - start, colour) for first, last, colour in spans], format
        )

    for span in around:
        if not at <= span.start <= span.end <= len(text):
            continue
        parts.append(words(at, span.start))
        inner, at = words(span.start, span.end), span.end
        if span.kind == SpanKind.FORMULA:
            parts.append(Markup(span.text))
        elif span.kind == SpanKind.RUBY:
            parts.append(Markup("<ruby>{}<rt>{}</rt></ruby>").format(inner, span.text))
        elif span.kind == SpanKind.NOTE:
            parts.append(Markup('<sup><a href="#t{}">{}</a></sup>').format(span.target, span.text))
        else:
            address = span.text if span.target is None else f"#t{span.target}"
            parts.append(Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, inner))
    return Markup().join([*parts, words(at, len(text))])


def markdown_text(memory: GistMemory, page: Page) -> str:
    """Return the text of ``page`` in Markdown, with its italics and outside links, and its notes as footnotes."""

    def words(start: int, end: int) -> str:
        return emphasised_markdown(text[start:end], memory.document.format)

    text, at = memory.page_text(page.number), 0
    around = beside(memory, page)
    parts: list[str] = []
    notes: dict[int, str] = {}
    for span in around.spans:
        if span.start < at:
            continue
        if span.kind == SpanKind.NOTE and span.target is not None:
            notes[span.target] = escape_markdown(memory.document.paragraphs[span.target].text)
            parts += [words(at, span.start), f"[^{span.target}]"]
        elif span.kind == SpanKind.LINK and span.target is None:
            address = span.text.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")
            before = re.sub("!$", r"\\!", words(at, span.start))  # else the link would be a picture
            name = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", words(span.start, span.end))
            parts += [before, f"[{name}]({address})"]
        else:
            continue
        at = span.end
    parts.append(words(at, len(text)))
    titles = {
        emphasised_markdown(line, around.format): f"{line.partition(' ')[0]} {markdown_line(title)}"
        for line, title in around.titles.items()
    }
    said = "\n\n".join(titles.get(piece, piece) for piece in "".join(parts).split("\n\n"))
    return said + "".join(f"\n\n[^{number}]: {' '.join(note.split())}" for number, note in notes.items())


def emphasised(text: str, book_format: str) -> Markup:
    """Return a text of a book as HTML, with its words in italics."""
    pieces = emphasis_pieces(text, book_format)
    return Markup().join(Markup("<em>{}</em>").format(piece) if italic else escape(piece) for piece, italic in pieces)


def _marked(text: str, spans: Sequence[Span], format: str) -> Markup:
    """Return ``text`` escaped, each span in a <mark>; where several overlap, the one given last is shown."""
    inside = [(max(0, start), min(end, len(text)), colour) for start, end, colour in spans]
    cuts = sorted({0, len(text), *(cut for start, end, _ in inside if start < end for cut in (start, end))})
    parts: list[Markup] = []
    for first, last in pairwise(cuts):
        colours = [colour for start, end, colour in inside if start <= first and last <= end]
        words = emphasised(text[first:last], format)
        parts.append(Markup('<mark class="{}">{}</mark>').format(colours[-1], words) if colours else words)
    return Markup().join(parts)


def notes_list(marks: Sequence[Mark]) -> Markup:
    """Return the marks as a list with their words, notes and answers; '' where there is none."""
    return (
        fill("marks", marks=[(mark, quoted_words(mark)) for mark in marks], BOOKMARK=BOOKMARK, kept_blocks=kept_blocks)
        if marks
        else Markup()
    )
