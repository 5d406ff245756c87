"""A queue of books whose gists are made one after another, overnight if need be, in the hours that a person sets.

It is stored, so that it goes on after a restart, and goes by the clock, so that it goes on after the computer slept. A
server that is away is asked again each minute. On battery it waits, if asked to. A question goes first, as always.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

import psutil

from readagent_core.cancel import CancelToken, key_lock
from readagent_core.errors import (
    BudgetError,
    CancelledError,
    KeyRefusedError,
    LibraryError,
    LimitError,
    LocalModelError,
    ModelTimeoutError,
    NoCreditError,
    NotInLibraryError,
    RateLimitError,
    ReadAgentError,
    ServerFailedError,
    UnknownModelError,
    UnreachableError,
)
from readagent_core.gisting.job import start_gisting
from readagent_core.jobs import Job, JobState
from readagent_core.library.records import StopReason
from readagent_core.workspace import Workspace

QUEUE_KEY = "make the gists of a queue"
LOOK_SECONDS = 1.0
AGAIN_SECONDS = 60.0
_STORED = "gist queue"
_KEPT = 50  # books that are done
_AWAY = (UnreachableError, ModelTimeoutError, ServerFailedError, RateLimitError, LimitError, LocalModelError)
_FOR_ALL = (KeyRefusedError, NoCreditError, UnknownModelError, LibraryError)  # what no other book would escape


class Hold(StrEnum):
    """Why a queue makes no gists now."""

    PAUSED = "paused"
    HOURS = "hours"
    BATTERY = "battery"
    AWAY = "away"


@dataclass(frozen=True)
class Ended:
    """A book that left the queue. ``why``: what stopped it, for people; '' where its gists are made."""

    book_id: str
    at: float
    why: str = ""


@dataclass(frozen=True)
class Queue:
    """``books``: ids, the next one first. ``since`` and ``until``: 'HH:MM' of this computer's clock between which gists
    are made, on every day until none is left; at any time where ``until`` is ''. ``mains``: not on battery. ``why``:
    what paused it, for people; '' for a person.
    """

    books: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    mains: bool = True
    paused: bool = False
    why: str = ""
    ended: tuple[Ended, ...] = field(default=())

    def is_open(self, now: datetime) -> bool:
        """Whether ``now`` is in its hours."""
        if not self.until or not self.since or self.since == self.until:
            return True
        clock = f"{now:%H:%M}"
        if self.since < self.until:
            return self.since <= clock < self.until
        return clock >= self.since or clock < self.until

    def closes(self, now: datetime) -> datetime | None:
        """When its present or next hours end; None where they never do."""
        return _next(self.until, now) if self.until else None

    def opens(self, now: datetime) -> datetime:
        """When it makes gists: now, or when its next hours begin."""
        return now if self.is_open(now) else _next(self.since, now)


def load_queue(workspace: Workspace) -> Queue:
    stored = workspace.library.preference(_STORED, {})
    ended = tuple(Ended(**row) for row in stored.get("ended", ()))
    return Queue(**{**stored, "books": tuple(stored.get("books", ())), "ended": ended})


def change_queue(workspace: Workspace, change: Callable[[Queue], Queue]) -> Queue:
    """Store the queue as ``change`` makes it of the stored one."""
    with key_lock(f"gist queue of {workspace.home}", CancelToken()):
        queue = change(load_queue(workspace))
        workspace.library.set_preference(_STORED, asdict(queue))
        return queue


def put_in_queue(workspace: Workspace, book_ids: Sequence[str]) -> Job | None:
    """Add books at the end, and start."""

    def add(queue: Queue) -> Queue:
        ended = tuple(end for end in queue.ended if end.book_id not in book_ids)
        return replace(queue, books=tuple(dict.fromkeys((*queue.books, *book_ids))), ended=ended)

    change_queue(workspace, add)
    return start_queue(workspace)


def take_from_queue(workspace: Workspace, book_id: str) -> None:
    """Remove a book. The gists that were made stay."""

    def drop(queue: Queue) -> Queue:
        ended = tuple(end for end in queue.ended if end.book_id != book_id)
        return replace(queue, books=tuple(book for book in queue.books if book != book_id), ended=ended)

    change_queue(workspace, drop)


def move_in_queue(workspace: Workspace, book_id: str, place: int) -> None:
    """Put a book at ``place``, 0 for the next one."""

    def move(queue: Queue) -> Queue:
        books = [book for book in queue.books if book != book_id]
        if len(books) < len(queue.books):
            books.insert(max(0, place), book_id)
        return replace(queue, books=tuple(books))

    change_queue(workspace, move)


def pause_queue(workspace: Workspace, paused: bool = True) -> None:
    """Pause, or go on."""
    change_queue(workspace, lambda queue: replace(queue, paused=paused, why=""))
    if not paused:
        start_queue(workspace)


def set_hours(workspace: Workspace, until: str, *, now: datetime | None = None) -> None:
    """Make gists from now on to ``until`` ('HH:MM'), and at the same hours of the next days; '' for at any time."""
    since = f"{now or datetime.now():%H:%M}" if until else ""
    change_queue(workspace, lambda queue: replace(queue, since=since, until=until))


def set_mains(workspace: Workspace, mains: bool) -> None:
    """Make gists on mains power only, or on battery too."""
    change_queue(workspace, lambda queue: replace(queue, mains=mains))


def start_queue(workspace: Workspace) -> Job | None:
    """The job that makes the gists; the one under way if there is one, None where nothing is to be done.

    It publishes the ``Hold`` that keeps it from work, None while it works.
    """
    queue = load_queue(workspace)
    if not queue.books or queue.paused:
        return None
    return workspace.jobs.start(QUEUE_KEY, lambda job: _make_all(workspace, job))


def on_battery() -> bool:
    """Whether this computer runs on its battery; False where it has none."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False


