"""Settings: the model, how it reads, the appearance, and what is stored on this computer."""

from __future__ import annotations

import streamlit as st

from pages.parts.settings import model_tab, other_tabs
from pages.parts.shared import shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import add_style


def screen() -> None:
    add_style("settings.css")
    shell.header("Settings")
    workspace = get_workspace()
    with st.container(key="settings"):
        model, reading, appearance, storage = st.tabs(["Model", "Reading", "Appearance", "Storage"])
    with model:
        model_tab.model_tab(workspace)
    with reading:
        other_tabs.reading_tab(workspace)
    with appearance:
        other_tabs.appearance_tab(workspace)
    with storage:
        other_tabs.storage_tab(workspace)


shell.draw(screen)
