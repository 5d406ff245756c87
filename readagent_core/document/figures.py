"""The pictures of a document: its cover, and the figures with the places where they stand in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from readagent_core.short_repr import short_repr

_PICTURE_ID = re.compile(r"(?:[0-9a-f]{32})?")


@short_repr
@dataclass(frozen=True)
class Cover:
    """The cover picture in the book's file. ``kind``: its MIME type."""

    data: bytes
    kind: str


@short_repr
@dataclass(frozen=True)
class Picture:
    """A picture that was decoded and encoded again. ``id``: hash of ``data``. ``kind``: its MIME type, JPEG or PNG."""

    id: str
    kind: str
    data: bytes


@dataclass(frozen=True)
class Figure:
    """A picture in the text, before the paragraph with index ``paragraph`` or ``after`` it.

    ``alt``: its alternative text, '' without one. ``caption``: index of the paragraph that is its caption. ``picture``:
    id of its ``Picture``, '' where it could not be read. ``width`` and ``height``: in pixels, 0 where unknown.
    ``light``: most of it is white or nearly white, as of line art.
    """

    paragraph: int
    after: bool = False
    alt: str = ""
    caption: int | None = None
    picture: str = ""
    width: int = 0
    height: int = 0
    light: bool = False

    @property
    def text(self) -> str:
        """Return the words that stand for the picture in prompts."""
        return f"[figure: {self.alt}]" if self.alt else "[figure]"

    def to_list(self) -> list[Any]:
        """Return the fields as plain JSON values, in order."""
        return [self.paragraph, self.after, self.alt, self.caption, self.picture, self.width, self.height, self.light]

    @classmethod
    def from_list(cls, row: Sequence[Any], paragraphs: int) -> Figure:
        """Return the figure that ``to_list`` gave. Raises ValueError for values that do not fit the text."""
        found = cls(*row)
        places = [found.paragraph, found.paragraph if found.caption is None else found.caption]
        numbers = [*places, found.width, found.height]
        if not all(type(number) is int and number >= 0 for number in numbers) or max(places) >= paragraphs:
            raise ValueError("a figure is outside of the text")
        if type(found.after) is not bool or not isinstance(found.alt, str) or not _PICTURE_ID.fullmatch(found.picture):
            raise ValueError("a figure's place, text or picture is of another type")
        return found


def move_figures(figures: Sequence[Figure], first: Sequence[int], last: Sequence[int]) -> tuple[Figure, ...]:
    """Return ``figures`` for a text in which each paragraph became those from ``first`` to ``last`` at its index."""
    return tuple(
        replace(
            figure,
            paragraph=(last if figure.after else first)[figure.paragraph],
            caption=None if figure.caption is None else first[figure.caption],
        )
        for figure in figures
    )
