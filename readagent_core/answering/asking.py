"""Ask a question of a book, as a job. Every event is saved as it comes, so that a closed tab or process loses nothing.

Answers come from the pages read so far. Under a spoiler limit they come from a memory that ends at the limit, so that
no later page can enter a prompt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from readagent_core.answering import registry as methods
from readagent_core.answering.base import Answered, AnswerPart, AskSettings, Event, Noted, Question, event_to_dict
from readagent_core.answering.questions import understand, visible_history
from readagent_core.answering.resources import workspace_resources
from readagent_core.document import Document
from readagent_core.errors import (
    CancelledError,
    CutOffError,
    LimitError,
    NotInLibraryError,
    ReadAgentError,
    SettingsError,
)
from readagent_core.gisting.job import memory_to_ask
from readagent_core.jobs import Job
from readagent_core.library.file_lock import FileLock
from readagent_core.library.records import Exchange, Position
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.words import collapse_whitespace, count_of, first_words
from readagent_core.workspace import Workspace

DEFAULTS = AskSettings()
FLUSH_SECONDS = 0.25  # parts of a streaming answer are saved together this often; every other event at once
TITLE_WORDS = 9
NOTHING_LET_IN = "The spoiler limit keeps every page out. Read the first page to its end, or move the limit."
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class AskProgress:
    """What an asking job publishes. ``events``: all but the answer's parts, which are joined in ``text``."""

    events: tuple[Event, ...] = ()
    text: str = ""


def job_key(exchange_id: str) -> str:
    return f"ask {exchange_id}"


def ask(
    workspace: Workspace,
    book_id: str,
    question: Question,
    *,
    method: str = "read-agent-p",
    settings: AskSettings = DEFAULTS,
    conversation_id: str | None = None,
    up_to: int | None = None,
    reading_id: int | None = None,
    use_cache: bool = True,
    model: ChatModel | None = None,
) -> tuple[Exchange, Job]:
    """Start to answer ``question`` from what is read so far; the job publishes ``AskProgress``.

    Without ``conversation_id`` a new conversation begins, and also where that one is a recording. ``up_to``: the last
    page that may be seen. ``reading_id``: another reading than the newest. ``use_cache`` False: ask the model even
    what it was asked before. ``model``: another than the workspace's.
    """
    library, text = workspace.library, question.text.strip()
    if not text:
        raise SettingsError("Write a question first.")
    chosen = methods.method(method)
    if reading_id is None:
        reading, memory = memory_to_ask(workspace, book_id, then="ask again")
    else:
        reading, memory = library.reading(reading_id), library.memory(reading_id)
    so_far = 0 if memory.complete or up_to in memory.readable else len(memory.readable)
    if up_to is not None:
        if up_to < 1:
            raise SettingsError(NOTHING_LET_IN)
        memory = memory.up_to(up_to)
    if not memory.readable:
        raise NotInLibraryError("This book has no gists yet. Make them in Read, then ask again.")
    before = library.exchanges(conversation_id) if conversation_id is not None else []
    if conversation_id is None or is_recording(before):
        conversation_id, before = library.new_conversation(book_id, conversation_title(text)).id, []
    history = visible_history(before, reading_id=reading.id, up_to=up_to)
    metered, settings = equip(workspace, settings, model=model, use_cache=use_cache)
    settings = replace(settings, by_importance=settings.by_importance or reading.plan.asks_chapters)
    extra: dict[str, Any] = {"model": metered.name, "where": metered.where, "words": memory.readable_words}
    if so_far:
        extra["pages_read"] = so_far
    exchange = library.start_exchange(
        conversation_id,
        reading.id,
        text,
        options=question.options,
        method=method,
        settings=asdict(settings),
        up_to=up_to,
        extra=extra,
    )

    def events(job: Job) -> Iterator[Event]:
        if so_far:
            yield Noted(f"Answered from the {'page' if so_far == 1 else count_of(so_far, 'page')} read so far.")
        about = memory.document
        standalone = yield from understand(
            text, history, metered, job, extra, title=about.title, language=about.language
        )
        resources = workspace_resources(workspace, reading.document_id)
        yield from chosen.run(replace(question, text=standalone), memory, metered, settings, job, resources)

    return exchange, start_answering(workspace, exchange, events, extra)


def equip(
    workspace: Workspace, settings: AskSettings, *, model: ChatModel | None, use_cache: bool
) -> tuple[Metered, AskSettings]:
    """The model of a question, with one meter for all its calls, and the settings as that model needs them."""
    asked = model or workspace.model
    return Metered(asked if use_cache else asked.without_cache()), suited(workspace, settings, asked)


def suited(workspace: Workspace, settings: AskSettings, model: ChatModel) -> AskSettings:
    """``settings`` with what was saved as suiting ``model``."""
    options = workspace.settings.saved.options_of(model.name)
    if options.reason_first:
        settings = replace(settings, reason_first=True)
    if options.opened_after:
        settings = replace(settings, extra={"opened": "after", **settings.extra})
    return settings


