"""The reader: runs pagination and gisting together, several calls at once, and saves every result as it comes.

A page is saved before its progress is reported, and so is a gist. So a gisting that is interrupted in any way resumes
where it was and repeats at most the calls that were running.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import CancelledError, EmptyDocumentError, LibraryError, ReadAgentError, UnusableRepliesError
from readagent_core.gisting.gisting import WHOLE_WORDS, NotesTaker, gist_page
from readagent_core.gisting.notes_budget import SHOWN_WORDS, NotesBudget, notes_budget
from readagent_core.gisting.notes_mode import NotesMode
from readagent_core.gisting.noting import batches, note_pages
from readagent_core.gisting.paginator import Paginator, UniformPaginator
from readagent_core.gisting.pause_points import shown_passage
from readagent_core.gisting.pause_windows import Windows
from readagent_core.gisting.pool import Outcome, Pool
from readagent_core.gisting.progress import GistingProgress, NoStore, Store
from readagent_core.gisting.span_pagination import SpanPaginator
from readagent_core.gisting.speculative_pagination import SpeculativePaginator
from readagent_core.memory import Gist, GistMemory, Page, check_coverage
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.plan import GistingPlan
from readagent_core.words import count_of
from readagent_core.world.notes import NoteReader, PageNotes

CALLS_AHEAD = 1.5  # most pagination calls for each one the sequential algorithm makes
_IN_A_ROW, _IN_A_ROW_LATER = 4, 12  # pages without a usable reply that stop a gisting; once a model made a gist
_SECONDS_AFTER_CANCEL = 2.0  # to wait for the replies of running calls
_SECONDS_AFTER_ERROR = 20.0


class _SavedElsewhere(Exception):
    """Another process has saved another page of this number: the run must start again from the store."""


def read(
    document: Document,
    model: ChatModel,
    plan: GistingPlan,
    *,
    store: Store | None = None,
    connections: int = 8,
    cancel: CancelToken | None = None,
    on_change: Callable[[GistingProgress], None] | None = None,
    ahead: float = CALLS_AHEAD,
    notes: NotesMode = NotesMode.OFF,
) -> GistMemory:
    """Read ``document`` and return its gist memory; resumes from the results in ``store``.

    ``connections``: calls at once. ``ahead``: most pagination calls for each call that the sequential algorithm makes
    (1: never ask ahead). ``notes``: whether and how the notes of each page are made with its gist. Raises
    EmptyDocumentError, ModelError, and CancelledError when ``cancel`` is cancelled; the results so far are in the store
    then.
    """
    limited = document.limited(plan.max_words)
    if not limited.paragraphs:
        raise EmptyDocumentError("There is no text in this document, so there is nothing to read.")
    windows = Windows(limited, plan)
    metered = model if isinstance(model, Metered) else Metered(model)
    cancel = cancel or CancelToken()
    cancel.background = True
    metered.learn_window(cancel)
    if metered.limiter is not None and metered.limiter.is_single:
        connections, ahead = 1, 1.0  # calls ahead would only wait there, and may be needless
    while True:
        run = _GistingRun(windows, metered, store or NoStore(), connections, cancel, on_change, ahead, notes)
        try:
            memory = run.finish()
        except _SavedElsewhere:
            continue
        return memory


class _GistingRun:
    """One run of a gisting, from the results in the store to the end."""

    def __init__(
        self,
        windows: Windows,
        model: Metered,
        store: Store,
        connections: int,
        cancel: CancelToken,
        on_change: Callable[[GistingProgress], None] | None,
        ahead: float,
        notes_mode: NotesMode,
    ) -> None:
        self._windows, self._model, self._store, self._cancel = windows, model, store, cancel
        self._on_change = on_change
        self._pages, gists = store.load()
        self._gists: list[Gist | None] = [gists.get(page.number) for page in self._pages]
        self._gists_loaded = len(gists)
        notes = store.load_notes()
        self._paginator = _paginator(windows, self._pages, notes, model, connections, ahead)
        self._pool = Pool(connections)
        self._confirmed: dict[int, Page] = {}  # not numbered yet; by their first paragraph
        self._early_gists: dict[int, Gist] = {  # of those pages, by their first paragraph
            int(key.split()[1]): Gist(**{**value, "marks": tuple(value["marks"])})
            for key, value in notes.items()
            if key.startswith("gist ")
        }
        self._note_reader = NoteReader(windows.document) if notes_mode != NotesMode.OFF else None
        self._budget = NotesBudget()
        if notes_mode != NotesMode.OFF:
            self._budget = notes_budget(windows.document, windows.plan)
        self._notes_apart = notes_mode == NotesMode.APART or not self._budget.lines
        self._early_notes = {
            int(key.split()[1]): PageNotes.from_dict(value) for key, value in notes.items() if key.startswith("notes ")
        }
        self._unusable: list[tuple[Page, Gist]] = []  # fallbacks since the model's last gist; not saved before another
        self._spoke = any(g and not (g.fallback or g.whole) for g in (*self._gists, *self._early_gists.values()))
        self._to_gist: list[Page] = [p for p, g in zip(self._pages, self._gists, strict=True) if g is None]
        self._to_note: list[Page] = []  # in calls of their own, several pages at once
        self._gisting = 0
        self._read_words = sum(p.words for p, g in zip(self._pages, self._gists, strict=True) if g is not None)

    def finish(self) -> GistMemory:
        try:
            self._save_confirmed_pages()
            while not self._complete:
                self._cancel.check()
                self._submit()
                outcome = self._pool.next(0.2)
                if outcome is None and not self._pool.running:
                    self._keep_fallbacks()
                    self._save_confirmed_pages()
                if outcome is not None:
                    self._handle_outcome(outcome)
                    self._save_confirmed_pages()
                    self._report_progress()
        except _SavedElsewhere:
            raise
        except ReadAgentError as error:
            cancelled = isinstance(error, CancelledError)
            self._collect_running_calls(_SECONDS_AFTER_CANCEL if cancelled else _SECONDS_AFTER_ERROR)
            raise
        finally:
            self._pool.close()
        check_coverage(self._windows.document, self._pages)
        self._store.clear_notes()
        self._report_progress()
        return self._memory()

    @property
    def _complete(self) -> bool:
        covered = bool(self._pages) and self._pages[-1].end == self._windows.total
        waiting = self._gisting or self._to_gist or self._to_note
        return covered and not waiting and None not in self._gists

    def _save_confirmed_pages(self) -> None:
        """Take the new pages; number and save those that follow the last saved page, and queue their gists."""
        for page in self._paginator.take_new_pages():
            self._confirmed[page.start] = page
            gist = self._paginator.gist_for(page)
            if gist is not None:
                self._early_gists[page.start] = gist
            elif page.start not in self._early_gists:
                self._to_gist.append(page)
        position = self._pages[-1].end if self._pages else 0
        while (confirmed := self._confirmed.pop(position, None)) is not None:
            page = replace(confirmed, number=len(self._pages) + 1)
            saved = self._store.save_page(page)
            if (saved.start, saved.end) != (page.start, page.end):
                raise _SavedElsewhere
            self._pages.append(page)
            self._gists.append(None)
            position = page.end
            if (made := self._early_notes.pop(page.start, None)) is not None:
                self._keep_notes(page, made)
            gist = self._early_gists.pop(page.start, None)
            if gist is not None:
                self._save_gist(page.number, gist)

    def _submit(self) -> None:
        """Start calls on all free connections. One gist always comes first, so that pages can be read early."""
        if self._to_gist and self._gisting == 0 and self._pool.room:
            self._submit_gist()
        for call in self._paginator.next_calls(self._pool.room, self._model, self._cancel):
            self._pool.submit(call.key, call.work)
        while self._to_gist and self._pool.room:
            self._submit_gist()
        ended = not self._to_gist and bool(self._pages) and self._pages[-1].end == self._windows.total
        while (
            self._to_note
            and self._pool.room
            and (ended or sum(p.words for p in self._to_note) * self._budget.shown >= SHOWN_WORDS)
        ):
            self._submit_notes()

    def _submit_notes(self) -> None:
        pages = tuple(batches(self._to_note, self._budget.shown)[0])
        self._to_note = self._to_note[len(pages) :]
        assert self._note_reader is not None
        self._gisting += 1
        document, reader, share = self._windows.document, self._note_reader, self._budget.shown
        asked = partial(note_pages, document, pages, reader, self._model, self._cancel, share)
        self._pool.submit(pages, asked)

    def _submit_gist(self) -> None:
        page = self._to_gist.pop(0)
        windows, model, cancel = self._windows, self._model, self._cancel
        self._gisting += 1
        window = windows.window(page.start)
        asked = windows.plan.pagination == "pause" and not windows.plan.preceding and page.end in window.labels
        shown = shown_passage(windows, window) if model.shares_text and asked else None
        document, plan = windows.document, windows.plan
        reader, share = self._note_reader, self._budget.lines
        apart = self._notes_apart or shown is not None or model.copies_pages or page.words <= WHOLE_WORDS
        if reader and apart:
            self._to_note.append(page)

        def work() -> tuple[Gist, PageNotes | None]:
            taker = NotesTaker(reader, page, share=share) if reader and not apart else None
            gist = gist_page(document, page, plan, model=model, cancel=cancel, shown=shown, taker=taker)
            return gist, taker.notes if taker else None

        self._pool.submit(page, work)

    def _handle_outcome(self, outcome: Outcome) -> None:
        page = outcome.tag if isinstance(outcome.tag, Page) else None
        noted = outcome.tag if isinstance(outcome.tag, tuple) and isinstance(outcome.tag[0], Page) else ()
        self._gisting -= bool(page or noted)
        if outcome.error is not None:
            raise outcome.error
        if noted:
            for one, made in zip(noted, outcome.value, strict=True):
                self._keep_notes(one, made)
            return
        if page is None:
            note = self._paginator.accept_reply(outcome.tag, outcome.value)
            if note is not None:
                self._store.save_note(outcome.tag, note)
            return
        gist: Gist
        gist, notes = outcome.value
        if notes is not None:
            self._keep_notes(page, replace(notes, model=self._model.name))
        if gist.fallback and self._model.is_language_model:
            self._unusable.append((page, gist))
            if len(self._unusable) >= (_IN_A_ROW_LATER if self._spoke else _IN_A_ROW):
                raise self._unusable_replies()
            return
        if not gist.whole:
            self._spoke = True
            self._keep_fallbacks()
        self._keep_gist(page, gist)

    def _keep_fallbacks(self) -> None:
        """Keep the fallbacks so far. Raises UnusableRepliesError where the model has made no gist at all."""
        if self._unusable and not self._spoke:
            raise self._unusable_replies()
        for page, gist in self._unusable:
            self._keep_gist(page, gist)
        self._unusable.clear()

    def _unusable_replies(self) -> UnusableRepliesError:
        return UnusableRepliesError(
            f"{self._model.name} answers, but with nothing that can be used: the replies for "
            f"{count_of(len(self._unusable), 'page')} in a row were empty, did not end or were no gist. What was "
            "made before is saved. Test the model in Settings (or with `readagent check-model`), choose another model "
            "or shorter pages, then resume."
        )

    def _keep_gist(self, page: Page, gist: Gist) -> None:
        number = self._number_of(page)
        if number is None:  # pages before it are not confirmed: it is saved as a note until the page has a number
            self._early_gists[page.start] = gist
            self._store.save_note(f"gist {page.start}", asdict(gist))
        else:
            self._save_gist(number, gist)

    def _keep_notes(self, page: Page, notes: PageNotes) -> None:
        number = self._number_of(page)
        if number is None:
            self._early_notes[page.start] = notes
            self._store.save_note(f"notes {page.start}", notes.to_dict())
        else:
            self._store.save_page_notes(number, notes.on_page(number).to_dict())

    def _number_of(self, page: Page) -> int | None:
        """Return the number of a page that may have been confirmed without one; None where it still has none."""
        index = bisect_left(self._pages, page.start, key=lambda p: p.start)
        return index + 1 if index < len(self._pages) and self._pages[index].start == page.start else None

    def _save_gist(self, number: int, gist: Gist) -> None:
        self._store.save_gist(number, gist)
        self._gists[number - 1] = gist
        self._read_words += self._pages[number - 1].words

    def _collect_running_calls(self, seconds: float) -> None:
        """Save the results of running calls, which are paid for; wait for them at most ``seconds``."""
        until = time.monotonic() + seconds
        while self._pool.running and time.monotonic() < until:
            outcome = self._pool.next(0.1)
            if outcome is None or outcome.error is not None:
                if self._cancel.cancelled:
                    until = min(until, time.monotonic() + _SECONDS_AFTER_CANCEL)
                continue
            try:
                self._handle_outcome(outcome)
                self._save_confirmed_pages()
            except (ReadAgentError, _SavedElsewhere):
                break  # it cannot be saved
        with suppress(LibraryError):  # the error that stopped the gisting is the one to raise
            self._report_progress()

    def _memory(self) -> GistMemory:
        return GistMemory(
            document=self._windows.document,
            plan=self._windows.plan,
            pages=tuple(self._pages),
            gists=tuple(self._gists),
            model=self._model.name,
            complete=self._complete,
            usage=self._model.usage,
        )

    def _report_progress(self) -> None:
        self._store.save_usage(self._model.usage)  # after every call, so that a killed process loses no figure
        if self._on_change is None:
            return
        made = [g for g in self._gists if g is not None]
        self._on_change(
            GistingProgress(
                pages=len(self._pages),
                gists=len(made),
                words_read=self._read_words,
                words_total=self._windows.before[-1],
                usage=self._model.usage,
                memory=self._memory(),
                call_counts=self._paginator.call_counts(),
                fallbacks=sum(p.fallback for p in self._pages) + sum(g.fallback for g in made),
                gists_loaded=self._gists_loaded,
            )
        )


def _paginator(
    windows: Windows, saved: list[Page], notes: Mapping[str, Any], model: ChatModel, connections: int, ahead: float
) -> Paginator:
    """Return the paginator of the plan."""
    if windows.plan.pagination == "uniform":
        return UniformPaginator(windows, saved=saved)
    if windows.plan.pagination in ("many", "one-pass"):
        return SpanPaginator(windows, saved=saved, notes=notes, window=model.window)
    most = max(1, connections * 3 // 4)  # the rest is for gists, so that pages can be read early
    return SpeculativePaginator(windows, saved=saved, notes=notes, connections=most, ahead=ahead)
