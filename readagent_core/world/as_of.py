"""A book's world as of any place: who is known, what was told of them, how they are related and what happened.

``World.as_of`` is a pure function of the notes and names up to the place: what later pages tell cannot change it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from readagent_core.memory import GistMemory
from readagent_core.short_repr import short_repr
from readagent_core.world.identity import Edit, EditKind, Groups, Link, LinkBy, NameAt, join_names
from readagent_core.world.mentions import Mention, find_mentions
from readagent_core.world.names import (
    EntityKind,
    find_names,
    has_name,
    is_description,
    name_key,
    name_worth,
)
from readagent_core.world.notes import Note, NoteKind, PageNotes
from readagent_core.world.persons import notes_of_persons
from readagent_core.world.times import in_order_of_time

HAPPENS = frozenset({NoteKind.DOES, NoteKind.DIES, NoteKind.MOVES})
_CACHED_PLACES = 64


class Order(StrEnum):
    """The order of a timeline: of telling, or of time."""

    TOLD = "told"
    TIME = "time"


@dataclass(frozen=True)
class Line:
    """A line of a card: what ``page`` tells, with the words it rests on.

    ``name``: what the page calls the one it is about; ``entity``: its id. ``other``: the name at the other end of a
    relation or identity, ``other_entity`` its id where it is known.
    """

    page: int
    paragraph: int
    start: int
    end: int
    kind: NoteKind
    says: str
    name: str
    entity: str
    other: str = ""
    other_entity: str = ""
    when: str = ""


@dataclass(frozen=True)
class OtherName:
    """Another name of an entity, joined with it from ``page`` on."""

    name: str
    page: int
    paragraph: int


@short_repr
@dataclass(frozen=True)
class Entity:
    """Somebody or something in the book, as known at a place.

    ``id``: of the name that was known first; an id of any of its names finds it (``Known.entity``). ``also``: other
    names known by then. ``first``: where it is named first, None for a name that stands nowhere as it is written.
    ``pages``: (page, mentions up to the place) for each page that names it. ``lines``: what was told, newest last.
    ``by_rule``: found without a model, so nothing is told of it.
    """

    id: str
    kind: EntityKind
    name: str
    also: tuple[OtherName, ...] = ()
    first: Mention | None = None
    pages: tuple[tuple[int, int], ...] = ()
    lines: tuple[Line, ...] = ()
    by_rule: bool = False

    @property
    def mentions(self) -> int:
        return sum(count for _, count in self.pages)

    @property
    def is_met_once(self) -> bool:
        """Whether this is a person without a name of whom one page tells: somebody passing, or not known again yet."""
        if self.kind != EntityKind.PERSON or self.by_rule or len({line.page for line in self.lines}) > 1:
            return False
        return not any(map(has_name, (self.name, *(other.name for other in self.also))))


class Known:
    """What is known of a book's world up to paragraph ``paragraph``, on page ``page``.

    ``without_notes``: the pages up to there whose notes are not made yet; ``failed``: those whose notes could not be
    made. ``ids``: the id of the entity of each name key. ``entities`` are put together when they are asked for; one
    alone takes a moment.
    """

    def __init__(self, world: World, page: int, paragraph: int) -> None:
        self.page, self.paragraph = page, paragraph
        self._world = world
        pages = range(1, min(page, len(world.memory.pages)) + 1)
        self.without_notes = tuple(n for n in pages if n not in world.notes)
        self.failed = tuple(n for n in pages if n in world.notes and world.notes[n].failed)
        groups = Groups()
        known = [name for name in world.names.values() if name.paragraph <= paragraph]
        for name in known:
            groups.add(name.key)
        self.links = tuple(link for link in world.links if link.paragraph <= paragraph)
        for link in self.links:
            groups.join(name_key(link.name), name_key(link.other))
        self.ids: Mapping[str, str] = {name.key: groups.first(name.key) for name in known}
        self._names: defaultdict[str, list[NameAt]] = defaultdict(list)
        for name in known:
            self._names[self.ids[name.key]].append(name)
        self._made: dict[str, Entity] = {}

    def __repr__(self) -> str:
        return f"Known(page={self.page}, paragraph={self.paragraph}, names={len(self.ids)})"

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """Everybody and everything known, those who are named most first."""
        found = map(self._entity, self._names)
        return tuple(sorted(found, key=lambda e: (-e.mentions, -len(e.lines), e.first.paragraph if e.first else -1)))

    def _entity(self, id: str) -> Entity:
        if id not in self._made:
            self._made[id] = self._world.make_entity(self, id, self._names[id])
        return self._made[id]

    def of_kind(self, kind: EntityKind) -> tuple[Entity, ...]:
        return tuple(entity for entity in self.entities if entity.kind == kind)

    @property
    def people(self) -> tuple[Entity, ...]:
        """Return the persons with a name, or of whom several pages tell."""
        return tuple(entity for entity in self.of_kind(EntityKind.PERSON) if not entity.is_met_once)

    @property
    def met_once(self) -> tuple[Entity, ...]:
        """Return the other persons; each may be one of those above whom the text has not named there."""
        return tuple(entity for entity in self.of_kind(EntityKind.PERSON) if entity.is_met_once)

    def entity(self, name: str) -> Entity | None:
        """Return the entity with this name or id; None for one that is not known here."""
        id = self.ids.get(name_key(name), self.ids.get(name, ""))
        return self._entity(id) if id else None

    @cached_property
    def relations(self) -> tuple[Line, ...]:
        """Who is related to whom, in the order of telling."""
        found = (line for e in self.entities for line in e.lines if line.kind == NoteKind.RELATED and line.other)
        return tuple(sorted(found, key=_place_of_line))

    def timeline(self, by: Order = Order.TOLD) -> tuple[Line, ...]:
        """Return what happened, in the order of telling or of time.

        By time, what is told of an earlier time stands there, and what has no time follows the one before it.
        """
        lines = sorted((ln for e in self.entities for ln in e.lines if ln.kind in HAPPENS), key=_place_of_line)
        if by == Order.TOLD:
            return tuple(lines)
        return tuple(lines[i] for i in in_order_of_time([line.when for line in lines]))


def _place_of_line(line: Line) -> tuple[int, int, int]:
    return line.paragraph, line.start, line.end


class World:
    """The world of a book as its notes have it. Immutable; ``storage.load_world`` makes one of what is stored.

    ``notes``: by page number. Names by rule stand for the pages without notes.
    """

    def __init__(
        self,
        memory: GistMemory,
        notes: Mapping[int, PageNotes],
        *,
        links: Sequence[Link] = (),
        edits: Sequence[Edit] = (),
    ) -> None:
        self.memory = memory
        self.notes = notes_of_persons(notes, memory.pages)
        self.edits = tuple(edits)
        self._no_names = {name_key(edit.name) for edit in edits if edit.kind == EditKind.NOT_A_NAME}
        self._notes_of: defaultdict[str, list[Note]] = defaultdict(list)
        self.names: dict[str, NameAt] = {}
        for name in sorted(self._all_names(), key=lambda name: name.paragraph):
            if name.key and name.key not in self._no_names:
                self.names.setdefault(name.key, name)
        said = [note for made in self.notes.values() for note in made.notes]
        for note in sorted(said, key=lambda note: (note.paragraph, note.start)):
            self._notes_of[name_key(note.name)].append(note)
        of_text = [
            Link(n.name, n.other, n.page, n.known_from, n.start, n.end, LinkBy.TEXT)
            for n in said
            if n.kind == NoteKind.SAME
        ]
        self.links = join_names(list(self.names.values()), [*of_text, *links], edits)
        self.as_of = lru_cache(maxsize=_CACHED_PLACES)(self._as_of)

    def _all_names(self) -> Iterable[NameAt]:
        for made in self.notes.values():
            for note in made.notes:
                yield NameAt(name_key(note.name), note.name, note.entity, note.known_from)
                if note.kind == NoteKind.SAME:
                    yield NameAt(name_key(note.other), note.other, note.entity, note.known_from)
        noted = {number for number, made in self.notes.items() if not made.failed}
        if len(noted) < len(self.memory.pages) or not self.memory.pages:
            for found in find_names(self.memory.document):
                page = self.memory.page_at(found.paragraph)
                if page is None or page.number not in noted:
                    yield NameAt(name_key(found.name), found.name, found.kind, found.paragraph, by_rule=True)

    @cached_property
    def _mentions(self) -> Mapping[str, tuple[Mention, ...]]:
        """Every mention of each name, by key. One in common words counts on pages whose notes have it only."""
        found = find_mentions(self.memory.document, {name.name: name.paragraph for name in self.names.values()})
        mentions: dict[str, tuple[Mention, ...]] = {}
        for key, name in self.names.items():
            mentions[key] = found[name.name]
            if is_description(name.name) and not name.by_rule:
                pages = {note.page for note in self._notes_of[key]}
                mentions[key] = tuple(m for m in mentions[key] if self.page_number(m.paragraph) in pages)
        return mentions

    @cached_property
    def _mention_paragraphs(self) -> Mapping[str, list[int]]:
        return {key: [mention.paragraph for mention in mentions] for key, mentions in self._mentions.items()}

    @cached_property
    def _mention_pages(self) -> Mapping[str, list[int]]:
        page_of = [self.page_number(index) for index in range(len(self.memory.document.paragraphs))]
        return {key: [page_of[index] for index in indexes] for key, indexes in self._mention_paragraphs.items()}

    @cached_property
    def _paragraphs_in_order(self) -> list[int]:
        return [mention.paragraph for mention, _ in self._in_order]

    @cached_property
    def _in_order(self) -> list[tuple[Mention, str]]:
        pairs = ((mention, key) for key, mentions in self._mentions.items() for mention in mentions)
        return sorted(pairs, key=lambda pair: (pair[0].paragraph, pair[0].start))

    def known_from(self, name: str) -> int:
        """Return the paragraph from which a name is known; that after the last for one that never is."""
        known = self.names.get(name_key(name))
        return known.paragraph if known else len(self.memory.document.paragraphs)

    def page_number(self, paragraph: int) -> int:
        page = self.memory.page_at(paragraph)
        return page.number if page else len(self.memory.pages) + 1

    def last_paragraph(self, page: int) -> int:
        """Return the last paragraph of ``page``; -1 for page 0, the last of the text after the last page."""
        if page <= 0:
            return -1
        pages = self.memory.pages
        return pages[page - 1].end - 1 if page <= len(pages) else len(self.memory.document.paragraphs) - 1

    def _as_of(self, page: int, paragraph: int | None = None) -> Known:
        """Return what is known at the end of ``page``, or of ``paragraph`` on it, where that comes first."""
        last = self.last_paragraph(page)
        last = last if paragraph is None else min(last, paragraph)
        return Known(self, page, last)

    def make_entity(self, known: Known, id: str, names: Sequence[NameAt]) -> Entity:
        """Return the entity of these ``names``, as ``known`` has them joined."""
        last = known.paragraph
        notes = sorted(
            (n for name in names for n in self._notes_of[name.key] if n.known_from <= last),
            key=lambda note: (note.paragraph, note.start, note.end),
        )
        kinds = Counter(note.entity for note in notes)
        lines = dict.fromkeys(_line(note, id, known.ids) for note in notes)
        shown = max(names, key=lambda name: name_worth(name.name))
        joined: dict[str, int] = {}
        for link in known.links:
            if known.ids[name_key(link.name)] == id:
                for key in (name_key(link.name), name_key(link.other)):
                    joined.setdefault(key, link.paragraph)
        pages: Counter[int] = Counter()
        firsts: list[Mention] = []
        for name in names:
            mentions = self._mentions[name.key]
            count = bisect_right(self._mention_paragraphs[name.key], last)
            pages.update(self._mention_pages[name.key][:count])
            firsts += mentions[: min(count, 1)]
        return Entity(
            id=id,
            kind=kinds.most_common(1)[0][0] if kinds else names[0].kind,
            name=shown.name,
            also=tuple(
                OtherName(n.name, self.page_number(joined.get(n.key, n.paragraph)), joined.get(n.key, n.paragraph))
                for n in names
                if n is not shown
            ),
            first=min(firsts, key=lambda m: (m.paragraph, m.start), default=None),
            pages=tuple(sorted(pages.items())),
            lines=tuple(sorted(lines, key=_place_of_line)),
            by_rule=not notes and all(name.by_rule for name in names),
        )

    def mentions(self, known: Known, start: int, end: int) -> tuple[tuple[Mention, str], ...]:
        """Return where paragraphs ``start`` to ``end`` (exclusive) name someone who is ``known``, each with its id.

        None past the place of ``known``.
        """
        end = min(end, known.paragraph + 1)
        low = bisect_right(self._paragraphs_in_order, start - 1)
        high = bisect_right(self._paragraphs_in_order, end - 1)
        return tuple((mention, known.ids[key]) for mention, key in self._in_order[low:high] if key in known.ids)


def _line(note: Note, id: str, ids: Mapping[str, str]) -> Line:
    place = (note.page, note.paragraph, note.start, note.end)
    other = ids.get(name_key(note.other), "") if note.other else ""
    return Line(*place, note.kind, note.says, note.name, id, note.other, other, note.when)
