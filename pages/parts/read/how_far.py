"""How far a person has read in a book, and which pages of its world the browser may have."""

from __future__ import annotations

import time

import streamlit as st

from readagent_core.document import Document
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import World

DAY = 24 * 3600


def paragraphs_read(workspace: Workspace, book: Book, world: World, document: Document) -> int:
    """How many paragraphs of the world's own document count as read, or are let in by a limit set by hand."""
    position = workspace.library.position(book.id).on_screen
    bound = position.furthest if position.allowed is None else position.allowed
    return document.count_in(world.memory.document, min(bound, len(document.paragraphs)))


def page_let_in(
    workspace: Workspace, book: Book, world: World, document: Document, *, read: int, last_in_view: int
) -> int:
    """The last page whose notes the browser may have: the one that is read, also where only its beginning is in view.

    ``read``: see ``paragraphs_read``. ``last_in_view``: the last paragraph of ``document`` on the screen.
    """
    pages = world.memory.pages
    if is_lifted(workspace, book):
        return len(pages) + 1
    page = sum(one.start < read for one in pages)
    if pages and read > pages[-1].end:
        page = len(pages) + 1
    seen = document.count_in(world.memory.document, min(last_in_view + 1, len(document.paragraphs)))
    ahead = sum(one.start < max(seen, 1) for one in pages)
    return max(page, ahead) if ahead <= page + 1 else page


def is_lifted(workspace: Workspace, book: Book) -> bool:
    """Whether the browser may have all pages of this book's world: 'Only what I have read' is off, here as in Ask."""
    return not workspace.library.position(book.id).limited


def days_away(book: Book) -> int:
    """Whole days since the book was opened before this session."""
    name = f"away_{book.id}"
    if name not in st.session_state:
        st.session_state[name] = int((time.time() - book.opened) // DAY) if book.opened else 0
    days: int = st.session_state[name]
    return days
