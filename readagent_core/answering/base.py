"""The question, the settings, the events and the answer of a run.

Screens, command line and evaluation use the same events. ``registry.Method`` makes a method of a function that
yields them. Of a question about several books, every event about pages names its ``book`` by the number that prompts
and citations use ('[2.7]' is page 7 of book 2); 0 is the only book of a question about one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from readagent_core.errors import SettingsError
from readagent_core.memory import Passage
from readagent_core.short_repr import short_repr
from readagent_core.usage import Usage

FIRST_ANSWER = "first_answer"  # the task of a call that answers from the gists alone, before passages are found
FOUND_BY_SEARCH = "found by search"  # the reason of a look-up without a reply, of pages or passages
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NoteCode(StrEnum):
    """What a note says, where code looks at it."""

    OTHER = ""
    READ_SO_FAR = "read-so-far"  # answered from the pages that had gists: not the whole book
    BY_SEARCH = "by-search"  # pages without gists were searched
    BROKE_OFF = "broke-off"  # why the answer ends before its end


@short_repr
@dataclass(frozen=True)
class Question:
    """A question. ``options``: the choices of a multiple-choice question, without letters; else empty."""

    text: str
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.options) > len(LETTERS):
            raise SettingsError(f"A question has at most {len(LETTERS)} options, and this one has {len(self.options)}.")

    def lettered(self) -> str:
        """Return the options as prompts show them: one '(A) …' a line."""
        return "\n".join(f"({LETTERS[i]}) {option}" for i, option in enumerate(self.options))


@dataclass(frozen=True)
class AskSettings:
    """The settings of a run.

    ``look_ups``: most pages to read again (0: gists alone). ``context_words``: most words of text in one prompt,
    instructions not counted; ``prompt_words``: most words of one prompt, with them; ``question_words``: most words of
    all prompts of a look-up method; None for no limit. ``by_importance``: the model names pages in order of
    importance, and they are added while they fit (books). ``keep``: which part stays when full text is cut: 'left',
    'right' or 'ends'. ``may_decline``: the model may answer that the text does not settle which option is right;
    experiments force a choice. ``reason_first``: it compares the options before it names a letter, which helps weak
    models. ``plain``: an answer is asked for in few words, without page marks and quotations, whose examples small
    models copy. ``whole``: the question is about all of the text, so that without gists passages are taken from its
    beginning to its end, not by words. ``extra``: a method's own settings, by name (``Method.options``).
    """

    look_ups: int = 3
    context_words: int | None = None
    prompt_words: int | None = None
    question_words: int | None = None
    by_importance: bool = False
    keep: str = "left"
    may_decline: bool = False
    reason_first: bool = False
    plain: bool = False
    whole: bool = False
    extra: Mapping[str, int | float | bool | str] = field(default_factory=dict)


class WhyNotOpened(StrEnum):
    """Why a page that was named is not opened."""

    MISSING = "missing"
    NOT_READ = "not read"
    TOO_MANY = "too many"
    NO_ROOM = "no room"


_NOT_OPENED = {
    WhyNotOpened.MISSING: "there is no such {place}",
    WhyNotOpened.NOT_READ: "it is not read yet",
    WhyNotOpened.TOO_MANY: "only {limit} could be opened",
    WhyNotOpened.NO_ROOM: "it does not fit into the prompt any more",
}


class NotOpened(NamedTuple):
    """A page that was named and is not opened. ``limit``: how many could be."""

    page: int
    why: WhyNotOpened
    limit: int = 0

    def text(self, place: str = "page") -> str:
        """Return it for a person: 'page 99: there is no such page'. ``place``: what a page is called there."""
        return f"{place} {self.page}: " + _NOT_OPENED[self.why].format(place=place, limit=self.limit)


def texts_of(refused: Iterable[NotOpened]) -> tuple[str, ...]:
    """Return the reasons, each as ``NotOpened.text``."""
    return tuple(one.text() for one in refused)


def pages_of(passages: Iterable[Passage]) -> list[int]:
    """Return the pages of the passages, each once."""
    return list(dict.fromkeys(passage.page for passage in passages))


# --- events ---------------------------------------------------------------------------------------


@short_repr
@dataclass(frozen=True)
class ModelCall:
    """One call of the model, with prompt and reply word for word. ``task``: the prompt's template."""

    task: str
    prompt: str
    reply: str
    usage: Usage = field(default_factory=Usage)


@short_repr
@dataclass(frozen=True)
class LookedUp:
    """Pages were chosen to be read again.

    ``pages``: in the order chosen. ``reply``: the model's reply; '' where search chose them. ``reason``: why.
    ``refused``: what was named but not opened, with the reason ('page 99: there is no such page').
    ``parts``: ranges of pages that were opened to the gists below theirs ('31-33'). ``passages``: pages opened in part.
    """

    pages: tuple[int, ...]
    reply: str
    reason: str = ""
    refused: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    book: int = 0
    passages: tuple[Passage, ...] = ()

    @property
    def named_pages(self) -> tuple[int, ...]:
        """The pages opened in full or in part, and those of the parts of the book."""
        ends = [tuple(map(int, part.split("-"))) for part in self.parts]
        return (
            *self.pages,
            *pages_of(self.passages),
            *(page for first, last in ends for page in range(first, last + 1)),
        )


