"""The tour of the first visit: five steps, skippable, and never in the way again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.parts.shared.tour import STATE
from readagent_core.library import Library
from tests.browser.conftest import SIZE, StartApp


@pytest.fixture(scope="module")
def started(chromium: object, start_app: StartApp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    home = tmp_path_factory.mktemp("tour") / "home"
    with start_app(home) as url:
        yield url, home


def first_visit(page: Page, started: tuple) -> str:
    url, home = started
    library = Library(home)
    library.set_preference(STATE, 0)
    library.close()
    page.goto(url)
    return url


def stands_above(page: Page, what: Locator) -> None:
    """Nothing of ``what`` is under the tour's card."""
    expect(what).to_be_visible()
    card = page.locator(".st-key-tour").bounding_box()
    shown = what.bounding_box()
    assert shown["y"] + shown["height"] <= card["y"]


def test_it_is_skipped_and_stays_away(page: Page, started: tuple) -> None:
    page.set_viewport_size({"width": 390, "height": 844})  # nothing is under the card on a phone
    url = first_visit(page, started)
    card = page.locator(".st-key-tour")
    expect(card).to_contain_text("New here?")
    last = page.get_by_text("on this computer.")
    expect(last).to_be_attached()
    page.get_by_test_id("stMain").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    stands_above(page, last)
    card.get_by_role("button", name="Take the tour").click()
    expect(card).to_contain_text("1 of 5")
    stands_above(page, page.locator(".leaves"))
    card.get_by_role("button", name="Skip the tour").click()
    expect(card).to_have_count(0)
    expect(page.locator(".leaf.cur")).to_be_visible()  # where it was skipped, one reads on
    page.goto(url)
    expect(page.locator('[data-kind="library"], [data-kind="first"]').first).to_be_visible()
    expect(card).to_have_count(0)


def test_five_steps_then_never_again(page: Page, started: tuple) -> None:
    url = first_visit(page, started)
    card = page.locator(".st-key-tour")
    expect(card).to_contain_text("New here?")
    card.get_by_role("button", name="Take the tour").click()
    for step in ("1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5"):
        expect(card).to_contain_text(step)
        if step == "2 of 5":
            expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
        if step == "4 of 5":
            page.set_viewport_size({"width": 390, "height": 844})
            stands_above(page, page.get_by_test_id("stChatInput"))
            page.set_viewport_size(SIZE)
        if step == "5 of 5":
            expect(page.get_by_text("Why did Tilda tell the truth to Nora").first).to_be_visible()
            expect(page.locator(".m.open")).not_to_have_count(0)
        card.locator(".st-key-tour_next button").click()
    expect(card).to_have_count(0)
    page.goto(url)
    expect(page.locator('[data-kind="library"], [data-kind="first"]').first).to_be_visible()
    expect(card).to_have_count(0)
