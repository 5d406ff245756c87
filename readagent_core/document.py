"""The document that a loader makes of a file: its paragraphs in order, its sections, and notices about the import.

A paragraph is the smallest unit of reading. Headings are not paragraphs: a section has a title and the index of its
first paragraph, and the title is shown above that paragraph. So no page can end between a heading and its text.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from readagent_core.words import count_words, is_right_to_left, split_long

VERSION = 1


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. ``place``: its position in the source ("p. 12", "Chapter 3"); '' if unknown.

    ``continues``: a later part of a paragraph that was split because it was longer than a page; joined to the part
    before it without a separator it gives the original. ``confidence``: 0 to 1, of a text that was recognised in a
    picture of its page; None for text that the file itself has.
    """

    text: str
    place: str = ""
    continues: bool = False
    confidence: float | None = None

    @cached_property
    def words(self) -> int:
        return count_words(self.text)


@dataclass(frozen=True)
class Section:
    """A chapter or heading. ``start``: index of its first paragraph. ``level``: 1 is the outermost."""

    title: str
    start: int
    level: int = 1


@dataclass(frozen=True)
class Notice:
    """A notice for the reader about the import. ``code``: for programs. ``message``: for screens."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True)
class Cover:
    """The cover picture in the book's file. ``kind``: its MIME type."""

    data: bytes
    kind: str


@dataclass(frozen=True)
class Document:
    """A text to be read.

    ``id``: hash of the text, the same for any file with the same words. ``sections``: in order of ``start``; several
    may start at one paragraph (a part and its first chapter). ``format``: 'text', 'markdown', 'html', 'epub', 'pdf',
    … ``language``: BCP 47, e.g. 'en'. ``vertical``: the source sets its lines from top to bottom. ``doubtful_pages``:
    source pages, from 1, whose text is missing because they are pictures or because their fonts cannot be read.
    ``recognised_pages``: those whose text was recognised, each with its confidence from 0 to 1.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]
    sections: tuple[Section, ...] = ()
    author: str = ""
    language: str = "en"
    format: str = "text"
    warnings: tuple[Notice, ...] = ()
    cover: Cover | None = field(default=None, compare=False, repr=False)
    vertical: bool = False
    doubtful_pages: tuple[int, ...] = ()
    recognised_pages: tuple[tuple[int, float], ...] = ()

    @cached_property
    def id(self) -> str:
        digest = hashlib.sha256()
        for index, paragraph in enumerate(self.paragraphs):
            if index and not paragraph.continues:
                digest.update(b"\n\n")
            digest.update(paragraph.text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:32]

    @cached_property
    def words(self) -> int:
        return sum(p.words for p in self.paragraphs)

    @cached_property
    def recognised_words(self) -> int:
        """The words of the paragraphs that were recognised in pictures of their pages."""
        return sum(p.words for p in self.paragraphs if p.confidence is not None)

    @cached_property
    def right_to_left(self) -> bool:
        return is_right_to_left(self.text(0, min(len(self.paragraphs), 40)))

    @cached_property
    def _titles(self) -> dict[int, list[Section]]:
        found: dict[int, list[Section]] = {}
        for section in self.sections:
            found.setdefault(section.start, []).append(section)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [s.start for s in self.sections]

    @cached_property
    def _parts(self) -> list[str]:
        """For each paragraph two entries: the separator before it, and its text with section titles."""
        parts: list[str] = []
        for index, paragraph in enumerate(self.paragraphs):
            parts += ("" if paragraph.continues and not self.headings(index) else "\n\n", self.shown(index))
        return parts

    def headings(self, index: int) -> Sequence[Section]:
        """Return the sections that start at paragraph ``index``, outermost first."""
        return self._titles.get(index, ())

    def section_of(self, index: int) -> Section | None:
        """Return the innermost section that has paragraph ``index``; None before the first section."""
        at = bisect_right(self._starts, index)
        return self.sections[at - 1] if at else None

    def shown(self, index: int) -> str:
        """Return paragraph ``index`` as models see it: below the titles of the sections that start there."""
        titles = "".join(f"{'#' * min(s.level + 1, 6)} {s.title}\n\n" for s in self.headings(index))
        return titles + self.paragraphs[index].text

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return paragraphs ``start`` to ``end`` (exclusive) as models see them, with section titles."""
        end = len(self.paragraphs) if end is None else end
        return "".join(self._parts[2 * start + 1 : 2 * end])

    def limited(self, max_words: int) -> Document:
        """Return this document with every paragraph over ``max_words`` split at sentence ends; same ``id``."""
        if all(p.words <= max_words for p in self.paragraphs):
            return self
        paragraphs: list[Paragraph] = []
        new_index: list[int] = []
        for paragraph in self.paragraphs:
            new_index.append(len(paragraphs))
            pieces = split_long(paragraph.text, max_words, self.language)
            paragraphs.append(replace(paragraph, text=pieces[0]))
            paragraphs.extend(replace(paragraph, text=piece, continues=True) for piece in pieces[1:])
        new_index.append(len(paragraphs))
        sections = tuple(replace(s, start=new_index[s.start]) for s in self.sections)
        return replace(self, paragraphs=tuple(paragraphs), sections=sections)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the cover as plain JSON values."""
        return {
            "version": VERSION,
            "title": self.title,
            "author": self.author,
            "language": self.language,
            "format": self.format,
            "paragraphs": [_paragraph_row(p) for p in self.paragraphs],
            "sections": [[s.title, s.start, s.level] for s in self.sections],
            "warnings": [[w.code, w.message, w.count] for w in self.warnings],
            "vertical": self.vertical,
            "doubtful_pages": list(self.doubtful_pages),
            "recognised_pages": [list(page) for page in self.recognised_pages],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Document:
        """Return the document that ``to_dict`` turned into ``data``. Raises ValueError for another version."""
        if data.get("version") != VERSION:
            raise ValueError(f"document version {data.get('version')!r} is not {VERSION}")
        return cls(
            title=data["title"],
            author=data["author"],
            language=data["language"],
            format=data["format"],
            paragraphs=tuple(Paragraph(*row) for row in data["paragraphs"]),
            sections=tuple(Section(*row) for row in data["sections"]),
            warnings=tuple(Notice(*row) for row in data["warnings"]),
            vertical=bool(data.get("vertical")),  # a text stored before has no such field
            doubtful_pages=tuple(data.get("doubtful_pages", ())),  # older documents have none
            recognised_pages=tuple((number, confidence) for number, confidence in data.get("recognised_pages", ())),
        )


def _paragraph_row(paragraph: Paragraph) -> list[Any]:
    row: list[Any] = [paragraph.text, paragraph.place, paragraph.continues]
    return row if paragraph.confidence is None else [*row, paragraph.confidence]
