"""The words of a PDF under rectangles, as PDFium reads them: they show whether the rectangles are right."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from ctypes import c_double

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument

from readagent_core.loaders.pdf.quotation import PagePlace

STEPS = 100  # to a point


def words_under(document: PdfDocument, places: Iterable[PagePlace]) -> str:
    """Returns the text under the rectangles, which are in fractions of what is shown of a page."""
    found: list[str] = []
    for place in places:
        page = document[place.number - 1]
        textpage = page.get_textpage()
        width, height = (side * STEPS for side in page.get_size())
        for left, top, right, bottom in place.rectangles:
            x, y = c_double(), c_double()
            corners = []
            for across, down in ((left * width, top * height), (right * width, bottom * height)):
                device = round(width), round(height)
                pdfium.FPDF_DeviceToPage(page, 0, 0, *device, 0, round(across), round(down), x, y)
                corners.append((x.value, y.value))
            (a, c), (b, d) = (sorted(edges) for edges in zip(*corners, strict=True))
            # the boxes of lines may touch
            inset = (0, 0.15 * (d - b)) if c - a > d - b else (0.15 * (c - a), 0)
            found.append(textpage.get_text_bounded(a + inset[0], b + inset[1], c - inset[0], d - inset[1]))
    return " ".join(found)


def plain(text: str) -> str:
    """Returns the letters and digits of a text without case, accents and ligatures."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
