"""Pictures of PDF pages: right size and rotation, locked files, and pages that bring the child process down.

And rectangles of words: the words under them are the words that were asked for.
"""

from __future__ import annotations

import random
import re
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import EncodedStreamObject, NameObject, RectangleObject
from pypdfium2 import PdfDocument
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from readagent_core.errors import DamagedDocumentError, DocumentError, PasswordError
from readagent_core.loaders import load
from readagent_core.loaders.pdf.picture import PdfFacts, PdfPages
from tests.loaders.making import Press, sample
from tests.loaders.test_pdf import locked
from tests.loaders.words_under import plain, words_under


def pages_of(*lines: list[str], turned: int = 0, crop: bool = False) -> bytes:
    """A PDF with these lines on each page."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A5)
    for page in lines:
        for row, line in enumerate(page):
            canvas.drawString(60, 520 - 16 * row, line)
        canvas.showPage()
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(out))
    for page in writer.pages:
        page.rotate(turned)
        if crop:
            page.cropbox = RectangleObject((40, 100, 400, 560))
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    """Three pages; the second has 1.2 GB of spaces in 1.2 MB."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pages_of(["One"], ["Two"], ["Three"]))))
    packer, spaces = zlib.compressobj(9), b" " * (1 << 20)
    first, again = (packer.compress(spaces) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    stream = EncodedStreamObject()
    stream._data = first + again * 1199 + packer.flush()  # packing the same again and again takes seconds
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.fixture
def written(tmp_path):
    """Writes the bytes of a PDF to a file and returns its path."""

    def write(data: bytes) -> Path:
        path = tmp_path / "a.pdf"
        path.write_bytes(data)
        return path

    return write


def places_of(path: Path, text: str, start: int, end: int, label: str = "1"):
    with PdfPages(path) as pages:
        return pages.find(text, start, end, pages.facts().numbers(label))


@pytest.mark.parametrize(("turned", "crop", "shape"), [(0, False, A5), (90, False, A5[::-1]), (0, True, (360, 460))])
def test_a_picture_has_the_shape_of_what_is_shown_of_the_page(written, turned, crop, shape):
    with PdfPages(written(pages_of(["Words"], turned=turned, crop=crop))) as pages:
        picture = Image.open(BytesIO(pages.draw(1, width=500)))
    assert picture.format == "JPEG"
    assert picture.width == pytest.approx(500, abs=1)
    assert picture.height == pytest.approx(500 * shape[1] / shape[0], abs=2)
    assert picture.convert("L").getextrema()[0] < 100  # the words are black


def test_a_locked_file_needs_its_password(written):
    path = written(locked("secret", "owner"))
    with (
        pytest.raises(PasswordError, match="does not open") as caught,
        PdfPages(path, password="wrong one") as pages,
    ):
        pages.draw(1, width=100)
    assert "wrong one" not in str(caught.value)
    with PdfPages(path, password="secret") as pages:
        assert pages.draw(1, width=100).startswith(b"\xff\xd8")


def test_a_page_that_brings_the_process_down_is_an_error_and_the_next_page_is_drawn(written):
    with PdfPages(written(bomb())) as pages:
        assert pages.facts() == PdfFacts(3)
        with pytest.raises(DamagedDocumentError, match="other pages can be shown"):
            pages.draw(2, width=100)
        assert pages.draw(3, width=100).startswith(b"\xff\xd8")
        with pytest.raises(DocumentError, match="no page 4"):
            pages.draw(4, width=100)


def test_size_is_bounded(written):
    with PdfPages(written(pages_of(["Words"]))) as pages:
        assert Image.open(BytesIO(pages.draw(1, width=10**6))).width <= 3000


def test_a_label_may_name_several_pages():
    assert PdfFacts(9).numbers("4") == (4,)
    assert PdfFacts(9).numbers("10") == PdfFacts(9).numbers("iv") == ()
    assert PdfFacts(4, ("1", "2", "1", "2")).numbers("1") == (1, 3)


@pytest.mark.parametrize("name", ["the-keeper-of-harrow-light", "yuki-no-eki"])
def test_the_words_under_the_rectangles_are_the_words_asked_for(written, name):
    data = Press(hyphens=True)(sample(name))
    document = load(data, "x.pdf")
    sentences = [
        (paragraph, found.start(), found.end())
        for paragraph in document.paragraphs
        for found in re.finditer(r"[^.!?。\s][^.!?。]{8,}[.!?。]", paragraph.text)
        if paragraph.place
    ]
    chosen = random.Random(1).sample(sentences, 20)
    pdf = PdfDocument(data)
    with PdfPages(written(data)) as pages:
        facts = pages.facts()
        for paragraph, start, end in chosen:
            places = pages.find(paragraph.text, start, end, facts.numbers(paragraph.place.removeprefix("p. ")))
            assert plain(words_under(pdf, places)) == plain(paragraph.text[start:end])


@pytest.mark.parametrize(("turned", "crop"), [(0, False), (90, False), (270, True)])
def test_a_quotation_over_a_page_break_has_two_places(written, turned, crop):
    data = pages_of(
        ["The keeper lit the lamp, and then he went slowly", "down to the boat that lay un-"],
        ["Harrow Light, chapter one", "loved at the quay. The lamp went out."],
        turned=turned,
        crop=crop,
    )
    text = "The keeper lit the lamp, and then he went slowly down to the boat that lay unloved at the quay."
    places = places_of(written(data), text, text.index("he went"), len(text))
    assert [place.number for place in places] == [1, 2]
    under = plain(words_under(PdfDocument(data), places))
    assert under == plain("he went slowly down to the boat that lay unloved at the quay.")
    for place in places:
        assert all(0 <= edge <= 1 for rectangle in place.rectangles for edge in rectangle)


def test_words_that_occur_twice_are_found_where_the_paragraph_has_them(written):
    lines = ["A bell. The lamp went out at dawn, he said.", "A boat. The lamp went out at dusk, she said."]
    with PdfPages(written(pages_of(lines))) as pages:
        for row, text in enumerate(lines):
            start = text.index("The lamp")
            (place,) = pages.find(text, start, start + len("The lamp went out"), (1,))
            ((_, top, _, bottom),) = place.rectangles
            assert top < (A5[1] - 520 + 16 * row) / A5[1] < bottom + 0.01
            at_comma = text.index(",")
            edges = [pages.find(text, start, end, (1,))[0].rectangles[0][2] for end in (at_comma, at_comma + 1)]
            assert edges[0] < edges[1]  # a mark after the last word is of the quotation


def test_words_that_are_not_on_the_page_have_no_place(written):
    path = written(pages_of(["The keeper lit the lamp."]))
    text = "Something else altogether was written here by another hand."
    assert places_of(path, "The keeper lit the lamp.", 0, 24, "7") == ()
    with PdfPages(path) as pages:
        assert pages.find(text, 0, len(text), (1,)) == ()
        assert pages.find("… !", 0, 3, (1,)) == ()


def test_the_end_of_a_paragraph_of_many_pages_is_found(written):
    lines = [
        [f"Lamp {page} was lit by keeper {row} of the {page * row} of it." for row in range(25)] for page in range(9)
    ]
    text = " ".join(line for page in lines for line in page)
    start = text.index("Lamp 8 was lit by keeper 20")
    (place,) = places_of(written(pages_of(*lines)), text, start, start + 40)
    assert place.number == 9
