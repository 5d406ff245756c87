"""Finds the bullets of lists that a PDF draws as shapes or small pictures, and writes them before their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pypdfium2.raw as pdfium

from readagent_core.loaders.pdf.file import Shape
from readagent_core.loaders.pdf.lines import BULLETS, SAME, Line

_MOST = 1_000  # shapes of a page that are looked at; drawings have more
_SMALLEST, _LARGEST, _LONGEST = 0.2, 0.9, 2.0  # height in sizes of the line; width and height to one another
_FARTHEST = 2.5  # of the size; what is farther from a line is no bullet of it
_FEWEST = 2  # items of a list
Box = tuple[float, float, float, float]  # left, bottom, right, top in points


def mark_bullets(shapes: Sequence[Shape], lines: list[Line]) -> None:
    """Writes a bullet before the lines that a small filled shape is drawn before, each at the same place."""
    boxes = list(_small_boxes(shapes[:_MOST]))
    found = {i: box for i, line in enumerate(lines) if boxes and (box := _bullet_of(line, boxes, lines))}
    places = Counter(round(box[0]) for box in found.values())
    for i, box in found.items():
        if sum(places[round(box[0]) + near] for near in (-1, 0, 1)) >= _FEWEST:
            lines[i] = lines[i]._replace(text=f"• {lines[i].text}", x=box[0])


def _small_boxes(shapes: Sequence[Shape]) -> Iterator[Box]:
    """Yields where the small ``shapes`` are that are filled and about as wide as high."""
    bounds = [pdfium.c_float() for _ in range(4)]
    mode, stroke = pdfium.c_int(), pdfium.c_int()
    for item, kind in shapes:
        pdfium.FPDFPageObj_GetBounds(item, *bounds)
        left, bottom, right, top = (bound.value for bound in bounds)
        width, height = right - left, top - bottom
        filled = kind != pdfium.FPDF_PAGEOBJ_PATH or (
            pdfium.FPDFPath_GetDrawMode(item, mode, stroke) and mode.value != pdfium.FPDF_FILLMODE_NONE
        )
        if filled and 0 < width < _LONGEST * height < _LONGEST**2 * width:
            yield left, bottom, right, top


def _bullet_of(line: Line, boxes: Sequence[Box], lines: Sequence[Line]) -> Box | None:
    """Returns the box of the bullet of a line; None where there is none, or text before it."""
    size = line.size
    for left, bottom, right, top in boxes:
        beside = 0 < line.x - right < _FARTHEST * size and bottom > line.y - SAME * size and top < line.y + size
        if beside and _SMALLEST * size < top - bottom < _LARGEST * size and line.text[0] not in BULLETS:
            row = (each for each in lines if abs(each.y - line.y) < SAME * size and each.x < line.x)
            return None if any(each.end > left - _FARTHEST * size for each in row) else (left, bottom, right, top)
    return None
