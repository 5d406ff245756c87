"""The progress a reading reports, and the store it saves its results in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from readagent_core.gisting.paginator import CallCounts
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.usage import Usage


class Store(Protocol):
    """Stores pages and gists as they are made: ``Library.store(gisting_id)`` returns one; what is defined here saves
    nothing.

    A note is a reply that is not part of a saved page yet; notes are deleted when the gisting is complete.
    """

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        return [], {}

    def save_page(self, page: Page) -> Page:
        """Save a page and return the stored page of this number: another one, where a process saved it before."""
        return page

    def save_gist(self, number: int, gist: Gist) -> None:
        return

    def save_page_notes(self, number: int, notes: Mapping[str, Any]) -> None:
        """Save what the page establishes (``world.notes.PageNotes``)."""
        return

    def load_notes(self) -> Mapping[str, dict[str, Any]]:
        return {}

    def save_note(self, key: str, value: Mapping[str, Any]) -> None:
        return

    def clear_notes(self) -> None:
        return

    def save_usage(self, usage: Usage) -> None:
        """Save the usage of this run so far; the usage of earlier runs of the gisting is added to it."""
        return


class NoStore(Store):
    """A store that saves nothing."""


@dataclass(frozen=True)
class GistingProgress:
    """The progress of a gisting.

    ``pages``, ``gists``: how many are saved. ``words_read``: words of the pages that have a gist. ``usage``: of this
    run. ``memory``: the pages and gists so far. ``call_counts``: pagination calls. ``fallbacks``: pages and gists made
    without a usable reply. ``gists_loaded``: gists that the store had before this run. ``elsewhere``: another process
    reads, and this one waits for it.
    """

    pages: int
    gists: int
    words_read: int
    words_total: int
    usage: Usage
    memory: GistMemory
    call_counts: CallCounts = field(default_factory=CallCounts)
    fallbacks: int = 0
    gists_loaded: int = 0
    elsewhere: bool = False
