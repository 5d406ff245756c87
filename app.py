"""The app's front door: page settings, the look, and the six screens. Everything else is in ``pages/``."""

from __future__ import annotations

import streamlit as st

from pages.parts import shell, tour

st.set_page_config(page_title="ReadAgent", page_icon=shell.MARK, layout="wide", initial_sidebar_state="auto")
st.logo(shell.MARK, size="large")  # the name stands beside it, set by app.css
shell.dress()
screen = st.navigation(
    [
        st.Page("pages/library.py", title="Library", default=True),
        st.Page("pages/read.py", title="Read"),
        st.Page("pages/ask.py", title="Ask"),
        st.Page("pages/compare.py", title="Compare"),
        st.Page("pages/evaluate.py", title="Evaluate"),
        st.Page("pages/settings.py", title="Settings"),
    ],
    position="top",
)
tour.show(screen.title)
screen.run()
