"""Read: the text of every page beside its gist, the pauses with their reasons, and the map of the book."""

from __future__ import annotations

import streamlit as st

from pages.parts import book as current
from pages.parts import shell
from pages.parts.cached import get_study
from readagent_core.errors import ReadAgentError

try:
    study = get_study()
    chosen = current.current(study)
    if chosen is None:
        shell.header("Read", about="No book is open yet.")
        st.page_link("pages/library.py", label="Choose a book", icon=":material/arrow_back:")
    else:
        with st.sidebar:
            current.picker(study, chosen)
        found = study.newest_memory(chosen.id)
        for page, gist in zip(found[1].pages, found[1].gists, strict=True) if found else ():
            left, right = st.columns([2, 1])
            left.text(found[1].page_text(page.number) if found else "")
            right.text(gist.text if gist else "")
except ReadAgentError as error:
    shell.error_box(error)
