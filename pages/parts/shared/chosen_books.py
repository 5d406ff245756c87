"""The books that Ask and Compare are about where these are several: a selection, a shelf or a tag.

The address names them, ?shelf=…, ?tag=… or ?books=…, or the session where they are too many for an address.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from pages.parts.shared import book as address
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_KEY = "chosen_books"
_IN_ADDRESS = 60  # most books that an address names one by one
_LISTED = 20  # most books that are named
_FEW = 12  # most books that are offered side by side
_NAMES: dict[str, str | None] = dict.fromkeys(("book", "page", "from", "shelf", "tag", "books", "exchange", "step"))


@dataclass(frozen=True)
class Chosen:
    """``about``: what was chosen (see ``Conversation.about``). ``conversation_id``: about them; None for a new one."""

    about: str
    book_ids: list[str]
    conversation_id: str | None = None

    @property
    def name(self) -> str:
        """'4 books', '12 books on the shelf The sea'."""
        kind, _, name = self.about.partition(" ")
        place = {"shelf": f" on the shelf {name}", "tag": f" with the tag {name}"}.get(kind, "") if name else ""
        return f"{count_of(len(self.book_ids), 'book')}{place}"

    @property
    def address(self) -> dict[str, str]:
        """The query parameters that name them; none where they are too many."""
        kind, _, name = self.about.partition(" ")
        if name:
            return {kind: name}
        return {"books": ",".join(self.book_ids)} if len(self.book_ids) <= _IN_ADDRESS else {}


def choose(about: str, book_ids: Sequence[str], conversation_id: str | None = None) -> dict[str, str]:
    """Make these the books that Ask and Compare are about, and return their address."""
    chosen = Chosen(about, list(book_ids), conversation_id)
    st.session_state[_KEY] = (chosen, address.chosen_id())  # another book opened since then takes their place
    st.session_state["ask_left"] = (st.query_params.get("exchange", ""), time.monotonic())
    return chosen.address


def choose_from_next_run(about: str, book_ids: Sequence[str], conversation_id: str | None = None) -> None:
    """As ``choose``, and set the address of this screen."""
    choose(about, book_ids, conversation_id)
    set_address(st.session_state[_KEY][0])


def set_address(chosen: Chosen) -> None:
    """Make the address of this screen name these books."""
    address.set_address(**_NAMES | chosen.address)


def choose_one(book_id: str) -> None:
    """Make Ask and Compare about this book alone from the next run on."""
    st.session_state.pop(_KEY, None)
    st.session_state["ask_left"] = (st.query_params.get("exchange", ""), time.monotonic())
    address.set_address(**_NAMES | {"book": book_id})


def choose_books(
    workspace: Workspace,
    chosen: Sequence[str],
    *,
    label: str,
    key: str,
    kind: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """Draw the button that opens the list of books: each of the ``chosen`` alone, where they are several, or others."""
    tried = address.only_tried(workspace) - set(chosen)  # web pages of Act are no books of the library
    titles = {book.id: book.title for book in workspace.library.books() if book.id not in tried}
    known = [book_id for book_id in chosen if book_id in titles]
    if len(titles) < 2:
        return
    with st.popover(
        label,
        icon=":material/library_books:",
        type=kind,
        key=f"{key}_books {' '.join(known)}" if len(chosen) > 1 else f"{key}_more_books",  # closed by another choice
    ):
        if len(chosen) > 1:
            st.caption("One of them alone")
            for book_id in known[:_LISTED]:
                st.button(titles[book_id], key=f"{key}_alone_{book_id}", type="tertiary", on_click=choose_one,
                          args=(book_id,))  # fmt: skip
            if len(known) > _LISTED:
                st.caption(f"and {len(known) - _LISTED} more")
        name = f"{key}_these {' '.join(known)}"  # other books begin another choice
        # beside the field, whose open list covers what is above or below it; few books need no list
        few = len(titles) <= _FEW
        beside = st.container(horizontal=True, vertical_alignment="center" if few else "bottom")
        if few:
            beside.caption("Several books")
            several = st.pills("Several books", list(titles), selection_mode="multi", default=known, key=name,
                               format_func=titles.__getitem__, label_visibility="collapsed")  # fmt: skip
        else:
            several = beside.multiselect("Several books", list(titles), known, format_func=titles.__getitem__, key=name,
                                         filter_mode="contains", select_all=False)  # fmt: skip
        beside.button("Take these", type="primary", key=f"{key}_these_go", on_click=choose_from_next_run,
                      args=("books", several), disabled=len(several) < 2 or several == known)  # fmt: skip


def open_cited(book_id: str, page: int, way_back: Mapping[str, str]) -> None:
    """Switch to Read at a page that an answer cites; the chosen books stay chosen. ``way_back``: for the address."""
    chosen = _in_session()
    address.choose(book_id, page=page)
    if chosen is not None:
        st.session_state[_KEY] = (chosen, book_id)
    st.switch_page("pages/read.py", query_params={"book": book_id, "page": str(page), **way_back})


def chosen_books(workspace: Workspace) -> Chosen | None:
    """The books that the address names, else those chosen in this session; None where a screen is about one book.

    Raises NotInLibraryError where the address names a shelf or a tag that is gone.
    """
    library, params = workspace.library, st.query_params
    if shelf := params.get("shelf"):
        named = Chosen(f"shelf {shelf}", library.books_on_shelf(shelf))
    elif tag := params.get("tag"):
        named = Chosen(f"tag {tag}", library.books_with_tag(tag))
    elif listed := params.get("books"):
        named = Chosen("books", [one for one in listed.split(",") if one])
    else:
        return _in_session()
    known = _in_session()
    if known and (known.about, known.book_ids) == (named.about, named.book_ids):
        return known
    choose(named.about, named.book_ids)
    return named


def _in_session() -> Chosen | None:
    found, book_id = st.session_state.get(_KEY, (None, ""))
    # Back from a cited page leads to Compare with the address of that page
    one = "book" in st.query_params and st.query_params.get("from") != "compare"
    return None if one or book_id != address.chosen_id() else found
