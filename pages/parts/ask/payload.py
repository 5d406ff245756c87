"""What Ask sends to the browser: every exchange as a record, and the memory at each step of the replay.

Exchanges that do not change any more are sent with the conversation (``finished_records``). What may change at any
moment, and what the memory shows, is sent separately (``ask_state``), so an answer under way sends little. What is
shown of one book is in ``book_views``, of several in ``shelf_views``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts.ask import book_views, shelf_views
from pages.parts.ask.beside import show_beside
from pages.parts.ask.one_state import AskOneBook
from pages.parts.ask.record import (
    Sources,
    exchange_record,
    hide,
    record_at_step,
    sources_of_book,
)
from pages.parts.ask.several_state import Several
from pages.parts.ask.spots import add_spots
from pages.parts.ask.state import EVERY_METHOD, SHOWN, AskState, exchange_now, step_asked
from pages.parts.ask.wording import USUAL, method_abouts
from pages.parts.shared.answer import waiting_line
from pages.parts.shared.gisting_status import may_hurry
from readagent_core.answering import preparing, replay
from readagent_core.answering.base import Event, NoteCode
from readagent_core.answering.captions import captions, captions_of_several, seconds_of
from readagent_core.answering.costs import price_of_question, price_of_shelf_question
from readagent_core.answering.registry import sends_gists
from readagent_core.errors import NotInLibraryError
from readagent_core.jobs import Job
from readagent_core.library.records import Exchange, ExchangeState
from readagent_core.models.builtin import reader as builtin
from readagent_core.workspace import Workspace


def shown_exchanges(now: AskState) -> list[Exchange]:
    """The newest exchanges and everything from the current one on; all of them after a click on 'earlier'."""
    return _drawn(now)[left_out(now) :]


def left_out(now: AskState) -> int:
    """How many exchanges before the shown ones are drawn after a click on 'earlier'."""
    drawn = _drawn(now)
    place = next((i for i, e in enumerate(drawn) if now.current and e.id == now.current.id), 0)
    return 0 if st.session_state.get("ask_all") else min(max(0, len(drawn) - SHOWN), place)


def _drawn(now: AskState) -> list[Exchange]:
    """The exchanges that stand by themselves: not those beside a newer answer, nor those that failed and were asked
    again. Of a recording, which has a list of its questions, the current one alone.
    """
    if now.recording:
        return [now.current] if now.current else []
    current = now.current.id if now.current else ""
    beside: set[str] = set()
    for exchange in reversed(now.exchanges):
        if exchange.id not in beside or exchange.id == current:
            beside.add(exchange.facts.beside)
    again = {e.question: e.id for e in now.exchanges}  # the newest of each question
    failed = {e.id for e in now.exchanges if e.state == ExchangeState.FAILED and again[e.question] != e.id}
    return [e for e in now.exchanges if e.id == current or e.id not in beside | failed]


def waiting_for(workspace: Workspace, book_ids: Sequence[str], job: Job, moment: float) -> str:
    """Why the answer waits, '' where it does not: for a model with one slot also until it has read the gists."""
    line = waiting_line(job.snapshot, now=moment)
    reading = workspace.jobs.get(preparing.job_key(book_ids[0])) if line and book_ids else None
    if reading is None or not reading.running:
        return line
    told = waiting_line(reading.snapshot, now=moment)
    return f"The model reads the gists first, once for this book. {told or line}"


def _record(now: AskState, exchange: Exchange) -> dict[str, Any]:
    """All that is drawn of one exchange in its present state."""
    state, events, text, job = exchange_now(now.workspace, exchange)
    moment = time.time()
    sources = _sources(now, exchange, events, text)
    record = exchange_record(
        exchange,
        events,
        sources=sources,
        state=state,
        text=text,
        seconds=moment - exchange.asked,
        waiting=waiting_for(now.workspace, now.book_ids, job, moment) if job else "",
        hurry=job is not None and may_hurry(job.snapshot, now=moment),
        methods=_other_methods() if isinstance(now, AskOneBook) else (),
        model=now.workspace.model.name,
        suggest_model=_suggests_model(now, exchange, state),
        price=price_of_question_now(now, exchange.method),
    )
    if isinstance(now, AskOneBook):
        add_spots(now, exchange, record, events, text)
        if now.beside_text:  # where no memory is
            record["acts"] = [act for act in record["acts"] if act != "replay"]
        else:
            record["recorded"] = book_views.recorded_id(now, exchange)
    if isinstance(now, Several):
        shelf_views.name_places(now, exchange, record, sources.checked)
        if exchange.id == now.exchanges[-1].id and not record["running"]:
            record["notes"] += filter(None, [shelf_views.not_asked(now, exchange)])
    record["notes"] = _new_notes(now, exchange, record["notes"])
    if hidden := now.why_hidden(exchange, events):
        return hide(record, hidden[0], may_ask=hidden[1])
    old = _older(now, exchange)
    if old is None:
        return record
    gisted = _gists_complete(now, old), _gists_complete(now, exchange)
    return show_beside(
        record,
        _record(now, old),
        events=events,
        old_events=exchange_now(now.workspace, old)[1],
        settings=exchange.settings,
        completed=sends_gists(exchange.method) and gisted == (False, True),
        gisted=gisted,
    )


def _new_notes(now: AskState, exchange: Exchange, notes: Sequence[str]) -> list[str]:
    """Those of ``notes`` that the exchange before does not have too."""
    ids = [e.id for e in now.exchanges]
    at = ids.index(exchange.id) if exchange.id in ids else 0
    before = now.exchanges[max(0, at - 1) : at]
    said = {note for e in before for note in replay.notes(exchange_now(now.workspace, e)[1], NoteCode.OTHER)}
    return [note for note in notes if note not in said]


def _gists_complete(now: AskState, exchange: Exchange) -> bool:
    """Whether every page of the memory that an exchange was answered from has a gist."""
    return isinstance(now, AskOneBook) and None not in now.memory_of(exchange).gists


def _older(now: AskState, exchange: Exchange) -> Exchange | None:
    """The exchange that this one was asked again from; None where it was no such one, or was deleted."""
    if not exchange.facts.beside:
        return None
    try:
        return now.workspace.library.exchange(exchange.facts.beside)  # of a recording it is in another conversation
    except NotInLibraryError:
        return None


def _other_methods() -> list[tuple[str, str, str, str]]:
    every = st.session_state.get(EVERY_METHOD, False)
    return [known for known in method_abouts() if every or known[0] in USUAL]


def whole_memory_price(now: AskState, exchange: Exchange) -> str:
    """What it costs to ask again with the whole memory; '' where an answer had it, or it is not complete yet."""
    if not isinstance(now, AskOneBook) or None in now.memory.gists or exchange.gisting_id == now.gisting.id:
        return ""
    if _gists_complete(now, exchange):
        return ""
    return price_of_question_now(now, now.method)


def price_of_question_now(now: AskState, method: str) -> str:
    """What a question costs now by ``method``, of one book or of several."""
    model = now.workspace.model
    if isinstance(now, Several):
        return price_of_shelf_question(model, now.shelf.books, look_ups=now.look_ups)
    assert isinstance(now, AskOneBook)
    return price_of_question(model, now.memory, method, look_ups=now.look_ups)


def _suggests_model(now: AskState, exchange: Exchange, state: ExchangeState) -> bool:
    """Whether this answer says that a model can be connected: the first of the built-in reader in a session."""
    if now.workspace.model.is_language_model or state == ExchangeState.RUNNING:
        return False
    built_in = exchange.facts.model == builtin.NAME
    return built_in and bool(st.session_state.setdefault("ask_model_suggested", exchange.id) == exchange.id)


def finished_records(now: AskState) -> list[dict[str, Any]]:
    """The records of the exchanges that do not change any more; ``ask_state`` has the others."""
    records = [_record(now, e) for e in shown_exchanges(now)]
    now.still = {record["id"]: record for record in records if not record["running"]}
    return list(now.still.values())


def ask_state(now: AskState) -> dict[str, Any]:
    """``AskState`` of ``assets/protocol.d.ts``, but for ``book``: what every part shows."""
    current = now.current
    shown = shown_exchanges(now)
    records = {e.id: _record(now, e) for e in shown if e.id not in now.still}
    state, events, text, _ = exchange_now(now.workspace, current) if current else ("", (), "", None)
    running = state == ExchangeState.RUNNING
    steps = replay.steps(events)
    at = len(steps) - 1 if running or current is None else step_asked(current, len(steps))
    record = (records | now.still).get(current.id) if current else None
    hidden = current is not None and now.why_hidden(current, events) is not None
    whole, views = _views(now, () if hidden else events, [None if hidden else step for step in steps], text)
    if record and not running and not hidden:
        looked = 0
        for view, step in zip(views[:-1], steps, strict=False):
            looked += step.looks
            view["record"] = record_at_step(record, step, looked)
    return {
        "turn": time.time(),  # the browser drops older messages
        "exchange": current.id if current else None,
        "running": running,
        "order": [e.id for e in shown],
        "records": records,
        "steps": [step.title for step in steps] if current and not hidden else [],
        "captions": _captions(now, current, steps) if current and not hidden else [],
        "at": max(0, at) if current else 0,
        "views": [{"record": None, **view} for view in views],
        **whole,
    }


def _captions(now: AskState, exchange: Exchange, steps: Sequence[replay.Step]) -> list[list[Any]]:
    """What is said at each step while the replay plays by itself, for how many seconds, and whether it has prompts."""
    memory = now.memory_of(exchange) if isinstance(now, AskOneBook) else None
    if isinstance(now, AskOneBook) and memory and now.last_shown is not None:
        memory = memory.up_to(now.last_shown)  # as the memory beside it is drawn
    if isinstance(now, Several):
        said = captions_of_several(steps, exchange, shelf_views.titles_of(now, exchange))
    else:
        said = captions(steps, exchange, memory)
    if isinstance(now, AskOneBook) and (more := book_views.saw_more(now, exchange)):
        said = [f"{one} {more}" if step.kind == replay.GISTS else one for one, step in zip(said, steps, strict=True)]
    return [
        [one, seconds_of(one), step.kind in SENDS or bool(step.calls)] for one, step in zip(said, steps, strict=True)
    ]


SENDS = (replay.UNDERSTOOD, replay.LOOK_UP, replay.ANSWER)  # the steps that have prompts


def _sources(now: AskState, exchange: Exchange, events: Sequence[Event], text: str) -> Sources:
    if isinstance(now, Several):
        return shelf_views.sources(now, exchange, events, text)
    assert isinstance(now, AskOneBook)
    answer = replay.answer_of(events)
    checked = now.check(exchange, text, answer) if answer else None
    return sources_of_book(exchange, events, checked, now.memory_of(exchange))


def _views(
    now: AskState, events: Sequence[Event], steps: Sequence[replay.Step | None], text: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is shown at every step, and at each of ``steps``. A step is None, and ``events`` are empty, where hidden."""
    if isinstance(now, Several):
        return shelf_views.views(now, events, steps, text)
    assert isinstance(now, AskOneBook)
    return book_views.views(now, events, steps, text)
