"""Recognise the text of scanned pages in the background: one job a file, which can be paused and resumed.

Every page is stored when it is recognised. When all are, the file becomes a book, or a new version of its book.
"""

from __future__ import annotations

import time
from dataclasses import replace

from readagent_core.cancel import key_lock
from readagent_core.document import Document
from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    EmptyDocumentError,
    LibraryBusyError,
    NoTextError,
    NotInLibraryError,
    PasswordError,
    SettingsError,
)
from readagent_core.incoming.opening import add_book, check_room
from readagent_core.jobs import Job
from readagent_core.library.file_lock import FileLock
from readagent_core.library.records import Book
from readagent_core.library.scans import Scan, Scans
from readagent_core.loaders import PageProgress
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.loaders.extras import how_to_install
from readagent_core.loaders.pdf.picture import PdfPages
from readagent_core.loaders.recognition.page import RecognisedPage
from readagent_core.loaders.recognition.recogniser import WIDTH, Recogniser, is_installed
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

INSTALL = "To recognise the text here, install the packages for it once (120 MB):"
_SPEED = "recognition_seconds"  # the preference with the seconds that a page took lately on this computer
_FIRST_GUESS = 5.0  # seconds a page, before any was recognised here
_NEWEST = 0.3  # weight of the newest page in the speed
_ONE_AT_A_TIME = "recognition"  # it takes 0.8 GB of memory
_UNREADABLE = RecognisedPage(confidence=0.0)  # of a page that cannot be drawn


def estimate(workspace: Workspace, pages: int) -> str:
    """Returns about how long it takes to recognise so many pages: 'about 40 seconds', 'about 3 minutes'."""
    seconds = pages * float(workspace.library.preference(_SPEED, _FIRST_GUESS))
    if seconds < 90:
        return f"about {max(10, round(seconds, -1)):.0f} seconds"
    minutes = seconds / 60
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {minutes / 60:.0f} hours"


def offer(workspace: Workspace, pages: int) -> str:
    """Returns what the button says: 'Recognise the text of 8 pages (about 40 seconds)'."""
    return f"Recognise the text of {count_of(pages, 'page')} ({estimate(workspace, pages)})"


def pages_to_recognise(
    data: bytes, name: str, *, password: str = "", progress: PageProgress | None = None
) -> tuple[int, ...]:
    """Returns the pages of a PDF, from 1, whose text can only be recognised. Raises DocumentError where there are none.

    ``progress`` is called after each source page that was looked at."""
    try:
        pages = load_in_child_process(data, name, password=password, progress=progress).doubtful_pages
    except NoTextError as error:
        pages = error.pages
        if not pages:
            raise
    if not pages:
        raise DocumentError("There is nothing to recognise in this file: none of its pages is a picture without text.")
    return pages


def missing_packages() -> str:
    """Returns what to install before text can be recognised; '' where it is installed."""
    return "" if is_installed() else f"{INSTALL} {how_to_install('ocr')}"


def job_key(scan_id: str) -> str:
    return f"recognise {scan_id}"


def start_recognising(
    workspace: Workspace, data: bytes, name: str, pages: tuple[int, ...], *, password: str = "", book_id: str = ""
) -> Job:
    """Returns the job that recognises ``pages``, from 1, of a PDF; its value is the id of the book.

    ``book_id``: the book that gets a new version; '' for a file that is not in the library. Raises SettingsError where
    the packages are missing."""
    if missing := missing_packages():
        raise SettingsError(missing)
    check_room(workspace, len(data))
    scan = Scans(workspace.home).add(data, name, pages, book_id=book_id)
    return resume_recognising(workspace, scan.id, password=password)


def recognise_book(workspace: Workspace, book_id: str) -> Job:
    """Returns the job that recognises the pages of a book that have no text. Raises DocumentError without its file."""
    data = workspace.library.original(book_id)
    if data is None:
        raise DocumentError("The file of this book is not stored here. Open it again, then recognise its pages.")
    pages = workspace.library.document(book_id).doubtful_pages
    return start_recognising(workspace, data, workspace.library.book(book_id).source_name, pages, book_id=book_id)


