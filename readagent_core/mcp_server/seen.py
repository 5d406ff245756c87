"""The library as an agent may see it: each book as far as its spoiler limit lets in. Raises NotInLibraryError."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from readagent_core.answering.limits import memory_let_in
from readagent_core.document import Document
from readagent_core.errors import NotInLibraryError, ReadAgentError
from readagent_core.library import Library
from readagent_core.library.records import Card, GistingState
from readagent_core.mcp_server.results import BookInfo
from readagent_core.memory import GistMemory
from readagent_core.world.as_of import Known
from readagent_core.world.storage import load_world

CHARACTERS = 40_000  # of text in one result: clients cut results at about 25,000 tokens


class SeenLibrary:
    """Books by their ids."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def card(self, book_id: str) -> Card:
        for card in self.library.cards():
            if card.book.id == book_id:
                return card
        raise NotInLibraryError(f"There is no book '{book_id}' in the library. `list_books` gives the ids.")

    def describe(self, card: Card) -> BookInfo:
        book = card.book
        ready = card.state == GistingState.DONE and card.gisting_id is not None
        return BookInfo(
            id=book.id,
            title=book.title,
            author=book.author,
            language=book.language,
            words=book.words,
            gists="ready" if ready else f"{card.gists} pages so far" if card.gists else "none",
            pages=card.pages,
            only_read=card.position.allowed is not None,
            tags=list(card.tags),
            shelves=list(card.shelves),
        )

    def seen(self, book_id: str) -> tuple[GistMemory | None, Document]:
        """The memory and the text of a book as far as its spoiler limit lets in; no memory where no page has a gist."""
        book = self.library.book(book_id) if self._exists(book_id) else self.card(book_id).book
        position = self.library.position(book_id)
        gisting = next((r for r in self.library.gistings(book_id) if r.pages), None)
        document = self.library.document(book_id, document_id=gisting.document_id if gisting else book.document_id)
        memory = memory_let_in(self.library, gisting.id) if gisting else None
        if position.allowed is not None and position.allowed < len(document.paragraphs):
            document = document.up_to(position.allowed)
        return memory, document

    def known(self, book_id: str, page: int | None) -> tuple[Known, Document]:
        """What is known of a book's world at the end of ``page`` (None: the last that may be seen), and its text."""
        memory = with_gists(self.seen(book_id)[0], book_id)
        last = len(memory.pages) if page is None else known_page(memory, page)
        gisting = next(r for r in self.library.gistings(book_id) if r.pages)
        world = load_world(self.library, gisting.id)
        return world.as_of(last), world.memory.document

    def _exists(self, book_id: str) -> bool:
        try:
            return self.library.book(book_id).removed is None
        except ReadAgentError:
            return False

    def limit_note(self, book_id: str) -> str:
        if self.library.position(book_id).allowed is None:
            return ""
        return "The person lets you see only what they have read of this book."


def page_finder(memory: GistMemory | None, whole: Document) -> Callable[[int], int | None]:
    """A function that returns the page that has a paragraph of the ``whole`` text; None where it has no page yet."""
    if memory is None:
        return lambda paragraph: None
    ends = [page.end for page in memory.pages]

    def page_of(paragraph: int) -> int | None:
        page = bisect_right(ends, whole.count_in(memory.document, paragraph)) + 1
        return page if page in memory.readable else None

    return page_of


def with_gists(memory: GistMemory | None, book_id: str) -> GistMemory:
    if memory is None or not memory.readable:
        raise NotInLibraryError(
            f"Book {book_id} has no gists that may be seen. `make_gists` makes them where changes are allowed, or the "
            "person does in Read. `find`, `search`, `fetch` and `outline` work without."
        )
    return memory


def known_page(memory: GistMemory, number: int) -> int:
    """Return the number of a page that has a gist."""
    if number not in memory.readable:
        raise NotInLibraryError(f"There is no page {number} that may be seen: pages 1 to {memory.readable[-1]} are.")
    return number


def cut_text(text: str, start: int, room: int = CHARACTERS) -> tuple[str, int | None]:
    """A part of a text from character ``start``, at most ``room`` long, and where the rest begins."""
    end = start + room
    if end >= len(text):
        return text[max(0, start) :], None
    space = text.rfind(" ", start, end)
    end = space + 1 if space > start else end
    return text[start:end], end
