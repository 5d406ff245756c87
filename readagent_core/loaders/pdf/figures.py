"""Finds the pictures on a PDF page, draws each as the page shows it, and places it among the text.

PDFium draws the part of the page where a picture is: so masks, colours, rotation, tiles and labels on it are right.
Drawings made of lines alone are not found, unless the file holds them as one object beside a caption.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain

import pypdfium2.raw as pdfium
from PIL import Image
from pypdfium2 import PdfPage, PdfPosConv

from readagent_core.document import Figure
from readagent_core.loaders.figures import LONGEST_SIDE, Pictures
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.paragraphs import CAPTION, Passage

_SMALLEST = 48.0  # points; smaller pictures are ornaments and logos
_WHOLE = 0.75  # share of the page; a larger picture under text is the scan of that page
_GAP = 3.0  # points between the tiles of one picture
_MOST = 300  # objects of a page that are looked at
_SCALE, _LONGEST_PAGE = 2.5, 3200  # pixels for a point, and of a page as drawn
_NEAR, _NEAR_ABOVE = 60.0, 24.0  # points between a picture and its caption below, or above it
_BEGINNING = 16  # characters of a caption by which it is found in the text
Box = tuple[float, float, float, float]  # left, bottom, right, top in points


@dataclass(frozen=True)
class PageFigure:
    """A picture on a page. ``number``: of the source page. ``middle``: its height there in points.
    ``caption``: the first line of its caption; ``below``: the first line under it; '' without one."""

    figure: Figure
    number: int
    middle: float
    caption: str
    below: str


def read_figures(page: PdfPage, number: int, lines: Sequence[Line], shown: Pictures) -> list[PageFigure]:
    """Returns the pictures on a page with its ``lines`` of text; on one without text, also a picture of the page."""
    boxes = _find_boxes(page, lines, shown)
    if not boxes:
        return []
    drawing = cache(partial(_draw, page))

    def cut_out(box: Box) -> Image.Image:
        whole, positions = drawing()
        (x1, y1), (x2, y2) = positions.to_bitmap(*box[:2]), positions.to_bitmap(*box[2:])
        image = whole.crop((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        return image

    found = [(box, shown.add(f"page {number} {box}", partial(cut_out, box))) for box in boxes]
    kept = ((box, figure) for box, figure in found if figure and figure.picture)
    return [PageFigure(figure, number, (box[1] + box[3]) / 2, *_find_lines(box, lines)) for box, figure in kept]


def _find_lines(box: Box, lines: Sequence[Line]) -> tuple[str, str]:
    """Returns the first line of a picture's caption and the first line below it in its column; '' without one."""
    left, bottom, right, top = box
    column = [line for line in lines if line.x < right and line.end > left]
    below = sorted((line for line in column if line.y <= bottom), key=lambda line: -line.y)
    above = [line for line in column if 0 <= line.y - top < _NEAR_ABOVE]
    near = [*(line for line in below if bottom - line.y < _NEAR), *above]
    return next((line.text for line in near if CAPTION.match(line.text)), ""), below[0].text if below else ""


def _draw(page: PdfPage) -> tuple[Image.Image, PdfPosConv]:
    """Returns the picture of a page and what turns places on the page into places in that picture."""
    scale = min(_SCALE, _LONGEST_PAGE / max(page.get_size()))
    bitmap = page.render(scale=scale, may_draw_forms=False, draw_annots=False)
    return bitmap.to_pil().convert("RGB"), bitmap.get_posconv(page)


def _find_boxes(page: PdfPage, lines: Sequence[Line], shown: Pictures) -> list[Box]:
    """Returns where the pictures of a page are, from the top. Counts those that are too small."""
    left, bottom, right, top = page.get_bbox()
    captioned = any(CAPTION.match(line.text) for line in lines)
    boxes: list[Box] = []
    for count, item in enumerate(
        page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM], max_depth=1)
    ):
        if count >= _MOST:
            shown.leave_out("many")
            break
        if item.type == pdfium.FPDF_PAGEOBJ_FORM and not captioned:
            continue
        x1, y1, x2, y2 = item.get_bounds()
        box = (max(left, x1), max(bottom, y1), min(right, x2), min(top, y2))
        if box[0] < box[2] and box[1] < box[3]:
            boxes.append(box)
    whole = (right - left) * (top - bottom)
    found = []
    for box in _join_tiles(boxes):
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) < _SMALLEST:
            shown.leave_out("small")
        elif not lines or width * height < _WHOLE * whole:
            found.append(box)
    return sorted(found, key=lambda box: -box[3])


def _join_tiles(boxes: Sequence[Box]) -> list[Box]:
    """Returns the boxes with those that touch joined into one."""
    joined: list[Box] = []
    for box in boxes:
        new = box
        while touching := [old for old in joined if _touches(new, old)]:
            joined = [old for old in joined if old not in touching]
            every = [new, *touching]
            new = (
                min(b[0] for b in every), min(b[1] for b in every), max(b[2] for b in every), max(b[3] for b in every),
            )  # fmt: skip
        joined.append(new)
    return joined


def _touches(one: Box, other: Box) -> bool:
    beside = one[0] <= other[2] + _GAP and other[0] <= one[2] + _GAP
    return beside and one[1] <= other[3] + _GAP and other[1] <= one[3] + _GAP


def place_figures(
    pieces: Sequence[Passage], found: Sequence[PageFigure]
) -> tuple[Mapping[int, list[Figure]], set[int]]:
    """Returns the figures by the piece that they come before, and the pieces that are captions of one.

    A figure comes before its caption, else before the text below it or after the paragraph that it interrupts, else by
    its height on the page.
    """
    on_page: dict[int, list[int]] = defaultdict(list)
    for i, piece in enumerate(pieces):
        if piece.kind != "note":
            on_page[piece.number].append(i)
    placed: dict[int, list[Figure]] = defaultdict(list)
    captions: set[int] = set()
    for each in found:
        here = on_page.get(each.number, [])
        begins = each.caption[:_BEGINNING]
        caption = next((i for i in here if begins and i not in captions and pieces[i].text.startswith(begins)), None)
        if caption is not None:
            captions.add(caption)
            placed[caption].append(each.figure)
            continue
        line = each.below[:_BEGINNING]
        lower = chain(
            (i if pieces[i].text.startswith(line) else i + 1 for i in here if line and line in pieces[i].text),
            (i for i in here if pieces[i].lines[0].y < each.middle),
        )
        after = here[-1] + 1 if here else next((i for i, p in enumerate(pieces) if p.number > each.number), len(pieces))
        placed[next(lower, after)].append(each.figure)
    return placed, captions
