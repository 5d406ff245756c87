"""What was filled in on the fields of a form, and typed over a page: it is no part of the text of the page itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

from readagent_core.loaders.pdf.lines import UNKNOWN, Line

_TEXTS = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_PASSWORD = 1 << 13  # flag of a field
_MOST_FIELDS = 2_000  # fields of a page
_BESIDE = 0.6  # of the size; a label is no higher or lower than that


def insert_fields(page: PdfPage, number: int, lines: list[Line]) -> None:
    """Adds the values of fields to the lines of a page, each beside its label: before what is right of it or below."""
    for field in _read_fields(page, number):
        level = ((i, line) for i, line in enumerate(lines) if line.y < field.y + _BESIDE * line.size)
        after = (i for i, line in level if line.x > field.x or line.y < field.y - _BESIDE * line.size)
        lines.insert(next(after, len(lines)), field)


def _read_fields(page: PdfPage, number: int) -> Iterator[Line]:
    """Yields what was filled in on the fields of a form, and typed over the page: '[x]' is a checked box."""
    form, box = page.formenv, pdfium.FS_RECTF()
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_FIELDS)):
        field, text = pdfium.FPDFPage_GetAnnot(page, index), ""
        if pdfium.FPDFAnnot_GetSubtype(field) == pdfium.FPDF_ANNOT_FREETEXT:
            text = _read_string(partial(pdfium.FPDFAnnot_GetStringValue, field, b"Contents"))
        kind = pdfium.FPDFAnnot_GetFormFieldType(form, field) if form else None
        if kind in _BOXES:
            text = "[x]" if pdfium.FPDFAnnot_IsChecked(form, field) else "[ ]"
        elif kind in _TEXTS and not pdfium.FPDFAnnot_GetFormFieldFlags(form, field) & _PASSWORD:
            text = _read_string(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, field))
        if text and pdfium.FPDFAnnot_GetRect(field, box):
            size = min(UNKNOWN, abs(box.top - box.bottom))
            end, y = min(box.right, box.left + 0.5 * size * len(text)), (box.top + box.bottom) / 2 - 0.35 * size
            yield Line(text, box.left, end, y, size, number=number)
        pdfium.FPDFPage_CloseAnnot(field)


def _read_string(read: Callable[[Any, int], int]) -> str:
    """Returns a text of an annotation, whose lines have single spaces."""
    length = read(None, 0)
    buffer = (pdfium.FPDF_WCHAR * (length // 2 + 1))()
    read(buffer, length)
    rows = bytes(buffer).decode("utf-16-le", "ignore").split("\0")[0].splitlines()
    return "\n".join(" ".join(row.split()) for row in rows).strip()
