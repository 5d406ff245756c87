"""What is shown for a question: a view of one book, or of several, each by its own gist or by a view of its own.

The books' own gists come first; what is opened is replaced in place, as in one book.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from readagent_core.answering.base import BookInAnswer, BooksShown, Event, Expanded
from readagent_core.answering.levels import PART_WORDS, ROOM, BookPart, Levels, make_levels
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf, ShelfBook, choose_books
from readagent_core.answering.shown_text import passages_of
from readagent_core.answering.view import FoundLine, View, find_places, first_view
from readagent_core.memory import Passage
from readagent_core.prompts import render_fragment
from readagent_core.tags import book_tag, escape_tags
from readagent_core.words import count_of, count_words

NEW_GISTS = 120  # most calls for gists of parts and books before the first prompt of a question
OPENED_FIRST = 3  # books that the first view opens as far as there is room
OPENED_WORDS = 500_000  # most words of them together: to rank the pages of more takes too long
_LEAST_ROOM = 200  # words; with less a book is not opened ahead
_LABEL = re.compile(r"(\d{1,4})(?:\.(\d{1,6})(?:-(?:\d{1,4}\.)?(\d{1,6}))?)?")


@dataclass
class ShelfView:
    """What is shown for a question. ``views``: of the books that are open, by number. ``closed``: the numbers of
    books that are shown by their own gists. ``found``: lines in books that are not open.

    A question about one book has one view, number 0, and no ``shelf``. ``repeated``: words of gists that the next
    prompt still has although what they are about was shown after them (``opened=after``); None where it shows the view
    in place.
    """

    run: Run
    views: dict[int, View]
    shelf: AskedShelf | None = None
    closed: set[int] = field(default_factory=set)
    found: dict[int, list[FoundLine]] = field(default_factory=dict)
    repeated: int | None = None
    _levels: dict[int, Levels] = field(default_factory=dict)
    _named: set[int] = field(default_factory=set)  # books that the model asked for: they stay open
    _told: dict[int, Expanded] = field(default_factory=dict)

    def book(self, number: int) -> ShelfBook:
        assert self.shelf is not None
        return self.shelf.books[number - 1]

    def text(self) -> str:
        """Return all of it as the model sees it."""
        if self.shelf is None:
            return self.views[0].text()
        return "\n\n".join(self._entry(number) for number in self.numbers())

    def words(self) -> int:
        """Return the words of gists, full pages and found lines, without tags and titles."""
        lines = (line for number in self.numbers() for line in self._lines(number))
        closed = sum(count_words(self.book(number).gist) for number in self.closed)
        return (
            sum(view.words() for view in self.views.values())
            + closed
            + sum(map(count_words, lines))
            + (self.repeated or 0)
        )

    def pieces(self) -> dict[str, str]:
        """Return everything shown piece by piece: texts by names that no other piece has."""
        lines = (line for number in self.numbers() for line in self._lines(number))
        return {
            **dict(piece for view in self.views.values() for piece in view.pieces()),
            **{line: line for line in lines},
        }

    def full(self) -> list[tuple[View, int]]:
        """Return the pages shown in full, each with the view it is in."""
        return [(view, page) for view in self.views.values() for page in sorted(view.full)]

    def full_words(self) -> int:
        return sum(view.memory.page(page).words for view, page in self.full())

    def expanded(self) -> Iterator[Expanded]:
        """Yield an event for each book whose part of the view has changed since the last time."""
        words = self.words()
        for number in self.numbers():
            view = self.views.get(number)
            if view is not None:
                event = Expanded(tuple(sorted(view.full)), words, view.entries(), number, view.passages())
            else:
                pages = self.book(number).pages if number in self.closed else 0
                event = Expanded((), words, ((1, pages, "part"),) if pages else (), number, self._passages(number))
            if self.shelf is None or replace(event, memory_words=0) != self._told.get(number):
                self._told[number] = replace(event, memory_words=0)
                yield event

    def find(self, words: str) -> list[FoundLine]:
        """Return where exactly these words stand and show these lines in place."""
        places = self.shelf.find(words) if self.shelf else find_places(self.views[0].memory, words)
        self.add_places(places)
        return places

    def add_places(self, places: Iterable[FoundLine]) -> None:
        for place in places:
            view = self.views.get(place.book)
            if view is not None:
                view.add_places([place])
            elif place not in (lines := self.found.setdefault(place.book, [])):
                lines.append(place)

    def book_number(self, label: str) -> int:
        """Return the number of the book that a name such as '2.7' begins with; 0 where there is none, or one book."""
        found = _LABEL.fullmatch(label)
        number = int(found.group(1)) if found and self.shelf else 0
        return number if self.shelf and number <= len(self.shelf.books) else 0

    def seek(self, label: str, most: int) -> tuple[View, BookPart] | str:
        """Return the view and the part or page of a name such as '7', '2.7' or '2.31-33'; why not, where there is none.

        A book that is named by its number alone ('2') is opened within ``most`` words; its part is then all of it.
        """
        if self.shelf is None:
            part = self.views[0].named(label) if "." not in label else None
            return (self.views[0], part) if part else "there is no such page"
        found, number = _LABEL.fullmatch(label), self.book_number(label)
        if found is None or not number:
            return "there is no such book; name a page of book 2 like 2.7"
        book = self.book(number)
        if not book.pages:
            return "it has no gists yet; only words can be found in it"
        self._named.add(number)
        was_open = number in self.views
        view = self.open_book(book, most)
        if found.group(2) is None:
            whole = BookPart(len(view.levels.levels), 1, book.pages)
            return "it is open already; name its pages or ranges" if was_open else (view, whole)
        part = view.named("-".join(filter(None, found.groups()[1:])))
        return (view, part) if part else "there is no such page"

    def open_book(self, book: ShelfBook, most: int) -> View:
        """Return the view of a book; one that was closed now has the finest view of at most ``most`` words."""
        if book.number not in self.views:
            assert self.shelf is not None
            run = self.run_of(book)
            if book.gist_words <= most:
                levels = Levels(run.memory, (tuple(BookPart(0, n, n) for n in run.memory.readable),), {})
            else:
                levels = self.levels_of(book)
            view = first_view(levels, most, rank_by_bm25(self.run.question.text, run.memory))
            view.book = book.number
            view.add_places(self.found.pop(book.number, ()))
            self.views[book.number] = view
            self.closed.discard(book.number)
        return self.views[book.number]

    def levels_of(self, book: ShelfBook) -> Levels:
        """Return the levels of a book up to one part, the whole book; missing gists are made. Raises ModelError."""
        if book.number not in self._levels:
            self._levels[book.number] = make_levels(self.run_of(book), 0)
        return self._levels[book.number]

    def run_of(self, book: ShelfBook) -> Run:
        """Return the run as one of this book alone."""
        assert self.shelf is not None
        resources = self.shelf.resources(self.run.resources, book)
        return replace(self.run, memory=self.shelf.memory(book), resources=resources)

    def fold(self, most: int) -> list[str]:
        """Close books and fold parts that hold nothing asked for, from the last on; return what was folded."""
        folded: list[str] = []
        for number, view in sorted(self.views.items(), reverse=True):
            excess = self.words() - most
            if excess > 0 and self.shelf and not view.asked and number not in self._named:
                if self.book(number).gist:
                    del self.views[number]
                    self.closed.add(number)
                    folded.append(book_tag(number).strip("<>"))
            elif excess > 0:
                folded += view.fold(view.words() - excess)
        return folded

    def figures(self) -> dict[str, object]:
        """Return what the answer says of it: arguments of ``Run.finish``."""
        if self.shelf is None:
            view = self.views[0]
            seen = {"looked_up": tuple(sorted(view.full)), "seen": view.seen(), "passages": view.passages()}
            return {**seen, "memory_words": self.words(), "whole_words": view.memory.readable_words}
        return {"books": tuple(self._books_in_answer()), "memory_words": self.words(), "whole_words": self.shelf.words}

    def how(self, number: int) -> str:
        """Return how a book is shown, as ``BooksShown`` says it."""
        if number in self.views:
            return "gists"
        book = self.book(number)
        return "words" if not book.pages else "book" if book.gist and number in self.closed else "title"

    def _books_in_answer(self) -> Iterator[BookInAnswer]:
        for number in self.numbers():
            book, view = self.book(number), self.views.get(number)
            whole = number in self.closed and book.gist
            seen = view.seen() if view else dict.fromkeys(range(1, book.pages + 1), "part") if whole else {}
            passages = view.passages() if view else self._passages(number)
            seen |= {passage.page: "passage" for passage in passages}
            full = tuple(sorted(view.full)) if view else ()
            pages = dict(sorted(seen.items()))
            how, found = self.how(number), tuple(one.line for one in self.found.get(number, ()) if not one.page)
            yield BookInAnswer(
                number, book.id, book.title, how, book.gisting_id, book.up_to, full, pages, passages, found
            )

    def _passages(self, number: int) -> tuple[Passage, ...]:
        """Return where the lines stand that were found in a book that is not open."""
        lines: dict[int, list[str]] = {}
        for place in self.found.get(number, ()):
            lines.setdefault(place.page, []).extend([place.line] if place.page else [])
        return passages_of(self.shelf.memory(self.book(number)), lines) if self.shelf and any(lines.values()) else ()

    def numbers(self) -> list[int]:
        """Return the numbers of the books that are shown."""
        return sorted({*self.views, *self.closed, *self.found})

    def _entry(self, number: int) -> str:
        book = self.book(number)
        title = f"{book.title} ({book.author})" if book.author else book.title
        head = f"{book_tag(number)} {escape_tags(title)}"
        if number in self.views:
            return f"{head}\n\n{self.views[number].text()}"
        body = escape_tags(book.gist) if number in self.closed else ""
        if not body and book.pages:
            body = render_fragment("shelf.untold", self.run.language, pages=str(book.pages))
        elif not body:
            body = render_fragment("shelf.unread", self.run.language)
        return "\n".join([head, body, *self._lines(number)])

    def _lines(self, number: int) -> Iterator[str]:
        for place in self.found.get(number, ()):
            line = escape_tags(place.line)
            if place.page:
                yield render_fragment("found", self.run.language, page=f"{number}.{place.page}", line=line)
            else:
                yield render_fragment("found.book", self.run.language, book=str(number), line=line)


def first_shelf_view(run: Run, shelf: AskedShelf, most: int) -> Generator[Event, None, ShelfView]:
    """Return the first view of several books, of at most ``most`` words, and say in events what it shows.

    All gists of pages where they fit; else the books' own gists, of as many books as fit, and the best of them opened
    towards the question. Gists that are missing are made, in at most ``NEW_GISTS`` calls. Raises ModelError.
    """
    view = ShelfView(run, {}, shelf)
    for note in shelf.notes:
        yield run.note(note)
    read = [book for book in shelf.books if book.pages]
    unread = len(shelf.books) - len(read)
    if unread:
        yield run.note(f"{count_of(unread, 'book')} without gists: only words were looked for there.")
    view.add_places(shelf.passages(run.question.text))
    room = most - view.words()
    if sum(book.gist_words for book in read) <= room:
        for book in read:
            view.open_book(book, room)
    else:
        chosen = choose_books(run, read, int(room * ROOM))
        if len(chosen) < len(read):
            yield run.note(
                f"Of {len(read):,} books the {len(chosen):,} whose gists come nearest to the question are shown; "
                "words are looked for in all."
            )
        yield from _close_books(view, chosen)
        best: list[ShelfBook] = []
        for book in (view.book(book.number) for book in chosen[:OPENED_FIRST]):
            if not best or sum(b.words for b in best) + book.words <= OPENED_WORDS:
                best.append(book)
        for n, book in enumerate(best):
            share = (most - view.words()) // (len(best) - n) + count_words(book.gist)
            if book.gist and share >= _LEAST_ROOM:
                view.open_book(book, share)
    shown = tuple((n, view.book(n).id, view.book(n).title, view.how(n)) for n in view.numbers())
    yield BooksShown(shown, len(shelf.books))
    return view


def _close_books(view: ShelfView, chosen: Sequence[ShelfBook]) -> Generator[Event, None, None]:
    """Show books by their own gists; those that are missing are made first, of the best books first."""
    assert view.shelf is not None
    calls = view.run.model.usage.calls
    missing = gists_to_make(chosen)
    for book in chosen:
        if book in missing:
            levels = view.levels_of(book)
            view.shelf.store_gist(book, levels.gist(levels.top[0]))
        view.closed.add(book.number)
    made = view.run.model.usage.calls - calls
    if made:
        yield view.run.note(
            f"Summed up the gists of these books first, once for all questions ({count_of(made, 'call')})."
        )
    untold = sum(not view.book(number).gist for number in view.closed)
    if untold:
        yield view.run.note(f"{count_of(untold, 'book')} shown by title alone: their gists would take many calls.")


def gists_to_make(books: Sequence[ShelfBook]) -> dict[ShelfBook, int]:
    """Return the books whose own gist is made before they are shown, the first ones first, each with the most calls."""
    left, found = NEW_GISTS, {}
    for book in books:
        needed = round(2.2 * book.gist_words / PART_WORDS) + 1  # parts that sections end early, and the levels above
        if book.pages and not book.gist and needed <= left:
            left -= needed
            found[book] = needed
    return found
