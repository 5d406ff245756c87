"""The one Study of this process, shared by every tab and every rerun. Knows nothing of screens.

It lives in ``st.cache_resource``, so that running jobs survive reruns and closed tabs.
"""

from __future__ import annotations

import streamlit as st

from readagent_core.settings import load_settings
from readagent_core.study import Study, key_places


def get_study() -> Study:
    """The study over the settings in force, the samples added on first start. Raises ReadAgentError.

    A key that the system's keyring owed is taken up when it has come.
    """
    study = _study()
    key_places.take_up(study)
    return study


@st.cache_resource(show_spinner=False)
def _study() -> Study:
    study = Study(load_settings())
    study.add_samples()
    return study
