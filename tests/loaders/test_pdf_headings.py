"""Headings of PDFs are found by their letters: over two lines, beside labels of figures, on title pages."""

from __future__ import annotations

from io import BytesIO

from reportlab.lib.pagesizes import A5
from reportlab.pdfbase.pdfmetrics import stringWidth
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


def test_formulas_are_no_headings():
    rows = [*text(0), ("e + 1 = 0", 14, True), *text(3), ("Lamps = light", 14, True), *text(5)]
    assert [s.title for s in load(pdf(rows), "x.pdf").sections] == ["Lamps = light"]


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


def paragraphs_of(*lines: list[tuple[float, str, str]]) -> list[str]:
    """Returns the sections, marked, and paragraphs of a page whose lines have parts: x, font and text."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    for n, parts in enumerate(lines):
        for x, font, shown in parts:
            canvas.setFont(font, 10)
            canvas.drawString(x, 540 - 12 * n, shown)
    canvas.save()
    document = load(out.getvalue(), "x.pdf")
    return [f"# {s.title}" for s in document.sections] + [p.text for p in document.paragraphs]


PLAIN, HEAVY = "Times-Roman", "Times-Bold"
PROSE = [
    "The keeper of the light went down to the harbour in the evening and told the",
    "men there what he had seen beyond the reef, and some of them believed him.",
]
RUN_IN = "Of the lamps and what their keepers wrote"


def test_a_heading_in_the_line_begins_a_paragraph_and_is_no_section():
    wide = stringWidth(RUN_IN, HEAVY, 10) + 62
    head = [(50, HEAVY, RUN_IN), (wide, PLAIN, "Few of those who came to the")]
    more = [[(50, PLAIN, line)] for line in PROSE]
    for parts in (head, [(50, HEAVY, RUN_IN), (wide - 9, PLAIN, "Few of those who came to the")]):
        found = paragraphs_of(*more, parts, *more)
        assert [text.split()[0] for text in found] == ["The", "Of"]
        assert found[1].startswith(f"{RUN_IN} Few of those who came to the The keeper")


def test_a_line_that_is_bold_in_part_does_not_cut_a_paragraph():
    lines = [
        [(50, HEAVY, "In this paper an attempt is made to explore the foundations of lamps by ")],
        [(50, PLAIN, "use"), (70, HEAVY, "of techniques which were first applied in the study of harbours and")],
        [(50, HEAVY, "have later been extended to other branches, such as bells and foghorns, and so on.")],
    ]
    assert [text.split()[-1] for text in paragraphs_of(*lines)] == ["on."]


def test_fractions_do_not_measure_the_leading():
    lines: list[Row] = []
    for n in range(8):
        lines += [(f"{line} ({n})", 10, False) for line in PROSE] * 2 + [GAP]
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    y = 560.0
    for text_, size, _ in lines:
        y -= 11 if text_ else 6
        canvas.setFont(PLAIN, size)
        canvas.drawString(50, y, text_)
        if not text_:
            for x in (60, 120, 180, 240, 300):
                canvas.drawString(x, y - 1, "a + b")
                canvas.drawString(x, y - 9, "c + d")
            y -= 20
    canvas.save()
    found = [p.text for p in load(out.getvalue(), "x.pdf").paragraphs]
    assert sum("beyond the reef" in text_ and text_.startswith("The keeper") for text_ in found) == 8


def test_the_gaps_of_a_justified_line_are_spaces():
    words = ["The", "keeper", "of", "the", "light", "went"]
    spread = [(50 + 70 * n, PLAIN, word) for n, word in enumerate(words)]
    more = [[(50, PLAIN, line)] for line in PROSE]
    (text_,) = paragraphs_of(*more, spread, *more)
    assert "The keeper of the light went The keeper" in text_
