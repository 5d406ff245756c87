"""Who is who in what a person has read of a book: people, and a few places, each with what was told of them and where.

Every name is looked for in the text up to the person's place: one that does not occur there is dropped. The first and
the last page of a name are found in the text, not taken from the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from readagent_core.companion.place import ReadingPlace
from readagent_core.companion.recap import WHO_IS_WHO, keep_inside, start
from readagent_core.errors import SettingsError
from readagent_core.jobs import Job
from readagent_core.words import CJK, collapse_whitespace
from readagent_core.workspace import Workspace

PERSON, PLACE = "person", "place"
NEEDS_MODEL = "Who is who is told by a language model: word statistics do not know whom a name means. Connect a model."
_HEADING = re.compile(
    r"^[\s>#*_【\[]*(?:(?P<people>people|characters|persons|人物|登場人物)|(?P<places>places|場所))[\s】\]*_]*[:：]?[\s*_]*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•・]\s+|\d{1,2}[.)、．]\s*)?")
_LINE = re.compile(r"^\|?\s*(?P<name>[^|｜]{1,120}?)\s*[|｜]\s*(?P<told>.+?)\s*\|?$")
_COLON = re.compile(r"^(?P<name>[^:：。\[]{1,80}?)\s*(?:[:：]|\s[–—-]\s)\s*(?P<told>.*\[.+)$")
_ALSO = re.compile(
    r"^(?P<name>.+?)\s*[(（]\s*(?:also(?:\s+called)?|aka|別名|ほか)?\s*[:：]?\s*(?P<also>[^()（）]+)[)）]\s*$", re.I
)
_SEPARATOR = re.compile(r"\s*(?:[,;、，；]|\bor\b|\band\b)\s*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NARRATOR = re.compile(r"^(?:the )?narrator\b|^I$|^語り手|^(?:私|わたし|僕|ぼく|俺)$", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\bI\b|私|わたし|僕|ぼく|俺")
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mister|Master|Uncle|Aunt|Cousin|Dr|Captain|Capt|Constable|Inspector|Sergeant|Colonel|Major|Lady"
    r"|Lord|Sir|Cllr|Professor)\.?\s+"
)
_TITLED = re.compile(f"^{_TITLE}")
_HONORIFIC = re.compile(r"(?:さん|さま|様|氏|君|くん|先生|ちゃん)$")
_CJK = re.compile(f"[{CJK}]")


@dataclass(frozen=True)
class Person:
    """A person, or a place (``kind``). ``told``: who it is, with page marks.

    ``first`` and ``last``: the first and last page with the name; 0 where it is on no page as it is written.
    """

    name: str
    told: str
    kind: str = PERSON
    also: tuple[str, ...] = ()
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class Cast:
    """``dropped``: names of a reply that the text does not have. ``removed``: claims that named no page read so far."""

    people: tuple[Person, ...]
    dropped: tuple[str, ...] = ()
    removed: int = 0


def who_is_who(workspace: Workspace, book_id: str, *, gisting_id: int, use_cache: bool = True) -> Job:
    """Start to list who is who up to the person's place; as ``recap``. ``parse_cast`` reads the text that is made.

    Raises SettingsError, too, where no language model is connected.
    """
    if not workspace.model.is_language_model:
        raise SettingsError(NEEDS_MODEL)
    return start(workspace, book_id, WHO_IS_WHO, gisting_id=gisting_id, use_cache=use_cache)


# --- what a reply says ----------------------------------------------------------------------------------


def parse_cast(text: str, place: ReadingPlace) -> Cast:
    """The people and places of a reply that the text up to ``place`` names, with what pages up to it tell of them."""
    names = _Names(place)
    people: list[Person] = []
    dropped: list[str] = []
    removed = 0
    for kind, name, also, told in _lines(text):
        same = next((i for i, person in enumerate(people) if _same_name(name, person.name)), None)
        if same is not None:
            if name != people[same].name and names.has(name):
                people[same] = replace(people[same], also=(*people[same].also, name))
            continue
        if not names.has(name):
            dropped.append(name)
            continue
        told, lost = keep_inside(told, range(1, place.page + 1))
        removed += lost
        if not re.search(r"\w", told):
            continue
        known = tuple(a for a in also if a.casefold() != name.casefold() and names.has(a))
        people.append(Person(name, told, kind, known))
    return Cast(tuple(names.with_pages(person, people) for person in people), tuple(dropped), removed)


def _lines(text: str) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Yield kind, name, other names and the rest of every line of the form that was asked for, or near to it."""
    kind = PERSON
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            kind = PLACE if heading.group("places") else PERSON
            continue
        plain = _BULLET.sub("", line, count=1).replace("**", "").replace("__", "").strip()
        found = _LINE.match(plain) or _COLON.match(plain)
        if not found or not re.search(r"\w", found.group("told")) or found.group("name").casefold() in ("name", "名前"):
            continue
        name = found.group("name").strip(' *_"“”「」')
        also: tuple[str, ...] = ()
        several = _ALSO.match(name)
        if several:
            name = several.group("name").strip()
            also = tuple(a.strip(' "“”「」') for a in _SEPARATOR.split(several.group("also")) if a.strip())
        if re.search(r"\w", name):
            yield kind, name, also, found.group("told")


