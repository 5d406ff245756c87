"""The app's entry: page settings, style sheets and the six screens. Everything else is in ``pages/``."""

from __future__ import annotations

import streamlit as st

from pages.parts.shared import shell, tour

st.set_page_config(page_title="ReadAgent", page_icon=shell.MARK, layout="wide", initial_sidebar_state="auto")
st.logo(shell.MARK, size="large")  # app.css adds the name
shell.add_styles()
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
