"""The records of the library as values: books, readings, conversations and their exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, NamedTuple

from readagent_core.errors import Remedy
from readagent_core.plan import GistingPlan
from readagent_core.short_repr import short_repr
from readagent_core.usage import Usage


class GistingState(StrEnum):
    """``RUNNING``: in progress, or interrupted by a crash."""

    RUNNING = "reading"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


class StopReason(StrEnum):
    """Why a gisting is not done, for code; its sentence for people is stored beside it."""

    NONE = ""
    PAUSED = "paused"  # by a person
    BUDGET = "budget"  # of this book
    SMALLER_PAGES = "smaller-pages"  # another gisting goes on in pages that fit the model's window
    SETTINGS = "settings"  # an error that is corrected in Settings
    ERROR = "error"
    BUG = "bug"
    CUT = "cut"  # pages were deleted to be read again


class ExchangeState(StrEnum):
    """``INTERRUPTED`` is never stored: it is a stored ``RUNNING`` that no process works on any more."""

    RUNNING = "running"
    DONE = "done"
    CUT_OFF = "cut off"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@short_repr
@dataclass(frozen=True)
class Book:
    """A book. ``id`` stays the same when its file changes; ``document_id`` is that of the newest version.

    Times are in seconds, as by ``time.time()``. ``removed``: when it was removed (it can be restored), else None.
    """

    id: str
    document_id: str
    title: str
    author: str
    language: str
    format: str
    words: int
    source_name: str = ""
    sample: bool = False
    version: int = 1
    added: float = 0.0
    opened: float | None = None
    removed: float | None = None
    has_cover: bool = False


@dataclass(frozen=True)
class Gisting:
    """One reading of one version of a book with one plan and model.

    ``reason``: why it is not done; ``why``: the same for people. ``limit``: the budget in dollars that stopped it.
    ``successor``: the id of the gisting that goes on in smaller pages. ``model`` and ``where``: the model and its
    server. ``recorded``: date of a recording, else ''. ``changed``: a counter that grows whenever a page or gist is
    added, changed or deleted. ``searched``: pages by rule, with the gists there were, that an answer was made from.
    """

    id: int
    book_id: str
    document_id: str
    plan: GistingPlan
    model: str
    where: str = ""
    state: GistingState = GistingState.RUNNING
    reason: StopReason = StopReason.NONE
    why: str = ""
    limit: float | None = None
    successor: int | None = None
    pages: int = 0
    gists: int = 0
    started: float = 0.0
    ended: float | None = None
    recorded: str = ""
    usage: Usage = field(default_factory=Usage)
    changed: int = 0
    searched: bool = False


@dataclass(frozen=True)
class Position:
    """How far the person is in a book. All indexes are paragraphs of the whole document, valid for every gisting of it.

    ``paragraph``: where the person is, in the section titled ``section``. ``furthest``: how many paragraphs from the
    start count as read, which are ``words_read`` words. ``limited``: the spoiler limit is on. ``limit``: the number of
    paragraphs that it lets in, set by hand; None: as many as ``furthest``. ``offset``: the first character of the
    paragraph that is on the screen; -1: the paragraph from its start, with the heading above it. ``share``: of the
    text that is before the place, from 0 to 1. ``words_before`` and ``words_after`` stand round the place, to find it
    in a text that was changed; both are empty in a library of an earlier version.
    ``by_default``: nobody has chosen the limit, the book is a story. ``lifted``: somebody turned the limit off.
    """

    paragraph: int = 0
    furthest: int = 0
    words_read: int = 0
    limited: bool = False
    limit: int | None = None
    section: str = ""
    offset: int = -1
    share: float = 0.0
    words_before: str = ""
    words_after: str = ""
    by_default: bool = False
    lifted: bool = False

    @property
    def allowed(self) -> int | None:
        """The number of paragraphs that the spoiler limit lets in; None without a limit.

        A limit by default keeps nothing out before the reading has begun: several books, agents and the command line
        would be refused. The book's own screens keep to it from the start (``on_screen``).
        """
        if not self.limited or (self.by_default and not self.furthest):
            return None
        return self.furthest if self.limit is None else self.limit

    @property
    def on_screen(self) -> Position:
        """The position as the screens of the book itself keep to it."""
        return replace(self, by_default=False)


@dataclass(frozen=True)
class Shelf:
    """A shelf. ``books``: the number of books on it, without those that were removed."""

    name: str
    books: int = 0


@short_repr
@dataclass(frozen=True)
class Card:
    """What the library's screen shows of one book.

    ``gisting_id`` and the fields after it describe the newest gisting that has pages, else the newest; None without a
    reading. ``words_covered``: words of the pages that have a gist. ``searchable``: whether ``search_all`` finds its
    text yet. ``finished``: the day on which the person had read it, '' before. ``pictures``: of a book with few words.
    """

    book: Book
    position: Position
    gisting_id: int | None = None
    state: GistingState | None = None
    reason: StopReason = StopReason.NONE
    why: str = ""
    model: str = ""
    recorded: str = ""
    ended: float | None = None
    pages: int = 0
    gists: int = 0
    words_covered: int = 0
    tags: tuple[str, ...] = ()
    shelves: tuple[str, ...] = ()
    searchable: bool = False
    series: str = ""
    place_in_series: float = 0.0
    finished: str = ""
    pictures: int = 0


@short_repr
@dataclass(frozen=True)
class Conversation:
    """A conversation. ``about``: '' for one about one book, ``book_id``; else what was chosen: 'shelf NAME', 'tag NAME'
    or 'books'. ``book_id`` is then the first of them that is still in the library. ``questions``: how many; one that
    was asked again, also of another method, counts once.
    """

    id: str
    book_id: str
    title: str
    created: float = 0.0
    updated: float = 0.0
    questions: int = 0
    about: str = ""


class AskedBook(NamedTuple):
    """One of several books that a question was asked of. ``up_to``: the last page allowed; None without a limit."""

    id: str
    gisting_id: int
    up_to: int | None


@dataclass(frozen=True)
class ExchangeFacts:
    """What is known of a question beside its events; a value that is not is empty.

    ``model``, ``where``: who answered, and its server. ``recorded``: date of a recording. ``words``: of the text asked
    about. ``pages_read``: how many pages had gists, where the book was not read to its end. ``standalone``: the
    question as it was understood without the conversation. ``seconds``: how long the answer took. ``books``: of a
    question about several, in the order of their numbers. ``beside``: the exchange that this one was asked again from,
    to be shown beside it. ``others``: what another version wrote.
    """

    model: str = ""
    where: str = ""
    recorded: str = ""
    words: int = 0
    pages_read: int = 0
    standalone: str = ""
    seconds: float = 0.0
    beside: str = ""
    books: tuple[AskedBook, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain JSON values."""
        known = {name: value for name, value in vars(self).items() if value and name not in ("books", "others")}
        return {**self.others, **known, **({"books": [list(book) for book in self.books]} if self.books else {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExchangeFacts:
        """Return the facts that ``to_dict`` turned into ``data``; a value of another type is one of ``others``."""
        values: dict[str, Any] = {}
        for known in fields(cls)[:-2]:
            kind = int | float if isinstance(known.default, float) else type(known.default)
            if isinstance(data.get(known.name), kind):
                values[known.name] = data[known.name]
        books = data.get("books")
        if isinstance(books, list) and all(isinstance(book, list) and len(book) == 3 for book in books):
            values["books"] = tuple(AskedBook(*book) for book in books)
        return cls(**values, others={name: value for name, value in data.items() if name not in values})


@short_repr
@dataclass(frozen=True)
class Exchange:
    """One question and its answer. ``events``: as ``event_to_dict`` returns them, in order; not to be changed.

    ``error``: why it failed or was cut off, for people; ``remedy``: where that is corrected. ``method``: its name;
    ``settings``: its settings as a dict. ``up_to``: the last page that may be used, None without a spoiler limit. Of a
    question about several books ``gisting_id`` is 0 and ``up_to`` None: ``facts.books`` has them.
    """

    id: str
    conversation_id: str
    gisting_id: int
    question: str
    options: tuple[str, ...] = ()
    method: str = "read-agent-p"
    settings: dict[str, Any] = field(default_factory=dict)
    up_to: int | None = None
    asked: float = 0.0
    state: ExchangeState = ExchangeState.RUNNING
    error: str = ""
    remedy: Remedy = Remedy.NONE
    events: Sequence[dict[str, Any]] = ()
    facts: ExchangeFacts = field(default_factory=ExchangeFacts)
