"""The dialog of the library that lists the marks of all books, to search them and to go there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import streamlit as st

from pages.parts.read.marks import mark_record
from pages.parts.shared import book as current
from pages.parts.shared.component import act_of, no_callback
from pages.parts.shared.memory_view import EMPHASIS_SIGNS, show_notes
from readagent_core.library.marks import Mark
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace


@st.dialog("Notes of all books", width="large")
def show_all_notes(workspace: Workspace) -> None:
    """List the marks of every book, those of the book opened last first."""
    books = {book.id: book for book in workspace.library.books()}
    marks = groupby(workspace.library.all_marks(), key=lambda mark: mark.book_id)
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
