"""The lines of a page that were recognised in its picture, and how boxes of text become lines.

Measures are shares of the width of the page, ``y`` upwards from its foot, so that they do not depend on how large the
picture was. Pages that are turned a little are set straight. Vertical lines are turned so that they run from left to
right, and the first of them is the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, dist, sin
from statistics import median
from typing import Any

Point = tuple[float, float]
Box = tuple[Sequence[Point], str, float]  # its corners in pixels from the top left one, its text, its confidence

DOUBTFUL = 0.98  # a page below is named in the report: about 3 words in 100 are wrong (bench/recognition.py --poor)
_CERTAIN = 0.5  # text with a lower confidence is left out: specks and pictures
_LONG = 5.0  # times as wide as high; such a box shows how the page is turned
_STEEP = 0.15  # radians; a box that is turned more is no line of the page
_UPRIGHT = 1.5  # times as high as wide; such a box of several characters is a vertical line
_HEIGHT = 0.8  # the size of the letters as a share of the height of their box
_HALF_EMPTY = "「『（〔【〈《"  # the left half of their place has no ink
_MEASURED = 8  # characters; fewer do not show how wide the letters are


@dataclass(frozen=True)
class RecognisedLine:
    """``x``, ``end``: left and right edge. ``y``: middle of the line. ``confidence``: 0 to 1."""

    text: str
    x: float
    end: float
    y: float
    size: float
    confidence: float


@dataclass(frozen=True)
class RecognisedPage:
    """The lines from the top. ``confidence``: of all text that was found, also of what was left out; 1.0 of none."""

    lines: tuple[RecognisedLine, ...] = ()
    confidence: float = 1.0
    vertical: bool = False

    @property
    def doubtful(self) -> bool:
        return self.confidence < DOUBTFUL

    def to_list(self) -> list[Any]:
        """Returns the page as plain JSON values."""
        rows = [[each.text, each.x, each.end, each.y, each.size, each.confidence] for each in self.lines]
        return [rows, self.confidence, self.vertical]

    @classmethod
    def from_list(cls, values: Sequence[Any]) -> RecognisedPage:
        rows, confidence, vertical = values
        return cls(tuple(RecognisedLine(*row) for row in rows), confidence, vertical)


def arrange(boxes: Sequence[Box], width: int, height: int) -> RecognisedPage:
    """Returns the boxes that were found in a picture of ``width`` and ``height`` pixels as the lines of its page."""
    letters = sum(len(text) for _, text, _ in boxes)
    if not letters:
        return RecognisedPage()
    confidence = sum(score * len(text) for _, text, score in boxes) / letters
    certain = [(corners, text, score) for corners, text, score in boxes if score >= _CERTAIN and text.strip()]
    upright = sum(len(text) for corners, text, _ in certain if _is_upright(corners, text))
    vertical = upright * 2 > sum(len(text) for _, text, _ in certain)
    if vertical:
        certain = [([(y, width - x) for x, y in corners], text, score) for corners, text, score in certain]
    certain = _straightened(certain)
    foot = width if vertical else height
    lines = [_line(corners, text, score, foot, width) for corners, text, score in certain]
    return RecognisedPage(tuple(sorted(lines, key=lambda line: (-line.y, line.x))), round(confidence, 4), vertical)


def _is_upright(corners: Sequence[Point], text: str) -> bool:
    return len(text) > 1 and dist(corners[0], corners[3]) > _UPRIGHT * dist(corners[0], corners[1])


def _straightened(boxes: Sequence[Box]) -> list[Box]:
    """Returns the boxes turned by the angle that most of their text is turned by."""
    angles: list[float] = []
    for corners, text, _ in boxes:
        left, right = sorted(corners)[:2], sorted(corners)[2:]
        start, end = (tuple(map(median, zip(*side, strict=True))) for side in (left, right))
        if dist(start, end) > _LONG * dist(*left):
            angles += [atan2(end[1] - start[1], end[0] - start[0])] * len(text)
    angle = median(angles) if angles else 0.0
    if abs(angle) > _STEEP:
        return list(boxes)
    across, down = cos(angle), sin(angle)
    return [
        ([(x * across + y * down, y * across - x * down) for x, y in corners], text, score)
        for corners, text, score in boxes
    ]


def _line(corners: Sequence[Point], text: str, score: float, foot: int, width: int) -> RecognisedLine:
    across, down = zip(*corners, strict=True)
    x, end = min(across), max(across)
    # boxes are cut to the ink, whose height depends on the letters: their width shows their size as well
    high = _HEIGHT * min(dist(corners[0], corners[3]), dist(corners[0], corners[1]))
    wide = (end - x) / sum(_advance(c) for c in text)
    size = (high * wide) ** 0.5 if len(text) >= _MEASURED else high
    y = foot - (min(down) + max(down)) / 2
    text = text.strip()
    if text[0] in _HALF_EMPTY:
        x -= size / 2
    x, end, y, size = (round(value / width, 5) for value in (x, end, y, size))
    return RecognisedLine(text, x, end, y, size, round(score, 3))


def _advance(character: str) -> float:
    """Returns about how wide a character is, in its size."""
    if ord(character) > 0x2E7F:
        return 1.0  # Chinese and Japanese
    return 0.65 if character.isupper() else 0.44
