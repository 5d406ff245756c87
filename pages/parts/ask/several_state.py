"""The state of Ask about several books.

The address names an exchange, or what was chosen (see ``chosen_books``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import streamlit as st

from pages.parts.ask.state import AskState, exchange_in_address, has_result
from pages.parts.shared import book as address
from pages.parts.shared.chosen_books import Chosen, choose, choose_from_next_run, chosen_books
from readagent_core.answering import asking
from readagent_core.answering.ask import SEVERAL_BOOKS
from readagent_core.answering.base import Answer, AskSettings, Event, Question
from readagent_core.answering.library_shelf import (
    LibraryShelf,
    checked_answer_of_several,
)
from readagent_core.answering.limits import within_limits
from readagent_core.citations import Checked
from readagent_core.errors import NotInLibraryError
from readagent_core.library.records import Book, Exchange
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.workspace import Workspace

SEVERAL = "several"  # the name of these conversations in the browser
LISTED = 200  # most books that are drawn before a question


@dataclass(kw_only=True)
class Several(AskState):
    """The state about several books. ``shelf``: the books as a question may see them now.

    ``opened``: ids of books that the person opened by hand. ``memories``: those loaded, by reading and last page.
    ``sent``: the names of the pages that the browser was sent.
    """

    chosen: Chosen
    shelf: LibraryShelf
    opened: set[str]
    method: str = SEVERAL_BOOKS
    memories: dict[tuple[int, int | None], GistMemory | None] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)

    @property
    def book_ids(self) -> tuple[str, ...]:
        return tuple(self.chosen.book_ids)

    @property
    def name(self) -> str:
        return SEVERAL

    @cached_property
    def kept_out(self) -> list[Book]:
        """The chosen books of which their spoiler limits let in no page."""
        out = set(self.chosen.book_ids) - {book.id for book in self.shelf.books}
        return [book for book in self.workspace.library.books() if book.id in out] if out else []

    @property
    def title(self) -> str:
        """'4 books'; '1 of 2 books' where one is kept out; '2 books' where both are."""
        asked = len(self.chosen.book_ids) - len(self.kept_out)
        return f"{asked} of {self.chosen.name}" if self.kept_out and asked else self.chosen.name

    def start(
        self, question: Question, settings: AskSettings, *, use_cache: bool, model: ChatModel | None, beside: str
    ) -> Exchange:
        about, book_ids = self.chosen.about, self.chosen.book_ids
        exchange, _ = asking.ask(
            self.workspace,
            book_ids,
            question,
            about=about,
            settings=settings,
            conversation_id=self.conversation_id,
            use_cache=use_cache,
            model=model,
            beside=beside,
            on_screen=True,
        )
        choose(about, book_ids, exchange.conversation_id)
        return exchange

    def why_hidden(self, exchange: Exchange, events: Sequence[Event]) -> tuple[str, bool] | None:
        if not has_result(events) or within_limits(exchange, self.shelf.books):
            return None
        return "Hidden: this answer saw pages that the spoiler limit of a book keeps out now.", True

    def memory_of(self, exchange: Exchange, book: int) -> GistMemory | None:
        _, gisting_id, up_to = self.numbered(exchange).get(book, ("", 0, None))  # a model may name any number
        return self.load(gisting_id, up_to)

    def check(self, exchange: Exchange, text: str, answer: Answer) -> Checked:
        return checked_answer_of_several(self.workspace, text, answer)

    def shows(self, exchange: Exchange) -> bool:
        return self.current is not None and exchange.id == self.current.id

    def name_in_address(self, exchange: Exchange, *, step: int | None = None) -> None:
        empty = dict.fromkeys(("book", "shelf", "tag", "books"))
        address.set_address(**empty, exchange=exchange.id, step=None if step is None else step + 1)

    def numbered(self, exchange: Exchange | None) -> dict[int, tuple[str, int, int | None]]:
        """The books of an exchange, or of the next one, by number: id, reading, and last page let in then and now."""
        if exchange is None:
            return {book.number: (book.id, book.gisting_id, book.up_to) for book in self.shelf.books[:LISTED]}
        let_in = {book.id: book.up_to for book in self.shelf.books if book.up_to is not None}
        return {
            n: (book_id, gisting_id, min(filter(None, (up_to, let_in.get(book_id))), default=None))
            for n, (book_id, gisting_id, up_to) in enumerate(exchange.facts.books, start=1)
        }

    def load(self, gisting_id: int, up_to: int | None) -> GistMemory | None:
        """The memory of a book up to a page; None without gists, or where its gisting was deleted since."""
        key = (gisting_id, up_to)
        if key not in self.memories:
            try:
                memory = self.workspace.library.memory(gisting_id) if gisting_id else None
            except NotInLibraryError:
                memory = None
            self.memories[key] = memory.up_to(up_to) if memory is not None and up_to is not None else memory
        return self.memories[key]


def several(workspace: Workspace) -> Several | None:
    """The state where Ask is about several books; None where it is about one.

    Raises NotInLibraryError where none of the books is in the library any more.
    """
    named = _named(workspace)
    found, wanted = named or (chosen_books(workspace), None)
    if found is None:
        return None
    exchanges = workspace.library.exchanges(found.conversation_id) if found.conversation_id else []
    return Several(
        gone=wanted is not None and found.conversation_id is None,
        workspace=workspace,
        conversation_id=found.conversation_id,
        exchanges=exchanges,
        current=next((e for e in exchanges if e.id == wanted), exchanges[-1] if exchanges else None),
        chosen=found,
        shelf=LibraryShelf(workspace, found.book_ids, workspace.model.name, on_screen=True),
        opened=st.session_state.setdefault("ask_opened", set()),
    )


def _named(workspace: Workspace) -> tuple[Chosen, str] | None:
    """The books of the exchange that the address names, with its id; those chosen last, of one that is gone."""
    wanted, library = exchange_in_address(), workspace.library
    if not wanted:
        return None
    try:
        conversation = library.conversation(library.exchange(wanted).conversation_id)
    except NotInLibraryError:
        chosen = chosen_books(workspace)
        return (replace(chosen, conversation_id=None), wanted) if chosen else None
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
