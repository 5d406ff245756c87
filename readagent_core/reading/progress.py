"""What a reading tells while it goes on, and where it keeps what it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.reading.paginator import Spend
from readagent_core.usage import Usage


class Store(Protocol):
    """Where pages and gists are kept as they are made. ``Library.store(reading_id)`` is one.

    Notes are replies not yet part of a certain page; they may be forgotten once the reading is whole.
    """

    def load(self) -> tuple[list[Page], dict[int, Gist]]: ...

    def save_page(self, page: Page) -> Page:
        """Keep a page. Gives back the page of this number that is kept: another, where another came first."""
        ...

    def save_gist(self, number: int, gist: Gist) -> None: ...
    def load_notes(self) -> Mapping[str, dict[str, Any]]: ...
    def save_note(self, key: str, value: Mapping[str, Any]) -> None: ...
    def clear_notes(self) -> None: ...

    def save_usage(self, usage: Usage) -> None:
        """Save the usage of this run so far; the usage of earlier runs of the reading is added to it."""
        ...


class NoStore:
    """Keeps nothing beyond this run."""

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        return [], {}

    def save_page(self, page: Page) -> Page:
        return page

    def save_gist(self, number: int, gist: Gist) -> None: ...

    def load_notes(self) -> Mapping[str, dict[str, Any]]:
        return {}

    def save_note(self, key: str, value: Mapping[str, Any]) -> None: ...
    def clear_notes(self) -> None: ...
    def save_usage(self, usage: Usage) -> None: ...


@dataclass(frozen=True)
class Progress:
    """How far a reading is. ``pages``/``gists``: how many are certain / made. ``words_read``: of the pages
    that have their gist. ``memory``: what can be read and asked already. ``usage``: of this run.
    ``spend``: calls spent on pause points, those asked ahead among them. ``fallbacks``: pages and gists
    that stand in for a reply that could not be used. ``kept``: gists that were there before this run.
    """

    pages: int
    gists: int
    words_read: int
    words_total: int
    usage: Usage
    memory: GistMemory
    spend: Spend = field(default_factory=Spend)
    fallbacks: int = 0
    kept: int = 0
