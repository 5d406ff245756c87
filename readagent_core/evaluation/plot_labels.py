"""Where the numbers of a drawing's points go, so that none hides a point, an interval or another number.

Knows nothing of SVG: places are pixels, y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_WIDE, _TALL = 7.4, 13.0  # of a digit at 13 px
_DOT = 6.0
_NEAR = 6.0  # points closer than this share a label

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass
class Mark:
    """A point at (``x``, ``y``), its interval from ``high`` down to ``low``, and the numbers of what lies there."""

    x: float
    y: float
    high: float
    low: float
    numbers: list[int]

    @property
    def text(self) -> str:
        return ", ".join(map(str, self.numbers))


def gathered(marks: Sequence[Mark]) -> list[Mark]:
    """``marks`` with those at one place joined into one."""
    found: list[Mark] = []
    for mark in marks:
        same = next((m for m in found if abs(m.x - mark.x) < _NEAR and abs(m.y - mark.y) < _NEAR), None)
        if same is None:
            found.append(Mark(mark.x, mark.y, mark.high, mark.low, list(mark.numbers)))
        else:
            same.numbers += mark.numbers
            same.high, same.low = min(same.high, mark.high), max(same.low, mark.low)
    return found


class Labels:
    """Puts labels where the least is hidden; what is placed stays."""

    def __init__(self, width: float, top: float, bottom: float) -> None:
        self._edges: Box = (0.0, top, width, bottom)
        self._taken: list[Box] = []
        self._marks: list[Mark] = []

    def take_mark(self, mark: Mark) -> None:
        """Keep labels off a point and its interval."""
        self._marks.append(mark)
        self._taken.append((mark.x - _DOT, mark.y - _DOT, mark.x + _DOT, mark.y + _DOT))
        if mark.low > mark.high:
            self._taken.append((mark.x - 1.5, mark.high, mark.x + 1.5, mark.low))

    def place(self, mark: Mark) -> tuple[float, float]:
        """The middle of the baseline for the label of ``mark``; beside it, else at an end of its interval."""
        aside = _DOT + 4 + _WIDE * len(mark.text) / 2
        return self._best(
            mark.text,
            [
                (mark.x + aside, mark.y + 4.5),
                (mark.x - aside, mark.y + 4.5),
                *((mark.x, min(mark.high, mark.y - _DOT) - 4 - 14 * step) for step in range(4)),
                *((mark.x, max(mark.low, mark.y + _DOT) + _TALL + 14 * step) for step in range(4)),
            ],
            mark,
        )

    def free(self, text: str, right: float, y: float) -> tuple[float, float]:
        """A place for ``text`` above or below a line at ``y``, as far to the right as it is free."""
        half = _WIDE * len(text) / 2
        across = [right - half - 40 * step for step in range(12)]
        return self._best(text, [(x, row) for x in across for row in (y - 6, y + _TALL + 2)])

    def _best(self, text: str, places: Sequence[tuple[float, float]], own: Mark | None = None) -> tuple[float, float]:
        hidden = [(self._hidden(_box(text, place)) + self._strange(place, own), at) for at, place in enumerate(places)]
        place = places[min(hidden)[1]]
        self._taken.append(_box(text, place))
        return place

    def _strange(self, place: tuple[float, float], own: Mark | None) -> float:
        """What it costs to stand nearer to another point than to one's own."""
        if own is None:
            return 0.0
        return 60.0 * sum(_away(place, mark) < _away(place, own) for mark in self._marks if mark is not own)

    def _hidden(self, box: Box) -> float:
        """How much of what is there the box would cover, in square pixels; past the edges counts most."""
        left, top, right, bottom = self._edges
        outside = (
            max(0.0, left - box[0]) + max(0.0, top - box[1]) + max(0.0, box[2] - right) + max(0.0, box[3] - bottom)
        )
        return sum(_shared(box, taken) for taken in self._taken) + 100 * outside


def _box(text: str, place: tuple[float, float]) -> Box:
    half = _WIDE * len(text) / 2
    return place[0] - half, place[1] - _TALL + 2, place[0] + half, place[1] + 2


def _away(place: tuple[float, float], mark: Mark) -> float:
    """From the middle of a label to a point or the nearest end of its interval, squared."""
    y = place[1] - _TALL / 2 + 2
    return (place[0] - mark.x) ** 2 + min((y - at) ** 2 for at in (mark.y, mark.high, mark.low))


def _shared(one: Box, two: Box) -> float:
    across = min(one[2], two[2]) - max(one[0], two[0])
    down = min(one[3], two[3]) - max(one[1], two[1])
    return across * down if across > 0 and down > 0 else 0.0
