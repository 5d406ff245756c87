"""A PDF file as pypdf opens it: password, mending, number of pages, what it says of itself. Knows nothing of text."""

from __future__ import annotations

import logging
import re
import warnings
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, PasswordError, TooLargeError
from readagent_core.loaders.base import Limits, clean
from readagent_core.loaders.pdf_mend import mended

_BY = re.compile(r"(.{2,}), by ((?:[A-Z][\w.'’-]*)(?: (?:[A-Z][\w.'’-]*|de|du|von|van|der|la)){1,4})$")
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft (?:word|powerpoint)|.*\.(?:docx?|tex|indd|qxd|pdf|dvi|rtf|odt)$|\W*$)", re.I
)


@contextmanager
def quiet() -> Any:
    """pypdf tells of every mended flaw in logs and warnings; what matters is told in notices."""
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logger.setLevel(before)


AGAIN = (
    "Download or copy it again. If that does not help, open it in a PDF viewer, save or print it as a new PDF, and "
    "open the new one here (or mend it with 'qpdf in.pdf out.pdf')."
)
_BROKEN = (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError)


def open_pdf(data: bytes, password: str) -> tuple[PdfReader, bool]:
    """The reader, and whether the file had to be mended."""
    try:
        return _reader(data, password), False
    except _BROKEN as error:
        repaired = mended(data)
        try:
            if repaired is not None:
                return _reader(repaired, password), True
        except _BROKEN:
            pass  # told below, as the first error
        raise DamagedDocumentError(f"This PDF is damaged and cannot be read. Nothing was opened. {AGAIN}") from error


def _reader(data: bytes, password: str) -> PdfReader:
    reader = PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(password) and not (password and reader.decrypt("")):
        if password:
            raise PasswordError("That password does not open this PDF. Nothing was opened. Type it again.")
        raise PasswordError("This PDF is locked with a password. Nothing was opened. Type its password to open it.")
    len(reader.pages)
    return reader


def count_pages(reader: PdfReader, limits: Limits) -> int:
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
    """What each page is called in the book itself: 'iv', '12'."""
    try:
        labels = list(reader.page_labels)
    except Exception:  # noqa: BLE001  labels are an ornament; the page's own number does
        labels = []
    return [*labels, *(str(i + 1) for i in range(len(labels), total))]


def read_facts(reader: PdfReader) -> dict[str, str]:
    facts: dict[str, str] = {}
    try:
        metadata = reader.metadata
        title = " ".join(clean(str((metadata and metadata.title) or "")).split())
        author = " ".join(clean(str((metadata and metadata.author) or "")).split())
        language = str(reader.root_object.get("/Lang", "") or "")
    except Exception:  # noqa: BLE001  a file without readable metadata still has its text
        return facts
    named = _BY.match(title)
    if named:  # "Emma, by Jane Austen": the title knows the writer, the file's author is then often who made the file
        title, author = named.groups()
    if title and not _NO_TITLE.match(title):
        facts["title"] = title
    if author and author.lower() not in ("unknown", "anonymous", "user", "admin", "administrator"):
        facts["author"] = author
    if re.fullmatch(r"[A-Za-z]{2,3}(-\w+)*", language):
        facts["language"] = language
    return facts
