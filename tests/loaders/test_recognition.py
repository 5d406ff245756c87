"""What was recognised on a page becomes lines and paragraphs, whatever the package that finds boxes of text."""

from __future__ import annotations

from io import BytesIO
from math import cos, sin

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document
from readagent_core.errors import EmptyDocumentError, NoTextError
from readagent_core.loaders import load
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.loaders.pdf.columns import Flow
from readagent_core.loaders.pdf.layout import measure_body
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.recognised import body_styles, place_lines, with_even_sizes
from readagent_core.loaders.recognition.page import RecognisedPage, arrange
from tests.loaders.scans import partly_scanned, scanned_pdf

WIDTH, HEIGHT = 1000, 1400


def box(x, y, text, *, size=30.0, score=0.99, turn=0.0, upright=False):
    """A box of text whose top left corner is at x, y; ``turn``: in radians, of the whole page about its corner."""
    wide = size * 0.44 * len(text) if text.isascii() else size * len(text)
    high = size / 0.8
    wide, high = (high, wide) if upright else (wide, high)
    corners = [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]
    turned = [[a * cos(turn) - b * sin(turn), a * sin(turn) + b * cos(turn)] for a, b in corners]
    return turned, text, score


def test_a_turned_page_is_set_straight():
    texts = ("The lamp was lit at dusk and it", "burned until the morning came,", "and nobody saw who put it out.")
    page = arrange([box(100, 100 + 50 * n, text, turn=0.012) for n, text in enumerate(texts)], WIDTH, HEIGHT)
    assert [line.text for line in page.lines] == list(texts)
    assert max(line.x for line in page.lines) - min(line.x for line in page.lines) < 0.001
    assert page.lines[0].y - page.lines[1].y == pytest.approx(0.05, abs=0.001)


def test_text_has_the_size_of_the_other_pages_and_a_heading_has_a_larger_one():
    text = [box(100, 300 + 50 * n, "and nobody saw who put the lamp out", size=30 + n % 3) for n in range(6)]
    heading = box(100, 150, "the second night", size=48)
    lines = place_lines(arrange([heading, *text], WIDTH, HEIGHT), 420, 1)
    others = [Line("and this was in the file itself", 40, 300, 500, 10.0)]
    _, evened = with_even_sizes([others, lines], {1})
    assert {line.size for line in evened[1:]} == {10.0}
    assert evened[0].size == pytest.approx(48 / 31 * 10, abs=0.5)


def test_vertical_lines_are_read_from_the_right():
    columns = [
        box(800 - 60 * n, 100, text, upright=True) for n, text in enumerate(("雪守駅の時計は", "三分進んで", "いる。"))
    ]
    page = arrange(list(reversed(columns)), WIDTH, HEIGHT)
    assert page.vertical
    assert [line.text for line in page.lines] == ["雪守駅の時計は", "三分進んで", "いる。"]
    assert page.lines[0].x == pytest.approx(0.1, abs=0.001)
    (line,) = arrange([box(100, 100, "雪守駅の時計は三分進んで")], WIDTH, HEIGHT).lines
    assert line.size == pytest.approx(0.03, abs=0.001)  # the width of its letters is their size


def test_specks_are_left_out_and_make_the_page_doubtful():
    certain = [box(100, 100, "The lamp was lit at dusk.")]
    specks = [box(100, 200 + 50 * n, "i~.'", score=0.3) for n in range(4)]
    page = arrange([*certain, *specks], WIDTH, HEIGHT)
    assert [line.text for line in page.lines] == ["The lamp was lit at dusk."]
    assert page.doubtful
    assert not arrange(certain, WIDTH, HEIGHT).doubtful
    assert not arrange([], WIDTH, HEIGHT).lines


def recognised(*texts, score=0.99):
    boxes = [box(100, 150 + 33 * n, text, size=24, score=score) for n, text in enumerate(texts)]
    return arrange(boxes, WIDTH, HEIGHT)


