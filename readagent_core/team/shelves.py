"""Shelves that somebody publishes for everybody on the server: read-only, for others to copy into their libraries.

A published shelf is a library of its own, in the server's folder ``shared``: the texts, pictures, original files and
gists of its books as they were when it was published. Notes, marks, questions and positions are not in it. Nobody opens
the library of anybody else, and nothing that a reader does changes what is published.
"""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from readagent_core.errors import LibraryError, NotInLibraryError
from readagent_core.incoming.opening import check_room
from readagent_core.library import Library
from readagent_core.library.records import Book
from readagent_core.team.people import Person
from readagent_core.workspace import Workspace

FOLDER, FILE = "shared", "shelf.json"
_DRAFT = ".new"  # the ending of a folder that is not complete yet


@dataclass(frozen=True)
class SharedBook:
    """``id``: in the shelf's library. ``pages``: of the gisting that is copied with it; 0 without one."""

    id: str
    document_id: str
    title: str
    author: str
    pages: int


@dataclass(frozen=True)
class SharedShelf:
    """``owner``: the id of whoever published it, ``by`` their name. ``published``: seconds since 1970."""

    id: str
    name: str
    owner: str
    by: str
    published: float
    books: tuple[SharedBook, ...]


def shared_shelves(home: Path) -> list[SharedShelf]:
    """The published shelves, newest first. ``home``: the server's."""
    found = []
    for path in (home / FOLDER).glob(f"*/{FILE}"):
        if path.parent.suffix != _DRAFT:
            values = json.loads(path.read_text(encoding="utf-8"))
            found.append(SharedShelf(**{**values, "books": tuple(SharedBook(**book) for book in values["books"])}))
    return sorted(found, key=lambda shelf: -shelf.published)


def publish(library: Library, shelf: str, person: Person, home: Path) -> SharedShelf:
    """Publish a shelf of the person's ``library``, in place of an earlier one of the same name of theirs."""
    earlier = [one for one in shared_shelves(home) if (one.owner, one.name) == (person.id, shelf)]
    shelf_id = secrets.token_hex(6)
    folder = home / FOLDER / f"{shelf_id}{_DRAFT}"
    folder.mkdir(parents=True, mode=0o700)
    try:
        copies, books = Library(folder), []
        for book_id in library.books_on_shelf(shelf):
            copy = _copy(library, book_id, copies)
            pages = max((gisting.pages for gisting in copies.gistings(copy.id)), default=0)
            books.append(SharedBook(copy.id, copy.document_id, copy.title, copy.author, pages))
        copies.close()
        if not books:
            raise LibraryError(f"The shelf “{shelf}” has no books. Put some on it, then publish it.")
        published = SharedShelf(shelf_id, shelf, person.id, person.name, time.time(), tuple(books))
        (folder / FILE).write_text(json.dumps(asdict(published)), encoding="utf-8")
        folder.rename(folder.with_suffix(""))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _remove(earlier, home)
    return published


def withdraw(shelf_id: str, person: Person, home: Path) -> None:
    """Remove a published shelf; copies that people made stay theirs. Only its owner and administrators may."""
    shelf = _shelf(shelf_id, home)
    if shelf.owner != person.id and not person.admin:
        raise LibraryError("Only whoever published a shelf, and administrators, can withdraw it.")
    _remove([shelf], home)


def copy_book(shelf_id: str, book_id: str, workspace: Workspace, home: Path) -> Book:
    """Copy a book of a published shelf into the library of ``workspace``, and return it there. Raises LimitError."""
    shelf = _shelf(shelf_id, home)
    if book_id not in {book.id for book in shelf.books}:
        raise NotInLibraryError("This book is not on the shelf any more.")
    source = Library(home / FOLDER / shelf.id)
    try:
        check_room(workspace, source.original_size(book_id) + 3 * len(source.document(book_id).text().encode()))
        return _copy(source, book_id, workspace.library)
    finally:
        source.close()


def _copy(source: Library, book_id: str, target: Library) -> Book:
    """Copy text, pictures, cover, original file and newest gisting. The copy knows nothing of the file it came from:
    by the same file name it would become a new version of another book."""
    document = source.document(book_id)
    pictures = (source.picture(document.id, figure.picture) for figure in document.figures if figure.picture)
    whole = replace(document, cover=source.cover(book_id), pictures=tuple(filter(None, pictures)))
    book = target.add(whole)
    gisting = next((one for one in source.gistings(book_id) if one.pages), None)
    if gisting is not None and gisting.document_id == document.id:
        memory = source.memory(gisting.id)
        paragraphs = [paragraph.text for paragraph in target.document(book.id).paragraphs]
        # pages count paragraphs, and neither a text nor a gisting in a library is ever replaced
        same_text = paragraphs == [paragraph.text for paragraph in document.paragraphs]
        known = any(one.model == memory.model and one.plan.key == memory.plan.key for one in target.gistings(book.id))
        if same_text and not known:
            target.add_memory(book.id, memory)
    original = source.original_path(book_id)
    if original is not None and target.original_path(book.id) is None:
        target.keep_original(book.id, original.name, original.read_bytes())
    return book


def _shelf(shelf_id: str, home: Path) -> SharedShelf:
    found = next((shelf for shelf in shared_shelves(home) if shelf.id == shelf_id), None)
    if found is None:
        raise NotInLibraryError("This shelf is not published any more.")
    return found


def _remove(shelves: Iterable[SharedShelf], home: Path) -> None:
    for shelf in shelves:
        shutil.rmtree(home / FOLDER / shelf.id, ignore_errors=True)
