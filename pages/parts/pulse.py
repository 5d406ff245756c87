"""Running a fragment again and again while work goes on, in a way that loses no click.

Streamlit's own ``run_every`` may take the place of a change of screen that is still on its way: the click is lost.
The browser keeps this beat instead. It waits after a click that may lead away, and for the last answer.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.sealed import sealed

ASSETS = Path(__file__).parents[2] / "assets"


@cache
def _component() -> Any:
    js = (ASSETS / "pulse.js").read_text(encoding="utf-8")
    return st.components.v2.component("pulse", html='<i class="root"></i>', js=js)


def beat(seconds: float | None, *, key: str) -> None:
    """Run the fragment this stands in again after ``seconds``; None: not any more."""
    turns = st.session_state.setdefault("pulse_turns", {})
    turns[key] = turns.get(key, 0) + 1
    with st.container(key=f"unseen_pulse_{key}"):
        _component()(
            key=f"beat {key}", data=sealed({"seconds": seconds, "turn": turns[key]}), on_beat_change=lambda: None
        )
