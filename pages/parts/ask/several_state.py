"""The state of Ask about several books: which books, the conversation, the exchange and the step; and how it asks.

The address names an exchange, or what was chosen: ?shelf=…, ?tag=… or ?books=… (the session has a longer choice).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts.ask.state import ADDRESS_SECONDS
from pages.parts.shared import book as address
from pages.parts.shared.chosen_books import Chosen, choose, choose_from_next_run, chosen_books
from readagent_core.errors import NotInLibraryError
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.methods.base import Answered, AnswerPart, AskSettings, Event, LookedUp, Question
from readagent_core.models.base import ChatModel
from readagent_core.workspace import Workspace
from readagent_core.workspace.asking import exchange_state
from readagent_core.workspace.questions import parse_question
from readagent_core.workspace.shelf import BOOKS, LibraryShelf, ask_books, within_limits

SEVERAL = "several"  # the name of these conversations in the browser


@dataclass
class Several:
    """Everything that one run of the screen draws from.

    ``about``: what was chosen (see ``Conversation.about``). ``shelf``: the books as a question may see them now.
    ``opened``: ids of books that the person opened by hand. The rest is as in ``Scene``.
    """

    workspace: Workspace
    about: str
    book_ids: list[str]
    shelf: LibraryShelf
    conversation_id: str | None
    exchanges: list[Exchange]
    current: Exchange | None
    opened: set[str]
    look_ups: int = 3
    still: dict[str, dict[str, Any]] = field(default_factory=dict)
    memories: dict[tuple[int, int | None], GistMemory | None] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    just_asked: Exchange | None = None
    watched: bool = False
    ended: bool = False

    @property
    def running(self) -> bool:
        return any(exchange_state(self.workspace, e) == "running" for e in self.exchanges)

    @property
    def name(self) -> str:
        return Chosen(self.about, self.book_ids).name


def several(workspace: Workspace) -> Several | None:
    """The state where Ask is about several books; None where it is about one.

    Raises NotInLibraryError where none of the books is in the library any more.
    """
    named = _named(workspace)
    found, wanted = named or (chosen_books(workspace), None)
    if found is None:
        return None
    about, book_ids, conversation_id = found.about, found.book_ids, found.conversation_id
    library = workspace.library
    exchanges = library.exchanges(conversation_id) if conversation_id else []
    current = next((e for e in exchanges if e.id == wanted), exchanges[-1] if exchanges else None)
    shelf = LibraryShelf(workspace, book_ids, workspace.model.name)
    opened = st.session_state.setdefault("ask_opened", set())
    return Several(workspace, about, book_ids, shelf, conversation_id, exchanges, current, opened)


def _named(workspace: Workspace) -> tuple[Chosen, str] | None:
    """The books of the exchange that the address names, with its id; None without one."""
    wanted = st.query_params.get("exchange")
    left, when = st.session_state.get("ask_left", ("", 0.0))
    if not wanted or (wanted == left and time.monotonic() - when < ADDRESS_SECONDS):
        return None
    library = workspace.library
    try:
        conversation = library.conversation(library.exchange(wanted).conversation_id)
    except NotInLibraryError:
        return None
    if not conversation.about:
        return None
    chosen = Chosen(conversation.about, library.conversation_books(conversation.id), conversation.id)
    choose(chosen.about, chosen.book_ids, chosen.conversation_id)
    st.session_state.pop("ask_left", None)
    return chosen, wanted


def open_several(workspace: Workspace, conversation_id: str) -> None:
    """Show this conversation about several books from the next run on."""
    library = workspace.library
    about = library.conversation(conversation_id).about
    choose_from_next_run(about, library.conversation_books(conversation_id), conversation_id)


def choose_exchange(now: Several, exchange: Exchange, *, step: int | None = None) -> None:
    """Make this exchange the one that the memory shows and the address names."""
    now.current = exchange
    st.session_state["ask_step"] = (exchange.id, step, time.monotonic())
    name_in_address(now, exchange, step=step)


def name_in_address(now: Several, exchange: Exchange, *, step: int | None = None) -> None:
    empty = dict.fromkeys(("book", "shelf", "tag", "books"))
    address.set_address(**empty, exchange=exchange.id, step=None if step is None else step + 1)


def numbered_books(exchange: Exchange) -> dict[int, tuple[str, int, int | None]]:
    """The books of an exchange by number: id, reading and last page let in."""
    listed = exchange.extra.get(BOOKS, ())
    return {n: (book_id, reading_id, up_to) for n, (book_id, reading_id, up_to) in enumerate(listed, start=1)}


def is_hidden(now: Several, exchange: Exchange, events: Sequence[Event]) -> bool:
    """Whether an answer saw a page that the limit of its book keeps out now."""
    said = any(isinstance(event, Answered | AnswerPart | LookedUp) for event in events)
    return said and not within_limits(exchange, now.shelf.books)


def memory_of(now: Several, reading_id: int, up_to: int | None) -> GistMemory | None:
    """The memory of a book as it was asked; None without gists, or where its reading was deleted since."""
    key = (reading_id, up_to)
    if key not in now.memories:
        try:
            memory = now.workspace.library.memory(reading_id) if reading_id else None
        except NotInLibraryError:
            memory = None
        now.memories[key] = memory.up_to(up_to) if memory is not None and up_to is not None else memory
    return now.memories[key]


def ask(
    now: Several,
    text: str,
    *,
    options: str = "",
    like: Exchange | None = None,
    model: ChatModel | None = None,
) -> Exchange:
    """Start to answer, and update the state; ``like``: an exchange that is asked again. Raises ReadAgentError."""
    exchange, _ = ask_books(
        now.workspace,
        now.book_ids,
        Question(text, like.options) if like else parse_question(text, options),
        about=now.about,
        settings=AskSettings(look_ups=now.look_ups, may_decline=True),
        conversation_id=now.conversation_id,
        use_cache=like is None,
        model=model,
    )
    now.current, now.just_asked, now.ended = exchange, exchange, False
    now.conversation_id = exchange.conversation_id
    now.exchanges = now.workspace.library.exchanges(exchange.conversation_id)
    st.session_state["ask_step"] = (exchange.id, None, time.monotonic())
    choose(now.about, now.book_ids, exchange.conversation_id)
    return exchange
