"""Question by question: what was asked, what each method answered, and the replay of its prompts.

Everything that a dataset or a model wrote is drawn as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.compare import board
from pages.parts.shared import book as current
from pages.parts.shared.cached import get_workspace
from readagent_core.citations import check
from readagent_core.citations.answer_parsing import marked
from readagent_core.evaluation.arms import arm_titles, recorded_arms
from readagent_core.evaluation.experiment import read_record
from readagent_core.evaluation.questions import (
    QuestionEntry,
    Questions,
    chosen_option,
    describe_event,
    describe_figures,
    is_right,
    lettered_option,
    shown_answer,
    verdict,
    verdict_sign,
)
from readagent_core.evaluation.recorded import memory_of_pages, rebuilt_replay
from readagent_core.evaluation.results import Result
from readagent_core.export.comparison_drawings import Element

_SHOWN = 500  # questions in the list; a filter finds the others
_FILTERS: dict[str, tuple[str, Callable[[QuestionEntry], bool]]] = {  # by code: the label, and whether it shows one
    "all": ("All", lambda entry: True),
    "wrong": ("Not right", lambda entry: entry.wrong),
    "differ": ("Methods disagree", lambda entry: entry.differ),
}


def browse(questions: Questions) -> None:
    """Draw the list of questions with a filter, and the chosen one in full."""
    if not len(questions):
        st.caption("No question is answered yet.")
        return
    shown = st.segmented_control(
        "Show",
        list(_FILTERS),
        format_func=lambda code: _FILTERS[code][0],
        default="all",
        key="evaluate_narrow",
        required=True,
        label_visibility="collapsed",
    )
    is_shown = _FILTERS[shown][1]
    found = {f"{entry.case}-{entry.item}": entry for entry in questions.entries if is_shown(entry)}
    if not found:
        st.caption("No question matches.")
        return
    if len(found) > _SHOWN:
        st.caption(f"The first {_SHOWN:,} of {len(found):,}.")
    name = st.selectbox(
        "Question",
        list(found)[:_SHOWN],
        format_func=lambda q: f"{found[q].counts}: {found[q].excerpt[:110]}",
        key="evaluate_question",
    )
    results = questions.read_answers(found[name])
    _question(results[0])
    answers = st.grid(2)
    for result in results:
        with answers.cell():
            _answer(questions, result)


def stored_questions(folder: Path, record: Mapping[str, Any]) -> Questions:
    """Return the questions of the experiment with this record that have an answer; their places are cached."""
    file = folder / "results.jsonl"
    titles = arm_titles(recorded_arms(record))
    return _questions(str(folder), file.stat().st_size if file.is_file() else 0, titles)


@st.cache_resource(show_spinner=False, max_entries=4)
def _questions(folder: str, size: int, titles: dict[str, str]) -> Questions:
    """The questions of an experiment; ``size`` is part of the cache's key, because results are appended."""
    return Questions(Path(folder), titles)


def _question(result: Result, *, key: str = "evaluate_asked") -> None:
    with st.container(border=True, key=key):
        st.text(result.question)
        lines = [
            f"{lettered_option(result, at)}{'   ← right' if at == result.gold else ''}"
            for at in range(len(result.options))
        ]
        lines += [f"Known answer: {reference}" for reference in result.references]
        st.text("\n".join(lines))
        st.text(f"From {result.title}")


def _answer(questions: Questions, result: Result) -> None:
    with st.container(border=True, key=f"evaluate_answer_{result.arm}_{result.run}".replace(":", "_")):
        _head(questions.answered_by(result), result)
        _said(questions, result)
        st.caption(describe_figures(result))
        for note in result.notes:
            st.text(f"Note: {note}")
        recorded = questions.folder.suffix == ".experiment"
        if (recorded or result.replay is not None) and st.toggle(
            "Replay", key=f"evaluate_replay_{result.case}_{result.item}_{result.arm}_{result.run}"
        ):
            _replay(questions, result)


def _said(questions: Questions, result: Result, *, key: str = "evaluate_said") -> None:
    """The option that was chosen, the answer and its evidence; a press on a page that they name opens it in Read."""
    for words in filter(None, [chosen_option(result), result.error]):
        st.text(words)
    text, evidence = shown_answer(result)
    library, page_words = get_workspace().library, questions.page_words(result)
    book = next((one for one in library.books() if one.document_id == result.document), None)
    pages = len(page_words) if book else 0  # that can be opened
    rows = [_with_chips(line, result, pages) for line in filter(None, [text])]
    if evidence:
        rows += [["p", {"class": "note small dim"}, "Evidence"]]
        rows += [_with_chips(line, result, pages) for line in evidence.splitlines() if line.strip()]
    if not rows:
        return
    name = f"{key}_{result.case}_{result.item}_{result.arm}_{result.run}".replace(":", "_")
    act = board.show_rows([["div", {"data-method": result.arm}, *rows]], key=name)
    if act is not None and book is not None:
        document = library.document(book.id)
        memory = memory_of_pages(document, page_words)
        every = range(1, pages + 1)
        checked = check(result.answer, memory, full=every, shown=every)
        board.mark_cited(book.id, checked, act.page, memory, document)
        current.read_at(book.id, memory.page(act.page).start, left="evaluate")


def _with_chips(text: str, result: Result, pages: int) -> Element:
    """A paragraph with a chip for every page that it names; a button for the first ``pages``."""
    drawn: list[Element | str] = []
    for words, named in marked(text):
        drawn.append(words)
        for at, page in enumerate(named):
            look = {"class": "cite page" if page in result.looked_up else "cite"}
            press = {"type": "button", "data-page": str(page)}
            chip = f"page {page}"
            drawn += [" "] if at else []
            drawn.append(["button", press | look, chip] if 1 <= page <= pages else ["span", look, chip])
    return ["p", {"class": "a", "dir": "auto"}, *drawn]


def _head(title: str, result: Result) -> None:
    """Who answered and how it was judged; a sign and a word besides the colour."""
    mark, kind = verdict_sign(result)
    st.html(
        f'<p class="ev-head"><strong>{escape(title)}</strong>'
        f'<span class="{kind}"><span aria-hidden="true">{mark}</span> {escape(verdict(result))}</span></p>'
    )


def _replay(questions: Questions, result: Result) -> None:
    """Every prompt and reply of the run, in order."""
    events = questions.read_replay(result)
    if not events:
        events = rebuilt_replay(questions.folder, read_record(questions.folder) or {}, result)
        if not events:
            st.caption("This answer was stored without its prompts, and they cannot be made again from what is known.")
            return
        st.caption("Rebuilt from the templates and the gists: of a look-up the recording has the pages, not the reply.")
    step = 0
    for event in events:
        if event["kind"] == "Asked":  # a stored ModelCall
            step += 1
            with st.expander(f"Step {step}: {event['task'].replace('_', ' ')}"):
                st.caption("Sent")
                st.text(event["prompt"])
                st.caption("Reply")
                st.text(event["reply"])
        elif said := describe_event(event, result):
            st.text(said)


@st.dialog("Not right", width="large")
def show_wrong(questions: Questions, entry: QuestionEntry) -> None:
    """Draw one question with the answers to it that are not right, each with its replay."""
    answers = questions.read_answers(entry)
    _question(answers[0], key="evaluate_wrong_asked")
    for result in answers:
        if is_right(result) is False:
            _head(questions.answered_by(result), result)
            _said(questions, result, key="evaluate_wrong_said")
            st.caption(describe_figures(result))
            _replay(questions, result)
