"""Ask: the gist memory on one side, the conversation on the other; looked-up pages open in place as they are read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.parts import answer_view, ask_side, shell
from pages.parts import book as current
from pages.parts.ask_prompts import show_prompts
from pages.parts.ask_record import as_of, checked_answer, exchange_record, hidden, page_passages, waiting_line
from pages.parts.ask_state import (
    SHOWN,
    Scene,
    ask,
    choose_exchange,
    page_limit,
    scene,
    standing,
    step_asked,
    tells_more,
)
from pages.parts.cached import get_study
from pages.parts.memory_view import send_pages, show_memory
from readagent_core.errors import ReadAgentError
from readagent_core.jobs import Job
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.methods.base import Event, LookedUp
from readagent_core.study import replay, suggesting
from readagent_core.study.asking import Asking, job_key, state_of

POLL_SECONDS = (0.2, 0.4)  # soon after a question, and later; nothing is uploaded here, which polling could lose
SOON_SECONDS = 5.0
FIRST_SECONDS = 0.06  # how long is waited for the look-up of a question just asked, rather than draw without it
STAGE = "ask_stage"


def screen() -> None:
    study = get_study()
    chosen = current.current(study)
    if chosen is None:
        shell.header("Ask", about="No book is open yet.")
        st.page_link("pages/library.py", label="Choose a book", icon=":material/arrow_back:")
        return
    now = scene(study, chosen)
    if now is None:
        with st.sidebar:
            current.picker(study, chosen)
        _unread(chosen.id)
        return
    answer_view.dress()
    current.set_address(book=chosen.id)
    ask_side.draw(now)
    send_pages(now.shown_memory, scope=_scope(now))
    st.fragment(_stage, key=STAGE)(now)


def _stage(now: Scene) -> None:
    """What a question sets going: run by itself as soon as one is asked, so that the rest of the screen need not be."""
    pace = _pace(now)
    st.fragment(_draw, run_every=pace)(now, pace)


def _pace(now: Scene) -> float | None:
    """How often an answer under way is looked at; None while there is none."""
    asked = [e.asked for e in now.exchanges if state_of(now.study, e) == "running"]
    return POLL_SECONDS[time.time() - max(asked) > SOON_SECONDS] if asked else None


def _unread(book_id: str) -> None:
    shell.header("Ask", about="This book has not been read yet. Questions are answered from its gists.")
    if st.button("Read it now", type="primary", key="ask_read"):
        get_study().start_reading(book_id)
        st.switch_page("pages/read.py")


def _scope(now: Scene) -> str:
    return f"r{now.shown.id}"


def _draw(now: Scene, pace: float | None) -> None:
    """Everything but the sidebar; runs by itself while an answer is under way."""
    was_running = pace is not None
    now.exchanges = [now.study.library.exchange(e.id) if e.state == "running" else e for e in now.exchanges]
    now.current = next((e for e in now.exchanges if now.current and e.id == now.current.id), now.current)
    events = standing(now.study, now.current)[1] if now.current else []
    steps = replay.steps(events)
    at = len(steps) - 1 if was_running or not now.current else step_asked(len(steps))
    with st.container(key="ask_bar"):
        at = _replay_bar(now, steps, at)
    st.segmented_control("Show", ("Conversation", "Memory"), default="Conversation", key="ask_tabs", required=True,
                         label_visibility="collapsed", width="stretch")  # fmt: skip
    with st.container(key="ask_two"):
        left, right = st.columns([1.18, 1], gap=None)
        if was_running:  # what the eye waits for is drawn first
            with right, st.container(key="ask_talk", gap=None):
                _talk(now, steps, at)
        with left, st.container(key="ask_memory"):
            _memory(now, steps, at)
        if not was_running:
            with right, st.container(key="ask_talk", gap=None):
                _talk(now, steps, at)
    if was_running and _pace(now) != pace:  # last, so that a click which came just now is not lost
        st.rerun(scope="app")


def _replay_bar(now: Scene, steps: list[replay.Step], at: int) -> int:
    """The step that is shown, which a click may have changed."""
    if not now.current:
        st.caption("A new conversation. Whatever is asked is answered from the memory of this book, shown below.")
        return at
    link = f"?book={now.book.id}&exchange={now.current.id}&step={at + 1}"
    act, chosen = answer_view.show_replay([s.title for s in steps], exchange_id=now.current.id, at=at, link=link)
    if chosen is not None:
        at = chosen
        choose_exchange(now, now.current, step=at)
    if act and act.do == "prompt" and not tells_more(now, now.current):
        show_prompts(steps, at)
    return at


def _memory(now: Scene, steps: list[replay.Step], at: int) -> None:
    """The memory as it stood at step ``at``."""
    memory = now.shown_memory
    limits = [now.current.up_to if now.current else None, page_limit(now, shown=True) if now.limit else None]
    limit = min((n for n in limits if n is not None), default=None)
    step = steps[at] if now.current and steps and not tells_more(now, now.current) else None
    expanded = step.expanded if step else ()
    last = step is None or step.kind == replay.ANSWER
    passages = {}
    if now.current and step and last:
        _, events, text, _ = standing(now.study, now.current)
        answer = replay.answer_of(events)
        passages = page_passages(checked_answer(text, answer, memory), memory) if answer else {}
        passages = {n: spans for n, spans in passages.items() if n in expanded}
    marked = step.marked if step and step.kind == replay.LOOK_UP else ()
    here = now.current.id if now.current else ""
    asked = st.session_state.get("ask_focus") or {}
    asked = asked if asked.get("exchange") == here and last else {}
    from_reader = st.session_state.pop("ask_page", None)  # 'Ask about this page' in Read
    focus = from_reader or asked.get("page") or next(iter([*marked, *expanded]), None)
    show_memory(
        memory,
        scope=_scope(now),
        key=f"memory {_scope(now)}",
        expanded=expanded,
        passages=passages,
        marked=marked,
        focus=focus,
        passage=_passage(passages.get(asked.get("page", 0), []), asked.get("places", ())),
        nonce=asked.get("nonce", 0),
        up_to=limit,
        note=_note(memory, expanded, limit=limit),
        height="stretch",
    )


def _passage(spans: list[tuple[int, int]], places: list[tuple[int, int]]) -> int:
    """Which of a page's marked passages, in the order they stand, is the one of the claim that was clicked."""
    order = sorted(spans)
    return next((i for i, span in enumerate(order) if span in places), 0)


