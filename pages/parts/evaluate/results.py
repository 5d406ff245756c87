"""The results of the experiments in the library: the chosen one, or the one that runs, with the way to stop it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.evaluate import question_list, report_view
from pages.parts.shared import polling, shell
from pages.parts.shared.book import has_unread
from pages.parts.shared.gisting_status import span
from readagent_core.errors import BudgetError, CancelledError
from readagent_core.evaluation.arms import arm_titles, recorded_arms
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.recorded import recorded_experiment
from readagent_core.evaluation.report import summarise
from readagent_core.evaluation.starting import (
    StoredExperiment,
    delete_experiment,
    deleted_experiment,
    job_key,
    load_summary,
    restore_experiment,
    start,
)
from readagent_core.evaluation.tables import score_table
from readagent_core.jobs import JobState
from readagent_core.library.records import Book
from readagent_core.model_names import short_name
from readagent_core.models.cost.prices import money
from readagent_core.settings import load_team
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_CHOSEN, _RECORDED = "evaluate_experiment", "evaluate_recorded"
_OPENED = "evaluate_opened"  # before the id of a book whose questions are shown in spite of its spoiler limit


def choose(name: str) -> None:
    """Show the experiment in the folder of this name from the next run of the screen."""
    st.session_state[_CHOSEN] = name
    st.session_state[_RECORDED] = False


def recording_is_shown() -> bool:
    """Whether the recorded experiment was asked for."""
    return bool(st.session_state.get(_RECORDED)) and recorded_experiment() is not None


def draw(workspace: Workspace, found: Sequence[StoredExperiment]) -> None:
    """Draw the choice of an experiment and its results; the recorded one only where it was asked for."""
    recording = recorded_experiment()
    if recording is not None and recording_is_shown():
        with st.container(horizontal=True, vertical_alignment="center", key="evaluate_recording"):
            record = recording.record
            made = f"A recording of {_day(recording)}, made with {record['model']['name']}"
            st.markdown(f":material/album: {made}; not one of your own results.")
            st.button("Close the recording", key="evaluate_close", on_click=_show_recording, args=(False,))
        _finished(recording, workspace, own=False)
        return
    if deleted := deleted_experiment(workspace.home):
        _undo(deleted)
    if not found:
        if recording is not None:
            _offer(recording)
        return
    names = [entry.name for entry in found]
    if st.session_state.get(_CHOSEN) not in names:
        choose(names[0])
    titles = [entry.title for entry in found]
    called = {  # Streamlit takes two options of one label for the same
        entry.name: entry.title if titles.count(entry.title) == 1 else f"{entry.title} ({entry.name})"
        for entry in found
    }
    with st.container(horizontal=True, vertical_alignment="bottom", key="evaluate_chosen"):
        chosen = st.selectbox("Experiment", names, format_func=called.__getitem__, key=_CHOSEN)
        entry = found[names.index(chosen)]
        _delete(workspace, entry)
    _experiment(workspace, entry)
    if recording is not None:
        st.button("Show the recorded experiment", type="tertiary", key="evaluate_recorded_too",
                  icon=":material/album:", on_click=_show_recording, args=(True,))  # fmt: skip


def _delete(workspace: Workspace, entry: StoredExperiment) -> None:
    """Draw the way to delete an experiment that does not run; it is closed where another one is shown."""
    job = workspace.jobs.get(job_key(entry.folder))
    running = job is not None and job.running
    with st.popover("", icon=":material/delete:", help="Delete this experiment", disabled=running,
                    key=f"evaluate_delete_open_{entry.name}"):  # fmt: skip
        st.caption("With its answers and results. This can be undone until you delete another.")
        if st.button("Delete this experiment", key=f"evaluate_delete_{entry.name}"):
            shell.guarded(lambda: delete_experiment(entry.folder))


def _undo(deleted: StoredExperiment) -> None:
    """Draw the way to have back what was deleted last."""
    with st.container(horizontal=True, vertical_alignment="center", key="evaluate_deleted"):
        st.text(f"Deleted “{deleted.title}”.", width="content")
        if st.button("Undo", key="evaluate_undo"):
            choose(deleted.name)
            shell.guarded(lambda: restore_experiment(deleted))


def _day(recording: StoredExperiment) -> str:
    """Return the date of a recording with hyphens at which no line is broken."""
    return str(recording.record["recorded"]).replace("-", "\N{NON-BREAKING HYPHEN}")


def _show_recording(on: bool) -> None:
    st.session_state[_RECORDED] = on


def _offer(recording: StoredExperiment) -> None:
    """Say that there is no experiment yet, and offer the recorded one."""
    arms = count_of(len(recording.record["experiment"]["arms"]), "method")
    with st.container(border=True, key="evaluate_empty"):
        st.subheader("No experiment of yours yet", anchor=False)
        st.text(
            "Start one above: a few questions take a moment. Or look at a recorded one first: questions about the "
            f"bundled novella, answered by {arms} with a large language model on {_day(recording)}."
        )
        st.button("Show the recorded experiment", key="evaluate_show_recorded", icon=":material/album:",
                  on_click=_show_recording, args=(True,))  # fmt: skip


def _experiment(workspace: Workspace, entry: StoredExperiment) -> None:
    job = workspace.jobs.get(job_key(entry.folder))
    if job is not None and job.running:
        _watch(workspace, entry)
        return
    if job is not None and job.snapshot.state in (JobState.FAILED, JobState.CANCELLED):
        stopped = job.snapshot.state == JobState.CANCELLED
        shell.error_box(CancelledError("What was done so far is saved.") if stopped else job.snapshot.failure)
    paused = job is not None and isinstance(job.snapshot.failure, BudgetError)
    _finished(entry, workspace, may_continue=not paused)


def _continue(workspace: Workspace, entry: StoredExperiment, missing: int) -> None:
    """Draw the button that asks for the missing answers, by the settings with which the experiment was begun.

    Another model than it was begun with gets no button: its answers would not make one table with those.
    """
    to_come, begun_with = f"{count_of(missing, 'answer')} to come", str(entry.record["model"]["name"])
    if begun_with != workspace.model.name:
        st.caption(
            f"{to_come}. Begun with {shell.as_text(short_name(begun_with))}: choose it again in Settings to continue."
        )
    elif st.button(f"Continue: {to_come}", key="evaluate_continue"):
        shell.guarded(lambda: start(workspace, Experiment.from_dict(entry.record["experiment"]), name=entry.name))


def _finished(entry: StoredExperiment, workspace: Workspace, *, own: bool = True, may_continue: bool = True) -> None:
    """The results of an experiment that does not run. ``own``: False for a recording.

    ``may_continue``: False where its budget would stop it again at once.
    """
    found = load_summary(entry.folder)
    if found.rows:
        report_view.about(found)
    else:
        st.caption("No answers yet.")
    if own and may_continue and (missing := found.wanted - found.answers + found.failed + found.more) > 0:
        _continue(workspace, entry, missing)
    if not found.rows:
        return
    stored = question_list.stored_questions(entry.folder, entry.record)
    outcome, tables, questions, gisting, record = st.tabs(["Results", "Tables", "Questions", "Gists", "Record"])
    with outcome:
        report_view.result(found)
        if hidden := _unread(workspace, stored):
            _say_hidden(hidden, key="evaluate_hidden_result")
        else:
            report_view.not_right(stored)
        report_view.downloads(found, stored, tells=hidden[0].title if hidden else "")
    with tables:
        report_view.tables(found)
    with questions:
        if hidden:
            _say_hidden(hidden, key="evaluate_hidden")
        else:
            question_list.browse(stored)
    with gisting:
        report_view.how_it_was_read(found)
    with record:
        for name, value in _recorded_facts(found.record):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(name, width=180)
                st.text(value)
        if own and load_team() is None:  # else the folder is the server's
            with st.expander("Run it again from a terminal"):
                st.caption("On another computer, put the dataset's path before --record.")
                again = shlex.join(["--record", str(entry.folder / "record.json"), "--name", f"again-{entry.name}"])
                st.code(f"python -m readagent_core evaluate {again}", language=None, wrap_lines=True)
        with st.expander("All that was recorded, as JSON"):
            st.json(dict(found.record), expanded=1)


def _recorded_facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the record of an experiment says of it, each with its name."""
    moments = [str(record.get(key) or "").replace("T", " ")[:16] for key in ("started", "finished")]
    facts = [
        ("Answered by", str(record.get("model", {}).get("name", ""))),
        ("Begun, UTC", moments[0]),
        ("Ended, UTC", moments[1]),
        ("Methods", "; ".join(arm_titles(recorded_arms(record)).values())),
        ("Length of a page", str(record.get("preset", "")).capitalize()),
        ("Word vectors", str(record.get("embedder", ""))),
        ("Fingerprint of the questions", str(record.get("dataset_hash", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def _unread(workspace: Workspace, questions: Questions) -> list[Book]:
    """The books of the library that the questions are about, and of which a spoiler limit keeps a part out."""
    asked = [b for b in workspace.library.books() if b.title in questions.asked_about]
    return [b for b in asked if not st.session_state.get(f"{_OPENED} {b.id}") and has_unread(workspace, b)]


def _say_hidden(books: Sequence[Book], *, key: str) -> None:
    """Say why the questions are not shown, with the way to show them."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=key):
        st.text(f"The questions and answers tell of pages of {books[0].title} that you have not read.")
        if st.button("Show them", key=f"{key}_show"):
            st.session_state.update({f"{_OPENED} {book.id}": True for book in books})
            st.rerun()


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
        share, parts = progress.done / progress.total, [f"{progress.done:,} of {count_of(progress.total, 'answer')}"]
        if progress.documents:
            parts.append(f"{count_of(progress.documents, 'document')} read")
        if progress.words_read < progress.words_to_read:
            words = f"{progress.words_read:,} of {count_of(progress.words_to_read, 'word')}"
            parts.append(f"making gists, {words} so far")
            if not progress.done:  # the first of two steps: the bar is its own
                share = progress.words_read / progress.words_to_read
                took = span(time.time() - job.snapshot.started)
                parts = ["Step 1 of 2: making gists", words, f"{took} so far"]
        text = " · ".join(parts) + failed
        if progress.dollars:
            text += f" · {money(progress.dollars)} spent".replace("$", "\\$")
        st.progress(min(1.0, share), text=text)
        if job.snapshot.waiting:
            st.text(job.snapshot.waiting)
    stopping = job.cancelled
    st.button("Stopping" if stopping else "Stop", key="evaluate_stop", disabled=stopping, on_click=job.cancel)
    if progress is not None:
        found = summarise(entry.record, progress.table, wanted=progress.total)
        if found.rows:
            st.subheader("So far", anchor=False)
            report_view.about(replace(found, wanted=0))  # the line above the bar has how many answers are in
            report_view.result(found)
            report_view.table(*score_table(found))
