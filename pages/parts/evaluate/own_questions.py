"""One's own questions beside a book of the library: the table, files in and out, suggestions, earlier conversations.

The table is a component, which sends all rows with every change; they are stored as typed. An experiment takes the
rows that are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.component import component, no_callback
from readagent_core.document import Document
from readagent_core.errors import DatasetError, ReadAgentError
from readagent_core.evaluation import question_files
from readagent_core.evaluation.own_dataset import BookText, book_text, write_dataset
from readagent_core.evaluation.question_files import Taken, problem_of, write_questions
from readagent_core.evaluation.suggested_questions import Suggested, Suggestions, job_key, start_suggesting
from readagent_core.gisting.job import memory_of
from readagent_core.jobs import JobState
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.text_files import slug
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_LABELS = {"csv": "CSV", "json": "JSON", "jsonl": "JSON lines", "md": "Markdown"}
_MIME = {"csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl", "md": "text/markdown"}
_TABLE = "own_questions_"  # the component's key, before the id of its book
_SECONDS = 0.7  # between two looks at the suggestions


def choose(workspace: Workspace) -> Path | None:
    """Draw the book's questions and return the dataset of those that are whole; None where there is none."""
    take_changes(workspace)
    book = current.current(workspace)
    if book is None:
        st.caption("No book is in the library yet. Questions are about a book.")
        st.page_link("pages/library.py", label="Add a book", icon=":material/arrow_back:")
        return None
    with st.container(horizontal=True, vertical_alignment="bottom", key="evaluate_own_top"):
        current.picker(workspace, book, key="evaluate_book")
        _suggest_button(workspace, book)
        _conversations(workspace, book)
    with st.container(key="evaluate_own_suggestions"):
        if not workspace.model.is_language_model:
            st.caption("Suggested questions need a language model.")
        _suggestions(workspace, book)
    _table(workspace, book)
    with st.container(border=True, key="evaluate_own_files"):
        _files(workspace, book)
    questions = workspace.library.own_questions(book.id)
    with st.container(key="evaluate_own_notes"):  # always there: what comes after it stays in its place
        _notes(workspace, questions)
    return write_dataset(workspace, book, questions)


def _notes(workspace: Workspace, questions: Sequence[OwnQuestion]) -> None:
    """Say what is missing before the questions can be asked, and how answers are judged."""
    whole = [question for question in questions if not problem_of(question)]
    if not questions:
        st.caption("Write a question and its right answer. With wrong answers it becomes multiple choice.")
    elif len(whole) < len(questions):
        st.caption(f"{count_of(len(questions) - len(whole), 'question')} left out: see the line below each.")
    if not workspace.model.is_language_model and any(not question.wrong for question in whole):
        st.caption(
            "Answers in free words are judged by a language model, and none is connected: they are shown without a "
            "judgement. A question with wrong answers is judged in any case."
        )


def add(workspace: Workspace, book: Book, questions: Iterable[OwnQuestion]) -> None:
    """Add questions at the end; the table takes them over and can undo it."""
    workspace.library.set_own_questions(book.id, [*workspace.library.own_questions(book.id), *questions])
    key = f"own_revision_{book.id}"
    st.session_state[key] = st.session_state.get(key, 0) + 1


# --- the table ------------------------------------------------------------------------------------------------


def _table(workspace: Workspace, book: Book) -> None:
    stored = workspace.library.own_questions(book.id)
    text = _text(workspace, book)
    data = {
        "kind": "questions",
        "book": book.id,
        "rows": [{**q.to_dict(), "wrong": "\n".join(q.wrong)} for q in stored],
        "seen": st.session_state.get(f"own_seen_{book.id}", 0),
        "revision": st.session_state.get(f"own_revision_{book.id}", 0),
        "hints": [_hint(q, text) for q in stored],
    }
    mount = component("own_questions", "evaluate/questions_table.js", style="evaluate/questions_table.css")
    mount(key=f"{_TABLE}{book.id}", data=data, on_change_change=no_callback)