def start_answering(
    workspace: Workspace, exchange: Exchange, events: Callable[[Job], Iterator[Event]], extra: dict[str, Any]
) -> Job:
    """Start the job that saves and publishes ``events`` of an exchange. ``extra``: figures stored at the end.

    Raises LimitError where too many jobs run; the exchange says so.
    """
    lock = _exchange_lock(workspace, exchange)
    lock.acquire()

    def work(job: Job) -> AskProgress:
        try:
            return _record(workspace, exchange, job, events(job), extra=extra)
        finally:
            lock.remove()

    try:
        return workspace.jobs.start(job_key(exchange.id), work)
    except LimitError as error:
        workspace.library.finish_exchange(exchange.id, "failed", str(error), extra)
        lock.remove()
        raise


def _exchange_lock(workspace: Workspace, exchange: Exchange) -> FileLock:
    """The lock of the process that answers this exchange; the system frees it when that process ends."""
    return FileLock(workspace.home, f"exchange-{exchange.id}")


def _record(
    workspace: Workspace, exchange: Exchange, job: Job, events: Iterator[Event], *, extra: dict[str, Any]
) -> AskProgress:
    """Save and publish every one of ``events`` as it comes, and how they ended."""
    recorder = _Recorder(workspace, exchange, job)
    began = time.monotonic()

    def finish(state: str, error: str = "") -> AskProgress:
        recorder.flush()
        figures = {**extra, "seconds": round(time.monotonic() - began, 3)}
        workspace.library.finish_exchange(exchange.id, state, error, figures)
        return recorder.progress

    try:
        for event in events:
            recorder.add(event)
            job.check()
    except ReadAgentError as error:
        cut_off = "cut off" if isinstance(error, CutOffError) else "failed"
        finish("cancelled" if isinstance(error, CancelledError) else cut_off, str(error))
        raise
    except BaseException:
        finish("failed", "Something in ReadAgent itself went wrong. What was written is saved; please ask again.")
        raise
    return finish("cut off" if recorder.cut_off else "done")


class _Recorder:
    """Saves events in the library and publishes them; the parts of a streamed answer are joined."""

    def __init__(self, workspace: Workspace, exchange: Exchange, job: Job) -> None:
        self._library, self._exchange, self._job = workspace.library, exchange, job
        self.progress = AskProgress()
        self.cut_off = False
        self._unsaved: list[str] = []
        self._flushed = 0.0

    def add(self, event: Event) -> None:
        if isinstance(event, AnswerPart):
            self._unsaved.append(event.text)
            self.progress = replace(self.progress, text=self.progress.text + event.text)
            if time.monotonic() - self._flushed >= FLUSH_SECONDS:
                self.flush()
        else:
            self.flush()
            self._library.append_event(self._exchange.id, event_to_dict(event))
            self.progress = replace(self.progress, events=(*self.progress.events, event))
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
    return any(exchange.extra.get("recorded") for exchange in exchanges)


def last_page_seen(events: Sequence[Event], *, otherwise: int) -> int:
    """The last page that an answer opened or saw the gist of; ``otherwise`` where that is not known."""
    seen = {page for event in events if isinstance(event, Answered) for page in event.answer.seen}
    return max(seen, default=otherwise)


def exchange_state(workspace: Workspace, exchange: Exchange) -> str:
    """The saved state of an exchange, or 'interrupted' where that is 'running' and no process works on it any more."""
    if exchange.state != "running" or _exchange_lock(workspace, exchange).is_held():
        return exchange.state
    state = workspace.library.exchange(exchange.id).state  # it may have ended since ``exchange`` was loaded
    return INTERRUPTED if state == "running" else state


def page_allowed(memory: GistMemory, whole: Document, position: Position) -> int | None:
    """The last page that the spoiler limit lets in, 0 for none; None where it keeps nothing out."""
    if position.allowed is None or position.allowed >= len(whole.paragraphs):
        return None
    page = page_reached(memory, whole, position)
    return None if memory.complete and page == len(memory.pages) else page


def paragraphs_through(memory: GistMemory, whole: Document, page: int) -> int:
    """How many paragraphs of the ``whole`` document lie wholly in the pages up to ``page``, for ``set_limit``."""
    return memory.document.count_in(whole, memory.page(page).end if page else 0)


def page_reached(memory: GistMemory, whole: Document, position: Position) -> int:
    """The number of the last page that lies wholly in what the spoiler limit lets in, or in what was read; 0 for none.

    A position is a paragraph of the ``whole`` document, a page one of the document as limited for its reading.
    """
    allowed = position.furthest if position.allowed is None else position.allowed
    inside = whole.count_in(memory.document, min(allowed, len(whole.paragraphs)))
    return sum(page.end <= inside for page in memory.pages)
