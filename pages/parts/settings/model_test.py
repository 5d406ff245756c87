"""The card in Settings that tests a model in a job and shows the result of each check."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from pages.parts.settings import model_options
from pages.parts.settings.model_fields import said_of_address
from pages.parts.shared import polling, shell
from pages.parts.shared.gisting_status import span
from readagent_core.connecting import connecting
from readagent_core.connecting.checking.check import STEPS, Check, CheckState
from readagent_core.jobs import JobState, Snapshot
from readagent_core.model_names import short_name
from readagent_core.models.local.server import WHERE
from readagent_core.secret import Secret
from readagent_core.workspace import Workspace

ICONS = {
    CheckState.GOOD: ":green[:material/check:]",
    CheckState.WEAK: ":orange[:material/warning:]",
    CheckState.FAILED: ":red[:material/close:]",
    CheckState.UNKNOWN: ":gray[:material/remove:]",
}
LEAST_CHECKS = 3  # done before a time is told


def name_of_place(where: str) -> str:
    """Where a model is, for people: 'at localhost:1234/v1', 'in this app'."""
    return "in this app" if where == WHERE else f"at {where.split('//')[-1]}"


def card(workspace: Workspace) -> None:
    job = workspace.jobs.get(connecting.TEST_KEY)
    if job is None:
        with st.container(border=True, key="test_card"):
            st.markdown("**Test a model**")
            st.caption(
                "Choose a model and press “Test” to see how well it reads and which settings suit it: a dozen short "
                "tasks first, which take seconds, or a minute with a slow model. “Test everything” then sends about "
                "forty, 18,000 words in all."
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
            st.progress(min(1.0, snapshot.done / (snapshot.total or STEPS)))
            st.caption(snapshot.waiting or _time_left(snapshot))
        elif snapshot.state == JobState.DONE:
            state = connecting.outcome_of(checks)
            st.markdown(f"{ICONS[state]} &nbsp; **{connecting.VERDICTS[state]}**")
        elif snapshot.state == JobState.FAILED:
            st.markdown(f"{ICONS[CheckState.FAILED]} &nbsp; **The test did not get through**")
        elif snapshot.state == JobState.CANCELLED:
            st.markdown("**Stopped**")
        if tried:
            with st.container(key="tried"):
                st.text(f"{short_name(tried.model)} {name_of_place(tried.where)}")
        draw_checks(checks)
        if tried and snapshot.state == JobState.DONE:
            model_options.offer(workspace, tried.model, tried.options)
            if tried.quick:
                st.button("Test everything", key="test_everything", on_click=_test_everything, args=(workspace, tried))
        if running:
            st.button("Stop", key="stop_test", type="tertiary", on_click=job.cancel)
    if snapshot.error and not said_of_address(snapshot.failure):
        shell.error_box(snapshot.failure)
    if not running and st.session_state.pop("test_was_running", False):
        st.rerun()
    if running:
        st.session_state["test_was_running"] = True


def _time_left(snapshot: Snapshot) -> str:
    """How long the rest takes, by what the checks so far took."""
    done, rest = snapshot.done, snapshot.total - snapshot.done
    if done < LEAST_CHECKS or not rest:
        return "This takes some seconds, or minutes with a slow model."
    return f"About {span((time.time() - snapshot.started) * rest / done)} left. What is known is shown as it comes."


def _test_everything(workspace: Workspace, tried: connecting.ModelTest) -> None:
    key = workspace.settings.api_key if tried.where == workspace.settings.base_url else st.session_state.get("test_key")
    shell.guarded(
        lambda: connecting.start_model_test(workspace, address=tried.where, model=tried.model, key=key or Secret())
    )


def draw_checks(checks: Sequence[Check]) -> None:
    """Draw the checks: our own names and figures, nothing that a model said."""
    with st.container(key="checks"):
        for number, check in enumerate(checks):
            with st.container(horizontal=True, horizontal_alignment="distribute", key=f"check_{number}"):
                st.markdown(f"{ICONS[check.state]} &nbsp; {check.name}", width="content")
                st.caption(check.figure, width="content")
            if check.advice:
                st.caption(check.advice)
