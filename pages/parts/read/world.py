"""What the reader shows of a book's world: names, what the pages tell of them, what happened.

The engine computes it from notes of pages, each with its place (``readagent_core.world``). The browser gets what the
pages up to the one that is read tell, never more unless the person lifts the limit, and computes cards, strips and
recaps from that for every place, down to the paragraph (assets/memory_view/world.js). Types: ``assets/protocol.d.ts``.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st

from pages.parts.read.book_text import whole_places
from pages.parts.shared.component import component
from pages.parts.shared.memory_view import utf16_offset
from readagent_core.companion.series import SeriesBook, previously_in_series, series_books, series_cast
from readagent_core.companion.study import chapter_pages, load_study, start_study
from readagent_core.document import Document
from readagent_core.gisting.noting import notes_job_key, notes_price, start_notes
from readagent_core.jobs import JobState
from readagent_core.library import Library
from readagent_core.library.records import Book, Gisting
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import HAPPENS, World
from readagent_core.world.identity import Edit, EditKind, LinkBy, NameAt
from readagent_core.world.names import is_description, name_key, spellings
from readagent_core.world.notes import Note, NoteKind
from readagent_core.world.recap import previously
from readagent_core.world.storage import add_edit, load_world
from readagent_core.world.times import in_order_of_time

ACTS = ("world_lift", "name_change", "name_undo", "notes_make", "notes_again", "study_make", "study_answer")
PAGES = 40  # in a batch
MOST_EARLIER = 3  # lines of somebody from an earlier book
DAY = 24 * 3600
NOTHING: dict[str, Any] = {
    "batches": 0,
    "by": "nobody",
    "made": 0,
    "running": False,
    "failed": [],
    "page": 0,
    "order": [],
}


@dataclass
class Told:
    """What one page tells, as the browser takes it: ``NameRecord``, ``NoteRecord`` and ``LinkRecord`` of protocol.d.ts.

    ``events``: for each note what a timeline needs to put it in the order of time, None for what is no event.
    """

    names: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    events: list[tuple[tuple[int, int, int], str] | None] = field(default_factory=list)


_told: WeakKeyDictionary[World, dict[str, list[Told]]] = WeakKeyDictionary()


def told_by_page(world: World, document: Document) -> list[Told]:
    """What each page tells, page 1 first; what comes after the last page is a page of its own."""
    known = _told.setdefault(world, {})
    if document.id not in known:
        known[document.id] = _records(world, document)
    return known[document.id]


def _records(world: World, document: Document) -> list[Told]:
    memory = world.memory
    places = whole_places(memory.document, document)
    told = [Told() for _ in range(len(memory.pages) + 1)]

    def page_of(paragraph: int) -> Told:
        page = memory.page_at(paragraph)
        return told[page.number - 1 if page else -1]

    def whole(paragraph: int) -> int:
        return places[min(paragraph, len(places) - 1)][0]

    def offset(paragraph: int, at: int) -> int:
        return places[paragraph][1] + utf16_offset(memory.document.paragraphs[paragraph].text, at)

    noted: defaultdict[str, set[int]] = defaultdict(set)
    for made in world.notes.values():
        for note in made.notes:
            noted[name_key(note.name)].add(note.page)
    for name in world.names.values():
        page_of(name.paragraph).names.append(_name(name, whole(name.paragraph), noted[name.key]))
    for made in world.notes.values():
        for note in made.notes:
            page = page_of(note.known_from)
            page.notes.append(_note(note, whole(note.known_from), whole(note.paragraph), offset))
            happens = note.kind in HAPPENS
            page.events.append(((note.paragraph, note.start, note.end), note.when) if happens else None)
    for link in world.links:
        told_so = {"told": 1} if link.by in (LinkBy.TEXT, LinkBy.MODEL) else {}
        record = {"a": name_key(link.name), "b": name_key(link.other), "from": whole(link.paragraph), **told_so}
        page_of(link.paragraph).links.append(record)
    return told


def _name(name: NameAt, paragraph: int, pages: set[int]) -> dict[str, Any]:
    spelled = sorted(spellings(name.name))
    record: dict[str, Any] = {"of": name.key, "kind": name.kind.value, "name": name.name, "from": paragraph}
    if spelled != [name.name]:
        record["spelled"] = spelled
    if is_description(name.name):
        record["pages"] = sorted(pages)
    return record


def _note(note: Note, known_from: int, paragraph: int, offset: Callable[[int, int], int]) -> dict[str, Any]:
    optional = {"time": note.when, "other": note.other if note.kind in (NoteKind.RELATED, NoteKind.SAME) else ""}
    return {
        "of": [name_key(note.name)],
        "page": note.page,
        "kind": note.kind.value,
        "text": note.says,
        "from": known_from,
        "at": [paragraph, offset(note.paragraph, note.start)],
        "end": offset(note.paragraph, note.end),
    } | {name: value for name, value in optional.items() if value}


# --- how far ----------------------------------------------------------------------------------------


def paragraphs_read(workspace: Workspace, book: Book, world: World, document: Document) -> int:
    """How many paragraphs of the world's own document count as read, or are let in by a limit set by hand."""
    position = workspace.library.position(book.id).on_screen
    bound = position.furthest if position.allowed is None else position.allowed
    return document.count_in(world.memory.document, min(bound, len(document.paragraphs)))


