"""The document that a loader makes of a file: its paragraphs in order, its sections, and notices about the import.

A paragraph is the smallest unit of reading. Headings are not paragraphs: a section has a title and the index of its
first paragraph, and the title is shown above that paragraph. So no page can end between a heading and its text.
Pictures are not paragraphs either: a figure belongs to the paragraph it comes before or after.

``document.paragraph`` has the paragraph itself, ``document.figures`` its pictures.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any

from readagent_core.document.figures import Cover as Cover
from readagent_core.document.figures import Figure as Figure
from readagent_core.document.figures import Picture as Picture
from readagent_core.document.figures import move_figures as move_figures
from readagent_core.document.paragraph import MATHML_ATTRIBUTES as MATHML_ATTRIBUTES
from readagent_core.document.paragraph import MATHML_TAGS as MATHML_TAGS
from readagent_core.document.paragraph import Paragraph as Paragraph
from readagent_core.document.paragraph import Span as Span
from readagent_core.document.paragraph import SpanKind as SpanKind
from readagent_core.document.paragraph import is_outside_address as is_outside_address
from readagent_core.short_repr import short_repr
from readagent_core.words import is_right_to_left, split_long

VERSION = 1


@dataclass(frozen=True)
class Section:
    """A chapter or heading. ``start``: index of its first paragraph. ``level``: 1 is the outermost."""

    title: str
    start: int
    level: int = 1

    @property
    def line(self) -> str:
        """The title as it stands in the text that models see."""
        return f"{'#' * min(self.level + 1, 6)} {self.title}"


class NoticeKind(StrEnum):
    """What a notice of the import is about, in the order in which a report shows them."""

    DOUBTFUL = "doubtful"
    LEFT_OUT = "left-out"
    KEPT = "kept"
    SOURCE = "source"


_NOTICE_KINDS = {  # codes of KEPT begin with 'kept-'; any other is of SOURCE
    NoticeKind.DOUBTFUL: "encoding undecodable order-guessed parts-missing part-dropped lost-breaks references-lost "
    "mended recognised-doubtful other-format pages-without-text pages-unreadable pages-damaged pages-not-read "
    "text-unreadable text-misread letters-mended",
    NoticeKind.LEFT_OUT: "aozora badges contents furniture gutenberg hidden outside-main parts-left-out parts-outside "
    "cover-drawn picture-parts pictures-left-out no-pictures publisher",
}


@dataclass(frozen=True)
class Notice:
    """A notice for the reader about the import. ``code``: for programs. ``message``: for screens.

    ``places``: the paragraphs where the first of what it tells can be seen."""

    code: str
    message: str
    count: int = 1
    places: tuple[int, ...] = ()

    @classmethod
    def from_list(cls, row: Sequence[Any], paragraphs: int) -> Notice:
        """Return the notice of a text of so many paragraphs; one that was stored before has no places."""
        code, message, count, places = (*row, ())[:4]
        return cls(code, message, count, tuple(place for place in places if 0 <= place < paragraphs))

    @property
    def kind(self) -> NoticeKind:
        if self.code.startswith("kept-") or self.code == "pictures":
            return NoticeKind.KEPT
        return next((kind for kind, codes in _NOTICE_KINDS.items() if self.code in codes.split()), NoticeKind.SOURCE)


@short_repr
@dataclass(frozen=True)
class Document:
    """A text to be read.

    ``id``: hash of the text, the same for any file with the same words. ``sections``: in order of ``start``; several
    may start at one paragraph (a part and its first chapter). ``format``: 'text', 'markdown', 'html', 'epub', 'pdf',
    … ``language``: BCP 47, e.g. 'en'. ``vertical``: the source sets its lines from top to bottom. ``doubtful_pages``:
    source pages, from 1, whose text is missing because they are pictures or because their fonts cannot be read.
    ``recognised_pages``: those whose text was recognised, each with its confidence from 0 to 1.
    ``figures``: in the order of the text; they do not change the ``id``. ``pictures``: theirs, as a loader made them.
    ``series``: the series that the book belongs to and its number there, as the file says.
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
    figures: tuple[Figure, ...] = ()
    pictures: tuple[Picture, ...] = field(default=(), compare=False, repr=False)
    series: tuple[str, float] | None = field(default=None, compare=False)

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
    def _figures(self) -> dict[tuple[int, bool], list[Figure]]:
        found: dict[tuple[int, bool], list[Figure]] = {}
        for figure in self.figures:
            found.setdefault((figure.paragraph, figure.after), []).append(figure)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [s.start for s in self.sections]

    @cached_property
    def _ends(self) -> list[int]:
        """For each paragraph the characters of the text up to its end."""
        return list(accumulate(len(p.text) for p in self.paragraphs))

    @cached_property
    def _parts(self) -> list[str]:
        """For each paragraph two entries: the separator before it, and its text with section titles."""
        parts: list[str] = []
        for index, paragraph in enumerate(self.paragraphs):
            joined = paragraph.continues and not self._before(index)
            parts += ("" if joined else "\n\n", self.shown(index))
        return parts

    @cached_property
    def has_spans(self) -> bool:
        return any(p.spans for p in self.paragraphs)

    @cached_property
    def spans_hash(self) -> int:
        """Tells apart documents with one text and other notes or spans."""
        return hash(tuple((i, p.note, p.spans) for i, p in enumerate(self.paragraphs) if p.note or p.spans))

    @cached_property
    def references_to(self) -> dict[int, list[tuple[int, Span]]]:
        """The references to each paragraph, by its number: the way back from a note."""
        found: dict[int, list[tuple[int, Span]]] = {}
        for index, paragraph in enumerate(self.paragraphs):
            for span in paragraph.spans:
                if span.target is not None:
                    found.setdefault(span.target, []).append((index, span))
        return found

    def headings(self, index: int) -> Sequence[Section]:
        """Return the sections that start at paragraph ``index``, outermost first."""
        return self._titles.get(index, ())

    def section_of(self, index: int) -> Section | None:
        """Return the innermost section that has paragraph ``index``; None before the first section."""
        at = bisect_right(self._starts, index)
        return self.sections[at - 1] if at else None

    def figures_at(self, index: int, *, after: bool) -> Sequence[Figure]:
        """Return the figures before paragraph ``index``, below its section titles, or those ``after`` it."""
        return self._figures.get((index, after), ())

    def shown(self, index: int) -> str:
        """Return paragraph ``index`` as models see it: with the titles and the figures that belong to it."""
        after = "".join(f"\n\n{figure.text}" for figure in self.figures_at(index, after=True))
        return self._before(index) + self.paragraphs[index].text + after

    def text_offset(self, index: int) -> int:
        """Return where the paragraph's own text begins in ``shown(index)``, in characters."""
        return len(self._before(index))

    def _before(self, index: int) -> str:
        titles = "".join(f"{section.line}\n\n" for section in self.headings(index))
        return titles + "".join(f"{figure.text}\n\n" for figure in self.figures_at(index, after=False))

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return paragraphs ``start`` to ``end`` (exclusive) as models see them, with section titles."""
        end = len(self.paragraphs) if end is None else end
        return "".join(self._parts[2 * start + 1 : 2 * end])

    def up_to(self, end: int) -> Document:
        """Return the first ``end`` paragraphs as a document: no text, title of a section or notice of a later one."""
        sections = tuple(section for section in self.sections if section.start < end)
        kept = tuple(p.with_targets(lambda at: at if at < end else None) for p in self.paragraphs[:end])
        return replace(self, paragraphs=kept, sections=sections, warnings=(), cover=None)

    def limited(self, max_words: int) -> Document:
        """Return this document with every paragraph over ``max_words`` split at sentence ends; same ``id``."""
        if all(p.words <= max_words for p in self.paragraphs):
            return self
        paragraphs: list[Paragraph] = []
        new_index: list[int] = []
        for paragraph in self.paragraphs:
            new_index.append(len(paragraphs))
            paragraphs += paragraph.split(split_long(paragraph.text, max_words, self.language))
        new_index.append(len(paragraphs))
        sections = tuple(replace(s, start=new_index[s.start]) for s in self.sections)
        last = [after - 1 for after in new_index[1:]]
        return replace(
            self,
            paragraphs=tuple(p.with_targets(new_index.__getitem__) for p in paragraphs),
            sections=sections,
            figures=move_figures(self.figures, new_index, last),
        )

    def count_in(self, other: Document, count: int) -> int:
        """Return how many paragraphs of ``other`` lie wholly in the first ``count`` of this document.

        One of the two is the other one as limited: they have the same characters in the same order.
        """
        return bisect_right(other._ends, self._ends[count - 1]) if count else 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the cover and the pictures as plain JSON values."""
        return {
            "version": VERSION,
            "title": self.title,
            "author": self.author,
            "language": self.language,
            "format": self.format,
            "paragraphs": [p.to_list() for p in self.paragraphs],
            "sections": [[s.title, s.start, s.level] for s in self.sections],
            "warnings": [[w.code, w.message, w.count, list(w.places)] for w in self.warnings],
            "vertical": self.vertical,
            "doubtful_pages": list(self.doubtful_pages),
            "recognised_pages": [list(page) for page in self.recognised_pages],
            "figures": [figure.to_list() for figure in self.figures],
            **({"series": list(self.series)} if self.series else {}),
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
            paragraphs=tuple(Paragraph.from_list(row, len(data["paragraphs"])) for row in data["paragraphs"]),
            sections=tuple(Section(*row) for row in data["sections"]),
            warnings=tuple(Notice.from_list(row, len(data["paragraphs"])) for row in data["warnings"]),
            vertical=bool(data.get("vertical")),  # a text stored before has no such field
            doubtful_pages=tuple(data.get("doubtful_pages", ())),  # older documents have none
            recognised_pages=tuple((number, confidence) for number, confidence in data.get("recognised_pages", ())),
            figures=tuple(Figure.from_list(row, len(data["paragraphs"])) for row in data.get("figures", ())),
            series=tuple(data["series"]) if data.get("series") else None,
        )
