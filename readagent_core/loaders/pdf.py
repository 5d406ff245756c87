"""PDF: paragraphs from positions, sections from the outline and from large letters, source pages as places.

Pages without text (scans) are named by number; a file with nothing but scans is an error that says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypdf import PdfReader

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, NoTextError
from readagent_core.loaders import gutenberg, headings
from readagent_core.loaders.base import Builder, Limits
from readagent_core.loaders.contents import is_contents_title
from readagent_core.loaders.pdf_file import AGAIN, count_pages, has_picture, open_pdf, page_labels, quiet, read_facts
from readagent_core.loaders.pdf_headings import LARGE, Piece, pieces_of
from readagent_core.loaders.pdf_lines import Line, page_lines
from readagent_core.loaders.pdf_order import flows, without_furniture
from readagent_core.loaders.pdf_outline import Mark, read_outline, same_title
from readagent_core.loaders.pdf_paragraphs import Measures, joined_passages, measure, passages
from readagent_core.loaders.text import set_apart
from readagent_core.words import count_of, count_words

_RECOGNISE = "Have the text recognised first, with a scanner's program or a PDF program that has OCR"


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """The document in the PDF ``data``."""
    with quiet():
        reader, repaired = open_pdf(data, password)
        total = count_pages(reader, limits)
        pages, bad = _read_pages(reader, total)
        builder = Builder()
        if repaired:
            builder.notice(
                "mended", "The file is damaged; what could be found in it was opened. Compare the number of pages."
            )
        empty = [i for i, lines in enumerate(pages) if not lines]
        scanned = [i for i in empty if i not in bad and has_picture(reader, i)]
        kept, gone = without_furniture(pages)
        if not any(kept):
            scanned = [i for i in range(total) if i not in bad and has_picture(reader, i)]
            raise _nothing_to_read(total, scanned, bad)
        marks = read_outline(reader, total)
        labels = page_labels(reader, total)
        facts = read_facts(reader)
    every = [flow for lines in kept for flow in flows(lines)]
    usual = measure(every)
    pieces = pieces_of(joined_passages((passages(flow, usual) for flow in every), usual), usual)
    pieces = _without_gutenberg(pieces, builder, facts)
    title = facts.get("title", "") or _largest(pages[0], usual)
    _fill(builder, pieces, marks, labels)
    _tell(builder, scanned, bad, gone, labels)
    return builder.document(
        title=title or name,
        author=facts.get("author", ""),
        language=facts.get("language", ""),
        format="pdf",
        limits=limits,
    )


def _read_pages(reader: PdfReader, total: int) -> tuple[list[list[Line]], list[int]]:
    """The lines of each page, and the pages that could not be read."""
    pages: list[list[Line]] = []
    bad: list[int] = []
    for number in range(total):
        try:
            page = reader.pages[number]
            pages.append(page_lines(page, number))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  one broken page must not cost the book; it is told by number
            pages.append([])
            bad.append(number)
    return pages, bad


def _nothing_to_read(total: int, scanned: list[int], bad: list[int]) -> Exception:
    if len(bad) == total:
        return DamagedDocumentError(f"None of this PDF's pages can be read: it is damaged. Nothing was opened. {AGAIN}")
    if scanned:
        holds = "its page is a picture" if total == 1 else f"its {total:,} pages are pictures"
        return NoTextError(
            f"This PDF is a scan: {holds} without text, so there is nothing to read yet. Nothing was opened. "
            f"{_RECOGNISE} (or with 'ocrmypdf in.pdf out.pdf'). Then open the result here."
        )
    return EmptyDocumentError(f"There is no text in this PDF of {count_of(total, 'page')}. Open another file.")


def _largest(lines: Sequence[Line], usual: Measures) -> str:
    """The title as the first page shows it: its largest letters."""
    if not lines:
        return ""
    size = max(line.size for line in lines)
    if size < LARGE * usual.size:
        return ""
    text = " ".join(line.text for line in lines if line.size > 0.97 * size)
    return text if 1 < len(text) < 200 and not is_contents_title(text) else ""


def _without_gutenberg(pieces: list[Piece], builder: Builder, facts: dict[str, str]) -> list[Piece]:
    wrapped = gutenberg.find([p.text for p in pieces])
    if wrapped is None:
        return pieces
    apart = pieces[: wrapped.start] + pieces[wrapped.end :]
    set_apart(builder, sum(count_words(p.text) for p in apart))
    facts.update({k: v for k, v in wrapped.facts.items() if v and k not in facts})
    return pieces[wrapped.start : wrapped.end]


def _fill(builder: Builder, pieces: list[Piece], marks: list[Mark], labels: list[str]) -> None:
    """Headings and paragraphs into the builder; the outline's entries stand where their titles do."""
    placed = _placed(pieces, marks)
    chapters: dict[int, headings.Heading] = {}
    if not marks and not any(p.level for p in pieces):
        chapters, _ = headings.find([p.text.split("\n") for p in pieces])
    level = 0
    skip = 0
    for i, piece in enumerate(pieces):
        for mark in placed.get(i, ()):
            builder.heading(mark.title, mark.level)
            level = mark.level
        if skip:
            skip -= 1
        elif i in chapters:
            builder.heading(chapters[i].title, min(chapters[i].rank, 2))
            skip = chapters[i].used - 1
        elif any(same_title(mark.title, piece.text) for mark in placed.get(i, ())):
            continue
        elif piece.level:
            builder.heading(piece.text, piece.level + (level if marks else 0))
        elif not piece.note:
            builder.paragraph(piece.text, f"p. {labels[piece.number]}")
    notes = [p for p in pieces if p.note]
    if notes:
        builder.heading("Notes", 1)
        for piece in notes:
            builder.paragraph(piece.text, f"p. {labels[piece.number]}")


def _placed(pieces: list[Piece], marks: list[Mark]) -> dict[int, list[Mark]]:
    """Before which piece each entry of the outline stands: the piece with its title, else the first at its place."""
    placed: dict[int, list[Mark]] = {}
    used: set[int] = set()
    for mark in marks:
        here = [i for i, p in enumerate(pieces) if p.number == mark.number]
        titled = [i for i in here if i not in used and same_title(mark.title, pieces[i].text)]
        lower = [i for i in here if mark.top is None or pieces[i].y <= mark.top + 2]
        later = [i for i, p in enumerate(pieces) if p.number > mark.number]
        at = next(iter(titled or lower or later), None)
        if at is not None:
            placed.setdefault(at, []).append(mark)
            used.update(titled[:1])
    return placed


def _tell(builder: Builder, scanned: list[int], bad: list[int], gone: int, labels: list[str]) -> None:
    if scanned:
        builder.notice(
            "pages-without-text",
            f"Pictures without text, so not read: {count_of(len(scanned), 'page')} "
            f"({_listed([labels[i] for i in scanned])}). {_RECOGNISE} (or with "
            "'ocrmypdf --skip-text in.pdf out.pdf'). Then open the result here.",
            len(scanned),
        )
    if bad:
        builder.notice(
            "pages-damaged",
            f"Damaged, so left out: {count_of(len(bad), 'page')} ({_listed([labels[i] for i in bad])}).",
            len(bad),
        )
    if gone:
        what = "running headers, footers and page numbers were" if gone > 1 else "running header or page number was"
        builder.notice("furniture", f"{gone:,} {what} left out.", gone)


def _listed(names: Sequence[str]) -> str:
    """'3, 7, 8 … and 12 more'."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
