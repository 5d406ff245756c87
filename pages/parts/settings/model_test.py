"""The card in Settings that tests a model in a job and shows the result of each check."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from pages.parts.settings import model_options
from pages.parts.settings.model_fields import KEY_MISSING, why_unlisted
from pages.parts.shared import polling, shell
from pages.parts.shared.gisting_status import span
from readagent_core.connecting import connecting
from readagent_core.connecting.checking.check import STEPS, Check, CheckState
from readagent_core.connecting.connecting import Candidate
from readagent_core.errors import KeyRefusedError
from readagent_core.jobs import Job, JobState, Snapshot
from readagent_core.model_names import short_name
from readagent_core.models.local.server import WHERE
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


def card(workspace: Workspace, chosen: Candidate | None) -> None:
    """Draw the test of what is chosen; while one runs, that one, whatever is chosen."""
    st.fragment(_test)(workspace, chosen)


def _test(workspace: Workspace, chosen: Candidate | None) -> None:
    job = workspace.jobs.get(connecting.TEST_KEY)
    running = job is not None and job.running
    shown = job if job is not None and job.subject == chosen else None
    polling.rerun_after(0.5 if running else None, key="test")
    was_running = st.session_state.get("test_was_running", False)
    with st.container(key="test_place"):
        with st.container(key="test_before"):  # out of sight, it keeps what is below where it was
            _result(workspace, st.session_state.get("test_shown") if running or was_running else None, scope="_before")
        with st.container(key="test_now"):
            if job is not None and running:
                _progress(job)
            else:
                _result(workspace, shown)
    st.session_state["test_was_running"] = running
    if not running:
        st.session_state["test_shown"] = shown
    if was_running and not running:
        st.rerun()


def _progress(job: Job) -> None:
    snapshot = job.snapshot
    with st.container(border=True, key="test_card"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown("**Testing**", width="content")
            st.button("Stop", key="stop_test", on_click=job.cancel)
        st.progress(min(1.0, snapshot.done / (snapshot.total or STEPS)))
        st.caption(snapshot.waiting or _time_left(snapshot))
        _name(snapshot)
        _checks(snapshot)


def _result(workspace: Workspace, job: Job | None, *, scope: str = "") -> None:
    """Draw how a test ended, or where there was none what a test is. ``scope``: ends the keys, which are drawn once."""
    with st.container(border=True, key=f"test_card{scope}"):
        if job is None:
            st.markdown("**Test a model**")
            st.caption(
                "Choose a model and press “Test” to see how well it reads and which settings suit it: a dozen short "
                "tasks first, which take seconds, or a minute with a slow model. “Test everything” then sends about "
                "forty, 18,000 words in all."
            )
            return
        snapshot = job.snapshot
        if snapshot.state == JobState.DONE:
            state = connecting.outcome_of(snapshot.value.checks)
            st.markdown(f"{ICONS[state]} &nbsp; **{connecting.verdict_of(snapshot.value)}**")
        elif snapshot.state == JobState.FAILED:
            st.markdown(f"{ICONS[CheckState.FAILED]} &nbsp; **The test did not get through**")
        else:
            st.markdown("**Stopped**")
        _name(snapshot, scope=scope)
        if isinstance(snapshot.failure, KeyRefusedError) and not job.subject.key:
            st.text(KEY_MISSING)
        elif snapshot.state == JobState.FAILED and snapshot.failure:
            in_form = type(why_unlisted(workspace, job.subject.address, job.subject.key)) is type(snapshot.failure)
            st.text(
                f"{shell.title_of(snapshot.failure)[0]}." if in_form else shell.words_of(snapshot.failure, tested=True)
            )
        if snapshot.state == JobState.DONE:
            failed = connecting.outcome_of(snapshot.value.checks) == CheckState.FAILED
            model_options.offer(workspace, snapshot.value, failed=failed, scope=scope)
            if snapshot.value.quick and st.button("Test everything", key=f"test_everything{scope}"):
                _test_everything(workspace, job.subject)
        _checks(snapshot, scope=scope)


def _name(snapshot: Snapshot, *, scope: str = "") -> None:
    """Draw which model is or was tested."""
    tried = snapshot.value
    if isinstance(tried, connecting.ModelTest):
        with st.container(key=f"tried{scope}"):
            st.text(f"{short_name(tried.model)} {name_of_place(tried.where)}")


def _checks(snapshot: Snapshot, *, scope: str = "") -> None:
    """Draw the checks so far."""
    if isinstance(snapshot.value, connecting.ModelTest):
        draw_checks(snapshot.value.checks, scope=scope)


def _time_left(snapshot: Snapshot) -> str:
    """How long the rest takes, by what the checks so far took."""
    done, rest = snapshot.done, snapshot.total - snapshot.done
    if done < LEAST_CHECKS or not rest:
        return "This takes some seconds, or minutes with a slow model."
    return f"About {span((time.time() - snapshot.started) * rest / done)} left. What is known is shown as it comes."


def _test_everything(workspace: Workspace, tested: Candidate) -> None:
    shell.guarded(
        lambda: connecting.start_model_test(workspace, address=tested.address, model=tested.model, key=tested.key)
    )


def draw_checks(checks: Sequence[Check], *, scope: str) -> None:
    """Draw the checks: our own names and figures, nothing that a model said."""
    with st.container(key=f"checks{scope}"):
        for number, check in enumerate(checks):
            with st.container(horizontal=True, horizontal_alignment="distribute", key=f"check_{number}{scope}"):
                st.markdown(f"{ICONS[check.state]} &nbsp; {check.name}", width="content")
                st.caption(check.figure, width="content")
            if check.advice:
                st.caption(check.advice)
