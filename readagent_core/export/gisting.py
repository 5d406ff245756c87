"""A gisting of the library as a file, as far as the spoiler limit of its book lets in."""

from __future__ import annotations

from functools import partial

from readagent_core.answering.limits import memory_let_in
from readagent_core.companion.marks import NO_MARKS, PlacedMarks, placed_marks
from readagent_core.export.memory import export_memory
from readagent_core.library.records import Gisting
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace
from readagent_core.world.storage import load_world


def memory_to_export(workspace: Workspace, gisting: Gisting, *, whole: bool = False) -> GistMemory:
    """Return what an export has: the pages that the spoiler limit lets in, or the ``whole`` memory."""
    return workspace.library.memory(gisting.id) if whole else memory_let_in(workspace.library, gisting.id)


def export_gisting(
    workspace: Workspace,
    gisting: Gisting,
    format: str,
    *,
    whole: bool = False,
    with_notes: bool = False,
    book_gist: str = "",
) -> bytes:
    """Return the gists with the pictures and the book's world as a file; see ``export_memory``.

    ``with_notes``: the person's highlights and notes too, in HTML and EPUB.
    """
    library, memory = workspace.library, memory_to_export(workspace, gisting, whole=whole)
    all_of_it = library.memory(gisting.id)
    marks = placed_marks(library, gisting.book_id, all_of_it.document) if with_notes else NO_MARKS
    if len(memory.pages) < len(all_of_it.pages):  # a mark on a later page is not one whose words were lost
        shown = len(memory.document.paragraphs)
        marks = PlacedMarks(tuple(mark for mark in marks.placed if mark.end.paragraph < shown))
    return export_memory(
        memory,
        format,
        partial(library.picture, all_of_it.document.id),
        marks=marks,
        book_gist=book_gist,
        cover=library.cover(gisting.book_id),
        known=load_world(library, gisting.id).as_of(len(memory.pages)),
    )
