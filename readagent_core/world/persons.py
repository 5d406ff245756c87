"""About whom a note is, where a page names somebody by a description or two at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from readagent_core.world.names import INDEFINITE, OF_SOMEBODY, EntityKind, is_description, name_key, split_persons
from readagent_core.world.notes import Note, PageNotes


def notes_of_persons(notes: Mapping[int, PageNotes]) -> dict[int, PageNotes]:
    """Return the notes, by page, each about one person.

    A note about 'John and Mary Grey' becomes two. 'A young man' of each page is another person, 'a young man (p. 16)',
    and so is 'her mother'; 'the young man' of a later page is the one who was met last.
    """
    met: dict[str, tuple[str, int]] = {}  # how he is called, and since which page, by the words without an article

    def called(name: str, page: int) -> str:
        if not is_description(name):
            return name
        article = INDEFINITE.match(name) or OF_SOMEBODY.match(name)
        key = name_key(name if not article or article.re is OF_SOMEBODY else name[article.end() :])
        known, since = met.setdefault(key, ("", page))
        if article and since != page:
            known, _ = met[key] = (f"{name} (p. {page})", page)
        return known or name

    def renamed(note: Note) -> Note:
        if note.entity != EntityKind.PERSON:
            return note
        name = called(note.name, note.page)
        return replace(note, name=name, other=called(note.other, note.page) if note.other else "")

    found: dict[int, PageNotes] = {}
    for page in sorted(notes):
        told = sorted(_of_each_person(notes[page].notes), key=lambda note: (note.paragraph, note.start))
        found[page] = replace(notes[page], notes=tuple(map(renamed, told)))
    return found


def _of_each_person(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield each note; one whose name is that of two persons once for each."""
    for note in notes:
        names = split_persons(note.name) if note.entity == EntityKind.PERSON else (note.name,)
        yield from (note if name == note.name else replace(note, name=name) for name in names)
