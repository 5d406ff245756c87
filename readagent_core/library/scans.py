"""Files whose pages are being recognised: the file and what was recognised so far, in the folder ``scans``.

Every page is written as soon as it is recognised, so that a killed app resumes after the last one. The folder of a file
is deleted when its book was made. Passwords are not stored.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from readagent_core.errors import DiskFullError, LibraryError, NotInLibraryError
from readagent_core.loaders.recognition.page import RecognisedPage
from readagent_core.regular_files import write_whole

FOLDER = "scans"
_FILE, _ABOUT, _PAGES = "file", "about.json", "pages"


@dataclass(frozen=True)
class Scan:
    """A file that is being recognised. ``id``: hash of the file. ``name``: its name, or the address it came from.

    ``pages``: the source pages to recognise, from 1; ``done`` of them are. ``book_id``: the book that it is a version
    of, '' for a file that could not be opened without recognition.
    """

    id: str
    name: str
    pages: tuple[int, ...]
    book_id: str = ""
    done: int = 0


class Scans:
    """The files being recognised in the library in ``home``. Its methods raise LibraryError."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def add(self, data: bytes, name: str, pages: Sequence[int], *, book_id: str = "") -> Scan:
        """Stores a file and returns it; what was recognised of it before stays."""
        scan_id = hashlib.sha256(data).hexdigest()[:32]
        with self._explained():
            folder = self._folder / scan_id
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / _FILE, data)
            # written last: a folder without it is not a file to recognise
            write_whole(folder / _ABOUT, json.dumps({"name": name, "pages": list(pages), "book_id": book_id}).encode())
        return self.scan(scan_id)

    def scan(self, scan_id: str) -> Scan:
        """Returns a file. Raises NotInLibraryError where there is none with this id."""
        folder = self._folder / scan_id
        try:
            about = json.loads((folder / _ABOUT).read_bytes())
        except (OSError, ValueError):
            raise NotInLibraryError("This file is no longer being recognised. Open it again.") from None
        done = len(list(folder.glob(f"{_PAGES}/*.json")))
        return Scan(scan_id, about["name"], tuple(about["pages"]), about["book_id"], done)

    def all(self) -> list[Scan]:
        """Returns all files, last added first."""
        with self._explained():
            found = [(path.stat().st_mtime, path.parent.name) for path in self._folder.glob(f"*/{_ABOUT}")]
        return [self.scan(scan_id) for _, scan_id in sorted(found, reverse=True)]

    def path(self, scan_id: str) -> Path:
        """Returns where the file is."""
        return self._folder / scan_id / _FILE

    def recognised(self, scan_id: str) -> dict[int, RecognisedPage]:
        """Returns what was recognised so far, by source page from 1."""
        with self._explained():
            paths = sorted((self._folder / scan_id / _PAGES).glob("*.json"), key=lambda path: int(path.stem))
            return {int(path.stem): RecognisedPage.from_list(json.loads(path.read_bytes())) for path in paths}

    def save_page(self, scan_id: str, number: int, page: RecognisedPage) -> None:
        """Stores what was recognised on a source page."""
        with self._explained():
            folder = self._folder / scan_id / _PAGES
            folder.mkdir(mode=0o700, exist_ok=True)
            write_whole(folder / f"{number}.json", json.dumps(page.to_list(), ensure_ascii=False).encode())

    def remove(self, scan_id: str) -> None:
        """Deletes a file and what was recognised of it."""
        with self._explained():
            folder = self._folder / scan_id
            (folder / _ABOUT).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError(
                    "The disk is full, so the recognised text could not be stored. Free some space, then resume: what "
                    "was recognised before is still there."
                ) from None
            raise LibraryError(
                f"The folder {self._folder} cannot be read or written ({error.strerror}). Check that the disk has "
                "space and that the folder is writable, then try again."
            ) from None