def _note(memory: GistMemory, expanded: tuple[int, ...], *, limit: int | None) -> str:
    """'25 gists, 2 opened in place, 1,945 words'"""
    numbers = [n for n in memory.readable if limit is None or n <= limit]
    words = sum(memory.page(n).words if n in expanded else gist.words for n in numbers if (gist := memory.gists[n - 1]))
    opened = f", {len(expanded)} opened in place" if expanded else ""
    return f"{len(numbers)} {'gist' if len(numbers) == 1 else 'gists'}{opened}, {words:,} words"


def _talk(now: Scene, steps: list[replay.Step], at: int) -> None:
    """The conversation: exchanges, questions to ask with one click, and the line to write in."""
    with st.container(key="ask_thread", height=480, autoscroll=False, border=False):  # thread.js keeps its place
        place = next((i for i, e in enumerate(now.exchanges) if now.current and e.id == now.current.id), 0)
        hidden = min(max(0, len(now.exchanges) - SHOWN), place)
        if hidden and not st.session_state.get("ask_all"):
            if st.button(f"Show {hidden} earlier questions", key="ask_earlier"):
                st.session_state["ask_all"] = True
                st.rerun(scope="app")
        else:
            hidden = 0
        for exchange in now.exchanges[hidden:]:
            _exchange(now, exchange, steps, at)
        if not now.exchanges:
            st.caption("Ask about the book. The answer says which pages it rests on; a click shows the words.")
    with st.container(key="ask_line", gap="small"):
        _line(now)


def _exchange(now: Scene, exchange: Exchange, steps: list[replay.Step], at: int) -> None:
    state, events, text, job = standing(now.study, exchange)
    known = {now.reading.id: now.memory, now.shown.id: now.shown_memory}
    memory = known.get(exchange.reading_id) or now.study.library.memory(exchange.reading_id)
    record = exchange_record(
        exchange,
        events,
        memory=memory,
        state=state,
        text=text,
        seconds=time.time() - exchange.asked,
        waiting=waiting_line(job.snapshot, now=time.time()) if job else "",
        current=now.current is not None and exchange.id == now.current.id,
        methods=ask_side.method_titles(now),
    )
    if record["current"] and not record["running"] and at < len(steps) - 1:
        looked = sum(step.kind == replay.LOOK_UP for step in steps[: at + 1])
        record = as_of(record, steps[at], looked)
    if tells_more(now, exchange):
        record = hidden(record)
    record |= {"among": len(now.exchanges) > 1, "last": exchange.id == now.exchanges[-1].id}
    answer_view.show_exchange(record, lambda act: _did(now, exchange, act, events, memory))


def _did(now: Scene, exchange: Exchange, act: answer_view.Act, events: Sequence[Event], memory: GistMemory) -> None:
    """What the person did with an exchange, before anything is drawn again."""
    if act.do == "cite":
        _follow(exchange, act, events, memory)
    if act.do in ("cite", "replay") and (now.current is None or exchange.id != now.current.id):
        choose_exchange(now, exchange)
        st.rerun(STAGE if exchange.reading_id == now.shown.id else "app")
    elif act.do == "stop":
        job = now.study.jobs.get(job_key(exchange.id))
        if job:
            job.cancel()
    elif act.do in ("again", "method"):
        now.method = act.text or exchange.method
        _start(now, exchange.question, like=exchange)


