"""Read a book in the background: one job a gisting, however many ask for it. It can be paused and resumed.

A reading that stops says in the library why, in words for people.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from readagent_core.document import Document
from readagent_core.errors import (
    BudgetError,
    CancelledError,
    LibraryError,
    NotInLibraryError,
    ReadAgentError,
    Remedy,
    WindowError,
)
from readagent_core.gisting import CALLS_AHEAD, GistingProgress, cut_rest_by_rule, read
from readagent_core.gisting.costs import book_budget
from readagent_core.gisting.notes_budget import notes_mode
from readagent_core.gisting.notes_mode import NotesMode
from readagent_core.gisting.noting import make_notes, pages_without_notes
from readagent_core.jobs import Job
from readagent_core.library.records import Book, Gisting, GistingState, StopReason
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.models.server.quirks import HOW_LARGER
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from readagent_core.words import count_words
from readagent_core.workspace import Workspace

PAUSED = "Paused. Every gist made so far is kept; the next ones follow from there."
UNEXPECTED = (
    "Something in ReadAgent itself went wrong. Every gist made so far is saved; making them can resume from there."
)
ELSEWHERE = "Another ReadAgent is making the gists of this book; they appear here as they come."
_BOOK_WORDS = 20_000  # from here on a text is read in pages of a book, not of an article
_INSTRUCTION_TOKENS = 350  # of the longest reading prompt, in either language
_MIN_PAGE_WORDS = 60  # a window too small for these is too small for any reading
_POLL_SECONDS = 1.0  # between looks at how far another process is


def default_plan(words: int) -> GistingPlan:
    """How a text of this length is read when nothing else was chosen."""
    return GistingPlan.from_preset("book" if words >= _BOOK_WORDS else "article")


def usual_plan(workspace: Workspace, words: int) -> GistingPlan:
    """``default_plan`` with the page size and the pagination that were saved as suiting the chosen model."""
    plan = default_plan(words)
    if workspace.model.shares_text:  # what a window shows after the pause is computed again: let that be little
        plan = GistingPlan.from_preset("article", min_words=500)
    options = workspace.settings.saved.options_of(workspace.model.name)
    if options.small_pages:
        plan = replace(plan, max_words=plan.max_words // 2, min_words=plan.min_words // 2)
    return replace(plan, pagination=options.pagination or plan.pagination)


def fit_plan(plan: GistingPlan, window: int, document: Document) -> GistingPlan:
    """``plan`` with pages small enough for a model whose window is ``window`` tokens; unchanged where they are.

    A prompt may fill seven tenths of the window, instructions included; the rest is for the reply.
    """
    sample = document.text(0, min(len(document.paragraphs), 60))[:20_000]
    tokens_per_word = max(1.0, estimate_tokens(sample) / max(1, count_words(sample)))
    shown = 2 if plan.preceding else 1
    most = int((window * 0.7 - _INSTRUCTION_TOKENS) / tokens_per_word / shown)
    if plan.max_words <= most:
        return plan
    most = max(most, _MIN_PAGE_WORDS)
    return replace(plan, max_words=most, min_words=min(plan.min_words, max(1, most * plan.min_words // plan.max_words)))


def job_key(gisting: Gisting) -> str:
    return f"read {gisting.id}"


def start_gisting(
    workspace: Workspace, book_id: str, plan: GistingPlan | None = None, *, connections: int | None = None
) -> Job:
    """The job that reads this book by this plan with the chosen model; the one under way if there is one.

    Its ``subject`` is the reading's id, and it publishes Progress. A reading that was paused is resumed.
    """
    return _start(workspace, _gisting_of(workspace, book_id, plan), workspace.model, connections=connections)


def _gisting_of(workspace: Workspace, book_id: str, plan: GistingPlan | None) -> Gisting:
    """The reading of a book by a plan and the chosen model, made when there is none."""
    book = workspace.library.book(book_id)
    model = workspace.model
    # nobody chose the plan of a recording
    last = next((r.plan for r in workspace.library.gistings(book_id) if not r.recorded), None)
    chosen = plan or last or usual_plan(workspace, book.words)
    if model.window and model.window_is_firm:  # a model not loaded yet may be given more
        chosen = fit_plan(chosen, model.window, workspace.library.document(book_id))
    return workspace.library.open_gisting(book_id, chosen, model.name, model.where)


def _start(
    workspace: Workspace, gisting: Gisting, model: ChatModel, *, connections: int | None = None, noted_from: int = 1
) -> Job:
    at_once = connections or workspace.connections
    ahead = workspace.settings.saved.ahead or CALLS_AHEAD

    def work(job: Job) -> None:
        _read(workspace, gisting, job, model=model, connections=at_once, ahead=ahead, noted_from=noted_from)

    return workspace.jobs.start(job_key(gisting), work, subject=gisting.id)


def reread_from(workspace: Workspace, gisting_id: int, page: int) -> Job:
    """Read again from ``page`` on, asking the model even where the cache has a reply.

    A recording, or another model's reading, stays as it is: the pages before ``page`` are copied to a new reading.
    """
    library = workspace.library
    shown = library.gisting(gisting_id)
    own = _gisting_of(workspace, shown.book_id, shown.plan)
    job = workspace.jobs.get(job_key(own))
    if job is not None:
        job.cancel()
        job.join()
    if own.id == shown.id:
        library.cut_from(own.id, page)
    elif not own.pages and (own.document_id, own.plan.key) == (shown.document_id, shown.plan.key):
        library.put_memory(own.id, library.memory(shown.id).up_to(page - 1))
    return _start(workspace, library.gisting(own.id), workspace.model.without_cache(), noted_from=page)


def newest_memory(workspace: Workspace, book_id: str) -> tuple[Gisting, GistMemory] | None:
    """The reading to show and ask from: the newest that has a page; None before the first."""
    for gisting in workspace.library.gistings(book_id):
        if gisting.pages:
            return gisting, workspace.library.memory(gisting.id)
    return None


def memory_of(workspace: Workspace, book: Book) -> GistMemory | None:
    """Return the newest gisting of the book's current text; None where there is none."""
    found = newest_memory(workspace, book.id)
    return found[1] if found is not None and found[0].document_id == book.document_id else None


