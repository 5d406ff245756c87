"""A folder that has the notes of every book, one Markdown file each, for example in an Obsidian vault.

What ReadAgent writes stands between two marks, which Obsidian takes for comments; everything else in a file is the
person's and stays as it is, byte for byte. A file is found again by the property ``readagent`` in its front matter, so
it may be renamed and moved within the vault. What cannot be done safely is left undone and told.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from readagent_core.companion.marks import placed_marks
from readagent_core.errors import ReadAgentError, SettingsError
from readagent_core.export.notes import pages_of, template_values
from readagent_core.export.notes_file import (
    MARK,
    LeftAloneError,
    beginning_of,
    book_id_of,
    create_file,
    draft_beside,
    is_file_of,
    update_file,
)
from readagent_core.export.notes_template import DEFAULT, render
from readagent_core.gisting.job import memory_of
from readagent_core.jobs import Job
from readagent_core.library.file_lock import FileLock
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

JOB = "notes folder"
_STATE = "notes_folder"  # the preference that has a ``_Kept``
_CALM = 1.0  # seconds, so that changes in a row are written together
_PATIENCE = 60.0  # seconds, with another pass over the folder
_MOST_ENTRIES = 50_000  # of a vault, looked through for files that were moved
_OWN_MARKS = "The template writes one of ReadAgent's own marks. Leave it out: they are put around what it writes."


@dataclass(frozen=True)
class Kept:
    """How the notes in ``folder`` stand. ``at``: when all was well last, 0.0 for never.

    ``files``: by the id of the book its path, and the hash of what was written from. ``said``: what could not be done,
    a sentence each, with what to do.
    """

    folder: str = ""
    at: float = 0.0
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    said: tuple[str, ...] = ()


# --- the folder -------------------------------------------------------------------------------------------


def check_folder(workspace: Workspace, typed: str, *, make: bool = False) -> Path:
    """Return the folder that a person named. Raises SettingsError where nothing can be written there.

    ``make``: make it where the folder that it is in is there."""
    if workspace.settings.team is not None:
        raise SettingsError("On a server for several people notes are not kept in a folder: it would be the server's.")
    with contextlib.suppress(RuntimeError):  # nobody has the name after '~'
        folder = Path.home() / Path(typed.strip().strip("\"'")).expanduser()
        if make and typed.strip() and folder.parent.is_dir():
            with contextlib.suppress(OSError):
                folder.mkdir(exist_ok=True)
        if not typed.strip() or not folder.is_dir():
            raise SettingsError(
                f"The folder {typed.strip() or 'for the notes'} is not there. Make it, or connect the disk that it is "
                "on; then try again."
            )
        try:
            with draft_beside(folder / "x", b"", mode=None):
                return folder.resolve()
        except OSError as error:
            raise SettingsError(f"Nothing can be written in the folder {folder} ({error.strerror}).") from None
    raise SettingsError(f"{typed} names nobody's folder on this computer.")


def check_template(workspace: Workspace, template: str) -> None:
    """Raise SettingsError where the template cannot write a book with notes, or writes ReadAgent's own marks."""
    book = next((book for book, _ in _books_with_notes(workspace, "", {})), None)
    values = _values(workspace, book) if book else {"title": "", "author": "", "chapters": [], "lost": []}
    usual = {"language": "", "finished": "", "stars": 0, "remark": ""}
    if any(map(MARK.search, render(template, [usual | values]))):
        raise SettingsError(_OWN_MARKS)


def kept(workspace: Workspace) -> Kept:
    """Return how the folder stood when it was written last."""
    state: dict[str, Any] = workspace.library.preference(_STATE, {})
    files = {book_id: (path, digest) for book_id, (path, digest) in (state.get("files") or {}).items()}
    return Kept(state.get("folder", ""), state.get("at", 0.0), files, tuple(state.get("said", ())))


def keep_notes(workspace: Workspace, typed: str, template: str = "", *, all_books: bool = False) -> Kept:
    """Write the notes of the books that have changed into a folder, and return the state of the folder.

    ``all_books``: also of those that have not changed, so that a file that was deleted comes back. Raises SettingsError
    for a folder or a template that cannot be used.
    """
    folder, lock = check_folder(workspace, typed), FileLock(workspace.home, "notes-folder")
    until = time.monotonic() + _PATIENCE
    while not lock.acquire():
        if time.monotonic() > until:
            raise SettingsError("Another ReadAgent writes notes at the moment. They are written after the next change.")
        time.sleep(0.05)
    try:
        return _keep(workspace, folder, template.strip() or DEFAULT, all_books=all_books)
    finally:
        lock.release()