def hold_of(queue: Queue, now: datetime) -> Hold | None:
    if queue.paused:
        return Hold.PAUSED
    if not queue.is_open(now):
        return Hold.HOURS
    return Hold.BATTERY if queue.mains and on_battery() else None


def timetable(queue: Queue, minutes: Mapping[str, float], now: datetime) -> dict[str, tuple[datetime, datetime, float]]:
    """When each book begins and is ready, and the share of it that is made by the end of the hours it begins in.

    ``minutes``: that the rest of each book takes; a book that is not named, and those after it, are left out.
    """
    found: dict[str, tuple[datetime, datetime, float]] = {}
    at = queue.opens(now)
    for book in queue.books:
        if book not in minutes:
            break
        begins, rest, share = at, timedelta(minutes=minutes[book]), 1.0
        end = queue.closes(at)
        while end is not None and queue.since != queue.until and at + rest > end:
            if at == begins and rest:
                share = (end - at) / rest
            rest -= end - at
            at = queue.opens(end)
            end = queue.closes(at)
        at += rest
        found[book] = (begins, at, share)
    return found


def _next(clock: str, now: datetime) -> datetime:
    """The next time at which the clock says 'HH:MM'."""
    hour, minute = map(int, clock.split(":"))
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


def _make_all(workspace: Workspace, job: Job) -> None:
    while (queue := load_queue(workspace)).books and not queue.paused:
        hold = hold_of(queue, datetime.now())
        job.publish(value=hold)
        if hold is not None:
            job.wait(LOOK_SECONDS, hold)
            continue
        why = _make(workspace, job, queue.books[0])
        if why is not None:
            job.publish(value=Hold.AWAY)
            _wait_to_try_again(workspace, job, why)


def _make(workspace: Workspace, job: Job, book_id: str) -> str | None:
    """Make the gists of a book while nothing holds the queue; return why it has to be tried again later, for people."""
    try:
        reading = start_gisting(workspace, book_id)
    except NotInLibraryError:  # it was removed
        take_from_queue(workspace, book_id)
        return None
    except ReadAgentError as error:
        return _after(workspace, book_id, error)
    stopped = False
    while reading.running:
        reading.join(LOOK_SECONDS)
        queue = load_queue(workspace)
        if job.cancelled or queue.books[:1] != (book_id,) or hold_of(queue, datetime.now()):
            stopped = True
            reading.cancel()
            reading.join()
    job.check()
    if stopped:
        return None
    if reading.snapshot.state == JobState.DONE:
        _end(workspace, book_id)
    elif workspace.library.gisting(reading.subject).reason != StopReason.SMALLER_PAGES:  # else it goes on in those
        assert reading.snapshot.failure is not None
        return _after(workspace, book_id, reading.snapshot.failure)
    return None


def _after(workspace: Workspace, book_id: str, error: Exception) -> str | None:
    """Go on after ``error``: later where a server is away, not at all where each book has it, else with the next."""
    if isinstance(error, _AWAY):
        return str(error)
    if isinstance(error, _FOR_ALL) or (isinstance(error, BudgetError) and error.monthly):
        change_queue(workspace, lambda queue: replace(queue, paused=True, why=str(error)))
    elif isinstance(error, CancelledError):
        _end(workspace, book_id, "Paused in Read.")
    else:
        _end(workspace, book_id, str(error))
    return None


def _end(workspace: Workspace, book_id: str, why: str = "") -> None:
    def end(queue: Queue) -> Queue:
        left = tuple(book for book in queue.books if book != book_id)
        return replace(queue, books=left, ended=(*queue.ended, Ended(book_id, time.time(), why))[-_KEPT:])

    change_queue(workspace, end)


def _wait_to_try_again(workspace: Workspace, job: Job, why: str) -> None:
    until = time.time() + AGAIN_SECONDS
    while time.time() < until and not hold_of(queue := load_queue(workspace), datetime.now()) and queue.books:
        job.wait(LOOK_SECONDS, why)
