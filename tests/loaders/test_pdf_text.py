"""What a model reads of a PDF: lines beside the text, notes, columns, headers, forms. Pages are drawn line by line."""

from __future__ import annotations

import gc
import re
from contextlib import suppress
from io import BytesIO

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A5
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from readagent_core.errors import DocumentError
from readagent_core.loaders import load
from readagent_core.loaders.pdf import page_text
from readagent_core.loaders.pdf.characters import replace_raised
from tests.loaders.known import known_documents
from tests.loaders.making import as_text, sample

# (x, y, text) and, where they differ from 10 points Times-Roman, size and font
Row = tuple[float, float, str] | tuple[float, float, str, float] | tuple[float, float, str, float, str]
TOP, LEADING, LEFT = 540.0, 13.0, 50.0


def typeset(*pages: list[Row], title: str = "") -> bytes:
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    canvas.setTitle(title)
    for rows in pages:
        for x, y, text, *more in rows:
            size, font = (*more, *(10, "Times-Roman")[len(more) :])
            canvas.setFont(font, size)
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def prose(count: int, *, start: int = 0, width: int = 62) -> list[str]:
    """Returns lines of text that differ from each other."""
    words = as_text(sample("the-keeper-of-harrow-light")).decode().replace("*", "").split()[40:]
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[start : start + count]


def body(lines: list[str], *, top: float = TOP, x: float = LEFT, size: float = 10) -> list[Row]:
    return [(x, top - LEADING * n, line, size) for n, line in enumerate(lines)]


def opened(*pages: list[Row], title: str = "A Book"):
    return load(typeset(*pages, title=title), "x.pdf")


def whole(document) -> str:
    return "\n".join(p.text for p in document.paragraphs)


def flat(lines: list[str]) -> str:
    return " ".join(lines)


@pytest.mark.parametrize("across", [False, True], ids=["drawn alone", "drawn with each line"])
@pytest.mark.parametrize("x", [30, 38], ids=["far", "near"])
def test_line_numbers_in_the_margin_are_left_out(x, across):
    pages = []
    for page in range(3):
        lines = body(prose(36, start=36 * page))
        numbers = [(x, y, str(n), 7) for n, (_, y, *_) in enumerate(lines, start=1)]
        pages.append([row for pair in zip(numbers, lines, strict=True) for row in pair] if across else lines + numbers)
    document = opened(*pages)
    assert flat(prose(108)) == whole(document).replace("\n", " ")
    assert any(w.code == "furniture" for w in document.warnings)


def test_the_numbers_of_a_list_stay():
    rows = [row for n in range(8) for row in ((40, 540 - 26 * n, f"{n + 1}."), (60, 540 - 26 * n, prose(8)[n]))]
    assert all(f"{n}." in whole(opened(rows)) for n in range(1, 9))


