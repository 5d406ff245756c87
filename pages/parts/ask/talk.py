"""The conversation side of Ask: the exchanges, what a person does with them, and the line to write in.

Every act is a callback, which runs before anything is drawn again; then only what it changed is drawn.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

import streamlit as st

from pages.parts.ask import answer_view, payload
from pages.parts.ask.book_views import scope_of
from pages.parts.ask.keeping import remove_answer, store_answer
from pages.parts.ask.pieces import page_passages
from pages.parts.ask.record import MOST_LOOK_UPS
from pages.parts.ask.several_state import Several
from pages.parts.ask.spots import spots_on_page
from pages.parts.ask.state import (
    AskOneBook,
    AskState,
    ask,
    choose_exchange,
    exchange_now,
    limit_of,
    pages_read,
    set_limit,
)
from pages.parts.read.start import estimate_of, make_gists
from pages.parts.shared import polling, shell
from pages.parts.shared.chosen_books import choose_from_next_run
from pages.parts.shared.component import Act
from readagent_core.answering import costs, replay, suggesting
from readagent_core.answering.asking import job_key
from readagent_core.errors import ReadAgentError
from readagent_core.gisting.job import job_key as gisting_job_key
from readagent_core.jobs import JobState
from readagent_core.library.records import Exchange
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin.reader import BuiltInReader

SUGGEST_SECONDS = 0.7  # between two looks at the suggestions
GISTS_SECONDS = 2.0  # between two looks at gists that are being made
GISTS_ADD = "With gists an answer remembers the whole book, not only passages that share your words."
KEPT = "ask_kept"  # in the session, of a book: a question, and its options, that waits for what the limit is to let in
STAGE, LIVE = "ask_stage", "ask_live"  # the fragments: everything but the sidebar, and what changes as answers come


def draw(now: AskState) -> None:
    empty = "Ask about the book. The answer says which pages it rests on; a click shows the words."
    if isinstance(now, Several):
        empty = "Ask these books one question. The answer says which book and page every claim rests on."
    with st.container(key="ask_thread", height=480, autoscroll=False, border=False):  # scroll.js controls its position
        records = payload.finished_records(now)
        left_out = 0 if now.recording else len(now.exchanges) - len(payload.shown_exchanges(now))
        answer_view.show_conversation(
            now.name,
            records,
            lambda act: _handle(now, act),
            earlier=f"Show {left_out} earlier {'question' if left_out == 1 else 'questions'}" if left_out else "",
            empty=empty,
        )
    with st.container(key="ask_line", gap="small"):
        _line(now)


# --- acts -----------------------------------------------------------------------------------------


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
        _start(now, now.current.question, like=now.current, beside=True, pages=act.text)
        return
    elif act.do == "open":
        if spots := spots_on_page(now, act.page):
            st.session_state["cited_words"] = {"id": f"{now.book.id} {time.time()}", "spots": spots}
            st.session_state["ask_panel_of"] = now.book.id  # the answer stays beside its words
        _leave(now.book.id, act.page)
    st.rerun("app")


def act_on_book(now: Several, act: Act) -> None:
    """Carry out what the person did with a book: unfold, fold, unlimit, open (in Read), make (gists), leave."""
    if act.do in ("unfold", "fold"):
        (now.opened.add if act.do == "unfold" else now.opened.discard)(act.of)
    elif act.do == "unlimit":
        now.workspace.library.set_limit(act.of, on=False)
    elif act.do == "open":
        _leave(act.of, max(1, act.page))
    elif act.do == "leave":
        choose_from_next_run("books", [book_id for book_id in now.chosen.book_ids if book_id != act.of])
    elif act.do == "make":
        try:
            make_gists(now.workspace, now.workspace.library.book(act.of))
            st.toast("The gists are being made. Ask again when they are ready.")
        except ReadAgentError as error:
            st.session_state["ask_trouble"] = error
    st.rerun("app")


def _leave(book_id: str, page: int) -> None:
    """Have the next run switch to Read at this page: a callback cannot."""
    st.session_state["ask_leave"] = (book_id, page)
    st.rerun(STAGE)


def _handle(now: AskState, act: Act) -> None:
    """Carry out an act of the person on an exchange."""
    if act.do == "earlier":
        st.session_state["ask_all"] = True
        return
    exchange = next((e for e in now.exchanges if e.id == act.of), None)
    if exchange is None:
        return
    job = now.workspace.jobs.get(job_key(exchange.id))
    if act.do in ("again", "method", "more", "built-in", "whole-memory"):
        if act.do != "whole-memory":
            now.method = act.text or exchange.method
        now.look_ups = MOST_LOOK_UPS if act.do == "more" else now.look_ups
        other = BuiltInReader() if act.do == "built-in" else None
        _start(now, exchange.question, like=exchange, model=other, beside=act.do == "whole-memory")
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
    if act.do in ("cite", "replay") and (now.current is None or exchange.id != now.current.id):
        sent = now.shows(exchange)
        choose_exchange(now, exchange)
        if not sent:  # the pages of another memory are sent by the whole screen
            st.rerun("app")
    st.rerun(LIVE)


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
    if checked and cited and (memory := now.memory_of(exchange, book)):
        places = page_passages(replace(checked, pieces=(), loose=(cited,)), memory).get(act.page, [])
    nonce = (st.session_state.get("ask_focus") or {}).get("nonce", 0) + 1
    focus = {"exchange": exchange.id, "book": book, "page": act.page, "places": places, "nonce": nonce}
    st.session_state["ask_focus"] = focus


def _start(
    now: AskState,
    text: str,
    *,
    options: str = "",
    whole: bool = False,
    like: Exchange | None = None,
    model: ChatModel | None = None,
    beside: bool = False,
    pages: str | None = None,
) -> None:
    """Ask, and draw what that changes; called from a widget's callback. An error is shown at the line."""
    shown = scope_of(now) if isinstance(now, AskOneBook) else ""
    try:
        ask(now, text, options=options, whole=whole, like=like, model=model, beside=beside, pages=pages)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
        return
    same = not isinstance(now, AskOneBook) or scope_of(now) == shown
    st.rerun((STAGE if options.strip() else LIVE) if same else "app")


