"""The library in a browser: cards, opening files, removing with undo, what cannot be opened, and beginning anew."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import StartApp

STORY = "The Ferry at Low Water\n\n" + "\n\n".join(
    f"On day {n} the ferry came late, and the ferryman said that the river had told him so. Nobody asked how." * 3
    for n in range(1, 60)
)


def card(page: Page, title: str):
    return page.locator('[class*="st-key-card_"]').filter(has_text=title)


def test_samples_are_marked_and_open_where_they_were_read(page: Page, app_url: str) -> None:
    page.goto(app_url)
    keeper = card(page, "The Keeper of Harrow Light")
    expect(keeper).to_contain_text("Sample")
    expect(keeper).to_contain_text("25 pages, kept at 18 %")
    expect(keeper.locator("svg.cover")).to_be_visible()
    keeper.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".leaf").first).to_be_attached()


def test_a_file_is_dropped_reported_read_and_removed_with_undo(page: Page, app_url: str, tmp_path: Path) -> None:
    page.goto(app_url)
    file = tmp_path / "ferry.txt"
    file.write_text(STORY, encoding="utf-8")
    page.locator('input[type="file"]').set_input_files(str(file))
    expect(page.get_by_role("dialog")).to_contain_text("Import report")
    page.keyboard.press("Escape")
    ferry = card(page, "The Ferry at Low Water")
    expect(ferry).to_contain_text("Not read")
    ferry.get_by_role("button", name="Start reading").click()
    expect(page.locator(".leaf").first).to_be_attached()
    expect(page.locator(".job")).to_be_hidden()  # it ended by itself
    page.goto(app_url)
    expect(ferry).to_contain_text("kept at")
    ferry.locator('[data-testid="stPopover"] button').click()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".st-key-removed")).to_contain_text("Removed The Ferry at Low Water.")
    expect(ferry).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(ferry).to_contain_text("kept at")


def test_search_and_a_file_that_cannot_be_opened(page: Page, app_url: str, tmp_path: Path) -> None:
    page.goto(app_url)
    expect(card(page, "The Keeper of Harrow Light")).to_be_visible()
    page.locator(".st-key-q input").fill("council")
    page.locator(".st-key-q input").press("Enter")
    expect(card(page, "The Keeper of Harrow Light")).to_have_count(0)
    expect(card(page, "Harrow Sound Parish Council")).to_be_visible()
    broken = tmp_path / "broken.epub"
    broken.write_bytes(b"this is no archive")
    page.locator('input[type="file"]').set_input_files(str(broken))
    expect(page.locator('[class*="st-key-error_"]')).to_be_visible()
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_empty_library_says_how_to_begin(page: Page, start_app: StartApp, tmp_path: Path) -> None:
    with start_app(tmp_path / "home") as url:
        page.goto(f"{url}/read?page=2")  # the first thing a fresh server is asked for is a link to a screen
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
        expect(page.locator('[data-testid="stTopNavLink"]')).to_have_count(6)
        page.goto(url)
        remove = page.locator('[class*="st-key-remove_"] button')
        for title in ("Harrow Light", "Parish Council", "雪の駅"):
            card(page, title).locator('[data-testid="stPopover"] button').click()
            expect(remove).to_have_count(1)
            remove.click()
            expect(card(page, title)).to_have_count(0)
            expect(remove).to_have_count(0)
        expect(page.locator(".st-key-empty")).to_contain_text("No books yet")
        page.get_by_role("button", name="Open the sample story").click()
        expect(card(page, "The Keeper of Harrow Light")).to_be_visible()
