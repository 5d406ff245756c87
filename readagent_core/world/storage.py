"""The world of a book in the library: its notes and links by page, and the changes a person made to its names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from readagent_core.document import Document
from readagent_core.library import Library
from readagent_core.library.worlds import WorldKind
from readagent_core.memory import GistMemory
from readagent_core.plan import GistingPlan
from readagent_core.world.as_of import World
from readagent_core.world.identity import Edit, EditKind, Link
from readagent_core.world.notes import PageNotes

_CACHED_WORLDS = 4


def load_world(library: Library, gisting_id: int) -> World:
    """Return the world of a gisting as stored so far; the same object until something in it changes."""
    gisting = library.gisting(gisting_id)
    version = (gisting.changed, *library.world_version(gisting_id, gisting.book_id))
    return _load_world(library, gisting_id, gisting.book_id, version)


@lru_cache(maxsize=_CACHED_WORLDS)
def _load_world(library: Library, gisting_id: int, book_id: str, version: tuple[int | str, ...]) -> World:
    links = library.world_values(gisting_id, WorldKind.LINKS)
    return World(
        library.memory(gisting_id),
        load_notes(library, gisting_id),
        links=[Link.from_dict(link) for value in links.values() for link in value["links"]],
        edits=load_edits(library, book_id),
    )


def load_world_without_links_of(library: Library, gisting_id: int, page: int) -> World:
    """Return the world of a gisting without the links saved for ``page``: what a new comparison starts from."""
    world, links = load_world(library, gisting_id), library.world_values(gisting_id, WorldKind.LINKS)
    if not links.pop(page, {"links": []})["links"]:
        return world
    others = [Link.from_dict(link) for value in links.values() for link in value["links"]]
    return World(world.memory, world.notes, links=others, edits=world.edits)


def world_of_text(library: Library, book_id: str, document: Document) -> World:
    """Return the world of a text without gists: names by rule, no pages; the same object until an edit changes it."""
    return _world_of_text(document, load_edits(library, book_id))


@lru_cache(maxsize=_CACHED_WORLDS)
def _world_of_text(document: Document, edits: tuple[Edit, ...]) -> World:
    return World(GistMemory(document, GistingPlan(), (), ()), {}, edits=edits)


def load_notes(library: Library, gisting_id: int) -> Mapping[int, PageNotes]:
    values = library.world_values(gisting_id, WorldKind.NOTES)
    return {number: PageNotes.from_dict(value) for number, value in values.items()}


def save_notes(library: Library, gisting_id: int, page: int, notes: PageNotes) -> None:
    library.save_world_value(gisting_id, page, WorldKind.NOTES, notes.to_dict())


def save_links(library: Library, gisting_id: int, page: int, links: tuple[Link, ...]) -> None:
    """Save the links that the pages up to ``page`` show."""
    value = {"links": [link.to_dict() for link in links]}
    library.save_world_value(gisting_id, page, WorldKind.LINKS, value)


def load_edits(library: Library, book_id: str) -> tuple[Edit, ...]:
    return tuple(_edit(value, id) for id, value in library.name_edits(book_id))


def add_edit(library: Library, book_id: str, edit: Edit) -> Edit:
    """Save a change by hand and return it with its id; ``Library.remove_name_edit`` undoes it."""
    value = {name: value for name, value in asdict(edit).items() if name != "id"}
    return replace(edit, id=library.add_name_edit(book_id, value))


def _edit(value: Mapping[str, Any], id: int) -> Edit:
    return Edit(**{**value, "kind": EditKind(value["kind"]), "id": id})
