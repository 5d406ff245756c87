"""Reading: pagination and gisting run together, several calls at once, every result kept as it comes.

A page is kept before its gist is asked for, a gist before the next thing is told. So whatever stops a reading,
it goes on from there and repeats at most the calls that were under way. Knows nothing of jobs or screens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import CancelledError, EmptyDocumentError, LibraryError, ReadAgentError
from readagent_core.memory import Gist, GistMemory, Page, check_cover
from readagent_core.models.base import ChatModel, Watch
from readagent_core.models.cost.meter import Metered
from readagent_core.plan import ReadingPlan
from readagent_core.reading.chains import Chains
from readagent_core.reading.fitting import thin
from readagent_core.reading.gisting import gist_page
from readagent_core.reading.many import Many
from readagent_core.reading.paginator import Paginator
from readagent_core.reading.pool import Outcome, Pool
from readagent_core.reading.progress import NoStore, Progress, Store
from readagent_core.reading.uniform import Uniform
from readagent_core.reading.windows import Windows

AHEAD = 1.5  # most pagination calls for each one the sequential algorithm makes
_GRACE_SECONDS = 2.0  # how long calls under way may still bring in their replies when a reading stops
_AFTER_ERROR_SECONDS = 20.0


class _ChangedElsewhere(Exception):
    """Another process kept another page of this number first: go on from what is kept."""


def read(
    document: Document,
    model: ChatModel,
    plan: ReadingPlan,
    *,
    store: Store | None = None,
    connections: int = 8,
    watch: Watch | None = None,
    on_change: Callable[[Progress], None] | None = None,
    ahead: float = AHEAD,
) -> GistMemory:
    """The gist memory of ``document``, going on from what ``store`` has.

    ``connections``: calls at once. ``ahead``: bound on pagination calls as a multiple of the sequential ones (1:
    never ask ahead). Raises ModelError where no page can be read any more, CancelledError when stopped, and
    EmptyDocumentError; what was done is in the store.
    """
    limited = document.limited(plan.max_words)
    if not limited.paragraphs:
        raise EmptyDocumentError("There is no text in this document, so there is nothing to read.")
    windows = Windows(limited, plan)
    metered = model if isinstance(model, Metered) else Metered(model)
    watch = watch or Watch()
    metered.learn_window(watch)
    while True:
        run = _Run(windows, metered, store or NoStore(), connections, watch, on_change, ahead)
        try:
            memory = run.finish()
        except _ChangedElsewhere:
            continue
        return run.thinned(memory, connections) if plan.memory_words else memory


def regist(
    memory: GistMemory, number: int, model: ChatModel, *, instruction: str = "", watch: Watch | None = None
) -> Gist:
    """A new gist of page ``number``, made with an ``instruction`` of the person's. Raises KeyError, ModelError."""
    page = memory.page(number)
    return gist_page(memory.document, page, memory.plan, model=model, watch=watch or Watch(), instruction=instruction)


