"""Opens a PDF: paragraphs from the positions of lines, sections from the outline and from large letters.

A notice names the pages without text (scans). A file with scans only is an error that says what to do.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from pypdfium2 import PdfDocument, PdfiumError

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, NoTextError
from readagent_core.loaders import gutenberg, headings
from readagent_core.loaders.base import Builder, Limits
from readagent_core.loaders.contents import is_contents_title
from readagent_core.loaders.pdf.file import (
    REPAIR_ADVICE,
    OutlineEntry,
    has_picture,
    open_pdf,
    page_labels,
    read_metadata,
    read_outline,
)
from readagent_core.loaders.pdf.headings import LARGE, Piece, to_pieces
from readagent_core.loaders.pdf.lines import Line, read_lines
from readagent_core.loaders.pdf.order import order_into_flows, remove_running_lines
from readagent_core.loaders.pdf.paragraphs import BodyStyle, join_passages, measure_body, split_passages
from readagent_core.words import count_of, count_words

_NUMBERING = re.compile(r"^(?:(?:chapter|section|part|appendix) )?(?:[a-z] )?(?:\d+(?: \d+)*|[ivxlc]+|[a-z]) ")
_OCR_ADVICE = "Have the text recognised first, with a scanner's program or a PDF program that has OCR"


_PDFIUM = threading.Lock()  # PDFium may run in one thread only


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """Returns the document in the PDF ``data``. Raises DocumentError."""
    builder = Builder()
    with _PDFIUM:
        document, repaired = open_pdf(data, password, limits)
        try:
            pages, bad = _read_pages(document)
            remaining, removed = remove_running_lines(pages)
            scanned = [i for i, lines in enumerate(pages) if not lines and i not in bad and has_picture(document, i)]
            if not any(remaining):
                raise _no_text_error(len(pages), scanned, bad)
            entries = read_outline(document, data, password)
            labels = page_labels(document)
            facts = read_metadata(document)
        finally:
            document.close()
    if repaired:
        builder.add_notice(
            "mended", "The file is damaged; what could be found in it was opened. Compare the number of pages."
        )
    flows = [flow for lines in remaining for flow in order_into_flows(lines)]
    usual = measure_body(flows)
    pieces = to_pieces(join_passages((split_passages(flow, usual) for flow in flows), usual), usual)
    pieces = _remove_gutenberg(pieces, builder, facts)
    title = facts.get("title", "") or _largest_text(pages[0], usual)
    _add_pieces(builder, pieces, entries, labels)
    _add_notices(builder, scanned, bad, removed, labels)
    return builder.build(
        title=title or name,
        author=facts.get("author", ""),
        language=facts.get("language", ""),
        format="pdf",
        limits=limits,
    )


def _read_pages(document: PdfDocument) -> tuple[list[list[Line]], list[int]]:
    """Returns the lines of each page, and the pages that could not be read."""
    pages: list[list[Line]] = []
    bad: list[int] = []
    for number in range(len(document)):
        try:
            page = document[number]
            pages.append(read_lines(page, number))
            page.close()
        except PdfiumError:  # one broken page must not lose the book; a notice names it
            pages.append([])
            bad.append(number)
    return pages, bad


def _no_text_error(total: int, scanned: list[int], bad: list[int]) -> Exception:
    if len(bad) == total:
        return DamagedDocumentError(
            f"None of this PDF's pages can be read: it is damaged. Nothing was opened. {REPAIR_ADVICE}"
        )
    if scanned:
        holds = "its page is a picture" if total == 1 else f"its {total:,} pages are pictures"
        return NoTextError(
            f"This PDF is a scan: {holds} without text, so there is nothing to read yet. Nothing was opened. "
            f"{_OCR_ADVICE} (or with 'ocrmypdf in.pdf out.pdf'). Then open the result here."
        )
    return EmptyDocumentError(f"There is no text in this PDF of {count_of(total, 'page')}. Open another file.")


def _largest_text(lines: Sequence[Line], usual: BodyStyle) -> str:
    """Returns the title of the first page: the text in its largest letters."""
    if not lines:
        return ""
    size = max(line.size for line in lines)
    if size < LARGE * usual.size:
        return ""
    text = " ".join(line.text for line in lines if line.size > 0.97 * size)
    return text if 1 < len(text) < 200 and not is_contents_title(text) else ""


def _remove_gutenberg(pieces: list[Piece], builder: Builder, facts: dict[str, str]) -> list[Piece]:
    wrapped = gutenberg.find_book([p.text for p in pieces])
    if wrapped is None:
        return pieces
    apart = pieces[: wrapped.start] + pieces[wrapped.end :]
    gutenberg.note_removed_licence(builder, sum(count_words(p.text) for p in apart))
    facts.update({k: v for k, v in wrapped.facts.items() if v and k not in facts})
    return pieces[wrapped.start : wrapped.end]


def _add_pieces(builder: Builder, pieces: list[Piece], entries: list[OutlineEntry], labels: list[str]) -> None:
    """Adds headings and paragraphs to the builder, with the entries of the outline at their titles."""
    placed = _place_entries(pieces, entries)
    chapters: dict[int, headings.Heading] = {}
    if not entries and not any(p.level for p in pieces):
        chapters, _ = headings.find_headings([p.text.split("\n") for p in pieces])
    level = 0
    skip = 0
    for i, piece in enumerate(pieces):
        for entry in placed.get(i, ()):
            builder.add_heading(entry.title, entry.level)
            level = entry.level
        if skip:
            skip -= 1
        elif i in chapters:
            builder.add_heading(chapters[i].title, min(chapters[i].rank, 2))
            skip = chapters[i].used - 1
        elif any(_is_heading_of(entry.title, piece.text) for entry in placed.get(i, ())):
            continue
        elif piece.level:
            builder.add_heading(piece.text, piece.level + (level if entries else 0))
        elif not piece.note:
            builder.add_paragraph(piece.text, f"p. {labels[piece.number]}")
    notes = [p for p in pieces if p.note]
    if notes:
        builder.add_heading("Notes", 1)
        for piece in notes:
            builder.add_paragraph(piece.text, f"p. {labels[piece.number]}")


def _place_entries(pieces: list[Piece], entries: list[OutlineEntry]) -> dict[int, list[OutlineEntry]]:
    """Returns the entries of the outline by the piece they come before: the one with their title, else the first."""
    on_page: dict[int, list[int]] = defaultdict(list)
    for i, piece in enumerate(pieces):
        on_page[piece.number].append(i)
    placed: dict[int, list[OutlineEntry]] = defaultdict(list)
    used: set[int] = set()
    for entry in entries:
        here = on_page.get(entry.number, [])
        titled = [i for i in here if i not in used and _is_heading_of(entry.title, pieces[i].text)][:1]
        lower = [i for i in here if entry.top is None or pieces[i].y <= entry.top + 2]
        later = (min(on_page[n]) for n in sorted(on_page) if n > entry.number)
        at = next(chain(titled, lower, later), None)
        if at is not None:
            placed[at].append(entry)
            used.update(titled)
    return placed


def _is_heading_of(title: str, text: str) -> bool:
    """Returns whether ``text`` is the heading of an entry called ``title``, with or without its number."""
    one, two = (_NUMBERING.sub("", _plain(t)) or _plain(t) for t in (title, text))
    return bool(one) and (one == two or one.replace(" ", "") == two.replace(" ", ""))


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())


def _add_notices(builder: Builder, scanned: list[int], bad: list[int], removed: int, labels: list[str]) -> None:
    if scanned:
        builder.add_notice(
            "pages-without-text",
            f"Pictures without text, so not read: {count_of(len(scanned), 'page')} "
            f"({_join_names([labels[i] for i in scanned])}). {_OCR_ADVICE} (or with "
            "'ocrmypdf --skip-text in.pdf out.pdf'). Then open the result here.",
            len(scanned),
        )
    if bad:
        builder.add_notice(
            "pages-damaged",
            f"Damaged, so left out: {count_of(len(bad), 'page')} ({_join_names([labels[i] for i in bad])}).",
            len(bad),
        )
    if removed:
        what = "running headers, footers and page numbers were" if removed > 1 else "running header or page number was"
        builder.add_notice("furniture", f"{removed:,} {what} left out.", removed)


def _join_names(names: Sequence[str]) -> str:
    """Returns '3, 7, 8 … and 12 more'."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
