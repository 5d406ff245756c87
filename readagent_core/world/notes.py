"""Notes: what one page establishes of people, places, things and groups, each resting on words of that page.

A model writes a line for each note; ``parse_notes`` keeps those whose words stand in the page and drops the others. A
note counts from the paragraph by which everything it says was told (``Note.known_from``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from readagent_core.short_repr import short_repr
from readagent_core.world.names import EntityKind

MOST_WORDS = 15  # of what a note says
VERSION = 1


class NoteKind(StrEnum):
    """What a note says of a name."""

    IS = "is"
    DOES = "does"
    FEELS = "feels"
    KNOWS = "knows"
    DIES = "dies"
    MOVES = "moves"
    OWNS = "owns"
    RELATED = "related"  # to ``other``
    SAME = "same"  # ``other`` is another name of the same one: the page that says so reveals it


@dataclass(frozen=True)
class Note:
    """A fact of page ``page`` about ``name``, as the page calls it.

    ``paragraph``, ``start``, ``end``: the words it rests on, in the memory's document. ``says``: at most 15 words.
    ``entity``: what the name names. ``other``: the second name of a relation or an identity, else ''. ``when``: the
    time, where the page tells one. ``known_from``: the paragraph by which its words and every name in it were told; the
    note counts from there on.
    """

    page: int
    paragraph: int
    start: int
    end: int
    kind: NoteKind
    entity: EntityKind
    name: str
    says: str
    other: str = ""
    when: str = ""
    known_from: int = 0


@short_repr
@dataclass(frozen=True)
class PageNotes:
    """The notes of one page. ``dropped``: how many lines of the reply were not used. ``failed``: no usable reply came.

    ``model``: who made them.
    """

    notes: tuple[Note, ...] = ()
    dropped: int = 0
    failed: bool = False
    model: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PageNotes:
        """Return the notes that ``to_dict`` turned into ``data``. Raises ValueError for another version."""
        if data.get("version") != VERSION:
            raise ValueError(f"notes of version {data.get('version')!r}, not {VERSION}")
        notes = tuple(
            Note(**{**note, "kind": NoteKind(note["kind"]), "entity": EntityKind(note["entity"])})
            for note in data["notes"]
        )
        return cls(notes, data["dropped"], data["failed"], data["model"])
