"""Gists: the books that wait for their gists, one after another, in the hours that a person sets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from pages.parts.library.cards import running_gists, running_record
from pages.parts.shared import book as current
from pages.parts.shared import covers, polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act, act_of, call_with_act, component
from pages.parts.shared.gisting_status import span
from readagent_core.errors import NotInLibraryError, ReadAgentError
from readagent_core.gisting.costs import minutes_of
from readagent_core.gisting.job import usual_plan
from readagent_core.gisting.queue import (
    QUEUE_KEY,
    Hold,
    Queue,
    hold_of,
    load_queue,
    move_in_queue,
    pause_queue,
    put_in_queue,
    set_hours,
    set_mains,
    start_queue,
    take_from_queue,
    timetable,
)
from readagent_core.library.records import Card
from readagent_core.words import length_of
from readagent_core.workspace import Workspace

POLL_SECONDS = 2.0
ANY_TIME = "any time"
HOURS = (ANY_TIME, *(f"{hour:02}:00" for hour in (*range(5, 24), *range(5))))
NIGHT = timedelta(hours=9)  # shown where no end is set
HELD = {
    Hold.PAUSED: "Paused.",
    Hold.HOURS: "Goes on at {}.",
    Hold.BATTERY: "Paused on battery.",
    Hold.AWAY: "The model does not answer; asked again each minute.",
}


def do(workspace: Workspace, act: Act) -> None:
    try:
        if act.do == "drop":
            take_from_queue(workspace, act.of)
        elif act.do == "move":
            move_in_queue(workspace, act.of, act.page)
    except ReadAgentError as error:
        st.session_state["gists_error"] = error


def screen() -> None:
    workspace = get_workspace()
    start_queue(workspace)
    shell.link_back()
    if error := st.session_state.pop("gists_error", None):
        shell.error_box(error)
    _queue(workspace)
    _rules(workspace)


@st.fragment
def _queue(workspace: Workspace) -> None:
    """Draw what changes while gists are made."""
    queue, now = load_queue(workspace), datetime.now()
    polling.rerun_after(POLL_SECONDS if queue.books else None, key="gists")
    cards = {card.book.id: card for card in workspace.library.cards()}
    minutes = {book: left for book in queue.books if (left := _minutes_left(workspace, cards.get(book))) is not None}
    table = timetable(queue, minutes, now)
    job = workspace.jobs.get(QUEUE_KEY)
    hold = hold_of(queue, now) or (Hold.AWAY if job and job.running and job.snapshot.value is Hold.AWAY else None)
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    head, pause = row.container(width="content"), row.container(width="content")
    with head:
        state = _state(queue, hold, job.snapshot.waiting if job else "", sum(minutes.values()), now)
        shell.header("Gists", about=shell.as_text(state))  # it may have a server's words
    if queue.books:
        pause.button(
            "Go on" if queue.paused else "Pause",
            key="pause_queue",
            icon=":material/play_arrow:" if queue.paused else ":material/pause:",
            on_click=pause_queue,
            args=(workspace, not queue.paused),
        )
    if not queue.books and not queue.ended:
        return
    running = running_gists(workspace)
    rows = [_ended(workspace, cards[end.book_id], end.at, end.why) for end in queue.ended if end.book_id in cards]
    for book in queue.books:
        if book in cards:
            working = cards[book].gisting_id in running and hold is None
            rows.append(
                _row(workspace, cards[book], running, table.get(book) if hold is not Hold.PAUSED else None, working)
            )
    mount = component("gists", "gists/main.js", style="shared/cover.css library/library.css gists/queue.css")
    on_act = call_with_act(lambda act: do(workspace, act), "gists")
    data = {"kind": "queue", "rows": rows, **_band(queue, table, cards, now)}
    act = act_of(mount(key="gists", data=data, on_act_change=on_act))
    if act is not None and act.do == "open" and act.of in cards:
        current.read_at(act.of)


def _state(queue: Queue, hold: Hold | None, waiting: str, minutes: float, now: datetime) -> str:
    if not queue.books:
        how = "" if queue.ended else " Add one below, or select books in the library and press Make gists."
        return f"No book waits for gists.{how}"
    if hold is Hold.PAUSED and queue.why:
        return queue.why
    left = f" {span(60 * minutes)} to go." if minutes else ""
    said = HELD[hold].format(f"{queue.opens(now):%H:%M}") if hold else ""
    if hold is Hold.AWAY and waiting:
        said = f"{waiting} It is asked again each minute."
    return f"{said}{left}".strip() or "The time it takes is known after the first pages."


def _minutes_left(workspace: Workspace, card: Card | None) -> float | None:
    if card is None:
        return None
    left = max(0, card.book.words - (card.words_covered if card.model == workspace.model.name else 0))
    if not workspace.model.is_language_model:
        return 0.1
    return minutes_of(workspace, left, usual_plan(workspace, card.book.words))


def _common(workspace: Workspace, card: Card) -> dict[str, Any]:
    book = card.book
    facts = " · ".join(part for part in (book.author, length_of(book.words, book.language)) if part)
    return {
        "id": book.id,
        "title": book.title,
        "author": book.author,
        "lang": book.language,
        "facts": facts,
        "pages": card.pages or 0,
        "cover": covers.thumbnail(workspace.library, book) if book.has_cover else None,
    }


def _ended(workspace: Workspace, card: Card, at: float, why: str) -> dict[str, Any]:
    since = f" since {time.strftime('%H:%M', time.localtime(at))}"
    told = (
        {"state": "failed", "strong": "", "said": why} if why else {"state": "done", "strong": "Ready", "said": since}
    )
    return _common(workspace, card) | {"share": 1.0} | told


def _row(
    workspace: Workspace,
    card: Card,
    running: Mapping[int, Any],
    times: tuple[datetime, datetime, float] | None,
    working: bool,
) -> dict[str, Any]:
    share = min(1.0, (card.words_covered or 0) / max(1, card.book.words)) if card.model == workspace.model.name else 0.0
    row = _common(workspace, card) | {"state": "waiting", "share": share, "strong": "", "said": ""}
    if working and card.gisting_id is not None:
        made = running_record(running[card.gisting_id].snapshot)
        about = f"{made['made']:,} of about {made['pages']:,} pages" if made["pages"] else "finding the first pauses"
        rest = f" · {made['rest']}" if made.get("rest") and made["pages"] else ""
        return row | {"state": "making", "share": made["share"], "strong": about, "said": rest}
    if times is not None:
        begins, ready, by_end = times
        if by_end < 1.0:
            row["said"] = f"begins at {begins:%H:%M}; about {by_end:.0%} in those hours, ready {_day(ready)}"
        else:
            row["said"] = f"about {span((ready - begins).total_seconds())}, ready by {ready:%H:%M}"
    return row


def _day(at: datetime) -> str:
    return f"{at:%A} at {at:%H:%M}"


def _band(
    queue: Queue, table: Mapping[str, tuple[datetime, datetime, float]], cards: Mapping[str, Card], now: datetime
) -> dict[str, Any]:
    """The hours as a band: what of it each book takes. Places are shares of its width."""
    if not table or queue.paused:
        return {"marks": [], "blocks": [], "now": None}
    begin = queue.opens(now)
    end = queue.closes(begin) or begin + max(
        timedelta(hours=1), min(NIGHT, max(row[1] for row in table.values()) - begin)
    )
    length = (end - begin).total_seconds()

    def place(at: datetime) -> float:
        return round(min(1.0, max(0.0, (at - begin).total_seconds() / length)), 4)

    step = timedelta(hours=max(1, round(length / 3600 / 9)))
    hour = begin.replace(minute=0, second=0, microsecond=0) + step
    marks = [[0.0, f"{begin:%H:%M}"]]
    while hour < end - step / 3:
        if hour > begin + step / 3:
            marks.append([place(hour), f"{hour:%H:%M}"])
        hour += step
    blocks = [
        [cards[book].book.title, place(starts), place(ready)]
        for book, (starts, ready, _) in table.items()
        if book in cards and place(starts) < 1.0
    ]
    return {"marks": [*marks, [1.0, f"{end:%H:%M}"]], "blocks": blocks, "now": place(now) if begin <= now else None}


def _rules(workspace: Workspace) -> None:
    """Draw when gists are made, and which books are added."""
    queue = load_queue(workspace)
    with st.container(horizontal=True, vertical_alignment="bottom", key="queue_rules"):
        until = st.selectbox(
            "Until", HOURS, HOURS.index(queue.until) if queue.until in HOURS else 0, key="queue_until", width=150
        )
        mains = st.toggle("Only on mains power", queue.mains, key="queue_mains")
        others = {
            card.book.id: card.book.title for card in workspace.library.cards() if card.book.id not in queue.books
        }
        with st.popover("Add books", icon=":material/add:", key=f"queue_adding {len(queue.books)}"):  # closed by adding
            chosen = st.multiselect(
                "Books", list(others), format_func=others.__getitem__, key="queue_add", placeholder="Titles", width=320
            )
            if st.button("Add", disabled=not chosen, key="queue_add_now"):
                try:
                    put_in_queue(workspace, chosen)
                except NotInLibraryError as error:
                    st.session_state["gists_error"] = error
                st.rerun()
    if (until if until != ANY_TIME else "") != queue.until:
        set_hours(workspace, "" if until == ANY_TIME else until)
        st.rerun()
    if mains != queue.mains:
        set_mains(workspace, mains)
        st.rerun()
    daily = " What is left then goes on at the same hour of the next day." if queue.until else ""
    st.caption(f"After sleep or a restart it goes on at the page where it was. A question you ask comes first.{daily}")


shell.draw(screen)