def _hint(question: OwnQuestion, text: BookText) -> dict[str, str | bool]:
    found: dict[str, str | bool] = {"found": text.find(question.answer)}
    if problem := problem_of(question):
        left_out = "This question is left out until that is corrected."
        return {"problem": f"{problem.sentence} {left_out}", "field": problem.field, **found}
    if doubt := text.doubt(question.page):
        told = f"{doubt} The question is asked all the same: its page is a note for you."
        return {"problem": told, "field": "page", "note": True, **found}
    return found


def take_changes(workspace: Workspace) -> None:
    """Store the changes of the tables, also of one whose book is not shown any more; call it before anything else."""
    for key in list(st.session_state):
        if not str(key).startswith(_TABLE):
            continue
        change = getattr(st.session_state[key], "change", None)
        book_id = str(key).removeprefix(_TABLE)
        if change and change["at"] > st.session_state.get(f"own_seen_{book_id}", 0):
            rows = [OwnQuestion.from_dict({**row, "wrong": row["wrong"].split("\n")}) for row in change["rows"]]
            workspace.library.set_own_questions(book_id, rows)
            st.session_state[f"own_seen_{book_id}"] = int(change["at"])


def _text(workspace: Workspace, book: Book) -> BookText:
    memory = memory_of(workspace, book)
    return _searchable(book.document_id, len(memory.pages) if memory else 0, _source=(workspace, book, memory))


@st.cache_resource(show_spinner=False, max_entries=4, scope="session")
def _searchable(document_id: str, pages: int, *, _source: tuple[Workspace, Book, GistMemory | None]) -> BookText:
    workspace, book, memory = _source
    document: Document = workspace.library.document(book.id)
    return book_text(document, memory)


# --- files ----------------------------------------------------------------------------------------------------


def _files(workspace: Workspace, book: Book) -> None:
    upload, save = st.columns([3, 2], gap="large")
    times = st.session_state.setdefault("own_uploads", 0)
    file = upload.file_uploader(
        "Add questions from a file",
        help="The columns may be in any order. A question without wrong answers is answered in free words.",
        max_upload_size=5,
        key=f"evaluate_own_file_{times}",
    )
    if file is not None:
        taken = question_files.read_questions(file.getvalue(), file.name.lower())
        if taken.questions:
            add(workspace, book, taken.questions)
        st.session_state["own_taken"] = (book.id, file.name, taken)
        st.session_state["own_uploads"] = times + 1  # an empty uploader, so that the same file can be chosen again
        st.rerun()
    with save:
        st.caption("Template with two example questions")
        _downloads("template", question_files.TEMPLATE, "questions-template", ("csv", "jsonl"))
        if questions := workspace.library.own_questions(book.id):
            st.caption("Save your questions")
            _downloads("export", questions, f"{slug(book.title)}-questions", question_files.QUESTION_FORMATS)
    _show_taken(book)


def _downloads(kind: str, questions: Sequence[OwnQuestion], name: str, formats: Sequence[str]) -> None:
    with st.container(horizontal=True, key=f"evaluate_own_{kind}"):
        for format in formats:
            st.download_button(
                _LABELS[format],
                data=partial(write_questions, questions, format),
                file_name=f"{name}.{format}",
                mime=_MIME[format],
                on_click="ignore",
                key=f"evaluate_own_{kind}_{format}",
            )


def _show_taken(book: Book) -> None:
    """Say what was taken from the last file, and what was not and why."""
    book_id, name, taken = st.session_state.get("own_taken", ("", "", Taken()))
    if book_id != book.id:
        return
    with st.container(key="evaluate_own_taken"):
        if not taken.questions:
            shell.error_box(DatasetError("\n".join([f"Nothing was taken from {name}.", *taken.shown_problems()])))
            return
        st.text(f"{name}: {taken.sentence()}")
        for problem in taken.shown_problems():
            st.text(problem)


# --- suggestions ----------------------------------------------------------------------------------------------


