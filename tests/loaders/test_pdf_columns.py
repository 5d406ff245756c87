"""PDF: pages of any number of columns, forms, boxes and slides are read in their order."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document
from readagent_core.loaders import load
from tests.loaders.laid_out import Made, made_pages, slides


def words(document: Document) -> list[str]:
    """The words of title, headings and text; the stamp at the margin comes last."""
    parts = [] if document.title == "name of the file" else [document.title]
    for index, paragraph in enumerate(document.paragraphs):
        parts += [section.title for section in document.sections if section.start == index]
        parts.append(paragraph.text)
    if len(parts) > 1 and parts[0] == parts[1]:
        del parts[0]
    return re.findall(r"[^\W_]+", " ".join(parts).replace("arXiv:2601.01234v2 [cs.CL] 3 Jan 2026", ""))


@pytest.mark.parametrize("made", list(made_pages()), ids=lambda made: made.name)
def test_pages_are_read_in_their_order(made: Made) -> None:
    document = load(made.data, "name of the file")
    assert words(document) == re.findall(r"[^\W_]+", " ".join(made.text))


@pytest.mark.parametrize("number", range(5))
def test_a_slide_is_a_section_and_its_bullets_are_paragraphs(number: int) -> None:
    made = slides(number)
    document = load(made.data, "name of the file")
    titles = [section.title for section in document.sections]
    assert titles in (list(made.sections), list(made.sections)[1:])  # the first may be the title
    assert len(document.paragraphs) == 4 * len(made.sections)


def test_a_bold_line_of_a_slide_is_no_section() -> None:
    out = BytesIO()
    canvas = Canvas(out, pagesize=(960, 540))
    for title in ("Lamps of the Harbour", "Boats of the Harbour", "People of the Harbour"):
        rows = [(title, 36), ("Oil and wicks", 24), ("are kept in the store below the tower", 24)]
        for n, (text, size) in enumerate(
            [*rows, ("Watches and hours", 24), ("are written in the log of the keeper", 24)]
        ):
            canvas.setFont("Times-Bold" if n in (0, 1, 3) else "Times-Roman", size)
            canvas.drawString(50, 460 - 60 * n, text)
        canvas.showPage()
    canvas.save()
    assert [section.title for section in load(out.getvalue(), "slides.pdf").sections][-2:] == [
        "Boats of the Harbour",
        "People of the Harbour",
    ]
