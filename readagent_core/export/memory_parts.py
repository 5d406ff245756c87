"""What the HTML page and the EPUB of a gist memory share: its facts, gists, pictures and world."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from readagent_core.answering.signature import MODEL, signature_of
from readagent_core.document import Figure, Picture
from readagent_core.export.marked import Beside, marked_paragraphs
from readagent_core.memory import GistMemory, Page
from readagent_core.templates import Markup, fill
from readagent_core.words import count_of, pages_up_to
from readagent_core.world.as_of import Known, Order
from readagent_core.world.telling import headed, note_of, page_runs, said, told_once

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LOST = "Marks whose words are not in this text"
FindPicture = Callable[[str], Picture | None]


def memory_facts(memory: GistMemory) -> str:
    """One line: pages, words before and after, who read it. Says so when the gisting is not complete."""
    words = sum(page.words for page in memory.pages)
    parts = [
        count_of(len(memory.pages), "page"),
        f"{words:,} words kept in {memory.gist_words:,} ({memory.compression_rate:.1f} % fewer)",
    ]
    if memory.model:
        made = signature_of(memory)
        parts.append(f"gists made with {made.line}" if made.kind == MODEL else made.line)
    if not memory.complete:
        # a memory that the spoiler limit cut has no text after its pages
        limited = memory.pages and memory.pages[-1].end == len(memory.document.paragraphs) and None not in memory.gists
        read = f"only what was read, {pages_up_to(len(memory.pages))}"
        parts.append(read if limited else "not all gists are made yet")
    if recognised := memory.document.recognised_words:
        share = 100 * recognised / max(1, memory.document.words)
        parts.append(f"{share:.0f} % of the words recognised in pictures of pages, so some may be wrong")
    return " · ".join(parts)


def pause_line(memory: GistMemory, page: Page) -> str:
    """Why the reader paused after this page; '' after the last, and where there is nothing to say."""
    if page.number == len(memory.pages):
        return ""
    if page.fallback:
        return "Paused here by rule: the model named no place it was offered, so the last one was taken"
    return f"Paused here: {page.reason.strip()}" if page.reason.strip() else ""


def world_html(known: Known | None, addresses: Mapping[int, str], title: str = "") -> Markup:
    """Return the cast and what happened as HTML, below ``title``; '' where nobody is known.

    ``addresses``: of the gist of each page.
    """
    if known is None or not known.entities:
        return Markup()
    return fill(
        "world",
        title=title,
        note=note_of(known),
        kinds=list(headed(known)),
        happened=known.timeline(Order.TIME),
        addresses=addresses,
        said=said,
        page_runs=page_runs,
        told_once=told_once,
    )


def gist_lines(memory: GistMemory, page: Page) -> Markup:
    """Return the gist of a page as HTML, each of its lines a paragraph."""
    lines = xml_text(memory.shown_gist(page.number) or "(no gist yet)").replace("\n", "\n\n")
    return marked_paragraphs(lines, around=Beside(format=memory.document.format))


def html_figure(figure: Figure, address: str) -> Markup:
    """Return a picture of the text as HTML. ``address``: of its file, or the picture itself as a data address."""
    image = Markup('<figure><img src="{}" alt="{}" width="{}" height="{}"/></figure>')
    return image.format(address, xml_text(figure.alt), figure.width, figure.height)


def page_figures(memory: GistMemory, page: Page) -> list[Figure]:
    """The figures of a page, in the order of its text."""
    places = ((index, after) for index in range(page.start, page.end) for after in (False, True))
    return [figure for index, after in places for figure in memory.document.figures_at(index, after=after)]


def xml_text(text: str) -> str:
    """``text`` without the control characters that XML forbids."""
    return _NOT_XML.sub("", text)
