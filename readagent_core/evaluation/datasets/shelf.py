"""Several documents with one list of questions: any dataset with n documents on one shelf, or LongBench v2's sets.

The documents of a shelf are also one document (``answering.joined_books``), so that methods that know one
document only can be asked about a shelf. Questions of several documents that are put together name their documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from readagent_core.answering.joined_books import join_documents
from readagent_core.document import Document
from readagent_core.evaluation.datasets.base import Case, Item, Source


@dataclass(frozen=True)
class ShelfCase(Case):
    """A case about several documents. ``books``: a case for each, in order; ``items`` are asked of all together."""

    books: tuple[Case, ...] = ()

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The documents as the loaders read them. Raises DatasetError, naming file and line."""
        return tuple(book.document for book in self.books)

    @cached_property
    def document(self) -> Document:
        """The documents as one."""
        return join_documents(self.title, self.documents)


def make_shelf(books: Sequence[Case], items: Sequence[Item]) -> ShelfCase:
    """Return the shelf of these ``books`` with ``items`` as its questions."""
    data = b"\n\n".join(book.source.data for book in books)
    names = ", ".join(book.title for book in books)
    return ShelfCase(
        names, tuple(items), Source(data, "shelf.txt"), books[0].preset, books[0].place, books=tuple(books)
    )


def put_on_shelves(cases: Iterator[Case], size: int) -> Iterator[Case]:
    """Yield shelves of ``size`` neighbouring cases, the last one of what is left."""
    while books := tuple(islice(cases, size)):
        yield make_shelf(books, [_naming(item, book.title) for book in books for item in book.items])


def _naming(item: Item, title: str) -> Item:
    """Return ``item`` with the document's title in its question: 'Who came?' may be asked of any book."""
    if not title:
        return item
    return replace(item, question=replace(item.question, text=f'In "{title}": {item.question.text}'))
