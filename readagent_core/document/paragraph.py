"""A paragraph of a document: its plain text, and what stands beside it as spans.

References, ruby and formulas are spans, so that models, counts and prompts see the text alone: of ruby the base, of a
formula one readable line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from readagent_core.short_repr import short_repr
from readagent_core.words import count_words

_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
MATHML_TAGS = (
    "math|mrow|mi|mn|mo|mtext|mspace|ms|mfrac|msqrt|mroot|mstyle|merror|mpadded|mphantom|msub|msup|msubsup|munder|"
    "mover|munderover|mmultiscripts|mprescripts|none|mtable|mtr|mlabeledtr|mtd|menclose"
)
MATHML_ATTRIBUTES = (
    "display|mathvariant|stretchy|fence|separator|form|accent|accentunder|displaystyle|scriptlevel|linethickness|"
    "columnalign|rowspan|columnspan|notation|lspace|rspace|width|height|depth|minsize|maxsize|largeop|movablelimits"
)
_MATHML = re.compile(rf'(?:</?(?:{MATHML_TAGS})(?: (?:{MATHML_ATTRIBUTES})="[\w.% -]*")*/?>|[^<>&]++|&(?:amp|lt|gt);)+')


class SpanKind(StrEnum):
    """What a span says of its text."""

    NOTE = "note"
    LINK = "link"
    RUBY = "ruby"
    FORMULA = "formula"


@dataclass(frozen=True)
class Span:
    """What the characters ``start`` to ``end`` (exclusive) of a paragraph are.

    NOTE: a reference to a note, between two characters (``start`` is ``end``), because its mark is not in the text;
    ``text``: the mark ('1', '*'); ``target``: the paragraph in which the note begins. LINK: its ``target`` is a
    paragraph, or its ``text`` an address outside of the book. RUBY: ``text`` is the reading of the base. FORMULA:
    ``text`` is MathML of elements and attributes that are safe to draw.
    """

    start: int
    end: int
    kind: SpanKind
    text: str = ""
    target: int | None = None

    def is_valid(self, characters: int, paragraphs: int) -> bool:
        """Return whether the span fits a paragraph of so many characters, and nothing in it can do harm."""
        if not 0 <= self.start <= self.end <= characters:
            return False
        if self.kind == SpanKind.FORMULA:
            return bool(_MATHML.fullmatch(self.text))
        if self.kind == SpanKind.RUBY:
            return bool(self.text)
        if self.target is None:
            return self.kind == SpanKind.LINK and is_outside_address(self.text)
        return 0 <= self.target < paragraphs


def is_outside_address(text: str) -> bool:
    """Return whether ``text`` is an address that a link may open: of the web, or for mail."""
    return bool(_ADDRESS.fullmatch(text))


@short_repr
@dataclass(frozen=True)
class Paragraph:
    """A paragraph. ``place``: its position in the source ("p. 12", "Chapter 3"); '' if unknown.

    ``continues``: a later part of a paragraph that was split because it was longer than a page; joined to the part
    before it without a separator it gives the original. ``confidence``: 0 to 1, of a text that was recognised in a
    picture of its page; None for text that the file itself has. ``note``: it is part of a footnote or endnote.
    ``spans``: in the order of the text.
    """

    text: str
    place: str = ""
    continues: bool = False
    confidence: float | None = None
    note: bool = False
    spans: tuple[Span, ...] = ()

    @cached_property
    def words(self) -> int:
        return count_words(self.text)

    @property
    def readings(self) -> str:
        """The readings of the ruby in it, which a search finds beside the text."""
        return " ".join(span.text for span in self.spans if span.kind == SpanKind.RUBY)

    def to_list(self) -> list[Any]:
        """Return the fields as plain JSON values, in order, without those at the end that have their default."""
        spans = [[s.start, s.end, s.kind.value, s.text, s.target] for s in self.spans]
        more = (
            (self.confidence, self.note, spans)
            if spans
            else (self.confidence, True)
            if self.note
            else (self.confidence,)
        )
        return [self.text, self.place, self.continues, *(more if more != (None,) else ())]

    @classmethod
    def from_list(cls, row: Sequence[Any], paragraphs: int) -> Paragraph:
        """Return the paragraph that ``to_list`` gave. Raises ValueError for spans that do not fit the text."""
        found = cls(*row[:5])
        spans = tuple(Span(a, b, SpanKind(kind), text, target) for a, b, kind, text, target in row[5:] and row[5])
        if not all(span.is_valid(len(found.text), paragraphs) for span in spans):
            raise ValueError("a reference, a reading or a formula does not fit its paragraph")
        return replace(found, spans=spans) if spans else found

    def split(self, pieces: Sequence[str]) -> list[Paragraph]:
        """Return the paragraph as several, whose texts are ``pieces``.

        A link is cut where the text is, and another span that would be cut is left out."""
        if len(pieces) == 1:
            return [self]
        found: list[Paragraph] = []
        at = 0
        for piece in pieces:
            end = at + len(piece)
            spans = tuple(
                replace(s, start=max(s.start - at, 0), end=min(s.end, end) - at)
                for s in self.spans
                if ((at < s.end <= end and s.start >= at) or s.end == at == 0)
                or (s.kind == SpanKind.LINK and s.start < end and s.end > at)
            )
            found.append(replace(self, text=piece, continues=self.continues or at > 0, spans=spans))
            at = end
        return found

    def joined(self, after: Paragraph) -> Paragraph:
        """Return this paragraph with the text and the spans of its next part, and one span for the parts of a link."""
        at = len(self.text)
        spans, moved = list(self.spans), [replace(s, start=s.start + at, end=s.end + at) for s in after.spans]
        if spans and moved and spans[-1].end == at == moved[0].start < moved[0].end:
            whole = replace(moved[0], start=spans[-1].start)
            if whole == replace(spans[-1], end=whole.end):
                spans, moved = [*spans[:-1], whole], moved[1:]
        return replace(self, text=self.text + after.text, spans=(*spans, *moved))

    def with_targets(self, place: Callable[[int], int | None]) -> Paragraph:
        """Return the paragraph with the target of each span moved by ``place``, without spans whose target is None."""
        if all(span.target is None for span in self.spans):
            return self
        moved = [s if s.target is None else replace(s, target=place(s.target)) for s in self.spans]
        kept = tuple(
            new for old, new in zip(self.spans, moved, strict=True) if old.target is None or new.target is not None
        )
        return replace(self, spans=kept)
