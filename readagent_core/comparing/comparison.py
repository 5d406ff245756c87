"""A comparison: what every method answered to one question about a book, or about several, and what it needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from readagent_core.answering.base import Answer
from readagent_core.answering.event_json import answer_from_dict
from readagent_core.answering.signature import Signature, sign
from readagent_core.errors import Remedy
from readagent_core.memory import compression_rate


@dataclass(frozen=True)
class ComparedBook:
    """A book of a comparison. ``pages``: as many as could be seen. ``paragraphs``: of its whole text, as many as its
    spoiler limit let in; None: no limit.
    """

    id: str
    title: str
    pages: int
    paragraphs: int | None = None


def place_of(books: Sequence[ComparedBook], page: int) -> tuple[int, int]:
    """Return the number of the book, from 1, that has ``page`` of all ``books``, and its number there.

    (0, page) where no book has it, or there is one book.
    """
    at = page
    for number, book in enumerate(books if len(books) > 1 else (), start=1):
        if 1 <= at <= book.pages:
            return number, at
        at -= book.pages
    return 0, page


def page_of_all(books: Sequence[ComparedBook], book: int, page: int) -> int:
    """Return the number of a page of ``book`` where the pages of all ``books`` are numbered through; 0 for none."""
    if book and not (book <= len(books) and 1 <= page <= books[book - 1].pages):
        return 0
    return page + sum(one.pages for one in books[: max(0, book - 1)])


def name_pages(books: Sequence[ComparedBook], pages: Iterable[int]) -> str:
    """Return 'page 3', 'pages 3, 5', and of several books 'Fog, page 3; Ice, pages 5, 6'."""
    places = [place_of(books, page) for page in pages]
    named = []
    for number in dict.fromkeys(number for number, _ in places):
        here = [str(page) for book, page in places if book == number]
        title = f"{books[number - 1].title}, " if number else ""
        named.append(f"{title}{'page' if len(here) == 1 else 'pages'} {', '.join(here)}")
    return "; ".join(named)


class EntryState(StrEnum):
    """How far one method of a comparison is; the names go into files and pages."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CUT_OFF = "cut off"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class ComparedAnswer:
    """One method's row.

    ``doing``: what the method does now, for people. ``text``: the answer so far. ``seconds``: of wall-clock time.
    ``rouge``: how much the answer shares with the known answers, 0 to 1; empty where none is known. ``verdict``: the
    model's, of ``judging``, '' without one; ``reason``: the model's, or why there is no verdict.
    """

    method: str
    state: EntryState = EntryState.WAITING
    doing: str = ""
    text: str = ""
    calls: int = 0
    seconds: float = 0.0
    answer: Answer | None = None
    error: str = ""
    remedy: str = Remedy.NONE
    rouge: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""
    reason: str = ""

    @property
    def ended(self) -> bool:
        return self.state not in (EntryState.WAITING, EntryState.RUNNING)


@dataclass(frozen=True)
class Comparison:
    """``correct``: index of the right option, None where it is not known. ``references``: known answers, as people
    wrote them. ``pages``: words of each page that could be seen, in order; of several books numbered through.

    ``words``: of the text asked about. ``model`` and ``where``: who answered, and its server. ``asked``: when, as
    ``time.time()``. ``recorded``: date of a bundled recording, else ''. ``books``: in order; the marks of an answer
    from several name book and page, '[2.7]'. ``gists``: as many pages had one; None where all had.
    """

    title: str
    language: str
    question: str
    options: tuple[str, ...]
    correct: int | None
    words: int
    pages: tuple[int, ...]
    model: str
    asked: float
    entries: tuple[ComparedAnswer, ...]
    references: tuple[str, ...] = ()
    where: str = ""
    recorded: str = ""
    books: tuple[ComparedBook, ...] = ()
    gists: int | None = None

    @property
    def ended(self) -> bool:
        return all(entry.ended for entry in self.entries)

    @property
    def signature(self) -> Signature:
        return sign(self.model, self.where, self.recorded)

    @property
    def several(self) -> bool:
        return len(self.books) > 1

    @property
    def limited(self) -> bool:
        """Return whether a spoiler limit hides a part of it."""
        return any(book.paragraphs is not None for book in self.books)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        entries = tuple(
            ComparedAnswer(
                **{**e, "state": EntryState(e["state"]), "answer": e["answer"] and answer_from_dict(e["answer"])}
            )
            for e in data["entries"]
        )
        lists = {name: tuple(data.get(name, ())) for name in ("options", "pages", "references")}
        books = tuple(ComparedBook(**book) for book in data.get("books", ()))
        return cls(**{**data, **lists, "books": books, "entries": entries})


def fewer_words(comparison: Comparison, answer: Answer) -> float:
    """Return how many per cent of the text's words ``answer`` was spared: of the same text, whatever the method saw."""
    return compression_rate(answer.memory_words, comparison.words)


def is_right(comparison: Comparison, entry: ComparedAnswer) -> bool | None:
    """Whether the method chose the right option; None where that is not known."""
    if comparison.correct is None or entry.answer is None or not comparison.options:
        return None
    return entry.answer.option == comparison.correct


def is_past_limit(comparison: Comparison, limits: Mapping[str, int | None]) -> bool:
    """Whether ``comparison`` could see text after ``limits``, as ``ComparedText.limits`` has them now."""
    return any(_saw_more(book, limits.get(book.id, 0)) for book in comparison.books)


def _saw_more(book: ComparedBook, limit: int | None) -> bool:
    return limit is not None and (book.paragraphs is None or book.paragraphs > limit)
