"""Bytes of a file to a Document. One file a format; ``load`` tells which and keeps the limits.

Knows nothing of the library or of reading. Raises DocumentError, each kind with what to do next, and nothing
else: whatever a parser trips over in a broken file is a DamagedDocumentError.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from readagent_core.document import Document, Notice
from readagent_core.errors import DamagedDocumentError, DocumentError, TooLargeError, UnknownFormatError
from readagent_core.loaders.base import DEFAULT, Limits, check_size
from readagent_core.loaders.report import Report, report
from readagent_core.loaders.sniff import FORMATS, NAMES, sniff

__all__ = ["DEFAULT", "FORMATS", "Limits", "Report", "load", "report"]

# loaded when first needed: a text does not wait for the PDF machinery
_LOADERS = {
    "text": "readagent_core.loaders.text",
    "markdown": "readagent_core.loaders.markdown",
    "html": "readagent_core.loaders.html",
    "epub": "readagent_core.loaders.epub",
    "pdf": "readagent_core.loaders.pdf",
    "docx": "readagent_core.loaders.docx",
}


def load(data: bytes, name: str, *, password: str = "", limits: Limits = DEFAULT) -> Document:
    """The document in ``data``; ``name`` is its file name. Raises DocumentError."""
    check_size(data, limits.file, "This file")
    found = sniff(data, name)
    opened = loader(found.format)
    try:
        document = opened(data, _stem(name), password=password, limits=limits)
    except DocumentError:
        raise
    except MemoryError:
        raise TooLargeError(
            "This file needs more memory than opening is allowed. Nothing was opened. Split it and open the parts."
        ) from None
    except Exception as error:
        raise DamagedDocumentError(
            f"This file seems to be {NAMES[found.format]}, but it is damaged and cannot be read. "
            "Nothing was opened. Download or copy it again."
        ) from error
    if found.notice:
        document = replace(document, warnings=(Notice("other-format", found.notice), *document.warnings))
    return document


def loader(format: str) -> Callable[..., Document]:
    """The function that opens ``format``, imported when first asked for."""
    try:
        opener: Callable[..., Document] = importlib.import_module(_LOADERS[format]).load
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("readagent_core.loaders"):
            raise
        raise UnknownFormatError(f"This version of ReadAgent does not open {NAMES[format]} files.") from None
    return opener


def _stem(name: str) -> str:
    """A title from a file name: without folders, ending and underscores."""
    stem = PurePath(name.replace("\\", "/")).stem.replace("_", " ").strip()
    if " " not in stem:
        stem = stem.replace("-", " ").strip()
    return stem
