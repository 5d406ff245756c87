"""Recall from several books: they are one text whose pages are named like 2.58, and each event is told of its book."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from readagent_core.answering.base import (
    Answered,
    BookInAnswer,
    BooksShown,
    Event,
    Expanded,
    LookedUp,
    Searched,
)
from readagent_core.answering.joined_books import JoinedMemory, join_memories
from readagent_core.answering.recall import recall
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf, ShelfBook, choose_books
from readagent_core.words import count_of

MOST_BOOKS = 12  # of several books, those whose text is searched


def recall_from_books(run: Run, shelf: AskedShelf) -> Generator[Event, None, None]:
    """Answer from several books, as from one. Of many, from those whose gists come nearest to the question."""
    read = [book for book in shelf.books if book.pages]
    for note in shelf.notes:
        yield run.note(note)
    if unread := len(shelf.books) - len(read):
        yield run.note(f"{count_of(unread, 'book')} without gists: nothing was looked for there.")
    chosen = read if len(read) <= MOST_BOOKS else choose_books(run, read, 10**9)[:MOST_BOOKS]
    if len(chosen) < len(read):
        yield run.note(f"Of {len(read):,} books the {len(chosen)} whose gists come nearest to the question were asked.")
    chosen = sorted(chosen, key=lambda book: book.number)
    yield BooksShown(tuple((book.number, book.id, book.title, "gists") for book in chosen), len(shelf.books))
    memory = join_memories([shelf.memory(book) for book in chosen], numbers=[book.number for book in chosen])
    for event in recall(replace(run, memory=memory)):
        yield from _events_by_book(memory, event, chosen)


def _events_by_book(memory: JoinedMemory, event: Event, books: Sequence[ShelfBook]) -> Iterator[Event]:
    """Yield what an event about the joined pages says, as events about the pages of each of the ``books``."""
    if isinstance(event, LookedUp | Expanded):
        for number in memory.numbers:
            pages, passages = memory.pages_of(number, event.pages), memory.passages_of(number, event.passages)
            if pages or passages or isinstance(event, Expanded):
                yield replace(event, pages=pages, passages=passages, book=number)
        if isinstance(event, LookedUp) and not event.named_pages:
            yield event
    elif isinstance(event, Searched) and event.pages:
        for number in memory.numbers:
            if pages := memory.pages_of(number, event.pages):
                yield replace(event, pages=pages, book=number)
    elif isinstance(event, Answered):
        seen = event.answer
        yield Answered(
            replace(
                seen,
                looked_up=(),
                seen={},
                passages=(),
                books=tuple(
                    BookInAnswer(
                        book.number, book.id, book.title, "gists", book.gisting_id, book.up_to,
                        memory.pages_of(book.number, seen.looked_up),
                        {memory.book_and_page(n)[1]: how for n, how in seen.seen.items()
                         if memory.book_and_page(n)[0] == book.number},
                        memory.passages_of(book.number, seen.passages),
                    )
                    for book in books
                ),
            )
        )  # fmt: skip
    else:
        yield event