# --- the line to write in -------------------------------------------------------------------------


def _line(now: AskState) -> None:
    label = f"Ask these {len(now.chosen.book_ids)} books" if isinstance(now, Several) else "Ask about the book"
    if isinstance(now, AskOneBook):
        if now.limit is not None and not (now.limit and now.beside_text):  # which the panel says above
            _say_limit(now)
        answer_view.show_suggestions(
            now.book.id,
            _suggestions(now),
            lambda act: _start(now, act.text, whole=act.page == 1),
            language=now.book.language,
        )
        if not now.running:
            _suggest(now)
    elif not now.exchanges:
        items = [(text, False) for text in suggesting.ABOUT_SEVERAL]
        answer_view.show_suggestions(now.name, items, lambda act: _start(now, act.text), language="en")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if quote := st.session_state.pop("ask_quote", ""):  # words selected in Read
            st.session_state["ask_input"] = f"{quote}\n"
        st.chat_input(label, key="ask_input", max_chars=20_000, on_submit=_submit, args=(now,))
        field = _options_field()
        given = sum(bool(line.strip()) for line in st.session_state.get(field, "").splitlines())
        with st.popover(
            f"Choices: {given}" if given else "Choices",
            icon=":material/checklist:",
            help=f"{given} choices go with the question" if given else "Give answers to choose from",
            key="ask_options_open",
        ):
            st.text_area("Answers to choose from, one per line", key=field, height=140)
    _say_price(now)
    trouble = st.session_state.pop("ask_trouble", None)
    if trouble:
        shell.error_box(trouble)


def _say_price(now: AskState) -> None:
    """Who answers and what a question costs; of a book without all its gists what they would add, with their price."""
    model = now.workspace.model
    who = model.name if model.is_language_model else "Built-in reader"
    if isinstance(now, AskOneBook):
        price = costs.price_of_question(model, now.memory, now.method, look_ups=now.look_ups)
        st.caption(shell.as_text(f"{who}: {price}{'' if price == 'free' else ' a question'}."))
        if None in now.memory.gists and not (now.beside_text and now.exchanges):  # the answer needs the panel's room
            _say_gists(now)


def _say_gists(now: AskOneBook) -> None:
    """What gists would add and what they take, or how far they are; asks for the whole screen when they are made."""
    gisting = next(iter(now.workspace.library.gistings(now.book.id)), None)
    job = now.workspace.jobs.get(gisting_job_key(gisting)) if gisting else None
    running = job is not None and job.running
    polling.rerun_after(GISTS_SECONDS if running else None, key="ask_gists")
    if not running and st.session_state.pop("ask_gisting", False):
        st.rerun(scope="app")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_gists"):
        if gisting and running:
            st.session_state["ask_gisting"] = True
            made = f"{gisting.gists} {'gist is' if gisting.gists == 1 else 'gists are'} made"
            st.caption(f"{made}; answers use what is there and search the rest.")
            return
        takes = "a few seconds, free"
        if now.workspace.model.is_language_model:
            takes = estimate_of(now.workspace, now.book)
        st.caption(shell.as_text(f"{GISTS_ADD} {takes[0].upper()}{takes[1:]}."))
        st.button("Make gists", key="ask_make", on_click=_make_gists, args=(now,))


