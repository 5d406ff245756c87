"""Suggest questions about a book: three that fit any book, and some about this one, from its gists.

Those that fit any book ask about the whole text and need no look-up. The others come from the language model, or,
without one, from the names of people in the gists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, takewhile

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.jobs import Job
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.tags import escape_tags
from readagent_core.words import count_words
from readagent_core.workspace import Workspace
from readagent_core.world.names import EntityKind, find_names, name_key

ABOUT_SEVERAL = (
    "What do these books have in common?",
    "How do these books differ?",
    "Who are the main people of each book?",
)
COUNT = 3
MAX_WORDS = 30
MAX_TITLE = 60  # letters of a section's title in a question
FIRST_WORDS = 12_000  # of a text without gists, in which people are looked for
_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Captain|Capt|Lady|Lord|Sir|Miss|Cllr)\.?\s+)?"
_TITLED = re.compile(_TITLE.removesuffix("?"))
_NAME = re.compile(rf"\b({_TITLE}[A-Z][a-z]{{2,}}(?:\s+[A-Z][a-z]{{2,}})?)\b(?=(?P<after>\s+[a-z]+|['’]s\s+[a-z]+)?)")
_ACTS = re.compile(
    r"\s+(?:said|says|told|tells|was|is|had|has|went|came|took|found|knew|saw|met|gave|kept|who|[a-z]{2,}(?:ed|es|[^s]s))\b"
)
_PLACE_BEFORE = re.compile(r"\b(?:at|in|to|from|of|on|near|the|around|towards?)\s$")
_ARTICLE_BEFORE = re.compile(r"\b(?:the|an?)\s$", re.IGNORECASE)  # 'the Chinese', 'a Morlock': no one person
_NAME_JA = re.compile(r"([一-龥々]{2,4}|[ァ-ヴー]{2,8})(?:さん|氏|君|くん|様|先生|ちゃん)")
_NO_NAMES = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|Th(?:e|is|at|ere|en|ey)|S?[Hh]e|Her|His|Wh(?:en|at|ile)|After|Before|But|And|Not|Now|Only|Once|Page"
    r"|[A-Z][a-z]*(?:nese|guese|lish|nish|rish|tish|kish)|French|Dutch"
)
_NUMBER = re.compile(
    r"^(?:(?:chapter|part|book|section|item)\s+)?(?:\d+(?:\.\d+)+|(?:\d+|[ivxlc]+)[.:)])\s+", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]{2}.*\s.*[^\W\d_]{2}|[一-龥ァ-ヴー]{2}")
_NUMBERED = re.compile(r"^\s*(?:[-*•・]|\d{1,2}[.)、:．]|[（(]\d{1,2}[）)])\s*")


@dataclass(frozen=True)
class Suggestion:
    """``whole``: the question is about the whole text, so that no page need be looked up."""

    text: str
    whole: bool = False


def standard_questions(memory: GistMemory, *, finished: bool) -> list[Suggestion]:
    """What the text is about or what has happened so far, and who the person named most often is."""
    language = memory.document.language
    found = [prompts.render("quick_about" if finished else "quick_so_far", language).text]
    names = people_named(memory)
    if names:
        found.append(prompts.render("quick_who", language, name=names[0]).text)
    if finished:
        found.append(prompts.render("quick_so_far", language).text)
    return [Suggestion(text, whole=True) for text in found]


def questions_about_several(names: Sequence[str], language: str, *, by_model: bool) -> list[str]:
    """Return three questions about several books: of all of them, or who is who for a reader that compares nothing."""
    if by_model:
        return [*ABOUT_SEVERAL]
    return [prompts.render("quick_who", language, name=name).text for name in names[:COUNT]]


def questions_without_gists(memory: GistMemory, *, limited: bool, by_model: bool) -> list[Suggestion]:
    """At most three questions about a text without gists: of all of it, of a person and of a section named in it.

    ``memory``: the pages that may be seen; where none may, the questions name nothing. ``by_model``: a language model
    answers, which needs no words of the question in the text.
    """
    language = memory.document.language
    names = people_named(memory)
    titles = [title for section in memory.document.sections if (title := _plain_title(section.title))]
    about = Suggestion(
        prompts.render("quick_so_far" if limited and memory.pages else "quick_about", language).text, True
    )
    persons = [Suggestion(prompts.render("quick_who", language, name=name).text) for name in names[:2]]
    chosen = titles[-1 if limited else 0 :][:1]  # of what was read, the newest
    sections = [Suggestion(prompts.render("quick_section", language, title=title).text) for title in chosen]
    rest = [Suggestion(prompts.render(name, language).text, True) for name in ("quick_people", "quick_points")]
    return [about, *persons[:1], *sections, *persons[1:], *(rest if by_model else [])][:COUNT]


def _plain_title(title: str) -> str:
    """Return a section's title without its number; '' where it is one word or too long to be asked about."""
    plain = _NUMBER.sub("", title).strip(" .")
    plain = plain.title() if plain.isupper() else plain
    return plain if _WORDS.search(plain) and len(plain) <= MAX_TITLE else ""


def people_named(memory: GistMemory) -> list[str]:
    """At most five names of people who do something in the gists, the one in most gists first. Guessed by form alone.

    Without gists in the first paragraphs, where they must be among the names that ``find_names`` finds too. Each is on
    several pages of the text, and mostly stands there as a name ('the Editor' does not).
    """
    texts = [gist.text for gist in memory.gists if gist is not None]
    names = people_in(texts) if texts else _people_at_first(memory)
    pages = [memory.page_text(page.number) for page in memory.pages]
    return [*islice((name for name in names if _is_name(name, pages)), 5)]


