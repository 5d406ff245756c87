"""A comparison on the screen: its question, its rows, and the files to save it as."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

import streamlit as st

from pages.parts.ask.spots import spots_of
from pages.parts.shared import book as current
from pages.parts.shared.component import Act, act_of, component, no_callback
from pages.parts.shared.shell import as_text
from readagent_core.answering.base import LETTERS
from readagent_core.answering.signature import BUILT_IN, Signature
from readagent_core.citations import Checked, check
from readagent_core.citations.several import Source, check_several
from readagent_core.comparing.comparison import Comparison, place_of
from readagent_core.document import Document
from readagent_core.evaluation.recorded import RecordedComparisons, recorded_comparisons
from readagent_core.export.comparison import COMPARISON_FORMATS, comparison_file_name, export_comparison
from readagent_core.export.comparison_drawings import Element
from readagent_core.export.comparison_view import draw_comparison, known_answer
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace

FOOT = "One question shows how the methods differ, not which is better. Evaluate asks many and says what may be chance."
SAVE = {"html": "Share as one HTML file", "md": "Markdown", "csv": "CSV"}
_TITLES = 160  # characters of all titles
_RECORDED, _NUMBER = "compare_recorded", "compare_recorded_question"
READ_OF_IT, ALL_OF_IT = "read", "all"  # what the person wanted to see of the recording
FIRST = "Why did Ambrose Vane put out Harrow Light?"  # of the recorded questions, the one that is shown first


def signature_record(signature: Signature) -> dict[str, str]:
    """A signature as ``assets/compare/compare.js`` draws it: its name, and the rest of its line."""
    name = signature.line.split(":")[0] if signature.kind == BUILT_IN else signature.line.split(",")[0]
    name = signature.name if signature.kind not in (BUILT_IN, "recording") else name
    return {"kind": signature.kind, "name": name, "rest": signature.line.removeprefix(name)}


def head(comparison: Comparison, *, chosen: int = 1) -> None:
    """Draw what was asked, and of which of the ``chosen`` books where they are several."""
    with st.container(key="compare_asked", gap=None):
        if not comparison.recorded:  # the list of recorded questions says it
            st.header(as_text(comparison.question), anchor=False)
        if comparison.options:
            marks = [" — right" if i == comparison.correct else "" for i in range(len(comparison.options))]
            lettered = zip(LETTERS, comparison.options, marks, strict=False)
            st.text("\n".join(f"({letter}) {option}{mark}" for letter, option, mark in lettered))
        if judged := known_answer(comparison):
            st.caption(as_text(judged))
        if chosen > 1:
            compared = len(comparison.books)
            titles = shorten(", ".join(book.title for book in comparison.books), _TITLES, placeholder=" …")
            st.caption(as_text(f"{f'{compared} of ' if compared < chosen else ''}{chosen} books: {titles}"))


def show(comparison: Comparison, *, key: str, asked: int = 0) -> Act | None:
    """Draw the rows. Returns the press on a citation: its page, and its book (``of``) of several.

    ``asked``: how often the person asked in this session; with one more the head comes into view.
    """
    return show_rows(
        draw_comparison(comparison), key=key, signature=signature_record(comparison.signature), asked=asked
    )


def show_rows(
    rows: Sequence[Element], *, key: str, signature: dict[str, str] | None = None, asked: int = 0
) -> Act | None:
    """Draw elements. Returns the press on a citation, as ``show`` does."""
    draw = component("compare_rows", "compare/compare.js", style="compare/compare.css")
    data = {"rows": rows, "signature": signature, "asked": asked}
    act = act_of(draw(key=key, data=data, on_act_change=no_callback))
    return act if act and act.do == "open" else None


def mark_words(book_id: str, comparison: Comparison, act: Act, memory: GistMemory, whole: Document) -> None:
    """Have Read go to the words on the pressed page that the answer rests on, and mark them.

    ``memory``: of the pressed book, as far as the methods saw it; ``whole``: its text.
    """
    entry = next((one for one in comparison.entries if one.method == act.text), None)
    if entry is None or entry.answer is None:
        return
    number = next((n for n, book in enumerate(comparison.books, start=1) if book.id == act.of), 0)  # of several
    seen = [page for n in entry.answer.seen for of, page in [place_of(comparison.books, n)] if of == number]
    if number:  # words are looked for in each page that was seen, in whatever form
        checked = check_several(entry.text, {number: Source(memory, seen, seen)})
    else:
        checked = check(entry.text, memory, full=seen)
    mark_cited(book_id, checked, act.page, memory, whole)


def mark_cited(book_id: str, checked: Checked, page: int, memory: GistMemory, whole: Document) -> None:
    """Have Read mark the words on ``page`` that a checked answer rests on."""
    cited = [c for c in checked.citations if c.page == page and c.places]
    if spots := [spot for c in cited for spot in spots_of(c, memory, whole)]:
        st.session_state["cited_words"] = {"id": f"{book_id} {time.time()}", "spots": spots}


def save_buttons(comparison: Comparison) -> None:
    """Draw a button for each kind of file."""
    for kind, mime in COMPARISON_FORMATS.items():
        st.download_button(
            SAVE[kind],
            data=export_comparison(comparison, kind),
            file_name=comparison_file_name(comparison, kind),
            mime=mime,
            key=f"compare_save_{kind}",
            on_click="ignore",
        )


# --- recordings -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recording:
    """The recorded comparisons of a book. ``hidden``: its spoiler limit keeps a part of that book out."""

    book: Book
    comparisons: RecordedComparisons
    hidden: bool


def find_recording(workspace: Workspace, book: Book) -> Recording | None:
    """The recorded comparisons of ``book``, else those of another one in the library that are not hidden."""
    for candidate in (book, *(b for b in workspace.library.books() if b.id != book.id)):
        recording = recorded_comparisons(candidate, workspace.library.document(candidate.id))
        if recording is not None:
            return Recording(candidate, recording, current.has_unread(workspace, candidate))
    return None


def is_shown(recording: Recording) -> bool:
    """Whether the person wanted to see it, as far as it tells of pages that they have not read now."""
    shown = st.session_state.get(_RECORDED, "")
    return bool(shown == ALL_OF_IT or (shown and not recording.hidden))


def show_recording(what: str) -> None:
    """Show the recorded comparisons in the next run: ALL_OF_IT or READ_OF_IT; '' for no longer."""
    st.session_state[_RECORDED] = what


def offer(recording: Recording, *, boxed: bool = True) -> None:
    """Draw the button that shows recorded comparisons, with a line about them, and whether they tell too much."""
    book, comparisons = recording.book, recording.comparisons
    with st.container(border=boxed, horizontal=True, vertical_alignment="center", key="compare_offer"):
        if boxed:
            date, questions = comparisons.record["recorded"], len(comparisons.texts)
            told = f"{book.title}: {questions} questions as a large language model answered them, {date}."
            st.text(f"{told} They tell of pages that you have not read." if recording.hidden else told)
        label = "Show them" if boxed and recording.hidden else "Show a recorded comparison"
        if st.button(label, key="compare_show_recorded", icon=":material/album:",
                     type="secondary" if boxed else "tertiary", on_click=show_recording,
                     args=(ALL_OF_IT if recording.hidden else READ_OF_IT,)):  # fmt: skip
            st.rerun()


def recorded(recording: Recording) -> None:
    """Draw one of the recorded comparisons, with the list of the others and the way back."""
    book, comparisons = recording.book, recording.comparisons
    texts = comparisons.texts
    with st.container(horizontal=True, vertical_alignment="center", key="compare_recording"):
        numbers = "Pages are numbered as in the reading that was recorded; a press finds the words in yours."
        st.text(f"Recorded questions about {book.title}, not your own comparisons. {numbers}")
        if st.button("Close the recording", key="compare_close", on_click=show_recording, args=("",)):
            st.rerun()
    number = st.selectbox(
        "Recorded question",
        range(len(texts)),
        index=texts.index(FIRST) if FIRST in texts else 0,
        format_func=texts.__getitem__,
        key=_NUMBER,
        label_visibility="collapsed",
    )
    comparison = comparisons.comparison(number)
    head(comparison)
    act = show(comparison, key="compare_recorded_rows")
    if act is not None:
        paragraph = comparisons.memory.page(act.page).start
        mark_words(book.id, comparison, act, comparisons.memory, comparisons.document)
        current.read_at(book.id, paragraph, left="compare")
    with st.container(horizontal=True, vertical_alignment="center", key="compare_foot"):
        st.caption(FOOT)
        save_buttons(comparison)
