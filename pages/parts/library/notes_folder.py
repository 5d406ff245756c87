"""The part of the dialog with all notes that keeps them in a folder, such as an Obsidian vault."""

from __future__ import annotations

import time

import streamlit as st

from pages.parts.library.folders import as_folder
from pages.parts.shared import shell
from readagent_core.connecting import connecting
from readagent_core.errors import ReadAgentError
from readagent_core.export.notes_folder import JOB, check_folder, check_template, kept, write_now
from readagent_core.export.notes_template import DEFAULT
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_ALL = f"{JOB}, all books"
_SHOWN = 5  # files that could not be written


def draw(workspace: Workspace) -> None:
    """Draw the button that opens the choice of folder and template, and whether the folder is up to date."""
    folder = workspace.settings.saved.notes_folder
    with st.popover("In a folder" if folder else "Keep in a folder", icon=":material/folder:", width="content"):
        _choose(workspace, folder)
    if folder:
        running = any(job.key in (JOB, _ALL) for job in workspace.jobs.running())
        st.fragment(_state, run_every=1.0 if running else None)(workspace)


def _state(workspace: Workspace) -> None:
    """Draw whether the folder is up to date, or what could not be written."""
    now = kept(workspace)
    if any(job.key in (JOB, _ALL) for job in workspace.jobs.running()):
        st.caption("being written …")
    elif now.said:
        st.caption(f":red[not all kept: {count_of(len(now.said), 'trouble')}]")
    else:
        st.caption(f"kept up to date · {count_of(len(now.files), 'book')} · {_ago(now.at)}")


def _ago(at: float) -> str:
    minutes = int(max(0.0, time.time() - at) // 60)
    if minutes < 1:
        return "just now"
    hours = minutes // 60
    return f"{hours // 24} d ago" if hours >= 48 else f"{hours} h ago" if hours else f"{minutes} min ago"


def _choose(workspace: Workspace, folder: str) -> None:
    now, saved = kept(workspace), workspace.settings.saved
    for said in now.said[:_SHOWN] if folder else ():
        st.caption(shell.as_text(said))
    if folder and len(now.said) > _SHOWN:
        st.caption(f"and {len(now.said) - _SHOWN} more")
    with st.form("notes_folder", border=False):
        typed = st.text_input("Folder, such as one in your Obsidian vault", folder, placeholder="~/Vault/Books")
        make = st.checkbox("Make this folder if it is not there")
        with st.expander("Template"):
            template = st.text_area("Jinja2, for each book", saved.notes_template or DEFAULT, height=220)
            back = st.form_submit_button("Put back", help="The usual template again")
        st.caption(
            "One file a book, kept up to date. What you write outside ReadAgent's two marks stays as it is; files may "
            "be renamed and moved."
        )
        with st.container(horizontal=True):
            save = st.form_submit_button("Write all again" if folder else "Keep up to date", type="primary")
            end = st.form_submit_button("Stop", help="The files stay") if folder else False
    try:
        if end:
            connecting.change_settings(workspace, {"notes_folder": None})
        elif save or back:
            path = check_folder(workspace, str(as_folder(typed)), make=make)
            own = None if back or template.strip() == DEFAULT.strip() else template
            check_template(workspace, own or DEFAULT)
            connecting.change_settings(workspace, {"notes_folder": str(path), "notes_template": own})
            workspace.jobs.start(_ALL, lambda job: write_now(workspace, all_books=True))
    except ReadAgentError as error:
        shell.error_box(error)
    else:
        if end or save or back:
            st.rerun(scope="fragment")
