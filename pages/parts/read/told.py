"""What the pages of a book tell of its world, as records for the browser (assets/protocol.d.ts)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pages.parts.read.book_text import whole_places
from pages.parts.shared.memory_view import utf16_offset
from readagent_core.document import Document
from readagent_core.world.as_of import HAPPENS, World
from readagent_core.world.identity import LinkBy, NameAt
from readagent_core.world.mentions import spellings
from readagent_core.world.names import has_name, is_description, name_key
from readagent_core.world.notes import Note, NoteKind
from readagent_core.world.times import in_order_of_time


@dataclass
class Told:
    """What one page tells, as the browser takes it: ``NameRecord``, ``NoteRecord`` and ``LinkRecord`` of protocol.d.ts.

    ``events``: for each note what a timeline needs to put it in the order of time, None for what is no event.
    """

    names: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    events: list[tuple[tuple[int, int, int], str] | None] = field(default_factory=list)


_told: WeakKeyDictionary[World, dict[str, list[Told]]] = WeakKeyDictionary()


def told_by_page(world: World, document: Document) -> list[Told]:
    """What each page tells, page 1 first; what comes after the last page is a page of its own."""
    known = _told.setdefault(world, {})
    if document.id not in known:
        known[document.id] = _records(world, document)
    return known[document.id]


def _records(world: World, document: Document) -> list[Told]:
    memory = world.memory
    places = whole_places(memory.document, document)
    told = [Told() for _ in range(len(memory.pages) + 1)]

    def page_of(paragraph: int) -> Told:
        page = memory.page_at(paragraph)
        return told[page.number - 1 if page else -1]

    def whole(paragraph: int) -> int:
        return places[min(paragraph, len(places) - 1)][0]

    def offset(paragraph: int, at: int) -> int:
        return places[paragraph][1] + utf16_offset(memory.document.paragraphs[paragraph].text, at)

    noted: defaultdict[str, set[int]] = defaultdict(set)
    for made in world.notes.values():
        for note in made.notes:
            noted[name_key(note.name)].add(note.page)
    for name in world.names.values():
        page_of(name.paragraph).names.append(_name(name, whole(name.paragraph), noted[name.key]))
    for made in world.notes.values():
        for note in made.notes:
            page = page_of(note.known_from)
            page.notes.append(_note(note, whole(note.known_from), whole(note.paragraph), offset))
            happens = note.kind in HAPPENS
            page.events.append(((note.paragraph, note.start, note.end), note.when) if happens else None)
    for link in world.links:
        told_so = {"told": 1} if link.by in (LinkBy.TEXT, LinkBy.MODEL) else {}
        record = {"a": name_key(link.name), "b": name_key(link.other), "from": whole(link.paragraph), **told_so}
        page_of(link.paragraph).links.append(record)
    return told


def _name(name: NameAt, paragraph: int, pages: set[int]) -> dict[str, Any]:
    spelled = sorted(spellings(name.name))
    record: dict[str, Any] = {"of": name.key, "kind": name.kind.value, "name": name.name, "from": paragraph}
    if spelled != [name.name]:
        record["spelled"] = spelled
    if is_description(name.name) and not name.by_rule:
        record["pages"] = sorted(pages)
        if not has_name(name.name):
            record["nameless"] = 1
    return record


def _note(note: Note, known_from: int, paragraph: int, offset: Callable[[int, int], int]) -> dict[str, Any]:
    optional = {"time": note.when, "other": note.other if note.kind in (NoteKind.RELATED, NoteKind.SAME) else ""}
    return {
        "of": [name_key(note.name)],
        "page": note.page,
        "kind": note.kind.value,
        "text": note.says,
        "from": known_from,
        "at": [paragraph, offset(note.paragraph, note.start)],
        "end": offset(note.paragraph, note.end),
    } | {name: value for name, value in optional.items() if value}


def names_until(name: dict[str, Any], last: int) -> dict[str, Any]:
    return name | {"pages": [n for n in name["pages"] if n <= last]} if "pages" in name else name


_orders: WeakKeyDictionary[World, dict[int, list[int]]] = WeakKeyDictionary()


def order_of_time(world: World, told: Sequence[Told]) -> list[int]:
    """The events of the first pages in the order of time, as numbers of notes; [] where it is the order of telling."""
    known = _orders.setdefault(world, {})
    if len(told) not in known:
        known[len(told)] = _order_of(told)
    return known[len(told)]


def _order_of(told: Sequence[Told]) -> list[int]:
    events = [event for page in told for event in page.events]
    as_told = sorted((event[0], number, event[1]) for number, event in enumerate(events) if event is not None)
    order = in_order_of_time([when for _, _, when in as_told])
    return [] if order == sorted(order) else [as_told[i][1] for i in order]
