"""PDF: title, author and language as printed, outlines, stamps, notes, small glyphs, and pages that cannot be read."""

from __future__ import annotations

from io import BytesIO

import pytest
from pypdf import PdfWriter
from pypdf.annotations import FreeText
from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject, TextStringObject
from pypdfium2 import PdfDocument
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from readagent_core.errors import NoTextError
from readagent_core.loaders import load
from readagent_core.loaders.pdf.page_text import read_lines
from readagent_core.loaders.readable import Verdict, choose_language, judge
from tests.loaders.fonts import page, type3_font, written
from tests.loaders.making import sample

PROSE = " ".join(p.text for p in sample("the-keeper-of-harrow-light").paragraphs[:12]).replace("\n", " ").split()
GERMAN = (
    "Der Wärter des Leuchtturms hatte die Lampe angezündet, und es war nicht mehr hell, als das Schiff in die Bucht "
)
RUSSIAN = "Смотритель маяка зажёг лампу, и было уже темно, когда корабль вошёл в бухту, а он не знал, кто это был. "
ARABIC = "هذا كتاب عن الحارس الذي كان يضيء المصباح كل ليلة قبل أن تصل السفن إلى الميناء وكان البحر هادئا. "
JAPANESE = "燈台守は毎晩ランプに火をともし、船が港に着くまで眠らなかった。海は静かで、雪が降っていた。"


VERSES = (  # Sanskrit, in the script of Hindi and with few of its words
    "धर्मक्षेत्रे कुरुक्षेत्रे समवेता युयुत्सवः मामकाः पाण्डवाश्चैव किमकुर्वत सञ्जय दृष्ट्वा तु पाण्डवानीकं व्यूढं दुर्योधनस्तदा "
    "आचार्यमुपसङ्गम्य राजा वचनमब्रवीत् पश्यैतां पाण्डुपुत्राणामाचार्य महतीं चमूम् व्यूढां द्रुपदपुत्रेण तव शिष्येण धीमता"
)


