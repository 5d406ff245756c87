"""Spoiler limits: how far a question may see a book, and what an earlier answer saw of it."""

from __future__ import annotations

from collections.abc import Sequence

from readagent_core.answering.base import Answered, Event, ModelCall
from readagent_core.answering.shelf import ShelfBook
from readagent_core.citations import parse
from readagent_core.document import Document
from readagent_core.library import Library
from readagent_core.library.records import Exchange, Position
from readagent_core.memory import GistMemory

NOTHING_LET_IN = "The spoiler limit keeps every page out. Read the first page to its end, or move the limit."
LET_IN = "How much of the book may answers use? You can change it later."


def why_nothing(*, by_hand: bool) -> str:
    """Why no page is let in. ``by_hand``: the person has moved the limit there."""
    return "You set the limit before page 1." if by_hand else "You have not finished a page yet."


def page_allowed(memory: GistMemory, whole: Document, position: Position) -> int | None:
    """The last page that the spoiler limit lets in, 0 for none; None where it keeps nothing out."""
    if position.allowed is None or position.allowed >= len(whole.paragraphs):
        return None
    page = page_reached(memory, whole, position)
    return None if memory.complete and page == len(memory.pages) else page


def memory_let_in(library: Library, gisting_id: int) -> GistMemory:
    """Return a gist memory without the pages that the book's spoiler limit keeps out."""
    gisting, memory = library.gisting(gisting_id), library.memory(gisting_id)
    whole = library.document(gisting.book_id, document_id=gisting.document_id)
    last = page_allowed(memory, whole, library.position(gisting.book_id))
    return memory if last is None else memory.up_to(last)


def paragraphs_through(memory: GistMemory, whole: Document, page: int) -> int:
    """How many paragraphs of the ``whole`` document lie wholly in the pages up to ``page``, for ``set_limit``."""
    return memory.document.count_in(whole, memory.page(page).end if page else 0)


def page_reached(memory: GistMemory, whole: Document, position: Position) -> int:
    """The number of the last page that lies wholly in what the spoiler limit lets in, or in what was read; 0 for none.

    A position is a paragraph of the ``whole`` document, a page one of the document as limited for its gisting.
    """
    allowed = position.furthest if position.allowed is None else position.allowed
    inside = whole.count_in(memory.document, min(allowed, len(whole.paragraphs)))
    return sum(page.end <= inside for page in memory.pages)


def last_page_seen(events: Sequence[Event], *, otherwise: int) -> int:
    """The last page that an answer opened or saw the gist of; ``otherwise`` where that is not known."""
    seen = {page for event in events if isinstance(event, Answered) for page in event.answer.seen}
    return max(seen, default=otherwise)


def last_page_sent(exchange: Exchange, events: Sequence[Event], memory: GistMemory) -> int:
    """The last page that the prompts of an exchange, look-ups too, may hold the gist or the text of."""
    sent = exchange.up_to or len(memory.pages)
    one_prompt = sum(isinstance(event, ModelCall) for event in events) == 1  # else only the last one is known
    return last_page_seen(events, otherwise=sent) if one_prompt else sent


def prompts_beyond(exchange: Exchange, events: Sequence[Event], memory: GistMemory, last: int | None) -> bool:
    """Whether the prompts of an exchange hold gists or pages after page ``last``; None: nothing is beyond it."""
    return last is not None and last_page_sent(exchange, events, memory) > last


def last_page_named(events: Sequence[Event], *, otherwise: int) -> int:
    """The last page that a recorded answer opened or cites: it was made to be shown, so that its gists do not count."""
    named: set[int] = set()
    for event in events:
        if isinstance(event, Answered):
            cited = parse(event.answer.text)
            named |= {*event.answer.looked_up, *(page for mark in cited.marks for page in mark.pages)}
    return max(named, default=otherwise)


def within_limits(exchange: Exchange, books: Sequence[ShelfBook]) -> bool:
    """Whether an earlier exchange saw no page that a book's spoiler limit keeps out now."""
    now = {book.id: book for book in books}
    for book_id, gisting_id, up_to in exchange.facts.books:
        book = now.get(book_id)
        if book is None:
            return False
        if book.up_to is not None and (gisting_id != book.gisting_id or up_to is None or up_to > book.up_to):
            return False
    return True
