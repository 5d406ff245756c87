"""Recognising the text of scanned pages: the notes about files under way, and what the import report offers."""

from __future__ import annotations

import secrets
from typing import Any

import streamlit as st

from pages.parts.library.imports import Import, imports_of
from pages.parts.shared import polling, shell
from readagent_core.errors import NoTextError, ReadAgentError
from readagent_core.incoming import recognising
from readagent_core.jobs import Job, JobState, Snapshot
from readagent_core.library.records import Book
from readagent_core.library.scans import Scan
from readagent_core.loaders.extras import how_to_install
from readagent_core.loaders.pdf.picture import PdfPages
from readagent_core.loaders.recognition.page import DOUBTFUL
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

POLL_SECONDS = 1.0
_PICTURE = 700  # pixels


def scan_records(workspace: Workspace) -> list[dict[str, Any]]:
    """An ``Import`` of assets/library/adding.js for each file whose recognition is under way or was paused."""
    return [_scan_record(workspace, scan) for scan in recognising.unfinished(workspace)]


def _scan_record(workspace: Workspace, scan: Scan) -> dict[str, Any]:
    snapshot = _snapshot(workspace, scan)
    running = snapshot.state == JobState.RUNNING
    return {
        "key": scan.id,
        "name": _name(workspace, scan),
        "state": "recognising" if running else "paused",
        "pages": [int(snapshot.done), len(scan.pages)],
        "text": _time_left(workspace, scan, snapshot) if running else snapshot.error,
    }


def _snapshot(workspace: Workspace, scan: Scan) -> Snapshot:
    """The state of a file's job; a paused one where the job was of an app that has ended."""
    job = workspace.jobs.get(recognising.job_key(scan.id))
    if job is None or job.snapshot.state in (JobState.CANCELLED, JobState.DONE):
        return Snapshot(JobState.CANCELLED, scan.done)
    return job.snapshot


def _name(workspace: Workspace, scan: Scan) -> str:
    return workspace.library.book(scan.book_id).title if scan.book_id else scan.name


def _time_left(workspace: Workspace, scan: Scan, snapshot: Snapshot) -> str:
    return f"{recognising.estimate(workspace, max(1, len(scan.pages) - int(snapshot.done)))} left"


def under_way(workspace: Workspace) -> set[str]:
    """What the library's screen waits for: the files being recognised, with how far each is."""
    jobs = (workspace.jobs.get(recognising.job_key(scan.id)) for scan in recognising.unfinished(workspace))
    return {f"{job.key} {job.snapshot.done:.0f}" for job in jobs if job is not None and job.running}


def recognise_import(workspace: Workspace, key: str) -> None:
    """Start to recognise the pages of a file that was refused because it has no text."""
    one = next((one for one in imports_of(workspace) if one.key == key), None)
    if one is not None and isinstance(one.job.snapshot.failure, NoTextError):
        pages = one.job.snapshot.failure.pages
        one.job = recognising.start_recognising(workspace, one.data, one.name, pages, password=one.password)
        one.data, one.password = b"", ""  # the file is stored now


def resume(workspace: Workspace, scan_id: str) -> None:
    name = next((_name(workspace, scan) for scan in recognising.unfinished(workspace) if scan.id == scan_id), "")
    _show_when_done(workspace, recognising.resume_recognising(workspace, scan_id), name)


def pause(workspace: Workspace, scan_id: str) -> None:
    """Pause the recognition of a file; the page under way is recognised again when it is resumed."""
    job = workspace.jobs.get(recognising.job_key(scan_id))
    if job is not None:
        job.cancel()
        job.join(5)


def _show_when_done(workspace: Workspace, job: Job, name: str) -> None:
    """Have the library say that the book is there when ``job``, which recognises ``name``, has ended."""
    others = [one for one in imports_of(workspace) if one.job.key != job.key]
    workspace.arrivals = [*others, Import(name, b"", job, secrets.token_hex(6))]


@st.dialog("Delete what was recognised?")
def confirm_discard(workspace: Workspace, scan_id: str) -> None:
    scan = next((scan for scan in recognising.unfinished(workspace) if scan.id == scan_id), None)
    if scan is None:
        st.text("Its recognition has ended already.")
        return
    st.text(f"{_name(workspace, scan)}: {scan.done} of {count_of(len(scan.pages), 'page')} were recognised.")
    if scan.book_id:
        st.text("The book stays in the library as it is.")
    if st.button("Delete", type="primary", key="discard_scan"):
        recognising.discard(workspace, scan_id)
        st.rerun()


def draw_in_report(workspace: Workspace, book: Book) -> None:
    """Draw what the import report says of scanned pages: the offer to recognise them or how far that is, and pictures
    of the pages that are doubtful."""
    document = workspace.library.document(book.id)
    uncertain = [number for number, confidence in document.recognised_pages if confidence < DOUBTFUL]
    scan = next((scan for scan in recognising.unfinished(workspace) if scan.book_id == book.id), None)
    if scan is not None:
        _draw_progress(workspace, scan)
    elif document.doubtful_pages:
        _draw_offer(workspace, book, len(document.doubtful_pages))
    if document.doubtful_pages or uncertain:
        _draw_picture(workspace, book, sorted({*document.doubtful_pages, *uncertain}))


def _draw_offer(workspace: Workspace, book: Book, pages: int) -> None:
    if recognising.missing_packages():
        st.text(recognising.INSTALL)
        st.code(how_to_install("ocr"), language=None, wrap_lines=True)
    elif workspace.library.original_path(book.id) is None:
        st.caption("To recognise these pages, open the file again: it is not stored here.")
    elif st.button(recognising.offer(workspace, pages), key="recognise", icon=":material/document_scanner:"):
        try:
            _show_when_done(workspace, recognising.recognise_book(workspace, book.id), book.title)
        except ReadAgentError as error:
            shell.error_box(error)
        else:
            st.rerun(scope="fragment")


def _draw_progress(workspace: Workspace, scan: Scan) -> None:
    """Draw how far the recognition is, with a button that pauses or resumes it."""

    @st.fragment
    def progress() -> None:
        now = next((other for other in recognising.unfinished(workspace) if other.id == scan.id), None)
        if now is None:
            st.rerun()  # the book has its new version
        snapshot = _snapshot(workspace, now)
        running = snapshot.state == JobState.RUNNING
        left = _time_left(workspace, now, snapshot) if running else "paused"
        far = f"{snapshot.done:.0f} of {count_of(len(now.pages), 'page')} recognised, {left}"
        st.progress(snapshot.done / len(now.pages), far)
        if snapshot.error:
            shell.error_box(snapshot.failure)
        if running:
            st.caption("It continues when you close this.")
            st.button("Pause", key="pause_scan", on_click=pause, args=(workspace, now.id))
            polling.rerun_after(POLL_SECONDS, key="recognition")
        else:
            st.button("Resume", key="resume_scan", on_click=resume, args=(workspace, now.id))

    progress()


def _draw_picture(workspace: Workspace, book: Book, pages: list[int]) -> None:
    """Draw the picture of the page that is chosen among ``pages``."""
    path = workspace.library.original_path(book.id)
    if path is None:
        return
    chosen = st.selectbox(
        "Picture of a doubtful page", pages, index=None, placeholder="Choose a page", format_func="page {}".format
    )
    if chosen is not None:
        try:
            with PdfPages(path) as file:
                st.image(file.draw(chosen, width=_PICTURE))
        except ReadAgentError as error:
            shell.error_box(error)
