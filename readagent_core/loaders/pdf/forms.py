"""Reads what was filled in on a PDF form. The values are no part of the text of a page."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import Array, c_ulong
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from readagent_core.loaders.pdf.lines import Line

_TEXTS = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_PASSWORD = 1 << 13  # flag of a field
_SIZE = 10.0  # points; the usual letters of a field
_LEADING = 1.2  # of the size
_MOST = 2_000  # fields of a page
_SAME = 0.6  # of the size; a label is no higher or lower than that


def add_fields(document: PdfDocument, page: PdfPage, number: int, lines: list[Line]) -> list[Line]:
    """Returns ``lines`` with the values of the fields of ``page`` beside their labels: '[x]' is a checked box."""
    form = document.formenv
    if form is None:
        return lines
    joined = list(lines)
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        for field in _read_field(form, annotation, number) if annotation else ():
            joined.insert(_find_place(joined, field), field)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return joined


def _read_field(form: Any, annotation: Any, number: int) -> list[Line]:
    """Returns the lines of a field, none where it is empty or no field."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    box = pdfium.FS_RECTF()
    if kind not in (*_TEXTS, *_BOXES) or not pdfium.FPDFAnnot_GetRect(annotation, box):
        return []
    height = abs(box.top - box.bottom)
    size = min(_SIZE, height)
    if kind in _BOXES:
        text = "[x]" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    elif pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        text = ""
    else:
        text = _string(lambda buffer, length: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, length))
    rows = [" ".join(row.split()) for row in text.splitlines()]
    top = (box.top + box.bottom) / 2 - 0.35 * size if len(rows) < 2 else box.top - size
    return [
        Line(row, box.left, box.right if kind in _BOXES else min(box.right, box.left + 0.5 * size * len(row)),
             top - n * _LEADING * size, size, number=number)
        for n, row in enumerate(rows)
        if row
    ]  # fmt: skip


def _string(read: Callable[[Array[Any] | None, int], int]) -> str:
    """Returns the text that a function of PDFium writes into a buffer of UTF-16."""
    length = read(None, 0)
    buffer = (pdfium.FPDF_WCHAR * (length // 2 + 1))()
    read(buffer, c_ulong(length).value)
    return bytes(buffer).decode("utf-16-le", "ignore").split("\0")[0]


def _find_place(lines: list[Line], field: Line) -> int:
    """Returns the index at which a field is inserted: after what is left of it at its height or above it."""
    level = [i for i, line in enumerate(lines) if abs(line.y - field.y) < _SAME * max(line.size, field.size)]
    left = [i for i in level if lines[i].x < field.x]
    if left:
        return left[-1] + 1
    below = [i for i, line in enumerate(lines) if line.y < field.y]
    return min([*level, *below], default=len(lines))
