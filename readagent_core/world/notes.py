"""Notes: what one page establishes of people, places, things and groups, each resting on words of that page.

A model writes a line for each note; ``parse_notes`` keeps those whose words stand in the page and drops the others. A
note counts from the paragraph by which everything it says was told (``Note.known_from``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from readagent_core import prompts
from readagent_core.citations.quotation_search import SearchableText, find_in, normalise_words
from readagent_core.document import Document
from readagent_core.memory import Page
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.short_repr import short_repr
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_words, is_unspaced, sentences, terms
from readagent_core.world.names import EntityKind, find_names, is_description, name_key, name_without_honorific

MOST_WORDS = 15  # of what a note says
VERSION = 1
WORDS_A_NOTE = 50  # of a page: one for about so many of its words
_LEAST_NOTES, _MOST_NOTES = 6, 36  # of a page
_REPLY_WORDS = 30  # of a line
_HEADING = re.compile(r"^[\W_]*(?:notes?|メモ|ノート)[\W_]*$", re.IGNORECASE | re.MULTILINE)
_FIELDS = re.compile(r"\s*[|｜]\s*")
_ENTITY = re.compile(
    r"^[\W_]*(?P<kind>person|people|place|thing|group|人物|人|場所|物|集団)s?(?:[\s:：（(]+|$)(?P<name>.*)$",
    re.IGNORECASE,
)
_ENTITIES = {"people": "person", "人物": "person", "人": "person", "場所": "place", "物": "thing", "集団": "group"}
_OTHER = re.compile(r"^(?:to|of|with|→|相手)[\s:：]+", re.IGNORECASE)
_WHEN = re.compile(r"^(?:when|time|時)[\s:：]+", re.IGNORECASE)
_QUOTES = " \t\"'“”‘’„«»「」『』*`"
_NARRATOR = re.compile(r"^(?:the\s+)?narrator$|^語り手$", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\bI\b|私|わたし|僕|ぼく|俺")
_NOBODY = re.compile(r"(?:some|any|every|no)(?:body|one)\b|(?:man|woman|person|one|people) who\b|誰か")
_FIRST_PERSONS = frozenset(["i", "私", "わたし", "僕", "ぼく", "俺"])
_CONTENT = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]+|[\u30a1-\u30fa\u30fc]+")  # words of a Japanese description
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_]+")  # a word that does not begin a sentence
_PRONOUNS = frozenset(
    ["i", "he", "she", "it", "they", "we", "you", "him", "her", "them", "who", "彼", "彼女", "私", "僕", "俺", "あなた"]
)


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

    def on_page(self, number: int) -> PageNotes:
        """Return these notes as those of page ``number``: a page may get its number after its notes."""
        return replace(self, notes=tuple(replace(note, page=number) for note in self.notes))

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


# --- the prompts ----------------------------------------------------------------------------------------


def most_notes(words: int) -> int:
    """Return how many notes are asked for of a page of ``words`` words."""
    return max(_LEAST_NOTES, min(_MOST_NOTES, round(words / WORDS_A_NOTE)))


def reply_words(lines: int) -> int:
    """Return the words that so many notes may have."""
    return lines * _REPLY_WORDS


def note_fields(language: str, lines: int) -> dict[str, str]:
    """Return the fields that a prompt which asks for notes has beside those of its own task."""
    return {"note_rules": prompts.render_fragment("notes.rules", language), "count": str(lines)}


def notes_prompt(document: Document, pages: Sequence[Page], share: float) -> Prompt:
    """Return the prompt that asks for the notes of pages alone; it has the share of them that tells most."""
    text = escape_tags("\n\n".join(telling_sentences(document, page, share) for page in pages))
    lines = most_notes(round(sum(page.words for page in pages) * share))
    fields = note_fields(document.language, lines)
    return prompts.render("notes", document.language, reply_words=reply_words(lines), page=text, **fields)


def telling_sentences(document: Document, page: Page, share: float) -> str:
    """Return about so large a share of a page: sentences with names that are new in the book before others with names.

    Names are those found by rule, and words with a capital that the book had not yet. Of sentences that are alike in
    that, those with most words that are new in the book are taken first; those without a name come last.
    """
    names, known_in = _names_by_rule(document)
    first = _first_paragraphs(document)
    ranked: list[tuple[int, int, int, int, str]] = []  # rank, minus its new words, its place, paragraph, text
    for index in range(page.start, page.end):
        for sentence in sentences(document.paragraphs[index].text, document.language):
            new = {word for word in map(_plain, terms(sentence)) if first.get(word) == index}
            found = set(names.findall(sentence)) if names else set()
            capitalised = {_plain(word) for word in _INSIDE.findall(sentence) if word[0].isupper()}
            rank = 0 if new & capitalised or any(known_in[name] == index for name in found) else 1 if found else 2
            ranked.append((rank, -len(new), len(ranked), index, sentence))
    left = page.words * share
    shown: dict[int, list[tuple[int, str]]] = {}
    for _, _, place, index, sentence in sorted(ranked):
        words = count_words(sentence)
        if words <= left or not shown:
            left -= words
            shown.setdefault(index, []).append((place, sentence))
    return "\n\n".join("".join(text for _, text in sorted(shown[index])).strip() for index in sorted(shown))


@lru_cache(maxsize=4)
def _names_by_rule(document: Document) -> tuple[re.Pattern[str] | None, Mapping[str, int]]:
    """Return a pattern of the names found by rule, and the paragraph in which each became known."""
    found = {name.name: name.paragraph for name in find_names(document)}
    longest_first = sorted(map(re.escape, found), key=len, reverse=True)
    between = "" if is_unspaced(document.text(0, 3)[:200]) else r"\b"
    return re.compile(f"{between}(?:{'|'.join(longest_first)}){between}") if found else None, found


@lru_cache(maxsize=4)
def _first_paragraphs(document: Document) -> Mapping[str, int]:
    """Return the paragraph in which each word of the book, headings too, stands first."""
    first: dict[str, int] = {}
    for index in range(len(document.paragraphs)):
        shown = (document.paragraphs[index].text, *(section.title for section in document.headings(index)))
        for word in terms("\n".join(shown)):
            first.setdefault(_plain(word), index)
    return first


def split_reply(reply: str) -> tuple[str, str]:
    """Return the gist and the notes of a reply that has both; its notes are '' where it has none."""
    text = remove_thinking(reply)
    found = _HEADING.search(text)
    return (text[: found.start()].rstrip(), text[found.end() :]) if found else (text, "")


# --- what a reply says ----------------------------------------------------------------------------------


class NoteReader:
    """Reads replies about pages of ``document``; keeps the notes that their page bears out.

    A note is dropped where its form cannot be read, its words do not stand in the page, no page asked about calls
    anybody so by then, it is too long, or it has a name that the book has not told by then, which the model knows from
    elsewhere.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._first = _first_paragraphs(document)

    def read(self, page: Page, reply: str) -> PageNotes:
        """Return the notes in ``reply``; ``failed`` where no line of it can be used."""
        return self.read_pages([page], reply)[0]

    def read_pages(self, pages: Sequence[Page], reply: str) -> list[PageNotes]:
        """Return the notes of each of ``pages``, which follow one another, in one reply about all of them.

        A line is of the first page that bears it out; a page may call somebody 'he' whom one before it names. It counts
        from the end of the last page, which the model had seen. ``failed``: those without a note. A line of no page is
        counted as dropped of the first.
        """
        seen = pages[-1].end - 1 if len(pages) > 1 else 0
        own = [self._text(page.start, page.end) for page in pages]
        named = [self._text(pages[0].start, page.end) for page in pages]
        found: list[dict[tuple[str, NoteKind, str], Note]] = [{} for _ in pages]
        dropped = 0
        for line in remove_thinking(reply).splitlines():
            if not re.search(r"[|｜]", line) or re.fullmatch(r"[\s|｜:-]*", line):
                continue
            notes = (self._note(*known, line) for known in zip(pages, own, named, strict=True))
            at, note = next(((at, note) for at, note in enumerate(notes) if note), (0, None))
            if note is None:
                dropped += 1
            else:
                note = replace(note, known_from=max(note.known_from, seen))
                found[at].setdefault((name_key(note.name), note.kind, note.says.casefold()), note)
        made = [PageNotes(tuple(notes.values()), failed=not notes) for notes in found]
        return [replace(made[0], dropped=dropped), *made[1:]]

    def _text(self, start: int, end: int) -> SearchableText:
        text = self._document.paragraphs[start:end]
        return SearchableText([(p.text, index, False) for index, p in enumerate(text, start=start)])

    def _note(self, page: Page, words: SearchableText, named: SearchableText, line: str) -> Note | None:
        fields = [field.strip() for field in _FIELDS.split(line.strip().strip("|｜"))]
        entity = _ENTITY.match(fields[0])
        if entity and not entity.group("name"):
            fields[0:2] = [" ".join(fields[:2])]
            entity = _ENTITY.match(fields[0])
        if not entity or len(fields) < 4 or fields[1].strip(_QUOTES).lower() not in set(NoteKind):
            return None
        name, kind = entity.group("name").strip(_QUOTES), NoteKind(fields[1].strip(_QUOTES).lower())
        says, quoted = collapse_whitespace(fields[2]).strip(_QUOTES + ".。"), fields[3].strip(_QUOTES)
        says = says if says.count('"') % 2 == 0 else says.replace('"', "")
        other, when = _extras(fields[4:], kind)
        name, other = map(_without_pronoun, (name, other))
        places = find_in(words, quoted, page=page.number)
        if not places or not says or count_words(says) > MOST_WORDS or not self._calls(named, name):
            return None
        if kind == NoteKind.SAME and (not name_key(other) or name_key(other) == name_key(name)):
            return None
        place = places[0]
        told = self._told_by(page, words, place.paragraph, name, other, says)
        if told is None:
            return None
        called = EntityKind(_ENTITIES.get(entity.group("kind").lower(), entity.group("kind").lower()))
        position = (page.number, place.paragraph, place.start, place.end)
        return Note(*position, kind, called, name, says, other, when, told)

    def _calls(self, words: SearchableText, name: str) -> bool:
        """Whether the page has the name, or each of its words; for a narrator without a name, whether it has an 'I'."""
        key = name_key(name)
        if not key or key.split(",")[0] in _PRONOUNS or _NOBODY.match(key):
            return False
        if _NARRATOR.match(name):
            return any(map(_FIRST_PERSON.search, words.texts))
        bare = name_without_honorific(name)
        parts = normalise_words(bare).split()
        if is_unspaced(bare) and is_description(bare):
            parts = _CONTENT.findall(bare)
        return bool(parts) and all(any(_has(spelled, words.text) for spelled in {part, _plain(part)}) for part in parts)

    def _told_by(
        self, page: Page, words: SearchableText, paragraph: int, name: str, other: str, says: str
    ) -> int | None:
        """Return the paragraph of the page by which all these words were told that the book has; None for a note that
        has a name which the book has not told by the end of the page.

        What the page has only after the words that a note rests on, it may say for the first time there, though an
        earlier page has the word too.
        """
        last = paragraph
        for text, is_name in ((name, True), (other, True), (says, False)):
            names = set(_capitalised(text, with_first=is_name))
            for word in terms(text):
                plain = _plain(word)
                first = self._first.get(plain, self._first.get(plain.removesuffix("s")))
                if first is None or first >= page.end:
                    if plain in names and not _NARRATOR.match(text):
                        return None
                elif first > last:
                    last = first
                if not is_name:
                    on_page = (i for i, text in enumerate(words.texts, page.start) if _has(plain, text.casefold()))
                    last = max(last, next(on_page, last))
        return last


def _without_pronoun(name: str) -> str:
    """Return a name without marks of emphasis; 'I' is the narrator."""
    if name_key(name) in _FIRST_PERSONS:
        return "the narrator" if name.isascii() else "語り手"
    return name.replace("*", "").strip()


def _extras(fields: list[str], kind: NoteKind) -> tuple[str, str]:
    """Return the other name and the time that the last fields of a line give."""
    other = when = ""
    for field in fields:
        if _WHEN.match(field):
            when = _WHEN.sub("", field).strip(_QUOTES)
        elif field and (_OTHER.match(field) or kind in (NoteKind.RELATED, NoteKind.SAME)):
            other = other or _OTHER.sub("", field).strip(_QUOTES)
    return other, when


def _plain(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.casefold().replace("’", "'")).replace("'", "")


def _has(word: str, text: str) -> bool:
    return word in text if not word.isascii() else bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text))


def _capitalised(text: str, *, with_first: bool) -> Iterator[str]:
    """Yield the words that are written with a capital letter, as ``_plain`` has them."""
    for match in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text):
        if (
            match.group()[0].isupper()
            and (with_first or match.start() > 0)
            and match.group() not in ("I", "I'm", "I’m")
        ):
            yield _plain(match.group())