def _is_name(name: str, pages: list[str]) -> bool:
    """Whether a name is on at least two pages, and there more often without an article than with one or small."""
    last = re.escape(name.split()[-1])
    if sum(bool(re.search(last, page)) for page in pages) < min(2, len(pages)):
        return False
    found = re.findall(rf"(\b(?:the|an?)\s+)?\b({last})\b", "\n".join(pages), re.IGNORECASE)
    alone = sum(not (article or word[0].islower()) for article, word in found)
    return " " in name or not found or alone > len(found) - alone


def _people_at_first(memory: GistMemory) -> list[str]:
    begins = accumulate((count_words(paragraph.text) for paragraph in memory.document.paragraphs), initial=0)
    first = memory.document.up_to(sum(1 for words in takewhile(lambda words: words < FIRST_WORDS, begins)))
    known = {name_key(found.name) for found in find_names(first) if found.kind is EntityKind.PERSON}
    names = people_in([paragraph.text for paragraph in first.paragraphs])
    return [name for name in names if name_key(name) in known]


def people_in(texts: Sequence[str]) -> list[str]:
    """Return the names of people who do something in at least two of the texts, the one in most of them first."""
    seen: Counter[str] = Counter()
    kinds: Counter[str] = Counter()  # the same names after an article
    ordinary = set(re.findall(r"\b[a-z]{3,}\b", " ".join(texts)))  # 'Seven' is a name only where 'seven' is no word
    addressed = {name for text in texts for name in _NAME_JA.findall(text)}  # as only people are
    for text in texts:
        here = {name for name in addressed if name in text}
        kind: set[str] = set()
        for found in _NAME.finditer(text):
            name = found.group(1)
            if text[: found.start()].endswith(("-", "‐", "–")):  # 'the Rabbit-Hole Alice was in': half of another word
                name = " ".join(name.split()[1:])
            if " " in name and name.split()[0].lower() in ordinary and not _TITLED.match(name):
                name = name.partition(" ")[2]  # 'Presently Harney'
            first = name.split()[0] if name else ""
            if _ARTICLE_BEFORE.search(text[max(0, found.start() - 8) : found.start()]):
                kind.add(name)
                continue
            acts = found.group("after") and _ACTS.match(found.group("after"))
            if (
                not name
                or _NO_NAMES.fullmatch(first)
                or name.lower() in ordinary
                or not acts
                or _PLACE_BEFORE.search(text[max(0, found.start() - 16) : found.start()])
            ):
                continue
            here.add(name)
        seen.update(here)
        kinds.update(kind)
    seen = Counter({name: times for name, times in seen.items() if times > kinds[name]})
    full = {short: name for name in seen for short in name.split()[-1:] if len(name.split()) > 1}
    for short, name in full.items():
        if short in seen and short != name:
            seen[name] += seen.pop(short)
    return [name for name, times in seen.most_common() if times > 1]


def suggest_by_rule(memory: GistMemory) -> list[str]:
    """Who the next people named are; needs no language model."""
    names = people_named(memory)[1 : COUNT + 1]
    return [prompts.render("quick_who", memory.document.language, name=name).text for name in names]


def parse_suggestions(reply: str) -> list[str]:
    """The questions of a reply, one a line, without numbers and quotation marks; at most ``COUNT``."""
    found: list[str] = []
    for line in reply.splitlines():
        text = _NUMBERED.sub("", line).strip().strip('*"“”「」 ')
        asks = text.endswith(("?", "？", "か。", "か"))
        if asks and count_words(text) <= MAX_WORDS and text not in found:
            found.append(text)
    return found[:COUNT]


def suggest(memory: GistMemory, model: ChatModel, cancel: CancelToken) -> list[str]:
    """Questions about this text. Raises ModelError."""
    if not model.is_language_model:
        return suggest_by_rule(memory)
    title = escape_tags(memory.document.title)
    prompt = prompts.render("suggest", memory.document.language, title=title, count=str(COUNT), memory=memory.text())
    return parse_suggestions(model.complete(prompt, cancel).text)


def saved_suggestions(workspace: Workspace, gisting_id: int, *, up_to: int | None) -> list[str] | None:
    """Questions suggested before for this gisting and limit; None when none were asked for yet."""
    found = workspace.library.preference(_name(gisting_id, up_to), None)
    return [str(text) for text in found] if isinstance(found, list) else None


def save_suggestions(library: Library, gisting_id: int, found: list[str], *, up_to: int | None) -> None:
    library.set_preference(_name(gisting_id, up_to), found)


def start_suggesting(workspace: Workspace, gisting_id: int, memory: GistMemory, *, up_to: int | None) -> Job:
    """Ask for suggestions in the background and save them. ``memory`` must end at the limit already."""
    model = workspace.model

    def work(job: Job) -> list[str]:
        found = suggest(memory, model, job)
        save_suggestions(workspace.library, gisting_id, found, up_to=up_to)
        return found

    return workspace.jobs.start(_name(gisting_id, up_to), work)


def suggesting_job(workspace: Workspace, gisting_id: int, *, up_to: int | None) -> Job | None:
    """The job that makes suggestions, running or ended; None where none was started."""
    return workspace.jobs.get(_name(gisting_id, up_to))


def _name(gisting_id: int, up_to: int | None) -> str:
    return f"suggested {gisting_id}" + (f" to {up_to}" if up_to else "")
