"""Ask: the gist memory on one side, the conversation on the other; looked-up pages open in place as they are read."""

from __future__ import annotations

import time

import streamlit as st

from pages.parts import answer_view, ask_side, ask_talk, ask_told, pulse, shell
from pages.parts import book as current
from pages.parts.ask_prompts import show_prompts
from pages.parts.ask_state import NOTHING, Scene, name_in_address, scene, standing, tells_more
from pages.parts.ask_talk import LIVE, STAGE
from pages.parts.cached import get_study
from pages.parts.memory_view import send_pages, show_memory
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Exchange
from readagent_core.methods.base import LookedUp
from readagent_core.study import replay
from readagent_core.study.asking import Asking, job_key, state_of

POLL_SECONDS = (0.1, 0.4)  # soon after a question, and later
SOON_SECONDS = 5.0
AT_ONCE_SECONDS = 0.04  # a look-up that comes so soon is told together with its question
NEWS_SECONDS = 0.25  # a click waits no longer than this for news of the question before it
LAST_SECONDS = 0.3  # between the end of an answer and all else that it changes


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
    send_pages(now.shown_memory, scope=ask_told.scope_of(now))
    st.fragment(_stage, key=STAGE)(now)


def _unread(book_id: str) -> None:
    shell.header("Ask", about="This book has not been read yet. Questions are answered from its gists.")
    if st.button("Read it now", type="primary", key="ask_read"):
        get_study().start_reading(book_id)
        st.switch_page("pages/read.py")


def _stage(now: Scene) -> None:
    """Everything but the sidebar: the parts, which show what ``_live`` tells them."""
    if st.session_state.pop("ask_leave", False):
        st.switch_page("pages/read.py")
    now.exchanges = [now.study.library.exchange(e.id) if e.state == "running" else e for e in now.exchanges]
    with st.container(key="ask_bar"):
        act = answer_view.show_replay(now.book.id, lambda of, step: ask_talk.stepped(now, of, step))
    if act and act.do == "prompt" and now.current and not tells_more(now, now.current):
        steps = replay.steps(standing(now.study, now.current)[1])
        show_prompts(steps, min(act.page, len(steps) - 1))
    st.segmented_control("Show", ("Conversation", "Memory"), default="Conversation", key="ask_tabs", required=True,
                         label_visibility="collapsed", width="stretch")  # fmt: skip
    with st.container(key="ask_two"):
        left, right = st.columns([1.18, 1], gap=None)
        with left, st.container(key="ask_memory"):
            show_memory(
                talk=now.book.id,
                key="memory",
                height="stretch",
                on_act=lambda act: ask_talk.open_in_read(now, act.page),
            )
        with right, st.container(key="ask_talk", gap=None):
            ask_talk.draw(now)
    st.fragment(_live, key=LIVE)(now)


def _live(now: Scene) -> None:
    """What changes as answers come; runs by itself while one is under way."""
    if now.ended:  # the sidebar names the conversation, and the suggestions come back
        st.rerun(scope="app")
    asked, now.just_asked = now.just_asked, None
    came = False
    if asked:
        now.heard = NOTHING
        came = _news(now, asked, AT_ONCE_SECONDS)
        if not came:
            answer_view.tell(now.book.id, ask_told.told(now), slot="first")
    under_way = asked or next((e for e in now.exchanges if state_of(now.study, e) == "running"), None)
    soon = under_way is not None and time.time() - under_way.asked < SOON_SECONDS
    if under_way and soon and not came:
        _news(now, under_way, NEWS_SECONDS)
    running = now.running
    answer_view.tell(now.book.id, ask_told.told(now))
    if asked:
        name_in_address(now, asked)
    now.ended, now.watched = (now.watched or asked is not None) and not running, running
    pulse.beat(LAST_SECONDS if now.ended else POLL_SECONDS[not soon] if running else None, key="ask")


def _news(now: Scene, exchange: Exchange, seconds: float) -> bool:
    """Whether a look-up was made, an answer began or all ended since this was asked last; waits a moment for it, which
    is sooner seen than at the next beat.
    """
    job = now.study.jobs.get(job_key(exchange.id))
    until = time.monotonic() + seconds
    while True:
        asking = job.snapshot.value if job else None
        heard = NOTHING
        if isinstance(asking, Asking):
            heard = sum(isinstance(event, LookedUp) for event in asking.events), bool(asking.text)
        ended = job is None or not job.running
        if heard != now.heard or ended or time.monotonic() > until:
            break
        time.sleep(0.005)
    came = ended or heard != now.heard
    now.heard = heard
    return came


try:
    screen()
except ReadAgentError as error:
    shell.error_box(error)
