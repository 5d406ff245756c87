"""Ask beside the text: a panel in Read, on a phone a sheet, with the conversation of Ask and the line to write in.

It lies over the margin with the gists and the map, so that no line of the text moves. A claim's chip goes to the words
in the text (assets/memory_view/cited.js). The memory and the replay stay in Ask.
"""

from __future__ import annotations

import streamlit as st

from pages.parts.ask import live, sidebar, talk
from pages.parts.ask.acts import LIVE, STAGE
from pages.parts.ask.book_views import open_questions
from pages.parts.ask.one_state import AskOneBook, read_ahead, scene
from pages.parts.shared.chosen_books import choose_one
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

OPEN = "ask_panel_of"  # in the session: the id of the book that it is open beside


def toggle(book: Book, *, words: str = "") -> None:
    """Open the panel, or close one that is open; ``words``: selected in the text, for the line to write in."""
    if st.session_state.get(OPEN) == book.id and not words:
        del st.session_state[OPEN]
        return
    st.session_state[OPEN] = book.id
    if words:
        st.session_state["ask_quote"] = words


def draw(workspace: Workspace, book: Book) -> None:
    """Draw the panel where it is open beside this book."""
    if st.session_state.get(OPEN) != book.id:
        return
    now = scene(workspace, book)
    now.beside_text = True
    now.opening, now.opening_page = "", 0  # beside the text nothing is shown of pages not read yet
    if now.recording and not open_questions(now):
        now.exchanges, now.current = [], None
    sidebar.take_choices(now)
    read_ahead(now)
    st.fragment(_stage, key=STAGE)(now)


def _stage(now: AskOneBook) -> None:
    if st.session_state.pop("ask_connect", False):
        st.switch_page("pages/settings.py")
    if leave := st.session_state.pop("ask_leave", None):  # the book is here already
        st.session_state["goto_page"] = leave[1]
        st.rerun()
    now.reload_running()
    with st.container(key="ask_panel", gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_head"):
            st.markdown("**Ask**")
            st.button("Back to the answer", icon=":material/expand_less:", type="tertiary", key="ask_up")  # sheet.js
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="ask_scope"):
                sidebar.limit_switch(now)
            if st.button("", icon=":material/open_in_new:", type="tertiary", key="ask_whole", help="Open in Ask"):
                choose_one(now.book.id)
                address = {"book": now.book.id} | ({"exchange": now.current.id} if now.current else {})
                st.switch_page("pages/ask.py", query_params=address)
            if st.button("", icon=":material/close:", type="tertiary", key="ask_close", help="Close"):
                toggle(now.book)
                st.rerun()
        talk.draw(now)
        st.fragment(live.draw, key=LIVE)(now)
