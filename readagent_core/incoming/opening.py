"""A file becomes a book of the library. The same text is the same book; a changed file is its next version.

An exported reading (JSON) becomes its book together with that gisting. Nothing in the library is ever replaced.
"""

from __future__ import annotations

import errno
import json
import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    LibraryError,
    LimitError,
    TooLargeError,
    WrongFormatError,
)
from readagent_core.library.records import Book
from readagent_core.loaders import DEFAULT, PageProgress
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.memory import GistMemory, check_coverage
from readagent_core.regular_files import read_regular
from readagent_core.workspace import Workspace, folder_size

READING_SUFFIX = ".json"  # what the name of an exported reading ends with
READING_FORMAT, READING_VERSION = "readagent gist memory", 1
KEEP_ORIGINALS = "keep_originals"  # the preference that stores the original file of every book that is opened
_MOST = 10**15  # no figure of a gisting is as high
_log = logging.getLogger(__name__)


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file within the limit on sizes. Raises DocumentError where it cannot be read."""
    try:
        return read_regular(path, most=DEFAULT.file)
    except OSError as error:
        kind = TooLargeError if error.errno == errno.EFBIG else DocumentError
        raise kind(f"{path} cannot be read ({error.strerror}). Name another file.") from None


def open_file(
    workspace: Workspace, data: bytes, name: str, *, password: str = "", progress: PageProgress | None = None
) -> Book:
    """Returns the book in ``data``, added to the library. Raises DocumentError; then nothing was added.

    ``progress`` is called after each source page of a PDF; where it raises, reading the file is cancelled."""
    if name.lower().endswith(READING_SUFFIX):
        return _open_gisting(workspace, data, name)
    document = load_in_child_process(data, name, password=password, progress=progress)
    book = add_book(workspace, document, data, name, source_name=name)
    if password:
        workspace.originals.remember_password(book.id, password)
    return book


def add_book(workspace: Workspace, document: Document, data: bytes, name: str, *, source_name: str) -> Book:
    """Returns the book of ``document``, added to the library with its original file, ``data`` of this ``name``.

    The file is not stored where that is turned off, and does not replace one of the format that the text came from.
    Without it the book is complete, so where it cannot be written that is only logged.
    """
    library = workspace.library
    check_room(workspace, len(data))
    book = library.add(document, source_name=source_name)
    try:
        if not library.preference(KEEP_ORIGINALS, True):
            library.remove_original(book.id)
        elif document.format == book.format or library.original_path(book.id) is None:
            library.keep_original(book.id, name, data)
    except LibraryError as error:
        _log.warning("%s", error)
    return book


def check_room(workspace: Workspace, size: int) -> None:
    """Raise LimitError where ``size`` more bytes are more than one person may store on a server for several people."""
    team = workspace.settings.team
    if team and folder_size(workspace.home) + size > team.megabytes * 1e6:
        raise LimitError(
            f"Your library on this server may have {team.megabytes:,} MB, and this does not fit. Delete books that you "
            "have removed, or original files and replies in Settings, then add it again."
        )


def _open_gisting(workspace: Workspace, data: bytes, name: str) -> Book:
    library = workspace.library
    check_room(workspace, len(data))
    document, memory = import_gisting(data)
    present = _same_gisting(workspace, memory)
    if present is not None and (present.pages, present.gists) != (memory.pages, memory.gists):
        raise DocumentError(
            "The library holds these gists already, and they differ from those in this file: one was changed, or "
            "one of the two goes further. Nothing was replaced; the gists in the library are as they were."
        )
    book = library.add(document, source_name=name)
    if present is None:
        # pages count paragraphs, and the text in the library is never replaced
        if [p.text for p in library.document(book.id).paragraphs] != [p.text for p in document.paragraphs]:
            raise DamagedDocumentError(
                "The library holds this book with its paragraphs divided in another way, so the pages of these "
                "gists do not fit it. The book was left as it was; make its gists here."
            )
        library.add_memory(book.id, memory)
    return book


def _same_gisting(workspace: Workspace, memory: GistMemory) -> GistMemory | None:
    """The library's reading of the same text by the same plan and model, if it has pages; of removed books too."""
    wanted = (memory.document.id, memory.plan.key, memory.model, memory.recorded)
    for book in workspace.library.books(include_removed=True):
        for gisting in workspace.library.gistings(book.id):
            if gisting.pages and wanted == (gisting.document_id, gisting.plan.key, gisting.model, gisting.recorded):
                return workspace.library.memory(gisting.id)
    return None


def import_gisting(data: bytes) -> tuple[Document, GistMemory]:
    """The document and the memory of a reading exported as JSON. Raises DocumentError for anything else."""
    try:
        values: Any = json.loads(data.decode("utf-8-sig", "surrogatepass"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise WrongFormatError("This file is not JSON. Open one that was exported as JSON.") from None
    if not isinstance(values, dict) or values.get("format") != READING_FORMAT:
        raise WrongFormatError("This JSON is no exported gist memory. Open one that was exported as JSON.")
    if values.get("version") != READING_VERSION:
        raise WrongFormatError("This gist memory was exported by another version. Export it again with this one.")
    try:
        document = Document.from_dict(values["document"])
        memory = GistMemory.from_dict(values["memory"], document)
        _check(memory)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise DamagedDocumentError(
            "This gist memory is damaged: its pages do not fit its text. Nothing was imported; export it again."
        ) from None
    return document, memory


def _check(memory: GistMemory) -> None:
    """Raise ValueError unless the pages follow one another within the document and every text is a string."""
    document = memory.document
    end = memory.pages[-1].end if memory.pages else 0
    read = document.paragraphs[:end]
    if len(read) != end:
        raise ValueError("pages reach past the text")
    check_coverage(replace(document, paragraphs=read, sections=()), memory.pages)
    gists = [gist for gist in memory.gists if gist is not None]
    texts = [document.title, document.author, document.language, document.format, memory.model, memory.recorded]
    texts += [p.text for p in document.paragraphs] + [s.title for s in document.sections]
    texts += [p.reason for p in memory.pages]
    texts += [text for g in gists for text in (g.text, *g.marks)]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is not a string")
    numbers = [n for p in memory.pages for n in (p.number, p.start, p.end, p.words)] + [g.level for g in gists]
    flags = [p.fallback for p in memory.pages] + [flag for g in gists for flag in (g.fallback, g.whole, g.edited)]
    used = {name: figure or 0 for name, figure in asdict(memory.usage).items()}
    if {*map(type, numbers)} - {int} or {*map(type, flags)} - {bool}:
        raise ValueError("a number or a flag is of another type")
    if not all(0 <= figure < _MOST for figure in (*numbers, *used.values())):
        raise ValueError("a figure is not possible")
    if memory.complete and (end != len(document.paragraphs) or None in memory.gists):
        raise ValueError("the memory is called complete but is not")
