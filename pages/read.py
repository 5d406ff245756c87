"""Read: the text of every page beside its gist, the pauses with their reasons, and the map of the book.

The reader itself is the memory view; this page sends it what to show and stores what the person does.
"""

from __future__ import annotations

import json
import time

import streamlit as st

from pages.parts.read import start
from pages.parts.shared import book as current
from pages.parts.shared import memory_view as view
from pages.parts.shared import polling, shell
from pages.parts.shared import reading_status as state
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Book, Reading
from readagent_core.memory import Gist, GistMemory
from readagent_core.workspace import Workspace, costs
from readagent_core.workspace import reading as workspace_reading
from readagent_core.workspace.reading import start_reading

KEY = "reader"
LINES = "".join(f'<i style="width:{width}%"></i>' for width in (100, 96, 99, 62, 98, 100, 40))
SECONDS_BETWEEN_CHECKS = 3.0  # of a paused reading: another tab may have resumed it
PLACEHOLDER = (
    f'<div class="arriving" role="status" aria-label="Opening the book"><b></b><p>{LINES}</p><p>{LINES}</p></div>'
)


def where_to_go(workspace: Workspace, book: Book, memory: GistMemory) -> dict[str, object]:
    """The page that the address names, else where the person was.

    A reading without that page yet begins at its first page: the reader goes there once for every ``id``, so a page
    that is read later does not take the person away from where they are by then.
    """
    whole = workspace.library.document(book.id)
    asked, asked_now = current.page_asked()
    paragraph = state.limited_paragraph(memory.document, whole, workspace.library.position(book.id).paragraph)
    there = memory.page_at(paragraph)
    if there is None:
        return {"page": 1, "paragraph": None, "id": f"{book.id} {asked_now}"}
    if asked is None or there.number == asked:
        return {"page": there.number, "paragraph": paragraph, "id": f"{book.id} {asked_now}"}
    return {"page": asked, "paragraph": None, "id": f"{book.id} {asked} {asked_now}"}


def act(workspace: Workspace, book: Book, reading: Reading, done: Act) -> None:
    """Carry out an act of the person in the reader. Raises ReadAgentError."""
    library = workspace.library
    job = workspace.jobs.get(workspace_reading.job_key(reading))
    if done.do == "view":
        library.set_preference("view", done.text)
    elif done.do == "look":
        library.set_preference("look", state.look_of(json.loads(done.text)))
        st.rerun()
    elif done.do == "pause":
        if job is not None:
            job.cancel()
            job.join(2)
        st.rerun()
    elif done.do == "hurry":
        if job is not None:
            job.hurry()
    elif done.do == "raise":
        costs.raise_budget(workspace, book.id)
        start_reading(workspace, book.id, reading.plan)
        st.rerun()
    elif done.do == "settings":
        st.switch_page("pages/settings.py")
    elif done.do == "go":
        start_reading(workspace, book.id, reading.plan)
        st.rerun()
    elif done.do == "save":
        before = library.memory(reading.id).gists[done.page - 1]
        if done.text.strip() and before is not None and done.text.strip() != before.text:
            library.store(reading.id).save_gist(done.page, Gist(done.text.strip(), edited=True))
        st.rerun(scope="fragment")
    elif done.do == "regenerate_gist":
        start.gist_again(workspace, reading, done.page, instruction=done.text)
        st.rerun()
    elif done.do == "reread":
        workspace_reading.reread_from(workspace, reading.id, done.page)
        st.rerun()
    elif done.do == "ask":
        current.choose(book.id)
        st.session_state["ask_page"] = done.page or None
        st.switch_page("pages/ask.py")
    elif done.do == "export":
        start.export_dialog(workspace, reading)


def save_position(workspace: Workspace, book: Book, memory: GistMemory, at: dict[str, int] | None) -> None:
    """Store where the person is, also in the address, so that a link opens there."""
    if not at or not memory.pages:
        return
    whole = workspace.library.document(book.id)
    paragraph = state.whole_paragraph(memory.document, whole, int(at["paragraph"]))
    if paragraph != workspace.library.position(book.id).paragraph:
        workspace.library.set_position(book.id, paragraph)
    current.set_address(book=book.id, page=int(at["page"]))


