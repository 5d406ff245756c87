"""What the library keeps, as values: books, readings, conversations and their exchanges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from readagent_core.plan import ReadingPlan
from readagent_core.usage import Usage


@dataclass(frozen=True)
class Book:
    """``id`` stays when the file changes; ``document_id`` is the newest version's. Times: ``time.time()`` seconds.

    ``removed``: when it was put away (it can be restored until it is purged), else None.
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
class Reading:
    """One reading of one version of a book by one plan and model.

    ``state``: 'reading' (under way, or broken off by a crash), 'paused', 'done' or 'failed'; ``why`` says
    for people why it is not done. ``model``/``where``: who reads. ``recorded``: date of a recording, else ''.
    ``changed``: another figure whenever a page or a gist was added, changed or forgotten.
    """

    id: int
    book_id: str
    document_id: str
    plan: ReadingPlan
    model: str
    where: str = ""
    state: str = "reading"
    why: str = ""
    pages: int = 0
    gists: int = 0
    started: float = 0.0
    ended: float | None = None
    recorded: str = ""
    usage: Usage = field(default_factory=Usage)
    changed: int = 0


@dataclass(frozen=True)
class Position:
    """Where the person is in a book: a paragraph of the (unlimited) document, so it holds for every reading."""

    paragraph: int = 0
    furthest: int = 0


@dataclass(frozen=True)
class Conversation:
    id: str
    book_id: str
    title: str
    created: float = 0.0
    updated: float = 0.0
    exchanges: int = 0


@dataclass(frozen=True)
class Exchange:
    """One question and everything that came of it. ``events``: as ``event_to_dict`` gives them, in order.

    ``state``: 'running', 'done', 'cut off', 'cancelled' or 'failed' (then ``error``). ``settings``: method
    settings as a dict; ``up_to``: the spoiler limit's last page, None without one. ``method``: its name.
    """

    id: str
    conversation_id: str
    reading_id: int
    question: str
    options: tuple[str, ...] = ()
    method: str = "read-agent-p"
    settings: dict[str, Any] = field(default_factory=dict)
    up_to: int | None = None
    asked: float = 0.0
    state: str = "running"
    error: str = ""
    events: tuple[dict[str, Any], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
