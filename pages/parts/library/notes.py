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
from pages.parts.shared.component import act_of, no_callback
from pages.parts.shared.memory_view import show_notes
from readagent_core.export.notes import NOTES_FORMATS, export_all_notes
from readagent_core.library.marks import Mark
from readagent_core.library.records import Book
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.workspace import Workspace

NOTHING = (
    "No notes yet. Open a book and select some words: highlight them in a colour, or write a note. "
    "They gather here with your bookmarks and kept answers, from all books, to be searched and exported."
)


@st.dialog("Notes of all books", width="large")
def show_all_notes(workspace: Workspace) -> None:
    """List the marks of every book, those of the book opened last first."""
    every = workspace.library.all_marks()
    if not every:
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
    done = act_of(show_notes(records, on_act_change=no_callback))
    if done is not None and done.do == "open":
        current.choose(done.of)
        st.switch_page("pages/read.py", query_params={"book": done.of, "paragraph": done.text})


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
