"""Pages, gists and the gist memory: the result of a gisting, and its text as models see it.

``memory.text(expanded={4, 7})`` is the gist memory with pages 4 and 7 expanded in place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from readagent_core.document import Document, Section
from readagent_core.model_names import short_name
from readagent_core.plan import GistingPlan
from readagent_core.short_repr import short_repr
from readagent_core.tags import escape_tags, page_tag
from readagent_core.usage import Usage
from readagent_core.words import count_of, count_words

VERSION = 1

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)\n*", re.MULTILINE)  # in a gist, which may have copied it
_COPIED = re.compile(r"[ \t]*\[figure(?::[^\]\n]*)?\]|^#{1,6}[ \t]+", re.MULTILINE | re.IGNORECASE)


class PageEnd(StrEnum):
    """Why a page ends where it does."""

    PAUSE = "pause"  # chosen by the model
    SECTION = "section"  # a section ends
    ONLY = "only"  # the one possible place
    RULE = "rule"  # cut by rule
    END = "end"  # of the text


@short_repr
@dataclass(frozen=True)
class Page:
    """A page: paragraphs ``start`` to ``end`` (exclusive) of the memory's document. Numbers start at 1.

    ``words``: of its paragraphs, section titles not counted. ``reason``: the model's words for pausing at its end.
    ``fallback``: no reply named a pause point that was offered, so the page ends by rule.
    """

    number: int
    start: int
    end: int
    words: int
    reason: str = ""
    fallback: bool = False
    ends: PageEnd = PageEnd.PAUSE


@short_repr
@dataclass(frozen=True)
class Gist:
    """The gist of a page.

    ``fallback``: no usable reply came, so these are the page's first sentences. ``whole``: the page is so short that it
    is its own gist. ``edited``: changed by the reader. ``level``: how often it was shortened again (0: never).
    ``marks``: findings of the audit, for screens.
    """

    text: str
    fallback: bool = False
    whole: bool = False
    edited: bool = False
    level: int = 0
    marks: tuple[str, ...] = ()

    @cached_property
    def words(self) -> int:
        return count_words(self.text)


@dataclass(frozen=True)
class StoredText:
    """Where a memory's text is stored: ``home``, the folder of a library, and ``id``, of the whole text."""

    home: Path
    id: str


class Passage(NamedTuple):
    """A part of a page: paragraphs ``start`` to ``end`` (exclusive) of the memory's document.

    ``first``: the character of its first paragraph at which it begins. ``stop``: the character of its last one before
    which it ends; 0 where it has all of that paragraph.
    """

    page: int
    start: int
    end: int
    first: int = 0
    stop: int = 0

    @property
    def begins(self) -> tuple[int, int]:
        """The paragraph and character at which it begins."""
        return self.start, self.first

    @property
    def ends(self) -> tuple[int, int]:
        """The paragraph and character before which it ends."""
        return (self.end - 1, self.stop) if self.stop else (self.end, 0)


