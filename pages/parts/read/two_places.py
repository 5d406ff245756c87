"""Asks in the margin which of two places to read on from, where a person read on here and in another app too."""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

from pages.parts.read import book_text
from readagent_core.companion.place import find_place
from readagent_core.document import Document
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.sharing import progress
from readagent_core.workspace import Workspace

_LEFT = "two_places_left"  # in the session: the position here that was left for the other


def draw(workspace: Workspace, book: Book, memory: GistMemory | None) -> None:
    """Draw the question; nothing where there is none. ``memory``: whose pages are named, else the share of the text."""
    found = progress.other(workspace.library, book.id)
    if found is None:
        return
    own = workspace.library.position(book.id)

    def choose(*, go: bool) -> None:
        progress.choose(workspace.library, found, go=go)
        if go:
            st.session_state[_LEFT] = own

    with st.container(key="two_places"):
        st.text(f"Two places in {book.title}")
        st.caption("You read on in two apps. Neither is lost.")
        st.text(f"{_place(memory, own.paragraph, own.share)} here")
        st.button("Stay here", key="two_places_stay", on_click=choose, kwargs={"go": False})
        place = _place(memory, found.place[0], found.percentage)
        st.text(f"{place} in {found.device or 'another app'}")
        st.caption(time.strftime("%d %B, %H:%M", time.localtime(found.timestamp)))
        st.button(f"Go to {place[0].lower()}{place[1:]}", key="two_places_go_on", on_click=choose, kwargs={"go": True})


def go(goto: dict[str, Any], workspace: Workspace, book: Book, document: Document) -> dict[str, Any]:
    """The ``Goto`` to the place in the other app, with a way back, once it was chosen; else ``goto`` as it is."""
    left = st.session_state.pop(_LEFT, None)
    if left is None:
        return goto
    spots = [find_place(document, one) for one in (workspace.library.position(book.id), left)]
    to, before = ([paragraph, book_text.browser_offset(document, paragraph, offset)] for paragraph, offset in spots)
    return {
        "paragraph": to[0],
        "at": to[1],
        "before": before,
        "screen": "",
        "id": f"{book.id} two places {time.time()}",
    }


def _place(memory: GistMemory | None, paragraph: int, share: float) -> str:
    page = next((one.number for one in memory.pages if one.start <= paragraph < one.end), None) if memory else None
    return f"Page {page}" if page else f"{100 * share:.0f} % of the book"
