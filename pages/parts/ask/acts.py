"""What a person does on the Ask screen: with an exchange, in the memory, with a book of several.

Every act is a callback, which runs before anything is drawn again; then only what it changed is drawn.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from pages.parts.ask.book_views import scope_of
from pages.parts.ask.keeping import remove_answer, store_answer
from pages.parts.ask.one_state import AskOneBook, limit_of, page_before_here, set_limit
from pages.parts.ask.record import MOST_LOOK_UPS
from pages.parts.ask.several_state import Several
from pages.parts.ask.spots import Spots, spots_on_page
from pages.parts.ask.state import AskState, ask, choose_exchange, exchange_now
from pages.parts.read import marks
from pages.parts.read.start import make_gists
from pages.parts.shared.chosen_books import choose_from_next_run
from pages.parts.shared.component import Act
from readagent_core.answering import replay
from readagent_core.answering.asking import job_key
from readagent_core.errors import NotInLibraryError, ReadAgentError
from readagent_core.export.citation_labels import page_passages
from readagent_core.library.records import Exchange
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin.reader import BuiltInReader

STAGE, LIVE = "ask_stage", "ask_live"  # the fragments: everything but the sidebar, and what changes as answers come


def stepped(now: AskState, exchange_id: str, step: int) -> None:
    """Put the step, which the browser shows already, into the address."""
    if now.current and now.current.id == exchange_id:
        choose_exchange(now, now.current, step=step)
    st.rerun(LIVE)


def act_in_memory(now: AskOneBook, act: Act) -> None:
    """Carry out an act of the person in the memory view."""
    if act.do == "limit":
        set_limit(now, on=True, page=act.page)
    elif act.do == "unlimit":
        set_limit(now, on=False)
    elif act.do == "what-if" and now.current:
        start_asking(now, now.current.question, like=now.current, beside=True, pages=act.text)
        return
    elif act.do == "open":
        if spots := spots_on_page(now, act.page, book_id=now.book.id):
            st.session_state["ask_panel_of"] = now.book.id  # the answer stays beside its words
        _leave(now.book.id, act.page, spots)
    st.rerun("app")


def act_on_book(now: Several, act: Act) -> None:
    """Carry out what the person did with a book.

    That is unfold, fold, unlimit, limit (as it was), open (in Read), make (gists), or leave.
    """
    if act.do in ("unfold", "fold"):
        (now.opened.add if act.do == "unfold" else now.opened.discard)(act.of)
    elif act.do == "unlimit":
        now.workspace.library.set_limit(act.of, on=False)
    elif act.do == "limit":
        now.workspace.library.set_limit(act.of, on=True, paragraph=now.workspace.library.position(act.of).limit)
    elif act.do == "open":
        found = [[int(part) for part in act.text.split()]] if act.text else []  # of a book without gists
        _leave(act.of, max(1, act.page), found or spots_on_page(now, act.page, book_id=act.of))
    elif act.do == "leave":
        choose_from_next_run("books", [book_id for book_id in now.chosen.book_ids if book_id != act.of])
    elif act.do == "make":
        try:
            make_gists(now.workspace, now.workspace.library.book(act.of))
            st.toast("The gists are being made. Ask again when they are ready.")
        except ReadAgentError as error:
            st.session_state["ask_trouble"] = error
    st.rerun("app")


def _leave(book_id: str, page: int, spots: Spots) -> None:
    """Have the next run switch to Read at this page, or at the words at ``spots``: a callback cannot."""
    if spots:
        st.session_state["cited_words"] = {"id": f"{book_id} {time.time()}", "spots": spots}
    st.session_state["ask_leave"] = (book_id, page)
    st.rerun(STAGE)


def handle(now: AskState, act: Act) -> None:
    """Carry out an act of the person on an exchange."""
    if act.do == "earlier":
        st.session_state["ask_all"] = True
        return
    if act.do == "ask":
        ask_or_keep(now, act.text, whole=act.page == 1)
        return
    if act.do == "ask-kept" and isinstance(now, AskOneBook):
        _ask_kept(now, act.text)
        return
    if act.do == "recorded" and isinstance(now, AskOneBook):
        with suppress(NotInLibraryError):
            choose_exchange(now, now.workspace.library.exchange(act.text))
        st.rerun("app")
    exchange = next((e for e in now.exchanges if e.id == act.of), None)
    if exchange is None and any(e.facts.beside == act.of for e in now.exchanges):  # an older answer, of a recording
        with suppress(NotInLibraryError):
            exchange = now.workspace.library.exchange(act.of)
    if exchange is None:
        return
    job = now.workspace.jobs.get(job_key(exchange.id))
    if act.do == "let-in":
        if isinstance(now, Several):
            let_in_all(now)
        elif isinstance(now, AskOneBook):
            now.method = exchange.method
            let_in_up_to(now, None)
        start_asking(now, exchange.question, like=exchange, redraw="app")
        return
    if act.do in ("again", "method", "more", "built-in", "whole-memory"):
        if act.do != "whole-memory":
            now.method = act.text or exchange.method
        now.look_ups = MOST_LOOK_UPS if act.do == "more" else now.look_ups
        other = BuiltInReader() if act.do == "built-in" else None
        answered = replay.answer_of(exchange_now(now.workspace, exchange)[1]) is not None
        beside = answered and act.do in ("method", "whole-memory")
        start_asking(now, exchange.question, like=exchange, model=other, beside=beside)
        return
    if act.do == "connect":
        st.session_state["ask_connect"] = True
        st.rerun(STAGE)
    if act.do == "keep":
        try:
            store_answer(now.workspace, exchange)
        except ReadAgentError as error:
            st.session_state["ask_trouble"] = error
            st.rerun(STAGE)
    elif act.do == "release":
        remove_answer(now.workspace, exchange, now.book_ids)
    elif act.do == "stop" and job:
        job.cancel()
    elif act.do == "hurry" and job:
        job.hurry()
    elif act.do == "cite":
        _follow(now, exchange, act)
    if act.do in ("keep", "release") and isinstance(now, AskOneBook) and now.beside_text:
        st.rerun([LIVE, marks.FRAGMENT])
    if act.do in ("cite", "replay") and (now.current is None or exchange.id != now.current.id):
        sent = now.shows(exchange)
        choose_exchange(now, exchange)
        if not sent:  # the pages of another memory are sent by the whole screen
            st.rerun("app")
    st.rerun(LIVE)


def follow_address(now: AskState, exchange_id: str) -> None:
    """The browser went back: show what its address names, else the conversation of the exchange that stood there."""
    if exchange_id and isinstance(now, AskOneBook):
        st.session_state.pop(now.kept_key, None)
        with suppress(NotInLibraryError):
            named = now.workspace.library.exchange(exchange_id)
            st.session_state[f"conversation {now.book.id}"] = named.conversation_id
    st.rerun("app")


def _follow(now: AskState, exchange: Exchange, act: Act) -> None:
    """Go to the book, the page and the words that the clicked claim rests on."""
    answer = replay.answer_of(exchange_now(now.workspace, exchange)[1])
    checked = now.check(exchange, answer.text, answer) if answer else None
    number = int(act.text) if act.text.isdecimal() else -1
    cited = checked.citations[number] if checked and 0 <= number < len(checked.citations) else None
    book = cited.book if cited else 0
    if not (act.page or book):  # a quotation found nowhere leads to no page
        return
    places: list[tuple[int, int]] = []
    line = cited.places[0].paragraph if cited and cited.places and not act.page else 0
    if checked and cited and (memory := now.memory_of(exchange, book)):
        places = page_passages(replace(checked, pieces=(), loose=(cited,)), memory).get(act.page, [])
    nonce = (st.session_state.get("ask_focus") or {}).get("nonce", 0) + 1
    st.session_state["ask_focus"] = {
        "exchange": exchange.id,
        "citation": number,
        "book": book,
        "page": act.page,
        "places": places,
        "line": line,
        "nonce": nonce,
    }


def ask_or_keep(now: AskState, text: str, *, options: str = "", whole: bool = False) -> None:
    """Start to ask; where the limit lets nothing in, keep the question: the line then asks what is to be let in."""
    if isinstance(now, AskOneBook):
        key = now.kept_key
        if now.limit == 0:
            st.session_state[key] = (text, options, whole)
            if now.recording:  # whose answer and replay are left
                st.rerun("app")
            return
        if key in st.session_state and st.session_state[key][0] == text:  # it waits no longer
            del st.session_state[key]
    elif isinstance(now, Several):
        if not now.shelf.books:
            st.session_state[now.kept_key] = (text, options, whole)
            st.session_state["ask_back"] = text
            return
        st.session_state.pop(now.kept_key, None)
    start_asking(now, text, options=options, whole=whole, redraw=STAGE if options.strip() else LIVE)


def _ask_kept(now: AskOneBook, let_in: str) -> None:
    """Ask the question that waits, once ``whole``, ``first`` (page 1) or ``here`` is let in; '' puts it back."""
    text, options, whole = st.session_state.pop(now.kept_key)
    if let_in in ("whole", "first", "here"):
        let_in_up_to(now, {"first": 1, "here": page_before_here(now)}.get(let_in))
    if let_in:
        start_asking(now, text, options=options, whole=whole, redraw="app")  # the sidebar and the gists let in too
    else:
        st.session_state["ask_back"] = text
    st.rerun("app")


def let_in_all(now: Several) -> None:
    """Turn off the spoiler limits of the chosen books."""
    limited = [book.id for book in now.shelf.books if now.shelf.is_limited(book)]
    for book_id in [book.id for book in now.kept_out] + limited:
        now.workspace.library.set_limit(book_id, on=False)


def let_in_and_ask(now: Several) -> None:
    """Let in the books that are kept out, and ask the question that waits for that, if one does."""
    let_in_all(now)
    if kept := st.session_state.pop(now.kept_key, None):
        text, options, whole = kept
        st.session_state["ask_input"] = ""  # where it waited
        start_asking(now, text, options=options, whole=whole, redraw="app")
    st.rerun("app")


def let_in_up_to(now: AskOneBook, page: int | None) -> None:
    """Have the limit let in the pages up to ``page``; None: turn it off."""
    set_limit(now, on=page is not None, page=page)
    now.position = now.workspace.library.position(now.book.id).on_screen
    now.limit = limit_of(now, now.gisting, now.memory)


def start_asking(
    now: AskState,
    text: str,
    *,
    options: str = "",
    whole: bool = False,
    like: Exchange | None = None,
    model: ChatModel | None = None,
    beside: bool = False,
    pages: str | None = None,
    redraw: str = LIVE,
) -> None:
    """Ask, and draw what that changes; called from a widget's callback. An error is shown at the line.

    ``redraw``: the fragment that is drawn again, or "app" for the whole screen.
    """
    shown = scope_of(now) if isinstance(now, AskOneBook) else ""
    try:
        ask(now, text, options=options, whole=whole, like=like, model=model, beside=beside, pages=pages)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
        if like is None and not beside:  # it was typed
            st.session_state["ask_back"] = text
        return
    if isinstance(now, AskOneBook) and scope_of(now) != shown:
        redraw = "app"
    if redraw == "app" and now.current:  # the whole screen begins with what the address names
        now.name_in_address(now.current)
    st.rerun(redraw)