def noted(page: int) -> list[Row]:
    """A page with three notes of two or three lines at its foot, the last of which ends on the next page."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    lines = prose(26, start=26 * page)
    rows = body(lines)
    for note, line in ((3 * page + 3, 15), (3 * page + 2, 9), (3 * page + 1, 3)):
        end = LEFT + stringWidth(lines[line], "Times-Roman", 10)
        rows.insert(line + 1, (end, TOP - LEADING * line + 4, str(note), 6))
    small = ["the end of that long note."] if page else []
    for note in range(3 * page + 1, 3 * page + 4):
        small += [f"{note} See the log of the keeper, volume {note}, where the lamp is said to", "have been out."]
    return rows + [(LEFT, 170 - 10 * n, text, 8) for n, text in enumerate(small)]


def test_notes_are_whole_and_out_of_the_sentences():
    document = opened(noted(0), noted(1))
    notes = next(s for s in document.sections if s.title == "Notes")
    found = [p.text for p in document.paragraphs[notes.start :]]
    full = "{} See the log of the keeper, volume {}, where the lamp is said to have been out."
    assert found == [full.format(n, n) + " the end of that long note." * (n == 3) for n in range(1, 7)]
    text = "\n".join(p.text for p in document.paragraphs[: notes.start])
    assert text.replace("\n", " ") == flat(prose(52))


def test_a_chapter_of_notes_stays_together():
    notes = [f"{n}. See the log of the keeper, volume {n}, where the lamp is said" for n in range(1, 20)]
    rows = [row for n, t in enumerate(notes) for row in ((50, 500 - 22 * n, t, 8), (50, 490 - 22 * n, "to be out.", 8))]
    document = opened(body(prose(38)), body(prose(38, start=38)), [(50, 540, "NOTES", 16, "Times-Bold"), *rows])
    assert [s.title for s in document.sections] == ["NOTES"]
    assert [p.text for p in document.paragraphs[-19:]] == [f"{n} to be out." for n in notes]


def test_powers_are_raised_and_marks_of_notes_are_left_out():
    rows = body(prose(6))
    rows += [(50, 400, "The lamp has 10"), (114, 404, "6", 6), (119, 400, "candles.")]
    rows += [(50, 380, "It was in reports"), (118, 384, "7", 6), (124, 400 - 20, "of the light.")]
    rows += [(50, 420, "Add"), (70, 424, "1", 6), (73, 420, "/2 pint.")]
    rows += [(50, 360, "So he said.”"), (100, 364, "12", 6), (107, 360, "Nobody came."), *body(prose(6), top=340)]
    text = whole(opened(rows))
    assert "The lamp has 10⁶ candles." in text.replace("\n", " ")
    assert "in reports of the light" in text
    assert "Add 1/2 pint." in text
    assert "12" not in text


@pytest.mark.parametrize(
    ("before", "raised", "after", "text"),
    [
        ("NID(0, σ", "2", ")", "²"),
        ("(a + b)", "2", " ", "²"),
        ("12 km", "2", " ", "²"),
        ("s", "−1", "", "⁻¹"),
        ("(as he said)", "4", "", ""),
        ("in 1984", "3", "", ""),
        ("灯台の光", "1", "は", " "),
        ("the light.”", "12", "Nobody", " "),
    ],
)
def test_raised_numbers_are_exponents_or_marks_of_notes(before, raised, after, text):
    assert replace_raised(before, raised, after) == text


def test_three_columns_below_one():
    lines = prose(90, width=24)
    wide = prose(6, start=60)
    rows = body(wide)
    for column in range(3):
        rows += body(lines[30 * column : 30 * column + 30], top=440, x=50 + 115 * column, size=9)
    text = whole(opened(rows)).replace("\n", " ")
    assert flat(wide) in text
    assert flat(lines[:90]) in text


def test_two_columns_that_are_drawn_line_by_line():
    lines = prose(60, width=28)
    columns = (body(lines[:30], size=9), body(lines[30:], x=220, size=9))
    wide = prose(3, start=40)
    rows = [*body(wide), *(row for pair in zip(*columns, strict=True) for row in pair)]
    rows = [*body(wide, top=580), *rows[3:]]
    assert flat([*wide, *lines]) in whole(opened(rows)).replace("\n", " ")


def test_two_columns_of_entries_with_hanging_indents():
    lines = prose(80, width=34)
    rows = []
    for column in (0, 1):
        for n in range(40):
            rows.append((50 + 165 * column + (10 if n % 4 else 0), TOP - 12 * n, lines[40 * column + n], 9))
    assert flat(lines) in whole(opened(rows)).replace("\n", " ")


def test_a_paragraph_continues_below_a_figure_on_the_next_page():
    caption = [
        (60, 420, "Figure 3. The lamp of the lighthouse as it was", 9),
        (60, 409, "drawn by the keeper in May", 9),
    ]
    one, two = prose(37), prose(20, start=37)
    assert two[0][0].islower()
    document = opened(body(one), [*caption, *body(two, top=380)])
    assert flat([*one, *two]) in [p.text.replace("\n", " ") for p in document.paragraphs]


def test_a_hyphen_at_the_end_of_a_page_is_joined():
    one, two = body([*prose(36), "at the end of the page the keeper re-"]), body(["membered the light.", *prose(9)])
    footer = [(180, 40, "THE KEEPER OF THE LIGHT · 12", 8)]
    assert "the keeper remembered the light" in whole(opened([*one, *footer], [*two, *footer]))


def test_a_footer_that_differs_in_each_chapter_is_left_out():
    names = ["the lamp", "a bell", "her boat", "some oil", "one door"]
    pages = []
    for page in range(10):
        footer = [(50, 40, f"On {names[page // 2]} of Harrow", 8), (350, 40, str(page + 1), 8)]
        pages.append([*body(prose(36, start=36 * page)), *footer])
    text = whole(opened(*pages))
    assert not any(f"On {name}" in text for name in names)


def test_a_header_that_names_the_chapter_on_every_second_page_is_left_out():
    pages = []
    for page in range(12):
        chapter = "Chapter 1. The Lamp" if page < 6 else "Chapter 2. The Bell"
        header = (50, 570, chapter if page % 2 else "THE KEEPER'S LOG", 8)
        pages.append([header, *body(prose(36, start=36 * page))])
    document = opened(*pages)
    assert document.sections == ()
    assert "Chapter" not in whole(document)


def test_lines_of_an_index_at_the_foot_of_pages_stay():
    names = ["bell", "boat", "door", "lamp", "oil", "rope"]
    pages = [
        [*body(prose(36, start=36 * n)), (50, 60, f"{name} . . . . . . . . . . . . . . . . {7 * n + 20}", 10)]
        for n, name in enumerate(names)
    ]
    text = whole(opened(*pages))
    assert all(f"{name} . . ." in text for name in names)


def test_pages_of_one_repeated_line_keep_it():
    document = opened(*[[(50, 300, "The lamp is lit at dusk.")] for _ in range(4)])
    assert len(document.paragraphs) >= 1
    assert "The lamp is lit at dusk." in whole(document)


@pytest.mark.parametrize(("word", "size"), [("Day", 10), ("Day", 14), ("Chapter", 10)])
def test_headings_at_the_top_of_each_page_are_no_headers(word, size):
    pages = []
    for page in range(30):
        header = [(150, 570, "THE KEEPER'S LOG", 8), (200, 30, str(page + 1), 8)]
        pages.append([*header, (50, 545, f"{word} {page + 1}", size), *body(prose(20, start=20 * page), top=515)])
    document = opened(*pages)
    found = {s.title for s in document.sections} | {p.text for p in document.paragraphs}
    assert {f"{word} {n}" for n in range(1, 31)} <= found
    assert "THE KEEPER'S LOG" not in whole(document)


def test_what_a_browser_prints_around_pages_is_left_out_however_large():
    pages = []
    for page in range(4):
        header = [(50, 575, "The log", 14), (300, 575, f"Page {page + 1} of 4", 14)]
        footer = [(50, 20, "https://harrow.example/log?lang=en", 14)]
        pages.append([*header, *body(prose(30, start=30 * page)), *footer])
    document = opened(*pages, title="https://harrow.example/log?lang=en")
    assert not any(mark in whole(document) for mark in ("Page", "://"))
    assert not any(mark in s.title for s in document.sections for mark in ("Page", "://"))
    assert "://" not in document.title


def test_a_header_that_is_longer_than_a_line_of_text_is_left_out():
    header = "The log of the keeper of Harrow Light, with what the pilots and the farmers told him - Harrow at sea"
    pages = [[(50, 575, header, 6), *body(prose(30, start=30 * page))] for page in range(4)]
    document = opened(*pages)
    assert "The log of the keeper" not in whole(document)
    assert flat(prose(2, start=40)) in whole(document)


def test_large_items_of_a_list_are_no_headings():
    items = [(50, 420 - 40 * n, f"• The {word} of Harrow", 14) for n, word in enumerate(("lamp", "bell", "boat"))]
    document = opened([*body(prose(36), top=560), (50, 460, "Things", 18), *items])
    assert [s.title for s in document.sections] == ["Things"]
    assert "• The bell of Harrow" in whole(document)


def test_a_large_bullet_and_a_large_letter_make_no_heading_of_a_line():
    lines = prose(30)
    bullets = [(40, 570 - LEADING * n, "•", 13) for n in (0, 2)]
    assert not opened([*bullets, *body(lines, top=570, x=50)]).sections
    middle = len(lines[9]) // 2
    parts = lines[9][: middle - 1], lines[9][middle - 1 : middle + 2], lines[9][middle + 2 :]
    at, mixed = 50.0, []
    for part, size in zip(parts, (10, 13, 10), strict=True):
        mixed.append((at, 570 - LEADING * 9, part, size))
        at += stringWidth(part, "Times-Roman", size)
    assert not opened([*body(lines[:9], top=570), *mixed, *body(lines[10:], top=570 - LEADING * 10)]).sections


def test_small_tables_do_not_make_headings_of_the_text():
    rows = [(x, 560 - 9 * n, f"{n * 37 % 991}.{x}", 7) for n in range(50) for x in (50, 150, 250, 330)]
    text = [(50, 560 - 22 * n, f"{line.rstrip('.')}.", 10) for n, line in enumerate(prose(24))]
    assert not opened(text, rows, rows, rows).sections


@pytest.mark.parametrize("second", ["way they wrote their logs", "A History"])
def test_a_bold_heading_over_two_lines_is_one_section(second):
    first = "The keepers of the lamps of Harrow:"
    lines = prose(24)
    rows = [(65 if n % 4 == 0 else 50, 560 - 13 * n - 50 * (n > 11), line, 10) for n, line in enumerate(lines)]
    heads = [(70, 390, first, 10, "Times-Bold"), (130, 377, second, 10, "Times-Bold")]
    assert [s.title for s in opened([*rows[:12], *heads, *rows[12:]]).sections] == [f"{first} {second}"]


def with_shapes(draw):
    """A page with text and a list of three items, of which the first has two lines; ``draw`` draws the bullets."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    canvas.setFont("Times-Roman", 10)
    for n, line in enumerate(prose(8)):
        canvas.drawString(LEFT, TOP - LEADING * n, line)
    for n, line in enumerate(prose(4, start=8, width=50)):
        y = TOP - LEADING * (n + 9)
        canvas.drawString(LEFT + 14, y, line)
        if n != 1:
            draw(canvas, LEFT + 2, y + 2)
    canvas.save()
    return load(out.getvalue(), "x.pdf")


