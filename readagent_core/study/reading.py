"""Reading a book in the background: one job a reading, however many ask; it can be paused and goes on.

A reading that stops says in the library why, for people. Knows nothing of screens.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from readagent_core.document import Document
from readagent_core.errors import BudgetError, CancelledError, LibraryError, ReadAgentError, WindowError
from readagent_core.jobs import Job
from readagent_core.library.records import Reading
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.models.server.quirks import HOW_LARGER
from readagent_core.plan import ReadingPlan
from readagent_core.reading import CALLS_AHEAD, Progress, read
from readagent_core.study import budget
from readagent_core.usage import Usage
from readagent_core.words import count_words

if TYPE_CHECKING:
    from readagent_core.study import Study

PAUSED = "Paused. Every page read so far is kept; reading goes on from there."
BROKEN = "Something in ReadAgent itself went wrong. Every page read so far is kept; reading can go on from there."
ELSEWHERE = "Another ReadAgent is reading this book; its pages appear here as they come."
SMALLER = "The book is read again in smaller pages, of at most"
CONNECTIONS = 8
_BOOK_WORDS = 20_000  # from here on a text is read in pages of a book, not of an article
_INSTRUCTION_TOKENS = 350  # of the longest reading prompt, in either language
_LEAST_PAGE_WORDS = 60  # below this no window helps
_LOOK_SECONDS = 1.0  # how often to see how far another process is


def default_plan(words: int) -> ReadingPlan:
    """How a text of this length is read when nothing else was chosen."""
    return ReadingPlan.from_preset("book" if words >= _BOOK_WORDS else "article")


def fitting_plan(plan: ReadingPlan, window: int, document: Document) -> ReadingPlan:
    """``plan`` with pages small enough for a model that takes in ``window`` tokens; itself where they are.

    A prompt may fill seven tenths of the window, instructions included; the rest is for the reply.
    """
    sample = document.text(0, min(len(document.paragraphs), 60))[:20_000]
    tokens_a_word = max(1.0, estimate_tokens(sample) / max(1, count_words(sample)))
    shown = 2 if plan.preceding else 1
    most = int((window * 0.7 - _INSTRUCTION_TOKENS) / tokens_a_word / shown)
    if plan.max_words <= most:
        return plan
    most = max(most, _LEAST_PAGE_WORDS)
    return replace(plan, max_words=most, min_words=min(plan.min_words, max(1, most * plan.min_words // plan.max_words)))


def key(reading_id: int) -> str:
    """The key of a reading's job."""
    return f"read {reading_id}"


def start_reading(
    study: Study, book_id: str, plan: ReadingPlan | None = None, *, connections: int | None = None
) -> Job:
    """The job that reads this book by this plan with the model in force; the one under way if there is one."""
    return _start(study, _reading_of(study, book_id, plan), study.model, connections=connections)


def _reading_of(study: Study, book_id: str, plan: ReadingPlan | None) -> Reading:
    """The reading of a book by a plan and the model in force, made when there is none."""
    book = study.library.book(book_id)
    model = study.model
    chosen = plan or _last_plan(study, book_id) or default_plan(book.words)
    if model.window and model.window_is_firm:  # a model not loaded yet may be given more
        chosen = fitting_plan(chosen, model.window, study.library.document(book_id))
    return study.library.open_reading(book_id, chosen, model.name, model.where)


def _start(study: Study, reading: Reading, model: ChatModel, *, connections: int | None = None) -> Job:
    at_once = connections or int(study.settings.saved.get("connections", CONNECTIONS))
    ahead = float(study.settings.saved.get("ahead", CALLS_AHEAD))

    def work(job: Job) -> None:
        _read(study, reading, job, model=model, connections=at_once, ahead=ahead)

    return study.jobs.start(key(reading.id), work)


def pause_reading(study: Study, reading_id: int) -> None:
    """Stop the job of this reading at its next step; ``start_reading`` goes on."""
    job = study.jobs.get(key(reading_id))
    if job is not None:
        job.cancel()


