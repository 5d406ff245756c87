"""An answer from several books: its citation on the page of the PDF, and the answer saved beside a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.answering.asking import ask as ask_books
from readagent_core.answering.base import Question
from readagent_core.gisting.job import start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.answering.test_library_shelf import add, tale
from tests.loaders.making import Press, sample


@pytest.fixture
def answer(app_home: Path) -> Iterator[str]:
    """The id of an answer of the built-in reader from a PDF and a book that was none."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(app_home)}))
    minutes = open_file(workspace, Press()(sample("harrow-council-minutes")), "minutes.pdf")
    start_gisting(workspace, minutes.id).join(120)
    books = (minutes.id, *add(workspace, tale(61)))
    exchange, job = ask_books(workspace, books, Question("What did Mr. Okafor say of the two quotations?"))
    job.join(120)
    yield exchange.id
    workspace.library.delete_conversation(exchange.conversation_id)
    for book in books:  # a sample has the title of the first
        workspace.library.remove(book)
    workspace.library.close()


def test_a_citation_of_several_books_is_shown_on_its_pdf_page(page: Page, app_url: str, answer: str) -> None:
    page.goto(f"{app_url}/ask?exchange={answer}")
    point = page.locator('[data-kind="exchange"] .onpdf').first
    point.click()
    panel = page.locator(".original:visible")
    expect(panel.locator(".pquote").first).to_be_visible()
    expect(panel.locator(".ppic")).to_have_js_property("complete", True)
    panel.locator(".pview").press("Escape")
    expect(panel).to_have_count(0)
    expect(point).to_be_focused()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.locator(".keptline")).to_be_visible()
    page.get_by_role("button", name="Do not keep this answer").click()
    expect(page.locator(".keptline")).to_have_count(0)