def _follow(exchange: Exchange, act: answer_view.Act, events: Sequence[Event], memory: GistMemory) -> None:
    """Go to the words that the clicked claim rests on."""
    answer = replay.answer_of(events)
    checked = checked_answer(answer.text, answer, memory) if answer else None
    citations = checked.citations if checked else ()
    number = int(act.text) if act.text.isdecimal() else -1
    only = replace(checked, pieces=(), loose=citations[number : number + 1]) if checked else None
    places = page_passages(only, memory).get(act.page, []) if number >= 0 else []
    nonce = (st.session_state.get("ask_focus") or {}).get("nonce", 0) + 1
    st.session_state["ask_focus"] = {"exchange": exchange.id, "page": act.page, "places": places, "nonce": nonce}


def _line(now: Scene) -> None:
    if not now.running:
        answer_view.show_suggestions(
            _suggestions(now),
            lambda act: _start(now, act.text, whole=act.page == 1),
            language=now.book.language,
            key="suggestions",
        )
        _suggest(now)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.chat_input("Ask about the book", key="ask_input", max_chars=20_000, on_submit=_asked, args=(now,))
        field = _options_field()
        given = sum(bool(line.strip()) for line in st.session_state.get(field, "").splitlines())
        with st.popover(
            str(given or ""),
            icon=":material/checklist:",
            help=f"{given} options go with the question" if given else "Give options to choose from",
            key="ask_options_open",
        ):
            st.text_area("Options, one a line", key=field, height=140)
    trouble = st.session_state.pop("ask_trouble", None)
    if trouble:
        shell.error_box(trouble)


def _options_field() -> str:
    """The key of the options' field: a new one a question, for a closed popover would send the old text again."""
    return f"ask_options_{st.session_state.get('ask_options_used', 0)}"


def _asked(now: Scene) -> None:
    """A question was sent off: it is asked before anything is drawn again."""
    text, options = st.session_state["ask_input"], st.session_state.get(_options_field(), "")
    if text and text.strip():
        st.session_state["ask_options_used"] = st.session_state.get("ask_options_used", 0) + 1
        _start(now, text, options=options)


def _suggestions(now: Scene) -> list[tuple[str, bool]]:
    """At most four questions: those that always fit, then some about this text."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    if not memory.readable:
        return []
    finished = now.limit is None and memory.complete
    cache = st.session_state.setdefault("always_asked", {})  # names are looked for in every gist: not at every run
    name = (now.reading.id, now.limit, len(memory.readable))
    if name not in cache:
        cache[name] = [(s.text, True) for s in suggesting.always(memory, finished=finished)]
    always = cache[name]
    kept = suggesting.kept(now.study, now.reading.id, up_to=now.limit)
    if kept is None and not now.study.model.is_language_model:
        kept = cache.setdefault(("by rule", *name), suggesting.by_rule(memory))
    asked = {e.question for e in now.exchanges}
    return [pair for pair in [*((t, False) for t in (kept or [])[:2]), *always] if pair[0] not in asked][:4]


def _suggest(now: Scene) -> None:
    """For a book nothing was suggested for: one call of the model, made only when it is asked for."""
    memory = now.memory if now.limit is None else now.memory.up_to(now.limit)
    fresh = suggesting.kept(now.study, now.reading.id, up_to=now.limit) is None
    if not (fresh and now.study.model.is_language_model and memory.readable):
        return
    if st.button("Suggest questions", icon=":material/lightbulb:", type="tertiary", key="ask_suggest"):
        with st.spinner("Thinking of questions"):
            job = suggesting.start(now.study, now.reading.id, memory, up_to=now.limit)
            ended = job.join(60)
        if ended.error:
            st.toast(ended.error, icon=":material/error:", duration="long")
        st.rerun(scope="app")


def _start(now: Scene, text: str, *, options: str = "", whole: bool = False, like: Exchange | None = None) -> None:
    """Ask, and draw the stage again; called from a widget's callback. Raises nothing of ours."""
    scope = _scope(now)
    try:
        exchange = ask(now, text, options=options, whole=whole, like=like)
    except ReadAgentError as error:
        st.session_state["ask_trouble"] = error
        return
    job = now.study.jobs.get(job_key(exchange.id))
    until = time.monotonic() + FIRST_SECONDS
    while job and job.running and not _looked(job) and time.monotonic() < until:
        time.sleep(0.005)
    st.rerun(STAGE if _scope(now) == scope else "app")  # another reading's pages are sent by the whole screen


def _looked(job: Job) -> bool:
    """Whether the first look-up, or a word of the answer, is there."""
    asking = job.snapshot.value
    return isinstance(asking, Asking) and bool(asking.text or any(isinstance(e, LookedUp) for e in asking.events))


try:
    screen()
except ReadAgentError as error:
    shell.error_box(error)
