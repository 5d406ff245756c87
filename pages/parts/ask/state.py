"""The state of the Ask screen: book, reading, conversation, exchange and step; and how it asks.

What the address says (?book=…&exchange=…&step=…) comes first, so that a link to a replay works.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts.shared import book as address
from readagent_core.errors import NotInLibraryError
from readagent_core.jobs import Job
from readagent_core.library.records import Book, Exchange, Reading
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.workspace import Workspace, asking, replay
from readagent_core.workspace.asking import AskProgress, exchange_state, job_key, page_reached
from readagent_core.workspace.questions import parse_question
from readagent_core.workspace.reading import newest_memory

NEW = "new"
SHOWN = 12  # exchanges of a long conversation drawn at first
ADDRESS_SECONDS = 2.0  # for which a run may still arrive with an older address


@dataclass
class Scene:
    """Everything that one run of the screen draws from.

    Questions go to ``reading``; what is shown is the reading that the current exchange was answered from.
    ``from_reader``: the page to go to, from 'Ask about this page' in Read. ``still``: the records of exchanges that
    were sent and do not change any more. ``just_asked``: the question of this run. ``watched``: an answer was under way
    at the last update; ``ended``: it has ended since, and only its last part was sent.
    """

    workspace: Workspace
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
    watched: bool = False
    ended: bool = False

    @property
    def running(self) -> bool:
        return any(exchange_state(self.workspace, e) == "running" for e in self.exchanges)


def scene(workspace: Workspace, book: Book) -> Scene | None:
    """The state for ``book``; None where nothing of it has been read."""
    reading_and_memory = _reading(workspace, book)
    if reading_and_memory is None:
        return None
    reading, memory = reading_and_memory
    conversation_id, wanted = _chosen(workspace, book)
    exchanges = workspace.library.exchanges(conversation_id) if conversation_id else []
    current = next((e for e in exchanges if e.id == wanted), exchanges[-1] if exchanges else None)
    shown, shown_memory = reading, memory
    if current is not None and current.reading_id != reading.id:
        shown = workspace.library.reading(current.reading_id)
        shown_memory = workspace.library.memory(shown.id)
    return Scene(
        workspace,
        book,
        reading,
        memory,
        shown,
        shown_memory,
        conversation_id,
        exchanges,
        current,
        from_reader=st.session_state.pop("ask_page", None),
    )


def _reading(workspace: Workspace, book: Book) -> tuple[Reading, GistMemory] | None:
    """The reading chosen on the Read screen, else the newest that has pages."""
    chosen = st.session_state.get(f"reading_{book.id}")
    if chosen is not None:
        reading = next((r for r in workspace.library.readings(book.id) if r.id == chosen and r.pages), None)
        if reading is not None:
            return reading, workspace.library.memory(reading.id)
    return newest_memory(workspace, book.id)


def _chosen(workspace: Workspace, book: Book) -> tuple[str | None, str | None]:
    """The conversation to show, and the exchange that the address names, unless that address is out of date."""
    wanted = st.query_params.get("exchange")
    left, when = st.session_state.get("ask_left", ("", 0.0))
    if wanted and not (wanted == left and time.monotonic() - when < ADDRESS_SECONDS):
        try:
            conversation_id = workspace.library.exchange(wanted).conversation_id
            if workspace.library.conversation(conversation_id).book_id == book.id:
                return conversation_id, wanted
        except NotInLibraryError:
            pass
    chosen = st.session_state.get(f"conversation {book.id}")
    known = [c.id for c in workspace.library.conversations(book.id)]
    if chosen == NEW:
        return None, None
    return (chosen if chosen in known else known[0] if known else None), None


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
    """The step that was just chosen, else the one in the address (1 is the first), else the last.

    A run requested before a click may arrive after it, with the address as it was.
    """
    of, step, gone = st.session_state.get("ask_step", ("", None, 0.0))
    if of == exchange.id and step is not None and time.monotonic() - gone < ADDRESS_SECONDS:
        return min(int(step), count - 1)
    text = st.query_params.get("step", "")
    return min(max(int(text), 1), count) - 1 if text.isdecimal() and len(text) < 4 else count - 1


def page_limit(scene: Scene, *, shown: bool = False) -> int:
    """The page the person has read to, in the reading that is asked or in the one that is shown."""
    reading, memory = (scene.shown, scene.shown_memory) if shown else (scene.reading, scene.memory)
    library = scene.workspace.library
    whole = library.document(scene.book.id, document_id=reading.document_id)
    return page_reached(memory, whole, library.position(scene.book.id))


def saw_later_pages(scene: Scene, exchange: Exchange) -> bool:
    """Whether an exchange saw pages beyond the spoiler limit."""
    if scene.limit is None:
        return False
    limit = page_limit(scene, shown=True) if exchange.reading_id == scene.shown.id else scene.limit
    return exchange.up_to is None or exchange.up_to > limit


def ask(scene: Scene, text: str, *, options: str = "", whole: bool = False, like: Exchange | None = None) -> Exchange:
    """Start to answer, and update the scene; ``like``: an exchange that is asked again. Raises ReadAgentError."""
    question = Question(text, like.options) if like else parse_question(text, options)
    exchange, _ = asking.ask(
        scene.workspace,
        scene.book.id,
        question,
        method=scene.method,
        settings=AskSettings(look_ups=0 if whole else scene.look_ups),
        conversation_id=scene.conversation_id,
        up_to=scene.limit,
        reading_id=scene.reading.id,
        use_cache=like is None or like.method != scene.method,
    )
    _make_current(scene, exchange)  # the address follows when the question is shown: that takes the browser a while
    scene.just_asked, scene.ended = exchange, False
    scene.conversation_id = exchange.conversation_id
    scene.exchanges = scene.workspace.library.exchanges(exchange.conversation_id)
    scene.shown, scene.shown_memory = scene.reading, scene.memory
    return exchange


def exchange_now(workspace: Workspace, exchange: Exchange) -> tuple[str, Sequence[Event], str, Job | None]:
    """An exchange as it is now: state, events, the answer so far, and its job while it runs."""
    state = exchange_state(workspace, exchange)
    job = workspace.jobs.get(job_key(exchange.id)) if state == "running" else None
    if job is not None and isinstance(job.snapshot.value, AskProgress):
        value = job.snapshot.value
        return state, value.events, value.text, job
    if exchange.state == "running":  # it has ended since, or another process works on it
        exchange = workspace.library.exchange(exchange.id)
    events = replay.events_of(exchange)
    return state, events, replay.answer_text(events), job
