"""Adding a book by its web address or as a pasted text, and fetching a book's address again.

The work is a job, so that the screen can show it and cancel it.
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

import streamlit as st

from pages.parts.library.imports import versions
from pages.parts.shared import polling, shell
from readagent_core.errors import PasswordError
from readagent_core.incoming.links import as_address, can_fetch_again, fetch_again, open_link, open_pasted_text
from readagent_core.jobs import Job, JobState
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

POLL_SECONDS = 0.5
_PASSWORD = "This file needs a password. Download it with your browser and add the file: then it can be entered."


def draw(workspace: Workspace) -> Book | None:
    """Draw the field for a link or a text, and what becomes of what was pasted.

    Returns a book once, in the run after it was added.
    """
    job: Job | None = st.session_state.get("adding")
    turn = st.session_state.setdefault("adding_turn", 0)
    book = None
    if job is not None and job.snapshot.state == JobState.DONE:
        added = job.snapshot.value
        st.session_state["adding"] = job = None
        st.session_state["adding_turn"] = turn = turn + 1  # an empty field
        book = workspace.library.book(added)
    links = workspace.settings.links
    with st.form(f"adding_{turn}", border=False):
        pasted = st.text_area(
            "Paste a link or text" if links else "Paste text",
            placeholder="https://… or any text" if links else "Any text",
            height=168,
            key=f"pasted_{turn}",
        )
        if not links:
            st.caption("Links are turned off in Settings. A page that you saved as a file can be opened.")
        running = job is not None and job.running
        if st.form_submit_button("Add", type="primary", key=f"add_{turn}", disabled=running) and not running:
            st.session_state["adding"] = job = start_adding(workspace, pasted)
    if job is not None and job.running:
        _wait(job)
    elif job is not None and job.snapshot.state == JobState.DONE:
        st.rerun()  # it was added at once
    elif job is not None:
        _show_end(job)
    return book


def draw_fetch_again(workspace: Workspace, book: Book) -> None:
    """Draw the button that fetches a book's address again, and what came of it; nothing for a book from a file."""
    if not can_fetch_again(book):
        return
    key = f"fetch {book.id}"

    def work(job: Job) -> tuple[Book, Book]:
        return book, fetch_again(workspace, book.id, job)

    @st.fragment
    def fetching() -> None:
        job = workspace.jobs.get(key)
        running = job is not None and job.running
        off = None if workspace.settings.links else "Links are turned off in Settings."
        disabled = running or bool(off)
        if st.button("Fetch again", key=f"fetch_{book.id}", icon=":material/refresh:", disabled=disabled, help=off):
            job, running = workspace.jobs.start(key, work, subject=urlsplit(book.source_name).hostname), True
        if job is not None and running:
            _draw_running(job, "fetching")
        elif job is not None:
            _draw_fetched(job)
            workspace.jobs.forget(key)

    fetching()


def _draw_fetched(job: Job) -> None:
    """Say what became of fetching an address again; the value of ``job`` is the book before and after."""
    if job.snapshot.state == JobState.CANCELLED:
        st.caption("Cancelled. The book is as it was.")
        return
    if job.snapshot.error:
        shell.error_box(job.snapshot.failure)
        return
    before, fetched = job.snapshot.value
    if fetched.id != before.id:
        st.text("There is another text at the address now. It was added as a book of its own.")
    elif fetched.version > before.version:
        st.text(
            f"The text has changed: it is version {fetched.version} now. The gists of earlier ones are still there."
        )
    else:
        st.text("The text at the address is the same as before.")


def start_adding(workspace: Workspace, pasted: str) -> Job:
    """Open the address or the text that was pasted, in the background; the job's value is the id of the book."""
    address = as_address(pasted)
    known = st.session_state["adding_known"] = dict[str, int]()

    def work(job: Job) -> str:
        job.publish(value="opening")
        known.update(versions(workspace))
        return (open_link(workspace, address, job) if address else open_pasted_text(workspace, pasted)).id

    return workspace.jobs.start(f"adding {secrets.token_hex(6)}", work, subject=urlsplit(address).hostname or "")


def _wait(job: Job) -> None:
    """Show that ``job`` runs; the whole screen runs again when it has ended."""

    @st.fragment
    def waiting() -> None:
        _draw_running(job, "adding")
        if not job.running:
            st.rerun()

    waiting()


def _draw_running(job: Job, key: str) -> None:
    """Say that ``job`` runs, with a button that cancels it, and run the fragment again until it has ended."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Fetching from {job.subject} …" if job.subject else "Opening the text …")
        if st.button("Cancel", key=f"{key}_cancel"):
            job.cancel()
            job.join(5)
    polling.rerun_after(POLL_SECONDS, key=key)


def _show_end(job: Job) -> None:
    """Say why ``job`` ended without a book, and what to do next. The field still has what was pasted."""
    if isinstance(job.snapshot.failure, PasswordError):
        shell.error_box(PasswordError(_PASSWORD))
    elif job.snapshot.state == JobState.CANCELLED:
        st.caption("Cancelled. Nothing was added.")
    elif job.snapshot.error:
        shell.error_box(job.snapshot.failure)
