"""Who is who in what a person has read of a book: people, and a few places, each with what was told of them and where.

Every name is looked for in the text up to the person's place: one that does not occur there is dropped. The first and
the last page of a name are found in the text, not taken from the reply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from readagent_core.companion.place import Place
from readagent_core.companion.recap import MOST_PEOPLE, WHO_IS_WHO, keep_inside, quoted, sentences_of, start
from readagent_core.jobs import Job
from readagent_core.words import CJK, collapse_whitespace, first_words
from readagent_core.workspace import Workspace

PERSON, PLACE = "person", "place"
NEEDS_MODEL = "The built-in reader finds no names in this text; connect a language model for this."
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
_LEAST_MENTIONS = 2  # of a person that the built-in reader lists
_PERSON_SHARE = 0.15  # of the mentions of a name say by their form that it is a person's
_SENTENCE_WORDS = 40
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mister|Master|Uncle|Aunt|Cousin|Dr|Captain|Capt|Constable|Inspector|Sergeant|Colonel|Major|Lady"
    r"|Lord|Sir|Cllr|Professor)\.?\s+"
)
_TITLED = re.compile(f"^{_TITLE}")
_MAN, _WOMAN = re.compile(r"^(?:Mr|Mister|Master|Uncle|Lord|Sir)\b"), re.compile(r"^(?:Mrs|Ms|Miss|Aunt|Lady)\b")
_HONORIFIC = re.compile(r"(?:さん|さま|様|氏|君|くん|先生|ちゃん)$")
_PRONOUN = re.compile(r"\b(?:he|him|his|she|hers?)\b")
_PRONOUN_REACH = 60  # characters after a name in which a pronoun is likely that person's
_CAPITALISED = re.compile(rf"\b(?:{_TITLE})?[A-Z][a-z]+(?:[-’'][A-Z][a-z]+)?(?: [A-Z][a-z]+)?\b")
_ACTS = re.compile(
    r"(?:['’]s)?,?\s+(?:said|says|was|is|had|has|who|went|came|took|knew|saw|met|gave|stood|[a-z]{2,}ed)\b"
)
_PLACED = re.compile(r"\b(?:at|in|to|from|of|on|near|the|an?|into|towards?|around)\s$", re.IGNORECASE)
_SPEAKER = re.compile(r"^([A-Z][A-Z]+(?:\.? [A-Z][A-Z.]+)*):", re.MULTILINE)  # of a transcript
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


def who_is_who(workspace: Workspace, book_id: str, *, reading_id: int, use_cache: bool = True) -> Job:
    """Start to list who is who up to the person's place; as ``recap``. ``parse_cast`` reads the text that is made."""
    return start(workspace, book_id, WHO_IS_WHO, cast_by_rule, reading_id=reading_id, use_cache=use_cache)


# --- what a reply says ----------------------------------------------------------------------------------


def parse_cast(text: str, place: Place) -> Cast:
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

    def __init__(self, place: Place) -> None:
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


# --- without a model ------------------------------------------------------------------------------------


def cast_by_rule(place: Place) -> str:
    """The names that word statistics take for people, each with the sentence of its first mention, as a reply has them.

    Works by capital letters, so that in scripts without them the result is empty.
    """
    memory = place.memory
    texts = [memory.document.text(page.start, page.end) for page in memory.pages]
    lines = ["People:"]
    for name, also in _people_in(texts):
        number, sentence = _first_mention((name, *also), texts, place.language)
        others = f" (also: {', '.join(also)})" if also else ""
        lines.append(f"{name}{others} | {quoted(sentence, place.language)} [{number}]")
    return "\n".join(lines)


