"""What Settings says for a moment once something was done: in the next run, which may be of the whole screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from readagent_core.connecting import connecting
from readagent_core.workspace import Workspace

SAID = "settings_said"  # in the session


def say(words: str) -> None:
    st.session_state[SAID] = words


def save(workspace: Workspace, changes: Mapping[str, Any]) -> None:
    """Save settings, and say so. Raises SettingsError."""
    connecting.change_settings(workspace, changes)
    say("Saved.")


def draw() -> None:
    if words := st.session_state.pop(SAID, ""):
        st.toast(words)
