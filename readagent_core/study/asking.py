"""A question asked of a book, as a job: every event is kept as it comes, so nothing is lost with a tab or a process.

Answers come from the pages read so far; under a spoiler limit from a memory that ends at the limit, so that no
later page can enter a prompt. Knows nothing of screens; what a method does is the method's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from readagent_core import methods
from readagent_core.errors import CancelledError, CutOffError, NotInLibraryError, ReadAgentError, SettingsError
from readagent_core.jobs import Job
from readagent_core.library.records import Exchange, Reading
from readagent_core.memory import GistMemory
from readagent_core.methods.base import Answered, AnswerPart, AskSettings, Event, Noted, Question, event_to_dict
from readagent_core.methods.support.resources import with_resources
from readagent_core.models.cost.meter import Metered
from readagent_core.study import following
from readagent_core.study.tools import tools
from readagent_core.words import collapse_whitespace, first_words

if TYPE_CHECKING:
    from readagent_core.study import Study

FLUSH_SECONDS = 0.25  # parts of a streaming answer are kept together this often; all else at once
TITLE_WORDS = 9
BROKEN_OFF = "broken off"


@dataclass(frozen=True)
class Asking:
    """What an asking job publishes. ``events``: all but the answer's parts, which are joined in ``text``."""

    exchange_id: str
    events: tuple[Event, ...] = ()
    text: str = ""


def job_key(exchange_id: str) -> str:
    return f"ask {exchange_id}"


def ask(
    study: Study,
    book_id: str,
    question: Question,
    *,
    method: str,
    settings: AskSettings,
    conversation_id: str | None,
    up_to: int | None,
    reading_id: int | None,
    anew: bool,
) -> tuple[Exchange, Job]:
    """Start answering ``question``; see ``Study.ask``."""
    if not question.text.strip():
        raise SettingsError("Write a question first.")
    chosen = methods.method(method)
    reading, memory = _memory(study, book_id, reading_id)
    so_far = 0 if memory.complete or up_to in memory.readable else len(memory.readable)
    if up_to is not None:
        if up_to < 1:
            raise SettingsError("Nothing is read yet up to your place. Read a page, or ask about the whole book.")
        memory = memory.up_to(up_to)
    if not memory.readable:
        raise NotInLibraryError("No page of this book has been read yet. Start reading it, then ask again.")
    if conversation_id is None:
        conversation_id = study.library.new_conversation(book_id, title_of(question.text)).id
    history = following.seen_history(study.library.exchanges(conversation_id), reading_id=reading.id, up_to=up_to)
    settings = replace(settings, by_importance=settings.by_importance or reading.plan.asks_chapters)
    # one meter for every call of this question: the step before the method shares the method's budget
    model = Metered(study.model.without_cache() if anew else study.model)
    extra: dict[str, Any] = {
        "model": model.name,
        "where": model.where,
        "process": os.getpid(),
        "words": memory.readable_words,
    }
    if so_far:
        extra["pages_read"] = so_far
    exchange = study.library.start_exchange(
        conversation_id,
        reading.id,
        question.text.strip(),
        options=question.options,
        method=method,
        settings=asdict(settings),
        up_to=up_to,
        extra=extra,
    )

    def events(job: Job) -> Iterator[Event]:
        understood = question.text.strip()
        if so_far:
            yield Noted(f"Answered from the {'page' if so_far == 1 else f'{so_far} pages'} read so far.")
        if history and model.is_language_model:
            prompt = following.standalone_prompt(
                understood, history, title=memory.document.title, language=memory.document.language
            )
            understood, told = following.make_standalone(prompt, understood, model, job)
            yield from told
            if understood != question.text.strip():
                extra[following.TASK] = understood
        equipped = with_resources(settings, tools(study, reading.document_id))
        yield from chosen.run(replace(question, text=understood), memory, model, equipped, job)

    job = study.jobs.start(job_key(exchange.id), lambda job: _keep(study, exchange, job, events(job), extra=extra))
    return exchange, job


def _memory(study: Study, book_id: str, reading_id: int | None) -> tuple[Reading, GistMemory]:
    if reading_id is not None:
        return study.library.reading(reading_id), study.library.memory(reading_id)
    found = study.newest_memory(book_id)
    if found is None:
        raise NotInLibraryError("This book has not been read yet. Start reading it, then ask again.")
    return found


def _keep(study: Study, exchange: Exchange, job: Job, events: Iterator[Event], *, extra: dict[str, Any]) -> Asking:
    """Run ``events`` to their end, each kept and published as it comes; the exchange says how it ended."""
    keeper = _Keeper(study, exchange, job)
    began = time.monotonic()

    def finish(state: str, error: str = "") -> Asking:
        keeper.flush()
        figures = {**extra, "seconds": round(time.monotonic() - began, 3)}
        study.library.finish_exchange(exchange.id, state, error, figures)
        return keeper.asking

    try:
        for event in events:
            keeper.add(event)
            job.check()
    except CancelledError as error:
        finish("cancelled", str(error))
        raise
    except CutOffError as error:
        finish("cut off", str(error))
        raise
    except ReadAgentError as error:
        finish("failed", str(error))
        raise
    except BaseException:
        finish("failed", "Something in ReadAgent itself went wrong. What had come is kept; please ask again.")
        raise
    return finish("cut off" if keeper.cut_off else "done")


class _Keeper:
    """Puts events into the library and before whoever watches; a stream's parts are joined on the way."""

    def __init__(self, study: Study, exchange: Exchange, job: Job) -> None:
        self._library, self._exchange, self._job = study.library, exchange, job
        self.asking = Asking(exchange.id)
        self.cut_off = False
        self._waiting: list[str] = []
        self._flushed = 0.0

    def add(self, event: Event) -> None:
        if isinstance(event, AnswerPart):
            self._waiting.append(event.text)
            self.asking = replace(self.asking, text=self.asking.text + event.text)
            if time.monotonic() - self._flushed >= FLUSH_SECONDS:
                self.flush()
        else:
            self.flush()
            self._library.append_event(self._exchange.id, event_to_dict(event))
            self.asking = replace(self.asking, events=(*self.asking.events, event))
            if isinstance(event, Answered):
                self.cut_off = event.answer.cut_off
        self._job.publish(value=self.asking)

    def flush(self) -> None:
        if self._waiting:
            self._library.append_event(self._exchange.id, event_to_dict(AnswerPart("".join(self._waiting))))
            self._waiting.clear()
        self._flushed = time.monotonic()


def title_of(question: str) -> str:
    """A conversation's first title: the beginning of its first question."""
    text = collapse_whitespace(question)
    title = first_words(text, TITLE_WORDS)
    return title if len(title) == len(text) else f"{title} …"


def state_of(study: Study, exchange: Exchange) -> str:
    """How an exchange stands: its kept state, or 'broken off' where it says 'running' and nobody runs it any more."""
    if exchange.state != "running":
        return exchange.state
    job = study.jobs.get(job_key(exchange.id))
    if job is not None and job.running:
        return "running"
    exchange = study.library.exchange(exchange.id)  # it may have ended between the two looks
    if exchange.state != "running":
        return exchange.state
    process = exchange.extra.get("process")
    elsewhere = isinstance(process, int) and process != os.getpid() and _alive(process)
    return "running" if elsewhere and time.time() - exchange.asked < 3600 else BROKEN_OFF


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
