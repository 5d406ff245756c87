"""Rerun a fragment at an interval while a job runs, without losing a click.

Streamlit's own ``run_every`` may take the place of a change of screen that is still on its way: the click is lost.
Here the browser asks for each run. It waits after a click that may lead to another screen (assets/shared/polling.js).
"""

from __future__ import annotations

import streamlit as st

from pages.parts.shared import book as address
from pages.parts.shared.component import component, no_callback


def rerun_after(seconds: float | None, *, key: str) -> bool:
    """Run the fragment that calls this again after ``seconds``; None: not any more.

    While a dialog is open that the fragment is not part of, it waits. Returns whether this run is one of those that
    were asked for: then the screen may run again without closing a dialog.
    """
    turns = st.session_state.setdefault("poll_turns", {})
    turns[key] = turns.get(key, 0) + 1
    with st.container(key=f"unseen_poll_{key}"):
        poll = component("polling", "shared/polling.js", html='<i class="root"></i>')
        data = {"seconds": seconds, "turn": turns[key], "screen": address.screen_path()}
        result = poll(key=f"poll {key}", data=data, on_poll_change=no_callback)
    return getattr(result, "poll", None) is not None


def asked(key: str) -> bool:
    """Whether this run was asked for by the ``rerun_after`` of this key, which comes later in it."""
    return getattr(st.session_state.get(f"poll {key}"), "poll", None) is not None
