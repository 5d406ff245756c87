"""Fonts without character maps: glyphs of TeX's fonts by name and number, bitmap fonts, and fonts that say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO

import pytest
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, PdfObject, StreamObject
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from readagent_core.errors import NoTextError
from readagent_core.loaders import load
from tests.loaders.fonts import page, type1_font, type3_font, written
from tests.loaders.test_pdf_text import prose

ROMAN = {ord(c): c for c in "abcdefghijklmnopqrstuvwxyz"} | {0x30: "zero", 0x31: "one", 0x0E: "ffi"}
SYMBOLS = dict(
    [
        *((0x00, "minus"), (0x14, "lessequal"), (0x21, "arrowright"), (0x30, "prime"), (0x32, "element")),
        *((0x36, "negationslash"), (0x37, "mapsto"), (0x66, "braceleft"), (0x67, "braceright")),
        *((0x68, "angbracketleft"), (0x69, "angbracketright")),
    ]
)
LETTERS = {
    0x0B: "alpha",
    0x0F: "epsilon1",
    0x15: "lambda",
    0x0A: "Omega",
    0x60: "lscript",
    0x3B: "comma",
    0x78: "x",
    0x79: "y",
}
LARGE = {0x50: "summationtext", 0x08: "braceleftbig", 0x09: "bracerightbig", 0x38: "bracelefttp"}
FONTS = {"R": ("CMR10", ROMAN), "S": ("CMSY10", SYMBOLS), "M": ("CMMI10", LETTERS), "E": ("CMEX10", LARGE)}

FONTS_OF_SYMBOLS = {"W": "ABCDEF+Wingdings-Regular", "S": "SymbolMT", "H": "Helvetica"}


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ([("S", 0x66), ("R", 0x30), ("M", 0x3B), ("R", 0x31), ("S", 0x67)], "{0,1}"),
        ([("M", 0x78), ("S", 0x32), ("M", 0x0A)], "x∈Ω"),
        ([("M", 0x78), ("S", 0x00), ("M", 0x0B)], "x−α"),
        ([("M", 0x0F), ("S", 0x14), ("M", 0x15), ("S", 0x30)], "ϵ≤λ′"),
        ([("S", 0x68), ("M", 0x0B), ("S", 0x69)], "⟨α⟩"),
        ([("M", 0x78), ("S", 0x37), ("S", 0x21), ("M", 0x60)], "x↦ℓ"),
        ([("M", 0x78), ("S", 0x36), ("S", 0x32), ("M", 0x0A)], "x∉Ω"),
        ([("E", 0x50), ("E", 0x08), ("M", 0x79), ("E", 0x09)], "∑{y}"),
        ([("R", 0x6F), ("R", 0x0E), ("R", 0x63), ("R", 0x65)], "office"),
    ],
)
def test_mathematics_without_character_maps(drawn, text):
    writer = PdfWriter()
    fonts = {key: type1_font(writer, name, glyphs) for key, (name, glyphs) in FONTS.items()}
    shown = "".join(f"/{font} 10 Tf <{code:02x}> Tj " for font, code in drawn)
    page(writer, fonts, f"BT 50 500 Td {shown} ET")
    assert [p.text for p in load(written(writer), "x.pdf").paragraphs] == [text]


LINES = [line.encode("ascii", "replace").decode() for line in prose(30, width=60)]


def lines(shift: int = 0) -> str:
    """Returns page content that shows prose, each letter as the glyph ``shift`` numbers on."""
    codes = [bytes(c + shift if c > 32 else c for c in line.encode()) for line in LINES]
    return "BT /F 10 Tf 50 540 Td 12 TL " + " ".join(f"<{line.hex()}> Tj T*" for line in codes) + " ET"


def test_a_bitmap_font_whose_numbers_are_letters_is_read():
    writer = PdfWriter()
    page(writer, {"F": type3_font(writer, bytes(range(32, 127)))}, lines())
    document = load(written(writer), "x.pdf")
    assert document.paragraphs[0].text.replace("\n", " ") == " ".join(LINES)
    assert document.doubtful_pages == ()


def test_a_bitmap_font_has_its_ligatures():
    writer = PdfWriter()
    shown = b"the o\x0ece and a \x0ble where the \x0dags are \x0cne, in the e\x0fuent of the water near the \x0cre"
    page(writer, {"F": type3_font(writer, bytes(range(127)))}, f"BT /F 10 Tf 20 540 Td <{shown.hex()}> Tj ET")
    text = load(written(writer), "x.pdf").paragraphs[0].text
    assert text.startswith("the office and a ffle where the flags are fine, in the effluent")


def test_a_bitmap_font_of_other_languages_has_its_dashes_quotation_marks_and_ligatures():
    writer = PdfWriter()
    shown = b"she said \x13of\x1ece\x14 \x16 the \x1brst \x1cle of \x10af\x1d\x11, and went on along the water"
    page(writer, {"F": type3_font(writer, bytes(range(127)))}, f"BT /F 10 Tf 20 540 Td <{shown.hex()}> Tj ET")
    text = load(written(writer), "x.pdf").paragraphs[0].text
    assert text.startswith("she said «offfice» — the ffrst file of “affl”, and went on")


def drawn(lines: Sequence[str], title: str = "") -> bytes:
    """Returns a PDF with lines in Helvetica."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setTitle(title)
    for at, line in enumerate(lines):
        canvas.drawString(60, 760 - 14 * at, line)
    canvas.save()
    return out.getvalue()