def _suggest_button(workspace: Workspace, book: Book) -> None:
    job = workspace.jobs.get(job_key(book.id))
    running = job is not None and job.running
    is_model = workspace.model.is_language_model
    about = "The model writes a question about each of five pages. You add those you like."
    if st.button(
        "Suggest questions",
        icon=":material/lightbulb:",
        disabled=running or not is_model,
        help=about,
        key="evaluate_own_suggest",
    ):
        key = f"own_batch_{book.id}"
        batch = st.session_state.get(key, -1) + 1
        start_suggesting(workspace, book, batch=batch)
        st.session_state[key] = batch
        st.session_state[f"own_settled_{book.id}"] = set()
        st.rerun()


def _suggestions(workspace: Workspace, book: Book) -> None:
    """Draw the suggestions that were neither taken nor dismissed, while they come and afterwards."""
    job = workspace.jobs.get(job_key(book.id))
    polling.rerun_after(_SECONDS if job is not None and job.running else None, key="suggested")
    if job is None:
        return
    found = job.snapshot.value or Suggestions()
    settled: set[str] = st.session_state.setdefault(f"own_settled_{book.id}", set())
    left = [suggested for suggested in found.found if suggested.question.question not in settled]
    if job.running:
        with st.container(horizontal=True, vertical_alignment="center", key="evaluate_own_suggesting"):
            st.progress(job.snapshot.done / max(1, job.snapshot.total), text="Asking for questions, page by page")
            st.button("Stop", key="evaluate_own_stop", on_click=job.cancel)
    elif job.snapshot.state == JobState.FAILED:
        shell.error_box(job.snapshot.failure)
    if not job.running and found.unusable and not settled:
        st.caption(f"{count_of(found.unusable, 'suggestion')} not shown: the page does not say the answer.")
    for suggested in left:
        _suggestion(workspace, book, suggested, settled)


def _suggestion(workspace: Workspace, book: Book, suggested: Suggested, settled: set[str]) -> None:
    question = suggested.question
    key = f"{suggested.page}_{slug(question.question)}"
    with st.container(border=True, gap=None, key=f"evaluate_own_suggested_{key}"):
        st.text(question.question)
        wrong = f" (not: {'; '.join(question.wrong)})" if question.wrong else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{question.answer}{wrong}\nPage {suggested.page}: “{suggested.quotation}”", width="stretch")
            taken = st.button("Add", key=f"evaluate_own_take_{key}", icon=":material/add:")
            left = st.button("Dismiss", key=f"evaluate_own_leave_{key}")
        if taken:
            add(workspace, book, [question])
        if taken or left:
            settled.add(question.question)
            st.rerun()


# --- conversations --------------------------------------------------------------------------------------------


def _conversations(workspace: Workspace, book: Book) -> None:
    """Draw the list of questions asked about this book, to be added without an answer."""
    with st.popover("Add from your conversations", icon=":material/chat_bubble:", key="evaluate_own_conversations"):
        asked = asked_before(workspace, book)
        if not asked:
            st.caption("No other question was asked about this book yet.")
            return
        st.caption("Write the right answer yourself: a model's answer may be wrong.")
        with st.form("evaluate_own_asked", border=False):
            chosen = [text for at, text in enumerate(asked) if st.checkbox(shell.as_text(text), key=f"own_asked_{at}")]
            taken = st.form_submit_button("Add these")
        if taken and chosen:
            add(workspace, book, [OwnQuestion(text) for text in chosen])
            st.rerun()


def asked_before(workspace: Workspace, book: Book) -> list[str]:
    """The questions of all conversations about the book that are not in the table, the newest conversation first."""
    known = {question.question for question in workspace.library.own_questions(book.id)}
    found: dict[str, None] = {}
    for conversation in workspace.library.conversations(book.id):
        try:
            exchanges = workspace.library.exchanges(conversation.id)
        except ReadAgentError:
            continue
        found |= dict.fromkeys(exchange.question.strip() for exchange in exchanges)
    return [text for text in found if text and text not in known][:50]
