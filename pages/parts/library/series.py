"""The dialog of the library that makes a series of books and puts them in order by hand.

In a series, what is known of the people goes on from one book to the next.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.parts.shared import shell
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Book
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

SAID = "library_said"  # what was done, with what undoes it, in the session: the library's screen says it once
_BEFORE = "series_before"


@dataclass
class Draft:
    """A series as the dialog shows it. ``chosen``: the books that it was opened for. ``name``: of the series whose
    books are shown, '' for a new one. ``order``: the books, the first one first. ``key``: of this dialog's widgets."""

    chosen: Sequence[str]
    name: str = ""
    order: list[str] = field(default_factory=list)
    key: str = field(default_factory=lambda: f"series_{secrets.token_hex(4)}")

    def take(self, name: str, ids: Sequence[str]) -> None:
        """Show the series of this name and books, and after them those that the dialog was opened for."""
        self.name = name
        self.order[:] = dict.fromkeys([*ids, *self.chosen])

    def move(self, book_id: str, by: int) -> None:
        at = self.order.index(book_id)
        self.order.insert(max(0, at + by), self.order.pop(at))

    def add(self, key: str) -> None:
        """Put the book that was chosen in the list with this ``key`` after the others."""
        self.order.append(st.session_state[key])


def draft_of(workspace: Workspace, chosen: Sequence[str]) -> Draft:
    """The ``chosen`` books, after those of the series that one of them is in."""
    draft = Draft(chosen)
    found = (workspace.library.series_of(book_id) for book_id in chosen)
    draft.take(*next((one for one in found if one[0]), ("", [])))
    return draft


@st.dialog("Series")
def put_in_order(workspace: Workspace, draft: Draft) -> None:
    library = workspace.library
    books = {book.id: book for book in library.books()}
    known = {card.series: card.book.id for card in library.cards() if card.series}
    names = sorted(known)
    name = st.selectbox(
        "Name of the series",
        names,
        index=names.index(draft.name) if draft.name in names else None,
        placeholder="Type a name" if not names else "Choose one, or type a new name",
        accept_new_options=True,
        key=f"{draft.key}_name",
    )
    if name in known and name != draft.name:
        draft.take(*library.series_of(known[name]))
    draft.order[:] = [book_id for book_id in draft.order if book_id in books]
    for number, book_id in enumerate(draft.order, start=1):
        _row(draft, books[book_id], number)
    others = [book_id for book_id in books if book_id not in draft.order]
    adding = f"{draft.key}_add_{len(others)}"
    st.selectbox(
        "Add a book",
        others,
        index=None,
        placeholder="Title or author",
        format_func=lambda book_id: ", ".join(filter(None, [books[book_id].title, books[book_id].author])),
        filter_mode="contains",
        key=adding,
        on_change=draft.add,
        args=(adding,),
    )
    if not draft.order:
        st.caption("Without books the series ends.")
    if st.button("Save", type="primary", key=f"{draft.key}_save"):
        ends = (draft.name, name or "", *(library.series_of(book_id)[0] for book_id in draft.order))
        before = [(c.book.id, c.series, c.place_in_series) for c in library.cards() if c.series and c.series in ends]
        try:
            library.put_in_order(name or "", draft.order, before=draft.name)
        except ReadAgentError as error:
            shell.error_box(error)
        else:
            st.session_state[_BEFORE] = {one for one in ends if one}, before
            books_said = count_of(len(draft.order), "book")
            said = f"Saved the series {name}, {books_said}" if draft.order else f"The series {name} has ended"
            st.session_state[SAID] = {"at": time.time(), "text": said, "undo": "undo_series"}
            st.rerun()


def undo(workspace: Workspace) -> None:
    """Make the series that the dialog has changed what they were before."""
    names, before = st.session_state.pop(_BEFORE, ((), ()))
    for name in names:
        workspace.library.put_in_order(name, [])
    for book_id, name, number in before:
        workspace.library.place_in_series(book_id, name, number)


def _row(draft: Draft, book: Book, number: int) -> None:
    """A book with its number, and what moves it."""

    def act(icon: str, label: str, do: Callable[..., None], *args: object, disabled: bool = False) -> None:
        st.button(f"{label}: {shell.as_text(book.title)}", icon=f":material/{icon}:", type="tertiary",
                  key=f"{draft.key}_{icon}_{book.id}", disabled=disabled, on_click=do, args=args)  # fmt: skip

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"series_row_{number}"):
        st.text(f"{number}", width=20)
        with st.container(gap=None):
            st.text(book.title)
            if book.author:
                st.caption(shell.as_text(book.author))
        act("arrow_upward", "Move up", draft.move, book.id, -1, disabled=number == 1)
        act("arrow_downward", "Move down", draft.move, book.id, 1, disabled=number == len(draft.order))
        act("close", "Take out of the series", draft.order.remove, book.id)
