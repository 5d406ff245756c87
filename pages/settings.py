"""Settings: who reads, how, what it looks like, and what is kept on this computer."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import connect, keeping, shell
from pages.parts.cached import get_workspace
from readagent_core.errors import ReadAgentError

STYLE = (Path(__file__).parents[1] / "assets" / "settings.css").read_text(encoding="utf-8")

st.html(f"<style>{STYLE}</style>")
shell.header("Settings")
try:
    workspace = get_workspace()
    with st.container(key="settings"):
        model, reading, appearance, storage = st.tabs(["Model", "Reading", "Appearance", "Storage"])
    with model:
        connect.model_tab(workspace)
    with reading:
        keeping.reading_tab(workspace)
    with appearance:
        keeping.appearance_tab(workspace)
    with storage:
        keeping.storage_tab(workspace)
except ReadAgentError as error:
    shell.error_box(error)