def article(*, title: str = "", author: str = "", printed: str = "", stamp: str = "", text: list[str] = PROSE) -> bytes:
    """A page of prose with what is printed above it in large letters, and what the file says of itself."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setTitle(title)
    canvas.setAuthor(author)
    if stamp:
        canvas.saveState()
        canvas.translate(34, 250)
        canvas.rotate(90)
        canvas.setFont("Times-Roman", 20)
        canvas.drawString(0, 0, stamp)
        canvas.restoreState()
    canvas.setFont("Times-Bold", 17)
    canvas.drawString(80, 780, printed)
    for row in range(40):
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(80, 740 - 13 * row, " ".join(text[row * 12 : row * 12 + 12]))
    canvas.save()
    return out.getvalue()


@pytest.mark.parametrize(
    "claimed", ["5", "ms_final_v3 (2)", "Annual Report of the Harbour Board", "arXiv:2601.01234v2  3 Jan 2026", ""]
)
def test_a_title_that_the_page_does_not_print_gives_way(claimed: str) -> None:
    stamp = "arXiv:2601.01234v2 [cs.CL] 3 Jan 2026"
    document = load(article(title=claimed, printed="Lamps and their Keepers", stamp=stamp), "file")
    assert document.title == "Lamps and their Keepers"
    assert document.paragraphs[-1].text == stamp


def test_sentences_that_are_set_apart_stay_in_the_text() -> None:
    said = "The lamp is out. Nobody lit it."
    document = load(article(printed=said), "A File.pdf")
    assert document.title == "A File"
    assert said in [section.title for section in document.sections]


@pytest.mark.parametrize("author", ["ARRAY(0x2c7cf020)", "<C3FA>", "jaime_valenciav", "IEUser"])
def test_an_author_that_no_page_names_is_none(author: str) -> None:
    assert load(article(author=author, printed="Lamps and their Keepers"), "file").author == ""


def test_a_heading_in_the_middle_of_a_page_is_no_title() -> None:
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for row in range(40):
        canvas.setFont("Times-Bold" if row == 20 else "Times-Roman", 16 if row == 20 else 10)
        canvas.drawString(
            80, 780 - 15 * row, "The second part" if row == 20 else " ".join(PROSE[row * 12 : row * 12 + 12])
        )
    canvas.save()
    document = load(out.getvalue(), "file")
    assert (document.title, [section.title for section in document.sections]) == ("file", ["The second part"])


def with_catalog(data: bytes, **entries: str) -> bytes:
    writer = PdfWriter(clone_from=BytesIO(data))
    writer._root_object.update({NameObject(f"/{key}"): TextStringObject(value) for key, value in entries.items()})
    return written(writer)


def test_the_text_decides_on_the_language() -> None:
    data = article(printed="Lamps and their Keepers")
    assert load(with_catalog(data, Lang="pt-BR"), "file").language == "en"
    assert load(with_catalog(data, Lang="en-GB"), "file").language == "en-GB"
    for text, language in ((GERMAN, "de"), (RUSSIAN, "ru"), (ARABIC, "ar"), (JAPANESE, "ja")):
        assert choose_language("en-US", text * 3) == language
    assert choose_language("eu", "Kaixo mundua, hau euskarazko testu bat da eta ez da gaztelania.") == "eu"


def test_entries_of_pages_that_are_not_there_and_without_text_are_counted() -> None:
    writer = PdfWriter(clone_from=BytesIO(article(printed="Lamps and their Keepers")))
    for number in range(30):
        item = writer.add_outline_item(f"Gone {number}", 0)
        item.get_object()[NameObject("/Dest")] = ArrayObject([NumberObject(number + 1), NameObject("/Fit")])
    for number in range(5):
        writer.add_outline_item(f"Empty {number}", 0)
    document = load(written(writer), "file")
    assert len(document.sections) <= 2
    notice = next(w for w in document.warnings if w.code == "outline-without-text")
    assert notice.count == 34


def test_what_was_typed_over_a_page_is_read() -> None:
    writer = PdfWriter(clone_from=BytesIO(article(printed="Lamps and their Keepers")))
    note = FreeText(text="Seen and approved by the harbour master.", rect=(80, 100, 400, 120))
    writer.add_annotation(0, note)
    text = "\n".join(p.text for p in load(written(writer), "file").paragraphs)
    assert "Seen and approved by the harbour master." in text


def test_a_font_whose_glyphs_are_large_and_whose_size_is_tiny_is_read() -> None:
    writer = PdfWriter()
    font = type3_font(writer, bytes(range(32, 127)))
    font.get_object()[NameObject("/FontMatrix")] = ArrayObject(map(FloatObject, (0.1, 0, 0, 0.1, 0, 0)))
    rows = [" ".join(PROSE[n * 9 : n * 9 + 9]).encode("ascii", "replace").hex() for n in range(30)]
    page(writer, {"F": font}, "BT /F 0.12 Tf 20 560 Td 12 TL " + " ".join(f"<{row}> Tj T*" for row in rows) + " ET")
    document = load(written(writer), "file")
    assert document.paragraphs[0].text.split()[:5] == " ".join(PROSE[:5]).encode("ascii", "replace").decode().split()
    assert len(document.paragraphs) < 5
    font.get_object()[NameObject("/FontBBox")] = ArrayObject(map(NumberObject, (0, 0, 600, 10)))  # too low
    with PdfDocument(BytesIO(written(writer))) as low:
        assert {round(line.size) for line in read_lines(low[0], 1).lines} == {12}


def test_vertical_lines_are_read_from_top_to_bottom_and_from_the_right() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    lines = [JAPANESE[start : start + 11] for start in range(0, 44, 11)]
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("HeiseiMin-W3", 12)
    for number, line in reversed(list(enumerate(lines))):  # drawn from the left
        for at, character in enumerate(line):
            canvas.drawString(400 - 20 * number, 700 - 12 * at, character)
    canvas.save()
    document = load(out.getvalue(), "file")
    assert document.vertical
    assert "".join(p.text for p in document.paragraphs).replace("\n", "") == "".join(lines)


def shifted(text: str, by: int) -> str:
    return "".join(chr(ord(c) + by) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize("text", [" ".join(PROSE), GERMAN * 3, RUSSIAN * 3, ARABIC * 3, JAPANESE * 3])
def test_languages_are_readable(text: str) -> None:
    assert judge(text) is Verdict.READABLE


def test_vowel_signs_do_not_part_words() -> None:
    assert judge(VERSES.replace("\u094d", ""), "hi") is not Verdict.UNREADABLE
    moved = {code: 0x915 + (code - 0x915 + 11) % 37 for code in range(0x915, 0x93A)}  # as in a font with wrong letters
    assert judge(2 * f"{VERSES} ".translate(moved), "hi") is Verdict.UNREADABLE


@pytest.mark.parametrize(
    "text",
    [
        shifted(" ".join(PROSE[:300]), 5),
        shifted(" ".join(PROSE[:300]), -3),
        GERMAN.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "qxzjkvbpygfwmucldrhsnioate")) * 3,
        " ".join(f"{n * 7919 % 65536:04X}03ED" for n in range(200)),
        "".join(chr(0x4E00 + n * 7919 % 20000) for n in range(300)),
        " ".join(" ".join(PROSE[:40])),  # in letters
    ],
)
def test_wrong_letters_are_not(text: str) -> None:
    assert judge(text) is Verdict.UNREADABLE


def test_strokes_that_were_taken_for_letters_are_not() -> None:
    assert judge("1 I I 1 i ¹ 1 I 0 I I 1 * ⁰ I ] " * 3) is Verdict.UNREADABLE


@pytest.mark.parametrize(
    "text",
    [
        "12 13 14 15 " * 50,
        " ".join("IVXLCXX IX LXXXIX XLVII LIV" for _ in range(20)),
        "def f(x): return x[0:2] != {1: 'a'}\n" * 20,
        "Kaixo",
        " ".join("ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "0123456789"),
        "1 0 0 1 0 1 1 0 x = y + 2 " * 4,
    ],
)
def test_numbers_programs_and_short_texts_show_nothing(text: str) -> None:
    assert judge(text) in (Verdict.READABLE, Verdict.UNKNOWN)


def test_a_dictionary_of_two_scripts_is_read() -> None:
    ranks = "Private Редник Seaman Матрос Corporal Ефрейтор Sergeant Сержант Lieutenant Поручик Captain Капитан"
    assert judge(f"{ranks} Commander Полковник Admiral Адмирал " * 4, "bg") is not Verdict.UNREADABLE
    assert judge("model y n n n n table y n y n n pabh n n n n n yes " * 8) is not Verdict.UNREADABLE


def test_a_page_of_wrong_letters_is_left_out_and_can_be_recognised() -> None:
    garbage = shifted(" ".join(PROSE), 5).split(" ")
    with pytest.raises(NoTextError, match="do not say which letters") as caught:
        load(article(text=garbage), "file")
    assert caught.value.pages == (1,)


def test_letters_that_are_drawn_as_outlines_can_be_recognised() -> None:
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for number in range(200):
        canvas.rect(50 + number % 40 * 10, 700 - number // 40 * 20, 6, 10, fill=1)
    canvas.save()
    with pytest.raises(NoTextError):
        load(out.getvalue(), "file")
