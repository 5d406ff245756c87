"""Levels of a gist memory: gists of runs of pages, gists of runs of those, up to one of the whole book.

A level above the pages is made by shortening the gists of the level below once more (iterative gisting, ICML paper,
§3.2). A run of pages ends where a section ends if there is such a place, else at its size. There are no more levels
than the size of the book needs. What is made is stored, and made again only where the text it was made from changed.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from readagent_core.answering.base import AskSettings
from readagent_core.answering.resources import ArtifactStore, artifact_key
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words
from readagent_core.gisting.gist_prompts import gist_lengths
from readagent_core.gisting.gisting import shorten_text
from readagent_core.memory import Gist, GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.prompts import template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words

KIND = "gists of parts"  # in the artifact store
PART_WORDS = 1300  # most words of gists that are shortened to the gist of one part
ROOM = 0.6  # share of a view that its coarsest level may fill; the rest is for what the question points to
PART_SHARE = 1 / 9  # length of the gist of a part, as a share of the gists below
_SHORTENING = 450  # words of a prompt that shortens gists, but for these


@dataclass(frozen=True)
class BookPart:
    """Pages ``first`` to ``last`` (inclusive). ``level`` 0 is a page; a part has the ``parts`` of the level below."""

    level: int
    first: int
    last: int
    parts: tuple[BookPart, ...] = ()

    @property
    def label(self) -> str:
        """The part's name in prompts: '31-33', or '7' where it is one page."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def __contains__(self, page: object) -> bool:
        return isinstance(page, int) and self.first <= page <= self.last


@dataclass(frozen=True)
class Levels:
    """``levels[0]`` are the readable pages of ``memory``. ``gists``: of the parts above them."""

    memory: GistMemory
    levels: tuple[tuple[BookPart, ...], ...]
    gists: dict[BookPart, Gist]

    @cached_property
    def top(self) -> tuple[BookPart, ...]:
        return self.levels[-1]

    def gist(self, part: BookPart) -> str:
        gist = self.memory.gists[part.first - 1] if not part.level else self.gists[part]
        return gist.text if gist else ""

    def text(self, part: BookPart) -> str:
        """Return the gist of a part as prompts show it."""
        return escape_tags(self.gist(part))

    def source(self, part: BookPart) -> str:
        """Return the text that the gist of a part is made from."""
        return "\n\n".join(map(self.text, part.parts))

    def words(self, part: BookPart) -> int:
        gist = self.memory.gists[part.first - 1] if not part.level else self.gists[part]
        return gist.words if gist else 0


def lay_out(memory: GistMemory, most: int, *, part_words: int = PART_WORDS) -> tuple[tuple[BookPart, ...], ...]:
    """Return the levels that a view of at most ``most`` words needs: pages, then parts until they probably fit.

    ``most`` 0: all levels up to one part, which is the whole book. ``part_words``: most words of gists that are
    shortened to the gist of one part.
    """
    pages = tuple(BookPart(0, n, n) for n in memory.readable)
    sizes = [gist.words for n in memory.readable if (gist := memory.gists[n - 1])]
    section_starts = {section.start for section in memory.document.sections}
    levels, level = [pages], 0
    while sum(sizes) > (most * ROOM if level else most) and len(levels[-1]) > 1:
        level += 1
        parts: list[BookPart] = []
        merged: list[int] = []
        for start, end in _runs(levels[-1], sizes, memory, section_starts, part_words):
            below = levels[-1][start:end]
            parts.append(BookPart(level, below[0].first, below[-1].last, below))
            merged.append(round(sum(sizes[start:end]) * PART_SHARE))
        if len(parts) == len(levels[-1]):
            break
        levels.append(tuple(parts))
        sizes = merged
    return tuple(levels)


def _runs(
    parts: Sequence[BookPart], sizes: Sequence[int], memory: GistMemory, section_starts: set[int], most: int
) -> Iterator[tuple[int, int]]:
    """Yield runs of at least two parts where possible, as (start, end).

    A run of more than half of ``most`` words ends where a section ends.
    """
    start, words = 0, 0
    for index, size in enumerate(sizes):
        full = words + size > most and index - start >= 2
        section = words >= most // 2 and memory.page(parts[index].first).start in section_starts
        if index > start and (full or section):
            yield start, index
            start, words = index, 0
        words += size
    yield start, len(parts)


def make_levels(run: Run, most: int) -> Levels:
    """Return the levels of the run's memory, of which the last has about ``most`` words. Raises ModelError.

    The missing gists of parts are made by the model, several at once, and stored one by one. A gist depends on the
    text of the gists below it and on nothing else: a part that ends at the spoiler limit has a gist of its own.
    """
    made = Levels(run.memory, _lay_out_for(run.model, run.memory, most), {})
    if len(made.levels) == 1:
        return made
    with run.open_artifact(KIND, *_made_from(run.model, run.memory)) as artifact:
        stored = dict(artifact.stored or {})
        saving = threading.Lock()

        def make(text: str) -> None:
            gist = asdict(_shorten(run, text))
            with saving:  # before the next call begins, so that a killed process loses only calls under way
                stored[_key(text)] = gist
                artifact.save(stored)

        for level in made.levels[1:]:
            sources = {part: made.source(part) for part in level}
            missing = dict.fromkeys(text for text in sources.values() if _key(text) not in stored)
            with run.calls_at_once() as pool:
                for done in as_completed([pool.submit(make, text) for text in missing]):
                    done.result()
            for part, text in sources.items():
                values = stored[_key(text)]
                made.gists[part] = Gist(**{**values, "marks": tuple(values["marks"])})
    return made


def count_missing(model: ChatModel, memory: GistMemory, most: int, store: ArtifactStore) -> int:
    """Return how many gists ``make_levels`` would make now, of those that ``store`` has not."""
    stored = store.load(KIND, artifact_key(*_made_from(model, memory))) or {}
    made = Levels(memory, _lay_out_for(model, memory, most), {})
    missing = 0
    for level in made.levels[1:]:
        for part in level:
            known = all(not below.level or below in made.gists for below in part.parts)
            values = stored.get(_key(made.source(part))) if known else None
            if values is None:
                missing += 1
            else:
                made.gists[part] = Gist(**{**values, "marks": tuple(values["marks"])})
    return missing


def _lay_out_for(model: ChatModel, memory: GistMemory, most: int) -> tuple[tuple[BookPart, ...], ...]:
    room = max_context_words(AskSettings(), model, sample=memory.gist_text, around=_SHORTENING, reply_words=0)
    return lay_out(memory, most, part_words=PART_WORDS if room is None else min(PART_WORDS, room))


def _made_from(model: ChatModel, memory: GistMemory) -> tuple[Any, ...]:
    """Return what the stored gists of parts depend on besides the gists below them."""
    language = memory.document.language
    versions = [template_hash(name, language) for name in ("gist", "gist.rules")]
    return model.name, language, memory.plan.key, versions


def _key(text: str) -> str:
    return hashlib.sha256(f"{PART_SHARE:.4f} {text}".encode()).hexdigest()[:24]


def _shorten(run: Run, text: str) -> Gist:
    run.cancel.check()
    return shorten_text(
        text,
        run.memory.plan,
        run.model,
        language=run.language,
        lengths=gist_lengths(count_words(text), PART_SHARE),
        cancel=run.cancel,
    )
