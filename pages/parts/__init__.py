"""What several screens share.

A link to a screen may be the first thing a fresh server is asked for. Because a folder ``pages`` stands beside
``app.py``, Streamlit would then run that page alone, without the app around it, until ``st.navigation`` was called
once; so the first import of anything here turns that off and starts the run again. tests/browser holds it.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

if PagesManager.uses_pages_directory:
    PagesManager.uses_pages_directory = False
    st.rerun()