def page_let_in(
    workspace: Workspace, book: Book, world: World, document: Document, *, read: int, last_in_view: int
) -> int:
    """The last page whose notes the browser may have: the one that is read, also where only its beginning is in view.

    ``read``: see ``paragraphs_read``. ``last_in_view``: the last paragraph of ``document`` on the screen.
    """
    pages = world.memory.pages
    if is_lifted(workspace, book):
        return len(pages) + 1
    page = sum(one.start < read for one in pages)
    if pages and read > pages[-1].end:
        page = len(pages) + 1
    seen = document.count_in(world.memory.document, min(last_in_view + 1, len(document.paragraphs)))
    ahead = sum(one.start < max(seen, 1) for one in pages)
    return max(page, ahead) if ahead <= page + 1 else page


def is_lifted(workspace: Workspace, book: Book) -> bool:
    return bool(workspace.library.preference(f"world lifted {book.id}", False))


def days_away(book: Book) -> int:
    """Whole days since the book was opened before this session."""
    name = f"away_{book.id}"
    if name not in st.session_state:
        st.session_state[name] = int((time.time() - book.opened) // DAY) if book.opened else 0
    days: int = st.session_state[name]
    return days


# --- what is sent -----------------------------------------------------------------------------------


def send(
    workspace: Workspace,
    book: Book,
    gisting: Gisting | None,
    document: Document,
    *,
    last_in_view: int,
    running: bool,
    name: str = "world",
) -> bool:
    """Put what is known of the book's world into the browser's store; whether notes or questions are being made.

    A batch that did not change is not sent again. ``running``: gists are being made, and notes with them. ``name``: of
    the component, which may stand at several places of the screen.
    """
    job = workspace.jobs.get(notes_job_key(gisting.id)) if gisting else None
    noting = job is not None and job.running
    show = component("reader_world", "memory_view/receive_world.js", html='<i class="root"></i>')
    facts, batches = world_data(
        workspace, book, gisting, document, last_in_view=last_in_view, running=running or noting, away=days_away(book)
    )
    with st.container(key=f"unseen_{name}_{book.id}"):
        for batch in batches:
            show(key=f"{name}_{book.id}_{batch['number']}", data={"kind": "notes", **batch})
        show(key=f"{name}_{book.id}", data={"kind": "world", **facts})
        if series := series_data(workspace, book):
            show(key=f"{name}_series_{book.id}", data={"kind": "series", **series})
        if gisting is not None:
            study = study_data(workspace, book, gisting, document)
            show(key=f"{name}_study_{book.id}", data={"kind": "study", **study})
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
        return facts, ()
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
        batch["names"] = [_until(name, last) for name in batch["names"]]
    named = any(batch["names"] for batch in batches)
    return facts | {
        "batches": len(batches),
        "by": "model" if with_notes else "rule" if named else "nobody",
        "made": made,
        "running": running,
        "failed": failed,
        "page": shown,
        "order": _order(world, told),
        "price": "" if running else price_of_notes(workspace, gisting, world),
        "previously": [[line.text, line.page, line.name] for line in before],
        "corrections": len(world.edits),
    }, batches


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


def series_data(workspace: Workspace, book: Book) -> dict[str, Any] | None:
    """The ``SeriesData`` of protocol.d.ts; None for a book without earlier ones.

    It is made again where a book of the series was read further, or its place or its notes have changed.
    """
    library = workspace.library
    name, ids = library.series_of(book.id)
    earlier = ids[: ids.index(book.id)] if book.id in ids else []
    if not earlier:
        return None
    gistings = [gisting for one in earlier for gisting in library.gistings(one)]
    versions = [(g.id, g.gists, *library.world_version(g.id, g.book_id)) for g in gistings]
    key = [name, ids, [library.position(one) for one in earlier], versions]
    known = st.session_state.setdefault("series", {})
    if known.get(book.id, [None])[0] != key:
        known[book.id] = (key, _series(library, book, name, len(earlier)))
    found: dict[str, Any] = known[book.id][1]
    return found


def _series(library: Library, book: Book, name: str, count: int) -> dict[str, Any]:
    _, books = series_books(library, book.id, page=0)
    told = {one.number: lines for one, lines in previously_in_series(books, book.id)}
    return {
        "book": book.id,
        "name": name,
        "number": count + 1,
        "books": [
            {
                "id": one.book.id,
                "title": one.book.title,
                "number": one.number,
                "known": one.world is not None,
                "whole": one.world is not None and one.page >= len(one.world.memory.pages),
                "told": [[line.text, line.page, line.name] for line in told.get(one.number, ())],
            }
            for one in books[:count]
        ],
        "cast": _cast(books[:count]),
    }


def _cast(books: Sequence[SeriesBook]) -> dict[str, Any]:
    """Who is in the earlier books, by the keys of their names; each with the last book that has them."""
    found: dict[str, Any] = {}
    for person in series_cast(books):
        number, entity = person.books[-1]
        lines = [[line.says, line.page] for line in entity.lines[-MOST_EARLIER:] if line.says]
        names = [n for _, one in person.books for n in (one.name, *(other.name for other in one.also))]
        record = {"name": person.name, "book": number - 1, "lines": lines}
        found |= {name_key(name): record for name in names if not is_description(name)}
    return found


def study_data(workspace: Workspace, book: Book, gisting: Gisting, document: Document) -> dict[str, Any]:
    """The ``StudyData`` of protocol.d.ts: the chapters that were read, with the questions made about them."""
    library, model = workspace.library, workspace.model
    world = load_world(library, gisting.id)
    places = whole_places(world.memory.document, document)
    read = paragraphs_read(workspace, book, world, document)
    chapters: list[dict[str, Any]] = []
    for title, pages, end in chapters_read(world.memory, read):
        made = load_study(library, gisting.id, pages, model.name) or ()
        job = workspace.jobs.get(f"study {gisting.id} {pages[0]}")
        state = job.snapshot.state if job else None
        record = {
            "title": title,
            "end": places[end][0],
            "pages": [pages[0], pages[-1]],
            "making": state == JobState.RUNNING,
            "error": job.snapshot.error if job and state == JobState.FAILED else "",
            "none": state == JobState.DONE and not made,
            "questions": [{"text": one.question, "answer": one.answer, "page": one.page} for one in made],
        }
        if made or model.is_language_model:  # without a model there are words and marks, and no questions
            chapters.append(record)
    return {"book": book.id, "chapters": chapters, "answered": library.preference(f"study {book.id}", {})}


def chapters_read(memory: GistMemory, read: int) -> list[tuple[str, tuple[int, ...], int]]:
    """Title, pages and end of each chapter, as questions are made of them, in the first ``read`` paragraphs."""
    found: dict[tuple[int, ...], tuple[str, tuple[int, ...], int]] = {}
    for page in memory.pages:
        pages = chapter_pages(memory, page.number)
        end = memory.page(pages[-1]).end
        gists = all(memory.gists[n - 1] is not None for n in pages)
        if end <= read and gists:
            section = memory.section_of(page.number)
            found.setdefault(pages, (section.title if section else "", pages, end))
    return list(found.values())


def _until(name: dict[str, Any], last: int) -> dict[str, Any]:
    return name | {"pages": [n for n in name["pages"] if n <= last]} if "pages" in name else name


_orders: WeakKeyDictionary[World, dict[int, list[int]]] = WeakKeyDictionary()


def _order(world: World, told: Sequence[Told]) -> list[int]:
    """The events of the first pages in the order of time, as numbers of notes; [] where it is the order of telling."""
    known = _orders.setdefault(world, {})
    if len(told) not in known:
        known[len(told)] = _order_of(told)
    return known[len(told)]


def _order_of(told: Sequence[Told]) -> list[int]:
    events = [event for page in told for event in page.events]
    as_told = sorted((event[0], number, event[1]) for number, event in enumerate(events) if event is not None)
    order = in_order_of_time([when for _, _, when in as_told])
    return [] if order == sorted(order) else [as_told[i][1] for i in order]


# --- what the person does -----------------------------------------------------------------------------


def act(workspace: Workspace, book: Book, do: str, text: str, *, gisting: Gisting | None = None) -> None:
    """Carry out one of ``ACTS``. Raises ReadAgentError."""
    library = workspace.library
    if do == "world_lift":
        library.set_preference(f"world lifted {book.id}", bool(text))
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
