"""Several books as one document and one memory, so that methods that know one book can be asked about several.

Pages are numbered through. Every stretch of the joined text begins with the title of its book, so that a prompt never
shows a page without the book it is from.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from readagent_core.document import Document, Section
from readagent_core.memory import Gist, GistMemory, Page, Passage

_TITLES = 3  # named in the title of several books


@dataclass(frozen=True)
class JoinedDocument(Document):
    """Several documents as one. ``starts``: the first paragraph of each; ``titles``: their titles."""

    starts: tuple[int, ...] = ()
    titles: tuple[str, ...] = ()

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return the text as ``Document.text`` does; one that begins within a book begins with its title."""
        text = super().text(start, end)
        book = bisect_right(self.starts, start) - 1
        return text if self.starts[book] == start else f"## {self.titles[book]}\n\n{text}"


@dataclass(frozen=True)
class JoinedMemory(GistMemory):
    """The memories of several books as one. ``books``: each on its own; ``numbers``: their numbers in labels."""

    books: tuple[GistMemory, ...] = ()
    numbers: tuple[int, ...] = ()

    def joined_page(self, book: int, page: int) -> int:
        """Return the number here of a page of ``book``, which counts from 1."""
        return page + sum(len(memory.pages) for memory in self.books[: book - 1])

    def book_and_page(self, number: int) -> tuple[int, int]:
        """Return the number of the book, and its page, that are page ``number`` here."""
        for book, memory in zip(self.numbers, self.books, strict=True):
            if number <= len(memory.pages):
                return book, number
            number -= len(memory.pages)
        raise KeyError(number)

    def label(self, number: int) -> str:
        return "{}.{}".format(*self.book_and_page(number))

    def number_of(self, label: str) -> int | None:
        book, _, page = label.partition(".")
        if not book.isdecimal() or int(book) not in self.numbers:
            return None
        place = self.numbers.index(int(book))
        inside = self.books[place].number_of(page)
        return self.joined_page(place + 1, inside) if inside else None

    def passages_of(self, book: int, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        """Return those of the ``passages`` that are in book number ``book``, by its own pages and paragraphs."""
        assert isinstance(self.document, JoinedDocument)
        start = self.document.starts[self.numbers.index(book)]
        here = ((self.book_and_page(p.page), p) for p in passages)
        return tuple(
            p._replace(page=page, start=p.start - start, end=p.end - start)
            for (number, page), p in here
            if number == book
        )

    def pages_of(self, book: int, pages: Iterable[int]) -> tuple[int, ...]:
        """Return those of the ``pages`` that are in book number ``book``, by its own numbers."""
        return tuple(page for number, page in map(self.book_and_page, pages) if number == book)


def join_documents(title: str, documents: Sequence[Document]) -> JoinedDocument:
    """Return the documents as one: a section for each, in order, and theirs below it. Pictures and spans are left out.

    It has the language of most of them.
    """
    sections: list[Section] = []
    starts: list[int] = []
    start = 0
    for document in documents:
        starts.append(start)
        sections.append(Section(document.title, start))
        sections += [Section(s.title, start + s.start, s.level + 1) for s in document.sections]
        start += len(document.paragraphs)
    ((language, _),) = Counter(document.language for document in documents).most_common(1)
    return JoinedDocument(
        title,
        # for prompts: references lead to paragraphs of one book
        tuple(replace(p, spans=()) if p.spans else p for document in documents for p in document.paragraphs),
        tuple(sections),
        language=language,
        starts=tuple(starts),
        titles=tuple(document.title for document in documents),
    )


def join_memories(books: Sequence[GistMemory], *, numbers: Sequence[int] = ()) -> JoinedMemory:
    """Return the memories as one, named by the titles. The first gist of each book begins with the book's title.

    ``numbers``: of the books in labels, by default from 1.
    """
    titles = [book.document.title for book in books]
    more = f" and {len(titles) - _TITLES} more" if len(titles) > _TITLES else ""
    document = join_documents("; ".join(titles[:_TITLES]) + more, [book.document for book in books])
    pages: list[Page] = []
    gists: list[Gist | None] = []
    for book, start in zip(books, document.starts, strict=True):
        before = len(pages)
        pages += [replace(p, number=before + p.number, start=start + p.start, end=start + p.end) for p in book.pages]
        gists += book.gists
        for number in book.readable[:1]:
            first = gists[before + number - 1]
            assert first is not None
            gists[before + number - 1] = replace(first, text=f"## {book.document.title}\n\n{first.text}")
    return JoinedMemory(
        document,
        books[0].plan,
        tuple(pages),
        tuple(gists),
        model=books[0].model,
        complete=all(book.complete for book in books),
        books=tuple(books),
        numbers=tuple(numbers) or tuple(range(1, len(books) + 1)),
    )
