"""Evaluate: many questions with known answers, asked of every method on the person's own model.

The experiments and the texts of their reports are made by ``readagent_core.evaluation``.
"""

from __future__ import annotations

import shlex

import streamlit as st

from pages.parts.evaluate import question_list, report_view, setup_form
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.cost_estimate import Estimate, estimate
from readagent_core.evaluation.experiment import Experiment, default_name, folder_for, resumed_experiment
from readagent_core.evaluation.questions import arm_titles
from readagent_core.evaluation.report import summarise
from readagent_core.evaluation.score_table import ScoreTable, load_scores
from readagent_core.evaluation.starting import StoredExperiment, job_key, list_experiments, load_summary, start
from readagent_core.models.cost.prices import money
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

CHOSEN = "evaluate_experiment"


def screen() -> None:
    shell.header("Evaluate", about="Many questions with known answers, asked of every method on your own model.")
    workspace = get_workspace()
    with st.container(border=True, key="evaluate_setup"):
        try:
            experiment = setup_form.form(workspace)
            _start(workspace, experiment)
        except ReadAgentError as error:
            shell.error_box(error)
    found = list_experiments(workspace.home)
    if not found:
        st.caption("No experiment yet. The first one can be small: twenty questions take a moment.")
        return
    names = [entry.name for entry in found]
    if st.session_state.get(CHOSEN) not in names:
        st.session_state[CHOSEN] = names[0]
    called = {entry.name: entry.title for entry in found}
    chosen = st.selectbox("Experiment", names, format_func=called.__getitem__, key=CHOSEN)
    _experiment(workspace, found[names.index(chosen)])


def _start(workspace: Workspace, experiment: Experiment | None) -> None:
    """Draw the estimated cost and the button that starts the experiment."""
    if experiment is None:
        st.button("Start", disabled=True, key="evaluate_start")
        return
    name = default_name(experiment, workspace.model.name)
    folder = folder_for(workspace.home, name)
    job = workspace.jobs.get(job_key(folder))
    before = load_scores(folder)
    whole = resumed_experiment(folder, experiment)
    to_come = _estimate(whole, before.answers, before.failed, _done=before)
    st.text(to_come.sentence(workspace.model.price))
    more = len(whole.arms) - len(experiment.arms)
    if more and to_come.answers:
        st.caption(f"Together with {count_of(more, 'other method')} from the earlier start.")
    running_now = job is not None and job.running
    label = "Start" if not before.answers else "Continue" if to_come.answers else "Show it"
    if st.button(label, type="primary", disabled=running_now, key="evaluate_start"):
        if to_come.answers:
            start(workspace, experiment)  # raises if the cost is unknown and a budget is set
        st.session_state[CHOSEN] = folder.name
        st.rerun()


@st.cache_data(show_spinner="Looking through the questions", max_entries=20, hash_funcs={Experiment: repr})
def _estimate(experiment: Experiment, answers: int, failed: int, *, _done: ScoreTable) -> Estimate:
    return estimate(experiment, done=_done)


def _experiment(workspace: Workspace, entry: StoredExperiment) -> None:
    job = workspace.jobs.get(job_key(entry.folder))
    if job is not None and job.running:
        _watch(workspace, entry)
        return
    if job is not None and job.snapshot.state in ("failed", "cancelled"):
        shell.error_box(job.snapshot.error, kind=job.snapshot.error_kind or "CancelledError")
    found = load_summary(entry.folder)
    report_view.about(found)
    if not found.rows:
        st.caption("No answer has come yet.")
        return
    scores, words, questions, reading, record = st.tabs(
        ["Scores", "Words and differences", "Questions", "Reading", "Record"]
    )
    with scores:
        report_view.scores(found)
        report_view.downloads(found, entry.folder)
    with words:
        report_view.more(found)
    with questions:
        question_list.browse(entry.folder, arm_titles(found.record))
    with reading:
        report_view.how_it_was_read(found)
    with record:
        st.caption(
            "This runs it again from the start. On another computer, put the path of the dataset before --record."
        )
        again = shlex.join(["--record", str(entry.folder / "record.json"), "--name", f"again-{entry.name}"])
        st.code(f"python -m readagent_core evaluate {again}", language=None)
        st.json(dict(found.record), expanded=1)


@st.fragment
def _watch(workspace: Workspace, entry: StoredExperiment) -> None:
    """The running experiment: how far it is, the table so far, the way to stop it."""
    job = workspace.jobs.get(job_key(entry.folder))
    if job is None or not job.running:
        st.rerun()
        return
    polling.rerun_after(1.0, key="evaluate")
    progress = job.snapshot.value
    if progress is None or not progress.total:
        st.progress(0.0, text="Preparing")
    else:
        failed = f" · {progress.failed:,} failed" if progress.failed else ""
        read = count_of(progress.documents, "document")
        text = f"{progress.done:,} of {count_of(progress.total, 'answer')} · {read} read{failed}"
        if progress.dollars:
            text += f" · {money(progress.dollars)} spent".replace("$", "\\$")
        st.progress(min(1.0, progress.done / progress.total), text=text)
        if job.snapshot.waiting:
            st.text(job.snapshot.waiting)
    stopping = job.cancelled
    st.button("Stopping" if stopping else "Stop", key="evaluate_stop", disabled=stopping, on_click=job.cancel)
    if progress is not None:
        found = summarise(entry.record, progress.table, wanted=progress.total)
        if found.rows:
            report_view.scores(found)


shell.draw(screen)