@short_repr
@dataclass(frozen=True)
class GistMemory:
    """A reading of ``document``: its pages in order, and the gist of each (None: not made yet).

    No paragraph of ``document`` is longer than the plan's ``max_words``. ``complete``: the pages cover the whole
    document and all have gists. ``model``: name of the model. ``recorded``: date of a recorded sample, else ''.
    ``stored``: of a memory from a library, so that what is made for one question is there for the next.
    """

    document: Document
    plan: GistingPlan
    pages: tuple[Page, ...]
    gists: tuple[Gist | None, ...]
    model: str = ""
    complete: bool = False
    recorded: str = ""
    usage: Usage = field(default_factory=Usage)
    stored: StoredText | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.pages) != len(self.gists):
            raise ValueError(f"{len(self.pages)} pages but {len(self.gists)} gists")

    def page(self, number: int) -> Page:
        """Return page ``number`` (from 1). Raises KeyError where there is none."""
        if not 1 <= number <= len(self.pages):
            raise KeyError(number)
        return self.pages[number - 1]

    def page_text(self, number: int) -> str:
        """Return the full text of a page with section titles, as the book has it."""
        page = self.page(number)
        return self.document.text(page.start, page.end)

    def shown_gist(self, number: int) -> str:
        """Return the gist of a page without what it copied of the book's form: the signs of headings and pictures, and
        the page's own section titles, which stand above it; '' where none is made."""
        page, gist = self.page(number), self.gists[number - 1]
        text = gist.text if gist is not None else ""
        above = {s.title.strip() for index in range(page.start, page.end) for s in self.document.headings(index)}
        return _COPIED.sub("", _HEADING.sub(lambda it: "" if it[1].strip() in above else it[0], text)).strip() or text

    def label(self, number: int) -> str:
        """Return how prompts and citations name a page; of several books '2.7', page 7 of book 2."""
        return str(number)

    def number_of(self, label: str) -> int | None:
        """Return the page that prompts name ``label``; None where no page has it."""
        return int(label) if label.isdecimal() and 1 <= int(label) <= len(self.pages) else None

    def section_of(self, number: int) -> Section | None:
        return self.document.section_of(self.page(number).start)

    def page_at(self, paragraph: int) -> Page | None:
        """Return the page that has paragraph ``paragraph``; None where it is not read yet."""
        index = bisect_right(self.pages, paragraph, key=lambda page: page.end)
        return self.pages[index] if index < len(self.pages) and self.pages[index].start <= paragraph else None

    @cached_property
    def readable(self) -> tuple[int, ...]:
        """Numbers of the pages that have a gist: questions can be answered from these."""
        return tuple(p.number for p, g in zip(self.pages, self.gists, strict=True) if g is not None)

    @cached_property
    def readable_words(self) -> int:
        """Words of the pages that have a gist."""
        return sum(self.pages[n - 1].words for n in self.readable)

    @cached_property
    def words(self) -> int:
        """Words of all its pages, with and without a gist."""
        return sum(page.words for page in self.pages)

    @cached_property
    def gist_words(self) -> int:
        return sum(g.words for g in self.gists if g is not None)

    @cached_property
    def fallback_gists(self) -> int:
        """How many gists are the first sentences of their page, because no usable reply came."""
        return sum(gist.fallback for gist in self.gists if gist is not None)

    @cached_property
    def own_gists(self) -> int:
        """How many gists the model made: neither fallbacks, nor pages short enough to be their own gist."""
        return sum(not (gist.fallback or gist.whole or gist.edited) for gist in self.gists if gist is not None)

    @property
    def made_by(self) -> str:
        """Who made the gists, in words: '15 gists by gpt-5-mini, 3 are the first sentences of their page …'."""
        words = f"{count_of(self.own_gists, 'gist')} by {short_name(self.model)}"
        if self.fallback_gists:
            are = "is the first sentences of its page" if self.fallback_gists == 1 else "are first sentences of pages"
            words += f"; {self.fallback_gists:,} {are}, because no usable reply came"
        return words

    @cached_property
    def _entries(self) -> list[str]:
        """Every page as its gist, below its tag."""
        return [self._entry(number, gist.text if gist else "") for number, gist in enumerate(self.gists, start=1)]

    @cached_property
    def gist_text(self) -> str:
        """Every gist below its page's tag: ``text()``, computed once for all questions."""
        return "\n\n".join([self._entries[n - 1] for n in self.readable])

    @cached_property
    def gist_text_words(self) -> int:
        return count_words(self.gist_text)

    @cached_property
    def whole_text(self) -> str:
        """The document's text for prompts, computed once for all questions."""
        return escape_tags(self.document.text())

    @cached_property
    def whole_words(self) -> int:
        return count_words(self.whole_text)

    def entry(self, number: int, *, full: bool) -> str:
        """Return one page of the memory below its tag: its gist, or its full text."""
        return self._entry(number, self.page_text(number), full=True) if full else self._entries[number - 1]

    def _entry(self, number: int, body: str, *, full: bool = False) -> str:
        return f"{page_tag(number, full=full, language=self.document.language)}\n{escape_tags(body)}"

    def text(self, expanded: Collection[int] = ()) -> str:
        """Return the gist memory as the model sees it, with the ``expanded`` pages in full in place."""
        if not expanded:
            return self.gist_text
        return "\n\n".join(self.entry(n, full=n in expanded) for n in self.readable)

    def words_with(self, expanded: Collection[int]) -> int:
        """Return the words of gists and ``expanded`` pages in context, without tags and titles (docs/methods.md)."""
        words = 0
        for number in self.readable:
            gist = self.gists[number - 1]
            words += self.page(number).words if number in expanded else gist.words if gist else 0
        return words

    def seen(self, expanded: Collection[int]) -> dict[int, str]:
        """Return how each readable page is seen with the ``expanded`` ones in full: 'full' or 'gist'."""
        return {number: "full" if number in expanded else "gist" for number in self.readable}

    def entries(self, expanded: Collection[int]) -> tuple[tuple[int, int, str], ...]:
        """Return what ``Expanded.shown`` says of it; nothing where every page has an entry of its own."""
        return ()

    def up_to(self, number: int) -> GistMemory:
        """Return this memory without the pages after ``number``, over a document without their paragraphs.

        The result holds no text of a later page.
        """
        pages = self.pages[:number]
        document = self.document.up_to(pages[-1].end if pages else 0)
        return replace(self, document=document, pages=pages, gists=self.gists[:number], complete=False)

    @property
    def compression_rate(self) -> float:
        """The compression rate of the gists, in percent: 100 × (1 − gist words ÷ words of the pages with a gist)."""
        return compression_rate(self.gist_words, self.readable_words)

    def to_dict(self) -> dict[str, Any]:
        """Return pages and gists as plain JSON values, without the document."""
        return {
            "version": VERSION,
            "document_id": self.document.id,
            "plan": self.plan.to_dict(),
            "pages": [asdict(p) for p in self.pages],
            "gists": [None if g is None else asdict(g) for g in self.gists],
            "model": self.model,
            "complete": self.complete,
            "recorded": self.recorded,
            "usage": self.usage.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], document: Document) -> GistMemory:
        """Return the memory that ``to_dict`` turned into ``data``. Raises ValueError if ``document`` is not its own."""
        if data.get("version") != VERSION:
            raise ValueError(f"memory version {data.get('version')!r} is not {VERSION}")
        if data["document_id"] != document.id:
            raise ValueError("this memory belongs to another text")
        plan = GistingPlan.from_dict(data["plan"])
        return cls(
            document=document.limited(plan.max_words),
            plan=plan,
            pages=tuple(Page(**{**p, "ends": PageEnd(p["ends"])}) for p in data["pages"]),
            gists=tuple(None if g is None else Gist(**{**g, "marks": tuple(g["marks"])}) for g in data["gists"]),
            model=data["model"],
            complete=data["complete"],
            recorded=data["recorded"],
            usage=Usage.from_dict(data["usage"]),
        )


def compression_rate(seen_words: int, document_words: int) -> float:
    """Return 100 × (1 − words in context ÷ words of the document), in percent; 0 for an empty document.

    See docs/methods.md.
    """
    return 100 * (1 - seen_words / document_words) if document_words else 0.0


def check_coverage(document: Document, pages: Sequence[Page]) -> None:
    """Raise ValueError unless ``pages`` cover ``document`` exactly: every paragraph once, in order."""
    position = 0
    for expected, page in enumerate(pages, start=1):
        if page.number != expected or page.start != position or page.end <= page.start:
            raise ValueError(f"page {page.number} ({page.start}-{page.end}) does not follow paragraph {position}")
        position = page.end
    if position != len(document.paragraphs):
        raise ValueError(f"pages end at paragraph {position} of {len(document.paragraphs)}")
