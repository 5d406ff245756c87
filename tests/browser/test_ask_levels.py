"""A long book asked by zoom: its parts open in place as the model opened them, and by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.library import Library
from tests.browser.conftest import add_read_book
from tests.browser.test_ask import ask, open_ask
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer, Reply
from tests.methods.test_zoom import long_memory

MEMORY = '[data-kind="memory"]'


@pytest.fixture
def opens_a_part(fake_server: FakeServer) -> Iterator[Callable[[], tuple[str, str, str]]]:
    """The model opens the first closed part, then its first page; the function returns both and the last part."""
    named: list[str] = []

    def before(number: int, text: str) -> Reply | None:
        prompt = understood(text)
        if not prompt or prompt.task != "explore":
            return None
        closed = [f"{a}-{b}" for a, b in re.findall(r"^<Pages (\d+)-(\d+)>", text, re.MULTILINE)]
        if not named:
            named.extend([closed[0], closed[0].partition("-")[0], closed[-1]])
            return Reply(f"OPEN [{named[0]}] to look nearer")
        if "(full text)" not in prompt.fields["memory"]:
            return Reply(f"OPEN [{named[1]}] to read it")
        said = f"It was told there [{named[1]}]. And again [{named[2]}]."
        return Reply(f'ANSWER: {said}\n\nEvidence:\n[{named[1]}] "Page {named[1]} tells of subject{named[1]}"')

    fake_server.before = before
    yield lambda: (named[0], named[1], named[2])
    fake_server.before = None


@pytest.fixture
def book(model_app_home: Path, model_app_url: str) -> Iterator[str]:
    book = add_read_book(model_app_home, long_memory(60))
    library = Library(model_app_home)
    before = library.preference("ask method", "read-agent-p")
    library.set_preference("ask method", "zoom")
    yield book
    library.set_preference("ask method", before)
    library.close()


def test_parts_open_as_the_model_opened_them_and_by_hand(
    page: Page, model_app_url: str, book: str, opens_a_part: Callable[[], tuple[str, str, str]]
) -> None:
    open_ask(page, model_app_url, book)
    exchange = ask(page, "Who sang of subject25?")
    expect(exchange.locator(".cost")).to_contain_text("1 page looked up")
    part, number, last = opens_a_part()
    first, end = part.split("-")
    steps = [f"Opened pages {first} to {end}", f"Went back to page {number}"]
    expect(exchange.locator(".step .who")).to_have_text(steps)
    expect(exchange.locator(".why")).to_have_text(["“look nearer”", "“read it”"])
    expect(exchange.locator(".cite")).to_have_text([f"from page {number}", "from memory"])  # a range is one citation

    def head(label: str):
        return page.locator(f'{MEMORY} .part[data-part="{label}"] > .partb')

    expect(head(part)).to_have_attribute("aria-expanded", "true")
    expect(head(part)).to_contain_text("opened in place, 1 page in full")
    expect(page.locator(f'{MEMORY} .m.open[data-n="{number}"]')).to_be_in_viewport()
    closed = page.locator(f"{MEMORY} .part.shut")
    expect(page.locator(f"{MEMORY} .mpart")).to_have_count(closed.count())  # the map has a narrow cell for each
    expect(head(last)).to_have_attribute("aria-expanded", "false")
    exchange.locator(".cite").last.click()  # a citation into a closed part opens it
    expect(head(last)).to_have_attribute("aria-expanded", "true")
    expect(page.locator(f'{MEMORY} .m[data-n="{last.partition("-")[0]}"]')).to_be_in_viewport()
    head(last).press("Backspace")
    expect(head(last)).to_have_attribute("aria-expanded", "false")
    head(last).press("Enter")
    expect(head(last)).to_contain_text("opened by you; the model saw one gist")
    for _ in range(3):  # back to the first look-up, as its prompt was
        page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-kind="replay"] [aria-current="step"]')).to_contain_text("Look-up")
    expect(head(part)).to_have_attribute("aria-expanded", "false")
    expect(page.locator(f"{MEMORY} .part.look")).to_have_attribute("data-part", part)
    expect(head(last)).to_have_attribute("aria-expanded", "false")  # a step shows what the model had, not the person
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".qt").last).to_be_visible()
    expect(page.locator(MEMORY)).to_be_hidden()  # two tabs where it is narrow
    page.locator(".st-key-ask_tabs button", has_text="Memory").click()
    expect(head(part)).to_be_in_viewport()
    expect(page.locator(".qt").last).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 720, "height": 300})  # a low window, as one at 200 %: the tabs stay in view
    tabs = page.locator(".st-key-ask_tabs button")
    tabs.filter(has_text="Conversation").click()
    expect(page.locator(".qt").last).to_be_visible()
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    expect(tabs.filter(has_text="Memory")).to_be_in_viewport(ratio=1)
