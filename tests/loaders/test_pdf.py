"""PDF: outline, scans, passwords, labels, hyphens, damaged files. The round trip is tested beside this."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, NumberObject, StreamObject
from pypdfium2 import PdfiumError
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, NoTextError, PasswordError
from readagent_core.loaders import DEFAULT, load
from readagent_core.loaders.pdf import loader as pdf_loader
from readagent_core.loaders.pdf.columns import Flow
from readagent_core.loaders.pdf.file import open_pdf, read_metadata
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.paragraphs import Passage, _join_hyphenated
from tests.loaders.fonts import written
from tests.loaders.making import Press, sample

PICTURE = bytes(range(256)) * 3


def pdf(pages: list[list[str] | None], *, outline: list[tuple[str, int, int]] = (), size: float = 10) -> bytes:  # type: ignore[assignment]
    """A page a list of lines; None is a page that holds only a picture."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    for number, lines in enumerate(pages):
        for title, at, level in outline:
            if at == number:
                canvas.bookmarkPage(title)
                canvas.addOutlineEntry(title, title, level=level)
        if lines is None:
            canvas.drawImage(ImageReader(Image.frombytes("RGB", (16, 16), PICTURE)), 40, 40, 300, 500)
        for row, line in enumerate(lines or []):
            canvas.setFont("Times-Roman", size)
            canvas.drawString(50, 520 - row * 1.3 * size, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def wordy(n: int) -> list[str]:
    return [f"Line {n} of a page that has some text on it, so that it is a page,", f"and ends with the number {n}."]


def texts(document) -> list[str]:
    return [p.text for p in document.paragraphs]


def test_scanned_pages_are_named_by_number():
    document = load(pdf([wordy(1), None, wordy(3), None]), "x.pdf")
    notice = next(w for w in document.warnings if w.code == "pages-without-text")
    assert notice.count == 2
    assert "2 pages (2, 4)" in notice.message
    assert "a PDF program that has OCR, and open" in notice.message  # no command: readers are no programmers


def test_a_line_fills_its_column_wherever_that_begins():
    def passage(end):
        line = Line("The keeper", 200, end, 500, 10.0)
        return Passage([line], Flow((line,), 200, 100))

    assert (passage(290).is_full, passage(250).is_full) == (True, False)


def test_a_scan_is_not_ready():
    with pytest.raises(NoTextError, match=r"Pictures without text, so not read: 2 pages \(1, 2\).*has OCR"):
        load(pdf([None, None]), "x.pdf")
    with pytest.raises(NoTextError, match="Pictures without text, so not read: 1 page"):
        load(pdf([None]), "x.pdf")


def test_blank_pages_are_empty_not_scans():
    with pytest.raises(EmptyDocumentError):
        load(pdf([[], []]), "x.pdf")


def test_outline_makes_nested_sections():
    pages = [wordy(n) for n in range(4)]
    document = load(pdf(pages, outline=[("Part", 0, 0), ("One", 1, 1), ("Two", 3, 1)]), "x.pdf")
    assert [(s.title, s.start, s.level) for s in document.sections] == [("Part", 0, 1), ("One", 1, 2), ("Two", 3, 2)]


@pytest.mark.parametrize("password", ["", "secret"])
def test_a_broken_entry_of_the_outline_loses_nothing_else(password):
    pages = [wordy(1), wordy(2)]
    writer = PdfWriter(clone_from=BytesIO(pdf(pages, outline=[("One", 0, 0), ("Two", 1, 0)])))
    (one,) = (o for o in writer._objects if isinstance(o, DictionaryObject) and o.get("/Title") == "One")
    one.update({NameObject("/Dest"): NumberObject(1), NameObject("/A"): NumberObject(1)})
    if password:
        writer.encrypt(password, algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    document = load(out.getvalue(), "x.pdf", password=password)
    assert ([(s.title, s.start) for s in document.sections], len(document.paragraphs)) == ([("Two", 1)], 2)


def test_titles_of_an_outline_without_heights_are_at_their_words():
    """An abstract may have them in its sentences, and the font of their own lines may not say that it is bold."""
    lines = [
        "Background: The lamps of this coast are old, and each has a keeper who", "lights it.",
        "Methods: We counted them in the year of the storm, and again when boats", "had come.",
        "History", "The first lamp was lit by a keeper whose name is not known, and burned", "for years.",
    ]  # fmt: skip
    outline = [("Background", 0, 0), ("Methods", 0, 0), ("History", 0, 0), ("Elsewhere", 0, 0)]
    document = load(pdf([lines], outline=outline), "x.pdf")
    assert [(s.title, s.start) for s in document.sections] == [("Background", 0), ("Methods", 1), ("History", 2)]
    assert texts(document)[2].startswith("The first lamp")
    assert {w.code: w.count for w in document.warnings}["outline-without-text"] == 1


def test_chapter_lines_are_sections_where_there_is_no_outline():
    pages = [["Chapter 1"], wordy(1), ["Chapter 2"], wordy(2)]
    assert [s.title for s in load(pdf(pages), "x.pdf").sections] == ["Chapter 1", "Chapter 2"]


def test_places_are_page_labels():
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf([wordy(n) for n in range(3)]))))
    writer.set_page_label(0, 1, style="/r")
    writer.set_page_label(2, 2, style="/D", start=1)
    out = BytesIO()
    writer.write(out)
    assert [p.place for p in load(out.getvalue(), "x.pdf").paragraphs] == ["p. i", "p. ii", "p. 1"]


