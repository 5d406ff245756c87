"""Settings: the model, the appearance, and what is stored on this computer."""

from __future__ import annotations

import streamlit as st

from pages.parts.settings import links, model_tab, originals, other_tabs
from pages.parts.shared import shell
from pages.parts.shared.cached import get_workspace


def screen() -> None:
    shell.header("Settings")
    workspace = get_workspace()
    with st.container(key="settings"):
        model, appearance, storage = st.tabs(["Model", "Appearance", "Storage"])
    with model:
        model_tab.model_tab(workspace)
    with appearance:
        other_tabs.appearance_tab(workspace)
    with storage:
        other_tabs.storage_tab(workspace)
        originals.draw(workspace)
        links.draw(workspace)


shell.draw(screen)
