"""The library: every book with how far the person and its gists are, and a place to drop new ones.

The screen is one component (assets/library), which gets all books at once and sorts, filters and searches their titles
in the browser. An invisible second one asks for covers, searches of the texts and the progress of gists.
"""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

from pages.parts.library import acts, cards, dialogs, folders, my_reading, recognition, series
from pages.parts.library.first_visit import first_visit, is_first_visit
from pages.parts.library.imports import add_imports, import_record, imports_of, start_import
from pages.parts.settings import backups
from pages.parts.shared import book as current
from pages.parts.shared import covers, polling, shell
from pages.parts.shared.cached import get_workspace, news_of_start
from pages.parts.shared.component import Act, act_of, call_with_act, component, no_callback
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.gisting.queue import load_queue
from readagent_core.incoming.opening import READING_SUFFIX
from readagent_core.library.records import Card
from readagent_core.library.upkeep import start_upkeep
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.formats import PACKED
from readagent_core.model_names import short_name
from readagent_core.workspace import Workspace

FORMATS_TAKEN = ",".join((*FORMATS, PACKED, READING_SUFFIX))
KEYS = "library", "library_first"  # of the component
POLL_SECONDS = 1.0
COVER_SECONDS = 0.3  # then what is made is sent: the browser asks for the rest again
FILE_SECONDS, FEW_SECONDS = 0.3, 5.0  # most files open within a second: a look waits for them


def screen(workspace: Workspace, books: tuple[Card, ...]) -> Act | None:
    """Draw the component and return what the person did there."""
    running = cards.running_gists(workspace)
    mount = component("library", "library/main.js", style="shared/cover.css library/library.css")
    imports = (import_record(workspace, one) for one in imports_of(workspace))
    common = {
        "imports": [*folders.folder_records(workspace), *recognition.scan_records(workspace), *filter(None, imports)],
        "folders": folders.is_offered(workspace),
        "formats": FORMATS_TAKEN,
        "most": DEFAULT.file,
        "place": "server" if workspace.settings.team else "computer",
        "model": short_name(workspace.model.name) if workspace.model.is_language_model else "",
    }
    removed = workspace.library.removed()
    if is_first_visit(workspace, books, removed):
        data, key = first_visit(workspace, books), KEYS[1]
    else:
        key = KEYS[0]
        stored = workspace.library.books_with_original()
        data = {
            "kind": "library",
            "books": [
                cards.book_record(card, cards.gists_of(workspace, card, running), original=card.book.id in stored)
                for card in books
            ],
            "shelves": [shelf.name for shelf in workspace.library.shelves()],
            "removed": len(removed),
            "waiting": len(load_queue(workspace).books),
            "size": shell.file_size(workspace.library.storage()),
            "said": st.session_state.pop(series.SAID, None),
        }
    on_act = call_with_act(lambda act: acts.change_library(workspace, act), key)
    with st.container(key="library_screen"):
        return act_of(mount(key=key, data=data | common, on_act_change=on_act))


def take_files(workspace: Workspace) -> None:
    """Streamlit's uploader, which is not seen: assets/library/adding.js gives it the files."""
    turn = st.session_state.setdefault("drop_turn", 0)
    with st.container(key="unseen_drop"):
        uploads = st.file_uploader("Add books", accept_multiple_files=True, key=f"drop_{turn}")
    if uploads:
        add_imports(workspace, [start_import(workspace, upload.name, upload.getvalue()) for upload in uploads])
        st.session_state["drop_turn"] = turn + 1  # the next run has an uploader without these files
        st.rerun()


def under_way(workspace: Workspace) -> set[str]:
    """What the screen waits for: gists being made, and files with how far each is."""
    snapshots = [(one.key, one.job.snapshot) for one in imports_of(workspace) if one.job.running]
    files = {f"{key} {now.value} {10 * now.done // max(1, now.total)}" for key, now in snapshots}  # ten steps a file
    gists = {job.key for job in cards.running_gists(workspace).values()}
    return files | gists | folders.under_way(workspace) | recognition.under_way(workspace)


