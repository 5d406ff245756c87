"""What the person does in the library: changes of it, and what opens another screen or a dialog."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.library import dialogs, my_reading, notes, recognition, series
from pages.parts.library.folders import cancel_import, choose_folder, is_offered, show_folder_report
from pages.parts.library.imports import dismiss_import, forget_finished, imports_of
from pages.parts.read.start import export_dialog
from pages.parts.shared import book as current
from pages.parts.shared.chosen_books import choose
from pages.parts.shared.component import Act
from readagent_core.errors import ReadAgentError
from readagent_core.gisting.job import start_gisting
from readagent_core.gisting.queue import put_in_queue
from readagent_core.library.records import Card
from readagent_core.workspace import Workspace

SCREENS = {"ask": "pages/ask.py", "compare": "pages/compare.py", "act": "pages/act.py"}


def change_library(workspace: Workspace, act: Act) -> None:
    """Do what changes the library, before the run that shows it. Another act is handled in the run (``follow``)."""
    library = workspace.library
    ids = [book_id for book_id in act.of.split(",") if book_id]
    changes: dict[str, Callable[[], object]] = {
        "remove": lambda: library.remove(*ids),
        "restore": lambda: library.restore(*ids),
        "add_shelf": lambda: library.add_shelf(act.text, ids),
        "remove_shelf": lambda: library.remove_shelf(act.text),
        "rename_shelf": lambda: library.rename_shelf(act.of, act.text),
        "put_on_shelf": lambda: library.put_on_shelf(ids, act.text),
        "take_off_shelf": lambda: library.take_off_shelf(ids, act.text),
        "add_tag": lambda: library.add_tag(ids, act.text),
        "remove_tag": lambda: library.remove_tag(ids, act.text),
        "go_on": lambda: go_on(workspace, act.of),
        "undo_series": lambda: series.undo(workspace),
        "dismiss": lambda: dismiss(workspace, act.of),
        "cancel_folder": lambda: cancel_import(workspace),
        "recognise": lambda: recognition.recognise_import(workspace, act.of),
        "pause_scan": lambda: recognition.pause(workspace, act.of),
        "resume_scan": lambda: recognition.resume(workspace, act.of),
    }
    if act.do not in changes:
        return
    try:
        changes[act.do]()
    except ReadAgentError as error:
        st.session_state["library_error"] = error


def dismiss(workspace: Workspace, keys: str) -> None:
    """Hide the note about files or a folder, whose ``keys`` are joined by commas."""
    for key in keys.split(","):
        dismiss_import(workspace, key)
        workspace.jobs.forget(key)  # the key of a folder is that of its job


def go_on(workspace: Workspace, book_id: str) -> None:
    """Continue the gisting that the card shows, by its own plan."""
    card = next(card for card in workspace.library.cards() if card.book.id == book_id)
    plan = workspace.library.gisting(card.gisting_id).plan if card.gisting_id is not None else None
    start_gisting(workspace, book_id, plan)


def open_screen(workspace: Workspace, act: Act | None) -> None:
    """Open the screen of a book that the person asked for, before the library is drawn once more for nothing.

    Raises NotInLibraryError.
    """
    if act is not None and act.do in {"open", *SCREENS}:
        book = workspace.library.book(act.of)
        forget_finished(workspace)
        if act.do == "open":
            return current.read_at(book.id, act.text)
        if act.do != "act":  # which leaves the other screens their book
            current.choose(book.id)
        st.switch_page(SCREENS[act.do], query_params={"book": book.id})


def show_dialog(workspace: Workspace, name: str) -> None:
    """Open the dialog of the notes or of one's own reading, with nothing to undo."""
    for removed in (notes.REMOVED, my_reading.REMOVED):
        st.session_state.pop(removed, None)
    dialogs_ = {current.NOTES: notes.show_all_notes, current.MY_READING: my_reading.show_my_reading}
    dialogs_[name](workspace)


def follow(workspace: Workspace, act: Act, books: tuple[Card, ...]) -> None:
    """Open the screen or the dialog that the person asked for."""
    if act.do in ("settings", "install"):
        st.session_state["install_model"] = act.do == "install"
        st.switch_page("pages/settings.py")
    elif act.do in ("queue", "gists"):
        if act.of:
            put_in_queue(workspace, act.of.split(","))
        st.switch_page("pages/gists.py")
    elif act.do == "catalogue":
        st.switch_page("pages/catalogue.py")
    elif act.do == "removed":
        dialogs.show_removed(workspace)
    elif act.do == "notes":
        show_dialog(workspace, current.NOTES)
    elif act.do == "my_reading":
        st.session_state.pop(my_reading.TAB, None)
        show_dialog(workspace, current.MY_READING)
    elif act.do == "series":
        series.put_in_order(workspace, series.draft_of(workspace, act.of.split(",")))
    elif act.do == "paste":
        st.session_state["pasting"] = True
    elif act.do == "folder" and is_offered(workspace):
        choose_folder(workspace)
    elif act.do == "folder_report":
        show_folder_report(workspace)
    elif act.do == "discard_scan":
        recognition.confirm_discard(workspace, act.of)
    elif act.do in ("ask_several", "compare_several"):
        forget_finished(workspace)
        page = SCREENS[act.do.removesuffix("_several")]
        st.switch_page(page, query_params=choose(act.text or "books", act.of.split(",")))
    elif act.do == "password":
        one = next((i for i in imports_of(workspace) if i.key == act.of), None)
        if one is not None:
            dialogs.ask_password(workspace, imports_of(workspace), one)
    card = next((card for card in books if card.book.id == act.of), None)
    if card is None:
        return
    if act.do == "name":
        dialogs.edit_names(workspace, card.book, card.tags)
    elif act.do == "finish":
        my_reading.finish_book(workspace, card.book)
    elif act.do == "report":
        dialogs.show_report(workspace, card.book)
    elif act.do == "make":
        dialogs.make_gists(workspace, card.book)
    elif act.do == "export":
        gisting_id = card.gisting_id
        if gisting_id is None or not workspace.library.memory(gisting_id).pages:
            dialogs.nothing_to_export(card.book)
        else:
            export_dialog(workspace, workspace.library.gisting(gisting_id))