def _people_in(texts: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The people named at least ``_LEAST_MENTIONS`` times, in order of appearance, each with the name's other forms."""
    mentions, persons, first = Counter[str](), Counter[str](), dict[str, int]()
    names: set[str] = set()  # that are not only at the beginning of sentences
    pronouns: dict[str, Counter[str]] = {}  # by the first word of a name
    whole = "\n\n".join(texts)
    lower_case = Counter(re.findall(r"\b[a-z]+\b", whole))
    common = {word for word, count in lower_case.items() if count > 1}  # so that they are hardly names
    for found in _SPEAKER.finditer(whole):
        name = found.group(1).title()
        mentions[name] += 1
        persons[name] += 3
        names.add(name)
        first.setdefault(name, found.start())
    for at, name, begins in _capitalised(whole, common):
        words, after = name.split(), whole[at + len(name) : at + len(name) + _PRONOUN_REACH]
        if not all(word.lower() in common for word in words):
            placed = not begins and _PLACED.search(whole[max(0, at - 12) : at])
            persons[name] += 2 * bool(_TITLED.match(name)) + bool(_ACTS.match(after)) - bool(placed)
            pronouns.setdefault(words[0], Counter()).update(_PRONOUN.findall(after))
            if len(words) > 1 or not begins:
                names.add(name)
        mentions[name] += 1
        first.setdefault(name, at)
    groups = _by_person({name: mentions[name] for name in mentions if not name.startswith("The ")}, pronouns)
    counts = {owner: sum(mentions[form] for form in forms) for owner, forms in groups.items()}
    known = [
        owner
        for owner, forms in groups.items()
        if names.intersection(forms)
        and counts[owner] >= _LEAST_MENTIONS
        and sum(persons[form] for form in forms) > _PERSON_SHARE * counts[owner]
    ]
    chosen = sorted(known, key=lambda owner: -counts[owner])[:MOST_PEOPLE]
    chosen.sort(key=lambda owner: min(first[form] for form in groups[owner]))
    return [(owner, tuple(form for form in groups[owner] if form != owner)) for owner in chosen]


def _capitalised(text: str, common: Set[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the start of every one or two capitalised words, the words, and whether a sentence begins with them.

    A word that begins a sentence and is also written in lower case is no part of the name after it: 'Then Vane'.
    """
    position = 0
    while found := _CAPITALISED.search(text, position):
        start, name = found.start(), found.group()
        begins = not re.search(r"[a-z,;]['’]?s?\s$", text[max(0, start - 12) : start])
        word = name.split()[0]
        position = found.end()
        if begins and word != name and not _TITLED.match(name) and word.lower() in common:
            name, position = word, start + len(word)
        yield start, name, begins


def _by_person(mentions: Mapping[str, int], pronouns: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    """The names of each person, by the fullest. ``mentions``: how often each name occurs.

    'Mr. Vane' and 'Vane' are Ambrose Vane, also beside a Tilda Vane who is mostly called Tilda; where two may be meant
    they name nobody. 'Mrs. Vane' is somebody else, and so is 'Mr. Vane' where the text says 'she' of Ambrose.
    """

    def by_surname(owner: str) -> int:
        """How much likelier it is that a person is called by the surname than by the first name."""
        return sum(mentions[form] for form in groups[owner]) - mentions.get(bare[owner].split()[0], 0)

    bare = {name: _TITLED.sub("", name) for name in mentions}
    groups: dict[str, list[str]] = {}
    women: dict[str, bool | None] = {}
    for name in sorted(mentions, key=lambda n: (-len(bare[n].split()), " " not in n, -mentions[n])):
        woman = _is_woman(name, pronouns.get(name.split()[0], {}))
        namesakes = [o for o in groups if bare[name] == bare[o] or bare[name] in bare[o].split()]
        owners = [o for o in namesakes if None in (woman, women[o]) or woman == women[o]]
        if name.startswith("Mrs") and any(women[o] is False for o in namesakes):
            owners = []  # his wife or his mother, not a daughter
        owners.sort(key=by_surname, reverse=True)
        if not owners:
            groups[name], women[name] = [name], woman
        elif len(owners) == 1 or by_surname(owners[0]) >= 2 * by_surname(owners[1]):
            groups[owners[0]].append(name)
            women[owners[0]] = woman if women[owners[0]] is None else women[owners[0]]
    return groups


def _is_woman(name: str, pronouns: Mapping[str, int]) -> bool | None:
    """Whether the title, or the pronouns shortly after the name, say that ``name`` is a woman's; None: not known."""
    if _MAN.match(name) or _WOMAN.match(name):
        return bool(_WOMAN.match(name))
    she = sum(pronouns.get(word, 0) for word in ("she", "her", "hers"))
    he = sum(pronouns.get(word, 0) for word in ("he", "him", "his"))
    return None if max(he, she) < 2 or 0.5 < (he + 1) / (she + 1) < 2 else she > he


def _first_mention(names: Sequence[str], texts: Sequence[str], language: str) -> tuple[int, str]:
    pattern = re.compile("|".join(map(re.escape, names)), re.IGNORECASE)  # a speaker's label is in capital letters
    for number, text in enumerate(texts, start=1):
        for paragraph in text.split("\n\n"):
            for sentence in sentences_of(paragraph, language) if pattern.search(paragraph) else ():
                if pattern.search(sentence):
                    shown = first_words(sentence, _SENTENCE_WORDS)
                    return number, shown.strip('“”"').replace("|", " ") + (" …" if shown != sentence else "")
    raise ValueError(f"{names[0]!r} does not occur")
