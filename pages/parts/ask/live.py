"""What changes on the screen while an answer comes: a fragment of Ask, and of its panel in Read."""

from __future__ import annotations

import streamlit as st

from pages.parts.ask import answer_view, payload
from pages.parts.ask.several_state import Several
from pages.parts.ask.shelf_views import opened_books
from pages.parts.ask.state import AskState
from pages.parts.shared import polling
from readagent_core.answering.asking import job_key
from readagent_core.library.records import ExchangeState

POLL_SECONDS = 0.12  # between a word that has come and the next look, on top of what the look takes
NEWS_SECONDS = 0.25  # for which a look waits for news, so that the first word is shown as soon as it has come


def draw(now: AskState) -> None:
    """What changes while an answer comes; runs again by itself until the answer has ended and all of it is shown."""
    asked, now.just_asked = now.just_asked, None
    under_way = now.running or asked is not None  # and drawn so, even where it ends a moment after that
    _wait_for_news(now, NEWS_SECONDS if polling.asked("ask") else 0)
    now.reload_running()
    # the sidebar names the conversation, and the suggestions are shown again; or a book was opened, whose pages are
    # sent by the whole screen
    whole = now.ended or (isinstance(now, Several) and bool({s for s, _ in opened_books(now).values()} - now.sent))
    if not whole:
        answer_view.send_state(now.name, payload.ask_state(now))
    if asked:
        now.name_in_address(asked)
    begun = asked is not None and len(now.exchanges) == 1  # a conversation, which the sidebar lists
    if whole or begun:
        st.empty()  # a click on another screen that came meanwhile goes first: this run would take its place
        st.rerun(scope="app")
    running = now.running
    now.ended, now.watched = (now.watched or under_way) and not running, running
    polling.rerun_after(POLL_SECONDS if running or now.ended else None, key="ask")


def _wait_for_news(now: AskState, seconds: float) -> None:
    """Wait for what is new of the answer under way since the last look."""
    keys = [job_key(exchange.id) for exchange in now.exchanges if exchange.state == ExchangeState.RUNNING]
    job = next((job for key in keys if (job := now.workspace.jobs.get(key)) is not None and job.running), None)
    if job is not None:
        if seconds:
            job.wait_for_news(now.seen, seconds)
        now.seen = job.snapshot
