"""Opens a PDF file with PDFium: password, repair, outline and metadata.

PDFium repairs most files by itself. One that it refuses gets a new trailer, or is written again by pypdf.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

import pypdfium2.raw as pdfium
from pypdf import PdfWriter
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, PasswordError, TooLargeError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.metadata import clean_metadata
from readagent_core.loaders.pdf.comic import open_comic
from readagent_core.loaders.readable import mend_letters

_ROOT = re.compile(rb"/Root\s+(\d+)\s+(\d+)\s+R")
_CATALOG = re.compile(rb"(\d{1,7})\s+(\d{1,5})\s+obj\s*<<(?:(?!endobj).){0,2000}?/Type\s*/Catalog", re.DOTALL)
_NO_PAGES = re.compile(rb"/Type\s*/Pages\b[^>]*/Count\s+0\b|/Count\s+0\b[^>]*/Type\s*/Pages\b")
_MOST_ENTRIES = 5_000
_DEEPEST_ENTRY = 12
_LANGUAGE_BYTES = 64
_OUTLINES = 50  # a page without text that draws more of them may draw its letters
_SCANNED = 0.6  # of a page, the least that the picture of a scan covers
_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM)
Shape = tuple[Any, int]  # an object of a page, and its kind
REPAIR_ADVICE = (
    "Download or copy it again. If that does not help, open it in a PDF viewer, save or print it as a new PDF, and "
    "open the new one here."
)
for _library in ("pypdf", "pypdfium2"):  # both log every flaw; what matters to a reader is in the notices
    logging.getLogger(_library).setLevel(logging.CRITICAL)


def open_pdf(data: bytes, password: str, limits: Limits) -> tuple[PdfDocument, bool]:
    """Returns the document, and whether the file had to be repaired.

    Raises PasswordError, DamagedDocumentError, EmptyDocumentError without a page, TooLargeError with too many."""
    document = open_comic(data, limits) if data.startswith(b"PK") else _open(data, password)
    refused = not document  # or it has no pages
    if refused:
        document = next(filter(None, (_open(repaired, password) for repaired in _repair(data))), document)
    if document is None and not _NO_PAGES.search(data):
        raise DamagedDocumentError(f"This PDF is damaged and cannot be read. {REPAIR_ADVICE}")
    if document is None or not len(document):
        raise EmptyDocumentError("This PDF has no pages, or lost them when it was copied. Download or copy it again.")
    if len(document) > limits.source_pages:
        raise TooLargeError(
            f"This PDF has {len(document):,} pages; at most {limits.source_pages:,} can be opened at once. Nothing was "
            "opened. Split it and open the parts."
        )
    return document, refused or not pdfium.FPDF_DocumentHasValidCrossReferenceTable(document)


def _open(data: bytes, password: str) -> PdfDocument | None:
    """Returns the document, None where PDFium cannot read the file. Raises PasswordError."""
    for attempt in (password, unicodedata.normalize("NFKC", password), ""):  # the standard asks for compatible letters
        try:
            return PdfDocument(data, password=attempt)
        except PdfiumError as error:
            if error.err_code != pdfium.FPDF_ERR_PASSWORD:
                return None
    if password:
        raise PasswordError("That password does not open this PDF. Type it again.")
    raise PasswordError("This PDF is locked with a password. Type its password to open it.")


def _repair(data: bytes) -> Iterator[bytes]:
    """Yields ``data`` with a new trailer, which says where the catalog of pages is, and as pypdf writes it again."""
    for number, generation in [*_CATALOG.findall(data), *_ROOT.findall(data)][-1:]:
        yield b"%s\nendobj\ntrailer\n<< /Root %s %s R >>\n%%%%EOF\n" % (data, number, generation)
    with suppress(Exception):  # pypdf may fail in any way on a broken file
        PdfWriter(clone_from=BytesIO(data)).write(written := BytesIO())
        yield written.getvalue()


def has_recognised_text(page: PdfPage) -> bool:
    """Returns whether a page is a picture with text that is not drawn: a scanner's program recognised it."""
    texts = covered = 0
    width, height = page.get_size()
    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_IMAGE]):
        if item.type == pdfium.FPDF_PAGEOBJ_TEXT:
            texts += 1
            if pdfium.FPDFTextObj_GetTextRenderMode(item.raw) != pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
                return False
        else:
            left, low, right, high = item.get_bounds()
            covered = max(covered, (right - left) * (high - low))
    return texts > 0 and covered > _SCANNED * width * height


def shapes_of(page: PdfPage) -> list[Shape]:
    """Returns what a page draws but text, as PDFium has it, each with its kind."""
    raw = page.raw
    every = (pdfium.FPDFPage_GetObject(raw, i) for i in range(pdfium.FPDFPage_CountObjects(raw)))
    return [(item, kind) for item in every if (kind := pdfium.FPDFPageObj_GetType(item)) != pdfium.FPDF_PAGEOBJ_TEXT]


def has_picture(shapes: Sequence[Shape]) -> bool:
    """Returns whether a page has a picture."""
    return any(kind in _PICTURES for _, kind in shapes)


def has_outlines(shapes: Sequence[Shape]) -> bool:
    """Returns whether a page draws so many outlines that they may be letters."""
    return [kind for _, kind in shapes].count(pdfium.FPDF_PAGEOBJ_PATH) > _OUTLINES


def read_metadata(document: PdfDocument) -> dict[str, str]:
    """Returns title, author and language, each '' where the file has none."""
    title, author = clean_metadata(*(document.get_metadata_value(key) for key in ("Title", "Author")))
    buffer = (pdfium.FPDF_WCHAR * _LANGUAGE_BYTES)()
    pdfium.FPDFCatalog_GetLanguage(document, buffer, _LANGUAGE_BYTES)
    language = bytes(buffer).decode("utf-16-le", "ignore").split("\0")[0]
    language = language if re.fullmatch(r"[A-Za-z]{2,3}(-\w+)*", language) else ""
    return {"title": title, "author": author, "language": language}


@dataclass(frozen=True)
class OutlineEntry:
    """``number``: source page, from 0. ``top``: height on the page in points, None where unknown."""

    title: str
    number: int
    top: float | None
    level: int


def read_outline(document: PdfDocument) -> tuple[list[OutlineEntry], int]:
    """Returns the entries of the outline that point to a page, in reading order, and how many to one that is gone."""
    entries: list[OutlineEntry] = []
    gone = 0
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST_ENTRY), _MOST_ENTRIES):
        title = mend_letters(bookmark.get_title().removeprefix("þÿ").strip())  # a byte order mark, encoded again
        target = bookmark.get_dest()
        if title and target and (number := target.get_index()) is not None:
            if not 0 <= number < len(document):
                gone += 1
                continue
            mode, place = target.get_view()
            top = place[1] if mode == pdfium.PDFDEST_VIEW_XYZ else 0
            entries.append(OutlineEntry(title, number, top or None, bookmark.level + 1))
    # sorted by page only: a sort by height would tear columns apart
    return sorted(entries, key=lambda entry: entry.number), gone
