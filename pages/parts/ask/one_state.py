"""The state of the Ask screen about one book: its conversation, the gists asked and shown, and the spoiler limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from pages.parts.ask.state import KEPT, AskState, exchange_in_address, has_result
from pages.parts.shared import book as address
from readagent_core.answering import asking, replay
from readagent_core.answering.ask import choose_method
from readagent_core.answering.asking import is_recording
from readagent_core.answering.base import Answer, AskSettings, Event, Question
from readagent_core.answering.limits import (
    last_page_named,
    last_page_seen,
    page_allowed,
    page_reached,
    paragraphs_through,
    prompts_beyond,
)
from readagent_core.answering.preparing import start_preparing
from readagent_core.citations import Checked
from readagent_core.document import Document
from readagent_core.errors import NotInLibraryError
from readagent_core.gisting import cut_rest_by_rule
from readagent_core.gisting.job import memory_to_search, newest_memory, text_to_search
from readagent_core.library.records import Book, Exchange, Gisting, Position
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.workspace import Workspace

NEW = "new"


@dataclass(kw_only=True)
class AskOneBook(AskState):
    """The state about one book. Questions go to ``gisting``; shown is the gisting that the current exchange is from.

    ``limit``: the last page that the spoiler limit lets in of ``gisting``, None where it keeps nothing out;
    ``shown_limit``: of what is shown. ``from_reader``: the page to go to, from 'Ask about this page' in Read.
    ``opening``: the exchange of a recording that tells of the earliest page, which is shown at first, also beyond the
    limit; ``opening_page``: that page, while the exchange is the current one.
    ``beside_text``: in the panel of Read. ``checked``: what was checked last of each exchange.
    """

    book: Book
    gisting: Gisting
    memory: GistMemory
    shown: Gisting
    shown_memory: GistMemory
    position: Position
    limit: int | None = None
    shown_limit: int | None = None
    from_reader: int | None = None
    opening: str = ""
    opening_page: int = 0
    beside_text: bool = False
    checked: dict[str, tuple[str, Answer, Checked]] = field(default_factory=dict)

    @property
    def book_ids(self) -> tuple[str, ...]:
        return (self.book.id,)

    @property
    def name(self) -> str:
        return self.book.id

    @property
    def last_shown(self) -> int | None:
        """The last page that is shown; None for all of them."""
        return None if self.shown_limit is None else max(self.shown_limit, self.opening_page)

    @property
    def opening_said(self) -> str:
        """What a recording's first answer shows beyond the limit, in a sentence; '' for nothing."""
        if self.last_shown == self.shown_limit:
            return ""
        last = self.opening_page
        shown = "page 1" if last == 1 else f"pages 1 {'and' if last == 2 else 'to'} {last}"
        return f"The recording's first answer still shows {shown}."

    def start(
        self, question: Question, settings: AskSettings, *, use_cache: bool, model: ChatModel | None, beside: str
    ) -> Exchange:
        gisting, memory = self.gisting, self.memory
        if not memory.complete:  # what there is now, stored: gists that come later change the pages
            stored = memory_to_search(self.workspace, self.book.id)
            gisting, memory = _within_limit(self.workspace, self.book, self.position, *stored)
        exchange, _ = asking.ask(
            self.workspace,
            self.book.id,
            question,
            method=self.method,
            settings=settings,
            conversation_id=self.conversation_id,
            up_to=limit_of(self, gisting, memory),
            gisting_id=gisting.id,
            use_cache=use_cache,
            model=model,
            beside=beside,
        )
        if self.conversation_id not in (None, exchange.conversation_id):  # a recording's conversation is left as it is
            st.session_state["ask_own"] = exchange.conversation_id
        st.session_state[f"conversation {self.book.id}"] = exchange.conversation_id
        self.shown, self.shown_memory = gisting, memory
        self.shown_limit = limit_of(self, gisting, memory)
        self.opening_page = 0
        return exchange

    def why_hidden(self, exchange: Exchange, events: Sequence[Event]) -> tuple[str, bool] | None:
        if self.position.allowed is None or not has_result(events):
            return None
        if exchange.id == self.opening:
            return None
        memory, limit = self.memory_of(exchange), self.limit_for(exchange)
        last_page = last_page_named if exchange.facts.recorded else last_page_seen
        seen = last_page(events, otherwise=exchange.up_to or len(memory.readable))
        if limit is None or seen <= limit:
            return None
        place = f"your limit is page {limit}" if limit else "your limit lets in no page yet"
        shown = "It is shown with “Only what I have read” off."
        return f"Hidden: this answer saw pages up to page {seen}, and {place}. {shown}", limit > 0

    def limit_for(self, exchange: Exchange) -> int | None:
        """The last page that the spoiler limit lets in of the gisting that an exchange is from; None: every page."""
        limits = {self.gisting.id: self.limit, self.shown.id: self.shown_limit}
        if exchange.gisting_id in limits:
            return limits[exchange.gisting_id]
        gisting = self.workspace.library.gisting(exchange.gisting_id)
        return limit_of(self, gisting, self.memory_of(exchange))

    def prompts_beyond(self, exchange: Exchange, events: Sequence[Event]) -> bool:
        """Whether its prompts hold gists or pages that the limit keeps out, as those of a recording do."""
        return prompts_beyond(exchange, events, self.memory_of(exchange), self.limit_for(exchange))

    def memory_of(self, exchange: Exchange, book: int = 0) -> GistMemory:
        known = {self.gisting.id: self.memory, self.shown.id: self.shown_memory}
        return known.get(exchange.gisting_id) or self.workspace.library.memory(exchange.gisting_id)

    def check(self, exchange: Exchange, text: str, answer: Answer) -> Checked:
        known = self.checked.get(exchange.id)
        if known is None or known[:2] != (text, answer):
            known = text, answer, replay.checked_answer(text, answer, self.memory_of(exchange))
            self.checked[exchange.id] = known
        return known[2]

    def shows(self, exchange: Exchange) -> bool:
        return exchange.gisting_id == self.shown.id

    def name_in_address(self, exchange: Exchange, *, step: int | None = None) -> None:
        st.session_state[f"conversation {self.book.id}"] = exchange.conversation_id
        if self.beside_text:  # the address of Read is the place in the text
            return
        address.set_address(book=self.book.id, exchange=exchange.id, step=None if step is None else step + 1)


