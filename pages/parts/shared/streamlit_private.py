"""Everything of Streamlit's Python code that is not part of its public interface and may change with a release.

assets/shared/streamlit.js and assets/streamlit.css have the browser's side; tests/app/test_streamlit_private.py fails
when the installed Streamlit no longer has what they name.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager


def require_navigation() -> None:
    """Make every screen run inside app.py, also the first one that a new server is asked for.

    Because the folder ``pages`` is beside app.py, Streamlit runs a page of it alone until ``st.navigation`` was called
    once. This turns that off and starts the run again.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