class _Run:
    """One run of a reading, from what is kept to the end."""

    def __init__(
        self,
        windows: Windows,
        model: Metered,
        store: Store,
        connections: int,
        watch: Watch,
        on_change: Callable[[Progress], None] | None,
        ahead: float,
    ) -> None:
        self._windows, self._model, self._store, self._watch = windows, model, store, watch
        self._on_change = on_change
        self._pages, gists = store.load()
        self._gists: list[Gist | None] = [gists.get(page.number) for page in self._pages]
        self._kept = len(gists)
        notes = store.load_notes()
        self._paginator = _paginator(windows, self._pages, notes, model, connections, ahead)
        self._pool = Pool(connections)
        self._certain: dict[int, Page] = {}  # certain but not yet numbered, by where they start
        self._early: dict[int, Gist] = {  # gists of those pages, by where they start
            int(key.split()[1]): _gist_from(value) for key, value in notes.items() if key.startswith("gist ")
        }
        self._to_gist: list[Page] = [p for p, g in zip(self._pages, self._gists, strict=True) if g is None]
        self._gisting = 0
        self._read_words = sum(p.words for p, g in zip(self._pages, self._gists, strict=True) if g is not None)

    def finish(self) -> GistMemory:
        try:
            self._take()
            while not self._whole:
                self._watch.check()
                self._submit()
                outcome = self._pool.next(0.2)
                if outcome is not None:
                    self._absorb(outcome)
                    self._take()
                    self._tell()
        except _ChangedElsewhere:
            raise
        except ReadAgentError as error:
            self._bring_in(_GRACE_SECONDS if isinstance(error, CancelledError) else _AFTER_ERROR_SECONDS)
            raise
        finally:
            self._pool.close()
        check_cover(self._windows.document, self._pages)
        self._store.clear_notes()
        self._tell()
        return self._memory()

    def thinned(self, memory: GistMemory, connections: int) -> GistMemory:
        """The memory within the plan's ``memory_words``: older gists shortened again."""
        budget = self._windows.plan.memory_words or 0

        def save(number: int, gist: Gist) -> None:
            self._store.save_gist(number, gist)
            self._gists[number - 1] = gist
            self._tell()

        thin(memory, self._model, budget, self._watch, connections=connections, save=save)
        return self._memory()

    @property
    def _whole(self) -> bool:
        covered = bool(self._pages) and self._pages[-1].end == self._windows.total
        return covered and self._gisting == 0 and not self._to_gist and None not in self._gists

    def _take(self) -> None:
        """Number the pages that follow what is known, keep them, and set out their gists."""
        for page in self._paginator.fresh():
            self._certain[page.start] = page
            gist = self._paginator.gist_for(page)
            if gist is not None:
                self._early[page.start] = gist
            elif page.start not in self._early:
                self._to_gist.append(page)
        position = self._pages[-1].end if self._pages else 0
        while (page_here := self._certain.pop(position, None)) is not None:
            page = _numbered(page_here, len(self._pages) + 1)
            kept = self._store.save_page(page)
            if (kept.start, kept.end) != (page.start, page.end):
                raise _ChangedElsewhere
            self._pages.append(page)
            self._gists.append(None)
            position = page.end
            gist = self._early.pop(page.start, None)
            if gist is not None:
                self._keep_gist(page.number, gist)

    def _submit(self) -> None:
        """Fill the connections. A page's gist never waits behind pages further on: one place is always its own."""
        if self._to_gist and self._gisting == 0 and self._pool.room:
            self._submit_gist()
        for call in self._paginator.calls(self._pool.room, self._model, self._watch):
            self._pool.submit(call.key, call.work)
        while self._to_gist and self._pool.room:
            self._submit_gist()

    def _submit_gist(self) -> None:
        page = self._to_gist.pop(0)
        windows, model, watch = self._windows, self._model, self._watch
        self._gisting += 1
        self._pool.submit(page, lambda: gist_page(windows.document, page, windows.plan, model=model, watch=watch))

    def _absorb(self, outcome: Outcome) -> None:
        page = outcome.tag if isinstance(outcome.tag, Page) else None
        self._gisting -= page is not None
        if outcome.error is not None:
            raise outcome.error
        if page is None:
            note = self._paginator.absorb(outcome.tag, outcome.value)
            if note is not None:
                self._store.save_note(outcome.tag, note)
            return
        number = self._number_of(page)
        if number is None:  # certain, but pages before it are not: kept under its place until it has a number
            self._early[page.start] = outcome.value
            self._store.save_note(f"gist {page.start}", asdict(outcome.value))
        else:
            self._keep_gist(number, outcome.value)

    def _number_of(self, page: Page) -> int | None:
        if page.number:
            return page.number
        low, high = 0, len(self._pages)
        while low < high:
            middle = (low + high) // 2
            if self._pages[middle].start < page.start:
                low = middle + 1
            else:
                high = middle
        return low + 1 if low < len(self._pages) and self._pages[low].start == page.start else None

    def _keep_gist(self, number: int, gist: Gist) -> None:
        self._store.save_gist(number, gist)
        self._gists[number - 1] = gist
        self._read_words += self._pages[number - 1].words

    def _bring_in(self, seconds: float) -> None:
        """Keep what the calls under way still bring, for a short while: they are paid for."""
        until = time.monotonic() + seconds
        while self._pool.running and time.monotonic() < until:
            outcome = self._pool.next(0.1)
            if outcome is None or outcome.error is not None:
                if self._watch.cancelled:
                    until = min(until, time.monotonic() + _GRACE_SECONDS)
                continue
            try:
                self._absorb(outcome)
                self._take()
            except (ReadAgentError, _ChangedElsewhere):
                break  # it cannot be kept
        with suppress(LibraryError):  # the error that stopped the reading is the one to report
            self._tell()

    def _memory(self) -> GistMemory:
        return GistMemory(
            document=self._windows.document,
            plan=self._windows.plan,
            pages=tuple(self._pages),
            gists=tuple(self._gists),
            model=self._model.name,
            complete=self._whole,
            usage=self._model.usage,
        )

    def _tell(self) -> None:
        self._store.save_usage(self._model.usage)  # after every call, so that a killed process loses no figure
        if self._on_change is None:
            return
        made = [g for g in self._gists if g is not None]
        self._on_change(
            Progress(
                pages=len(self._pages),
                gists=len(made),
                words_read=self._read_words,
                words_total=self._windows.before[-1],
                usage=self._model.usage,
                memory=self._memory(),
                spend=self._paginator.spend(),
                fallbacks=sum(p.fallback for p in self._pages) + sum(g.fallback for g in made),
                kept=self._kept,
            )
        )


def _numbered(page: Page, number: int) -> Page:
    return Page(number, page.start, page.end, page.words, page.reason, page.fallback, page.ends)


def _gist_from(value: Mapping[str, Any]) -> Gist:
    return Gist(**{**value, "marks": tuple(value["marks"])})


def _paginator(
    windows: Windows, kept: list[Page], notes: Mapping[str, Any], model: ChatModel, connections: int, ahead: float
) -> Paginator:
    most = max(1, connections * 3 // 4)  # the rest is for gists, so that pages can be read as they come
    if windows.plan.pagination == "uniform":
        return Uniform(windows, kept=kept)
    if windows.plan.pagination in ("many", "one-pass"):
        return Many(windows, kept=kept, notes=notes, window=model.window)
    return Chains(windows, kept=kept, notes=notes, most=most, ahead=ahead)
