"""The one Workspace of this process, shared by every tab and every rerun. Knows nothing of screens.

It lives in ``st.cache_resource``, so that running jobs survive reruns and closed tabs.
"""

from __future__ import annotations

import streamlit as st

from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.samples import add_samples


@st.cache_resource(show_spinner=False)
def get_workspace() -> Workspace:
    """The workspace over the settings in force, the samples added on first start. Raises ReadAgentError."""
    workspace = Workspace(load_settings())
    add_samples(workspace)
    return workspace
