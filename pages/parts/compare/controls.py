"""The controls above a comparison: which methods, what limits, the question and its options."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.shell import FIRST_METHODS
from pages.parts.shared.stored_switch import stored_switch
from readagent_core.answering import costs, suggesting
from readagent_core.answering.base import LETTERS, AskSettings, Question
from readagent_core.answering.limits import LET_IN, paragraphs_through, why_nothing
from readagent_core.answering.questions import parse_question
from readagent_core.answering.registry import all_methods
from readagent_core.answering.response import ANSWER_WORDS
from readagent_core.comparing.comparison import Comparison
from readagent_core.gisting.job import memory_to_ask
from readagent_core.incoming.samples import FOLDER
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.base import ChatModel
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

LONGEST_TRY = 70  # characters of a question on a button
PREFERENCE = "compare methods"
_MORE = "compare_more"  # whether the section of the options is unfolded
CUTS = {"left": "the beginning", "right": "the end", "ends": "both ends"}
_RIGHT = re.compile(r"^\s*\*\s*")


@dataclass(frozen=True)
class Asked:
    """What the person wants compared. ``correct``: index of the right option, None where it is not known.

    ``references``: known answers to a question without options; ``judged``: by the model, beside them.
    """

    question: Question
    correct: int | None = None
    references: tuple[str, ...] = ()
    judged: bool = False


def pick_methods(workspace: Workspace) -> list[str]:
    """The methods ticked, in the screen's order; stored for the next visit."""
    known = list(all_methods())
    remembered = workspace.library.preference(PREFERENCE, list(FIRST_METHODS))
    ticked = [name for name in known if st.session_state.get(f"compare_{name}", name in remembered)]
    popover = st.popover(count_of(len(ticked), "method"), key="compare_methods")
    with popover.container(gap="xxsmall"):  # all of them in sight
        for name in known:
            method = all_methods()[name]
            st.checkbox(method.title, value=name in remembered, key=f"compare_{name}", help=method.about)
    if ticked != remembered:
        workspace.library.set_preference(PREFERENCE, ticked)
    return ticked


def key_of(book: Book | None) -> str:
    """The end of the keys of what belongs to the book, or to several (None)."""
    return book.id if book else "several"


def pick_limits(workspace: Workspace, book: Book | None) -> AskSettings:
    """The switch of the spoiler limit, look-ups, the size of a prompt, and what full text keeps when it is cut.

    ``book``: None for several, each with a limit of its own.
    """
    with st.popover("Limits", icon=":material/tune:", key="compare_limits"):
        if book is not None:
            stored_switch(
                "Only what I have read",
                workspace.library.position(book.id).limited,
                lambda on: workspace.library.set_limit(book.id, on=on),
                key=f"compare_only_read_{book.id}",
            )
        else:
            st.caption("Every book has its own spoiler limit. Open a book in Read or Ask to move it.")
        look_ups = st.number_input("Pages to look up, at most", 0, 12, 3, key="compare_look_ups")
        words = st.number_input(
            "Words per prompt, at most (0: the model's own limit)", 0, 1_000_000, 0, step=500, key="compare_words"
        )
        keep = st.selectbox(
            "Of a text that is too long, keep", list(CUTS), format_func=CUTS.__getitem__, key="compare_keep"
        )
    return AskSettings(look_ups=int(look_ups), context_words=int(words) or None, keep=keep)


def choose_limit(workspace: Workspace, book: Book) -> None:
    """Draw why nothing of ``book`` may be compared yet, and what can be let in, in the words of Ask."""
    waiting = st.session_state.get(f"compare_pressed_{key_of(book)}")
    key = "error_calm_compare_from" if waiting else "compare_from"
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=key):
        why = why_nothing(by_hand=workspace.library.position(book.id).limit is not None)
        st.text(f"Your question is asked once you have chosen. {LET_IN}" if waiting else f"{why} {LET_IN}")
        for page, label in ((1, "Page 1 only"), (None, "The whole book")):
            kind: Literal["primary", "secondary"] = "primary" if page else "secondary"
            st.button(label, type=kind, key=f"compare_from_{page}", on_click=let_in, args=(workspace, book.id, page))


