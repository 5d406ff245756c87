"""Ask a question of a book, or of several, as a job.

Every event is saved as it comes, so that a closed tab or process loses nothing.

Answers come from the pages read so far. Under a spoiler limit they come from a memory that ends at the limit, so that
no later page can enter a prompt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from readagent_core.answering.ask import DEFAULTS, WHOLE, check_books, check_question, choose_method, choose_settings
from readagent_core.answering.ask import ask as answer
from readagent_core.answering.base import (
    FIRST_ANSWER,
    Answered,
    AnswerPart,
    AskSettings,
    Event,
    FirstAnswerPart,
    ModelCall,
    NoteCode,
    Noted,
    Question,
)
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.library_shelf import LibraryShelf
from readagent_core.answering.limits import NOTHING_LET_IN, within_limits
from readagent_core.answering.questions import understand, visible_history
from readagent_core.answering.registry import Method
from readagent_core.answering.resources import Resources, workspace_resources
from readagent_core.errors import (
    CancelledError,
    CutOffError,
    LibraryBusyError,
    LimitError,
    ReadAgentError,
    Remedy,
    SettingsError,
)
from readagent_core.gisting.job import memory_to_search
from readagent_core.jobs import Job
from readagent_core.library.file_lock import FileLock
from readagent_core.library.records import AskedBook, Exchange, ExchangeFacts, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.words import collapse_whitespace, count_of, first_words, pages_up_to
from readagent_core.workspace import Workspace

FLUSH_SECONDS = 0.25  # parts of a streaming answer are saved together this often; every other event at once
TITLE_WORDS = 9


@dataclass(frozen=True)
class AskProgress:
    """What an asking job publishes. ``events``: all but the answer's parts, which are joined in ``text``.

    An answer from the gists alone is a call that grows until it has come.
    """

    events: tuple[Event, ...] = ()
    text: str = ""


def job_key(exchange_id: str) -> str:
    return f"ask {exchange_id}"


def ask(
    workspace: Workspace,
    books: str | Sequence[str],
    question: Question,
    *,
    method: str = "",
    settings: AskSettings = DEFAULTS,
    about: str = "books",
    conversation_id: str | None = None,
    up_to: int | None = None,
    gisting_id: int | None = None,
    use_cache: bool = True,
    model: ChatModel | None = None,
    beside: str = "",
    on_screen: bool = False,
) -> tuple[Exchange, Job]:
    """Start to answer ``question`` from one book, by its id, or from several; the job publishes ``AskProgress``.

    Without ``conversation_id`` a new conversation begins, and also where that one is a recording. Of one book:
    ``up_to``: the last page that may be seen. ``gisting_id``: another reading than the newest. Several are numbered in
    this order, from 1, in every event and citation (see ``answering.base``); those of which a spoiler limit lets
    nothing in are left out. ``about``: what was chosen, for a new conversation ('shelf NAME', 'tag NAME', 'books').
    ``use_cache`` False: ask the model even what it was asked before. ``model``: another than the workspace's.
    ``beside``: the exchange that the new answer is shown beside. ``on_screen``: of several, see ``LibraryShelf``.
    Raises SettingsError or NotInLibraryError.
    """
    check_question(question)
    model = model or workspace.model
    metered = Metered(model if use_cache else model.without_cache())
    if isinstance(books, str):
        asked = _one(workspace, books, up_to=up_to, gisting_id=gisting_id)
    else:
        asked = _several(workspace, books, metered, about=about, on_screen=on_screen)
    chosen = choose_method(method, metered, asked.books)
    check_books(asked.books, chosen)
    settings = choose_settings(settings, asked.books, metered)
    library, text = workspace.library, question.text.strip()
    before = library.exchanges(conversation_id) if conversation_id is not None else []
    if conversation_id is None or is_recording(before):
        conversation_id, before = library.new_conversation(asked.ids[0], conversation_title(text), **asked.shelf).id, []
    history = visible_history([*filter(asked.lets_in, before)], gisting_id=asked.gisting_id, up_to=up_to)
    facts = replace(asked.facts, model=metered.name, where=metered.where, beside=beside)
    without = pages_without_gists(asked.books, chosen)
    if without and without.code == NoteCode.READ_SO_FAR and isinstance(asked.books, GistMemory):
        facts = replace(facts, pages_read=len(asked.books.readable))
    exchange = library.start_exchange(
        conversation_id,
        asked.gisting_id,
        text,
        options=question.options,
        method=chosen.name,
        settings=asdict(settings),
        up_to=up_to,
        facts=facts,
    )

    def events(job: Job) -> Iterator[Event]:
        if without is not None:
            yield without
        standalone = yield from understand(text, history, metered, job, title=asked.title, language=asked.language)
        if standalone != text:
            library.change_facts(exchange.id, standalone=standalone)
        understood, resources = replace(question, text=standalone), asked.resources
        yield from answer(
            understood, asked.books, metered, job, method=chosen.name, settings=settings, resources=resources
        )

    return exchange, start_answering(workspace, exchange, events)


@dataclass(frozen=True)
class _Asked:
    """What a question is asked of: ``books``, their ``ids``, and what is stored with the exchange (``facts``).

    ``gisting_id``: 0 of several. ``lets_in``: whether nothing in an earlier exchange is kept out now. ``shelf``: what a
    new conversation about several says of them.
    """

    books: GistMemory | LibraryShelf
    ids: tuple[str, ...]
    title: str
    language: str
    resources: Resources
    facts: ExchangeFacts
    gisting_id: int = 0
    lets_in: Callable[[Exchange], bool] = lambda exchange: True
    shelf: Mapping[str, Any] = field(default_factory=dict)


def _one(workspace: Workspace, book_id: str, *, up_to: int | None, gisting_id: int | None) -> _Asked:
    if gisting_id is None:
        gisting, memory = memory_to_search(workspace, book_id)
    else:
        gisting, memory = workspace.library.gisting(gisting_id), workspace.library.memory(gisting_id)
    if up_to is not None:
        if up_to < 1:
            raise SettingsError(NOTHING_LET_IN)
        memory = memory.up_to(up_to)
    about, resources = memory.document, workspace_resources(workspace, gisting.document_id)
    facts = ExchangeFacts(words=memory.words)
    return _Asked(memory, (book_id,), about.title, about.language, resources, facts, gisting.id)


def pages_without_gists(books: GistMemory | LibraryShelf, method: Method) -> Noted | None:
    """Return what is said of an answer from a book that has not all its gists; None where it has."""
    if not isinstance(books, GistMemory) or None not in books.gists:
        return None
    read = len(books.readable)
    if method.needs_gists and not method.searches:
        pages = "page" if read == 1 else count_of(read, "page")
        return Noted(f"Answered from the {pages} read so far.", NoteCode.READ_SO_FAR)
    if method.needs_gists and read:
        return Noted(f"Answered with the gists of {pages_up_to(read)}; the rest by search.", NoteCode.BY_SEARCH)
    by = "from the whole text" if method.name == WHOLE else "by search"
    return Noted(f"Answered {by}; {'not all gists are made' if read else 'no gists yet'}.", NoteCode.BY_SEARCH)


def _several(workspace: Workspace, book_ids: Sequence[str], model: ChatModel, *, about: str, on_screen: bool) -> _Asked:
    shelf = LibraryShelf(workspace, book_ids, model.name, on_screen=on_screen)
    if not shelf.books:
        raise SettingsError(
            "The spoiler limits let in no page of these books yet. Turn one off, or read in one of them first."
        )
    ids = tuple(book.id for book in shelf.books)
    numbered = tuple(AskedBook(book.id, book.gisting_id, book.up_to) for book in shelf.books)
    return _Asked(
        shelf,
        ids,
        "; ".join(book.title for book in shelf.books[:5]),
        shelf.books[0].language if shelf.books else "en",
        workspace_resources(workspace),
        ExchangeFacts(words=shelf.words, books=numbered),
        lets_in=lambda exchange: within_limits(exchange, shelf.books),
        shelf={"about": about, "book_ids": list(dict.fromkeys(book_ids))},  # also what may be let in later
    )


def start_answering(workspace: Workspace, exchange: Exchange, events: Callable[[Job], Iterator[Event]]) -> Job:
    """Start the job that saves and publishes ``events`` of an exchange.

    Raises LimitError where too many jobs run; the exchange says so.
    """
    lock = _exchange_lock(workspace, exchange)
    if not lock.acquire():
        raise LibraryBusyError("Another process is answering this question. Wait until it has ended.")

    def work(job: Job) -> AskProgress:
        try:
            return _record(workspace, exchange, job, events(job))
        finally:
            lock.remove()

    try:
        return workspace.jobs.start(job_key(exchange.id), work)
    except LimitError as error:
        workspace.library.finish_exchange(exchange.id, ExchangeState.FAILED, str(error), remedy=error.remedy)
        lock.remove()
        raise


def _exchange_lock(workspace: Workspace, exchange: Exchange) -> FileLock:
    """The lock of the process that answers this exchange; the system frees it when that process ends."""
    return FileLock(workspace.home, f"exchange-{exchange.id}")


def _record(workspace: Workspace, exchange: Exchange, job: Job, events: Iterator[Event]) -> AskProgress:
    """Save and publish every one of ``events`` as it comes, and how they ended."""
    recorder = _Recorder(workspace, exchange, job)
    began = time.monotonic()

    def finish(state: ExchangeState, error: str = "", remedy: Remedy = Remedy.NONE) -> AskProgress:
        recorder.flush()
        seconds = round(time.monotonic() - began, 3)
        workspace.library.finish_exchange(exchange.id, state, error, remedy=remedy, seconds=seconds)
        return recorder.progress

    try:
        for event in events:
            recorder.add(event)
            job.check()
    except ReadAgentError as error:
        cut_off = ExchangeState.CUT_OFF if isinstance(error, CutOffError) else ExchangeState.FAILED
        state = ExchangeState.CANCELLED if isinstance(error, CancelledError) else cut_off
        finish(state, str(error), error.remedy)
        raise
    except BaseException:
        finish(
            ExchangeState.FAILED,
            "Something in ReadAgent itself went wrong. What was written is saved; please ask again.",
        )
        raise
    return finish(ExchangeState.CUT_OFF if recorder.cut_off else ExchangeState.DONE)


class _Recorder:
    """Saves events in the library and publishes them; the parts of a streamed answer are joined."""

    def __init__(self, workspace: Workspace, exchange: Exchange, job: Job) -> None:
        self._library, self._exchange, self._job = workspace.library, exchange, job
        self.progress = AskProgress()
        self._events: tuple[Event, ...] = ()
        self._first = ""
        self.cut_off = False
        self._unsaved: list[str] = []
        self._flushed = 0.0

    def add(self, event: Event) -> None:
        if isinstance(event, AnswerPart):
            self._unsaved.append(event.text)
            self.progress = replace(self.progress, text=self.progress.text + event.text)
            if time.monotonic() - self._flushed >= FLUSH_SECONDS:
                self.flush()
        elif isinstance(event, FirstAnswerPart):  # the call that is saved has all of it
            self._first += event.text
            self.progress = replace(self.progress, events=(*self._events, ModelCall(FIRST_ANSWER, "", self._first)))
        else:
            self.flush()
            self._library.append_event(self._exchange.id, event_to_dict(event))
            self._events = (*self._events, event)
            self.progress = replace(self.progress, events=self._events)
            if isinstance(event, Answered):
                self.cut_off = event.answer.cut_off
        self._job.publish(value=self.progress)

    def flush(self) -> None:
        if self._unsaved:
            self._library.append_event(self._exchange.id, event_to_dict(AnswerPart("".join(self._unsaved))))
            self._unsaved.clear()
        self._flushed = time.monotonic()


def conversation_title(question: str) -> str:
    """A conversation's first title: the beginning of its first question."""
    text = collapse_whitespace(question)
    title = first_words(text, TITLE_WORDS)
    return title if len(title) == len(text) else f"{title} …"


def is_recording(exchanges: Sequence[Exchange]) -> bool:
    """Whether a conversation is one that came with a sample."""
    return any(exchange.facts.recorded for exchange in exchanges)


def exchange_state(workspace: Workspace, exchange: Exchange) -> ExchangeState:
    """The saved state of an exchange, or INTERRUPTED where that is RUNNING and no process works on it any more."""
    if exchange.state != ExchangeState.RUNNING or _exchange_lock(workspace, exchange).is_held():
        return exchange.state
    state = workspace.library.exchange(exchange.id).state  # it may have ended since ``exchange`` was loaded
    return ExchangeState.INTERRUPTED if state == ExchangeState.RUNNING else state
