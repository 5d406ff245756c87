"""Read: the text of a book, with the pages and gists of a gisting in its margins, and the map of the book.

The text is the document's: it is here before any model was asked, and stays when one fails. The reader itself is a
component (assets/memory_view); this page sends it what to show and stores what the person does.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import streamlit as st

from pages.parts.read import ask_panel, book_text, how_far, look, marks, notes, start, study, two_places, veil, world
from pages.parts.read.original import original_of
from pages.parts.read.passages import spot_of
from pages.parts.shared import book as current
from pages.parts.shared import gisting_status as state
from pages.parts.shared import memory_view as view
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.chosen_books import choose_one
from pages.parts.shared.component import Act
from readagent_core.companion.place import find_place, save_place
from readagent_core.document import Document
from readagent_core.errors import ReadAgentError
from readagent_core.gisting import costs as gisting_costs
from readagent_core.gisting import job as workspace_gisting
from readagent_core.gisting.job import start_gisting
from readagent_core.library.records import Book, Gisting
from readagent_core.memory import Gist, GistMemory
from readagent_core.workspace import Workspace

KEY = "reader"
WORLD_OF = "world_of"  # in the session: the book whose text the browser has; from then on the reader sends its world
GOTO = current.HERE_ONLY + "goto"
LINES = "".join(f'<i style="width:{width}%"></i>' for width in (100, 96, 99, 62, 98, 100, 40))
LED_FROM = {  # by what the address says
    "ask": "Ask",
    "compare": "Compare",
    "evaluate": "Evaluate",
    current.NOTES: "Notes",
    current.MY_READING: "My reading",
}
SECONDS_UNTIL_WORLD = 0.2  # after the text
SECONDS_BETWEEN_CHECKS = 3.0  # of gists that have stopped: another tab may have resumed them
PLACEHOLDER = (
    f'<div class="arriving" role="status" aria-label="Opening the book"><b></b><p>{LINES}</p><p>{LINES}</p></div>'
)


def where_to_go(workspace: Workspace, book: Book, document: Document, memory: GistMemory | None) -> dict[str, Any]:
    """The place that the address names, by its paragraph or its page; else where the person was: a ``Goto``.

    The reader goes there once for every ``id``. The address counts when this screen is come to: from then on the
    browser keeps the place in it.
    """
    chosen, times = current.page_chosen()
    known = st.session_state.get(GOTO)
    key = (book.id, document.id, times)
    if known is not None and known[0] == key:
        found: dict[str, Any] = known[1]
        return found
    arriving = known is None or known[0][0] != book.id
    asked = chosen if chosen is not None else current.number_in_address("page") if arriving else None
    paragraph = current.number_in_address("paragraph") if arriving and chosen is None else None
    here_paragraph, offset = find_place(document, workspace.library.position(book.id))
    here = here_paragraph, book_text.browser_offset(document, here_paragraph, offset)
    there: tuple[int, int] | None = None
    if paragraph is not None and paragraph != here_paragraph:
        there = min(paragraph, len(document.paragraphs) - 1), book_text.ABOVE
    elif paragraph is None and asked is not None and memory is not None:
        if 1 <= asked <= len(memory.pages):
            there = book_text.place_of_page(memory, document, asked, unless=here)
        else:
            st.toast(f"The page of this address is not here: there are {len(memory.pages):,}. You are where you were.")
    to, at = there or here
    identity = f"{book.id} {to if there else ''} {times}"
    screen = LED_FROM.get(st.query_params.get("from", ""), "")
    before = list(here) if there or screen else None  # a way back also to who is on that page already
    found = {"paragraph": to, "at": at, "before": before, "screen": screen, "id": identity}
    st.session_state[GOTO] = (key, found)
    return found


def act(workspace: Workspace, book: Book, gisting: Gisting | None, done: Act) -> None:
    """Carry out an act of the person in the reader. Raises ReadAgentError."""
    library = workspace.library
    if done.do == "view":
        look.change_view(library, book.id, look.device(), done.text)
    elif done.do == "look":
        look.change_look(library, book.id, look.device(), json.loads(done.text))
        st.rerun()
    elif done.do == "again":  # another tab or device may have changed what is shown
        st.rerun()
    elif done.do == "settings":
        current.open_settings(book.id, done.text)
    elif done.do == "make":
        start.make_gists(workspace, book)
        st.rerun()
    elif done.do == "options":
        start.options_dialog(workspace, book)
    elif done.do in world.ACTS:
        world.act(workspace, book, done.do, done.text, gisting=gisting)
        st.rerun(scope="fragment")
    elif done.do in ("finish", "unfinish"):
        (library.finish if done.do == "finish" else library.unfinish)(book.id)
        st.rerun()  # its spoiler limit is on or off now
    elif done.do == "study":
        study.open_study(book)
    elif done.do == "notes_export":
        notes.open_export(book)
    elif done.do == "ask":
        ask_panel.toggle(book, words=done.text)
        st.rerun()
    elif gisting is not None:
        act_on_gists(workspace, book, gisting, done)


def act_on_gists(workspace: Workspace, book: Book, gisting: Gisting, done: Act) -> None:
    """Carry out an act that concerns the gists that are shown. Raises ReadAgentError."""
    library = workspace.library
    job = workspace.jobs.get(workspace_gisting.job_key(gisting))
    if done.do == "looked":  # the last answer that looked this page up
        asked = [exchange for exchange, pages in library.pages_opened(gisting.id).items() if done.page in pages]
        choose_one(book.id)
        st.switch_page("pages/ask.py", query_params={"book": book.id, **({"exchange": asked[-1]} if asked else {})})
    elif done.do in veil.ACTS:
        veil.act(workspace, gisting, done.do, done.page)
        st.rerun(scope="fragment")
    elif done.do == "pause":
        if job is not None:
            job.cancel()
            job.join(2)
        st.rerun()
    elif done.do == "hurry":
        if job is not None:
            job.hurry()
    elif done.do in ("go", "raise"):
        if done.do == "raise":
            gisting_costs.raise_budget(workspace, book.id)
        start_gisting(workspace, book.id, gisting.plan)
        st.rerun()
    elif done.do == "save":
        before = library.memory(gisting.id).gists[done.page - 1]
        if done.text.strip() and before is not None and done.text.strip() != before.text:
            library.store(gisting.id).save_gist(done.page, Gist(done.text.strip(), edited=True))
        st.rerun(scope="fragment")
    elif done.do == "regenerate_gist":
        start.gist_again(workspace, gisting, done.page, instruction=done.text)
        st.rerun()
    elif done.do == "reread":
        workspace_gisting.reread_from(workspace, gisting.id, done.page)
        st.rerun()
    elif done.do == "export":
        start.export_dialog(workspace, gisting)


def save_position(workspace: Workspace, book: Book, document: Document, at: dict[str, Any] | None) -> None:
    """Store where the person is and how far they have read. The browser has it in the address already.

    The component reports its last position with every run: one that was stored is not stored again.
    """
    told = st.session_state.get(f"stored_{book.id}")
    if not at or told == at:
        return
    st.session_state[f"stored_{book.id}"] = at
    if at.get("whole"):
        book_text.note_whole_text(document)
    library = workspace.library
    position = library.position(book.id)
    paragraph, place, furthest = int(at["paragraph"]), int(at["at"]), int(at["furthest"])
    offset = spot_of(document, (paragraph, place)).offset if place >= 0 else place
    if (paragraph, offset) != (position.paragraph, position.offset):
        save_place(library, document, book.id, paragraph, offset)
    st.session_state[f"place_{book.id}"] = paragraph, offset
    words = 0
    # another tab may have set it back: one that still has the old number did not read on
    known = max(position.furthest, int(told["furthest"]) if told else 0)
    if furthest > known or (at.get("by_hand") and furthest != position.furthest):
        words = library.set_furthest(book.id, furthest)
    library.log_reading(book.id, 0 if at.get("by_hand") else words)


def stored_place(book: Book) -> list[int] | None:
    """The place that the browser sent last, stored by now, as it sent it; None before one was stored."""
    told = st.session_state.get(f"stored_{book.id}")
    return [int(told["paragraph"]), int(told["at"])] if told else None


def place_elsewhere(workspace: Workspace, book: Book, document: Document) -> list[int] | None:
    """Where the person went in another tab or on another device since they were here; None without such a move."""
    position = workspace.library.position(book.id)
    stored = position.paragraph, position.offset
    if st.session_state.setdefault(f"place_{book.id}", stored) == stored:
        return None
    paragraph, offset = find_place(document, position)
    return [paragraph, book_text.browser_offset(document, paragraph, offset)]


def reader(
    workspace: Workspace,
    book: Book,
    document: Document,
    gisting: Gisting | None,
    *,
    goto: dict[str, Any],
    looked: tuple[dict[int, int], list[int]],
    running_before: bool,
) -> None:
    """The reader and what it asks for; a fragment that runs again while gists are made."""
    key = f"{KEY}_{book.id}"
    # they may have ended after the sidebar was drawn
    was_running = running_before or (gisting is not None and st.session_state.get("was_running") == gisting.id)
    memory, layer = None, None
    if gisting is not None:
        gisting = workspace.library.gisting(gisting.id)
        memory = state.memory_now(workspace, gisting, state.snapshot_of(workspace, gisting))
        layer = f"l{gisting.id}"
    save_position(workspace, book, document, getattr(st.session_state.get(key), "at", None))
    line = start.line_of(workspace, book, gisting, memory)
    if gisting is not None and memory is not None:
        covered = veil.veil_of(workspace, gisting, memory, document)  # of where the person is now
        book_text.send_layer(memory, document, scope=f"l{gisting.id}", veil=covered)
        veil.say(line, covered, workspace, gisting, document)
    st.session_state["was_running"] = gisting.id if gisting and line["running"] else None
    position = workspace.library.position(book.id)
    done = view.show_reader(
        key=key,
        data={
            "scope": book_text.text_scope(document),
            "book": book.id,
            "layer": layer,
            "count": len(memory.pages) if memory else 0,
            "gists": line,
            "goto": goto,
            "elsewhere": place_elsewhere(workspace, book, document),
            "stored": stored_place(book),
            "furthest": position.furthest,
            "finished": book.id in workspace.library.finished(),
            "limit": (position.limit or 0) if position.limited else None,
            "looked": looked[0],
            "lit": looked[1],
            "cited": st.session_state.get("cited_words"),
            "original": original_of(book),
            "look": look.look_in(workspace.library, book.id, look.device()),
            "view": look.view_in(workspace.library, book.id, look.device()),
            "gistPrice": start.gist_price(workspace, memory),
            "can": {
                "edit": gisting is not None and not gisting.recorded,
                "ask": bool(document.paragraphs),
            },
        },
    )
    at = getattr(st.session_state.get(key), "at", None) or {}
    seen = st.session_state[f"in_view_{book.id}"] = int(at.get("last", position.paragraph))
    stopped = line["state"] in ("paused", "failed", "waiting")
    again = 1.0 if line["running"] else SECONDS_BETWEEN_CHECKS if stopped else None
    if st.session_state.get(WORLD_OF) != book.id:  # the text does not wait for who is in it
        st.session_state[WORLD_OF] = book.id
        again = SECONDS_UNTIL_WORLD
    elif world.send(workspace, book, gisting, document, last_in_view=seen, running=line["running"]):
        again = again or 1.0
    polling.rerun_after(again, key="read")
    if done is not None:
        try:
            act(workspace, book, gisting, done)
        except ReadAgentError as error:
            st.toast(str(error), icon=":material/error:", duration="long")
    if was_running != line["running"]:  # last, so that the reader is drawn before the whole screen runs again
        st.rerun()


def sidebar(
    workspace: Workspace, book: Book, document: Document, gistings: list[Gisting], gisting: Gisting | None
) -> None:
    with st.sidebar:
        layer = f"l{gisting.id}" if gisting else None
        view.show_outline(scope=book_text.text_scope(document), layer=layer, key=f"outline_{book.id}")
        if gisting is not None:
            start.which_gisting(workspace, book, gistings, gisting)


def show() -> None:
    workspace = get_workspace()
    book = current.current(workspace)
    if book is None:
        shell.no_book("Read")
        return
    shell.set_title("Read", book.title, book.author)
    st.html(PLACEHOLDER)  # streamlit.css hides it as soon as there is something to read
    how_far.days_away(book)  # before it counts as opened
    workspace.library.touch(book.id)
    gistings = workspace.library.gistings(book.id)
    running = [job.key for job in workspace.jobs.running()]
    gisting = state.pick_gisting(gistings, st.session_state.get(f"reading_{book.id}"), running)
    document = workspace.library.document(book.id, document_id=gisting.document_id if gisting else None)
    memory = state.memory_now(workspace, gisting, state.snapshot_of(workspace, gisting)) if gisting else None
    goto = two_places.go(where_to_go(workspace, book, document, memory), workspace, book, document)
    st.session_state[GOTO] = (st.session_state[GOTO][0], goto)
    sidebar(workspace, book, document, gistings, gisting)
    two_places.draw(workspace, book, memory)
    notes.draw_export(workspace, book, gisting)
    study.draw(workspace, book, gisting)
    running_before = gisting is not None and (
        workspace_gisting.job_key(gisting) in running or start.gist_line(workspace, gisting) is not None
    )
    looked: tuple[dict[int, int], list[int]] = ({}, [])
    if gisting is not None:
        opened = list(workspace.library.pages_opened(gisting.id).values())
        counts = Counter(page for pages in opened for page in pages)
        looked = dict(sorted(counts.items())), sorted(opened[-1]) if opened else []
    st.fragment(reader)(workspace, book, document, gisting, goto=goto, looked=looked, running_before=running_before)
    book_text.send_text(document, words=book.words, first=goto["paragraph"])
    ask_panel.draw(workspace, book)
    marks.draw(workspace, book, document)  # last: the text does not wait for its marks


shell.draw(show)
