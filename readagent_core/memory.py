"""Pages, gists and the gist memory: what is kept of a reading and what the model sees of it.

``memory.text(expanded={4, 7})`` is the gist memory with pages 4 and 7 expanded in place. Knows nothing of
how pages were chosen or gists made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from readagent_core.document import Document, Section
from readagent_core.plan import ReadingPlan
from readagent_core.tags import disarm, page_tag
from readagent_core.usage import Usage
from readagent_core.words import count_words

VERSION = 1


@dataclass(frozen=True)
class Page:
    """Paragraphs ``start`` to ``end`` (exclusive) of the memory's document. Numbers start at 1.

    ``reason``: the model's own words for pausing here. ``ends``: what ended it: 'pause' (the model chose),
    'section' (a section ends), 'only' (the one place there was), 'rule' (cut by rule), 'end' (of the text).
    ``fallback``: the model named no place it was offered, so the last one was taken.
    ``words``: of its paragraphs, titles not counted.
    """

    number: int
    start: int
    end: int
    words: int
    reason: str = ""
    fallback: bool = False
    ends: str = "pause"


@dataclass(frozen=True)
class Gist:
    """A page made shorter. ``fallback``: no usable reply came, so these are the page's own first sentences.

    ``whole``: the page is so short that it is its own gist. ``edited``: changed by hand. ``level``: how
    often it was shortened again (0: once). ``marks``: what the audit found, in words for people.
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
class GistMemory:
    """A reading of ``document``: its pages in order, and the gist of each (None: not yet made).

    ``document`` is limited to the plan's ``max_words`` a paragraph. ``complete``: pages cover the whole
    document and every gist is made. ``model``: who read it. ``recorded``: date of a recording, else ''.
    """

    document: Document
    plan: ReadingPlan
    pages: tuple[Page, ...]
    gists: tuple[Gist | None, ...]
    model: str = ""
    complete: bool = False
    recorded: str = ""
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        if len(self.pages) != len(self.gists):
            raise ValueError(f"{len(self.pages)} pages but {len(self.gists)} gists")

    def page(self, number: int) -> Page:
        """Page ``number`` (from 1). Raises KeyError where there is none."""
        if not 1 <= number <= len(self.pages):
            raise KeyError(number)
        return self.pages[number - 1]

    def page_text(self, number: int) -> str:
        """The full text of a page, section titles included, as the book has it."""
        page = self.page(number)
        return self.document.text(page.start, page.end)

    def section_of(self, number: int) -> Section | None:
        return self.document.section_of(self.page(number).start)

    def page_at(self, paragraph: int) -> Page | None:
        """The page that holds paragraph ``paragraph``; None where it is not read yet."""
        low, high = 0, len(self.pages)
        while low < high:
            middle = (low + high) // 2
            if self.pages[middle].end <= paragraph:
                low = middle + 1
            else:
                high = middle
        return self.pages[low] if low < len(self.pages) and self.pages[low].start <= paragraph else None

    @cached_property
    def readable(self) -> tuple[int, ...]:
        """Numbers of the pages that have a gist: those a question can be answered from."""
        return tuple(p.number for p, g in zip(self.pages, self.gists, strict=True) if g is not None)

    @cached_property
    def readable_words(self) -> int:
        """Words of those pages."""
        return sum(self.pages[n - 1].words for n in self.readable)

    @cached_property
    def gist_words(self) -> int:
        return sum(g.words for g in self.gists if g is not None)

    @cached_property
    def _entries(self) -> list[str]:
        """Every page as its gist, under its tag: most of what every prompt holds."""
        return [self._entry(number, gist.text if gist else "") for number, gist in enumerate(self.gists, start=1)]

    @cached_property
    def gist_text(self) -> str:
        """``text()``: every gist under its page's tag, the same for all questions."""
        return "\n\n".join([self._entries[n - 1] for n in self.readable])

    @cached_property
    def gist_text_words(self) -> int:
        return count_words(self.gist_text)

    @cached_property
    def whole_text(self) -> str:
        """The document's text as prompts hold it, made once for all questions."""
        return disarm(self.document.text())

    @cached_property
    def whole_words(self) -> int:
        return count_words(self.whole_text)

    def entry(self, number: int, *, full: bool) -> str:
        """One page of the memory under its tag: its gist, or its full text."""
        return self._entry(number, self.page_text(number), full=True) if full else self._entries[number - 1]

    def _entry(self, number: int, body: str, *, full: bool = False) -> str:
        return f"{page_tag(number, full=full, language=self.document.language)}\n{disarm(body)}"

    def text(self, expanded: Collection[int] = (), *, only: Collection[int] | None = None) -> str:
        """The gist memory as the model sees it, ``expanded`` pages in full at their places.

        ``only``: leave every other page out (pages up to a reading position, pages that were retrieved).
        """
        if only is None and not expanded:
            return self.gist_text
        chosen = None if only is None else set(only)
        numbers = self.readable if chosen is None else [n for n in self.readable if n in chosen]
        return "\n\n".join(self.entry(n, full=n in expanded) for n in numbers)

    def up_to(self, number: int) -> GistMemory:
        """This memory without the pages after ``number``, and a document without their paragraphs.

        Nothing of a later page is reachable from the result, by construction.
        """
        pages = self.pages[:number]
        end = pages[-1].end if pages else 0
        document = replace(
            self.document,
            paragraphs=self.document.paragraphs[:end],
            sections=tuple(s for s in self.document.sections if s.start < end),
            warnings=(),
            cover=None,
        )
        return replace(self, document=document, pages=pages, gists=self.gists[:number], complete=False)

    def with_gist(self, number: int, gist: Gist) -> GistMemory:
        gists = list(self.gists)
        gists[number - 1] = gist
        return replace(self, gists=tuple(gists))

    @property
    def compression_rate(self) -> float:
        """Of the gists alone: 100 × (1 − gist words ÷ words of the pages that have one)."""
        return compression_rate(self.gist_words, self.readable_words)

    def to_dict(self) -> dict[str, Any]:
        """Pages and gists as plain JSON values; the document is kept apart."""
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
        """The memory that ``to_dict`` gave, over ``document``. Raises ValueError where they do not belong."""
        if data.get("version") != VERSION:
            raise ValueError(f"memory version {data.get('version')!r} is not {VERSION}")
        if data["document_id"] != document.id:
            raise ValueError("this memory belongs to another text")
        plan = ReadingPlan.from_dict(data["plan"])
        return cls(
            document=document.limited(plan.max_words),
            plan=plan,
            pages=tuple(Page(**p) for p in data["pages"]),
            gists=tuple(None if g is None else Gist(**{**g, "marks": tuple(g["marks"])}) for g in data["gists"]),
            model=data["model"],
            complete=data["complete"],
            recorded=data["recorded"],
            usage=Usage.from_dict(data["usage"]),
        )


def compression_rate(seen_words: int, document_words: int) -> float:
    """100 × (1 − words in context ÷ words of the document), docs/methods.md, 'Terms'; 0 for an empty document."""
    return 100 * (1 - seen_words / document_words) if document_words else 0.0


def check_cover(document: Document, pages: Sequence[Page]) -> None:
    """Raise ValueError unless ``pages`` cover ``document`` exactly: every paragraph once, in order."""
    position = 0
    for expected, page in enumerate(pages, start=1):
        if page.number != expected or page.start != position or page.end <= page.start:
            raise ValueError(f"page {page.number} ({page.start}-{page.end}) does not follow paragraph {position}")
        position = page.end
    if position != len(document.paragraphs):
        raise ValueError(f"pages end at paragraph {position} of {len(document.paragraphs)}")
