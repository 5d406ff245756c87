"""A switch of what is stored, and changed elsewhere too."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def stored_switch(label: str, stored: bool, change: Callable[[bool], None], *, key: str) -> None:
    """Draw a switch that is on where ``stored``; a press calls ``change``.

    The browser repeats what it has drawn with every run, and Streamlit takes that for a press where the server has
    something else: a switch that was turned elsewhere would turn itself back. So it has a new name then, and what comes
    under the old one is ignored.
    """
    turn, drawn = st.session_state.get(f"{key}_drawn", (0, stored))
    turn += drawn != stored
    st.session_state[f"{key}_drawn"] = turn, stored
    st.session_state[f"{key}_{turn}"] = stored
    st.toggle(label, key=f"{key}_{turn}", on_change=_pressed, args=(change, key, turn))


def _pressed(change: Callable[[bool], None], key: str, turn: int) -> None:
    on = st.session_state[f"{key}_{turn}"]
    if st.session_state[f"{key}_drawn"][0] == turn:
        st.session_state[f"{key}_drawn"] = turn, on
        change(on)
