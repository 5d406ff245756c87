"""Imports every book of a folder, or of a Calibre library, and reports what became of each file.

A folder with a ``metadata.opf`` is one book, perhaps in several formats: one of them is opened, and title, author,
series, tags and cover are those of the catalogue. Everywhere else each file is a book.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from readagent_core.document import Cover, Document
from readagent_core.errors import DocumentError, TooLargeError
from readagent_core.jobs import Job
from readagent_core.library.records import Book
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.calibre import COVER_FILE, METADATA_FILE, BookMetadata, parse_metadata
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.workspace.base import Workspace
from readagent_core.workspace.opening import add_book

_JOB = "import folder"
_BEST_FIRST = ("epub", "docx", "html", "markdown", "text", "pdf")  # of the formats of one book
_LARGEST_METADATA, _LARGEST_COVER = 1 << 20, 8 << 20  # bytes


@dataclass(frozen=True)
class FoundBook:
    """A file to import. ``name``: its path within the folder. ``others``: files of the same book in other formats."""

    path: Path
    name: str
    metadata: BookMetadata = field(default_factory=BookMetadata)
    others: int = 0


@dataclass(frozen=True)
class ImportedBook:
    """A book of the library and the file it came from. ``position``: its number in ``series``."""

    book: Book
    name: str
    tags: tuple[str, ...] = ()
    series: str = ""
    position: str = ""


@dataclass(frozen=True)
class RefusedFile:
    """A file that was not imported, and why, for the reader."""

    name: str
    reason: str


@dataclass(frozen=True)
class FolderReport:
    """``present``: books that the library had already. ``others``: files left out because the same book was imported in
    another format. ``current``: the file that is being opened, '' at the end."""

    imported: tuple[ImportedBook, ...] = ()
    present: tuple[ImportedBook, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    others: int = 0
    current: str = field(default="", compare=False)


def find_books(folder: Path) -> list[FoundBook]:
    """Returns the books in ``folder`` and the folders in it, in the order of their names; links are not followed.

    Raises DocumentError where the folder cannot be read or has no book.
    """
    if not folder.is_dir():
        raise DocumentError(f"{folder} is not a folder. Name the folder that holds the books.")
    found = [book for parent, names in _walk(folder) for book in _books_of(folder, Path(parent), names)]
    if not found:
        endings = ", ".join(sorted(FORMATS))
        raise DocumentError(f"No book was found in {folder}. ReadAgent opens files that end in {endings}.")
    return found


def _walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield parent, sorted(name for name in names if not name.startswith("."))


def _books_of(folder: Path, parent: Path, names: list[str]) -> list[FoundBook]:
    files = [parent / name for name in names if Path(name).suffix.lower() in FORMATS]
    books = [FoundBook(file, file.relative_to(folder).as_posix()) for file in files if file.is_file()]
    if METADATA_FILE not in names or not books:
        return books
    best = min(books, key=lambda book: _BEST_FIRST.index(FORMATS[book.path.suffix.lower()]))
    data = _read(parent / METADATA_FILE, _LARGEST_METADATA) or b""
    return [replace(best, metadata=parse_metadata(data), others=len(books) - 1)]


def start_import(workspace: Workspace, folder: Path) -> Job:
    """Starts the import as a job, or returns the one that runs. Its value is the FolderReport so far.

    A cancelled job keeps the books that it has imported. Raises DocumentError as ``find_books``.
    """
    found = find_books(folder)
    return workspace.jobs.start(_JOB, lambda job: import_books(workspace, found, job), subject=str(folder))


def import_books(workspace: Workspace, found: list[FoundBook], job: Job) -> FolderReport:
    """Imports the books one after another and returns what became of each. Raises CancelledError."""
    known = {book.id: book.version for book in workspace.library.books()}
    report = FolderReport()
    for number, item in enumerate(found):
        job.publish(done=number, total=len(found), value=replace(report, current=item.name))
        job.check()
        report = replace(report, others=report.others + item.others)
        try:
            imported = _import_book(workspace, item)
        except DocumentError as error:
            report = replace(report, refused=(*report.refused, RefusedFile(item.name, str(error))))
            continue
        book = imported.book
        if known.get(book.id) == book.version:
            report = replace(report, present=(*report.present, imported))
        else:
            known[book.id] = book.version
            report = replace(report, imported=(*report.imported, imported))
    job.publish(done=len(found), value=report)
    return report


def _import_book(workspace: Workspace, item: FoundBook) -> ImportedBook:
    data = _read(item.path, DEFAULT.file)
    if data is None:
        raise TooLargeError(
            f"This file is larger than {DEFAULT.file >> 20:,} MB or cannot be read. Nothing was opened. Split it, or "
            "change the permissions of the file."
        )
    metadata = item.metadata
    document = _with_metadata(load_in_child_process(data, item.path.name), item)
    book = add_book(workspace, document, data, item.path.name, source_name=item.name)
    if tags := [*metadata.tags, *([metadata.series] if metadata.series else [])]:
        workspace.library.set_tags(book.id, tags)
    return ImportedBook(book, item.name, metadata.tags, metadata.series, metadata.position)


def _with_metadata(document: Document, item: FoundBook) -> Document:
    cover = _read(item.path.parent / COVER_FILE, _LARGEST_COVER) if item.metadata.title else None
    return replace(
        document,
        title=item.metadata.title or document.title,
        author=item.metadata.author or document.author,
        cover=document.cover or (Cover(cover, "image/jpeg") if cover else None),
    )


def _read(path: Path, limit: int) -> bytes | None:
    """Returns the content of a file; None where it cannot be read or is larger than ``limit`` bytes."""
    try:
        return path.read_bytes() if path.stat().st_size <= limit else None
    except OSError:
        return None
