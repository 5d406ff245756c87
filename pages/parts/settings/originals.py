"""The original files of books: how much space they take, the switch that stores them, and their removal."""

from __future__ import annotations

import streamlit as st

from pages.parts.settings import said
from pages.parts.shared import shell
from readagent_core.errors import ReadAgentError
from readagent_core.incoming.opening import KEEP_ORIGINALS
from readagent_core.words import count_of
from readagent_core.workspace import Workspace


def draw(workspace: Workspace) -> None:
    library = workspace.library
    st.subheader("Original files", anchor=False)
    stored = library.preference(KEEP_ORIGINALS, True)
    on = st.toggle("Store the original file of each book", stored, key="keep_originals")
    st.caption(
        "It shows the pages of a PDF beside the text, and lets a scan be recognised later. To store the file of a book "
        "that was added while this was off, add the file again. Turning this off removes nothing."
    )
    if on != stored:
        library.set_preference(KEEP_ORIGINALS, on)
        st.rerun()
    try:
        size = library.originals_size()
        where = "" if workspace.settings.team else f" in {library.originals_folder}"
        st.text(f"{shell.file_size(size)}{where}" if size else "None are stored.")
        if size:
            with st.popover("Remove originals"):
                st.caption("The files are deleted for good. The books, gists, notes and answers stay.")
                if st.button("Remove them", type="primary", key="remove_originals"):
                    workspace.originals.close()  # an open file cannot be removed on Windows
                    removed = library.remove_originals()
                    said.say(f"{count_of(removed, 'original file')} removed.")
                    st.rerun()
    except ReadAgentError as error:
        shell.error_box(error)
