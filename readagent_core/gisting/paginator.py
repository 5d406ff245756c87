"""The base class of paginators, and pages of about equal length, which need no model: uniform pagination.

A page is confirmed when its start and end cannot change any more. Confirmed pages have no number yet: the reader
numbers them when all pages before them are confirmed too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import EmptyDocumentError
from readagent_core.gisting.pause_windows import Windows
from readagent_core.memory import Gist, GistMemory, Page, PageEnd
from readagent_core.models.base import ChatModel
from readagent_core.plan import GistingPlan


@dataclass(frozen=True)
class Call:
    """A model call to make: ``work`` makes it; its result goes to ``Paginator.accept_reply`` with ``key``."""

    key: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class CallCounts:
    """Counts of pagination calls.

    ``asked``: calls made so far. ``ahead``: those made in advance whose page is not confirmed (yet).
    """

    asked: int = 0
    ahead: int = 0


class Paginator:
    """Finds where pages end. The reader makes the calls of ``next_calls`` and passes the results to ``accept_reply``.

    A confirmed page is added to ``_new_pages``. A subclass that needs a model overrides the other methods.
    """

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._new_pages: list[Page] = []

    def take_new_pages(self) -> list[Page]:
        """Return the pages confirmed since the last call; without numbers, not always in order."""
        taken, self._new_pages = self._new_pages, []
        return taken

    def call_counts(self) -> CallCounts:
        return CallCounts()

    def next_calls(self, room: int, model: ChatModel, cancel: CancelToken) -> list[Call]:
        """Return at most ``room`` calls to make now, the most urgent first."""
        return []

    def accept_reply(self, key: str, reply: Any) -> dict[str, Any] | None:
        """Accept the result of a call. Returns a note to save (JSON values), so that a crash loses nothing, or None."""
        return None

    def gist_for(self, page: Page) -> Gist | None:
        """Return the gist that came in the same reply as the page; None where there is none."""
        return None


class UniformPaginator(Paginator):
    """The 'uniform' paginator (ICML paper, Table 5): cuts pages of about equal length, without a model."""

    def __init__(self, windows: Windows, *, saved: Sequence[Page]) -> None:
        super().__init__(windows)
        self._new_pages = cut_pages_by_rule(windows, saved[-1].end if saved else 0)


def cut_pages_by_rule(windows: Windows, start: int) -> list[Page]:
    """Return pages from paragraph ``start`` on, with words as near as possible to the middle of the plan's bounds."""
    target = (windows.plan.min_words + windows.plan.max_words) / 2
    pages: list[Page] = []
    while start < windows.total:
        window = windows.window(start)
        at, ends = window.end, window.ends
        if window.labels:
            at = min(window.labels, key=lambda label: abs(windows.words(window.start, label) - target))
            ends = PageEnd.RULE
        pages.append(windows.page(start, at, ends=ends))
        start = at
    return pages


def cut_by_rule(document: Document, plan: GistingPlan) -> GistMemory:
    """Return ``document`` in pages of about equal length, each in full in place of its gist; asks no model.

    For methods that use no gists. Raises EmptyDocumentError.
    """
    limited = document.limited(plan.max_words)
    if not limited.paragraphs:
        raise EmptyDocumentError("There is no text in this document, so there is nothing to read.")
    cut = cut_pages_by_rule(Windows(limited, plan), 0)
    pages = tuple(replace(page, number=number) for number, page in enumerate(cut, start=1))
    gists = tuple(Gist(limited.text(page.start, page.end), whole=True) for page in pages)
    return GistMemory(limited, plan, pages, gists, complete=True)


def cut_rest_by_rule(memory: GistMemory) -> GistMemory:
    """Return ``memory`` with the text after its last page in pages of about equal length, without gists, to search."""
    after = memory.pages[-1].end if memory.pages else 0
    cut = cut_pages_by_rule(Windows(memory.document, replace(memory.plan, cross_sections=False)), after)
    pages = [replace(page, number=number) for number, page in enumerate(cut, start=len(memory.pages) + 1)]
    return replace(memory, pages=(*memory.pages, *pages), gists=(*memory.gists, *[None] * len(pages)))