def _keep(workspace: Workspace, folder: Path, template: str, *, all_books: bool) -> Kept:
    before = kept(workspace)
    files = dict(before.files) if before.folder == str(folder) else {}
    wanted = {
        book.id: (book, digest)
        for book, digest in _books_with_notes(workspace, template, files)
        if all_books or files.get(book.id, ("", ""))[1] != digest
    }
    sections = render(template, [_values(workspace, book) for book, _ in wanted.values()])
    index: dict[str, Path] | None = None
    said: list[str] = []
    for (book, digest), section in zip(wanted.values(), sections, strict=True):
        path = Path(files[book.id][0]) if book.id in files else None
        try:
            if MARK.search(section):
                raise LeftAloneError(_OWN_MARKS)
            if path is None or not is_file_of(path, book):
                index = _files_by_book(_vault_of(folder)) if index is None else index
                path = index.get(book.id)
            if path is None:
                path = create_file(folder, book, section)
            else:
                update_file(path, section)
            files[book.id] = (str(path), digest)
        except (OSError, LeftAloneError) as error:
            why = f"it cannot be written ({error.strerror})" if isinstance(error, OSError) else error
            said.append(f"{path.name if path else book.title}: {why}".rstrip(".") + ".")
            files[book.id] = (str(path or ""), "")  # tried again next time
    files = {book_id: found for book_id, found in files.items() if found[0]}
    now = Kept(str(folder), time.time(), files, tuple(said))
    workspace.library.set_preference(_STATE, asdict(now))
    return now


def _books_with_notes(
    workspace: Workspace, template: str, files: dict[str, tuple[str, str]]
) -> Iterator[tuple[Book, str]]:
    """Yield the books that have a mark, are finished, or have a file, each with a hash of what its file shows."""
    marks, finished = workspace.library.mark_digests(), workspace.library.finished()
    for card in workspace.library.cards():
        book = card.book
        if book.id in marks or book.id in finished or book.id in files:
            shown = (marks.get(book.id), finished.get(book.id), book.document_id, book.title, book.author, template)
            pages = (card.gisting_id, card.pages)
            yield book, hashlib.sha256(repr((shown, pages)).encode()).hexdigest()


def _values(workspace: Workspace, book: Book) -> dict[str, Any]:
    library, memory = workspace.library, memory_of(workspace, book)
    document = memory.document if memory else library.document(book.id)
    marks = placed_marks(library, book.id, document)
    finished = library.finished().get(book.id)
    return template_values(book, document, marks, page_of=pages_of(memory), finished=finished)


def _vault_of(folder: Path) -> Path:
    """Return the Obsidian vault that ``folder`` is in, within which files may be moved; else ``folder`` itself."""
    return next((place for place in (folder, *folder.parents) if (place / ".obsidian").is_dir()), folder)


def _files_by_book(root: Path) -> dict[str, Path]:
    """Return the Markdown files below ``root`` that are of a book, by its id."""
    found: dict[str, Path] = {}
    left = _MOST_ENTRIES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))  # such as Obsidian's .trash
        left -= 1 + len(names)
        if left < 0:
            break
        for name in sorted(names):
            if name.endswith(".md") and (book_id := book_id_of(beginning_of(Path(folder, name)))):
                found.setdefault(book_id, Path(folder, name))
    return found


# --- in the background ------------------------------------------------------------------------------------


class _Keeper:
    """Keeps the folder of a workspace up to date, one pass after another."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._wanted = self._busy = False

    def start(self) -> None:
        """Have the folder written soon; called after each change."""
        if not self._workspace.settings.saved.notes_folder or self._workspace.settings.team is not None:
            return
        with self._lock:
            self._wanted = True
            if self._busy:
                return
            self._busy = True
        ended = self._workspace.jobs.get(JOB)
        if ended is not None:
            ended.join(1.0)  # it has nothing left to do
        self._workspace.jobs.start(JOB, self._work)

    def _work(self, job: Job) -> None:
        try:
            while self._is_wanted():
                job.wait(_CALM, "")
                write_now(self._workspace)
        except BaseException:
            with self._lock:
                self._busy = False
            raise

    def _is_wanted(self) -> bool:
        with self._lock:
            wanted, self._wanted = self._wanted, False
            self._busy = wanted
            return wanted


def write_now(workspace: Workspace, *, all_books: bool = False) -> Kept:
    """Write the folder that the settings name. What is wrong is in ``said``, and tried again after the next change."""
    saved = workspace.settings.saved
    if not saved.notes_folder:
        return kept(workspace)
    try:
        return keep_notes(workspace, saved.notes_folder, saved.notes_template, all_books=all_books)
    except ReadAgentError as error:
        now = replace(kept(workspace), said=(str(error),))
        workspace.library.set_preference(_STATE, asdict(now))
        return now


def keep_up_to_date(workspace: Workspace) -> None:
    """Have the folder written after each change from now on, and once for what changed while the app was closed."""
    keeper = _Keeper(workspace)
    workspace.library.on_notes_changed(keeper.start)
    keeper.start()