def resume_recognising(workspace: Workspace, scan_id: str, *, password: str = "") -> Job:
    """Returns the job that recognises the pages of a file that are not done yet; the one under way if there is one."""
    scan = Scans(workspace.home).scan(scan_id)

    def work(job: Job) -> str:
        job.publish(done=scan.done, total=len(scan.pages))
        lock = FileLock(workspace.home, f"scan-{scan_id}")
        if not lock.acquire():
            raise LibraryBusyError("Another ReadAgent is recognising this file. Wait until it has ended.")
        try:
            with key_lock(_ONE_AT_A_TIME, job):
                _recognise(workspace, scan, job, password)
            return _to_book(workspace, scan, password).id
        except PasswordError:
            raise PasswordError(
                "This file needs its password, which is not stored. Open the file again in the library and enter it: "
                "what was recognised before is still there."
            ) from None
        finally:
            lock.remove()

    return workspace.jobs.start(job_key(scan_id), work, subject=scan_id)


def unfinished(workspace: Workspace) -> list[Scan]:
    """Returns the files that were not recognised to the end; those of books that were deleted meanwhile are removed."""
    scans = Scans(workspace.home)
    found = scans.all()
    for scan in found:
        if scan.book_id and not _has_book(workspace, scan.book_id):
            discard(workspace, scan.id)
    return [scan for scan in found if not scan.book_id or _has_book(workspace, scan.book_id)]


def discard(workspace: Workspace, scan_id: str) -> None:
    """Ends the recognition of a file and deletes what was recognised."""
    job = workspace.jobs.get(job_key(scan_id))
    if job is not None:
        job.cancel()
        job.join()
    Scans(workspace.home).remove(scan_id)


def _has_book(workspace: Workspace, book_id: str) -> bool:
    try:
        workspace.library.book(book_id)
    except NotInLibraryError:
        return False
    return True


def _recognise(workspace: Workspace, scan: Scan, job: Job, password: str) -> None:
    """Recognises the pages that are not done yet and stores each."""
    scans = Scans(workspace.home)
    done = set(scans.recognised(scan.id))
    with PdfPages(scans.path(scan.id), password=password) as pages, Recogniser(job) as recogniser:
        pages.facts()  # raises where the file cannot be opened
        for number in scan.pages:
            if number in done:
                continue
            job.check()
            started = time.monotonic()
            try:
                page = recogniser.recognise(pages.draw(number, width=WIDTH))
            except DamagedDocumentError:  # one page that cannot be drawn must not lose the book; a notice names it
                page = _UNREADABLE
            scans.save_page(scan.id, number, page)
            done.add(number)
            job.publish(done=len(done))
            _store_speed(workspace, time.monotonic() - started)


def _store_speed(workspace: Workspace, seconds: float) -> None:
    before = float(workspace.library.preference(_SPEED, seconds))
    workspace.library.set_preference(_SPEED, round(before + _NEWEST * (seconds - before), 2))


def _to_book(workspace: Workspace, scan: Scan, password: str) -> Book:
    """Returns the book of a file whose pages are all recognised."""
    scans = Scans(workspace.home)
    data = scans.path(scan.id).read_bytes()
    try:
        document = load_in_child_process(data, scan.name, password=password, recognised=scans.recognised(scan.id))
    except EmptyDocumentError:
        scans.remove(scan.id)  # to resume would find no more
        raise
    if scan.book_id:
        document = _with_origin(document, workspace.library.document(scan.book_id))
    book = add_book(workspace, document, data, scan.name, source_name=scan.name)
    scans.remove(scan.id)
    return book


def _with_origin(document: Document, earlier: Document) -> Document:
    """Returns ``document`` with the notice of where the earlier version was fetched, and with its title and author."""
    fetched = tuple(notice for notice in earlier.warnings if notice.code == "fetched")
    return replace(document, title=earlier.title, author=earlier.author, warnings=(*fetched, *document.warnings))