@pytest.mark.parametrize(
    "draw",
    [
        lambda canvas, x, y: canvas.circle(x + 2, y + 2, 2, fill=1, stroke=0),
        lambda canvas, x, y: canvas.rect(x, y, 4, 4, fill=1, stroke=0),
        lambda canvas, x, y: canvas.drawInlineImage(Image.new("RGB", (9, 9), "navy"), x, y, 4, 4),
    ],
    ids=["disc", "square", "picture"],
)
def test_bullets_that_are_drawn_as_shapes_begin_items(draw):
    first, second, *items = prose(4, start=8, width=50)
    assert whole(with_shapes(draw)).split("\n")[1:] == [f"• {item}" for item in (f"{first} {second}", *items)]


def test_boxes_to_be_ticked_are_no_bullets():
    assert "•" not in whole(with_shapes(lambda canvas, x, y: canvas.rect(x, y, 4, 4, fill=0)))


@pytest.mark.parametrize(
    ("mark", "turn", "size", "pages"),
    [("DRAFT", 45, 70, 1), ("DRAFT", 45, 70, 4), ("DRAFT", 0, 70, 1), ("DRAFT", 0, 70, 4), ("Licensed to me", 0, 8, 4)],
)
def test_what_is_printed_across_the_text_is_neither_in_it_nor_its_title(mark, turn, size, pages):
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    for page in range(pages):
        canvas.saveState()
        canvas.translate(200, 300)
        canvas.rotate(turn)
        canvas.setFont("Helvetica", size)
        canvas.drawCentredString(0, 0, mark)
        canvas.restoreState()
        canvas.setFont("Times-Roman", 10)
        for n, line in enumerate(prose(34, start=34 * page)):
            canvas.drawString(LEFT, TOP - LEADING * n, line)
        canvas.showPage()
    canvas.save()
    document = load(out.getvalue(), "x.pdf")
    text = whole(document).replace("\n", " ").removesuffix(f" {mark}" if pages == 1 else "")
    assert (text, document.title, document.sections) == (flat(prose(34 * pages)), "x", ())


