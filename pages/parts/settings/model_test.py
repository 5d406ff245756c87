"""The card in Settings that tests a model in a job and shows the result of each check."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.settings import model_options
from pages.parts.shared import polling, shell
from readagent_core.connecting import connecting
from readagent_core.connecting.checking.check import NOT_KNOWN, NOT_SEEN, STEPS, Check
from readagent_core.jobs import JobState
from readagent_core.workspace import Workspace

ICONS = {"good": ":green[:material/check:]", "weak": ":orange[:material/warning:]", "failed": ":red[:material/close:]"}

UNKNOWN = ":gray[:material/remove:]"  # neither good nor bad


def card(workspace: Workspace) -> None:
    job = workspace.jobs.get(connecting.TEST_KEY)
    if job is None:
        with st.container(border=True, key="test_card"):
            st.markdown("**Test a model**")
            st.caption(
                "Choose a model and press “Test” to see how well it reads and which settings suit it. It gets about "
                "forty short tasks, 18,000 words in all: to find pauses, write gists, look pages up, quote exactly, "
                "and say when a text has no answer."
            )
        return
    st.fragment(_test)(workspace)


def _test(workspace: Workspace) -> None:
    job = workspace.jobs.get(connecting.TEST_KEY)
    if job is None:
        return
    snapshot = job.snapshot
    tried = snapshot.value if isinstance(snapshot.value, connecting.ModelTest) else None
    checks = tried.checks if tried else ()
    running = snapshot.state == JobState.RUNNING
    polling.rerun_after(0.5 if running else None, key="test")
    with st.container(border=True, key="test_card"):
        if running:
            st.markdown("**Testing**")
            st.progress(min(1.0, snapshot.done / STEPS))
            st.caption(snapshot.waiting or "This takes some seconds, or minutes with a slow model.")
        elif snapshot.state == JobState.DONE:
            state = connecting.outcome_of(checks)
            st.markdown(f"{ICONS[state]} &nbsp; **{connecting.VERDICTS[state]}**")
        elif snapshot.state == JobState.CANCELLED:
            st.markdown("**Stopped**")
        if tried:
            with st.container(key="tried"):
                st.text(f"{tried.model} at {tried.where.split('//')[-1]}")
        draw_checks(checks)
        if tried and snapshot.state == JobState.DONE:
            model_options.offer(workspace, tried.model, tried.options)
        if running:
            st.button("Stop", key="stop_test", type="tertiary", on_click=job.cancel)
    if snapshot.error:
        shell.error_box(snapshot.error, kind=snapshot.error_kind)
    if not running and st.session_state.pop("test_was_running", False):
        st.rerun()
    if running:
        st.session_state["test_was_running"] = True


def draw_checks(checks: Sequence[Check]) -> None:
    """Draw the checks: our own names and figures, nothing that a model said."""
    with st.container(key="checks"):
        for number, check in enumerate(checks):
            with st.container(horizontal=True, horizontal_alignment="distribute", key=f"check_{number}"):
                icon = UNKNOWN if check.figure in (NOT_KNOWN, NOT_SEEN) else ICONS[check.state]
                st.markdown(f"{icon} &nbsp; {check.name}", width="content")
                st.caption(check.figure, width="content")
            if check.advice:
                st.caption(check.advice)
