"""Opens a PDF: paragraphs from the positions of lines, sections from the outline and from large letters.

Notices name the pages that were not read: scans, fonts without a character map, damage, and what was beyond the limits.
A file without any text that can be read is an error that says what to do.
"""

from __future__ import annotations

import gc
import re
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain

from pypdfium2 import PdfDocument, PdfiumError

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, DocumentError, EmptyDocumentError, NoTextError
from readagent_core.languages import detect_language
from readagent_core.loaders import gutenberg, headings
from readagent_core.loaders.base import Limits, PageProgress, used_memory
from readagent_core.loaders.builder import Builder
from readagent_core.loaders.contents import title_key
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.pdf import file, paragraphs, titles
from readagent_core.loaders.pdf import recognised as recognition
from readagent_core.loaders.pdf.bullets import mark_bullets
from readagent_core.loaders.pdf.columns import order_into_flows
from readagent_core.loaders.pdf.fields import insert_fields
from readagent_core.loaders.pdf.figures import PageFigure, place_figures, read_figures
from readagent_core.loaders.pdf.layout import measure_body, remove_running_lines
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.page_text import PageText, read_lines
from readagent_core.loaders.pdf.paragraphs import Passage
from readagent_core.loaders.readable import Verdict, judge, mend_letters
from readagent_core.loaders.recognition.page import RecognisedPage
from readagent_core.words import count_of

_NUMBERING = re.compile(r"^(?:(?:chapter|section|part|appendix) )?(?:[a-z] )?(?:\d+(?: \d+)*|[ivxlc]+|[a-z]) ")
_OCR_ADVICE = (
    "The text can be recognised on this computer: Latin and Greek letters, Chinese and Japanese. For others use a PDF "
    "program that has OCR, and open the result here."
)
_SCANNED, _UNREADABLE, _DAMAGED, _SKIPPED = "pages-without-text", "pages-unreadable", "pages-damaged", "pages-not-read"
# what is said before and after the numbers of pages that were not read
_LOST = {
    _SCANNED: ("Pictures without text, so not read", _OCR_ADVICE),
    _UNREADABLE: ("The fonts do not say which letters they show, so not read", _OCR_ADVICE),
    _DAMAGED: ("Damaged, so left out", file.REPAIR_ADVICE),
    _SKIPPED: ("Left out because the program that reads PDFs crashed or came to no end", file.REPAIR_ADVICE),
}
_PDFIUM = threading.Lock()  # PDFium may run in one thread only
_SLIDE = 1 / 36  # of the height of a slide; its text is larger
_SHORT, _SHORTER, _FEW_LETTERS = 60, 250, 2  # characters of a label, of a few lines, and letters that are judged there
_SAMPLE_LINES = 40  # of a page, in which there are as many characters
_SAMPLE = 600  # characters that show whether a page can be read
_MEMORY = 0.6  # share of the limit at which reading stops; the paragraphs need the rest


