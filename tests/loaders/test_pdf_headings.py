"""Headings of PDFs are found by their letters: over two lines, beside labels of figures, on title pages."""

from __future__ import annotations

from io import BytesIO

from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from readagent_core.loaders import load

NAMES = ["keeper", "pilot", "farmer", "doctor", "sailor", "priest", "widow", "miller"]

Row = tuple[str, int, bool]


def pdf(*pages: list[Row], title: str = "") -> bytes:
    """A page a list of rows: text, size, bold. A row of '' is half an inch of nothing."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    canvas.setTitle(title)
    for rows in pages:
        y = 540.0
        for text, size, bold in rows:
            y -= 36 if not text else 1.2 * size
            canvas.setFont("Times-Bold" if bold else "Times-Roman", size)
            if size > 10 or bold:
                canvas.drawCentredString(A5[0] / 2, y, text)
            else:
                canvas.drawString(50, y, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


GAP: Row = ("", 10, False)


def text(chapter: int) -> list[Row]:
    """A paragraph of its own for each chapter, between two gaps."""
    who = NAMES[chapter:] + NAMES[:chapter]
    rows = [
        (f"The {a} told the {b} what the {c} had seen that night by the door", 10, False)
        for a, b, c in zip(who, who[2:], who[5:], strict=False)
    ]
    return [GAP, *rows, ("and nobody came.", 10, False), GAP]


def sections(document) -> list[tuple[str, int]]:
    return [(s.title, s.level) for s in document.sections]


def chapter(n: int, *heading: Row) -> list[Row]:
    """A page with a heading in its middle, so that it is no running header."""
    return [*text(n), *heading, *text(n + 3)]


def test_a_heading_over_two_lines_is_one_section():
    one = chapter(0, ("CHAPTER I. A Caucus-Race and", 18, True), ("a Long Tale", 18, True))
    two = chapter(1, ("CHAPTER II. The Mock Turtle's", 18, True), ("Story", 18, True))
    assert sections(load(pdf(one, two, title="Alice"), "x.pdf")) == [
        ("CHAPTER I. A Caucus-Race and a Long Tale", 1),
        ("CHAPTER II. The Mock Turtle's Story", 1),
    ]


def test_a_chapter_and_its_first_section_stay_two():
    numbered = chapter(0, ("1 The Lamp", 14, True), ("1.1 Oil", 14, True))
    assert [s.title for s in load(pdf(numbered), "x.pdf").sections] == ["1 The Lamp", "1.1 Oil"]
    small = chapter(0, ("CHAPTER ONE", 12, True), GAP, ("The Lamp", 18, True))
    assert [s.title for s in load(pdf(small), "x.pdf").sections] == ["CHAPTER ONE", "The Lamp"]


def test_labels_of_figures_are_text_between_numbered_sections():
    figure = [
        ("Exit Guard", 16, True),
        GAP,
        ("Nested Tree", 18, True),
        GAP,
        ("Figure 1. How it goes round.", 10, False),
    ]
    pages = [chapter(n, (f"{n}. The {NAMES[n].title()}", 12, True)) for n in range(1, 5)]
    document = load(pdf(*pages[:2], [*text(6), *figure, *text(7)], *pages[2:], title="A Paper"), "x.pdf")
    assert sections(document) == [(f"{n}. The {NAMES[n].title()}", 1) for n in range(1, 5)]
    assert "Exit Guard\nNested Tree" in [p.text for p in document.paragraphs]


def test_a_section_without_a_number_stays_a_section():
    pages = [chapter(n, (f"{n}. The {NAMES[n].title()}", 12, True)) for n in range(1, 5)]
    document = load(pdf(*pages, chapter(5, ("A Note on the Bells", 16, True)), title="A Paper"), "x.pdf")
    assert "A Note on the Bells" in [s.title for s in document.sections]


def test_nodes_of_a_figure_are_no_headings():
    document = load(pdf(chapter(0, ("The Lamp", 16, True)), chapter(1, ("i2", 14, True)), title="Lamps"), "x.pdf")
    assert [s.title for s in document.sections] == ["The Lamp"]
    assert "i2" in [p.text for p in document.paragraphs]


def test_authors_and_date_above_a_larger_heading_are_text():
    names = [("A. Keeper", 12, False), GAP, ("3 March 2026", 12, False), GAP]
    document = load(pdf([("On Lamps", 20, True), GAP, *names, ("Abstract", 14, True), *text(0)]), "x.pdf")
    assert (document.title, sections(document)) == ("On Lamps", [("Abstract", 1)])
    assert [p.text for p in document.paragraphs[:2]] == ["A. Keeper", "3 March 2026"]


def test_a_list_of_contents_gives_no_title_and_is_left_out():
    names = [f"{n} The {NAMES[n].title()}" for n in range(1, 5)]
    listed = [(f"{name} . . . . {n + 1}", 10, False) for n, name in enumerate(names, 1)]
    chapters = [chapter(n, (name, 16, True)) for n, name in enumerate(names, 1)]
    document = load(pdf([("Contents", 18, True), GAP, *listed], *chapters), "lamps.pdf")
    assert document.title == "lamps"
    assert [s.title for s in document.sections] == names
    assert not any(". . ." in p.text for p in document.paragraphs)
    assert [(w.code, w.count) for w in document.warnings if w.code == "contents"] == [("contents", 4)]