def test_a_soft_hyphen_that_is_drawn_is_a_hyphen():
    text = load(
        drawn(["The well\xadknown mill stood at the weir, and its wheel went round all day long."]), "x"
    ).paragraphs
    assert text[0].text.startswith("The well-known mill")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("cp1251", "Мельник перешёл по льду на другой берег, и никто не спросил его, зачем он туда пошёл в тот день."),
        ("cp1253", "Η πόλη ήταν μικρή και όμορφη, με πολλά δέντρα και σπίτια κοντά στη θάλασσα όπου ζούσαν ψαράδες."),
    ],
)
def test_letters_of_another_alphabet_that_are_taken_for_latin_ones_are_mended_and_told(page, text):
    shown = text.encode(page).decode("latin-1")
    first, _, second = shown.partition(", ")
    document = load(drawn([f"{first},", second], title=first), "x.pdf")
    assert document.paragraphs[0].text.replace("\n", " ") == text
    assert document.title == text.partition(",")[0]
    assert "letters-mended" in [notice.code for notice in document.warnings]


def unreadable(writer: PdfWriter) -> None:
    codes = range(33, 160)
    page(writer, {"F": type1_font(writer, "Secret", {code: f"glyph{code}" for code in codes})}, lines(shift=5))


def readable(writer: PdfWriter) -> None:
    page(writer, {"F": type3_font(writer, bytes(range(32, 127)))}, lines())


def test_pages_in_fonts_that_say_nothing_are_named():
    writer = PdfWriter()
    for add in (readable, unreadable, readable, unreadable):
        add(writer)
    document = load(written(writer), "x.pdf")
    assert document.doubtful_pages == (2, 4)
    notice = next(w for w in document.warnings if w.code == "pages-unreadable")
    assert (notice.count, "2 pages (2, 4)" in notice.message, "has OCR" in notice.message) == (2, True, True)
    assert notice.places == (0,)  # the one paragraph goes on over the first of them
    assert document.language == "en"
    assert "".join(p.text for p in document.paragraphs).count(LINES[3]) == 2


def test_a_file_in_a_font_that_says_nothing_is_an_error():
    writer = PdfWriter()
    unreadable(writer)
    with pytest.raises(NoTextError, match=r"fonts do not say which letters they show.*has OCR"):
        load(written(writer), "x.pdf")


def named_font(writer: PdfWriter, name: str) -> PdfObject:
    """Adds a font of that name whose codes are letters, as some programs write fonts of symbols."""
    font = {"/Type": "/Font", "/Subtype": "/TrueType", "/BaseFont": f"/{name}", "/Encoding": "/WinAnsiEncoding"}
    return writer._add_object(DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()}))