def reader(
    workspace: Workspace,
    book: Book,
    reading: Reading,
    *,
    goto: dict[str, object],
    looked: tuple[dict[int, int], list[int]],
    running_before: bool,
) -> None:
    """The reader and what it asks for; a fragment that runs again while a reading continues."""
    scope = f"r{reading.id}"
    key = f"{KEY}_{reading.id}"
    # it may have ended after the sidebar was drawn
    was_running = running_before or st.session_state.get("was_running") == reading.id
    snapshot = state.snapshot_of(workspace, reading)
    reading = workspace.library.reading(reading.id)
    memory = state.memory_now(workspace, reading, snapshot)
    gist_line = start.gist_line(workspace, reading)
    running = (snapshot is not None and snapshot.state == "running") or gist_line is not None
    st.session_state["was_running"] = reading.id if running else None
    view.send_pages(memory, scope=scope)
    asked = getattr(st.session_state.get(key), "query", None) or {"text": "", "page": 1}
    query = str(asked["text"])
    hits = workspace.library.search(reading.id, query) if query else []
    done, result = view.show_reader(
        memory,
        scope=scope,
        key=key,
        state={
            "job": gist_line
            or state.job_line(
                snapshot,
                reading,
                memory,
                now=time.time(),
                budget=costs.exceeded_budget(workspace, reading),
                slowed=workspace.model.limiter.notice if workspace.model.limiter else "",
            ),
            "hits": view.hits_payload(query, hits, memory, near=int(asked["page"])),
            "goto": goto,
            "looked": looked[0],
            "lit": looked[1],
            "look": state.look_of(workspace.library.preference("look", {})),
            "view": workspace.library.preference("view", "both"),
            "can": {"edit": not reading.recorded, "ask": bool(memory.readable)},
        },
    )
    paused = not memory.complete and not reading.recorded
    polling.rerun_after(1.0 if running else SECONDS_BETWEEN_CHECKS if paused else None, key="read")
    save_position(workspace, book, memory, getattr(result, "at", None))
    if done is not None:
        try:
            act(workspace, book, reading, done)
        except ReadAgentError as error:
            st.toast(str(error), icon=":material/error:", duration="long")
    if was_running != running:  # last, so that the reader is drawn before the whole screen runs again
        st.rerun()


def sidebar(workspace: Workspace, book: Book, readings: list[Reading], reading: Reading | None) -> None:
    with st.sidebar:
        current.picker(workspace, book)
        if reading is not None:
            memory = state.memory_now(workspace, reading, state.snapshot_of(workspace, reading))
            view.show_outline(memory, scope=f"r{reading.id}", key=f"outline_{reading.id}")
            start.which_reading(workspace, book, readings, reading)
    shell.model_line(workspace.model)


def show() -> None:
    workspace = get_workspace()
    book = current.current(workspace)
    if book is None:
        shell.no_book("Read")
        return
    st.html(PLACEHOLDER)  # streamlit.css hides it as soon as there is something to read
    workspace.library.touch(book.id)
    readings = workspace.library.readings(book.id)
    running = [job.key for job in workspace.jobs.running()]
    reading = state.pick_reading(readings, st.session_state.get(f"reading_{book.id}"), running)
    sidebar(workspace, book, readings, reading)
    if reading is None:
        start.panel(workspace, book)
        return
    goto = where_to_go(workspace, book, state.memory_now(workspace, reading, state.snapshot_of(workspace, reading)))
    exchanges = [e for c in workspace.library.conversations(book.id) for e in workspace.library.exchanges(c.id)]
    running_before = workspace_reading.job_key(reading) in running or start.gist_line(workspace, reading) is not None
    looked = state.looked_up(exchanges, reading.id), state.looked_up_last(exchanges, reading.id)
    st.fragment(reader)(workspace, book, reading, goto=goto, looked=looked, running_before=running_before)


shell.draw(show)
