"""Make the notes of pages, and find which names in them are of one, in the background; saved page by page.

Notes come with the gists where the model can do both in a reply. This makes those that are missing, and those of a page
that failed, in calls of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, SettingsError
from readagent_core.gisting.costs import book_budget
from readagent_core.gisting.gisting import WHOLE_WORDS
from readagent_core.gisting.notes_budget import SHOWN_WORDS, notes_budget
from readagent_core.gisting.pool import run_all
from readagent_core.jobs import Job
from readagent_core.library import Library
from readagent_core.library.worlds import WorldKind
from readagent_core.memory import GistMemory, Page
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import price_in_words
from readagent_core.words import count_of
from readagent_core.workspace import Workspace
from readagent_core.world.identity import Link
from readagent_core.world.notes import NoteReader, PageNotes, notes_prompt
from readagent_core.world.same_names import parse_same_names, same_names_prompt
from readagent_core.world.storage import load_notes, load_world_without_links_of, save_links, save_notes

NEEDS_MODEL = "Notes are made by a language model. Without one, names are found by rule. Connect a model in Settings."


@dataclass(frozen=True)
class NotesProgress:
    """How far notes are made: ``done`` of ``pages`` pages; ``failed``: those whose reply could not be used."""

    done: int
    pages: int
    failed: int = 0


def note_pages(
    document: Document, pages: Sequence[Page], reader: NoteReader, model: ChatModel, cancel: CancelToken, share: float
) -> list[PageNotes]:
    """Return the notes of each page, asked for in a call of their own; ``failed`` where the reply has none of it.

    A page that is short enough to be its own gist has none.
    """
    long = [page for page in pages if page.words > WHOLE_WORDS]
    if not long:
        return [PageNotes(model=model.name) for _ in pages]
    try:
        reply = model.complete(notes_prompt(document, long, share), cancel).text
    except CutOffError as error:
        reply = error.text
    except (EmptyReplyError, RefusedError):
        reply = ""
    made = dict(zip([page.start for page in long], reader.read_pages(long, reply), strict=True))
    return [replace(made.get(page.start, PageNotes()), model=model.name) for page in pages]


def batches(pages: Sequence[Page], share: float) -> list[list[Page]]:
    """Return the pages in groups whose notes are asked for at once, where this share of each is shown."""
    found: list[list[Page]] = []
    for page in pages:
        if not found or (sum(p.words for p in found[-1]) + page.words) * share > SHOWN_WORDS:
            found.append([])
        found[-1].append(page)
    return found


def pages_without_notes(library: Library, gisting_id: int) -> list[int]:
    """Return the numbers of the pages that have no notes yet, those that failed not among them."""
    made = load_notes(library, gisting_id)
    return [page.number for page in library.memory(gisting_id).pages if page.number not in made]


def start_notes(workspace: Workspace, gisting_id: int, pages: Sequence[int] | None = None) -> Job:
    """Start to make the notes of ``pages``, by default of those without any; the job publishes NotesProgress.

    What is made is saved page by page, so that a stopped job goes on where it was. Raises SettingsError without a
    language model.
    """
    model = workspace.model if pages is None else workspace.model.without_cache()
    if not model.is_language_model:
        raise SettingsError(NEEDS_MODEL)
    gisting = workspace.library.gisting(gisting_id)

    def work(job: Job) -> NotesProgress:
        budget = book_budget(workspace, gisting.book_id, model)
        metered = Metered(model, budget=budget.limit, spent=budget.spent)
        chosen = pages_without_notes(workspace.library, gisting_id) if pages is None else list(pages)
        store = workspace.library.store(gisting_id)
        try:
            return make_notes(
                workspace.library,
                gisting_id,
                metered,
                job,
                pages=chosen,
                connections=workspace.connections,
                on_change=lambda progress: job.publish(done=progress.done, total=progress.pages, value=progress),
            )
        finally:
            store.save_usage(metered.usage)

    return workspace.jobs.start(notes_job_key(gisting_id), work, subject=gisting_id)


def notes_job_key(gisting_id: int) -> str:
    return f"notes {gisting_id}"


def make_notes(
    library: Library,
    gisting_id: int,
    model: ChatModel,
    cancel: CancelToken,
    *,
    pages: Sequence[int],
    connections: int = 8,
    on_change: Callable[[NotesProgress], None] = lambda progress: None,
) -> NotesProgress:
    """Make and save the notes of ``pages``, then the links between names that are not compared yet."""
    memory = library.memory(gisting_id)
    progress = NotesProgress(0, len(pages))

    def keep(number: int, notes: PageNotes) -> None:
        nonlocal progress
        save_notes(library, gisting_id, number, notes.on_page(number))
        progress = replace(progress, done=progress.done + 1, failed=progress.failed + notes.failed)
        on_change(progress)

    if pages:
        reader = NoteReader(memory.document)
        share, document = notes_budget(memory.document, memory.plan).shown, memory.document
        groups = {group[0].number: group for group in batches([memory.page(n) for n in pages], share)}
        works = {n: partial(note_pages, document, of, reader, model, cancel, share) for n, of in groups.items()}

        def keep_all(first: int, made: list[PageNotes]) -> None:
            for page, notes in zip(groups[first], made, strict=True):
                keep(page.number, notes)

        run_all(works, connections=connections, cancel=cancel, each=keep_all)
    link_names(library, gisting_id, model, cancel, changed=pages)
    return progress


def link_names(
    library: Library, gisting_id: int, model: ChatModel, cancel: CancelToken, *, changed: Sequence[int] = ()
) -> None:
    """Compare the names of pages with notes, a few pages at a time and in order, and save the links.

    Pages that were compared before are compared again only where their notes have ``changed``.
    """
    noted = load_notes(library, gisting_id)  # without a note, too: those before it may count from there
    ends = [0, *library.world_values(gisting_id, WorldKind.LINKS)]
    spans = [(a, b) for a, b in pairwise(ends) if any(a < page <= b for page in changed)]
    last = max(noted, default=0)
    memory = library.memory(gisting_id)
    budget = notes_budget(memory.document, memory.plan)
    spans += pairwise([ends[-1], *_ends_of_comparisons(memory, ends[-1], last, budget.compared)])
    for start, end in spans:
        cancel.check()
        world = load_world_without_links_of(library, gisting_id, end)
        words = sum(page.words for page in memory.pages[start:end])
        prompt = same_names_prompt(world, start, end, most_words=round(words * budget.per_word))
        links: tuple[Link, ...] | None = (
            () if end not in ends else None
        )  # a comparison that fails leaves what was found
        if prompt is not None:
            with suppress(EmptyReplyError, RefusedError, CutOffError):
                links = parse_same_names(world, start, end, model.complete(prompt, cancel).text)
        if links is not None:
            save_links(library, gisting_id, end, links)


def _ends_of_comparisons(memory: GistMemory, start: int, last: int, words: int) -> list[int]:
    """Return the pages up to ``last`` at whose end names are compared: after so many words, a short rest with those."""
    found, read, rest = [], 0, sum(page.words for page in memory.pages[start:last])
    for page in memory.pages[start:last]:
        read, rest = read + page.words, rest - page.words
        if page.number == last or (read >= words and rest >= words / 2):
            found.append(page.number)
            read = 0
    return found


def notes_price(workspace: Workspace, gisting_id: int) -> str:
    """Return what making the missing notes would cost, estimated: 'About 25 calls, 16,000 words sent; about $0.01.'"""
    library, model = workspace.library, workspace.model
    memory = library.memory(gisting_id)
    chosen = pages_without_notes(library, gisting_id)
    share, document = notes_budget(memory.document, memory.plan).shown, memory.document
    asked = [notes_prompt(document, group, share) for group in batches([memory.page(n) for n in chosen], share)]
    sent = sum(prompt.words for prompt in asked)
    back = sum(prompt.reply_words for prompt in asked) // 2
    cost = price_in_words(model.price, sent, back)
    return f"About {count_of(len(asked), 'call')}, {count_of(sent, 'word')} sent; {cost}."