def let_in(workspace: Workspace, book_id: str, page: int | None) -> None:
    """Turn the spoiler limit of a book off, or move it to ``page``."""
    paragraph = None
    if page is not None:
        gisting, memory = memory_to_ask(workspace, book_id, then="compare")
        whole = workspace.library.document(book_id, document_id=gisting.document_id)
        paragraph = paragraphs_through(memory, whole, page)
    workspace.library.set_limit(book_id, on=page is not None, paragraph=paragraph)


def ask(
    known: list[dict[str, Any]], book: Book | None, count: int, *, able: bool, waits: bool, has_model: bool
) -> Asked | None:
    """Draw the question's form; what is to be asked, else None.

    ``able``: a question can be sent now. ``waits``: it is asked once the limit is chosen. ``has_model``: a language
    model is connected, which can judge answers. ``known``: the questions that are offered.

    A press is kept until ``set_asked``: its run may end before it came here, as where the press takes the focus from
    a field with a value that was not sent yet.
    """
    taken = st.session_state.get("compare_taken")
    if taken is not None:  # set here: a value that was set for the field in a run that was interrupted may be lost
        st.session_state[f"compare_question_{key_of(book)}"] = taken
        _fill_in(book, next((q for q in known if q["question"] == taken), {}))
    form = st.form("compare_form", border=False)
    with form.container(horizontal=True, vertical_alignment="bottom", key="compare_ask"):
        text = st.text_input(
            "Question",
            key=f"compare_question_{key_of(book)}",
            placeholder="Ask every method the same question",
            label_visibility="collapsed",
        )
        label = "Ask it" if count == 1 else "Ask both" if count == 2 else f"Ask all {count}" if count else "Ask"
        st.form_submit_button(
            label,
            type="primary",
            disabled=not (able and count),
            key="compare_go",
            on_click=_submit,
            args=(book,),
        )
    with st.expander("Options to choose from, or a known answer", key=_MORE, on_change="rerun"):
        if known:
            st.selectbox(
                "Take a question with a known answer",
                range(len(known)),
                index=None,
                format_func=lambda i: known[i]["question"],
                placeholder="Questions that come with this sample",
                key=f"compare_known_{key_of(book)}",
                on_change=_take,
                args=(book, known),
            )
        options = st.text_area(
            "One option per line; put a star (*) before the right one if you know it",
            key=f"compare_options_{key_of(book)}",
            height=140,
        )
        if len(_starred(options)) > 1:
            st.caption("More than one option has a star, so none counts as right. Leave the star of one.")
        known_answer = st.text_area(
            "Without options: known answers, one per line",
            key=f"compare_references_{key_of(book)}",
            height=68,
        )
        judged = st.toggle(
            "Let the model compare each answer with the known one: one more call per method",
            value=True,
            key="compare_judged",
            disabled=not has_model,
        )
        if not has_model:
            st.caption("Connect a model to use this. Without one, only the words that both share are counted.")
    asked = replace(asked_from(text, options, known_answer), judged=judged and has_model)
    if waits and text.strip():  # without a question, that is said
        return None
    pressed = st.session_state.get(f"compare_pressed_{key_of(book)}") == text.strip()
    return asked if pressed or taken is not None else None


def set_asked(book: Book | None) -> None:
    """Forget the press: its question is asked."""
    for key in ("compare_taken", f"compare_pressed_{key_of(book)}"):
        st.session_state.pop(key, None)


def price_line(model: ChatModel, memory: GistMemory, chosen: Sequence[str], settings: AskSettings) -> str:
    """About how many words a question sends by all methods that are chosen, and what that costs."""
    words = sum(costs.words_of_question(memory, name, look_ups=settings.look_ups) for name in chosen)
    price = costs.price_of_words(model, words, ANSWER_WORDS * len(chosen))
    if not model.is_language_model:
        return "The built-in reader answers, free."
    return shell.as_text(
        f"{short_name(model.name)}: about {round(words, -2):,} words for {count_of(len(chosen), 'method')}, {price}."
    )