@dataclass(frozen=True)
class Searched:
    """Words were looked for in the pages that may be read. ``pages``: those that have any of them.

    Of several books, one event for each that has the words; ``book`` is 0 where none has. A book without gists has
    no pages: there ``pages`` is empty.
    """

    words: tuple[str, ...]
    pages: tuple[int, ...]
    reply: str
    reason: str = ""
    book: int = 0


@short_repr
@dataclass(frozen=True)
class Expanded:
    """The context now holds all of ``pages`` in full, in book order; it has ``memory_words`` words.

    ``shown``: everything in it where it has levels: (first page, last page, 'full', 'gist' or 'part').
    ``passages``: the parts of pages in it. Of several books, it tells of ``book`` alone, in place of what was told of
    it before, and ``memory_words`` are those of all; a book shown only by its own gist is one 'part'.
    """

    pages: tuple[int, ...]
    memory_words: int
    shown: tuple[tuple[int, int, str], ...] = ()
    book: int = 0
    passages: tuple[Passage, ...] = ()


@short_repr
@dataclass(frozen=True)
class BooksShown:
    """The first view of a question about several books has these, in their order.

    ``books``: (number, id, title, how) of each; how: 'gists' (gists of pages or ranges), 'book' (the gist of the whole
    book), 'title' (no gist of the whole book was made yet) or 'words' (not read: only words are found in it).
    ``of``: how many books were asked about.
    """

    books: tuple[tuple[int, str, str, str], ...]
    of: int


@short_repr
@dataclass(frozen=True)
class Noted:
    """A note for the reader about this run: a fallback was taken, or text was cut to fit."""

    text: str
    code: str = NoteCode.OTHER


@short_repr
@dataclass(frozen=True)
class AnswerPart:
    """The next part of a streamed answer."""

    text: str


@short_repr
@dataclass(frozen=True)
class FirstAnswerPart:
    """The next part of an answer from the gists alone, shown until the one from passages comes; its call has it all."""

    text: str


@dataclass(frozen=True)
class BookInAnswer:
    """What an answer saw of one book of several; citations name it by ``number``.

    ``how``: as in ``BooksShown``. ``looked_up`` and ``seen``: as in ``Answer``, of this book's pages. ``up_to``: the
    last page that the book's spoiler limit let in; None without a limit. ``gisting_id``: 0 where nothing is stored.
    ``passages``: pages opened in part. ``found``: lines of a book without gists in which words were found.
    """

    number: int
    id: str
    title: str
    how: str
    reading_id: int = 0
    up_to: int | None = None
    looked_up: tuple[int, ...] = ()
    seen: Mapping[int, str] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()
    found: tuple[str, ...] = ()

    @property
    def pages_in_part(self) -> list[int]:
        """The pages opened in part."""
        return pages_of(self.passages)


@short_repr
@dataclass(frozen=True)
class Answer:
    """The answer of a run.

    ``method``: name of the method. ``option``: index of the chosen option; None for a free-form question, or when
    none was named. ``looked_up``: pages expanded, in that order. ``seen``: the pages in the final prompt, each
    'full', 'passage' (in part, see ``passages``), 'gist' or 'part' (only in the gist of several pages).
    ``memory_words``: words of text in the final prompt; ``compression_rate``: computed from them, in percent
    (docs/methods.md). ``cut_off``: the reply broke off. ``notes``: fallbacks and cuts. ``steps``: look-up steps taken.
    ``extra``: figures of the method, plain JSON values. ``books``: of a question about several books, what was seen of
    each; ``looked_up`` and ``seen`` are then empty. ``passages``: pages opened in part.
    """

    text: str
    method: str
    option: int | None = None
    looked_up: tuple[int, ...] = ()
    seen: Mapping[int, str] = field(default_factory=dict)
    memory_words: int = 0
    compression_rate: float = 0.0
    cut_off: bool = False
    notes: tuple[str, ...] = ()
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    extra: Mapping[str, Any] = field(default_factory=dict)
    books: tuple[BookInAnswer, ...] = ()
    passages: tuple[Passage, ...] = ()

    @property
    def pages_in_part(self) -> list[int]:
        """The pages opened in part."""
        return pages_of(self.passages)

    def saw_all(self, pages: int) -> bool:
        """Whether it saw pages 1 to ``pages`` of the text in full."""
        return pages > 0 and all(self.seen.get(n) == "full" for n in range(1, pages + 1))


@short_repr
@dataclass(frozen=True)
class Answered:
    """The run has ended with this answer: the last event of every run."""

    answer: Answer


Event = BooksShown | ModelCall | LookedUp | Searched | Expanded | Noted | FirstAnswerPart | AnswerPart | Answered
