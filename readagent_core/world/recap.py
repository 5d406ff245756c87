"""What happened before, in sentences drawn from notes and gists: Where was I, Previously, and the cast in short.

Nothing is asked of a model, and nothing comes from past the place.
"""

from __future__ import annotations

from dataclasses import dataclass

from readagent_core.memory import GistMemory
from readagent_core.words import collapse_whitespace, count_words, first_words, sentences
from readagent_core.world.as_of import HAPPENS, Entity, Known, World

_PREVIOUS_PAGES, _MOST_EVENTS = 4, 3
_CAST_WORDS = 120


@dataclass(frozen=True)
class RecapLine:
    """A sentence of a recap and the page it tells of. ``entity``: id of the one it is about; '' where a gist tells it.

    ``name``: as the page calls that one, to stand before ``text``; '' where a gist tells it.
    """

    text: str
    page: int
    name: str = ""
    entity: str = ""


def previously(world: World, page: int, paragraph: int | None = None) -> tuple[RecapLine, ...]:
    """Return up to three short parts of one sentence on what happened last, in the order of telling.

    They come from the notes of the last pages; where there are none, from the gists of pages wholly read.
    """
    known = world.as_of(page, paragraph)
    shown = {entity.id: entity for entity in known.entities}
    lines = [line for line in known.timeline() if line.page > page - _PREVIOUS_PAGES]
    chosen: list[RecapLine] = []
    for number in sorted({line.page for line in lines}, reverse=True)[:_MOST_EVENTS]:
        there = [line for line in lines if line.page == number]
        best = max(there, key=lambda line: (shown[line.entity].mentions, line.paragraph))
        chosen.append(RecapLine(best.says, number, best.name, best.entity))
    if chosen:
        return tuple(reversed(chosen))
    return tuple(gist_lines(world.memory, known, pages=_MOST_EVENTS))


def gist_lines(memory: GistMemory, known: Known, *, pages: int) -> list[RecapLine]:
    """Return the first sentence of the last gists of pages that are wholly known, in the order of the pages."""
    found: list[RecapLine] = []
    for number in range(min(known.page, len(memory.pages)), 0, -1):
        gist = memory.gists[number - 1]
        if gist is None or memory.pages[number - 1].end - 1 > known.paragraph:
            continue
        told = [s for s in sentences(gist.text, memory.document.language) if not s.lstrip().startswith("#")]
        if said := next((s for s in map(collapse_whitespace, told) if any(map(str.isalnum, s))), ""):
            found.insert(0, RecapLine(said, number))
        if len(found) == pages:
            break
    return found


def cast_in_short(world: World, page: int) -> str:
    """Return the people known at the end of ``page``, a line each, those named most first, within 120 words.

    '' where nothing is told of anybody.
    """
    out: list[str] = []
    left = _CAST_WORDS
    for entity in world.as_of(page).people:
        line = _in_short(entity)
        left -= count_words(line)
        if left < 0:
            break
        if line:
            out.append(line)
    return "\n".join(out)


def _in_short(entity: Entity) -> str:
    said = [line for line in entity.lines if line.says and line.kind not in HAPPENS] or list(entity.lines)
    if not said:
        return ""
    names = ", ".join([entity.name, *(other.name for other in entity.also[:2])])
    pages = [number for number, _ in entity.pages]
    where = f" {pages[0]}-{pages[-1]}" if len(pages) > 1 else f" {pages[0]}" if pages else ""
    return f"{names}{where}: {first_words(said[0].says, 15)}"
