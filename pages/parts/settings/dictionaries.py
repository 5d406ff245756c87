"""The dictionaries on this computer: which are there, and the folders they are in."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.shared import shell
from readagent_core.companion.looking_up import FOLDERS, dictionaries_of, indexing, start_indexing
from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.dictionaries.unpacking import unpack_dictionary
from readagent_core.errors import ReadAgentError
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_FREE = """\
To add a free one:

1. Download it. [freedict.org](https://freedict.org/downloads/) has dictionaries between two languages, and
   [Wiktionary's](https://github.com/Vuizur/Wiktionary-Dictionaries) explain the words of many languages in English.
   Take the file with “stardict” in its name; leave it as it is.
2. %s
3. Press a word twice in a book: its entry opens.
"""
_DROP, _ASK = "Drop that file below.", "Ask who runs this server to put it there."
_AT_ONCE = 0.3  # seconds


def draw(workspace: Workspace) -> None:
    st.subheader("Dictionaries", anchor=False)
    st.caption("In the reader press a word twice: it is looked up on this computer, without a network.")
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
        st.markdown(_FREE % (_ASK if workspace.settings.team else _DROP))
    if workspace.settings.team:
        return
    _take(workspace)
    folders = list(workspace.library.preference(FOLDERS, []))
    for number, folder in enumerate(folders):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(folder if Path(folder).is_dir() else f"{folder} is not there: connect its disk, or leave it out.")
            if st.button("Leave it out", key=f"dictionary_folder_{number}"):
                _use(workspace, [other for other in folders if other != folder])
    with st.expander("Dictionaries that are unpacked already"), st.form("dictionary_folder", border=False):
        own = shell.as_text(str(workspace.home / FOLDER))
        st.caption(f"StarDict and dictd files are found in {own}, and in folders that you name here.")
        field = f"dictionary_folder_after_{len(folders)}"  # an empty one as soon as the folder is used
        named = st.text_input("Folder with dictionaries", placeholder="/home/me/dictionaries", key=field)
        if st.form_submit_button("Use this folder") and named.strip():
            path = Path(named.strip()).expanduser()
            if path.is_dir():
                _use(workspace, [*folders, str(path.resolve())])
            else:
                shell.error_box(ReadAgentError(f"There is no folder {path}. Check its name, then try again."))


def _take(workspace: Workspace) -> None:
    """Take an archive with a dictionary, as it is downloaded, and unpack it."""
    turn = st.session_state.setdefault("dictionary_turn", 0)
    file = st.file_uploader("A dictionary as it was downloaded (ZIP or tar archive)", key=f"dictionary_file_{turn}")
    if file is None:
        return
    try:
        unpack_dictionary(file.getvalue(), file.name, workspace.home / FOLDER)
    except ReadAgentError as error:
        shell.error_box(error)
        return
    except OSError as error:
        shell.error_box(ReadAgentError(f"The dictionary cannot be stored ({error.strerror}). Free some space."))
        return
    st.session_state["dictionary_turn"] = turn + 1  # an empty field
    start_indexing(workspace)
    st.rerun()


def _use(workspace: Workspace, folders: list[str]) -> None:
    workspace.library.set_preference(FOLDERS, list(dict.fromkeys(folders)))
    start_indexing(workspace)
    st.rerun()
