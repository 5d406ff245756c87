"""Pictures in books: where they are, what is made of every kind of picture file, and what is left out and counted."""

from __future__ import annotations

import re
from io import BytesIO

import docx
import pytest
from docx.shared import Inches
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A5
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document, Figure
from readagent_core.loaders import load
from tests.loaders.picturing import (
    PARAGRAPH,
    book,
    data_address,
    encode,
    illustrated,
    line_art,
    paragraphs,
    photo,
    picture,
)


def shown(document: Document, figure: Figure) -> Image.Image:
    """The picture of a figure, which is JPEG or PNG as it says."""
    (found,) = [each for each in document.pictures if each.id == figure.picture]
    image = Image.open(BytesIO(found.data))
    assert image.get_format_mimetype() == found.kind
    assert image.size == (figure.width, figure.height)
    return image


def one(data: bytes) -> tuple[Document, Image.Image]:
    """A book with the one picture ``data``, and what is shown of it."""
    document = load(book({"A": paragraphs(1) + picture("a.png") + paragraphs(1)}, {"a.png": data}), "x.epub")
    (figure,) = document.figures
    return document, shown(document, figure)


def notices(document: Document) -> dict[str, tuple[int, str]]:
    return {notice.code: (notice.count, notice.message) for notice in document.warnings}


def test_pictures_of_an_epub_are_at_their_places_with_caption_and_description():
    document = load(illustrated(), "x.epub")
    chart, tower, lamp, boat = document.figures
    assert (chart.paragraph, chart.after, chart.caption, chart.light) == (2, False, 2, True)
    assert document.paragraphs[2].text == "Figure 1. Harrow Sound, with both bearings."
    assert document.text(2, 3) == ("[figure: A chart of Harrow Sound]\n\nFigure 1. Harrow Sound, with both bearings.")
    assert (tower.paragraph, tower.after, tower.alt, tower.light) == (7, False, "The tower at dusk", False)
    assert document.shown(7) == f"## The Tower\n\n[figure: The tower at dusk]\n\n{PARAGRAPH.strip()}"
    assert (lamp.paragraph, lamp.after, lamp.alt) == (11, True, "")
    assert document.shown(11).endswith("in the log.\n\n[figure]")
    assert (boat.picture, boat.width, boat.height, boat.alt) == ("", 300, 200, "The boat at her mooring")
    assert [shown(document, figure).format for figure in (chart, tower, lamp)] == ["PNG", "JPEG", "PNG"]
    assert notices(document)["pictures"] == (3, "3 pictures are shown at their places in the text.")
    assert notices(document)["pictures-left-out"] == (1, "Not shown: 1 picture (1 damaged).")


def test_pictures_do_not_change_the_id_of_a_text():
    body = paragraphs(2) + '<p><img src="../images/a.png"/></p>' + paragraphs(2)
    with_picture = load(book({"A": body}, {"a.png": encode(photo(), "PNG")}), "x.epub")
    without = load(book({"A": body}, {}), "x.epub")
    assert len(with_picture.figures) == 1
    assert with_picture.id == without.id
    assert "figure" not in without.text()


def test_the_first_picture_of_a_chapter_belongs_to_it_and_a_plate_to_the_text_before_it():
    data = encode(photo(), "PNG")
    document = load(book({"A": paragraphs(1), "B": picture("a.png") + paragraphs(2)}, {"a.png": data}), "x.epub")
    assert [(f.paragraph, f.after) for f in document.figures] == [(1, False)]
    page = f"<p>{PARAGRAPH}</p><p><img src='{data_address(data)}'></p><h2>Next</h2><p>{PARAGRAPH}</p>"
    assert [(f.paragraph, f.after) for f in load(page.encode(), "x.html").figures] == [(0, True)]


def test_a_picture_alone_on_its_page_keeps_its_description_as_text():
    page = f'<html><body><img src="{data_address(encode(photo(), "PNG"))}" alt="Two men in a boat"></body></html>'
    alone = load(page.encode(), "x.html")
    assert [p.text for p in alone.paragraphs] == ["[Two men in a boat]"]
    assert [(f.paragraph, f.after, f.caption, f.alt) for f in alone.figures] == [(0, False, 0, "")]


def test_first_frame_upright_in_plain_colours_and_nothing_else_of_the_file():
    red, blue = Image.new("RGB", (80, 40), "red"), Image.new("RGB", (80, 40), "blue")
    document, image = one(encode(red, "GIF", save_all=True, append_images=[blue], comment=b"secret"))
    assert image.convert("RGB").getpixel((40, 20))[0] > 200
    assert not getattr(image, "is_animated", False)
    assert b"secret" not in document.pictures[0].data

    half = photo(80, 40)
    half.paste("red", (0, 0, 80, 10))
    rotated = half.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "where I live"
    document, image = one(encode(rotated, "JPEG", exif=exif))
    assert image.size == (80, 40)
    assert image.convert("RGB").getpixel((40, 3))[0] > 200
    assert b"where I live" not in document.pictures[0].data

    _, image = one(encode(Image.new("CMYK", (60, 60), (0, 255, 255, 0)), "JPEG"))
    pixel = image.convert("RGB").getpixel((30, 30))
    assert pixel[0] > 200
    assert max(pixel[1:]) < 60


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "I;16"])
def test_every_kind_of_pixel(mode):
    grey = Image.linear_gradient("L").resize((64, 64))
    image = Image.new("I;16", (64, 64), 40_000) if mode == "I;16" else grey.convert(mode)
    _, found = one(encode(image, "PNG"))
    assert found.mode in ("L", "RGB")
    if mode == "I;16":
        assert abs(found.convert("L").getpixel((9, 9)) - 40_000 / 256) < 3


