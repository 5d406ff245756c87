"""Importing a folder of books on this computer: the dialog, the note about it, and its report.

The job is the registry's, not the session's, so that a tab that was reloaded shows it too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.sharing import is_other_device
from readagent_core.errors import DocumentError, NoTextError, PasswordError, ReadAgentError
from readagent_core.incoming.folders import JOB, FolderReport, copied_folder, start_import, usual_folders
from readagent_core.jobs import JobState
from readagent_core.loaders import FORMATS
from readagent_core.loaders.calibre import METADATA_FILE
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_THIS_COMPUTER = {"localhost", "127.0.0.1", "::1"}
_NEEDS_MORE = NoTextError, PasswordError
_COPY_PATH = {
    "darwin": "To get it: select the folder in Finder, press Option-Command-C, and paste it here.",
    "win32": "To get it: select the folder in Explorer, press Ctrl-Shift-C, and paste it here.",
}
_COPY_HERE = "To get it: open the folder in the file manager, press Ctrl-L, copy what is shown, and paste it here."


def is_offered(workspace: Workspace) -> bool:
    """Whether the app is served to this computer alone, so that the person's folders are the app's."""
    addresses = {st.get_option("server.address"), st.get_option("browser.serverAddress")}
    return workspace.settings.team is None and addresses <= _THIS_COMPUTER and not is_other_device()


def folder_records(workspace: Workspace) -> list[dict[str, Any]]:
    """An ``Import`` of assets/library/adding.js for the folder that is being imported or was; empty without one."""
    job = workspace.jobs.get(JOB)
    if job is None:
        return []
    now, report = job.snapshot, job.snapshot.value or FolderReport()
    record = {"key": JOB, "name": Path(job.subject).name}
    if now.state == JobState.RUNNING:
        pages = [int(now.done), int(now.total)] if now.total else None
        doing = {"text": "cancelling…"} if job.cancelled else {"text": report.current, "offer": "Cancel"}
        return [record | {"state": "importing", "pages": pages} | doing]
    if now.value is None:
        title = "cancelled." if now.state == JobState.CANCELLED else "no book was imported."
        return [record | {"state": "failed", "title": title, "text": now.error if now.state == JobState.FAILED else ""}]
    text = f"{report.summary}."
    if now.state == JobState.CANCELLED:
        text = f"cancelled after {now.done:,.0f} of {count_of(int(now.total), 'file')}. {text.capitalize()}"
    elif now.state == JobState.FAILED:
        text = f"{text} {now.error}"
    new = [item.book.id for item in report.imported if item.new]
    shown = {book.id for book in workspace.library.books()}
    removed = {book.id for book in workspace.library.removed()}
    here, away = [one for one in new if one in shown], [one for one in new if one in removed]
    if away and not here:
        text = f"{count_of(len(away), 'book')} removed again."
    return [record | {"state": "imported", "text": text, "here": ",".join(here), "away": ",".join(away)}]


def under_way(workspace: Workspace) -> set[str]:
    """What the library's screen waits for: the import, with how far it is."""
    job = workspace.jobs.get(JOB)
    return {f"folder {job.snapshot.done} {job.snapshot.total}"} if job is not None and job.running else set()


def cancel_import(workspace: Workspace) -> None:
    """Cancel the import; it ends before the next file, or the next page of a PDF."""
    job = workspace.jobs.get(JOB)
    if job is not None:
        job.cancel()


@st.dialog("Import a folder")
def choose_folder(workspace: Workspace) -> None:
    """Offer the usual folders of this computer, take another from the browser or by its path, and start the import."""
    job = workspace.jobs.get(JOB)
    if job is not None and job.running:
        st.text(f"{job.subject} is being imported. Wait until that has ended, or cancel it.")
        return
    st.caption(
        "Every book in it and in the folders in it is added: PDF, EPUB, Kindle, Word, web pages, text and others. "
        "From a Calibre library come titles, authors, series and tags as well. Your files are not changed, and an "
        "import can be undone."
    )
    if "usual_folders" not in st.session_state:
        st.session_state["usual_folders"] = usual_folders()
    usual: dict[Path, int] = st.session_state["usual_folders"]
    chosen = None
    for folder, count in usual.items():
        with st.container(horizontal=True, vertical_alignment="center", key=f"usual_{folder.name}"):
            st.text(f"{folder.name}, {count_of(count, 'book')}", width="stretch")
            if st.button("Import", key=f"import_{folder.name}"):
                chosen = str(folder)
    turn = st.session_state.setdefault("folder_turn", 0)
    with st.container(key="folder_upload"):
        files = st.file_uploader(
            "Another folder" if usual else "Folder",
            type=[*FORMATS, Path(METADATA_FILE).suffix],
            accept_multiple_files="directory",
            key=f"folder_files_{turn}",
            label_visibility="collapsed",
        )
    with st.expander("By its path"), st.form("folder", border=False):
        st.caption(f"Better for many gigabytes, and for Calibre's covers. {_COPY_PATH.get(sys.platform, _COPY_HERE)}")
        typed = st.text_input("Path of the folder", placeholder="~/Books")
        if st.form_submit_button("Import"):
            chosen = typed
    if chosen is None and not files:
        return
    try:
        if files:
            st.session_state["folder_turn"] = turn + 1
            start_import(workspace, *copied_folder((file.name, file.getbuffer()) for file in files))
        else:
            start_import(workspace, as_folder(chosen or ""))
    except ReadAgentError as error:
        shell.error_box(error)
        return
    st.session_state.pop("usual_folders")
    st.rerun()


def as_folder(typed: str) -> Path:
    """Returns the folder that was typed; a path that does not begin at the root begins at the home folder.

    Raises DocumentError where nothing was typed, or ``~name`` names nobody.
    """
    text = typed.strip().strip("\"'")
    if not text:
        raise DocumentError("Type or paste the path of a folder first.")
    try:
        return Path.home() / Path(text).expanduser()
    except RuntimeError:
        raise DocumentError(f"{text} is not a folder: there is nobody of that name on this computer.") from None


@st.dialog("Import report", width="large")
def show_folder_report(workspace: Workspace) -> None:
    """Show what became of each file."""
    job = workspace.jobs.get(JOB)
    if job is None or not isinstance(job.snapshot.value, FolderReport):
        st.text("This import has no report any more.")
        return
    report = job.snapshot.value
    st.text(job.subject)
    others = f". Other formats of the same books, left out: {count_of(report.others, 'file')}" if report.others else ""
    st.caption(f"{report.summary.capitalize()}{others}.")
    if report.refused:
        with st.expander(f"Not imported ({len(report.refused):,})", expanded=True):
            st.text("\n\n".join(f"{refused.name}: {refused.reason}" for refused in report.refused))
            if any(issubclass(refused.kind, _NEEDS_MORE) for refused in report.refused):
                st.caption("Add a locked file or a scan by itself to enter its password or to have it recognised.")
    for title, items in (("Imported", report.imported), ("Already there", report.present)):
        if items:
            with st.expander(f"{title} ({len(items):,})"):
                st.text("\n".join(f"{item.name}: {item.label}" for item in items))