def scene(workspace: Workspace, book: Book) -> AskOneBook:
    """The state for ``book``."""
    position = workspace.library.position(book.id).on_screen
    gisting, memory = _gisting(workspace, book, position)
    conversation_id, wanted = _chosen(workspace, book)
    exchanges = workspace.library.exchanges(conversation_id) if conversation_id else []
    if f"{KEPT} {book.id}" in st.session_state and is_recording(exchanges):
        exchanges = []  # the question that waits begins a conversation of its own
    opening, page = opening_exchange(exchanges) if position.allowed is not None else (None, 0)
    default = opening or next(iter(exchanges if is_recording(exchanges) else exchanges[::-1]), None)
    current = next((e for e in exchanges if e.id == wanted), default)
    shown, shown_memory = gisting, memory
    if current is not None and current.gisting_id != gisting.id:
        shown = workspace.library.gisting(current.gisting_id)
        shown_memory = workspace.library.memory(shown.id)
    found = AskOneBook(
        gone=wanted is not None and conversation_id is None,
        workspace=workspace,
        conversation_id=conversation_id,
        exchanges=exchanges,
        current=current,
        book=book,
        gisting=gisting,
        memory=memory,
        shown=shown,
        shown_memory=shown_memory,
        position=position,
        method=choose_method("", workspace.model, memory).name,
        from_reader=st.session_state.pop("ask_page", None),
    )
    found.limit = limit_of(found, gisting, memory)
    found.shown_limit = found.limit if shown is gisting else limit_of(found, shown, shown_memory)
    if opening is not None:
        found.opening = opening.id
        found.opening_page = page if current is opening else 0
    return found


def opening_exchange(exchanges: Sequence[Exchange]) -> tuple[Exchange | None, int]:
    """The question of a recording that tells of the earliest page, with that page; None where it is no recording."""
    if not is_recording(exchanges):
        return None, 0
    pages = {e.id: last_page_named(replay.events_of(e), otherwise=sys.maxsize) for e in exchanges}
    first = min(exchanges, key=lambda e: pages[e.id])
    return first, pages[first.id]