def test_a_licence_over_many_lines_on_each_page_is_left_out():
    licence = [
        "Licensed under the Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International License,",
        "told at http://creativecommons.org/licenses/by-nc-sa/4.0/; who copies this work shall say who made it,",
        "was first published, that is by the Board of Coast Lights, and whether it was changed,",
        "and shall give it on under the same licence; for other uses write to the Board of Coast Lights, Lower Harrow,",
    ]
    foot = [(50, 60 - 9 * n, line, 7) for n, line in enumerate(licence)]
    pages = [[*body(prose(34, start=34 * n), top=560), *foot, (50, 24, f"on page {n + 1}.", 7)] for n in range(4)]
    document = opened(*pages)
    assert "licence" not in whole(document)
    assert flat(prose(2, start=33)) in whole(document)


@pytest.mark.parametrize(
    "junk",
    [
        *("10811.exe", "C:\\books\\lamp.doc", "Microsoft Word - lamp.doc", "untitled-3", "slide 1", "Keeper_Log2000"),
        *("<4D6963726F736F667420576F7264>", "Table of Contents", "Unknown", "The Keeper's Log,"),
    ],
)
def test_a_title_made_by_a_program_gives_way(junk):
    rows = [(50, 540, "The Keeper's Log", 20), *body(prose(20), top=500)]
    assert opened(rows, title=junk).title == "The Keeper's Log"


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([("HANDBOOK", 24), ("for", 18), ("KEEPERS OF LAMPS", 24)], "HANDBOOK for KEEPERS OF LAMPS"),
        ([("03 The Lamps of Harrow", 30)], "03 The Lamps of Harrow"),
        ([("Question 1", 16)], "x"),
    ],
)
def test_the_title_is_all_that_is_set_as_one(rows, title):
    heads = [(50, 560 - 30 * n, *row) for n, row in enumerate(rows)]
    page = [*heads, *body(prose(20), top=460)]
    assert opened(page, [(50, 560, "Question 2", 16), *body(prose(20), top=500)], title="").title == title


