"""Questions to check oneself after a chapter, as the reader shows them under its end."""

from __future__ import annotations

from typing import Any

from pages.parts.read.book_text import whole_places
from pages.parts.read.how_far import paragraphs_read
from readagent_core.companion.study import chapter_pages, load_study
from readagent_core.document import Document
from readagent_core.jobs import JobState
from readagent_core.library.records import Book, Gisting
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace
from readagent_core.world.storage import load_world


def study_data(workspace: Workspace, book: Book, gisting: Gisting, document: Document) -> dict[str, Any]:
    """The ``StudyData`` of protocol.d.ts: the chapters that were read, with the questions made about them."""
    library, model = workspace.library, workspace.model
    world = load_world(library, gisting.id)
    places = whole_places(world.memory.document, document)
    read = paragraphs_read(workspace, book, world, document)
    chapters: list[dict[str, Any]] = []
    for title, pages, end in chapters_read(world.memory, read):
        made = load_study(library, gisting.id, pages, model.name) or ()
        job = workspace.jobs.get(f"study {gisting.id} {pages[0]}")
        state = job.snapshot.state if job else None
        record = {
            "title": title,
            "end": places[end][0],
            "pages": [pages[0], pages[-1]],
            "making": state == JobState.RUNNING,
            "error": job.snapshot.error if job and state == JobState.FAILED else "",
            "none": state == JobState.DONE and not made,
            "questions": [{"text": one.question, "answer": one.answer, "page": one.page} for one in made],
        }
        if made or model.is_language_model:  # without a model there are words and marks, and no questions
            chapters.append(record)
    return {"book": book.id, "chapters": chapters, "answered": library.preference(f"study {book.id}", {})}


def chapters_read(memory: GistMemory, read: int) -> list[tuple[str, tuple[int, ...], int]]:
    """Title, pages and end of each chapter, as questions are made of them, in the first ``read`` paragraphs."""
    found: dict[tuple[int, ...], tuple[str, tuple[int, ...], int]] = {}
    for page in memory.pages:
        pages = chapter_pages(memory, page.number)
        end = memory.page(pages[-1]).end
        gists = all(memory.gists[n - 1] is not None for n in pages)
        if end <= read and gists:
            section = memory.section_of(page.number)
            found.setdefault(pages, (section.title if section else "", pages, end))
    return list(found.values())
