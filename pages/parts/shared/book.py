"""The book that a screen is about: the one in the address (?book=…&page=…, or &paragraph=…), else the last one opened.

The choice is stored in the session too, because a change of screen drops the query parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from readagent_core.errors import NotInLibraryError
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

_KEY = "current_book"
LANGUAGES = {
    "en": "English", "ja": "Japanese", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "zh": "Chinese", "pt": "Portuguese", "ru": "Russian", "nl": "Dutch", "ko": "Korean", "ar": "Arabic", "he": "Hebrew",
    "th": "Thai", "pl": "Polish", "sv": "Swedish", "fi": "Finnish", "el": "Greek", "la": "Latin",
    "hi": "Hindi", "tr": "Turkish",
}  # fmt: skip


def current(workspace: Workspace) -> Book | None:
    """The book in the address, else the one this session opened, else the last opened; None in an empty library."""
    for book_id in (st.query_params.get("book"), st.session_state.get(_KEY)):
        if book_id:
            try:
                book = workspace.library.book(book_id)
            except NotInLibraryError:
                continue
            if book.removed is None:
                _remember(book.id)
                return book
    books = workspace.library.books()
    if books:
        _remember(books[0].id)
    return books[0] if books else None


def choose(book_id: str, *, page: int | None = None) -> None:
    """Make ``book_id`` (at ``page``) the current book of every screen; call before ``st.switch_page``."""
    _remember(book_id)
    st.session_state["goto_page"] = page


def chosen_id() -> str:
    """The id of the book that this session opened last; '' without one."""
    return str(st.session_state.get(_KEY, ""))


def page_asked() -> tuple[int | None, int]:
    """The page named by the address or by ``choose``, and how often ``choose`` named one, to tell requests apart."""
    asked = st.session_state.pop("goto_page", None)
    times: int = st.session_state.setdefault("goto_times", 0)
    if asked is not None:
        times = st.session_state["goto_times"] = times + 1
        return asked, times
    text = st.query_params.get("page", "")
    return (int(text) if text.isdecimal() else None), times


def paragraph_asked() -> int | None:
    """The paragraph named by the address."""
    text = st.query_params.get("paragraph", "")
    return int(text) if text.isdecimal() else None


def set_address(**values: str | int | None) -> None:
    """Set these query parameters; None removes one."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)


def picker(
    workspace: Workspace,
    chosen: Book,
    *,
    key: str = "book_picker",
    label: str = "Book",
    books: Iterable[Book] | None = None,
    **looks: Any,
) -> None:
    """Draw a select box; another book is shown on this screen. ``books``: to choose from; None for all.

    ``looks``: arguments of ``st.selectbox``.
    """
    titles = {book.id: book.title for book in (workspace.library.books() if books is None else books)}
    key = f"{key}_{chosen.id}"

    def changed() -> None:
        choose(st.session_state[key])
        st.query_params.from_dict({"book": st.session_state[key]})

    st.selectbox(
        label,
        list(titles),
        index=list(titles).index(chosen.id) if chosen.id in titles else None,
        format_func=titles.__getitem__,
        key=key,
        on_change=changed,
        **looks,
    )


def _remember(book_id: str) -> None:
    st.session_state[_KEY] = book_id