def read_from(study: Study, reading_id: int, page: int) -> Job:
    """Read again from ``page`` on, asking the model anew even where a reply is kept.

    A recording, or another model's reading, stays as it is: the pages before ``page`` go into a reading of our own.
    """
    library = study.library
    shown = library.reading(reading_id)
    own = _reading_of(study, shown.book_id, shown.plan)
    job = study.jobs.get(key(own.id))
    if job is not None:
        job.cancel()
        job.join()
    if own.id == shown.id:
        library.cut_from(own.id, page)
    elif not own.pages and (own.document_id, own.plan.key) == (shown.document_id, shown.plan.key):
        library.put_memory(own.id, library.memory(shown.id).up_to(page - 1))
    return _start(study, library.reading(own.id), study.model.without_cache())


def newest_memory(study: Study, book_id: str) -> tuple[Reading, GistMemory] | None:
    """The reading to show and ask from: the newest that has a page; None before the first."""
    for reading in study.library.readings(book_id):
        if reading.pages:
            return reading, study.library.memory(reading.id)
    return None


def _last_plan(study: Study, book_id: str) -> ReadingPlan | None:
    """The plan of the newest reading that a person asked for (a recording's is not)."""
    return next((r.plan for r in study.library.readings(book_id) if not r.recorded), None)


def _read(study: Study, reading: Reading, job: Job, *, model: ChatModel, connections: int, ahead: float) -> None:
    library = study.library
    hold = library.hold(reading.id)

    def tell(progress: Progress) -> None:
        job.publish(done=progress.words_read, total=progress.words_total, value=progress)

    document = library.document(reading.book_id, document_id=reading.document_id)
    try:
        while not hold.take():
            tell(_elsewhere(library.memory(reading.id)))
            job.wait(_LOOK_SECONDS, ELSEWHERE)
        library.set_state(reading.id, "reading")
        allowed = budget.of_book(study, reading.book_id, model)
        read(
            document,
            Metered(model, budget=allowed.limit, spent=allowed.spent),
            reading.plan,
            store=library.store(reading.id),
            connections=connections,
            cancel=job,
            on_change=tell,
            ahead=ahead,
        )
    except BaseException as error:
        state = "paused" if isinstance(error, ReadAgentError) else "failed"
        why = PAUSED if isinstance(error, CancelledError) else str(error) if state == "paused" else BROKEN
        if hold.taken:
            with suppress(LibraryError):  # the disk that stopped the reading may not take this either
                library.set_state(reading.id, state, why=why)
        if isinstance(error, BudgetError) and not error.monthly:
            stands = budget.of_book(study, reading.book_id, model, reading=library.reading(reading.id))
            if stands.limit is not None:
                library.set_state(reading.id, state, why=stands.told)
                raise BudgetError(stands.told) from None
        if isinstance(error, WindowError):
            hold.release()
            _in_smaller_pages(study, reading, document, error, model=model, connections=connections)
        raise
    finally:
        hold.release()
    library.set_state(reading.id, "done")


def _in_smaller_pages(
    study: Study, reading: Reading, document: Document, error: WindowError, *, model: ChatModel, connections: int
) -> None:
    """Read the book again in pages that fit the window the server has now shown, where that makes a difference.

    The reading that stopped says so, and ``made_smaller`` finds it for the new one.
    """
    if model.window is None:
        return
    plan = fitting_plan(reading.plan, model.window, document)
    if plan != reading.plan:
        smaller = study.library.open_reading(reading.book_id, plan, model.name, model.where)
        study.library.set_state(reading.id, "paused", why=f"{error} {SMALLER} {plan.max_words:,} words.")
        _start(study, smaller, model, connections=connections)


def made_smaller(study: Study, reading: Reading) -> str:
    """Why this reading has smaller pages than were asked for; '' where it has not."""
    told = f"{SMALLER} {reading.plan.max_words:,} words."
    for other in study.library.readings(reading.book_id):
        if other.id != reading.id and other.model == reading.model and other.why.endswith(told):
            return (
                f"In pages of at most {reading.plan.max_words:,} words: those of {other.plan.max_words:,} words "
                f"were too long for the model's window. A larger one {HOW_LARGER} takes in whole pages."
            )
    return ""


def _elsewhere(memory: GistMemory) -> Progress:
    """How far the other process is, from what it kept."""
    read_words = sum(memory.page(n).words for n in memory.readable)
    return Progress(len(memory.pages), len(memory.readable), read_words, memory.document.words, Usage(), memory)
