"""Ask about several books: their maps, one memory that opens in place, and the conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.parts.ask import answer_view, several_payload, sidebar
from pages.parts.ask.pieces import page_passages
from pages.parts.ask.record import MOST_LOOK_UPS
from pages.parts.ask.several_payload import opened_books, opened_memory
from pages.parts.ask.several_state import (
    SEVERAL,
    Several,
    ask,
    choose_exchange,
    name_in_address,
    open_several,
)
from pages.parts.ask.state import exchange_now
from pages.parts.read.start import make_gists
from pages.parts.shared import polling, shell
from pages.parts.shared.chosen_books import choose_from_next_run, open_cited
from pages.parts.shared.component import Act
from pages.parts.shared.memory_view import send_pages, show_shelf
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Exchange
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.workspace import replay
from readagent_core.workspace.asking import job_key
from readagent_core.workspace.replay import Step
from readagent_core.workspace.shelf import checked_answer_of_several

STAGE, LIVE = "ask_stage", "ask_live"
POLL_SECONDS = 0.25


def draw(now: Several, show_prompts: Callable[[Sequence[Step], int], None]) -> None:
    """Draw the screen. ``show_prompts`` opens the dialog with the prompts of a step."""
    shell.set_title("Ask", now.name)
    _sidebar(now)
    for scope, memory in opened_books(now).values():
        send_pages(memory, scope=scope)
        now.sent.add(scope)
    st.fragment(_stage, key=STAGE)(now, show_prompts)


def _stage(now: Several, show_prompts: Callable[[Sequence[Step], int], None]) -> None:
    """Everything but the sidebar; its parts show what ``_live`` sends."""
    if leave := st.session_state.pop("ask_leave_several", None):
        book_id, page = leave
        open_cited(book_id, page, **({"from": "ask", "exchange": now.current.id} if now.current else {}))
    now.exchanges = [now.workspace.library.exchange(e.id) if e.state == "running" else e for e in now.exchanges]
    with st.container(key="ask_bar"):
        act = answer_view.show_replay(
            SEVERAL,
            lambda of, step: _stepped(now, of, step),
            empty=f"Asking {now.name}. Answers name the book and the page of every claim.",
        )
    if act and act.do == "prompt" and now.current:
        record = next((r for r in now.still.values() if r["id"] == now.current.id), None)
        steps = replay.steps(exchange_now(now.workspace, now.current)[1])
        if record is None or not record["hidden"]:
            show_prompts(steps, min(act.page, len(steps) - 1))
    with st.container(key="ask_tabs"):
        st.segmented_control("Show", ("Answer", "Shelf", "Memory"), default="Answer", key="ask_several_tabs",
                             required=True, label_visibility="collapsed", width="stretch")  # fmt: skip
    with st.container(key="ask_two"):
        maps, memory, talk = st.columns([0.46, 1.1, 1], gap=None)
        with maps, st.container(key="ask_shelf"):
            show_shelf("maps", SEVERAL, lambda act: _act_on_book(now, act))
        with memory, st.container(key="ask_memory"):
            show_shelf("shelf", SEVERAL, lambda act: _act_on_book(now, act))
        with talk, st.container(key="ask_talk", gap=None):
            _talk(now)
    st.fragment(_live, key=LIVE)(now)


def _live(now: Several) -> None:
    """What changes while an answer comes; runs again by itself until the answer has ended and all of it is shown."""
    asked, now.just_asked = now.just_asked, None
    if asked:
        name_in_address(now, asked)
    opened = {scope for scope, _ in opened_books(now).values()}
    if now.ended or opened - now.sent:  # the pages of a book that was just opened are sent by the whole screen
        st.rerun(scope="app")
    answer_view.send_state(SEVERAL, several_payload.state_of(now))
    running = now.running
    now.ended, now.watched = (now.watched or asked is not None) and not running, running
    polling.rerun_after(POLL_SECONDS if running or now.ended else None, key="ask")


# --- the sidebar ----------------------------------------------------------------------------------


def _sidebar(now: Several) -> None:
    library = now.workspace.library
    with st.sidebar:
        st.text(f"Asking {now.name}")
        st.caption(
            "By zooming: the gists of all books first, then what the question needs. Every book has its own limit."
        )
        st.page_link("pages/library.py", label="Choose other books", icon=":material/library_books:")
        chosen = st.segmented_control(
            "Look up at most",
            sidebar.LOOK_UPS,
            default=int(library.preference("look ups", now.look_ups)),
            key="ask_look_ups",
            width="stretch",
            required=True,
        )
        now.look_ups = int(chosen or 0)
        st.caption("pages a question, all books together")
        if now.look_ups != library.preference("look ups", 3):
            library.set_preference("look ups", now.look_ups)
        sidebar.conversations(
            now.workspace,
            library.conversations_about_several(),
            now.conversation_id,
            key=SEVERAL,
            choose=lambda conversation_id: open_several(now.workspace, conversation_id),
            new=lambda: choose_from_next_run(now.about, now.book_ids),
        )


# --- acts -----------------------------------------------------------------------------------------


def _stepped(now: Several, exchange_id: str, step: int) -> None:
    """Put the step, which the browser shows already, into the address."""
    if now.current and now.current.id == exchange_id:
        choose_exchange(now, now.current, step=step)
    st.rerun(LIVE)


def _act_on_book(now: Several, act: Act) -> None:
    """Carry out what the person did with a book: unfold, fold, open (in Read), make (its gists), leave (it out)."""
    if act.do in ("unfold", "fold"):
        (now.opened.add if act.do == "unfold" else now.opened.discard)(act.of)
    elif act.do == "open":  # the screen's next run switches to Read: a callback cannot
        st.session_state["ask_leave_several"] = (act.of, max(1, act.page))
        st.rerun(STAGE)
    elif act.do == "leave":
        choose_from_next_run("books", [book_id for book_id in now.book_ids if book_id != act.of])
    elif act.do == "make":
        try:
            make_gists(now.workspace, now.workspace.library.book(act.of))
            st.toast("The gists are being made. Ask again when they are ready.")
        except ReadAgentError as error:
            st.session_state["ask_trouble"] = error
    st.rerun("app")


def _handle(now: Several, act: Act) -> None:
    """Carry out an act of the person on an exchange."""
    if act.do == "earlier":
        st.session_state["ask_all"] = True
        return
    exchange = next((e for e in now.exchanges if e.id == act.of), None)
    if exchange is None:
        return
    job = now.workspace.jobs.get(job_key(exchange.id))
    if act.do in ("again", "more", "built-in"):
        now.look_ups = MOST_LOOK_UPS if act.do == "more" else now.look_ups
        _start(now, exchange.question, like=exchange, model=BuiltInReader() if act.do == "built-in" else None)
        return
    if act.do == "stop" and job:
        job.cancel()
    elif act.do == "hurry" and job:
        job.hurry()
    elif act.do == "cite":
        _follow(now, exchange, act)
    if act.do in ("cite", "replay") and (now.current is None or exchange.id != now.current.id):
        choose_exchange(now, exchange)
        st.rerun("app")
    st.rerun(LIVE)


def _follow(now: Several, exchange: Exchange, act: Act) -> None:
    """Go to the book, the page and the words that the clicked claim rests on."""
    answer = replay.answer_of(exchange_now(now.workspace, exchange)[1])
    checked = checked_answer_of_several(now.workspace, answer.text, answer) if answer else None
    number = int(act.text) if act.text.isdecimal() else -1
    if checked is None or not 0 <= number < len(checked.citations):
        return
    cited = checked.citations[number]
    now.current = exchange
    memory = opened_memory(now, cited.book)
    only = replace(checked, pieces=(), loose=(cited,))
    places = page_passages(only, memory).get(cited.page, []) if memory else []
    nonce = (st.session_state.get("ask_focus") or {}).get("nonce", 0) + 1
    focus = {"exchange": exchange.id, "book": cited.book, "page": cited.page, "places": places, "nonce": nonce}
    st.session_state["ask_focus"] = focus


def _start(
    now: Several, text: str, *, options: str = "", like: Exchange | None = None, model: ChatModel | None = None
) -> None:
    """Ask, and draw what that changes; called from a widget's callback. An error is shown at the line."""
    try:
        ask(now, text, options=options, like=like, model=model)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
        return
    st.rerun(LIVE)


# --- the conversation -----------------------------------------------------------------------------


def _talk(now: Several) -> None:
    with st.container(key="ask_thread", height=480, autoscroll=False, border=False):  # scroll.js controls its position
        records = several_payload.finished_records(now)
        left_out = len(now.exchanges) - len(several_payload.shown_exchanges(now))
        answer_view.show_conversation(
            SEVERAL,
            records,
            lambda act: _handle(now, act),
            earlier=f"Show {left_out} earlier {'question' if left_out == 1 else 'questions'}" if left_out else "",
            empty="Ask these books one question. The answer says which book and page every claim rests on.",
        )
    with st.container(key="ask_line", gap="small"):
        label = f"Ask these {len(now.book_ids)} books"
        st.chat_input(label, key="ask_input", max_chars=20_000, on_submit=partial(_submit, now))
        if trouble := st.session_state.pop("ask_trouble", None):
            shell.error_box(trouble)


def _submit(now: Several) -> None:
    text = st.session_state["ask_input"]
    if text and text.strip():
        _start(now, text)
