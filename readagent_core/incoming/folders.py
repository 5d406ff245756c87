"""Imports every book of a folder, or of a Calibre library, and reports what became of each file.

A folder with a ``metadata.opf`` is one book, perhaps in several formats: one of them is opened, and title, author,
series, tags and cover are those of the catalogue. Everywhere else each file is a book.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from readagent_core.cancel import CancelToken
from readagent_core.document import Cover, Document
from readagent_core.errors import DocumentError, NotInLibraryError
from readagent_core.incoming.opening import add_book, read_file
from readagent_core.jobs import Job
from readagent_core.library.records import Book
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.calibre import COVER_FILE, METADATA_FILE, BookMetadata, parse_metadata
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.loaders.file_types import promised_format
from readagent_core.regular_files import read_regular
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

JOB = "import folder"
_BEST_FIRST = ("epub", "mobi", "fb2", "docx", "odt", "html", "markdown", "text", "pdf")  # of the formats of one book
# where people keep books; ``Calibre Library`` is Calibre's own folder
_USUAL = "Books", "eBooks", "Calibre Library", "Documents", "Downloads", "Desktop"
_COUNT_SECONDS = 0.5  # for all of them: the person waits
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
    """A book of the library and the file it came from. ``position``: its number in ``series``. ``new``: the library
    did not show it before."""

    book: Book
    name: str
    new: bool
    tags: tuple[str, ...] = ()
    series: str = ""
    position: str = ""

    @property
    def label(self) -> str:
        """Title and author, with series and tags: 'The Keeper, by Anna Keeper (The Sound 2, Fog)'."""
        named = self.book.title + (f", by {self.book.author}" if self.book.author else "")
        more = ", ".join(filter(None, [f"{self.series} {self.position}".strip(), *self.tags]))
        return f"{named} ({more})" if more else named


@dataclass(frozen=True)
class RefusedFile:
    """A file that was not imported, and why."""

    name: str
    reason: str
    kind: type[DocumentError]


@dataclass(frozen=True)
class FolderReport:
    """``present``: books that the library had already. ``others``: files left out because the same book was imported in
    another format. ``current``: the file that is being opened, '' at the end."""

    imported: tuple[ImportedBook, ...] = ()
    present: tuple[ImportedBook, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    others: int = 0
    current: str = field(default="", compare=False)

    @property
    def summary(self) -> str:
        imported = f"{count_of(len(self.imported), 'book')} imported" if self.imported else "no new book"
        present = f", {len(self.present):,} already there" if self.present else ""
        refused = f", {count_of(len(self.refused), 'file')} not imported" if self.refused else ""
        return imported + present + refused


def find_books(folder: Path, cancel: CancelToken | None = None) -> list[FoundBook]:
    """Returns the books in ``folder`` and the folders in it, in the order of their names; links are not followed.

    A folder in it that cannot be read is among them, so that it is reported. Raises DocumentError where ``folder`` is
    no folder, cannot be read or has no book, and CancelledError.
    """
    _check_folder(folder)
    errors: list[OSError] = []
    found: list[FoundBook] = []
    for parent, folders, names in os.walk(folder, onerror=errors.append):
        if cancel is not None:
            cancel.check()
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = sorted(name for name in names if not name.startswith("."))
        found += _books_of(folder, Path(parent), shown)
    for error in errors:
        path = Path(error.filename)
        if path == folder:
            raise DocumentError(f"{folder} cannot be read ({error.strerror}). Change its permissions, then try again.")
        found.append(FoundBook(path, path.relative_to(folder).as_posix()))
    if not found:
        endings = ", ".join(sorted(FORMATS))
        raise DocumentError(f"No book was found in {folder.name}. ReadAgent opens files that end in {endings}.")
    return found


def usual_folders() -> dict[Path, int]:
    """Return the folders of this person where books usually are, with how many files in each can be opened.

    What cannot be counted in half a second is left out.
    """
    until = time.monotonic() + _COUNT_SECONDS
    found: dict[Path, int] = {}
    for folder in (Path.home() / name for name in _USUAL):
        count = 0
        for parent, folders, names in os.walk(folder):
            if time.monotonic() > until:
                return found
            folders[:] = [name for name in folders if not name.startswith(".")]
            shown = sorted(name for name in names if not name.startswith("."))
            count += len(_books_of(folder, Path(parent), shown)) if any(map(promised_format, shown)) else 0
        if count:
            found[folder] = count
    return found


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise DocumentError(f"{folder} is not a folder. Name the folder that holds the books.")


def _books_of(folder: Path, parent: Path, names: list[str]) -> list[FoundBook]:
    files = [parent / name for name in names if promised_format(name)]
    books = [FoundBook(file, file.relative_to(folder).as_posix()) for file in files if file.is_file()]
    if METADATA_FILE not in names or not books:
        return books
    best = min(books, key=lambda book: (*_BEST_FIRST, format := promised_format(book.path.name)).index(format))
    data = _read(parent / METADATA_FILE, _LARGEST_METADATA) or b""
    return [replace(best, metadata=parse_metadata(data), others=len(books) - 1)]


def copied_folder(files: Iterable[tuple[str, bytes | memoryview]]) -> tuple[Path, TemporaryDirectory[str]]:
    """Return a folder that a browser sent, and the temporary one it was copied into. ``files``: path and content.

    A browser may send names alone: files of one name are kept apart then. Raises DocumentError.
    """
    copies = TemporaryDirectory(prefix="readagent-", ignore_cleanup_errors=True)
    base = Path(copies.name)
    try:
        for number, (name, data) in enumerate(files):
            *folders, file = [part for part in PurePosixPath(name).parts if part not in ("..", "/")]
            if file == METADATA_FILE and not folders:
                continue  # of which book is not known
            path = base.joinpath(*folders, file)
            path = path if not path.exists() else base / str(number) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except (OSError, ValueError) as error:
        copies.cleanup()
        raise DocumentError(f"The folder cannot be copied ({error}). Import it by its path.") from None
    inside = list(base.iterdir())
    return (inside[0] if len(inside) == 1 and inside[0].is_dir() else base), copies


def start_import(workspace: Workspace, folder: Path, copies: TemporaryDirectory[str] | None = None) -> Job:
    """Starts the import as a job, or returns the one that runs. Its value is the FolderReport, once books were found.

    A cancelled job keeps the books that it has imported. ``copies``: deleted at the end. Raises DocumentError where
    ``folder`` is no folder.
    """
    _check_folder(folder)

    def work(job: Job) -> FolderReport:
        with copies or nullcontext():
            return import_books(workspace, find_books(folder, job), job)

    name = str(folder) if copies is None else "Chosen files" if folder == Path(copies.name) else folder.name
    return workspace.jobs.start(JOB, work, subject=name)


def import_books(workspace: Workspace, found: list[FoundBook], job: Job) -> FolderReport:
    """Imports the books one after another and returns what became of each. Raises CancelledError.

    A file that the library has as the original file of a book is not opened again.
    """
    library = workspace.library
    books, originals = library.books(include_removed=True), library.originals_by_size()
    known = {book.id for book in books}
    shown = {book.id: book.version for book in books if book.removed is None}
    report = FolderReport()
    for number, item in enumerate(found):
        job.publish(done=number, total=len(found), value=replace(report, current=item.name))
        job.check()
        report = replace(report, others=report.others + item.others)
        try:
            book = _import_book(workspace, item, originals, job)
        except DocumentError as error:
            report = replace(report, refused=(*report.refused, RefusedFile(item.name, str(error), type(error))))
            continue
        metadata = item.metadata
        if book.id not in known:
            named = [tag for tag in (*metadata.tags, metadata.series) if any(map(str.isalnum, tag))]
            library.set_tags(book.id, named)
            if place := metadata.place_in_series:
                library.place_in_series(book.id, *place)
            known.add(book.id)
        new = book.id not in shown
        imported = ImportedBook(book, item.name, new, metadata.tags, metadata.series, metadata.position)
        if shown.get(book.id) == book.version:
            report = replace(report, present=(*report.present, imported))
        else:
            shown[book.id] = book.version
            report = replace(report, imported=(*report.imported, imported))
    job.publish(done=len(found), value=report)
    return report


def _import_book(workspace: Workspace, item: FoundBook, originals: Mapping[int, list[Path]], job: Job) -> Book:
    if item.path.is_dir():
        raise DocumentError("This folder cannot be read. Change its permissions, then import again.")
    data = read_file(item.path)
    library = workspace.library
    for original in originals.get(len(data), ()):
        if _read(original, DEFAULT.file) == data:
            with suppress(NotInLibraryError):  # deleted for good meanwhile
                library.restore(original.stem)
                return library.book(original.stem)
    document = load_in_child_process(data, item.path.name, progress=lambda *_: job.check())
    return add_book(workspace, _with_metadata(document, item), data, item.path.name, source_name=item.name)


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
        return read_regular(path, most=limit)
    except OSError:
        return None
