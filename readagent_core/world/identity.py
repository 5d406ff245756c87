"""Who is the same as whom: names joined by rule, by the text, by a model or by hand, each join with its place.

A join holds from the paragraph that reveals it on, and never before. Names are joined in the order in which they
become known, so that a later name cannot change what was joined before it. A split by hand keeps two names apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from readagent_core.words import is_unspaced
from readagent_core.world.names import (
    CALLINGS,
    HONORIFIC,
    KIN,
    MARRIED,
    PAGE_OF_NAME,
    TITLE,
    TITLE_FORMS,
    EntityKind,
    is_description,
    name_key,
)


class LinkBy(StrEnum):
    """Who joined two names."""

    RULE = "rule"  # one is a part of the other
    TEXT = "text"  # a note of the page that says so
    MODEL = "model"  # a model that compared the names
    HAND = "hand"


@dataclass(frozen=True)
class Link:
    """Says that ``name`` and ``other`` are the same person, place or thing.

    It is known from ``paragraph`` of ``page`` on. ``start`` and ``end``: where the words that say so begin and end in
    that paragraph; equal where no words do.
    """

    name: str
    other: str
    page: int
    paragraph: int
    start: int = 0
    end: int = 0
    by: LinkBy = LinkBy.RULE

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Link:
        return cls(**{**data, "by": LinkBy(data["by"])})


class EditKind(StrEnum):
    """What a person changed by hand."""

    JOIN = "join"
    SPLIT = "split"
    NOT_A_NAME = "not-a-name"


@dataclass(frozen=True)
class Edit:
    """A change by hand: ``name`` and ``other`` are one from ``paragraph`` on, or are two, or ``name`` is no name.

    ``id``: in the library, by which it is undone.
    """

    kind: EditKind
    name: str
    other: str = ""
    paragraph: int = 0
    id: int = 0


@dataclass(frozen=True)
class NameAt:
    """A name, known from ``paragraph`` on."""

    key: str
    name: str
    kind: EntityKind
    paragraph: int
    by_rule: bool = False


def join_names(names: Sequence[NameAt], links: Iterable[Link], edits: Iterable[Edit]) -> tuple[Link, ...]:
    """Return the links that hold, in the order of their places, with those by rule among them.

    ``names``: in the order in which they become known.
    """
    edits = tuple(edits)
    apart = [{name_key(e.name), name_key(e.other)} for e in edits if e.kind == EditKind.SPLIT]
    by_hand = [Link(e.name, e.other, 0, e.paragraph, by=LinkBy.HAND) for e in edits if e.kind == EditKind.JOIN]
    groups = Groups()
    known: dict[str, NameAt] = {}
    by_end: defaultdict[str, list[str]] = defaultdict(list)  # keys by how the names begin and end
    found: list[Link] = []

    def join(link: Link) -> None:
        one, other = name_key(link.name), name_key(link.other)
        if one in known and other in known and not groups.same(one, other):
            if link.by != LinkBy.HAND and any(groups.would_join(pair, one, other) for pair in apart):
                return
            groups.join(one, other)
            found.append(link)

    steps: list[tuple[int, int, NameAt | Link]] = [(name.paragraph, 0, name) for name in names]
    steps += [(link.paragraph, 1, link) for link in (*links, *by_hand)]
    for paragraph, _, step in sorted(steps, key=lambda step: step[:2]):
        if isinstance(step, Link):
            join(step)
            continue
        near = dict.fromkeys(key for end in name_ends(step.name) for key in by_end[end])
        variants = sorted((k for k in near if are_variants(step, known[k])), key=lambda k: -len(known[k].name))
        others = {groups.first(key) for key in near if are_two(step.name, known[key].name)}
        fitting: dict[str, NameAt] = {}
        by_first: dict[str, NameAt] = {}  # 'Vane' is the one who is called 'Mr Vane' before another of the family
        for key in variants:
            first = groups.first(key)
            if first not in others:
                fitting.setdefault(first, known[key])
                if begin_alike(step.name, known[key].name):
                    by_first.setdefault(first, known[key])
        fitting = by_first or fitting
        known[step.key] = step
        for end in name_ends(step.name):
            by_end[end].append(step.key)
        groups.add(step.key)
        if len(fitting) == 1:
            (other,) = fitting.values()
            join(Link(step.name, other.name, 0, paragraph))
    return tuple(found)


class Groups:
    """Names joined into groups; ``first`` returns the name of a group that was added first."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._order: dict[str, int] = {}

    def add(self, key: str) -> None:
        if key not in self._first:
            self._first[key] = key
            self._order[key] = len(self._order)

    def first(self, key: str) -> str:
        while self._first[key] != key:
            key = self._first[key]
        return key

    def join(self, one: str, other: str) -> None:
        low, high = sorted((self.first(one), self.first(other)), key=self._order.__getitem__)
        self._first[high] = low

    def same(self, one: str, other: str) -> bool:
        return self.first(one) == self.first(other)

    def would_join(self, pair: set[str], one: str, other: str) -> bool:
        """Whether joining ``one`` and ``other`` would put the two names of ``pair`` into one group."""
        ends = {self.first(key) for key in pair if key in self._first}
        return len(ends) == 2 and ends == {self.first(one), self.first(other)}


