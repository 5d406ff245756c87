"""What changes on the screen while an answer comes: a fragment of Ask, and of its panel in Read."""

from __future__ import annotations

import streamlit as st

from pages.parts.ask import answer_view, payload
from pages.parts.ask.several_state import Several
from pages.parts.ask.shelf_views import opened_books
from pages.parts.ask.state import AskState
from pages.parts.shared import polling

POLL_SECONDS = 0.12  # between a word that has come and the next look, on top of what the look takes


def draw(now: AskState) -> None:
    """What changes while an answer comes; runs again by itself until the answer has ended and all of it is shown."""
    asked, now.just_asked = now.just_asked, None
    # the sidebar names the conversation, and the suggestions are shown again; or a book was opened, whose pages are
    # sent by the whole screen
    whole = now.ended or (isinstance(now, Several) and bool({s for s, _ in opened_books(now).values()} - now.sent))
    if not whole:
        answer_view.send_state(now.name, payload.ask_state(now))
    if asked:
        now.name_in_address(asked)
    if whole:
        st.rerun(scope="app")
    running = now.running
    now.ended, now.watched = (now.watched or asked is not None) and not running, running
    polling.rerun_after(POLL_SECONDS if running or now.ended else None, key="ask")
