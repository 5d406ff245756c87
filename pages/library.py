"""The library: every book, how far it is read, and a place to drop a new one."""

from __future__ import annotations

import streamlit as st

from pages.parts import book as current
from pages.parts import shell
from pages.parts.cached import get_study
from readagent_core.errors import ReadAgentError

shell.header("Library")
try:
    study = get_study()
    upload = st.file_uploader("Drop a book here", key="drop")
    if upload is not None:
        current.choose(study.open_file(upload.getvalue(), upload.name).id)
        st.switch_page("pages/read.py")
    for kept in study.library.books():
        with st.container(border=True, horizontal=True):
            st.text(kept.title)
            if st.button("Open", key=f"open_{kept.id}"):
                current.choose(kept.id)
                st.switch_page("pages/read.py")
except ReadAgentError as error:
    shell.error_box(error)
