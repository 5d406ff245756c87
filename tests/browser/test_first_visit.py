"""A library from the first visit to many books: what it says when it is empty, and how books are selected by keys."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect

from readagent_core.document import Document, Paragraph
from readagent_core.gisting.job import PAUSED
from readagent_core.incoming.samples import add_samples
from readagent_core.library.records import GistingState, StopReason
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import SIZE, StartApp, go_to
from tests.browser.test_library import KEEPER, act_on, card
from tests.recordings import make_memory

MANY = 150


def fill_with_many(workspace: Workspace) -> None:
    library = workspace.library
    for n in range(MANY):
        library.add(Document(f"Book {n:03}", (Paragraph(f"The text of book {n}. " * 40),), author="A. Writer"))
    by_title = {book.title: book for book in library.books()}
    begun = by_title["Book 007"]
    library.set_furthest(begun.id, 1)
    library.touch(by_title["Book 008"].id)
    for title, reason, why, model in (
        ("Stopped Half-Way", StopReason.ERROR, "The server failed. It may be busy.", "a model"),
        ("Paused Half-Way", StopReason.PAUSED, PAUSED, workspace.model.name),
    ):
        whole = make_memory([f"{title}: the gulls came back. " * 20] * 8, title=title, complete=False)
        whole = replace(whole, model=model)
        book = library.add(whole.document)
        gisting = library.add_memory(book.id, replace(whole, pages=whole.pages[:4], gists=whole.gists[:4]))
        library.set_state(gisting.id, GistingState.PAUSED, reason, why=why)


def see_many_books(page: Page) -> None:
    """They are drawn where they are seen, and selected by keys."""
    expect(card(page, "Book 008")).to_be_visible()
    expect(card(page, "Book 008")).to_contain_text("Not started")
    assert page.locator(".bk").count() < 80
    stopped = card(page, "Stopped Half-Way")
    page.get_by_role("searchbox").fill("half-way")
    expect(stopped).to_contain_text("Gists stopped at 50 %")
    expect(stopped.locator(".why")).to_have_text(
        "The server failed. 4 gists saved. Made with a model, which is not in use now. Connect a model"
    )
    page.get_by_role("button", name="Resume: gists of Paused Half-Way").click()
    expect(card(page, "Paused Half-Way").last).to_contain_text("Gists ready")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Sorted by: Last opened").click()
    page.get_by_role("menuitemradio", name="Title").click()
    page.get_by_role("link", name="Book 000").focus()
    page.keyboard.press("End")
    expect(page.locator(".bk").last.get_by_role("link")).to_be_focused()
    expect(page.locator(".bk").last).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(page.get_by_role("link", name="Book 000")).to_be_focused()
    page.keyboard.press(" ")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    bar = page.get_by_role("toolbar", name="Selected books")
    expect(bar).to_contain_text("4 books selected")
    expect(bar.get_by_role("button", name="Ask this book")).to_be_hidden()
    bar.get_by_role("button", name="Tag").click()
    page.get_by_role("textbox", name="New tag").fill("first four")
    page.keyboard.press("Enter")
    expect(bar).to_be_hidden()
    expect(card(page, "Book 003")).to_contain_text("first four")
    page.get_by_role("button", name="All tags").click()
    page.get_by_role("menuitemradio", name="first four").click()
    expect(page.locator(".bk")).to_have_count(4)
    page.get_by_role("button", name="Tag: first four").click()
    page.get_by_role("menuitemradio", name="All tags").click()
    page.get_by_role("link", name="Book 005").press(" ")
    expect(bar.get_by_role("button", name="Ask this book")).to_be_visible()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()


def test_a_library_from_the_first_visit_to_many_books(page: Page, start_app: StartApp, tmp_path: Path) -> None:
    home = tmp_path / "home"
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    workspace.library.set_preference("tour", "done")
    with start_app(home) as url:
        page.goto(f"{url}/settings")  # the first thing a fresh server is asked for is a link to a screen
        expect(page.locator('[data-testid="stTopNavLink"]')).to_have_count(6)
        go_to(page, "Library")
        expect(page.get_by_role("heading", level=1)).to_contain_text("remembers every page of a book in short")
        expect(page.get_by_role("img", name=re.compile("cut into 25 pages.* opens page 2"))).to_be_visible()
        expect(page.locator(".drop.local")).to_contain_text("work without a model")
        page.set_viewport_size({"width": 720, "height": 450})  # 200 %
        expect(page.get_by_role("link", name="Open the sample story")).to_be_in_viewport(ratio=1)
        page.set_viewport_size(SIZE)
        page.get_by_role("link", name="Open the sample story").click()
        expect(page).to_have_url(re.compile("/read"))
        expect(page.locator("#p1")).to_be_visible()
        go_to(page, "Library")
        expect(card(page, KEEPER)).to_contain_text("Sample")
        for title in (KEEPER, "Harrow Sound Parish Council", "雪の駅"):
            full = card(page, title).get_by_role("link").inner_text()
            act_on(page, full, "Remove")
            expect(card(page, title)).to_have_count(0)
        expect(page.locator(".nothing")).to_contain_text("No books yet. PDF, EPUB")
        page.get_by_role("button", name="3 removed books").click()
        page.get_by_role("dialog").get_by_role("button", name="Restore").first.click()
        expect(page.locator(".bk")).to_have_count(1)

        fill_with_many(workspace)
        workspace.library.close()
        page.goto(url)
        see_many_books(page)