def locked(user: str, owner: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf([wordy(1)]))))
    writer.encrypt(user, owner, algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def test_passwords():
    data = locked("secret", "owner")
    with pytest.raises(PasswordError, match="Type its password"):
        load(data, "x.pdf")
    with pytest.raises(PasswordError, match="does not open") as caught:
        load(data, "x.pdf", password="wrong one")
    assert "wrong one" not in str(caught.value)
    assert load(data, "x.pdf", password="secret").words > 10
    assert load(data, "x.pdf", password="ｓecret").words > 10  # the standard asks for compatible characters
    assert load(data, "x.pdf", password="owner").words > 10


def test_an_empty_user_password_opens():
    assert load(locked("", "owner"), "x.pdf").words > 10
    assert load(locked("", "owner"), "x.pdf", password="needless").words > 10


def test_a_broken_table_of_objects_is_repaired_with_a_notice():
    data = pdf([wordy(1), wordy(2)])
    broken = data[: data.rindex(b"xref\n", 0, data.rindex(b"startxref"))]
    document = load(broken, "x.pdf")
    assert len(document.paragraphs) == 2
    assert "mended" in [w.code for w in document.warnings]


def test_a_table_of_objects_that_names_a_wrong_catalog_is_repaired():
    data = re.sub(rb"/Root \d+ 0 R", b"/Root 99 0 R", pdf([wordy(1), wordy(2)]))
    document = load(data, "x.pdf")
    assert len(document.paragraphs) == 2
    assert "mended" in [w.code for w in document.warnings]


def test_a_file_that_was_cut_off_and_has_no_text_is_not_said_to_be_opened():
    data = pdf([[], []])
    with pytest.raises(EmptyDocumentError, match="no text that can be read") as caught:
        load(data[: data.rindex(b"xref\n", 0, data.rindex(b"startxref"))], "x.pdf")
    assert "was opened" not in str(caught.value)


def test_half_a_file_is_damaged():
    with pytest.raises(DamagedDocumentError, match="open it in a PDF viewer, save or print it as a new PDF") as caught:
        load(b"%PDF-1.7\n1 0 obj\n<< /Type", "x.pdf")
    assert "Error" not in str(caught.value)  # what the parser calls it helps no reader


def test_a_damaged_page_is_left_out_with_a_notice(monkeypatch):
    read = pdf_loader.read_lines

    def trip(page, number):
        if number == 1:
            raise PdfiumError("broken")
        return read(page, number)

    monkeypatch.setattr(pdf_loader, "read_lines", trip)
    document = load(pdf([wordy(1), wordy(2), wordy(3)]), "x.pdf")
    (notice,) = document.warnings
    assert notice.message.startswith("Damaged, so left out: 1 page (2). Download or copy it again.")


def test_whatever_a_parser_trips_over_is_told_in_plain_words(monkeypatch):
    monkeypatch.setattr(pdf_loader.file, "read_metadata", lambda *_: {}["none"])
    with pytest.raises(DamagedDocumentError, match=r"cannot be read\. Download or copy it again"):
        load(pdf([wordy(1)]), "x.pdf")


def drawn(draw) -> str:
    """The text of a page on which ``draw`` has drawn with a canvas."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    canvas.setFont("Times-Roman", 12)
    draw(canvas)
    canvas.save()
    return "\n".join(texts(load(out.getvalue(), "x.pdf")))


def test_indices_stay_in_their_words():
    def water(canvas):
        canvas.drawString(50, 500, "A glass of H")
        canvas.setFont("Times-Roman", 7)
        canvas.drawString(50 + canvas.stringWidth("A glass of H", "Times-Roman", 12), 497, "2")
        canvas.setFont("Times-Roman", 12)
        canvas.drawString(54 + canvas.stringWidth("A glass of H", "Times-Roman", 12), 500, "O for the keeper.")

    assert drawn(water) == "A glass of H2O for the keeper."


def test_text_outside_the_crop_box_is_left_out():
    def slug(canvas):
        canvas.setCropBox((0, 50, 400, 590))
        canvas.drawString(50, 20, "printer's slug")
        canvas.drawString(50, 500, "The lamp was lit.")

    assert drawn(slug) == "The lamp was lit."


def test_the_whole_of_a_page_is_read_whose_size_all_pages_share():
    out = BytesIO()
    canvas = Canvas(out, pagesize=(1000, 1200))
    for y, line in ((1100, "The lamp was lit at the top."), (100, "It was out at the foot.")):
        canvas.drawString(700, y, line)
    canvas.save()
    writer = PdfWriter(BytesIO(out.getvalue()))
    page = writer.pages[0]
    page["/Parent"].get_object()[NameObject("/MediaBox")] = page.pop("/MediaBox")
    text = " ".join(p.text for p in load(written(writer), "x.pdf").paragraphs)
    assert text == "The lamp was lit at the top. It was out at the foot."


def test_an_accent_that_is_drawn_after_its_letter_stays_on_it():
    def accented(canvas):
        canvas.setFont("Helvetica", 20)
        x = 50.0
        for piece in ("A prote", "ge", " was he."):
            canvas.drawString(x, 500, piece)
            x += canvas.stringWidth(piece, "Helvetica", 20)
            if piece.endswith("e"):
                canvas.drawString(x - canvas.stringWidth("e", "Helvetica", 20) + 2, 500, "´")

    assert drawn(accented) == "A protégé was he."


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_turned_pages_are_read_along_their_lines(quarters):
    def turned(canvas):
        canvas.translate(200, 300)
        canvas.rotate(90 * quarters)
        for row, line in enumerate(["The keeper had lit the lamp before", "dark, as on any other night."]):
            canvas.drawString(-90, -14 * row, line)

    assert drawn(turned) == "The keeper had lit the lamp before dark, as on any other night."


def mapped(glyphs: list[str]) -> str:
    """The text of a page on which a font draws ``glyphs`` from left to right, each mapped to its string."""
    writer = PdfWriter()
    page = writer.add_blank_page(400, 200)
    codes = range(0x41, 0x41 + len(glyphs))
    rows = "".join(f"<{c:02x}> <{g.encode('utf-16-be').hex()}>\n" for c, g in zip(codes, glyphs, strict=True))
    to_unicode, content = StreamObject(), StreamObject()
    to_unicode.set_data(
        b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n"
        + f"{len(glyphs)} beginbfchar\n{rows}endbfchar endcmap".encode()
    )
    content.set_data(f"BT /F 12 Tf 50 100 Td <{bytes(codes).hex()}> Tj ET".encode())
    names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({NameObject(k): NameObject(v) for k, v in names.items()})
    font[NameObject("/ToUnicode")] = writer._add_object(to_unicode)
    fonts = DictionaryObject({NameObject("/F"): font})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    page[NameObject("/Contents")] = writer._add_object(content)
    out = BytesIO()
    writer.write(out)
    return "\n".join(texts(load(out.getvalue(), "x.pdf")))


@pytest.mark.parametrize(
    ("glyphs", "text"),
    [
        (["م", "لا", "س"], "سلام"),
        (["م", "\ufefb", "س"], "سلام"),
        (["م", "\ufdf2", "س"], "ساللهم"),
        (["ב", "ש\u05c1", "א"], "אש\u05c1ב"),
        (["o", "ffi", "ce"], "office"),
    ],
)
def test_the_letters_of_a_glyph_stay_in_order(glyphs, text):
    assert mapped(glyphs) == text


def test_the_cells_of_a_row_are_separated():
    def table(canvas):
        for row, cells in enumerate([("Lamp", "Oil"), ("Bell", "Bronze"), ("Door", "Oak")]):
            canvas.drawString(50, 500 - 14 * row, cells[0])
            canvas.drawString(150, 500 - 14 * row, cells[1])

    assert drawn(table) == "Lamp\tOil\nBell\tBronze\nDoor\tOak"


def test_zero_pages():
    writer = PdfWriter()
    out = BytesIO()
    writer.write(out)
    with pytest.raises(EmptyDocumentError, match="no pages"):
        load(out.getvalue(), "x.pdf")


def test_pages_that_contain_themselves_end():
    loop = (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF"
    )
    with pytest.raises((DamagedDocumentError, EmptyDocumentError)):
        load(loop, "x.pdf")


def test_short_chapters_at_the_top_of_pages_are_no_running_header():
    pages = [[f"Chapter {n}", "", *wordy(n)] for n in range(1, 7)]
    document = load(pdf(pages), "x.pdf")
    assert [s.title for s in document.sections] == [f"Chapter {n}" for n in range(1, 7)]


def test_headers_and_numbers_are_left_out_and_counted():
    document = load(Press()(sample("harrow-council-minutes")), "x.pdf")
    notice = next(w for w in document.warnings if w.code == "furniture")
    assert notice.count >= 15
    assert not any(p.text.isdigit() for p in document.paragraphs)


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("in this con-", "text it", "in this context it"),
        ("a well-", "known man", "a well-known man"),
        ("the light-", "house keeper", "the lighthouse keeper"),
        ("some twenty-", "five men", "some twenty-five men"),
        ("of Anglo-", "Saxon times", "of Anglo-Saxon times"),
        ("he said--", "nothing", "he said--nothing"),
        ("plain", "words", "plain words"),
    ],
)
def test_hyphens_at_line_ends(before, after, joined):
    words = {"well", "known", "lighthouse", "light", "house", "twenty", "five", "twenty-five"}
    assert _join_hyphenated(before, after, words) == joined


@pytest.mark.parametrize(
    ("title", "author", "expected"),
    [
        ("Emma, by Jane Austen", "Chuck", ("Emma", "Jane Austen")),
        ("Faust, by Johann Wolfgang von Goethe", "", ("Faust", "Johann Wolfgang von Goethe")),
        ("Emma", "Jane Austen", ("Emma", "Jane Austen")),
        ("Little by Little, by and by", "A. Clerk", ("Little by Little, by and by", "A. Clerk")),
    ],
)
def test_the_writer_named_in_the_title_is_the_author(title, author, expected):
    press = PdfWriter()
    press.add_blank_page(100, 100)
    press.add_metadata({"/Title": title, "/Author": author})
    held = BytesIO()
    press.write(held)
    document, _ = open_pdf(held.getvalue(), "", DEFAULT)
    facts = read_metadata(document)
    document.close()
    assert (facts["title"], facts["author"]) == expected
