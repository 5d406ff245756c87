"""Reading a book in the background: one job a reading, however many ask; it can be paused and goes on.

A reading that stops says in the library why, for people. Knows nothing of screens.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from readagent_core.errors import CancelledError, LibraryError, ReadAgentError
from readagent_core.jobs import Job
from readagent_core.library.records import Reading
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.plan import ReadingPlan
from readagent_core.reading import Progress, read
from readagent_core.usage import Usage

if TYPE_CHECKING:
    from readagent_core.study import Study

PAUSED = "Paused. Every page read so far is kept; reading goes on from there."
BROKEN = "Something in ReadAgent itself went wrong. Every page read so far is kept; reading can go on from there."
CONNECTIONS = 8
_BOOK_WORDS = 20_000  # from here on a text is read in pages of a book, not of an article
_USAGE_SECONDS = 2.0  # how often the cost so far is written down


def default_plan(words: int) -> ReadingPlan:
    """How a text of this length is read when nothing else was chosen."""
    return ReadingPlan.from_preset("book" if words >= _BOOK_WORDS else "article")


def key(reading_id: int) -> str:
    """The key of a reading's job."""
    return f"read {reading_id}"


def start_reading(
    study: Study, book_id: str, plan: ReadingPlan | None = None, *, connections: int | None = None
) -> Job:
    """The job that reads this book by this plan with the model in force; the one under way if there is one."""
    book = study.library.book(book_id)
    model = study.model
    chosen = plan or _last_plan(study, book_id) or default_plan(book.words)
    reading = study.library.open_reading(book_id, chosen, model.name, model.where)
    at_once = connections or int(study.settings.kept.get("connections", CONNECTIONS))
    return study.jobs.start(key(reading.id), lambda job: _read(study, reading, job, model=model, connections=at_once))


def pause_reading(study: Study, reading_id: int) -> None:
    """Stop the job of this reading at its next step; ``start_reading`` goes on."""
    job = study.jobs.get(key(reading_id))
    if job is not None:
        job.cancel()


def read_from(study: Study, reading_id: int, page: int) -> Job:
    """Read again from ``page`` on: it and all after it are forgotten and asked anew."""
    pause_reading(study, reading_id)
    job = study.jobs.get(key(reading_id))
    if job is not None:
        job.join()
    reading = study.library.reading(reading_id)
    study.library.cut_from(reading_id, page)
    return start_reading(study, reading.book_id, reading.plan)


def newest_memory(study: Study, book_id: str) -> tuple[Reading, GistMemory] | None:
    """The reading to show and ask from: the newest that has a page; None before the first."""
    for reading in study.library.readings(book_id):
        if reading.pages:
            return reading, study.library.memory(reading.id)
    return None


def _last_plan(study: Study, book_id: str) -> ReadingPlan | None:
    """The plan of the newest reading that a person asked for (a recording's is not)."""
    return next((r.plan for r in study.library.readings(book_id) if not r.recorded), None)


def _read(study: Study, reading: Reading, job: Job, *, model: ChatModel, connections: int) -> None:
    library = study.library
    before = reading.usage
    latest = Usage()
    written = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal latest, written
        latest = progress.usage
        job.publish(done=progress.words_read, total=progress.words_total, value=progress)
        if time.monotonic() - written > _USAGE_SECONDS:
            written = time.monotonic()
            library.set_state(reading.id, "reading", usage=before + latest)

    document = library.document(reading.book_id, document_id=reading.document_id)
    library.set_state(reading.id, "reading")
    try:
        read(
            document,
            model,
            reading.plan,
            store=library.store(reading.id),
            connections=connections,
            watch=job,
            on_change=tell,
        )
    except BaseException as error:
        state = "paused" if isinstance(error, ReadAgentError) else "failed"
        why = PAUSED if isinstance(error, CancelledError) else str(error) if state == "paused" else BROKEN
        with suppress(LibraryError):  # the disk that stopped the reading may not take this either
            library.set_state(reading.id, state, why=why, usage=before + latest)
        raise
    library.set_state(reading.id, "done", usage=before + latest)
