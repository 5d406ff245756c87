"""Evaluate: many questions with known answers, asked of every method on the person's own model.

Results come first: where there are any, the form of a new experiment is folded to one line above them.
The experiments and the texts of their reports are made by ``readagent_core.evaluation``.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.evaluate import results, setup_form
from pages.parts.shared import shell
from pages.parts.shared.cached import get_workspace
from readagent_core.answering.registry import method
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.cost_estimate import ExperimentEstimate, estimate, readings_made
from readagent_core.evaluation.experiment import Experiment, default_name, folder_for, resumed_experiment
from readagent_core.evaluation.score_table import ScoreTable, load_scores
from readagent_core.evaluation.starting import job_key, list_experiments, start
from readagent_core.workspace import Workspace

_FORM, _STARTED = "evaluate_form", "evaluate_started"


def screen() -> None:
    shell.set_title("Evaluate")
    shell.header(
        "Evaluate",
        about="Ask questions you know the answers to. Every method answers them: you see which was right, and how much "
        "it read.",
    )
    workspace = get_workspace()
    found = list_experiments(workspace.home)
    _setup(workspace, bool(found) or results.recording_is_shown())
    results.draw(workspace, found)


@st.fragment
def _setup(workspace: Workspace, results_shown: bool) -> None:
    """The form and its button, in a fragment, so that what is typed does not draw the results again."""
    with _folded() if results_shown else st.container(border=True), st.container(key="evaluate_setup"):
        try:
            experiment = setup_form.form(workspace)
            _start(workspace, experiment)
        except ReadAgentError as error:
            shell.error_box(error)


def _folded() -> DeltaGenerator:
    """Return the line that opens the form; it closes again when an experiment is started."""
    if st.session_state.pop(_STARTED, False):
        st.session_state[_FORM] = False
    return st.expander("New experiment", key=_FORM, on_change="rerun")


def _start(workspace: Workspace, experiment: Experiment | None) -> None:
    """Draw the estimated cost and the button that starts the experiment."""
    if experiment is None:
        st.button("Start", disabled=True, key="evaluate_start")
        return
    name = default_name(experiment, workspace.model.name)
    folder = folder_for(workspace.home, name)
    job = workspace.jobs.get(job_key(folder))
    before, made = load_scores(folder), tuple(sorted(readings_made(workspace).items()))
    whole, only = (resumed_experiment(folder, experiment, leave_out=only) for only in (False, True))
    to_come, left = (_estimate(e, before.answers, before.failed, made, _done=before) for e in (whole, only))
    leave_out = to_come.answers > left.answers and not _finish_others(whole, experiment)
    to_come = left if leave_out else to_come
    st.text(to_come.sentence(workspace.model.price, built_in=not workspace.model.is_language_model))
    running_now = job is not None and job.running
    label = "Start" if not before.answers else "Continue" if to_come.answers else "Show results"
    if st.button(label, type="primary", disabled=running_now, key="evaluate_start"):
        if to_come.answers:
            start(workspace, experiment, leave_out=leave_out)  # raises if the cost is unknown and a budget is set
        results.choose(folder.name)
        st.session_state[_STARTED] = True
        st.rerun()


def _finish_others(whole: Experiment, experiment: Experiment) -> bool:
    """Ask whether the methods begun earlier, which are not chosen now, are finished too."""
    others = [method(arm.method).title for arm in whole.arms if arm not in experiment.arms]
    return st.toggle(
        f"Finish {shell.as_text(', '.join(others))} too",
        value=True,
        key="evaluate_finish_others",
        help="Begun earlier with these questions. Left out, the answers so far stay in the table.",
    )


@st.cache_data(
    show_spinner="Looking through the questions", max_entries=20, hash_funcs={Experiment: repr}, scope="session"
)
def _estimate(
    experiment: Experiment,
    answers: int,
    failed: int,
    made: tuple[tuple[tuple[str, str], float], ...],
    *,
    _done: ScoreTable,
) -> ExperimentEstimate:
    return estimate(experiment, done=_done, made=dict(made))


shell.draw(screen)