def test_a_heading_that_begins_a_file_is_its_title():
    rows = [(50, 560, "The Lamps of Harrow", 10, "Helvetica-Bold"), *body(prose(20), top=530)]
    assert opened(rows, title="").title == "The Lamps of Harrow"


def test_a_title_over_many_lines_is_the_title():
    lines = [
        "The barriers to setting up a process of",
        "3 improvements in places with few lamps:",
        "a situational analysis at the house of",
    ]
    lines += [
        "the keepers of Harrow Light and Skerry,",
        "in Lower Harrow, on the northern coast,",
        "and what was done there afterwards",
    ]
    rows = [(30, 560 - 22 * n, line, 19) for n, line in enumerate(lines)]
    assert opened([*rows, *body(prose(20), top=400)]).title == flat(lines)


def test_a_title_with_entities_is_decoded():
    assert opened(body(prose(20)), title="Light&#x02010;house &amp; Sea").title == "Light‐house & Sea"


def test_a_title_does_not_swallow_the_contents():
    rows = [(50, 540, "Contents", 18), (50, 510, "1 First section", 18), (50, 480, "2 Second section", 18)]
    document = load(typeset([*rows, *body(prose(20), top=440)]), "the-log.pdf")
    assert document.title == "the log"


def test_doubled_letters_are_read_once():
    rows = [*body(prose(8)), (50, 400, "The Lamp", 10), (50.3, 400, "The Lamp", 10), *body(prose(8), top=380)]
    assert whole(opened(rows)).count("The Lamp") == 1


def test_text_in_a_typewriter_font_has_no_columns():
    out, lines = BytesIO(), prose(24)
    canvas = Canvas(out, pagesize=A5)
    for n, line in enumerate(lines):
        text = canvas.beginText(50, TOP - LEADING * n)
        text.setFont("Courier", 8)
        text.setHorizScale(103)
        text.textOut(line)
        canvas.drawText(text)
    canvas.save()
    assert flat(lines) in whole(load(out.getvalue(), "x.pdf")).replace("\n", " ")


def test_parts_that_are_printed_over_one_another_stay_two_words():
    rows = [*body(prose(8)), (50, 400, "Drawing PH-0600", 10), *body(prose(8), top=380), (95, 402.5, "PG-9501", 10)]
    assert "Drawing PH-0600 PG-9501" in whole(opened(rows))