def memory_to_ask(workspace: Workspace, book_id: str, *, then: str) -> tuple[Gisting, GistMemory]:
    """``newest_memory``. Raises NotInLibraryError before the first; ``then``: what to do after reading."""
    found = newest_memory(workspace, book_id)
    if found is None:
        raise NotInLibraryError(f"This book has no gists yet. Make them in Read, then {then}.")
    return found


def memory_to_search(workspace: Workspace, book_id: str) -> tuple[Gisting, GistMemory]:
    """``newest_memory`` where that is complete; else what there is of it, and the rest of the text in pages by rule.

    Such pages have no gists: they are searched. They are stored, for they are what an answer names.
    """
    found = newest_memory(workspace, book_id)
    if found is None:
        return text_to_search(workspace, book_id)
    gisting, memory = found
    return found if memory.complete else _stored_to_search(workspace, book_id, memory, gisting)


def text_to_search(workspace: Workspace, book_id: str) -> tuple[Gisting, GistMemory]:
    """The whole text in pages by rule, without gists, stored."""
    plan = GistingPlan.from_preset("article", pagination="uniform")
    memory = GistMemory(workspace.library.document(book_id).limited(plan.max_words), plan, (), ())
    return _stored_to_search(workspace, book_id, memory, None)


def _stored_to_search(
    workspace: Workspace, book_id: str, memory: GistMemory, gisting: Gisting | None
) -> tuple[Gisting, GistMemory]:
    kept = workspace.library.keep_searched(book_id, cut_rest_by_rule(memory), gisting=gisting)
    return kept, workspace.library.memory(kept.id)