@dataclass
class _Pages:
    """The lines of each page that was read. No page was read after these, for this ``reason``.

    ``lost``: the pages, from 0, that have no text in the file, by the code of their notice.
    ``recognised``: those whose text was recognised, with its confidence."""

    lines: list[list[Line]] = field(default_factory=list)
    lost: dict[str, list[int]] = field(default_factory=lambda: {code: [] for code in _LOST})
    recognised: dict[int, float] = field(default_factory=dict)
    figures: list[PageFigure] = field(default_factory=list)
    mended: int = 0  # pages in another alphabet than the file says
    vertical: int = 0  # pages that are written from top to bottom
    slides: list[float] = field(default_factory=list)  # heights of the pages that are wider than high
    reason: str = ""
    language: str = ""  # of the pages that were read first

    def mend(self, lines: list[Line]) -> list[Line]:
        """Returns the lines of a page with the letters of its alphabet."""
        before = "\f".join(line.text for line in lines)
        mended = mend_letters(before)
        self.mended += mended != before
        texts = mended.split("\f") if mended != before else ()
        return [line._replace(text=text) for line, text in zip(lines, texts, strict=True)] if texts else lines

    def can_read(self, text: PageText) -> bool:
        """Returns whether people can read a page: for certain where its fonts do not say which letters they show."""
        sample = "\n".join([line.text for line in text.lines[:_SAMPLE_LINES]])[:_SAMPLE]
        verdict = judge(sample, self.language, *([_FEW_LETTERS] if not text.mapped and len(sample) < _SHORTER else []))
        if len(sample) < _SHORT and not text.mapped:
            return judge(sample, self.language, _FEW_LETTERS) is not Verdict.UNREADABLE
        if verdict is Verdict.READABLE and not self.language:
            self.language = detect_language(sample)
        return verdict is Verdict.READABLE if not text.mapped else verdict is not Verdict.UNREADABLE

    def are_slides(self, size: float) -> bool:
        """Returns whether most pages are wider than high, and text of the usual ``size`` is large on them."""
        return 2 * len(self.slides) > len(self.lines) and size > _SLIDE * sorted(self.slides)[len(self.slides) // 2]

    @property
    def doubtful(self) -> tuple[int, ...]:
        """The pages, from 1, that can be recognised."""
        return tuple(n + 1 for n in sorted([*self.lost[_SCANNED], *self.lost[_UNREADABLE]]))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pauses the garbage collector: lines and paragraphs form no cycles, and going over so many takes it some time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_without_collector()
def load(
    data: bytes,
    name: str,
    *,
    password: str = "",
    limits: Limits,
    progress: PageProgress | None,
    skip: Collection[int],
    recognised: Mapping[int, RecognisedPage],
) -> Document:
    """Returns the document in the PDF ``data``. ``skip``: pages, from 0, that are left out. Raises DocumentError.

    ``recognised``: what was recognised on pages, from 1, that have no text in the file."""
    builder, shown = Builder(), Pictures(limits)
    builder.judged = True
    with _PDFIUM:
        document, repaired = file.open_pdf(data, password, limits)
        try:
            document.init_forms()
            pages = _read_pages(document, limits, progress, skip, recognised, shown)
            entries, gone = file.read_outline(document)
            labels = [document.get_page_label(i) or str(i + 1) for i in range(len(document))]  # as printed: 'iv', '12'
            facts = file.read_metadata(document)
        finally:
            document.close()
    _note_lost_pages(builder, pages, labels)
    remaining, removed = remove_running_lines(pages.lines)
    if not any(remaining) and not pages.figures:  # nothing but the labels of pages, which are the text
        remaining, removed = pages.lines, 0
    if not any(remaining):
        raise _no_text_error(pages, builder)
    if repaired:
        builder.add_notice(
            "mended", "The file is damaged; what could be found in it was opened. Compare the number of pages."
        )
    if pages.mended:
        message = (
            f"Latin letters on {count_of(pages.mended, 'page')} stood for those of another alphabet, shown instead."
        )
        builder.add_notice("letters-mended", message, pages.mended)
    if removed:
        what = "running headers, footers and page numbers were" if removed > 1 else "running header or page number was"
        builder.add_notice("furniture", f"{removed:,} {what} left out.", removed)
    remaining = _with_titles(remaining, entries)
    flows = [flow for lines in remaining for flow in order_into_flows(lines)]
    usual = measure_body(flows)
    styles = recognition.body_styles(flows, usual, _placed(pages, recognised))
    split = (paragraphs.split_passages(flow, style) for flow, style in zip(flows, styles, strict=True))
    passages = paragraphs.mark_headings(paragraphs.join_passages(split, usual), usual)
    if pages.are_slides(usual.size):
        paragraphs.mark_slides(passages)
    facts = titles.check_facts(facts, pages.lines, passages, usual)
    passages, header = gutenberg.remove_licence(passages, [passage.text for passage in passages], builder)
    _add_passages(builder, passages, entries, labels, pages, gone=gone)
    title = facts["title"] or header.get("title") or facts["printed"] or name
    author, language = (facts[key] or header.get(key, "") for key in ("author", "language"))
    built = builder.build(title=title, author=author, language=language, format="pdf", limits=limits)
    vertical = 2 * pages.vertical > len(pages.lines)
    built = replace(shown.add_to(built), doubtful_pages=pages.doubtful, vertical=vertical)
    return recognition.describe_recognition(built, pages.recognised, recognised, labels)


def _read_pages(
    document: PdfDocument,
    limits: Limits,
    progress: PageProgress | None,
    skip: Collection[int],
    recognised: Mapping[int, RecognisedPage],
    shown: Pictures,
) -> _Pages:
    """Returns what could be read of the pages within the limits on time and memory."""
    pages, total = _Pages(), len(document)
    end = time.monotonic() + limits.longest
    if progress:
        progress(0, total)
    for number in range(total):
        lines: list[Line] = []
        lost = _SKIPPED if number in skip else ""
        try:
            if not lost:
                page = document[number]
                text = read_lines(page, number)
                shapes = file.shapes_of(page)
                mark_bullets(shapes, text.lines)
                insert_fields(page, number, text.lines)
                lines = pages.mend(text.lines)
                readable = pages.can_read(replace(text, lines=lines))
                pages.vertical += text.vertical
                if page.get_width() > page.get_height():
                    pages.slides.append(page.get_height())
                pictured = file.has_picture(shapes) or (not lines and file.has_outlines(shapes))
                lost = "" if readable and (lines or not pictured) else _SCANNED if readable else _UNREADABLE
                if lost and number + 1 in recognised:
                    lines, lost = recognition.place_lines(recognised[number + 1], page.get_width(), number), ""
                    pages.recognised[number] = recognised[number + 1].confidence
                elif lines and pictured and file.has_recognised_text(page):
                    pages.recognised[number] = 1.0  # the file does not say how certain its letters are
                    lines = [line._replace(confidence=1.0) for line in lines]
                elif pictured and (not lost or 2 * len(pages.lost[_SCANNED]) + 2 < number):
                    # not of a page that was recognised, nor of a file that is mostly scans
                    pages.figures += read_figures(page, number, [] if lost else lines, shown)
                page.close()
        except PdfiumError:  # one broken page must not lose the book; a notice names it
            lost = _DAMAGED
        if lost:
            pages.lost[lost].append(number)
        pages.lines.append([] if lost else lines)
        if progress:
            progress(number + 1, total)
        if time.monotonic() > end:
            pages.reason = f"reading took longer than {limits.longest / 60:.0f} minutes"
        elif used_memory(limits) > _MEMORY:
            pages.reason = f"the file needs more than {limits.memory >> 20:,} MB of memory"
        if pages.reason:
            break
    pages.lines = recognition.with_even_sizes(pages.lines, _placed(pages, recognised))
    return pages


def _placed(pages: _Pages, recognised: Mapping[int, RecognisedPage]) -> set[int]:
    """Returns the pages, from 0, whose lines are those of ``recognised``: their sizes are only about right."""
    return {number for number in pages.recognised if number + 1 in recognised}


def _note_lost_pages(builder: Builder, pages: _Pages, labels: list[str]) -> None:
    lost = [(code, *_LOST[code], numbers) for code, numbers in pages.lost.items()]
    missing = list(range(len(pages.lines), len(labels)))
    stopped = (_SKIPPED, f"Not read, because {pages.reason}", "Split the file and open the parts.", missing)
    for code, before, advice, numbers in (*lost, stopped):
        if numbers:
            names = f"{count_of(len(numbers), 'page')} ({recognition.join_names(numbers, labels)})"
            builder.add_notice(code, f"{before}: {names}. {advice}", len(numbers))


def _no_text_error(pages: _Pages, builder: Builder) -> DocumentError:
    """Returns the error of a file without any text, which says what its notices would have said."""
    if pages.recognised:
        count = count_of(len(pages.recognised), "page")
        return EmptyDocumentError(f"No text was found in the pictures of {count}. Open another file.")
    notices = " ".join(notice.message for notice in builder.notices)
    if pages.doubtful:
        return NoTextError(notices, pages.doubtful)
    message = f"There is no text that can be read in this file. {notices or 'Open another file.'}"
    return DamagedDocumentError(message) if notices else EmptyDocumentError(message)


def _add_passages(
    builder: Builder,
    passages: list[Passage],
    entries: list[file.OutlineEntry],
    labels: list[str],
    pages: _Pages,
    *,
    gone: int,
) -> None:
    """Adds headings, paragraphs and figures to the builder, with the entries of the outline at their titles.

    ``gone``: how many other entries point to pages that are not there."""
    if not entries and not any(passage.level for passage in passages):
        chapters, _ = headings.find_headings([passage.text.split("\n") for passage in passages])
        for i, one in sorted(chapters.items(), reverse=True):
            passages[i : i + one.used] = [replace(passages[i], joined=one.title, level=min(one.rank, 2))]
    passages.sort(key=lambda passage: passage.kind == "note")  # notes come last
    figures, captions = place_figures(passages, pages.figures)
    lost = sorted(((number, code) for code, numbers in pages.lost.items() for number in numbers), reverse=True)
    placed = _place_entries(passages, entries)
    level, empty = 0, gone
    for i, passage in enumerate(passages):
        while lost and lost[-1][0] < passage.number:
            builder.mark_doubt(lost.pop()[1])
        builder.place = f"p. {labels[passage.number]}"
        for figure in figures.get(i, ()):
            builder.add_figure(figure)
        if passage.kind == "note" != passages[i - 1].kind:
            builder.add_heading("Notes")
        titled = False
        for n, entry in enumerate(placed[i]):
            printed = _is_heading_of(entry.title, passage.text)
            if not printed and any(other.level <= entry.level for other in placed[i][n + 1 :]):
                empty += 1  # no text of its own, nor the title of what follows
                continue
            builder.add_heading(max(entry.title, passage.text, key=len) if printed else entry.title, entry.level)
            titled, level = titled or printed, entry.level
        if passage.kind == "note" or not (passage.level or titled):
            exact = passage.kind == "code"
            builder.add_paragraph(passage.text, exact=exact, caption=i in captions, confidence=passage.confidence)
        elif not titled:
            builder.add_heading(passage.text, passage.level + level)
    for figure in figures.get(len(passages), ()):
        builder.add_figure(figure)
    for _, code in lost:
        builder.mark_doubt(code)
    empty += len(entries) - sum(map(len, placed.values()))
    if empty:
        message = f"{count_of(empty, 'title')} of the file's outline had no text and did not become sections."
        builder.add_notice("outline-without-text", message, empty)


def _with_titles(pages: list[list[Line]], entries: Sequence[file.OutlineEntry]) -> list[list[Line]]:
    """Returns the pages with the lines that the outline names as bold: fonts may not say that they are."""
    titles: dict[int, set[str]] = defaultdict(set)
    for entry in entries:
        titles[entry.number].add(entry.title.casefold())
    named = (titles.get(number, ()) for number in range(len(pages)))
    return [
        [line._replace(bold=True) if line.text.casefold() in here else line for line in lines] if here else lines
        for here, lines in zip(named, pages, strict=True)
    ]


def _place_entries(passages: list[Passage], entries: list[file.OutlineEntry]) -> dict[int, list[file.OutlineEntry]]:
    """Returns the entries of the outline by the passage they come before: the one with their title, else the one that
    begins with it, where the file says no height, else the first."""
    on_page: dict[int, list[int]] = defaultdict(list)
    for i, passage in enumerate(passages):
        if passage.kind != "note":
            on_page[passage.number].append(i)
    placed: dict[int, list[file.OutlineEntry]] = defaultdict(list)
    last = -1
    for entry in entries:
        here = on_page.get(entry.number, [])
        titled = (i for i in here if i not in placed and _is_heading_of(entry.title, passages[i].text))
        key = "" if entry.top is not None else title_key(entry.title)
        begun = (i for i in here if key and title_key(passages[i].text[: 2 * len(entry.title)]).startswith(key))
        above = entry.top is None and here and last > here[0]  # it would come before the last one
        lower = (i for i in here if entry.top is None or passages[i].lines[0].y <= entry.top + 2) if not above else ()
        later = (min(on_page[n]) for n in sorted(on_page) if n > entry.number and not above)
        at = next(chain(titled, begun, lower, later), None)
        if at is not None:
            placed[at].append(entry)
            last = max(last, at)
    return placed


def _is_heading_of(title: str, text: str) -> bool:
    """Returns whether ``text`` is the heading of an entry called ``title``, with or without its number."""
    one, two = ((_NUMBERING.sub("", key) or key).replace(" ", "") for key in map(title_key, (title, text)))
    return bool(one) and one == two