def test_letters_in_a_font_of_symbols_are_the_symbols_and_unknown_ones_are_told():
    writer = PdfWriter()
    fonts = {name: named_font(writer, font) for name, font in FONTS_OF_SYMBOLS.items()}
    shown = [
        ("W", "\\374"),
        ("H", " Light the lamp."),
        ("W", "\\330"),
        ("H", " Trim it."),
        ("S", "D"),
        ("H", " = 3 feet."),
        ("S", "\\225"),
        ("H", " Go."),
    ]
    lines = "".join(f"/{font} 10 Tf ({text}) Tj " + "T* " * (font == "H") for font, text in shown)
    page(writer, fonts, f"BT 14 TL 50 500 Td {lines} /W 10 Tf (\\260\\261) Tj /H 10 Tf ( Done.) Tj ET")
    document = load(written(writer), "x.pdf")
    assert " ".join(p.text for p in document.paragraphs).split() == (
        ["✓", "Light", "the", "lamp.", "➢", "Trim", "it.", "Δ", "=", "3", "feet.", "•", "Go.", "��", "Done."]
    )
    assert {notice.code: notice.count for notice in document.warnings}["undecodable"] == 2


def test_words_with_narrow_gaps_and_no_spaces_are_words():
    writer = PdfWriter()
    words = ["It", "is", "the", "probability", "that", "a", "mathematician", "is", "a", "lamp", "of", "the", "light"]
    line = "[" + " -95 ".join(f"({word})" for word in words) + "] TJ T* "
    page(writer, {"H": named_font(writer, "Helvetica")}, f"BT /H 10 Tf 14 TL 50 500 Td {line * 3} ET")
    assert load(written(writer), "x.pdf").paragraphs[0].text.split() == words * 3


def test_words_that_are_set_apart_within_a_piece_of_text_are_words():
    """Troff's PostScript sets the last letter of a word and the first of the next with a space between them."""
    writer, drawn, x = PdfWriter(), [], 50.0
    for piece, apart in (("The lamp is lit", 0), (".T", 5), ("he keeper of an", 0), ("yl", 2.6), ("amp goes up", 0)):
        drawn.append(f"{apart} Tc 1 0 0 1 {x:.3f} 500 Tm ({piece}) Tj")
        x += stringWidth(piece, "Times-Roman", 10) + apart * (len(piece) - 1)
    page(writer, {"T": named_font(writer, "Times-Roman")}, f"BT /T 10 Tf {' '.join(drawn)} ET")
    text = load(written(writer), "x.pdf").paragraphs[0].text
    assert text == "The lamp is lit. The keeper of any lamp goes up"


def test_a_glyph_without_a_letter_is_told():
    writer = PdfWriter()
    font = type1_font(writer, "Gyre", {102: "f", 32: "space", 1: "f_f_special"} | {n: chr(n) for n in range(97, 123)})
    text = "the lamp is lit and the keeper goes up "
    page(writer, {"F": font}, f"BT /F 10 Tf 14 TL 50 500 Td {f'({text}) Tj T* ' * 4} (an o\\001er of light) Tj ET")
    document = load(written(writer), "x.pdf")
    assert "an o\ufffder of light" in document.paragraphs[0].text
    assert {notice.code: notice.count for notice in document.warnings}["undecodable"] == 1


def test_letters_that_are_set_apart_are_words():
    writer = PdfWriter()
    text = "(The keeper lights the lamp at dusk and puts it out at dawn.) Tj T* " * 4
    title = " -640 ".join(" -190 ".join(f"({c})" for c in word) for word in ("RESEARCH", "ARTICLE"))
    font = named_font(writer, "Helvetica")
    page(writer, {"H": font}, f"BT /H 12 Tf 1 0 0 1 50 540 Tm [{title}] TJ /H 10 Tf 1 0 0 1 50 500 Tm 14 TL {text} ET")
    document = load(written(writer), "x.pdf")
    assert "RESEARCH ARTICLE" in (document.title, *(p.text for p in document.paragraphs))


def mapped_font(writer: PdfWriter, shown: Mapping[int, str]) -> PdfObject:
    """Adds a bitmap font whose glyphs the file maps to these characters."""
    font = type3_font(writer, bytes(shown))
    rows = "".join(f"<{code:02x}> <{text.encode('utf-16-be').hex()}>\n" for code, text in shown.items())
    cmap = StreamObject()
    cmap.set_data(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n"
        + f"{len(shown)} beginbfchar\n{rows}endbfchar endcmap end end".encode()
    )
    font.get_object()[NameObject("/ToUnicode")] = writer._add_object(cmap)
    return font