def _same_name(one: str, other: str) -> bool:
    """Whether two names differ at most by a title of one of them: 'Mr Harrow' and 'Harrow', '佐伯さん' and '佐伯'."""
    if one.casefold() == other.casefold():
        return True
    bare, bare_other = _bare(one), _bare(other)
    return bare.casefold() == bare_other.casefold() and (one == bare or other == bare_other)


def _bare(name: str) -> str:
    """``name`` without a title before or after it."""
    return _HONORIFIC.sub("", _TITLED.sub("", name)) or name


class _Names:
    """Where names occur in the text up to a place. Letter case and white space do not matter."""

    def __init__(self, place: ReadingPlace) -> None:
        memory = place.memory
        self._texts = [
            collapse_whitespace(memory.document.text(page.start, page.end)).replace("’", "'") for page in memory.pages
        ]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for text in self._texts for word in _WORD.findall(text))

    def has(self, name: str) -> bool:
        """Whether ``name``, or each of its words, occurs; for a narrator without a name, whether there is an 'I'."""
        if _NARRATOR.match(name):
            return any(_FIRST_PERSON.search(text) for text in self._texts)
        if self.pages(name):
            return True
        words = [w.casefold() for w in _WORD.findall(name.replace("’", "'"))]
        return bool(words) and not _CJK.search(name) and all(w in self._words or w in ("the", "a", "of") for w in words)

    def pages(self, *names: str) -> list[int]:
        """The numbers of the pages on which one of ``names`` occurs as it is written; one in lower case is no name."""
        chosen = [n for n in names if n == names[0] or not n[:1].islower()]
        patterns = [self._pattern(name, re.IGNORECASE) for name in chosen]
        return [n for n, text in enumerate(self._texts, start=1) if any(p.search(text) for p in patterns)]

    def with_pages(self, person: Person, people: Sequence[Person]) -> Person:
        """``person`` with the first and last page of the name, or of the surname where no other person has it."""
        pages = self.pages(person.name, *person.also)
        surname = person.name.split()[-1]
        shared = any(surname in other.name.split() for other in people if other is not person)
        if person.kind == PERSON and surname != person.name and surname[:1].isupper() and not shared:
            pattern = self._pattern(surname, re.NOFLAG)
            pages += [n for n, text in enumerate(self._texts, start=1) if pattern.search(text)]
        return replace(person, first=min(pages), last=max(pages)) if pages else person

    @staticmethod
    def _pattern(name: str, flags: re.RegexFlag) -> re.Pattern[str]:
        escaped = re.escape(collapse_whitespace(name).replace("’", "'"))
        return re.compile(escaped if _CJK.search(name) else rf"(?<!\w){escaped}(?!\w)", flags)
