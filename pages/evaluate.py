"""Evaluate: this screen is being built; it says so."""

from __future__ import annotations

import streamlit as st

from pages.parts import shell

shell.header("Evaluate", about="This screen is being built.")
st.page_link("pages/library.py", label="To the library", icon=":material/arrow_back:")
