"""A cover drawn from a book's title, for a book without a picture: as assets/shared/cover.js draws it on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from readagent_core.templates import fill
from readagent_core.words import is_right_to_left, is_unspaced

INKS = (  # paper and ink, as in assets/shared/cover.js
    ("#1b4a54", "#f3ead6"),
    ("#6a2f28", "#f4e6d2"),
    ("#525529", "#f2edd8"),
    ("#3c4a63", "#e8ecf2"),
    ("#845916", "#fbf0d9"),
    ("#d8d2c1", "#3a3a34"),
    ("#51304a", "#f3e6ee"),
    ("#2d3334", "#dfe5e4"),
)
_MOST_LINES = 4
_TOP, _HEIGHT, _MOST_BARS = 148, 104, 36


def colours_of(title: str) -> tuple[str, str]:
    """Return the paper and the ink of the cover of a book with this title."""
    return INKS[_hash(title) % len(INKS)]


def draw_cover(title: str, author: str, pages: int, share: float) -> bytes:
    """Return the cover as SVG. ``pages``: of the book; ``share``: of it that has gists, 0 to 1."""
    lines = wrap(title, 7 if is_unspaced(title) else 15, max_lines=_MOST_LINES, placeholder="…")
    paper, ink = colours_of(title)
    drawn = fill(
        "cover.svg",
        title=lines,
        author=wrap(author, 12 if is_unspaced(author) else 24, max_lines=1, placeholder="…")
        if len(lines) < _MOST_LINES
        else [],
        size=22 if len(lines) < _MOST_LINES else 19,
        paper=paper,
        ink=ink,
        bars=_bars(title, pages, share),
        right_to_left=is_right_to_left(title),
    )
    return drawn.encode()


def _hash(title: str) -> int:
    number = 0
    for character in title:
        number = (31 * number + ord(character)) & 0xFFFFFFFF
    return number


def _bars(title: str, pages: int, share: float) -> Iterator[tuple[float, int, float, float]]:
    """Yield the place, width, height and opacity of each bar: one for a page, thick where the page has a gist."""
    count = max(3, min(pages or 20, _MOST_BARS))
    step, made, state = _HEIGHT / count, round(share * count), _hash(title)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        width = round(164 * (0.45 + 0.55 * state / 2**32))
        height, opacity = (max(1.0, step - 1.6), (0.5, 0.62, 0.42)[i % 3]) if i < made else (0.8, 0.4)
        yield round(_TOP + i * step, 2), width, round(height, 2), opacity
