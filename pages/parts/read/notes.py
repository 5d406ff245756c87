"""The dialog over the reader that exports the notes of a book as a file and takes exported ones in."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.shared import shell
from readagent_core.companion.marks import import_marks, undo_import
from readagent_core.errors import ReadAgentError
from readagent_core.export.notes import NOTES_FORMATS, export_notes, from_json, notes_file_name
from readagent_core.library.records import Book, Gisting
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

OPENED = "notes_opened"  # the book whose dialog is open, in the session
USES = {
    "md": "for note-taking programs",
    "csv": "for spreadsheets",
    "json": "to open here again",
    "readwise": "CSV, as it imports it",
}


def open_export(book: Book) -> None:
    """Open the dialog."""
    st.session_state[OPENED] = book.id
    st.rerun()


def draw_export(workspace: Workspace, book: Book, gisting: Gisting | None) -> None:
    """Draw the dialog if it is open for this book; called by the screen itself, so that its parts do not close it."""
    if st.session_state.get(OPENED) == book.id:
        st.dialog("Export notes", on_dismiss=lambda: st.session_state.pop(OPENED, None))(_body)(
            workspace, book, gisting
        )


def _body(workspace: Workspace, book: Book, gisting: Gisting | None) -> None:
    count = len(workspace.library.marks(book.id))
    st.caption(f"{count_of(count, 'mark')} in this book." if count else "Nothing is marked in this book yet.")
    for kind, use in USES.items() if count else ():
        shell.save_button(
            f"**{shell.FORMAT_NAMES[kind]}** {use}",
            lambda kind=kind: _file(workspace, book, gisting, kind),
            notes_file_name(book, kind),
            mime=NOTES_FORMATS[kind],
            key=f"notes_{kind}",
            width="stretch",
        )
    upload = st.file_uploader("Take in notes that were exported as JSON", key=f"notes_import_{book.id}")
    taken = st.session_state.setdefault("notes_taken", {})  # the file that was taken in last, and what to undo
    if upload is None:
        taken.clear()
        return
    if taken.get("file") != upload.file_id:
        taken.clear()
        taken["file"] = upload.file_id
        try:
            found = from_json(upload.getvalue().decode("utf-8", "replace"))
            taken["imported"] = import_marks(workspace.library, book.id, found.marks, damaged=len(found.damaged))
        except ReadAgentError as error:
            taken["error"] = error
        st.rerun()  # the reader shows them
    if "error" in taken:
        shell.error_box(taken["error"])
    elif taken.get("imported") is not None:
        _say_imported(workspace, taken)


def _say_imported(workspace: Workspace, taken: dict[str, Any]) -> None:
    """Say what was taken in, with Undo."""
    imported = taken["imported"]
    parts = [f"{count_of(len(imported.added), 'mark')} added", f"{len(imported.replaced)} replaced"]
    if imported.lost:
        parts.append(f"{imported.lost} not found in this text: see the end of the list")
    if imported.damaged:
        parts.append(f"{imported.damaged} of the file could not be read")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{', '.join(parts)}.")
        if st.button("Undo", key="notes_undo"):
            undo_import(workspace.library, imported)
            taken["imported"] = None
            st.rerun()


def _file(workspace: Workspace, book: Book, gisting: Gisting | None, kind: str) -> bytes:
    memory = workspace.library.memory(gisting.id) if gisting else None
    return export_notes(workspace.library, book.id, kind, memory=memory)
