"""What the Ask screen is about right now: book, reading, conversation, exchange, step; and how it asks.

The address (?book=…&exchange=…&step=…) comes first, so that a link to a replay works. Draws nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts import book as address
from readagent_core.errors import NotInLibraryError
from readagent_core.jobs import Job
from readagent_core.library.records import Book, Exchange, Reading
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.study import Study, replay
from readagent_core.study.asking import Asking, job_key, state_of
from readagent_core.study.limit import page_reached
from readagent_core.study.questions import question_from

NEW = "new"
SHOWN = 12  # exchanges of a long conversation drawn at first
NOTHING = (0, False)
ADDRESS_SECONDS = 2.0  # within which a run may still bring an older address


@dataclass
class Scene:
    """Everything one run of the screen draws from.

    Questions go to ``reading``; what is shown is the reading that the current exchange was answered from.
    ``from_reader``: the page to go to, from 'Ask about this page' in Read. ``still``: the records of exchanges that
    were sent and stay as they are. ``just_asked``: the question that was asked in this run. ``watched``: an answer
    was under way when the screen was last told of it; ``ended``: it has ended, and only that was told. ``heard``: how
    many look-ups the answer under way had then, and whether it had begun.
    """

    study: Study
    book: Book
    reading: Reading
    memory: GistMemory
    shown: Reading
    shown_memory: GistMemory
    conversation_id: str | None
    exchanges: list[Exchange]
    current: Exchange | None
    limit: int | None = None
    method: str = "read-agent-p"
    look_ups: int = 3
    from_reader: int | None = None
    still: dict[str, dict[str, Any]] = field(default_factory=dict)
    just_asked: Exchange | None = None
    heard: tuple[int, bool] = NOTHING
    watched: bool = False
    ended: bool = False

    @property
    def running(self) -> bool:
        return any(state_of(self.study, e) == "running" for e in self.exchanges)


def scene(study: Study, book: Book) -> Scene | None:
    """The scene of ``book``; None where nothing of it has been read."""
    reading_and_memory = _reading(study, book)
    if reading_and_memory is None:
        return None
    reading, memory = reading_and_memory
    conversation_id, wanted = _chosen(study, book)
    exchanges = study.library.exchanges(conversation_id) if conversation_id else []
    current = next((e for e in exchanges if e.id == wanted), exchanges[-1] if exchanges else None)
    shown, shown_memory = reading, memory
    if current is not None and current.reading_id != reading.id:
        shown, shown_memory = study.library.reading(current.reading_id), study.library.memory(current.reading_id)
    from_reader = st.session_state.pop("ask_page", None)
    return Scene(
        study,
        book,
        reading,
        memory,
        shown,
        shown_memory,
        conversation_id,
        exchanges,
        current,
        from_reader=from_reader,
    )


def _reading(study: Study, book: Book) -> tuple[Reading, GistMemory] | None:
    """The reading chosen on the Read screen, else the newest that has pages."""
    chosen = st.session_state.get(f"reading_{book.id}")
    if chosen is not None:
        reading = next((r for r in study.library.readings(book.id) if r.id == chosen and r.pages), None)
        if reading is not None:
            return reading, study.library.memory(reading.id)
    return study.newest_memory(book.id)


def _chosen(study: Study, book: Book) -> tuple[str | None, str | None]:
    """The conversation to show and the exchange asked for by the address: by one that is not out of date."""
    wanted = st.query_params.get("exchange")
    left, when = st.session_state.get("ask_left", ("", 0.0))
    if wanted and not (wanted == left and time.monotonic() - when < ADDRESS_SECONDS):
        try:
            conversation_id = study.library.exchange(wanted).conversation_id
            if study.library.conversation(conversation_id).book_id == book.id:
                return conversation_id, wanted
        except NotInLibraryError:
            pass
    kept = st.session_state.get(f"conversation {book.id}")
    known = [c.id for c in study.library.conversations(book.id)]
    if kept == NEW:
        return None, None
    return (kept if kept in known else known[0] if known else None), None


def choose_conversation(book: Book, conversation_id: str) -> None:
    """Show this conversation (or ``NEW``) from the next run on."""
    st.session_state[f"conversation {book.id}"] = conversation_id
    st.session_state["ask_left"] = (st.query_params.get("exchange", ""), time.monotonic())
    address.set_address(book=book.id, exchange=None, step=None)


def choose_exchange(scene: Scene, exchange: Exchange, *, step: int | None = None) -> None:
    """Make this exchange the one in the memory view and in the address."""
    _make_current(scene, exchange, step)
    name_in_address(scene, exchange, step=step)


def name_in_address(scene: Scene, exchange: Exchange, *, step: int | None = None) -> None:
    address.set_address(book=scene.book.id, exchange=exchange.id, step=None if step is None else step + 1)


def _make_current(scene: Scene, exchange: Exchange, step: int | None = None) -> None:
    scene.current = exchange
    st.session_state["ask_step"] = (exchange.id, step, time.monotonic())
    st.session_state[f"conversation {scene.book.id}"] = exchange.conversation_id


def step_asked(exchange: Exchange, count: int) -> int:
    """The step that was just gone to, else the one in the address (1 is the first), else the last.

    A run that was asked for before a click may come after it, and brings the address as it was.
    """
    of, step, gone = st.session_state.get("ask_step", ("", None, 0.0))
    if of == exchange.id and step is not None and time.monotonic() - gone < ADDRESS_SECONDS:
        return min(int(step), count - 1)
    text = st.query_params.get("step", "")
    return min(max(int(text), 1), count) - 1 if text.isdecimal() and len(text) < 4 else count - 1


def page_limit(scene: Scene, *, shown: bool = False) -> int:
    """The page the person has read to, in the reading that is asked or in the one that is shown."""
    reading, memory = (scene.shown, scene.shown_memory) if shown else (scene.reading, scene.memory)
    library = scene.study.library
    whole = library.document(scene.book.id, document_id=reading.document_id)
    return page_reached(memory, whole, library.position(scene.book.id))


def tells_more(scene: Scene, exchange: Exchange) -> bool:
    """Whether an exchange saw pages that the person, who wants to see only what was read, has not reached."""
    if scene.limit is None:
        return False
    limit = page_limit(scene, shown=True) if exchange.reading_id == scene.shown.id else scene.limit
    return exchange.up_to is None or exchange.up_to > limit


def ask(scene: Scene, text: str, *, options: str = "", whole: bool = False, like: Exchange | None = None) -> Exchange:
    """Start answering, and bring the scene up to it; ``like``: an exchange asked again. Raises ReadAgentError."""
    question = Question(text, like.options) if like else question_from(text, options)
    exchange, _ = scene.study.ask(
        scene.book.id,
        question,
        method=scene.method,
        settings=AskSettings(look_ups=0 if whole else scene.look_ups),
        conversation_id=scene.conversation_id,
        up_to=scene.limit,
        reading_id=scene.reading.id,
        anew=like is not None and like.method == scene.method,
    )
    _make_current(scene, exchange)  # its address follows when the first of it is told: that takes the browser a while
    scene.just_asked, scene.ended = exchange, False
    scene.conversation_id = exchange.conversation_id
    scene.exchanges = scene.study.library.exchanges(exchange.conversation_id)
    scene.shown, scene.shown_memory = scene.reading, scene.memory
    return exchange


def standing(study: Study, exchange: Exchange) -> tuple[str, Sequence[Event], str, Job | None]:
    """How an exchange stands now: state, events, the answer so far, and its job while it runs."""
    state = state_of(study, exchange)
    job = study.jobs.get(job_key(exchange.id)) if state == "running" else None
    if job is not None and isinstance(job.snapshot.value, Asking):
        value = job.snapshot.value
        return state, value.events, value.text, job
    if exchange.state == "running":  # it has ended since, or another process runs it
        exchange = study.library.exchange(exchange.id)
    events = replay.events_of(exchange)
    return state, events, replay.written(events), job
