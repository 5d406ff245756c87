"""Ask: the gist memory on one side, the conversation on the other; looked-up pages open in place as they are read."""

from __future__ import annotations

import streamlit as st

from pages.parts.ask import answer_view, payload, sidebar, talk
from pages.parts.ask.prompts import show_prompts
from pages.parts.ask.state import Scene, exchange_now, name_in_address, saw_later_pages, scene
from pages.parts.ask.talk import LIVE, STAGE
from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import add_style
from pages.parts.shared.memory_view import send_pages, show_memory
from readagent_core.errors import ReadAgentError
from readagent_core.workspace import replay
from readagent_core.workspace.reading import start_reading

POLL_SECONDS = 0.25


def screen() -> None:
    workspace = get_workspace()
    chosen = current.current(workspace)
    if chosen is None:
        shell.header("Ask", about="No book is open yet.")
        st.page_link("pages/library.py", label="Choose a book", icon=":material/arrow_back:")
        return
    now = scene(workspace, chosen)
    if now is None:
        with st.sidebar:
            current.picker(workspace, chosen)
        _unread(chosen.id)
        return
    add_style("answer_view/ask.css")
    current.set_address(book=chosen.id)
    sidebar.draw(now)
    send_pages(now.shown_memory, scope=payload.scope_of(now))
    st.fragment(_stage, key=STAGE)(now)


def _unread(book_id: str) -> None:
    shell.header("Ask", about="This book has not been read yet. Questions are answered from its gists.")
    if st.button("Read it now", type="primary", key="ask_read"):
        start_reading(get_workspace(), book_id)
        st.switch_page("pages/read.py")


def _stage(now: Scene) -> None:
    """Everything but the sidebar: the parts, which show what ``_live`` tells them."""
    if st.session_state.pop("ask_leave", False):
        st.switch_page("pages/read.py")
    now.exchanges = [now.workspace.library.exchange(e.id) if e.state == "running" else e for e in now.exchanges]
    with st.container(key="ask_bar"):
        act = answer_view.show_replay(now.book.id, lambda of, step: talk.stepped(now, of, step))
    if act and act.do == "prompt" and now.current and not saw_later_pages(now, now.current):
        steps = replay.steps(exchange_now(now.workspace, now.current)[1])
        show_prompts(steps, min(act.page, len(steps) - 1))
    st.segmented_control("Show", ("Conversation", "Memory"), default="Conversation", key="ask_tabs", required=True,
                         label_visibility="collapsed", width="stretch")  # fmt: skip
    with st.container(key="ask_two"):
        left, right = st.columns([1.18, 1], gap=None)
        with left, st.container(key="ask_memory"):
            show_memory(
                book=now.book.id,
                key="memory",
                height="stretch",
                on_act=lambda act: talk.open_in_read(now, act.page),
            )
        with right, st.container(key="ask_talk", gap=None):
            talk.draw(now)
    st.fragment(_live, key=LIVE)(now)


def _live(now: Scene) -> None:
    """What changes while an answer comes; runs again by itself until the answer has ended and all of it is shown."""
    if now.ended:  # the sidebar names the conversation, and the suggestions are shown again
        st.rerun(scope="app")
    answer_view.send_state(now.book.id, payload.ask_state(now))
    asked, now.just_asked = now.just_asked, None
    if asked:
        name_in_address(now, asked)
    running = now.running
    now.ended, now.watched = (now.watched or asked is not None) and not running, running
    polling.rerun_after(POLL_SECONDS if running or now.ended else None, key="ask")


try:
    screen()
except ReadAgentError as error:
    shell.error_box(error)
