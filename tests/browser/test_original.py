"""The PDF's own page: beside the text with the selected words marked, over Ask's memory with its citations, locked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.gisting.job import start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.loaders.making import Press, sample
from tests.loaders.test_pdf import locked

LOADED = "picture => picture.complete && picture.naturalWidth > 0"


@pytest.fixture(scope="module")
def books(app_home: Path, app_url: str) -> Iterator[dict[str, str]]:
    """Ids: a PDF with gists and an answer, the answer, and a locked PDF whose password the app was not given."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(app_home)}))
    minutes = open_file(workspace, Press()(sample("harrow-council-minutes")), "minutes.pdf")
    start_gisting(workspace, minutes.id).join(120)
    exchange, job = ask(
        workspace, minutes.id, Question("What did Mr. Okafor, the engineer, say of the slipway and of the quotations?")
    )
    job.join(120)
    closed = open_file(workspace, locked("secret", "owner"), "closed.pdf", password="secret")
    yield {"minutes": minutes.id, "answer": exchange.id, "locked": closed.id}
    for book in (minutes, closed):  # a sample has the title of the first
        workspace.library.remove(book.id)
    workspace.library.close()


def test_selected_words_are_marked_on_the_page_that_has_them(page: Page, app_url: str, books: dict[str, str]) -> None:
    page.goto(f"{app_url}/read?book={books['minutes']}&paragraph=60")
    words = page.locator('p[data-i="60"]')
    expect(words).to_be_visible()
    expect(page.locator(".original")).to_be_hidden()
    page.keyboard.press("p")
    panel = page.locator(".original")
    expect(panel.locator(".ppic")).to_have_js_property("complete", True)
    where = panel.get_by_role("status").first
    expect(where).to_contain_text("PDF page")
    expect(panel.locator(".phere")).to_have_count(1)
    expect(panel.locator(".pquote")).to_have_count(0)
    at = where.inner_text()
    words.click(click_count=3)
    expect(panel.locator(".pquote").first).to_be_visible()
    assert where.inner_text() == at
    panel.locator(".pview").press("ArrowRight")
    expect(where).not_to_have_text(at)
    expect(panel.locator(".pquote")).to_have_count(0)  # they are on the page before
    before = panel.locator(".psheet").bounding_box()
    panel.locator(".pview").press("+")
    after = panel.locator(".psheet").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > 1.2 * before["width"]
    panel.locator(".pview").press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="PDF", exact=True)).to_be_focused()
    look, flows = page.get_by_role("button", name="Type and theme"), page.locator(".panel[data-name=type]")
    look.click()  # in pages too the text takes the room that it is left
    flows.get_by_role("button", name="Pages", exact=True).click()
    look.click()
    expect(flows).to_be_hidden()
    page.keyboard.press("p")
    expect(panel).to_be_visible()
    wide = "node => node.getBoundingClientRect().width"
    assert page.locator(".col").evaluate(wide) > 0.8 * page.locator(".leaves").evaluate(wide)
    look.click()  # as it was, for the tests that follow
    flows.get_by_role("button", name="Scroll", exact=True).click()


def test_a_citation_opens_on_its_page_by_click_by_key_and_on_a_phone(
    page: Page, app_url: str, books: dict[str, str]
) -> None:
    page.goto(f"{app_url}/ask?book={books['minutes']}&exchange={books['answer']}")
    panel = page.locator(".original")
    page.get_by_role("button", name="PDF", exact=True).click()
    marks = page.locator(".original .pquote")
    expect(marks.first).to_be_visible()
    places = [str(marks.first.get_attribute("style"))]
    cites = page.locator(".cite")
    assert cites.count() > 1
    for number in range(1, cites.count()):
        cites.nth(number).click()
        expect(marks.first).not_to_have_attribute("style", places[-1])
        places.append(str(marks.first.get_attribute("style")))
    assert len(set(places)) == cites.count()
    panel.locator(".pview").press("Escape")
    expect(panel).to_be_hidden()

    cite = page.locator(".cite").last
    cite.click()  # shows its words in the memory, as before
    expect(page.locator(".m.open mark").last).to_be_in_viewport()
    expect(panel).to_be_hidden()
    cite.press("Tab")
    opener = page.get_by_role("button", name="show on the PDF page").last
    expect(opener).to_be_focused()
    opener.press("Enter")
    expect(panel.locator(".pquote").first).to_be_visible()
    expect(panel.locator(".pview")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".st-key-ask_memory")).to_be_hidden()
    opener.click()
    expect(panel.locator(".pquote").first).to_be_in_viewport()
    panel.get_by_role("button", name="Close the PDF page").click()
    expect(page.locator(".st-key-ask_memory")).to_be_hidden()
    expect(opener).to_be_focused()
    cite.click()
    expect(page.locator(".m.open mark").last).to_be_in_viewport()  # of the last citation


def test_a_locked_pdf_asks_for_its_password_once(page: Page, app_url: str, books: dict[str, str]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/read?book={books['locked']}")
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator(".panel .pagein")).to_have_value("p. 1")  # of the source, because there are no gists
    page.keyboard.press("Escape")
    page.get_by_role("button", name="PDF", exact=True).click()
    field = page.get_by_label("Password of the PDF")
    field.fill("wrong")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("does not open")
    field.fill("secret")
    field.press("Enter")
    expect(page.locator(".original").get_by_role("status").first).to_have_text("PDF page 1 of 1")
    expect(field).to_have_count(0)
    box = page.locator(".original").bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    page.reload()
    page.get_by_role("button", name="PDF", exact=True).click()
    expect(page.locator(".original").get_by_role("status").first).to_have_text("PDF page 1 of 1")