def name_ends(name: str) -> set[str]:
    """Return the first and the last word of a name without its title; characters in scripts without spaces.

    Names of which one is a part of the other have one of them in common.
    """
    bare = split_title(name)[1]
    parts = list(bare) if is_unspaced(bare) else bare.split()
    return {parts[0], parts[-1]} if parts else set()


def are_variants(one: NameAt, other: NameAt) -> bool:
    """Whether one name of a person is a part of the other: 'Tilda' of 'Tilda Vane', '佐伯' of '佐伯良平'.

    'Mr Vane' may be another than 'Ambrose Vane': a title and a first name do not tell.
    """
    if {one.kind, other.kind} != {EntityKind.PERSON} or any(
        PAGE_OF_NAME.search(name) or (is_description(without_title(name)) and not is_unspaced(name))
        for name in (one.name, other.name)
    ):
        return False
    (title, bare), (other_title, other_bare) = split_title(one.name), split_title(other.name)
    if not _fit_titles(title, other_title) or (MARRIED in (title, other_title) and title != other_title):
        return False  # 'Mrs Tom Fry' is not Tom Fry
    if bare == other_bare:
        return True
    short, long = sorted((bare, other_bare), key=len)
    if is_unspaced(long):
        titled = HONORIFIC.search(one.name if bare == short else other.name)
        rest = long.removeprefix(short)  # '遥の母' and '宝玉的母亲' are not '遥' and '宝玉'
        is_part = (rest != long and rest[:1] not in "の的之") or long.endswith(short)
        return bool(short) and not titled and short not in KIN and is_part  # '母' is not '祖母'
    parts, words = short.split(), long.split()
    if not parts or (bool(title) != bool(other_title) and len(parts) == 1 and not set(parts) <= {words[0]}):
        return False
    return len(parts) < len(words) and (words[: len(parts)] == parts or words[-len(parts) :] == parts)


def are_two(one: str, other: str) -> bool:
    """Whether two names cannot be of one person, by what they have in common.

    A surname with first names of which none stands for the other, as 'A.' for 'Ann'; a first name with two surnames;
    a surname with 'Mr' and with 'Mrs', or with a title but 'Mr' where the other has a first name and none ('Miss Vane'
    may be a sister).
    """
    (title, bare), (other_title, other_bare) = split_title(one), split_title(other)
    words, others = bare.split(), other_bare.split()
    if not words or not others or is_unspaced(bare) or not {words[0], words[-1]} & {others[0], others[-1]}:
        return False
    if words[-1] != others[-1]:
        return len(words) > 1 and len(others) > 1 and words[0] == others[0] and words[1] != others[1]
    if not _fit_titles(title, other_title):
        return True
    if len(words) > 1 and len(others) > 1:
        return not (words[0].startswith(others[0]) or others[0].startswith(words[0]))
    if len(words) == len(others) or bool(title) == bool(other_title) or len(words if title else others) > 1:
        return False
    return (title or other_title) not in {"mr", *CALLINGS}


def begin_alike(one: str, other: str) -> bool:
    """Whether two names have their first word in common, titles not counted."""
    return split_title(one)[1].split()[:1] == split_title(other)[1].split()[:1]


def _fit_titles(one: str, other: str) -> bool:
    """Whether one person may have both titles: 'Mr' and 'lawyer', but not 'Mr' and 'Dr', who may be father and son."""
    return not one or not other or one == other or ({one, other} - CALLINGS == {"mr"})


def is_married_name(name: str) -> bool:
    """Whether somebody is called so by marriage: 'Mrs Grey', of whom there may be one after the other."""
    return split_title(name)[0] == MARRIED


def without_title(name: str) -> str:
    return TITLE.sub("", name)


@lru_cache(maxsize=20_000)
def split_title(name: str) -> tuple[str, str]:
    """Return the title of a name and the rest, both as ``name_key`` writes them."""
    found = TITLE.match(name)
    title = name_key(found.group()) if found else ""
    title = TITLE_FORMS.get(title, title)
    return title, name_key(name[found.end() :] if found else name)
