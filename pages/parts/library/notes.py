"""The dialog of the library that lists the marks of all books, to search them and to go there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import streamlit as st

from pages.parts.library import notes_folder
from pages.parts.library.folders import is_offered
from pages.parts.library.my_reading import draw_nothing
from pages.parts.read.marks import mark_record
from pages.parts.read.notes import USES
from pages.parts.shared import book as current
from pages.parts.shared import shell
from pages.parts.shared.component import Act, act_of, call_with_act
from pages.parts.shared.memory_view import show_notes
from readagent_core.export.notes import NOTES_FORMATS, export_all_notes
from readagent_core.library.marks import Mark
from readagent_core.library.records import Book
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.words import collapse_whitespace, first_words
from readagent_core.workspace import Workspace

NOTHING = (
    "No notes yet. Open a book and select some words: highlight them in a colour, or write a note. "
    "They gather here with your bookmarks and kept answers, from all books, to be searched and exported."
)
REMOVED = "removed_notes"  # while the dialog is open, in the session
_SAID_WORDS = 12


@st.dialog("Notes of all books", width="large")
def show_all_notes(workspace: Workspace) -> None:
    """List the marks of every book, those of the book opened last first."""
    every = workspace.library.all_marks()
    if not every and not st.session_state.get(REMOVED):
        draw_nothing("edit_note", NOTHING)
        if is_offered(workspace) and workspace.settings.saved.notes_folder:  # which may be stopped
            notes_folder.draw(workspace)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="all_notes_acts"):
        with st.popover("Export", icon=":material/download:"):
            for kind in ("readwise", "md", "csv"):
                st.download_button(
                    f"**{shell.FORMAT_NAMES[kind]}** {USES[kind]}",
                    data=lambda kind=kind: export_all_notes(workspace, kind),  # type: ignore[misc]
                    file_name=f"notes-{kind}.csv" if kind == "readwise" else f"notes.{kind}",
                    mime=NOTES_FORMATS[kind],
                    key=f"all_notes_{kind}",
                    on_click="ignore",
                    width="stretch",
                )
        if is_offered(workspace):
            notes_folder.draw(workspace)
    books = {book.id: book for book in workspace.library.books()}
    marks = groupby(every, key=lambda mark: mark.book_id)
    records = [_record(books[book_id], of_book) for book_id, of_book in marks if book_id in books]
    removed: list[Mark] = st.session_state.setdefault(REMOVED, [])
    if removed:
        _undo_line(workspace, removed)
    on_act = call_with_act(lambda act: _remove(workspace, act), "all_notes")
    done = act_of(show_notes(records, on_act_change=on_act))
    if done is not None and done.do == "open":
        current.read_from(current.NOTES, done.of, done.text)


def _remove(workspace: Workspace, act: Act) -> None:
    gone = workspace.library.remove_mark(act.text) if act.do == "remove" else None
    if gone:
        st.session_state[REMOVED].append(gone)


def _undo_line(workspace: Workspace, removed: list[Mark]) -> None:
    """Say what was removed last, while the dialog is open; each press on Undo brings one back."""

    def undo() -> None:
        workspace.library.put_mark(removed.pop())

    words = first_words(collapse_whitespace(removed[-1].note or removed[-1].exact), _SAID_WORDS)
    with st.container(horizontal=True, vertical_alignment="center", key="all_notes_undo"):
        st.text(f"Removed “{words}”." if words else "Removed the bookmark.", width="stretch")
        st.button("Undo", key="all_notes_undo_act", type="tertiary", width="content", on_click=undo)


def _record(book: Book, marks: Iterable[Mark]) -> dict[str, Any]:
    """``BookMarks`` of protocol.d.ts. The place of a mark is named by its section: pages belong to a gisting."""
    listed = [mark_record(mark) | {"page": mark.section} for mark in marks]
    about = {
        "id": book.id,
        "title": book.title,
        "language": book.language,
        "emphasis": EMPHASIS_SIGNS.get(book.format, ""),
    }
    return about | {"marks": listed}
