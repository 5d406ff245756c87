"""Opens a PDF file with pypdf: password, repair, number of pages, page labels, metadata and outline.

A file whose cross-reference table is broken gets a new one, made from the objects that are found in it.
"""

from __future__ import annotations

import logging
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, PasswordError, TooLargeError
from readagent_core.loaders.base import Limits, strip_unprintable

_BY = re.compile(r"(.{2,}), by ((?:[A-Z][\w.'’-]*)(?: (?:[A-Z][\w.'’-]*|de|du|von|van|der|la)){1,4})$")
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft (?:word|powerpoint)|.*\.(?:docx?|tex|indd|qxd|pdf|dvi|rtf|odt)$|\W*$)", re.I
)
_OBJECT = re.compile(rb"(?:^|[\r\n\s])(\d{1,7})\s+(\d{1,5})\s+obj\b")
_ROOT = re.compile(rb"/Root\s+(\d+)\s+(\d+)\s+R")
_CATALOG = re.compile(rb"(\d{1,7})\s+(\d{1,5})\s+obj\s*<<(?:(?!endobj).){0,2000}?/Type\s*/Catalog", re.DOTALL)
_MOST_OBJECTS = 200_000
_MOST_ENTRIES = 5_000
_DEEPEST_ENTRY = 12


@contextmanager
def silence_pypdf() -> Any:
    """Silences pypdf, which logs and warns about every flaw. What matters to a reader is in the notices."""
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logger.setLevel(before)


REPAIR_ADVICE = (
    "Download or copy it again. If that does not help, open it in a PDF viewer, save or print it as a new PDF, and "
    "open the new one here (or repair it with 'qpdf in.pdf out.pdf')."
)
_BROKEN = (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError)


def open_pdf(data: bytes, password: str) -> tuple[PdfReader, bool]:
    """Returns the reader, and whether the file had to be repaired."""
    try:
        return _reader(data, password), False
    except _BROKEN as error:
        repaired = rebuild_cross_references(data)
        try:
            if repaired is not None:
                return _reader(repaired, password), True
        except _BROKEN:
            pass  # the first error is raised below
        raise DamagedDocumentError(
            f"This PDF is damaged and cannot be read. Nothing was opened. {REPAIR_ADVICE}"
        ) from error


def _reader(data: bytes, password: str) -> PdfReader:
    reader = PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(password) and not (password and reader.decrypt("")):
        if password:
            raise PasswordError("That password does not open this PDF. Nothing was opened. Type it again.")
        raise PasswordError("This PDF is locked with a password. Nothing was opened. Type its password to open it.")
    len(reader.pages)
    return reader


def count_pages(reader: PdfReader, limits: Limits) -> int:
    """Returns the number of pages. Raises EmptyDocumentError or TooLargeError."""
    total = len(reader.pages)
    if total == 0:
        raise EmptyDocumentError("This PDF has no pages, or lost them when it was copied. Download or copy it again.")
    if total > limits.source_pages:
        raise TooLargeError(
            f"This PDF has {total:,} pages; at most {limits.source_pages:,} can be opened at once. Nothing was "
            "opened. Split it and open the parts."
        )
    return total


def has_picture(reader: PdfReader, number: int) -> bool:
    """Returns whether page ``number``, from 0, has a picture."""
    try:
        resources = reader.pages[number].get("/Resources")
        objects = resources.get_object().get("/XObject") if resources is not None else None
        if objects is None:
            return False
        held = objects.get_object()
        return any(held[name].get_object().get("/Subtype") in ("/Image", "/Form") for name in held)
    except Exception:  # noqa: BLE001  a page whose pictures cannot be listed counts as one
        return True


def page_labels(reader: PdfReader, total: int) -> list[str]:
    """Returns the printed number of each page: 'iv', '12'."""
    try:
        labels = list(reader.page_labels)
    except Exception:  # noqa: BLE001  without labels the pages are counted
        labels = []
    return [*labels, *(str(i + 1) for i in range(len(labels), total))]


def read_metadata(reader: PdfReader) -> dict[str, str]:
    """Returns title, author and language, as far as the file has them."""
    facts: dict[str, str] = {}
    try:
        metadata = reader.metadata
        title = " ".join(strip_unprintable(str((metadata and metadata.title) or "")).split())
        author = " ".join(strip_unprintable(str((metadata and metadata.author) or "")).split())
        language = str(reader.root_object.get("/Lang", "") or "")
    except Exception:  # noqa: BLE001  a file without readable metadata still has its text
        return facts
    named = _BY.match(title)
    if named:  # "Emma, by Jane Austen": the file's author is then often who made the file
        title, author = named.groups()
    if title and not _NO_TITLE.match(title):
        facts["title"] = title
    if author and author.lower() not in ("unknown", "anonymous", "user", "admin", "administrator"):
        facts["author"] = author
    if re.fullmatch(r"[A-Za-z]{2,3}(-\w+)*", language):
        facts["language"] = language
    return facts


def rebuild_cross_references(data: bytes) -> bytes | None:
    """Returns ``data`` with a new cross-reference table at the end; None where no catalog of pages is found."""
    places: dict[int, tuple[int, int]] = {}
    for found in _OBJECT.finditer(data):
        places[int(found.group(1))] = (found.start(1), int(found.group(2)))  # the last definition counts
        if len(places) > _MOST_OBJECTS:
            return None
    roots = [r for r in _ROOT.findall(data) if int(r[0]) in places]
    catalog = _CATALOG.search(data)
    root = roots[-1] if roots else catalog.groups() if catalog else None
    if root is None or int(root[0]) not in places:
        return None
    rows = [b"0 1\n0000000000 65535 f \n"]
    rows += [b"%d 1\n%010d %05d n \n" % (n, place, generation) for n, (place, generation) in sorted(places.items())]
    trailer = b"trailer\n<< /Size %d /Root %d %d R >>\n" % (max(places) + 1, int(root[0]), int(root[1]))
    start = len(data) + 1
    return data + b"\nxref\n" + b"".join(rows) + trailer + b"startxref\n%d\n%%%%EOF\n" % start


@dataclass(frozen=True)
class OutlineEntry:
    """``number``: source page, from 0. ``top``: height on the page in points, None where unknown."""

    title: str
    number: int
    top: float | None
    level: int


def read_outline(reader: PdfReader, total: int) -> list[OutlineEntry]:
    """Returns the entries of the outline that point to a page, in reading order."""
    try:
        outline: Any = reader.outline
    except Exception:  # noqa: BLE001  the outline of a broken file may fail in any way; the text is still there
        return []
    found: list[OutlineEntry] = []
    stack: list[tuple[Any, int]] = [(iter(outline), 1)]
    while stack and len(found) < _MOST_ENTRIES:
        entries, level = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
        elif isinstance(entry, list):
            if level < _DEEPEST_ENTRY:
                stack.append((iter(entry), level + 1))
        else:
            destination = _outline_entry(reader, entry, level, total)
            if destination is not None:
                found.append(destination)
    # sorted by page only: a sort by height would tear columns apart
    return sorted(found, key=lambda destination: destination.number)


def _outline_entry(reader: PdfReader, entry: Any, level: int, total: int) -> OutlineEntry | None:
    try:
        number = reader.get_destination_page_number(entry)
        title = " ".join(strip_unprintable(str(entry.title)).split())
        top = entry.top
    except Exception:  # noqa: BLE001  see read_outline
        return None
    if number is None or not 0 <= number < total or not title:
        return None
    height = float(top) if isinstance(top, int | float) else None
    return OutlineEntry(title, number, height, level)
