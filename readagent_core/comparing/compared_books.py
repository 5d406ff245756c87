"""The text of a comparison: a book, or several as one text in their order, each as far as its spoiler limit lets in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from readagent_core.answering.library_shelf import LibraryShelf
from readagent_core.answering.limits import page_allowed
from readagent_core.answering.resources import Resources, workspace_resources
from readagent_core.comparing.comparison import ComparedBook
from readagent_core.errors import SettingsError
from readagent_core.gisting.job import memory_to_ask
from readagent_core.library.records import Gisting, Position
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace

MOST_WORDS = 1_000_000  # of several books together: every method is given all of them


@dataclass(frozen=True)
class ComparedText:
    """What the methods are given. ``memory``: of all ``books``, as far as their spoiler limits let in.

    ``shelf``: of several books, for zoom; None for one. ``all_pages``: of each book, those behind its limit too.
    ``left_out``: the titles of chosen books, by id, of which nothing may be seen; ``without_gists``: those of them that
    have none. ``finished``: the one book has all its gists.
    """

    books: tuple[ComparedBook, ...]
    memory: GistMemory
    all_pages: tuple[int, ...]
    resources: Resources
    shelf: LibraryShelf | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    without_gists: frozenset[str] = frozenset()
    finished: bool = True

    @property
    def limits(self) -> dict[str, int | None]:
        """How many paragraphs of each book may be seen, by its id."""
        return {book.id: book.paragraphs for book in self.books}


def spoiler_limit(
    workspace: Workspace, gisting: Gisting, memory: GistMemory, position: Position
) -> tuple[int | None, int | None]:
    """What a comparison may see of this reading now: its last page and the number of paragraphs of the whole text.

    The page is 0 where the limit keeps every page out. Both are None where it keeps nothing out.
    """
    whole = workspace.library.document(gisting.book_id, document_id=gisting.document_id)
    page = page_allowed(memory, whole, position)
    return page, None if page is None else position.allowed


def text_to_compare(workspace: Workspace, book_ids: Sequence[str]) -> ComparedText:
    """Return the text of these books. Books without gists that may be seen are left out of several.

    Raises NotInLibraryError where no book has gists, SettingsError where the books are too long together.
    """
    if len(book_ids) == 1:
        return _one(workspace, book_ids[0], workspace.library.position(book_ids[0]).on_screen)
    shelf = LibraryShelf(workspace, book_ids, workspace.model.name)
    shelf.check_gists(then="compare")
    readable = [book.id for book in shelf.books if book.pages]
    titles = {book.id: book.title for book in workspace.library.books()}
    left_out = {book_id: titles[book_id] for book_id in book_ids if book_id in titles and book_id not in readable}
    without = frozenset(book.id for book in shelf.books if not book.gisting_id)
    if len(readable) == 1:
        one = _one(workspace, readable[0], workspace.library.position(readable[0]))
        return replace(one, left_out=left_out, without_gists=without)
    if len(readable) < len(shelf.books):
        shelf = LibraryShelf(workspace, readable, workspace.model.name)
    words = sum(book.words for book in shelf.books)
    if words > MOST_WORDS:
        raise SettingsError(
            f"These books have {words:,} words together. Methods can be compared on at most {MOST_WORDS:,}: "
            "choose fewer books."
        )
    return replace(_several(workspace, shelf), left_out=left_out, without_gists=without)


def _one(workspace: Workspace, book_id: str, position: Position) -> ComparedText:
    gisting, memory = memory_to_ask(workspace, book_id, then="compare")
    page, paragraphs = spoiler_limit(workspace, gisting, memory, position)
    seen = memory if page is None else memory.up_to(page)
    return ComparedText(
        (ComparedBook(book_id, memory.document.title, len(seen.pages), paragraphs),),
        seen,
        (len(memory.pages),),
        workspace_resources(workspace, gisting.document_id),
        finished=memory.complete or bool(gisting.recorded),
    )


def _several(workspace: Workspace, shelf: LibraryShelf) -> ComparedText:
    library = workspace.library
    memories = [shelf.memory(book) for book in shelf.books]
    return ComparedText(
        tuple(
            ComparedBook(book.id, book.title, len(memory.pages), library.position(book.id).allowed if limited else None)
            for book, memory in zip(shelf.books, memories, strict=True)
            for limited in [book.up_to is not None]
        ),
        shelf.joined,
        tuple(library.gisting(book.gisting_id).pages for book in shelf.books),
        workspace_resources(workspace),
        shelf,
    )
