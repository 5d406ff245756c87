"""The one Study of this process, shared by every tab and every rerun. Knows nothing of screens.

It lives in ``st.cache_resource``, so that running jobs survive reruns and closed tabs.
"""

from __future__ import annotations

import streamlit as st

from readagent_core.settings import load_settings
from readagent_core.study import Study


@st.cache_resource(show_spinner=False)
def get_study() -> Study:
    """The study over the settings in force, the samples added on first start. Raises ReadAgentError."""
    study = Study(load_settings())
    study.add_samples()
    return study
