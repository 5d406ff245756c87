"""About whom a note is, where a page names somebody by a description, two at once, or by a name that passes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from readagent_core.memory import Page
from readagent_core.words import is_unspaced
from readagent_core.world.identity import is_married_name
from readagent_core.world.names import (
    ARTICLE,
    INDEFINITE,
    OF_SOMEBODY,
    EntityKind,
    has_name,
    name_key,
    split_persons,
)
from readagent_core.world.notes import Note, NoteKind, PageNotes

_FAR = 6_000  # words after which 'the old woman' may be another one


def notes_of_persons(notes: Mapping[int, PageNotes], pages: Sequence[Page]) -> dict[int, PageNotes]:
    """Return the notes, by page, each about one person.

    A note about 'John and Mary Grey' becomes two. 'A young man' of each page is another person, 'a young man (p. 16)',
    and so is 'her mother'; 'the young man' after him is the one who was met last, unless that was long ago. Who becomes
    'Mrs Grey' when there was one before is another Mrs Grey.
    """
    called = _Called(pages)
    found: dict[int, PageNotes] = {}
    for page in sorted(notes):
        told = sorted(_of_each_person(notes[page].notes), key=lambda note: (note.paragraph, note.start))
        found[page] = replace(notes[page], notes=tuple(map(called.renamed, told)))
    return found


@dataclass
class _Met:
    """How one of a description is called, since which page, and on which page last."""

    name: str
    since: int
    last: int


class _Called:
    """What everybody is called so far."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._ends = dict(enumerate(accumulate((page.words for page in pages), initial=0)))
        self._met: dict[str, _Met] = {}
        self._wives: dict[str, _Met] = {}  # by the names of those who are called 'Mrs'

    def renamed(self, note: Note) -> Note:
        if note.entity != EntityKind.PERSON:
            return note
        name, other = (self._name(called, note) if called else "" for called in (note.name, note.other))
        return replace(note, name=name, other=other)

    def _name(self, name: str, note: Note) -> str:
        if is_married_name(name):
            return self._married(name, note)
        if has_name(name):
            return name
        article = INDEFINITE.match(name) or OF_SOMEBODY.match(name)
        key = name_key(name if not article or article.re is OF_SOMEBODY else name[article.end() :])
        met = self._met.setdefault(key, _Met(name, note.page, note.page))
        if (article and met.since != note.page) or (not article and _is_common(name) and self._is_far(met, note.page)):
            met = self._met[key] = _Met(f"{name} (p. {note.page})", note.page, note.page)
        met.last = note.page
        return met.name

    def _married(self, name: str, note: Note) -> str:
        wife = self._wives.setdefault(name_key(name), _Met(name, note.page, note.page))
        who = note.other if name == note.name else note.name
        if note.kind == NoteKind.SAME and has_name(who) and not is_married_name(who) and wife.since < note.page:
            wife = self._wives[name_key(name)] = _Met(f"{name} (p. {note.page})", note.page, note.page)
        return wife.name

    def _is_far(self, met: _Met, page: int) -> bool:
        return self._ends.get(page - 1, 0) - self._ends.get(met.last, 0) > _FAR


def _is_common(name: str) -> bool:
    """Whether a description has common words alone: 'the old woman', unlike 'the man from Hepburn'."""
    return not is_unspaced(name) and ARTICLE.sub("", name.strip()).islower()


def _of_each_person(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield each note; one whose name is that of two persons once for each."""
    for note in notes:
        names = split_persons(note.name) if note.entity == EntityKind.PERSON else (note.name,)
        yield from (note if name == note.name else replace(note, name=name) for name in names)
