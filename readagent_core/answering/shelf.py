"""Several books that one question is asked of, and which of them are shown where there are too many.

Every book has a number, which its pages begin with in prompts and citations: '2.7' is page 7 of book 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from readagent_core.answering.joined_books import join_memories
from readagent_core.answering.resources import Resources
from readagent_core.answering.retrieval import sort_by_score
from readagent_core.answering.run import Run
from readagent_core.answering.view import PLACES, FoundLine, find_places
from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import NotInLibraryError
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.statistics import Bm25
from readagent_core.plan import GistingPlan
from readagent_core.words import count_words, terms

OWN_WORDS = 150  # gists of pages that are no longer than this are the gist of the book
OPENING = 3000  # characters of the gists of pages by which a book without a gist of its own is chosen


@dataclass(frozen=True)
class ShelfBook:
    """A book of a question about several. ``number``: from 1. Figures are those of what the spoiler limit lets in.

    ``words`` and ``pages``: of the pages with a gist, none in a book that was not read; ``gist_words``: of their gists;
    ``text_words``: of the text of a book that was not read. ``gist``: of the whole book, '' where none was made yet.
    ``opening``: the beginning of the gists of pages.
    """

    number: int
    id: str
    title: str
    author: str = ""
    language: str = "en"
    words: int = 0
    pages: int = 0
    gist_words: int = 0
    gist: str = ""
    opening: str = ""
    gisting_id: int = 0
    up_to: int | None = None
    text_words: int = 0


class AskedShelf:
    """The books of a question, with memories that the caller has. ``notes``: what a reader must know of the choice.

    The workspace's shelf loads memories from the library, one at a time as they are needed.
    """

    books: tuple[ShelfBook, ...]
    notes: tuple[str, ...] = ()

    def __init__(self, memories: Sequence[GistMemory]) -> None:
        self._memories = dict(enumerate(memories, start=1))
        self.books = tuple(book_of(number, memory) for number, memory in self._memories.items())

    @property
    def sample(self) -> str:
        """Part of the books' gists, for their script."""
        return next((book.opening for book in self.books if book.opening), "")

    @property
    def words(self) -> int:
        """Return the words of all texts, as far as the spoiler limits let in."""
        return sum(book.words + book.text_words for book in self.books)

    @property
    def places_of_book(self) -> int:
        """Return the most places of words that are shown of one book."""
        return max(2, PLACES // len(self.books))

    def check_gists(self, *, then: str) -> None:
        """Raise NotInLibraryError where no book has gists; ``then``: what to do after they were made."""
        if not any(book.pages for book in self.books):
            raise NotInLibraryError(
                f"None of these books has gists that the spoiler limits let in. Make them in Read, then {then}."
            )

    def make_searchable(self, cancel: CancelToken) -> None:
        """Make what is needed to look for words; what cannot be looked for is said in the notes."""

    def memory(self, book: ShelfBook) -> GistMemory:
        """Return the book's memory, which ends at its spoiler limit."""
        return self._memories[book.number]

    @cached_property
    def joined(self) -> GistMemory:
        """The books as one text, for methods that know one book."""
        return join_memories([self.memory(book) for book in self.books])

    @property
    def no_pages(self) -> GistMemory:
        """A memory without pages, in the language of most of the books: that of the prompts."""
        ((language, _),) = Counter(book.language for book in self.books).most_common(1)
        return GistMemory(Document("", (), language=language), GistingPlan(), (), ())

    def resources(self, resources: Resources, book: ShelfBook) -> Resources:
        """Return ``resources`` with the place where what is made of this book is stored."""
        return resources

    def store_gist(self, book: ShelfBook, gist: str) -> None:
        """Set the gist of the whole book; a shelf of a library stores it for the next question."""
        self.books = tuple(replace(b, gist=gist) if b.number == book.number else b for b in self.books)

    def find(self, words: str) -> list[FoundLine]:
        """Return where exactly these words stand, in any book, as far as its spoiler limit lets in."""
        most = self.places_of_book
        found = (replace(p, book=b.number) for b in self.books for p in find_places(self.memory(b), words, most=most))
        return list(islice(found, PLACES))

    def passages(self, question: str) -> list[FoundLine]:
        """Return passages that share words with the question, of the books without gists."""
        return []


def book_of(number: int, memory: GistMemory, **values: str | int | None) -> ShelfBook:
    """Return the description of a memory that is at hand."""
    text = "\n\n".join(gist.text for n in memory.readable if (gist := memory.gists[n - 1]))
    known = ShelfBook(
        number,
        memory.document.id,
        memory.document.title,
        memory.document.author,
        memory.document.language,
        memory.readable_words,
        len(memory.readable),
        memory.gist_words,
        text if memory.gist_words <= OWN_WORDS else "",
        text[:OPENING],
    )
    return replace(known, **values)  # type: ignore[arg-type]


def choose_books(run: Run, books: Sequence[ShelfBook], most: int) -> list[ShelfBook]:
    """Return the books whose own gists fit into ``most`` words, those that come nearest to the question first.

    By BM25 over title, author and gist (or the beginning of the gists of pages), and by embeddings as well where an
    embedding model is connected: then by the sum of 1 / (60 + rank).
    """
    from readagent_core.models.embeddings.embed import BuiltInEmbedder  # imports numpy

    texts = [f"{book.title}\n{book.author}\n{book.gist or book.opening}" for book in books]
    rankings = [rank_texts(run.question.text, texts)]
    embedder = run.embedder
    if not isinstance(embedder, BuiltInEmbedder):
        vectors = embedder.embed([*texts, run.question.text], run.cancel)
        rankings.append(sort_by_score([float(score) for score in vectors[:-1] @ vectors[-1]]))
    scores = [0.0] * len(books)
    for ranking in rankings:
        for rank, place in enumerate(ranking):
            scores[place - 1] += 1 / (60 + rank)
    chosen: list[ShelfBook] = []
    words = 0
    for place in sort_by_score(scores):
        book = books[place - 1]
        words += count_words(book.gist) + count_words(book.title) if book.gist else OWN_WORDS
        if chosen and words > most:
            break
        chosen.append(book)
    return chosen


def rank_texts(question: str, texts: Sequence[str]) -> list[int]:
    """Return the numbers, from 1, of the texts that share a word with the question, by falling BM25 score."""
    scores = Bm25([terms(text) for text in texts]).scores(terms(question))
    return [place for place in sort_by_score(scores) if scores[place - 1] > 0]
