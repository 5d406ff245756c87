"""The original files of books: one file a book in the folder ``originals`` beside the database, readable by its owner.

They show the pages of a PDF as they were printed, and let a scan be recognised later. A removed book keeps its file
until the book is deleted for good, so ``restore`` brings both back.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from readagent_core.errors import DiskFullError, LibraryError
from readagent_core.library.books import Books
from readagent_core.regular_files import DRAFT, write_whole

FOLDER = "originals"
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Originals(Books):
    """The original files; sizes are in bytes. The names of the files are the ids of their books."""

    @property
    def originals_folder(self) -> Path:
        return self._db.path.parent / FOLDER

    def keep_original(self, book_id: str, name: str, data: bytes) -> None:
        """Store the file that the book was made of, in place of an earlier one. ``name``: its file name.

        Raises LibraryError where it cannot be written; then an earlier one stays.
        """
        self.book(book_id)
        suffix = PurePath(name.replace("\\", "/")).suffix.lower()
        suffix = suffix if _SUFFIX.fullmatch(suffix) and suffix != DRAFT else ""
        path = self.originals_folder / f"{book_id}{suffix}"
        try:
            self.originals_folder.mkdir(mode=0o700, exist_ok=True)
            earlier = self.original_path(book_id)
            write_whole(path, data)
            if earlier is not None and earlier != path:
                earlier.unlink(missing_ok=True)
        except OSError as error:
            raise _to_library_error(error, self.originals_folder) from None

    def original_path(self, book_id: str) -> Path | None:
        """The original file of the book; None where it was not kept."""
        return next((path for path in self._original_files() if path.stem == book_id and path.suffix != DRAFT), None)

    def original_version(self, book_id: str) -> tuple[Path, str] | None:
        """The original file of the book and its version, which another file has another of; None without a file."""
        path = self.original_path(book_id)
        try:
            state = path.stat() if path is not None else None
        except FileNotFoundError:  # removed at this moment
            return None
        return (path, f"{state.st_mtime_ns:x}-{state.st_size:x}") if path is not None and state is not None else None

    def original(self, book_id: str) -> bytes | None:
        """The bytes of the book's original file; None where it was not kept."""
        path = self.original_path(book_id)
        try:
            return path.read_bytes() if path is not None else None
        except OSError as error:
            raise _to_library_error(error, self.originals_folder) from None

    def books_with_original(self) -> set[str]:
        """The ids of the books whose original file is stored."""
        return {path.stem for path in self._original_files() if path.suffix != DRAFT}

    def originals_by_size(self) -> dict[int, list[Path]]:
        """The original files of all books by their size; each file is named by the id of its book."""
        found: dict[int, list[Path]] = {}
        for path in self._original_files():
            if path.suffix != DRAFT:
                found.setdefault(path.stat().st_size, []).append(path)
        return found

    def original_size(self, book_id: str) -> int:
        """The size of the book's original file; 0 where it was not kept."""
        path = self.original_path(book_id)
        return path.stat().st_size if path is not None else 0

    def originals_size(self) -> int:
        """The size of all original files."""
        return sum(path.stat().st_size for path in self._original_files())

    def remove_original(self, book_id: str) -> None:
        """Delete the book's original file. The book stays."""
        path = self.original_path(book_id)
        if path is not None:
            self._unlink([path])

    def remove_originals(self) -> int:
        """Delete all original files and return their number. The books stay."""
        return self._unlink(list(self._original_files()))

    def delete_removed(self, *, before: float = math.inf) -> int:
        """Delete for good the books removed before this time, with their original files; the number of books."""
        gone = super().delete_removed(before=before)
        books = {row["id"] for row in self._db.rows("SELECT id FROM book")}
        self._unlink([path for path in self._original_files() if path.stem not in books])
        return gone

    def _original_files(self) -> Iterator[Path]:
        try:
            yield from self.originals_folder.iterdir()
        except FileNotFoundError:  # no file was ever stored
            return
        except OSError as error:
            raise _to_library_error(error, self.originals_folder) from None

    def _unlink(self, paths: list[Path]) -> int:
        try:
            for path in paths:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise _to_library_error(error, self.originals_folder) from None
        return len(paths)


def _to_library_error(error: OSError, folder: Path) -> LibraryError:
    if error.errno in _FULL:
        return DiskFullError(
            "The disk is full, so the original file could not be stored. Free some space, then open the file again."
        )
    return LibraryError(
        f"The original files in {folder} cannot be read or written ({error.strerror}). Check that the disk has space "
        "and that the folder is writable, then try again."
    )
