"""The dictionaries on this computer: which are there, and the folders they are in."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.shared import shell
from readagent_core.companion.looking_up import FOLDERS, dictionaries_of, indexing, start_indexing
from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.errors import ReadAgentError
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_FREE = """\
To add a free one:

1. Download it. [freedict.org](https://freedict.org/downloads/) has dictionaries between two languages: take the file
   for StarDict. For English there is WordNet (on Debian and Ubuntu the package `dict-wn`, found by itself).
2. Unpack it into %s: a press or two on the file does that.
3. Come back here: it is listed, and a word that is pressed twice in a book opens its entry.
"""
_AT_ONCE = 0.3  # seconds


def draw(workspace: Workspace) -> None:
    st.subheader("Dictionaries", anchor=False)
    team = workspace.settings.team is not None
    own = (
        "" if team else f" They lie in {shell.as_text(str(workspace.home / FOLDER))}, or in folders that you name here."
    )
    st.caption(f"StarDict and dictd files, looked up without a network: in the reader press a word twice.{own}")
    job = start_indexing(workspace)
    job.join(_AT_ONCE)  # it has ended where nothing was put there since the last time
    st.fragment(_listed, run_every=1.0 if job.running else None)(workspace)


def _listed(workspace: Workspace) -> None:
    job = indexing(workspace) or start_indexing(workspace)
    found = dictionaries_of(workspace).all()
    for one in found:
        st.text(f"{one.title}  {count_of(one.words, 'word')}" if not one.fault else f"{one.title}: {one.fault}")
    if job.running:
        st.caption("Reading the words …")
    elif not found:
        st.markdown(_FREE % ("your folder" if workspace.settings.team else shell.as_text(str(workspace.home / FOLDER))))
    if workspace.settings.team:
        return
    folders = list(workspace.library.preference(FOLDERS, []))
    for number, folder in enumerate(folders):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(folder if Path(folder).is_dir() else f"{folder} is not there: connect its disk, or leave it out.")
            if st.button("Leave it out", key=f"dictionary_folder_{number}"):
                _use(workspace, [other for other in folders if other != folder])
    with st.form("dictionary_folder", border=False):
        field = f"dictionary_folder_after_{len(folders)}"  # an empty one as soon as the folder is used
        named = st.text_input("Folder with dictionaries", placeholder="/home/me/dictionaries", key=field)
        if st.form_submit_button("Use this folder") and named.strip():
            path = Path(named.strip()).expanduser()
            if path.is_dir():
                _use(workspace, [*folders, str(path.resolve())])
            else:
                shell.error_box(ReadAgentError(f"There is no folder {path}. Check its name, then try again."))


def _use(workspace: Workspace, folders: list[str]) -> None:
    workspace.library.set_preference(FOLDERS, list(dict.fromkeys(folders)))
    start_indexing(workspace)
    st.rerun()
