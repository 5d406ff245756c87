"""A book's cover: its own picture, or one drawn from its title and the map of its reading.

Computes what assets/shared/cover.js draws.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect
from collections.abc import Sequence
from typing import Any

from pages.parts.shared.component import component
from readagent_core.document import Cover
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.words import is_unspaced

INKS = (("#1b4a54", "#f3ead6"), ("#6a2f28", "#f4e6d2"), ("#525529", "#f2edd8"), ("#3c4a63", "#e8ecf2"))
INKS += (("#845916", "#fbf0d9"), ("#d8d2c1", "#3a3a34"), ("#51304a", "#f3e6ee"), ("#2d3334", "#dfe5e4"))
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")  # not SVG: it may hold scripts
MOST_LINES = 4
LIMITS, SHADES = (0.8, 0.95, 1.1), (0.28, 0.45, 0.62, 0.85)  # as assets/memory_view/map.js
TOP, HEIGHT, MOST_CELLS = 148.0, 104.0, 60


def show(book: Book, memory: GistMemory | None, cover: Cover | None) -> None:
    """Draw the cover of ``book``; ``cover`` is the picture it carries, if any."""
    picture = picture_of(cover) if cover is not None else None
    mount = component("cover", "shared/cover.js", style="shared/cover.css")
    mount(key=f"cover_{book.id}", data={"picture": picture} if picture else drawing(book, memory))


def picture_of(cover: Cover) -> str | None:
    """The picture as a data address; None for kinds that are not plain pictures."""
    if cover.kind not in PICTURES:
        return None
    return f"data:{cover.kind};base64,{base64.b64encode(cover.data).decode('ascii')}"


def drawing(book: Book, memory: GistMemory | None) -> dict[str, Any]:
    """A ``Drawing`` of cover.js: colours, the title's lines, the author, and one bar for each page."""
    paper, ink = INKS[zlib.crc32(book.title.encode("utf-8", "replace")) % len(INKS)]
    lines = title_lines(book.title)
    author = book.author if len(book.author) < 28 else book.author[:26] + "…"
    return {
        "paper": paper,
        "ink": ink,
        "lines": lines,
        "author": author if len(lines) < MOST_LINES else "",
        "language": book.language,
        "cells": map_cells(memory),
    }


def title_lines(title: str) -> list[str]:
    """The title in at most four lines that fit the cover; the last ends in … where more follows."""
    room = 7 if is_unspaced(title) else 15
    words = list(title) if is_unspaced(title) else title.split()
    glue = "" if is_unspaced(title) else " "
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(glue) + len(word) <= room:
            lines[-1] += glue + word
        else:
            lines.append(word if len(word) <= room + 1 else word[:room] + "…")
    if len(lines) > MOST_LINES:
        lines = lines[:MOST_LINES]
        lines[-1] = lines[-1][: room - 1].rstrip(" :,;") + "…"
    return lines or ["—"]


def map_cells(memory: GistMemory | None) -> list[list[float]]:
    """One bar for each page as [top, height, opacity], as high as it is long; pages still to read as thin lines."""
    words = [p.words for p in memory.pages] if memory else []
    whole = memory.document.words if memory else 0
    words, shares = _merged(words, [_share(memory, i) for i in range(len(words))] if memory else [])
    read = sum(words)
    typical = read / len(words) if read else 1
    to_come = min(round(max(0, whole - read) / typical), MOST_CELLS) if read else 24
    gap = 1.6 if len(words) + to_come <= 40 else 0.6
    scale = max(0.0, HEIGHT - gap * (len(words) + to_come)) / max(1, whole) if read else 0.0
    y = TOP
    cells: list[list[float]] = []
    for count, share in zip(words, shares, strict=True):
        height = max(0.5, count * scale)
        cells.append([round(y, 1), round(height, 1), SHADES[bisect(LIMITS, share)]])
        y += height + gap
    step = (TOP + HEIGHT - y) / to_come if to_come else 0
    return cells + [[round(y + step * i, 1), 0.8, 0.38] for i in range(to_come)]


def _share(memory: GistMemory, index: int) -> float:
    """The length of the gist relative to its page, divided by the average of this book."""
    gist = memory.gists[index]
    average = 1 - memory.compression_rate / 100
    return gist.words / max(1, memory.pages[index].words) / average if gist is not None and average > 0 else 0.5


def _merged(words: Sequence[int], shares: Sequence[float]) -> tuple[list[int], list[float]]:
    """Merge neighbouring bars until each is wide enough to be seen: words are added up, shares averaged."""
    step = -(-len(words) // MOST_CELLS) if words else 1
    starts = range(0, len(words), step)
    means = [sum(shares[i : i + step]) / len(shares[i : i + step]) for i in starts]
    return [sum(words[i : i + step]) for i in starts], means