def form() -> bytes:
    """A page with a text field, a choice and two check boxes, one of which is checked."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    canvas.drawString(50, 500, "Name of the keeper:")
    canvas.acroForm.textfield(name="keeper", value="Ines Marrow", x=180, y=492, width=150, height=18)
    canvas.drawString(50, 470, "Light:")
    canvas.acroForm.choice(
        name="light", value="Harrow", options=["Harrow", "Skerry"], x=180, y=462, width=90, height=18
    )
    canvas.drawString(70, 440, "The lamp is lit")
    canvas.acroForm.checkbox(name="lit", checked=True, x=50, y=436, size=12)
    canvas.drawString(70, 420, "The bell is rung")
    canvas.acroForm.checkbox(name="rung", checked=False, x=50, y=416, size=12)
    canvas.save()
    return out.getvalue()


def test_the_values_of_a_form_are_read():
    text = whole(load(form(), "x.pdf"))
    assert "Name of the keeper:\tInes Marrow" in text
    assert "Light:\tHarrow" in text
    assert "[x] The lamp is lit" in text
    assert "[ ] The bell is rung" in text


def test_pages_with_nothing_but_their_labels_are_read():
    labels = [f"Page {n}" for n in range(1, 6)]
    assert whole(opened(*([(LEFT, TOP, label)] for label in labels))).split() == " ".join(labels).split()


def test_the_short_way_of_a_plain_page_reads_what_the_long_way_reads(monkeypatch):
    pages = (
        body(prose(9)),
        [*body(["A word, bro-", "ken, internationalisation\u2019s; 12 caf\u00e9s", "Seen  twice: 10"])],
    )
    files = [typeset(*pages), *(known.data for known in known_documents() if known.name.endswith(".pdf"))]
    assert not page_text._UNPLAIN.search("".join(text for page in pages for _, _, text, *_ in page))

    def read() -> list[object]:
        texts = []
        for data in files:
            try:
                texts.append(load(data, "x.pdf").to_dict())
            except DocumentError as error:
                texts.append(str(error))
        return texts

    short = read()
    monkeypatch.setattr(page_text, "_UNPLAIN", re.compile(""))  # no page is plain
    assert short == read()


@pytest.mark.parametrize("data", [typeset(body(prose(4))), b"%PDF-1.4 damaged"])
def test_garbage_is_collected_again_after_a_pdf(data):
    with suppress(DocumentError):
        load(data, "x.pdf")
    assert gc.isenabled()


def listing(rows: list[str], top: float, *, size: float = 9, x: float = LEFT) -> list[Row]:
    """Returns rows of a typewriter font, which a program for LaTeX or Word writes without the spaces before them."""
    placed = ((n, len(row) - len(row.lstrip()), row.strip()) for n, row in enumerate(rows) if row.strip())
    return [(x + 0.6 * size * indent, top - 11 * n, row, size, "Courier") for n, indent, row in placed]


CODE = [
    "import json",
    "",
    "def load_rows(path, limit=100):",
    "    rows = []",
    "    for line in open(path, encoding='utf-8'):",
    "        if len(rows) == limit:",
    "            break",
    "        rows.append(json.loads(line))",
    "    return rows",
]


@pytest.mark.parametrize("size", [9, 8, 10])  # 8 is as small as notes at the foot
def test_a_listing_keeps_its_lines_and_indents(size):
    lines = prose(16)
    page = [*body(lines[:8]), *listing(CODE, TOP - 8 * LEADING - 10, size=size), *body(lines[8:], top=300)]
    document = opened(page)
    assert [p.text for p in document.paragraphs] == [flat(lines[:8]), "\n".join(CODE), flat(lines[8:])]
    assert not document.sections


def test_a_listing_goes_on_on_the_next_page():
    lines = prose(40)
    first = [*body(lines[:10]), *listing(CODE[:5], TOP - 10 * LEADING - 10)]
    rest = [row.removeprefix("        ") for row in CODE[5:8]]
    second = [*listing(rest, TOP), *body(lines[10:20], top=TOP - 60)]
    texts = [p.text for p in opened(first, second).paragraphs]
    assert texts == [flat(lines[:10]), "\n".join([*CODE[:5], *rest]), flat(lines[10:20])]


def test_a_letter_in_a_typewriter_font_is_text():
    lines, letter = prose(12), prose(5, start=20, width=48)
    page = [*body(lines[:6]), *listing(letter, TOP - 6 * LEADING - 20), *body(lines[6:], top=360)]
    assert [p.text for p in opened(page).paragraphs][1] == flat(letter)


def test_a_book_in_a_typewriter_font_has_no_listings():
    rows = [f"{line}; and so on (twice)" for line in prose(20, width=40)]
    assert "\n" not in whole(opened(listing(rows, TOP)))