ASCII = {code: chr(code) for code in range(33, 127)}


@pytest.mark.parametrize("named", ["#", ""], ids=["as a number sign", "as nothing"])
def test_ligatures_whose_letters_a_font_does_not_name_are_told(named):
    writer = PdfWriter()
    fonts = {"R": mapped_font(writer, {**ASCII, **({128: named} if named else {})})}
    text = r"We de\200ne the \200rst light, and it is e\200cient that an o\200cer keeps lamp #2 lit."
    page(writer, fonts, f"BT /R 8 Tf 20 500 Td ({text}) Tj ET")
    document = load(written(writer), "x.pdf")
    assert document.text() == text.replace(r"\200", "\ufffd")
    assert {notice.code: notice.count for notice in document.warnings}["undecodable"] == 4


def test_letters_of_two_code_units_shift_no_measure():
    """Word writes its formulas in letters beyond U+FFFF, each of which PDFium counts as two characters."""
    writer = PdfWriter()
    fonts = {"V": mapped_font(writer, {86: "𝑉"}), "R": mapped_font(writer, ASCII)}
    raised = "1 0 0 1 50 480 Tm /R 10 Tf (10) Tj 1 0 0 1 60 484 Tm /R 6 Tf (6) Tj 1 0 0 1 68 480 Tm /R 10 Tf (lamps) Tj"
    page(writer, fonts, f"BT 1 0 0 1 50 500 Tm /V 10 Tf ({'V' * 24}) Tj {raised} ET")
    assert "10⁶ lamps" in "\n".join(p.text for p in load(written(writer), "x.pdf").paragraphs)


def test_words_that_are_glued_part_no_hebrew():
    writer = PdfWriter()
    hebrew = "יהורםגאוןישראל"
    fonts = {"R": mapped_font(writer, ASCII), "H": mapped_font(writer, dict(enumerate(hebrew, 65)))}
    glued = "/R 10 Tf [(the) -95 (harbour) -95 (keepers) -95 (were) -95 (there)] TJ"
    steps = [0, 6, 12, 18, 22, 28, 34, 40, 46, 50, 56, 62, 68, 72]  # letters that differ in width
    letters = " ".join(f"1 0 0 1 {200 - x} 420 Tm <{65 + n:02x}> Tj" for n, x in enumerate(steps))
    page(writer, fonts, f"BT 1 0 0 1 50 500 Tm {glued} /H 10 Tf {letters} ET")
    (paragraph,) = load(written(writer), "x.pdf").paragraphs
    assert paragraph.text == f"the harbour keepers were there {hebrew}"


@pytest.mark.parametrize(
    ("seen", "read"),
    [
        (".1984 ", " 1984."),
        ("12%-", "-12%"),
        ("2001~1998 ", " 1998–2001"),
        (".$3.50 ", " $3.50."),
        (".2-10:30 ", " 2-10:30."),
    ],
)
def test_numbers_and_marks_after_hebrew_are_in_their_order(seen, read):
    writer = PdfWriter()
    word = "יהורםגאוןישראל"
    fonts = {"R": mapped_font(writer, {**ASCII, 126: "–"}), "H": mapped_font(writer, dict(enumerate(word, 65)))}
    letters = " ".join(f"1 0 0 1 {300 - 6 * n} 420 Tm <{65 + n:02x}> Tj" for n in range(len(word)))
    left = 222 - 5 * len(seen)
    page(writer, fonts, f"BT /R 10 Tf 1 0 0 1 {left} 420 Tm ({seen}) Tj /H 10 Tf {letters} ET")
    (paragraph,) = load(written(writer), "x.pdf").paragraphs
    assert paragraph.text == f"{word}{read}"


def test_letters_of_a_negative_size_that_are_turned_stand_upright():
    writer = PdfWriter()
    lines = ["Income of the keepers in the year", "Oil that was burned in the lamp", "Boats that came to the bay"]
    drawn = " ".join(f"-1 0 0 -1 50 {500 - 40 * n} Tm ({line}) Tj" for n, line in enumerate(lines))
    page(writer, {"R": mapped_font(writer, ASCII)}, f"BT /R -10 Tf {drawn} ET")
    assert load(written(writer), "x.pdf").text() == " ".join(lines)
