"""The line a newcomer sees while no language model is connected, with the way to connect one."""

from __future__ import annotations

import streamlit as st

from readagent_core.study import Study


def no_model(study: Study) -> None:
    """Shown above a screen's content; nothing where a model is connected."""
    if study.model.is_language_model:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="no_model"):
        st.markdown("No language model is connected — the built-in reader is used.", width="stretch")
        st.page_link("pages/settings.py", label="Connect a model", icon=":material/power:")
