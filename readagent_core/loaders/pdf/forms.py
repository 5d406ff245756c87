"""Reads what was filled in on a PDF form. The values are no part of the text of a page."""

from __future__ import annotations

from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from readagent_core.loaders.pdf.lines import Line

_TEXTS = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_PASSWORD = 1 << 13  # flag of a field
_SIZE = 10.0  # points; the usual letters of a field
_MOST = 2_000  # fields of a page
_SAME = 0.6  # of the size; a label is no higher or lower than that


def add_fields(document: PdfDocument, page: PdfPage, number: int, lines: list[Line]) -> list[Line]:
    """Returns ``lines`` with the values of the fields of ``page`` beside their labels: '[x]' is a checked box."""
    joined = list(lines)
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST) if document.formenv else 0):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        field = _read_field(document.formenv, annotation, number)
        if field:
            # after what is left of it at its height, or above it
            level = [i for i, line in enumerate(joined) if abs(line.y - field.y) < _SAME * max(line.size, field.size)]
            left = [i + 1 for i in level if joined[i].x < field.x]
            below = [i for i, line in enumerate(joined) if line.y < field.y]
            joined.insert(max(left, default=min([*level, *below], default=len(joined))), field)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return joined


def _read_field(form: Any, annotation: Any, number: int) -> Line | None:
    """Returns a field as a line, None where it is empty or no field."""
    kind, box = pdfium.FPDFAnnot_GetFormFieldType(form, annotation), pdfium.FS_RECTF()
    if kind not in (*_TEXTS, *_BOXES) or not pdfium.FPDFAnnot_GetRect(annotation, box):
        return None
    if kind in _BOXES:
        text = "[x]" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    elif pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return None
    else:
        length = pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, None, 0)
        buffer = (pdfium.FPDF_WCHAR * (length // 2 + 1))()
        pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, length)
        rows = bytes(buffer).decode("utf-16-le", "ignore").split("\0")[0].splitlines()
        text = "\n".join(" ".join(row.split()) for row in rows).strip()
    size = min(_SIZE, abs(box.top - box.bottom))
    end = box.right if kind in _BOXES else min(box.right, box.left + 0.5 * size * len(text))
    return Line(text, box.left, end, (box.top + box.bottom) / 2 - 0.35 * size, size, number=number) if text else None