def _make_gists(now: AskOneBook) -> None:
    try:
        make_gists(now.workspace, now.book)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
    st.rerun("app")


def _say_limit(now: AskOneBook) -> None:
    """What the limit lets into an answer; where it is nothing, the ways out."""
    if now.limit:
        st.caption(f"Answers see {'page 1' if now.limit == 1 else f'pages 1 to {now.limit}'} only.")
        return
    kept = st.session_state.get(f"{KEPT} {now.book.id}")
    said = "The limit keeps every page out." if pages_read(now) else "You have not read a page to its end yet."
    with st.container(key="ask_from", gap="small"):
        st.caption(f"{said} {'Answer it from:' if kept else 'A question is answered from:'}")
        with st.container(horizontal=True, gap="small"):
            first: Literal["primary", "secondary"] = "primary" if kept else "secondary"
            st.button("The whole book", key="ask_unlimit", type=first, on_click=_lift, args=(now, None))
            st.button("Page 1 only", key="ask_first_page", on_click=_lift, args=(now, 1))


def _lift(now: AskOneBook, page: int | None) -> None:
    """Turn the spoiler limit off, or move it to a page, and ask the question that was kept."""
    set_limit(now, on=page is not None, page=page)
    now.position = now.workspace.library.position(now.book.id).on_screen
    now.limit = limit_of(now, now.gisting, now.memory)
    text, options = st.session_state.pop(f"{KEPT} {now.book.id}", ("", ""))
    if text:
        _start(now, text, options=options)
    st.rerun("app")


def _options_field() -> str:
    """The key of the options' field: a new one a question, for a closed popover would send the old text again."""
    return f"ask_options_{st.session_state.get('ask_options_used', 0)}"


def _submit(now: AskState) -> None:
    """Ask the question that was submitted."""
    text, options = st.session_state["ask_input"], st.session_state.get(_options_field(), "")
    if text and text.strip():
        if options.strip():
            st.session_state["ask_options_used"] = st.session_state.get("ask_options_used", 0) + 1
        if isinstance(now, AskOneBook) and now.limit == 0:  # the line above asks for what is to be let in
            st.session_state[f"{KEPT} {now.book.id}"] = (text, options)
            return
        _start(now, text, options=options)


def _suggestions(now: AskOneBook) -> list[tuple[str, bool]]:
    """At most four questions: those that always fit, then some about this text."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    if not memory.readable:
        return []
    finished = now.limit is None and memory.complete
    cache = st.session_state.setdefault("always_asked", {})  # finding names reads every gist: once, not at every run
    name = (now.gisting.id, now.limit, len(memory.readable))
    if name not in cache:
        cache[name] = [(s.text, True) for s in suggesting.standard_questions(memory, finished=finished)]
    always = cache[name]
    saved = suggesting.saved_suggestions(now.workspace, now.gisting.id, up_to=now.limit)
    if saved is None and not now.workspace.model.is_language_model:
        saved = cache.setdefault(("by rule", *name), suggesting.suggest_by_rule(memory))
    asked = {e.question for e in now.exchanges}
    return [pair for pair in [*((t, False) for t in (saved or [])[:2]), *always] if pair[0] not in asked][:4]


def _suggest(now: AskOneBook) -> None:
    """A button that asks the model for questions, where none were suggested for this reading yet, and its progress."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    fresh = suggesting.saved_suggestions(now.workspace, now.gisting.id, up_to=now.limit) is None
    job = suggesting.suggesting_job(now.workspace, now.gisting.id, up_to=now.limit)
    running = job is not None and job.running
    polling.rerun_after(SUGGEST_SECONDS if running else None, key="ask_suggesting")
    if not (fresh and now.workspace.model.is_language_model and memory.readable):
        return
    if job is not None and running:
        with st.container(horizontal=True, vertical_alignment="center", key="ask_suggesting"):
            st.caption("Thinking of questions")
            st.button("Stop", key="ask_suggest_stop", disabled=job.cancelled, on_click=job.cancel)
        return
    if job is not None and job.snapshot.state == JobState.FAILED:
        st.caption(shell.as_text(job.snapshot.error))
    price = costs.price_of_words(now.workspace.model, memory.gist_words)
    if st.button(
        shell.as_text(f"Suggest questions, {price}"), icon=":material/lightbulb:", type="tertiary", key="ask_suggest"
    ):
        suggesting.start_suggesting(now.workspace, now.gisting.id, memory, up_to=now.limit)
        st.rerun(scope="fragment")