def _read(
    workspace: Workspace,
    gisting: Gisting,
    job: Job,
    *,
    model: ChatModel,
    connections: int,
    ahead: float,
    noted_from: int,
) -> None:
    library = workspace.library
    lock = library.gisting_lock(gisting.id)

    def publish(progress: GistingProgress) -> None:
        job.publish(done=progress.words_read, total=progress.words_total, value=progress)

    document = library.document(gisting.book_id, document_id=gisting.document_id)
    try:
        while not lock.acquire():
            saved = library.memory(gisting.id)  # by the other process
            read_words, words = saved.readable_words, saved.document.words
            publish(
                GistingProgress(
                    len(saved.pages), len(saved.readable), read_words, words, Usage(), saved, elsewhere=True
                )
            )
            job.wait(_POLL_SECONDS, ELSEWHERE)
        library.set_state(gisting.id, GistingState.RUNNING)
        budget = book_budget(workspace, gisting.book_id, model)
        metered = Metered(model, budget=budget.limit, spent=budget.spent)
        mode, store = notes_mode(workspace, model, document, gisting.plan), library.store(gisting.id)
        read(
            document,
            metered,
            gisting.plan,
            store=store,
            connections=connections,
            cancel=job,
            on_change=publish,
            ahead=ahead,
            notes=mode,
        )
        if mode != NotesMode.OFF:
            # those of a run that was stopped between gists and notes; of a finished one they are asked for by hand
            without = pages_without_notes(library, gisting.id) if gisting.state != GistingState.DONE else []
            missing = [number for number in without if number >= noted_from]
            make_notes(library, gisting.id, metered, job, pages=missing, connections=connections)
            store.save_usage(metered.usage)
    except BaseException as error:
        state, reason, why = _how_it_stopped(error)
        if lock.acquired:
            with suppress(LibraryError):  # the disk that stopped the reading may not take this either
                library.set_state(gisting.id, state, reason, why=why)
        if isinstance(error, BudgetError) and not error.monthly:
            budget = book_budget(workspace, gisting.book_id, model, gisting=library.gisting(gisting.id))
            if budget.limit is not None:
                library.set_state(gisting.id, state, StopReason.BUDGET, why=budget.message, limit=budget.limit)
                raise BudgetError(budget.message) from None
        if isinstance(error, WindowError):
            lock.release()
            _read_in_smaller_pages(workspace, gisting, document, error, model=model, connections=connections)
        raise
    finally:
        lock.release()
    library.set_state(gisting.id, GistingState.DONE)


def _how_it_stopped(error: BaseException) -> tuple[GistingState, StopReason, str]:
    """Return the state of a gisting that ``error`` ended, and why, for code and for people."""
    if isinstance(error, CancelledError):
        return GistingState.PAUSED, StopReason.PAUSED, PAUSED
    if not isinstance(error, ReadAgentError):
        return GistingState.FAILED, StopReason.BUG, UNEXPECTED
    corrected = error.remedy == Remedy.SETTINGS
    return GistingState.PAUSED, StopReason.SETTINGS if corrected else StopReason.ERROR, str(error)


def _read_in_smaller_pages(
    workspace: Workspace,
    gisting: Gisting,
    document: Document,
    error: WindowError,
    *,
    model: ChatModel,
    connections: int,
) -> None:
    """Start another gisting, in pages that fit the window the server has now shown, where that makes a difference.

    The reading that stopped says so, and ``smaller_pages_note`` finds it for the new one.
    """
    if model.window is None:
        return
    plan = fit_plan(gisting.plan, model.window, document)
    if plan != gisting.plan:
        smaller = workspace.library.open_gisting(gisting.book_id, plan, model.name, model.where)
        why = f"{error} Gists are made again in smaller pages, of at most {plan.max_words:,} words."
        reason, successor = StopReason.SMALLER_PAGES, smaller.id
        workspace.library.set_state(gisting.id, GistingState.PAUSED, reason, why=why, successor=successor)
        _start(workspace, smaller, model, connections=connections)


def smaller_pages_note(workspace: Workspace, gisting: Gisting) -> str:
    """Why this gisting has smaller pages than were asked for; '' where it has not."""
    for other in workspace.library.gistings(gisting.book_id):
        if other.reason == StopReason.SMALLER_PAGES and other.successor == gisting.id:
            return (
                f"In pages of at most {gisting.plan.max_words:,} words: those of {other.plan.max_words:,} words "
                f"were too long for the model's window. A larger one {HOW_LARGER} takes in whole pages."
            )
    return ""
