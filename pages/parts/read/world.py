"""What the reader shows of a book's world: names, what the pages tell of them, what happened.

The engine computes it from notes of pages, each with its place (``readagent_core.world``). The browser gets what the
pages up to the one that is read tell, never more unless the person lifts the limit, and computes cards, strips and
recaps from that for every place, down to the paragraph (assets/memory_view/world.js). Types: ``assets/protocol.d.ts``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.read.chapter_questions import study_data
from pages.parts.read.how_far import days_away, is_lifted, page_let_in, paragraphs_read
from pages.parts.read.series import series_data
from pages.parts.read.told import names_until, order_of_time, told_by_page
from pages.parts.shared.component import component
from readagent_core.companion.study import start_study
from readagent_core.document import Document
from readagent_core.errors import LimitError
from readagent_core.gisting.noting import notes_job_key, notes_price, start_notes
from readagent_core.jobs import Job
from readagent_core.library.records import Book, Gisting
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import World
from readagent_core.world.identity import Edit, EditKind
from readagent_core.world.names import find_names
from readagent_core.world.recap import previously
from readagent_core.world.storage import add_edit, load_world, world_of_text

ACTS = ("world_lift", "name_change", "name_undo", "notes_make", "notes_again", "study_make", "study_answer")
PAGES = 40  # in a batch
PAGE_AHEAD = 10_000  # characters, about a page: text in view so far beyond what was read is gone on to, not jumped to
NOTHING: dict[str, Any] = {
    "batches": 0,
    "by": "nobody",
    "made": 0,
    "running": False,
    "failed": [],
    "page": 0,
    "order": [],
}


# --- what is sent -----------------------------------------------------------------------------------


def send(
    workspace: Workspace,
    book: Book,
    gisting: Gisting | None,
    document: Document,
    *,
    last_in_view: int,
    running: bool,
) -> bool:
    """Put what is known of the book's world into the browser's store; whether names, notes or questions are being made.

    A batch that did not change is not sent again. ``running``: gists are being made, and notes with them.
    """
    job = workspace.jobs.get(notes_job_key(gisting.id)) if gisting else None
    noting = job is not None and job.running
    if _loading(workspace, gisting, document):
        return True
    show = component("reader_world", "memory_view/receive_world.js", html='<i class="root"></i>')
    facts, batches = world_data(
        workspace, book, gisting, document, last_in_view=last_in_view, running=running or noting, away=days_away(book)
    )
    with st.container(key=f"unseen_world_{book.id}"):
        for batch in batches:
            show(key=f"world_{book.id}_{batch['number']}", data={"kind": "notes", **batch})
        show(key=f"world_{book.id}", data={"kind": "world", **facts})
        if series := series_data(workspace, book):
            show(key=f"world_series_{book.id}", data={"kind": "series", **series})
        if gisting is not None:
            study = study_data(workspace, book, gisting, document)
            show(key=f"world_study_{book.id}", data={"kind": "study", **study})
            noting = noting or any(chapter["making"] for chapter in study["chapters"])
    return noting


def world_data(
    workspace: Workspace,
    book: Book,
    gisting: Gisting | None,
    document: Document,
    *,
    last_in_view: int,
    running: bool,
    away: int,
) -> tuple[dict[str, Any], Sequence[Mapping[str, Any]]]:
    """The ``WorldData`` of protocol.d.ts, and the batches of notes that go with it."""
    library = workspace.library
    facts = NOTHING | {
        "book": book.id,
        "model": workspace.model.is_language_model,
        "lifted": is_lifted(workspace, book),
        "away": away,
        "previously": [],
        "price": "",
        "corrections": 0,
    }
    if gisting is None:
        return _names_by_rule(workspace, book, document, facts, last_in_view=last_in_view)
    world = load_world(library, gisting.id)
    read = paragraphs_read(workspace, book, world, document)
    last = page_let_in(workspace, book, world, document, read=read, last_in_view=last_in_view)
    told = told_by_page(world, document)[:last]
    shown = min(last, len(world.memory.pages))
    with_notes = {number for number, made in world.notes.items() if not made.failed}
    failed = [n for n in range(1, shown + 1) if n in world.notes and world.notes[n].failed]
    made = next((n - 1 for n in range(1, shown + 1) if n not in world.notes), shown)
    page_read = sum(page.start < read for page in world.memory.pages)
    before = previously(world, page_read, read - 1) if page_read and away else ()
    batches: list[dict[str, Any]] = [
        {
            "book": book.id,
            "number": at // PAGES,
            "names": [name for page in told[at : at + PAGES] for name in page.names],
            "notes": [note for page in told[at : at + PAGES] for note in page.notes],
            "links": [link for page in told[at : at + PAGES] for link in page.links],
        }
        for at in range(0, len(told), PAGES)
    ]
    for batch in batches:  # a description is a name on the pages of which notes say so, of those that are let in
        batch["names"] = [names_until(name, last) for name in batch["names"]]
    named = any(batch["names"] for batch in batches)
    return facts | {
        "batches": len(batches),
        "by": "model" if with_notes else "rule" if named else "nobody",
        "made": made,
        "running": running,
        "failed": failed,
        "page": shown,
        "order": order_of_time(world, told),
        "price": "" if running else price_of_notes(workspace, gisting, world),
        "previously": [[line.text, line.page, line.name] for line in before],
        "corrections": len(world.edits),
    }, batches


def _loading(workspace: Workspace, gisting: Gisting | None, document: Document) -> bool:
    """Whether the names in a book are still being found, which takes a second or more: a job does it, not the run."""

    def work(_job: Job) -> None:
        if gisting is None:
            find_names(document)
        else:
            load_world(workspace.library, gisting.id)

    key = f"names {gisting.id if gisting else document.id}"
    try:
        job = workspace.jobs.get(key) or workspace.jobs.start(key, work)
    except LimitError:  # then this run does it
        return False
    return job.running


def _names_by_rule(
    workspace: Workspace, book: Book, document: Document, facts: dict[str, Any], *, last_in_view: int
) -> tuple[dict[str, Any], Sequence[Mapping[str, Any]]]:
    """The names in a book without gists that its paragraphs up to those on the screen tell, in one batch."""
    world = world_of_text(workspace.library, book.id, document)
    read = paragraphs_read(workspace, book, world, document)
    between = document.paragraphs[read : last_in_view + 1]
    goes_on = sum(len(paragraph.text) for paragraph in between) <= PAGE_AHEAD  # a place jumped to is not let in
    last = len(document.paragraphs) if facts["lifted"] else max(read, last_in_view + 1 if goes_on else 0)
    (told,) = told_by_page(world, document)
    names = [name for name in told.names if name["from"] < last]
    links = [link for link in told.links if link["from"] < last]
    batch = {"book": book.id, "number": 0, "names": names, "notes": [], "links": links}
    found = {"batches": 1, "by": "rule"} if names else {}
    return facts | {**found, "corrections": len(world.edits)}, [batch] if names else ()


def price_of_notes(workspace: Workspace, gisting: Gisting, world: World) -> str:
    """What the notes that are missing would cost, in a sentence; '' where none is missing or no model is connected."""
    if not workspace.model.is_language_model or len(world.notes) >= len(world.memory.pages):
        return ""
    known = st.session_state.setdefault("price_of_notes", {})
    key = (gisting.id, len(world.notes), len(world.memory.pages), workspace.model.name)
    if key not in known:
        known[key] = notes_price(workspace, gisting.id)
    price: str = known[key]
    return price


# --- what the person does -----------------------------------------------------------------------------


def act(workspace: Workspace, book: Book, do: str, text: str, *, gisting: Gisting | None = None) -> None:
    """Carry out one of ``ACTS``. Raises ReadAgentError."""
    library = workspace.library
    if do == "world_lift":
        library.set_limit(book.id, on=not text)
    elif do == "notes_make" and gisting is not None:
        start_notes(workspace, gisting.id)
    elif do == "notes_again" and gisting is not None:
        notes = load_world(library, gisting.id).notes
        start_notes(workspace, gisting.id, [number for number, made in notes.items() if made.failed])
    elif do == "study_make" and gisting is not None:
        start_study(workspace, gisting.id, int(text), read_to=len(library.memory(gisting.id).pages))
    elif do == "study_answer":
        question, knew = json.loads(text)
        name = f"study {book.id}"
        library.set_preference(name, library.preference(name, {}) | {str(question): int(bool(knew))})
    elif do == "name_undo":
        for number, _ in library.name_edits(book.id)[-1:]:
            library.remove_name_edit(book.id, number)
    elif do == "name_change":
        change = json.loads(text)
        edit = Edit(EditKind(change["do"]), change["name"], change.get("other", ""), change.get("paragraph", 0))
        add_edit(library, book.id, edit)
