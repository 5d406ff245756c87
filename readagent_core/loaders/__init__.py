"""Turns the bytes of a file into a Document. ``load`` finds the format, and each format has its own folder.

Raises DocumentError only, and each subclass says what to do next. Whatever else a parser raises for a broken file
becomes a DamagedDocumentError. Other packages add formats by the entry points ``readagent.loaders``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from readagent_core.document import Document, Notice
from readagent_core.errors import DamagedDocumentError, DocumentError, NoTextError, TooLargeError, UnknownFormatError
from readagent_core.loaders.base import DEFAULT, Limits, PageProgress, check_size
from readagent_core.loaders.file_types import FileType, detect_file_type
from readagent_core.loaders.formats import FORMATS, FROM_PACKAGES, LOADERS, NAMES
from readagent_core.loaders.recognition.page import RecognisedPage

__all__ = ["DEFAULT", "FORMATS", "Limits", "PageProgress", "load"]


def load(
    data: bytes,
    name: str,
    *,
    password: str = "",
    address: str = "",
    limits: Limits = DEFAULT,
    progress: PageProgress | None = None,
    skip: Collection[int] = (),
    recognised: Mapping[int, RecognisedPage] | None = None,
) -> Document:
    """Returns the document in ``data``. ``name`` is its file name. Raises DocumentError.

    ``address``: where a web page was fetched; it is then searched for an article. ``progress`` is called after each
    source page of a PDF, whose pages ``skip``, from 0, are left out. ``recognised``: what was recognised on its pages,
    from 1, that have no text of their own."""
    check_size(data, limits.file, "This file")
    found = detect_file_type(data, name)
    opened = import_loader(found.format)
    more: dict[str, Any] = {"address": address} if found.format == "html" else {}
    if LOADERS.get(found.format, "").endswith("by_pandoc"):
        more = {"format": found.format}
    pages = {"password": password, "progress": progress, "skip": skip, "recognised": recognised or {}}
    if found.format in ("pdf", "cbz"):
        more = pages
    try:
        try:
            document = opened(data, _title_from_name(name), limits=limits, **more)
        except NoTextError as error:
            if found.format != "epub":
                raise
            document = _open_pictures(error, data, _title_from_name(name), limits=limits, **pages)
            found = FileType("cbz", found.notice)
        if not isinstance(document, Document):
            raise TypeError(f"the loader of {found.format} returned no Document")
    except DocumentError:
        raise
    except MemoryError:
        raise TooLargeError(
            "This file needs more memory than opening is allowed. Split it and open the parts."
        ) from None
    except Exception as error:
        raise DamagedDocumentError(
            f"This file seems to be {NAMES[found.format]}, but it is damaged and cannot be read. "
            "Download or copy it again."
        ) from error
    if document.format != found.format:  # a package's, or one that was turned into another first
        document = replace(document, format=found.format)
    if found.notice:
        document = replace(document, warnings=(Notice("other-format", found.notice, places=(0,)), *document.warnings))
    return document


def _open_pictures(told: NoTextError, data: bytes, name: str, **pages: Any) -> Document:
    """Returns what was recognised in an EPUB of pictures. Raises NoTextError with the pages whose text may be."""
    try:
        return import_loader("cbz")(data, name, **pages)
    except NoTextError as error:
        raise NoTextError(str(told), error.pages) from None
    except DocumentError:  # its pictures are not in it, or too many
        raise told from None


def import_loader(format: str) -> Callable[..., Document]:
    """Imports and returns the function that opens ``format``. Raises DocumentError where a package's is none."""
    opener: Callable[..., Document]
    if format not in FROM_PACKAGES:
        opener = importlib.import_module(LOADERS[format]).load  # late, so that a text needs no PDF packages
        return opener
    try:
        opener = FROM_PACKAGES[format].load()
        if not callable(opener):
            raise TypeError(f"{FROM_PACKAGES[format].value} is no function")
    except (Exception, SystemExit) as error:
        raise UnknownFormatError(
            f"This is {NAMES[format]}, but that package cannot be used: {error!r}. Update or remove the package."
        ) from error
    return opener


def _title_from_name(name: str) -> str:
    """Returns a title from a file name: without folders, ending, underscores and hyphens between words."""
    stem = PurePath(name.replace("\\", "/")).stem.replace("_", " ").strip()
    if " " not in stem:
        stem = stem.replace("-", " ").strip()
    return stem
