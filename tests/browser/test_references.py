"""Notes open at their numbers, links lead on and back, readings stand over their words."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.document import Document, Paragraph, Section, Span, SpanKind
from tests.browser.test_reading_first import add, open_book

LINE = "The lamp was trimmed at dusk and the log was written by its light. " * 12
ADDRESS = "https://example.org/lights"
KANJI = "漢字"


def with_references() -> Document:
    """Forty paragraphs; the second has a note, a link, an address and a reading; the last two are the note."""
    text = f"A keeper's day began at dusk. See the chapter on fog, or the list. {KANJI}"
    link, out, ruby = text.index("the chapter"), text.index("the list"), text.index(KANJI)
    spans = (
        Span(28, 28, SpanKind.NOTE, "1", 38),
        Span(link, link + 18, SpanKind.LINK, "", 20),
        Span(out, out + 8, SpanKind.LINK, ADDRESS),
        Span(ruby, ruby + 2, SpanKind.RUBY, "かんじ"),
    )
    note = (Paragraph("At Harrow three-quarters of an hour.", note=True), Paragraph("At Stell, less.", note=True))
    plain = [Paragraph(f"{n}. {LINE}") for n in range(36)]
    return Document(
        "Lights", (plain[0], Paragraph(text, spans=spans), *plain, *note), (Section("One", 0), Section("Fog", 20))
    )


@pytest.fixture
def book(app_home: Path) -> str:
    return add(app_home, with_references())


def test_references_are_followed_and_returned_from(page: Page, app_url: str, book: str) -> None:
    open_book(page, app_url, book)
    text = page.locator('p[data-i="1"]')
    assert text.text_content() == with_references().paragraphs[1].text  # nothing is put among its characters
    note, card = text.locator(".ref.note"), page.locator(".notecard")
    chip = page.locator(".backchip").get_by_role("button").first

    note.focus()
    page.keyboard.press("Enter")
    expect(card).to_contain_text("At Harrow three-quarters of an hour.")
    expect(card).to_contain_text("At Stell, less.")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(note).to_be_focused()

    note.click()
    card.get_by_role("button", name="Go to the note").click()
    expect(page.locator('p[data-i="38"]')).to_be_in_viewport()
    chip.click()
    expect(text).to_be_in_viewport()

    text.locator(".ref.link").first.click()
    expect(page.locator('p[data-i="20"]')).to_be_in_viewport()
    page.go_back()
    expect(text).to_be_in_viewport()

    text.locator(".ref.out").click()
    expect(card).to_contain_text("This link leaves the book")
    expect(card).to_contain_text(ADDRESS)
    page.mouse.click(700, 600)
    expect(card).to_be_hidden()

    over = text.locator("rt").bounding_box()
    under = text.locator("ruby").bounding_box()
    assert over
    assert under
    assert over["width"] > 0
    assert over["y"] < under["y"] + 6