def asked_from(text: str, options: str, known_answer: str = "") -> Asked:
    """The question and its options; a star before an option says that it is the right one.

    Without options ``known_answer`` says what people answered, one a line.
    """
    references = tuple(line.strip() for line in known_answer.splitlines() if line.strip())
    if references and not options.strip():
        return Asked(parse_question(text, ""), references=references)
    lines = [line for line in options.splitlines() if line.strip()]
    question = parse_question(text, "\n".join(_RIGHT.sub("", line) for line in lines))
    starred = _starred(options)
    return Asked(question, starred[0] if len(starred) == 1 and starred[0] < len(question.options) else None)


def _starred(options: str) -> list[int]:
    """The indices of the lines with a star."""
    lines = [line for line in options.splitlines() if line.strip()]
    return [i for i, line in enumerate(lines) if _RIGHT.match(line)]


def known_questions(book: Book | None, memory: GistMemory) -> list[dict[str, Any]]:
    """The questions that come with a sample and are answered in the text of ``memory``; none for any other book."""
    if book is None or not memory.pages:
        return []
    path = FOLDER / f"{book.source_name.removesuffix('.md')}.questions.json"
    if not book.sample or not path.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    text = memory.document.text()
    known = [q for q in found if q.get("options") or q.get("references")]
    return [q for q in known if all(words in text for words in q["evidence"])]


def questions_to_try(book: Book | None, memory: GistMemory, *, by_model: bool) -> list[str]:
    """Three questions where nothing was compared yet: of a sample, else such as fit any book, or several (None).

    None about a ``memory`` without pages.
    """
    if book is None:
        names = suggesting.people_named(memory)
        return suggesting.questions_about_several(names, memory.document.language, by_model=by_model)
    if not memory.pages:
        return []
    own = [q for q in known_questions(book, memory) if q["kind"] != "order"]  # an order is asked with options only
    known = [q["question"] for q in own if len(q["question"]) <= LONGEST_TRY]
    return [*known, *(s.text for s in suggesting.standard_questions(memory, finished=memory.complete))][:3]


def take_question(text: str) -> None:
    """Ask ``text`` in the next run."""
    st.session_state["compare_taken"] = text


def begin_with(book: Book | None, comparison: Comparison) -> None:
    """Fill the form with what ``comparison`` asked, where it is drawn for the first time in this visit."""
    key = f"compare_question_{key_of(book)}"
    if key in st.session_state:
        return
    st.session_state[key] = comparison.question
    given = {"options": comparison.options, "answer": comparison.correct, "references": comparison.references}
    _fill_in(book, given)


def _take(book: Book | None, known: list[dict[str, Any]]) -> None:
    chosen = st.session_state.get(f"compare_known_{key_of(book)}")
    if chosen is None:
        return
    st.session_state[f"compare_question_{key_of(book)}"] = known[chosen]["question"]
    _fill_in(book, known[chosen])


def _fill_in(book: Book | None, question: dict[str, Any]) -> None:
    """Fill the fields of the options and the known answers with those of ``question``."""
    options = question.get("options", ())
    marked = [("* " if i == question["answer"] else "") + option for i, option in enumerate(options)]
    st.session_state[f"compare_options_{key_of(book)}"] = "\n".join(marked[: len(LETTERS)])
    st.session_state[f"compare_references_{key_of(book)}"] = "\n".join(question.get("references", ()))
    st.session_state[f"compare_given_{key_of(book)}"] = _given(book)


def _given(book: Book | None) -> list[str]:
    """The question, its options and its known answers, as the fields have them."""
    names = ("question", "options", "references")
    return [str(st.session_state.get(f"compare_{name}_{key_of(book)}", "")).strip() for name in names]


def _submit(book: Book | None) -> None:
    """Note the press and fold the options; empty the fields of what was given with another question."""
    question, *rest = _given(book)
    if question:  # the answers are to be seen
        st.session_state[_MORE] = False
    st.session_state[f"compare_pressed_{key_of(book)}"] = question
    last = st.session_state.get(f"compare_given_{key_of(book)}")
    if last and question and question != last[0] and rest == last[1:]:
        _fill_in(book, {})
        st.session_state[f"compare_known_{key_of(book)}"] = None
    elif question:
        st.session_state[f"compare_given_{key_of(book)}"] = [question, *rest]