def test_recognised_pages_take_their_place_among_the_others():
    data = partly_scanned()
    before = load(data, "mixed.pdf")
    assert (before.doubtful_pages, before.recognised_words) == ((2, 3), 0)
    lamp = recognised("The lamp was lit at dusk and it burned until the", "morning, and nobody saw who put it out.")
    boat = recognised("The boat came back without her master on it now.", score=0.7)
    document = load_in_child_process(data, "mixed.pdf", recognised={2: lamp, 3: boat})
    found = [(p.text, p.place, p.confidence) for p in document.paragraphs if p.confidence is not None]
    text = "The lamp was lit at dusk and it burned until the morning, and nobody saw who put it out."
    assert found[0][0].endswith(text)  # the paragraph that page 1 ends in continues with it
    assert found[0][1:] == ("p. 1", 0.99)
    assert found[1:] == [("The boat came back without her master on it now.", "p. 3", 0.7)]
    places = [p.place for p in document.paragraphs]
    assert places.index("p. 1") < places.index("p. 3") < places.index("p. 4")
    assert (document.doubtful_pages, document.recognised_pages) == ((), ((2, 0.99), (3, 0.7)))
    told = {notice.code: notice.message for notice in document.warnings}
    share = round(100 * document.recognised_words / document.words)
    assert f"{share} % of the words, on 2 pages (2, 3)" in told["recognised"]
    assert "1 page (3)" in told["recognised-doubtful"]
    assert "pages-without-text" not in told
    assert Document.from_dict(document.to_dict()) == document


def test_recognised_pages_have_a_leading_of_their_own():
    def flow(page, leading):
        lines = [Line(f"line {n} of the text", 40, 300, 500 - leading * n, 10.0, number=page) for n in range(9)]
        return Flow(tuple(lines), 40, 260)

    flows = [flow(0, 12.0), flow(1, 18.0)]
    assert [style.leading for style in body_styles(flows, measure_body(flows), {1})] == [12.0, 18.0]


def test_a_refused_scan_says_which_pages_can_be_recognised():
    data = scanned_pdf([Image.new("L", (874, 1240), 240)] * 2)
    with pytest.raises(NoTextError, match="can be recognised on this computer") as refused:
        load_in_child_process(data, "scan.pdf")
    assert refused.value.pages == (1, 2)
    with pytest.raises(EmptyDocumentError, match="No text was found in the pictures of 2 pages"):
        load(data, "scan.pdf", recognised={1: RecognisedPage(), 2: RecognisedPage()})


@pytest.mark.parametrize(("mode", "width", "told"), [(3, 400, True), (0, 400, False), (3, 200, False)])
def test_text_that_is_not_drawn_over_the_picture_of_a_page_is_told_as_recognised(mode, width, told):
    out = BytesIO()
    canvas = Canvas(out, pagesize=(400, 600))
    canvas.drawInlineImage(Image.new("L", (80, 120), 240), 0, 0, width, 600)
    for n, words in enumerate(
        ["The lamp was lit at dusk and it burned until the", "morning, and nobody saw who put it out."]
    ):
        line = canvas.beginText(40, 500 - 14 * n)
        line.setTextRenderMode(mode)
        line.textLine(words)
        canvas.drawText(line)
    canvas.save()
    document = load(out.getvalue(), "scan.pdf")
    assert [p.confidence for p in document.paragraphs] == [1.0 if told else None]
    assert document.recognised_pages == (((1, 1.0),) if told else ())
    assert ("recognised" in {notice.code for notice in document.warnings}) is told


@pytest.mark.parametrize("verse", [False, True])
def test_lines_beside_a_picture_are_a_paragraph_and_verse_keeps_its_lines(verse):
    words = "the lamp was lit at dusk and it burned until the morning came and nobody saw who put it out or why "
    prose = [
        "A report came to the lamp that he",
        *[words[n * 9 % 60 :].strip()[:34] for n in range(5)],
        "had seen it out.",
    ]
    wide = ["The " + words[:66], *[words[:70]] * 6, "and it was out."]
    lines = [
        "When lamps are lit",
        "And nobody is by",
        "The boats come home",
        "Or know the reason why",
        "By six",
        "We sit",
    ]
    out = BytesIO()
    canvas = Canvas(out, pagesize=(400, 600))
    for n, line in enumerate(wide + (lines if verse else prose) + wide):
        canvas.drawString(40, 540 - 14 * n - 24 * ((n >= 8) + (n >= (14 if verse else 15))), line)
    canvas.save()
    texts = [p.text for p in load(out.getvalue(), "scan.pdf").paragraphs]
    assert ("\n".join(lines) if verse else " ".join(prose)) in texts