def test_transparent_pictures_are_on_a_ground_that_shows_them():
    for ink, dark in (("black", False), ("white", True)):
        image = Image.new("RGBA", (90, 90), (0, 0, 0, 0))
        ImageDraw.Draw(image).ellipse((20, 20, 70, 70), outline=ink, width=5)
        _, found = one(encode(image, "PNG"))
        assert (found.convert("L").getpixel((2, 2)) < 60) is dark
    palette = Image.new("P", (60, 60), 0)
    palette.putpalette([255, 255, 255, 200, 0, 0] + [0] * 762)
    _, found = one(encode(palette, "GIF", transparency=0))
    assert found.convert("L").getpixel((5, 5)) > 240


def test_large_pictures_are_made_smaller():
    _, image = one(encode(Image.new("L", (6000, 1500), 90), "PNG"))
    assert image.size == (1600, 400)


def test_tiny_pictures_and_ornaments_are_left_out_and_counted():
    files = {"dot.png": encode(Image.new("L", (20, 300)), "PNG"), "star.png": encode(line_art(60, 60), "PNG")}
    body = picture("dot.png") + (paragraphs(1) + picture("star.png")) * 4 + picture("star.png", "A star chart")
    document = load(book({"A": body + paragraphs(1)}, files), "x.epub")
    assert [figure.alt for figure in document.figures] == ["A star chart"]
    assert notices(document)["pictures-left-out"][0] == 5


def test_a_web_page_shows_what_it_holds_and_describes_what_it_does_not():
    page = (
        f"<main><p>{PARAGRAPH}</p><p>Before <img src='{data_address(encode(photo(), 'PNG'))}' alt='The mole'> "
        "after.</p>"
        "<p><img src='http://192.0.2.1/a.png' alt='A far lighthouse'></p><p><img src='b.png' srcset='//x/y 2x'></p>"
        f"<figure><svg role='img'><title>A plan</title></svg></figure><p>{PARAGRAPH}</p></main>"
    )
    document = load(page.encode(), "x.html")
    assert [p.text for p in document.paragraphs][1:3] == ["Before after.", "[A far lighthouse]"]
    (figure,) = document.figures
    assert (figure.paragraph, figure.after, figure.alt) == (1, True, "The mole")
    count, message = notices(document)["pictures-left-out"]
    assert count == 3
    for reason in ("1 in a drawing format", "1 in other files or on other servers", "1 not in the file"):
        assert reason in message


def test_pictures_of_a_word_document():
    made = docx.Document()
    made.add_paragraph("Before the picture.")
    made.add_picture(BytesIO(encode(line_art(), "PNG")), width=Inches(2))
    made.add_paragraph("Figure 1. The plan.", style="Caption")
    made.add_paragraph("After the picture.")
    out = BytesIO()
    made.save(out)
    document = load(out.getvalue(), "x.docx")
    assert [p.text for p in document.paragraphs] == ["Before the picture.", "Figure 1. The plan.", "After the picture."]
    (figure,) = document.figures
    assert (figure.paragraph, figure.after, figure.caption) == (1, False, 1)
    assert shown(document, figure).size == (900, 600)


def pdf_with_pictures() -> bytes:
    """Two pages: a picture in two tiles with a caption, and a logo; a rotated page with a picture within text."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    _width, height = A5
    lines = re.findall(r".{1,60}(?: |$)", PARAGRAPH * 2)

    def text(y: float) -> None:
        for n, line in enumerate(lines[:8]):
            canvas.drawString(45, y - 14 * n, line)

    canvas.setFont("Times-Roman", 11)
    text(height - 60)
    image = line_art(600, 400)
    top, bottom = image.crop((0, 0, 600, 200)), image.crop((0, 200, 600, 400))
    canvas.drawImage(ImageReader(top), 60, 270, 300, 100)
    canvas.drawImage(ImageReader(bottom), 60, 170, 300, 100)
    canvas.drawImage(ImageReader(photo(64, 64)), 10, 10, 20, 20)
    canvas.drawString(60, 150, "Figure 1. A plan of the tower, from the south.")
    canvas.drawString(370, 160, "Fig. 9")  # nearer, but not below it
    canvas.showPage()
    canvas.setPageRotation(90)
    canvas.setFont("Times-Roman", 11)
    text(height - 60)
    canvas.drawImage(ImageReader(Image.new("RGB", (300, 100), "red")), 60, 300, 300, 100)
    text(250)
    canvas.save()
    return out.getvalue()


def test_pictures_of_a_pdf_are_drawn_as_its_pages_show_them():
    document = load(pdf_with_pictures(), "x.pdf")
    plan, red = document.figures
    assert plan.caption == plan.paragraph
    assert document.paragraphs[plan.paragraph].text.startswith("Figure 1. A plan of the tower")
    assert plan.light
    assert plan.width / plan.height == pytest.approx(1.5, rel=0.02)  # both tiles
    image = shown(document, red).convert("RGB")
    assert image.height / image.width == pytest.approx(3, rel=0.03)  # turned with its page
    assert image.getpixel((image.width // 2, image.height // 2)) == pytest.approx((254, 0, 0), abs=4)
    assert notices(document)["pictures-left-out"][0] == 1
