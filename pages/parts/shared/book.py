"""The book that a screen is about: the one in the address (?book=…&page=…, or &paragraph=…), else the last one opened.

The choice is stored in the session too, because a change of screen drops the query parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import streamlit as st

from readagent_core.errors import NotInLibraryError, WrongAddressError
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace

_KEY = "current_book"
NOTES, MY_READING = "notes", "reading"  # dialogs of the library that lead to a book, as the address names them
AGAIN = "dialog_again"  # the one that is opened when the library is drawn next, in the session
_BOOK_LEFT = "settings_opened_from"  # the id of the book from which Settings was opened, in the session
_LEFT = "dialog_left"  # the one that led to the book, in the session
TRIED = "tried pages"  # a preference: the ids of web pages that Act opened, which were not read
HERE_ONLY = "here_only_"  # before the names of values that are forgotten when another screen is drawn
NO_BOOK = (
    "The address names a book that is not in this library. It may have been removed, or the link is another library's."
)
LANGUAGES = {
    "en": "English", "ja": "Japanese", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "zh": "Chinese", "pt": "Portuguese", "ru": "Russian", "nl": "Dutch", "ko": "Korean", "ar": "Arabic", "he": "Hebrew",
    "th": "Thai", "pl": "Polish", "sv": "Swedish", "fi": "Finnish", "el": "Greek", "la": "Latin",
    "hi": "Hindi", "tr": "Turkish",
}  # fmt: skip


def current(workspace: Workspace) -> Book | None:
    """The book in the address, else the one this session opened, else the last opened; None in an empty library.

    Raises WrongAddressError where the address names a book that is not in the library.
    """
    in_address = st.query_params.get("book")
    for book_id in (in_address, st.session_state.get(_KEY)):
        book = find(workspace, book_id)
        if book is not None:
            _remember(book.id)
            return book
        if in_address:
            raise WrongAddressError(NO_BOOK)
    tried = only_tried(workspace)
    books = sorted(workspace.library.books(), key=lambda one: one.id in tried)
    if books:
        _remember(books[0].id)
    return books[0] if books else None


def open_settings(book_id: str, tab: str = "") -> None:
    """Open Settings from a book, to which a button there leads back."""
    if tab:
        st.session_state["settings_tab"] = tab
    st.session_state[_BOOK_LEFT] = book_id
    st.switch_page("pages/settings.py")


def draw_way_back() -> None:
    """In Settings: the button to the book from which it was opened."""
    book_id = st.session_state.get(_BOOK_LEFT)
    if book_id and st.button("Back to the book", icon=":material/arrow_back:", key="settings_back"):
        st.switch_page("pages/read.py", query_params={"book": book_id})


def read_from(dialog: str, book_id: str, paragraph: str = "") -> None:
    """Open a book in Read from a ``dialog`` of the library, to which the browser's Back then leads."""
    st.session_state[_LEFT] = dialog
    read_at(book_id, paragraph, left=dialog)


def read_at(book_id: str, paragraph: str | int = "", *, left: str = "") -> None:
    """Open a book in Read at ``paragraph``, however often it was opened there; '': where the person was.

    ``left``: the screen or the dialog to which Read offers the way back; '' for none.
    """
    choose(book_id)
    if paragraph != "":
        _count_request()
    address = {"book": book_id, "paragraph": str(paragraph), "from": left}
    st.switch_page("pages/read.py", query_params={name: value for name, value in address.items() if value})


def came_back() -> str:
    """The dialog of the library to which the browser's Back led, once: Streamlit left its book in the address."""
    left = st.query_params.get("from", "")
    return str(st.session_state.pop(_LEFT)) if left and st.session_state.get(_LEFT) == left else ""


def only_tried(workspace: Workspace) -> set[str]:
    """The ids of the web pages that were opened in Act and never read: no books of the library's screens."""
    tried = set(workspace.library.preference(TRIED, []))
    return {one.id for one in workspace.library.books() if one.id in tried and one.opened is None} if tried else set()


def find(workspace: Workspace, book_id: str | None) -> Book | None:
    """The book with this id; None where there is none, or it was removed."""
    with suppress(NotInLibraryError):
        book = workspace.library.book(book_id) if book_id else None
        return book if book is not None and book.removed is None else None
    return None


def has_unread(workspace: Workspace, book: Book) -> bool:
    """Whether the book's spoiler limit keeps a part of it out."""
    allowed = workspace.library.position(book.id).on_screen.allowed
    return allowed is not None and allowed < len(workspace.library.document(book.id).paragraphs)


def choose(book_id: str, *, page: int | None = None) -> None:
    """Make ``book_id`` (at ``page``) the current book of every screen; call before ``st.switch_page``."""
    _remember(book_id)
    st.session_state["goto_page"] = page


def chosen_id() -> str:
    """The id of the book that this session opened last; '' without one."""
    return str(st.session_state.get(_KEY, ""))


def page_chosen() -> tuple[int | None, int]:
    """The page named by ``choose``, once, and how often a place was asked for, to tell requests apart."""
    chosen = st.session_state.pop("goto_page", None)
    if chosen is not None:
        _count_request()
    return chosen, st.session_state.get("goto_times", 0)


def _count_request() -> None:
    st.session_state["goto_times"] = st.session_state.get("goto_times", 0) + 1


def number_in_address(name: str) -> int | None:
    """The number that the address gives under ``name``: 'page' or 'paragraph'."""
    text = st.query_params.get(name, "")
    return int(text) if text.isdecimal() else None


def note_screen(title: str) -> None:
    """Forget what belongs to one screen alone (``HERE_ONLY``) when another is drawn."""
    if st.session_state.get("screen") != title:
        st.session_state["screen"] = title
        for key in [key for key in st.session_state if str(key).startswith(HERE_ONLY)]:
            del st.session_state[key]


def screen_path() -> str:
    """The end of the address of the screen that is drawn: 'read'; '' for the library."""
    title = st.session_state.get("screen", "Library")
    return "" if title == "Library" else title.lower()


def set_address(**values: str | int | None) -> None:
    """Set these query parameters at once, as one entry of the browser's history; None removes one."""
    before = st.query_params.to_dict()
    after = {name: str(value) for name, value in (before | values).items() if value is not None}
    if after != before:
        st.query_params.from_dict(after)


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
    tried = only_tried(workspace) - {chosen.id}
    shown = workspace.library.books() if books is None else books
    titles = {book.id: book.title for book in shown if book.id not in tried}
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
