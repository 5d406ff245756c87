"""Ask a model which of the names known at a page are of one person, a few pages at a time.

The model is shown the notes up to a page and no later ones, so what it finds was told by then. A pair counts from the
page that it names, where that is one of the new pages, else from the last of them: never too early.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from readagent_core import prompts
from readagent_core.document import Document
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.words import fold, is_unspaced, sentences
from readagent_core.world.as_of import Entity, Line, World
from readagent_core.world.identity import Link, LinkBy, split_title
from readagent_core.world.names import EntityKind, is_description, name_key, name_without_honorific, name_worth
from readagent_core.world.notes import NoteKind

_MOST_SHOWN, _MOST_LINES, _SHORT, _SENTENCE_WORDS = 36, 4, 3, 24
_TELLING = frozenset({NoteKind.IS, NoteKind.RELATED})  # who somebody is
_PAIR = re.compile(
    r"^\W*(\d+)\s*[=＝]\s*(\d+)\s*[|｜,:]?\s*(?:(?:page|p\.|ページ)?\s*\[?(?P<page>\d+)\]?|(?P<form>form))?",
    re.IGNORECASE,
)


def new_people(world: World, after: int, page: int) -> tuple[tuple[Entity, ...], tuple[Entity, ...]]:
    """Return the people to compare at the end of ``page``, and those of them who are new since page ``after``.

    Everybody new is among them, and those who are named most.
    """
    before = world.as_of(after)
    people = [p for p in world.as_of(page).of_kind(EntityKind.PERSON) if not p.by_rule]
    new = [p for p in people if before.entity(p.id) is None]
    named_before = [p for p in people if p not in new]
    return (*named_before[: max(10, _MOST_SHOWN - len(new))], *new), tuple(new)


def same_names_prompt(world: World, after: int, page: int, *, most_words: int = 1_200) -> Prompt | None:
    """Return the prompt that compares the people known at the end of ``page``; None where nobody is new.

    Of each it has as many notes as fit into ``most_words``; where one is too many, those named least are left out.
    """
    people, new = new_people(world, after, page)
    if not new or len(people) < 2:
        return None
    document = world.memory.document
    described = _described(people)

    def prompt(lines: int, shown: int) -> Prompt:
        numbers = ", ".join(str(n) for n, person in enumerate(people[:shown], start=1) if person in new)
        return prompts.render(
            "same_names",
            document.language,
            reply_words=60,
            title=escape_tags(document.title),
            cast=escape_tags(
                "\n".join(_row(document, n, p, described, lines) for n, p in enumerate(people[:shown], start=1))
            ),
            new=""
            if len(new) >= shown
            else prompts.render_fragment("same_names.new", document.language, numbers=numbers),
        )

    sizes = [(lines, len(people)) for lines in range(_MOST_LINES, 0, -1)] + [(1, n) for n in range(len(people), 1, -1)]
    tried = (prompt(*size) for size in sizes)
    return next((found for found in tried if found.words <= most_words), None)


def _described(people: tuple[Entity, ...]) -> Mapping[str, set[str]]:
    """Return the words by which people without a name are called, each with the ids of those: 'postmaster'."""
    words: defaultdict[str, set[str]] = defaultdict(set)
    for person in people:
        for name in _names(person):
            core = name_without_honorific(name)
            if all(name_worth(name)[:2]):
                continue
            for word in [core] if is_unspaced(core) else core.split():
                if word == core or (word.islower() and len(word) > _SHORT):  # of 'Vane's sister' the second
                    words[fold(word)].add(person.id)
    return words


def _row(document: Document, number: int, person: Entity, described: Mapping[str, set[str]], most: int) -> str:
    """Return what tells who somebody is, ``most`` notes; what he has in common with one described comes first.

    Of somebody without a name it ends with the sentence that the first of them rests on.
    """
    names = ", ".join(_names(person))
    pages = [page for page, _ in person.pages] or [line.page for line in person.lines]
    mine = [line for line in person.lines if line.kind != NoteKind.SAME]  # the names tell those
    alike = [word for word, ids in described.items() if ids != {person.id}]
    telling = [line for line in mine if line.kind in _TELLING]
    shared = [line for line in telling if any(word in fold(line.says) for word in alike)]
    few = max(1, most - 1)
    chosen = dict.fromkeys([*shared[:few], *telling[-few:], *mine])
    lines = sorted(list(chosen)[:most], key=lambda line: line.page)
    told = [f"{line.says}{_to(line)} [page {line.page}]" for line in lines if line.says]
    if lines and all(map(is_description, _names(person))):
        told.append(f"“{_sentence(document, lines[0])}”")
    said = "; ".join(told)
    return f"{number}: {names} ({pages[0]}-{pages[-1]}). {said}" if pages else f"{number}: {names}. {said}"


def _sentence(document: Document, line: Line) -> str:
    """Return the sentence that a line rests on, at most ``_SENTENCE_WORDS`` words of it, up to what it rests on."""
    text, begun = document.paragraphs[line.paragraph].text, 0
    for sentence in sentences(text, document.language):
        if begun + len(sentence) > line.start:
            words = sentence[: max(0, line.end - begun)].split()
            return " ".join(words[-_SENTENCE_WORDS:]) if len(words) > 1 else sentence.strip()
        begun += len(sentence)
    return ""


def _names(person: Entity) -> list[str]:
    return [person.name, *(other.name for other in person.also)]


def _to(line: Line) -> str:
    return f" ({line.other})" if line.other and line.other not in line.says else ""


def parse_same_names(world: World, after: int, page: int, reply: str) -> tuple[Link, ...]:
    """Return the links that a reply to ``same_names_prompt`` names."""
    people, _ = new_people(world, after, page)
    return tuple(_links(world, people, after, page, remove_thinking(reply)))


def _links(world: World, people: tuple[Entity, ...], after: int, page: int, reply: str) -> Iterator[Link]:
    known = world.as_of(page)
    for line in reply.splitlines():
        found = _PAIR.match(line)
        numbers = {int(found.group(1)), int(found.group(2))} if found else set()
        if found is None or len(numbers) < 2 or not numbers <= set(range(1, len(people) + 1)):
            continue
        one, other = (people[n - 1] for n in sorted(numbers))
        told = int(found.group("page") or 0)
        both = max(world.known_from(one.id), world.known_from(other.id))
        place = max(both, world.last_paragraph(told)) if after < told <= page else known.paragraph
        if found.group("form") and share_a_name(one, other):
            place = both
        first, second = (world.names[person.id].name for person in (one, other))  # those that were known first
        for name in dict.fromkeys([second, *_names(one), *_names(other)]):  # all were shown as of one or the other
            if name != first:
                from_here = max(place, world.known_from(name_key(name)))
                yield Link(first, name, world.page_number(from_here), from_here, by=LinkBy.MODEL)


def share_a_name(one: Entity, other: Entity) -> bool:
    """Whether a name of each has a word in common, titles not counted: such names are seen to be forms of one."""
    return bool(_parts(one) & _parts(other))


def _parts(person: Entity) -> set[str]:
    found: set[str] = set()
    for name in _names(person):
        bare = split_title(name)[1]
        found |= set(bare[:2]) if is_unspaced(bare) else {fold(word) for word in bare.split() if len(word) > 2}
    return found