def _gisting(workspace: Workspace, book: Book, position: Position) -> tuple[Gisting, GistMemory]:
    """The gisting chosen on the Read screen, else the newest that has pages; without one pages by rule.

    Where it is not complete, the rest of the text is in pages by rule.
    """
    gisting, memory = _chosen_gisting(workspace, book) or memory_to_search(workspace, book.id)
    gisting, memory = _within_limit(workspace, book, position, gisting, memory)
    return gisting, memory if memory.complete else cut_rest_by_rule(memory)


def _within_limit(
    workspace: Workspace, book: Book, position: Position, gisting: Gisting, memory: GistMemory
) -> tuple[Gisting, GistMemory]:
    """``gisting``; the text in pages by rule where the spoiler limit lies within page 1 of the gists but lets in these.

    So a limit that was set before the gists lets in the same text when they are made.
    """
    if not position.allowed or page_reached(memory, whole_document(workspace, gisting), position):
        return gisting, memory
    by_rule = text_to_search(workspace, book.id)
    return by_rule if page_reached(by_rule[1], whole_document(workspace, by_rule[0]), position) else (gisting, memory)


def _chosen_gisting(workspace: Workspace, book: Book) -> tuple[Gisting, GistMemory] | None:
    chosen = st.session_state.get(f"reading_{book.id}")
    if chosen is not None:
        gisting = next((r for r in workspace.library.gistings(book.id) if r.id == chosen and r.pages), None)
        if gisting is not None:
            return gisting, workspace.library.memory(gisting.id)
    return newest_memory(workspace, book.id)


def _chosen(workspace: Workspace, book: Book) -> tuple[str | None, str | None]:
    """The conversation to show, and the exchange that the address names, unless that address is out of date."""
    if wanted := exchange_in_address():
        try:
            conversation_id = workspace.library.exchange(wanted).conversation_id
            if workspace.library.conversation(conversation_id).book_id == book.id:
                return conversation_id, wanted
        except NotInLibraryError:
            return None, wanted
    chosen = st.session_state.get(f"conversation {book.id}")
    known = [c.id for c in workspace.library.conversations(book.id)]
    if chosen == NEW:
        return None, None
    return (chosen if chosen in known else known[0] if known else None), None


def choose_conversation(book: Book, conversation_id: str) -> None:
    """Show this conversation (or ``NEW``) from the next run on."""
    st.session_state[f"conversation {book.id}"] = conversation_id
    st.session_state.pop(f"{KEPT} {book.id}", None)
    st.session_state["ask_left"] = (st.query_params.get("exchange", ""), time.monotonic())
    address.set_address(book=book.id, exchange=None, step=None)


def whole_document(workspace: Workspace, gisting: Gisting) -> Document:
    return workspace.library.document(gisting.book_id, document_id=gisting.document_id)


def limit_of(scene: AskOneBook, gisting: Gisting, memory: GistMemory) -> int | None:
    """The last page of a gisting that the spoiler limit lets in; None where it keeps nothing out."""
    return page_allowed(memory, whole_document(scene.workspace, gisting), scene.position)


def read_ahead(scene: AskOneBook) -> None:
    """Have a model on this computer read what the questions about the book share."""
    limit = limit_of(scene, scene.gisting, scene.memory)
    if limit is None or limit > 0:
        memory = scene.memory if limit is None else scene.memory.up_to(limit)
        start_preparing(scene.workspace, scene.book.id, memory, method=scene.method)


def pages_read(scene: AskOneBook) -> int:
    """The last page of what is shown that was read, as the position says; 0 for none."""
    position = replace(scene.position, limited=False)
    return page_reached(scene.shown_memory, whole_document(scene.workspace, scene.shown), position)


def page_before_here(scene: AskOneBook) -> int:
    """The last page of what is shown that ends before the last paragraph on the screen of Read; 0 for none."""
    here = st.session_state.get(f"in_view_{scene.book.id}", scene.position.paragraph)
    position = replace(scene.position, limited=False, furthest=here)
    return page_reached(scene.shown_memory, whole_document(scene.workspace, scene.shown), position)


def set_limit(scene: AskOneBook, *, on: bool, page: int | None = None) -> None:
    """Turn the spoiler limit on or off. ``page``: the last page of the shown reading let in; None: what was read."""
    paragraph = None
    if page is not None and page != pages_read(scene):  # there it follows what is read
        paragraph = paragraphs_through(scene.shown_memory, whole_document(scene.workspace, scene.shown), page)
    scene.workspace.library.set_limit(scene.book.id, on=on, paragraph=paragraph)
