"""Several books asked together: chosen in the library, drawn as the model opened them, cited by title and page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from readagent_core.library import Library
from tests.answering.test_library_shelf import tale
from tests.browser.conftest import add_read_book
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer, Reply

SAID = 'ANSWER: So it was [1.5]. And so there [2.3].\n\nEvidence:\n[1.5] "Here stands"'


@pytest.fixture
def replies(fake_server: FakeServer) -> Iterator[None]:
    """The model opens page 5 of the first book and answers."""

    def before(number: int, text: str) -> Reply | None:
        prompt = understood(text)
        if not prompt or prompt.task != "explore_shelf":
            return None
        return Reply(SAID if "(full text)" in prompt.fields["memory"] else "OPEN [1.5] to read it")

    fake_server.before = before
    yield
    fake_server.before = None


@pytest.fixture
def shelf(model_app_home: Path, model_app_url: str) -> Iterator[str]:
    """A shelf with two books that have gists and one without."""
    books = [add_read_book(model_app_home, tale(n, gist_words=20)) for n in (51, 52)]
    library = Library(model_app_home)
    books.append(library.add(tale(53).document).id)
    library.add_shelf("Tales", books)
    yield "Tales"
    library.remove_shelf("Tales")
    library.remove(*books)
    library.close()


@pytest.mark.usefixtures("replies")
def test_a_shelf_is_asked_and_every_citation_leads_to_its_book(
    page: Page, model_app_home: Path, model_app_url: str, shelf: str
) -> None:
    library = Library(model_app_home)
    limited, shut, _ = library.books_on_shelf(shelf)
    library.set_limit(limited, on=True, paragraph=3)
    library.set_limit(shut, on=True, paragraph=0)
    page.goto(model_app_url)
    page.get_by_role("button", name=re.compile(f"^{shelf}")).click()
    page.get_by_role("button", name="Ask these 3 books").click()
    maps, memory = page.locator('[data-kind="maps"]'), page.locator('[data-kind="shelf"]')
    expect(maps.locator(".bmap")).to_have_count(2)
    memory.locator(".book.curtain").get_by_role("button", name="Let in Tale 5").click()
    expect(memory.locator(".book.curtain")).to_have_count(0)
    expect(maps.locator(".bmap")).to_have_count(3)
    expect(memory.locator(".book", has_text="Tale 53")).to_contain_text("No gists yet")  # named, with what they take
    expect(memory.locator(".book", has_text="Tale 53")).to_contain_text("About ")
    book = memory.locator(f'.book[data-book="{limited}"]')  # all of a limited book is let in with one press
    expect(book).to_contain_text("Limited to pages 1 to 3.")
    book.get_by_role("button", name="Let in all of").click()
    expect(book).to_contain_text("12 pages")
    expect(book).not_to_contain_text("Limited to")
    assert not library.position(limited).limited
    library.close()
    memory.get_by_role("button", name=re.compile("^Tale 52")).click()  # opened by hand
    expect(memory.locator(".book", has_text="Tale 52").locator(".m")).to_have_count(12)

    box = page.get_by_placeholder("Ask these 3 books")
    box.fill("Where does it stand?")
    box.press("Enter")
    exchange = page.locator('[data-kind="exchange"]')
    expect(exchange.locator(".cite")).to_have_text(
        [re.compile(r"^Tale 5\d, p\. 5$"), re.compile(r"^Tale 5\d, p\. 3, gist$")]
    )
    first, second = (exchange.locator(".cite").nth(n).inner_text().split(",")[0] for n in (0, 1))
    assert first != second
    opened = memory.locator(".book", has_text=first).locator('.m.open[data-n="5"]')
    expect(opened).to_be_in_viewport()
    expect(maps.locator(".bmap", has_text=first).locator("rect.full")).to_have_count(1)
    exchange.locator(".cite").nth(1).click()
    cited = memory.locator(".book", has_text=second).locator('.m[data-n="3"]')
    expect(cited).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"exchange="))
    page.reload()  # the address alone finds it again
    expect(exchange.locator(".cite")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-kind="replay"] [aria-current="step"]')).to_contain_text("Gists")
    expect(maps.locator("rect.full")).to_have_count(0)

    page.set_viewport_size({"width": 390, "height": 844})
    tabs = page.locator(".st-key-ask_tabs button")
    tabs.filter(has_text="Shelf").click()
    expect(maps).to_be_visible()
    expect(memory).to_be_hidden()
    maps.locator(".bmap", has_text=second).click()  # leads to the book in the memory
    expect(memory).to_be_visible()
    expect(maps).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tabs.filter(has_text="Answer").click()
    expect(exchange).to_be_visible()

    page.set_viewport_size({"width": 1440, "height": 900})
    opened.get_by_role("button", name="Read it").or_(cited).first.wait_for()
    steps = page.locator('[data-kind="replay"] .steps')
    for width in (390, 1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        expect(steps.locator("[aria-current] .name")).to_be_in_viewport(ratio=1)  # whatever names have no room
        if width == 390:
            continue
        assert steps.evaluate("steps => steps.scrollWidth <= steps.clientWidth"), width
        sides = (page.locator(f".st-key-ask_{side}") for side in ("memory", "talk"))
        memory_wide, answer_wide = (side.evaluate("side => side.clientWidth") for side in sides)
        assert memory_wide < answer_wide, width  # the answer is what is read
    steps.locator("button").last.click()
    opened.get_by_role("button", name="Read it").click()
    expect(page).to_have_url(re.compile(r"/read\?book=\w+&page=5"))


def test_the_sidebar_over_a_narrow_screen_closes_when_several_books_are_chosen(
    page: Page, app_url: str, keeper: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/ask?book={keeper}")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Ask several books").click()
    offered = page.get_by_test_id("stPopoverBody")
    side_by_side, field = offered.get_by_role("button", name="雪の駅"), offered.get_by_role("combobox")
    expect(side_by_side.or_(field)).to_be_visible()
    if field.is_visible():  # the tests before have left more books than are offered side by side
        field.fill("雪の駅")
        field.press("Enter")
        field.press("Escape")
    else:
        side_by_side.click()
    page.get_by_role("button", name="Take these").click()
    expect(page.get_by_placeholder("Ask 1 of 2 books")).to_be_visible()  # nobody has begun the other
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stExpandSidebarButton")).to_have_count(0)
    page.reload()  # closed again: it would lie over the answer
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