@st.fragment
def feed(workspace: Workspace, books: tuple[Card, ...], before: set[str]) -> None:
    """What the screen asks for later. It runs by itself while something is under way.

    ``before``: what was under way when ``books`` were loaded. When some of it has ended, the whole screen runs again.
    """
    asked = getattr(st.session_state.get("library_feed"), "ask", None) or {}
    opening = next((one.job for one in imports_of(workspace) if one.job.running), None)
    if opening and time.time() - opening.snapshot.started > FEW_SECONDS:
        opening = None
    if opening and polling.asked("library"):
        opening.join(FILE_SECONDS)
    now = under_way(workspace)
    upkeep = workspace.jobs.get("upkeep")
    preparing = upkeep is not None and upkeep.running and asked.get("query")
    seconds = FILE_SECONDS if opening else POLL_SECONDS if before or now or preparing else None
    looked = polling.rerun_after(seconds, key="library")
    mount = component("library_feed", "library/feed.js")
    with st.container(key="unseen_feed"):
        mount(key="library_feed", data=feed_data(workspace, books, asked), on_ask_change=no_callback)
    if looked and before - now:
        st.rerun()


def feed_data(workspace: Workspace, books: tuple[Card, ...], asked: dict[str, Any]) -> dict[str, Any]:
    """The pictures, the places in the texts and the progress that the browser ``asked`` for."""
    known = {card.book.id: card for card in books}
    pictures: dict[str, str | None] = {}
    begun = time.monotonic()
    for book_id in asked.get("covers", []):
        if book_id in known and (not pictures or time.monotonic() - begun < COVER_SECONDS):
            pictures[book_id] = covers.thumbnail(workspace.library, known[book_id].book)
    found = None
    if query := str(asked.get("query", "")):
        count = int(asked.get("books", 0))
        hits = workspace.library.search_all(query, limit=count + 1)
        shown = list(dict.fromkeys(hit.book_id for hit in hits))[:count]
        found = {
            "query": query,
            "hits": [
                cards.hit_record(hit, known[hit.book_id])
                for hit in hits
                if hit.book_id in shown and hit.book_id in known
            ],
            "more": any(hit.book_id not in shown for hit in hits),
            "waiting": workspace.library.unsearchable(),
        }
    return {
        "kind": "feed",
        "covers": pictures,
        "gists": {
            workspace.library.gisting(number).book_id: cards.running_record(job.snapshot)
            for number, job in cards.running_gists(workspace).items()
        },
        "found": found,
    }


def show() -> None:
    workspace = get_workspace()
    gone: NotInLibraryError | None = None
    try:
        for key in KEYS:
            acts.open_screen(workspace, act_of(st.session_state.get(key)))
    except NotInLibraryError as removed:  # in another tab
        gone = removed
    before = under_way(workspace)
    books = cards.without_tried(workspace, workspace.library.cards())
    if not all(card.searchable for card in books):
        start_upkeep(workspace.library, workspace.jobs)
    with st.container(key="library_errors"):  # always there, so that what follows has the same place in every run
        if missing := shell.missing_setting():
            shell.error_box(SettingsError(missing))
        backups.tell_of_restore(workspace)
        if error := st.session_state.pop("library_error", None):
            shell.error_box(error)
        if gone:
            shell.error_box(gone)
    act = screen(workspace, books)
    take_files(workspace)
    feed(workspace, books, before)
    if news := news_of_start():
        st.toast(news, duration="long")
    try:
        if act is not None:
            acts.follow(workspace, act, books)
        elif left := current.came_back() or st.session_state.pop(current.AGAIN, ""):
            acts.show_dialog(workspace, left)
        for asked, dialog in (("finishing", my_reading.change_finished), ("making", dialogs.make_gists)):
            book_id = st.session_state.pop(asked, "")  # by another dialog
            for card in books:
                if card.book.id == book_id:
                    dialog(workspace, card.book)
        if st.session_state.get("pasting"):
            dialogs.paste(workspace)
    except NotInLibraryError as error:  # removed in another tab
        shell.error_box(error)


shell.draw(show)
