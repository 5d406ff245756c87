"""Compare in a browser: six methods with the built-in reader, on one book and on a shelf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from readagent_core.library import Library
from tests.answering.test_library_shelf import tale
from tests.browser.conftest import SIZE, add_read_book, go_to, settled

SIX = ("read-agent-p", "gist-mem", "bm25", "memwalker", "semantic-compression", "full-text")
LONG = 60_000


@pytest.fixture
def shelf(app_home: Path) -> Iterator[tuple[str, list[str]]]:
    """A shelf with two books that have gists, and their ids."""
    books = [add_read_book(app_home, tale(n)) for n in (61, 62)]
    library = Library(app_home)
    library.add_shelf("Compared", books)
    yield "Compared", books
    library.remove_shelf("Compared")
    library.remove(*books)
    library.close()


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def open_compare(page: Page, url: str, book: str) -> None:
    page.goto(f"{url}/compare?book={book}")
    expect(page.locator(".st-key-compare_ask input")).to_be_visible()


def tick(page: Page, names: tuple[str, ...]) -> None:
    page.locator(".st-key-compare_methods button").first.click()
    for name in names:
        box = page.locator(f".st-key-compare_{name} input")
        expect(box).to_be_attached()
        if not box.is_checked():
            page.locator(f".st-key-compare_{name} label").first.click()
        expect(box).to_be_checked()
    page.keyboard.press("Escape")


def choose_known(page: Page, words: str) -> None:
    """The list is drawn anew while one types, so a click may meet an option that is just going: tried a few times."""
    known = page.locator("[class*='st-key-compare_known_'] input")
    for last in (False, False, False, True):
        known.click()
        known.fill(words)
        try:
            page.locator("[role='option']", has_text=words).first.click(timeout=15_000 if last else 3_000)
        except Error:
            if last:
                raise
        else:
            return


def test_six_methods_on_the_novella_and_a_known_question_that_is_marked(
    page: Page, app_url: str, keeper: str, app_home: Path
) -> None:
    library = Library(app_home)
    library.set_limit(keeper, on=False)  # nothing of it is read
    library.close()
    open_compare(page, app_url, keeper)
    expect(page.locator(".rows .mname")).to_have_count(4)  # what each method does, and questions to begin with
    expect(page.locator(".rows .hm")).to_have_count(4)  # an example of what it would see
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".st-key-compare_try button").first).to_be_visible()
    cut = "all => all.filter((text) => text.scrollWidth > text.clientWidth).map((text) => text.textContent)"
    assert page.locator(".st-key-compare_try button [data-testid='stMarkdownContainer']").evaluate_all(cut) == []
    page.set_viewport_size(SIZE)
    tick(page, ("memwalker", "semantic-compression"))
    button = page.locator(".st-key-compare_go button")
    expect(button).to_have_text("Ask all 6")
    page.locator(".st-key-compare_ask input").fill("Why did Ambrose Vane put out Harrow Light?")
    button.click()
    expect(page.locator(".r[data-state='done']")).to_have_count(6, timeout=LONG)  # those drawn before it have no state
    expect(page.locator(".r")).to_have_count(6)
    pages = 25  # as the recording has them
    for name in SIX:
        row = page.locator(f'.r[data-method="{name}"]')
        expect(row.locator(".hm i")).to_have_count(pages)
        expect(row.locator(".a").first).not_to_be_empty()
        expect(row.locator(".fig dd").first).to_have_text(re.compile(r"^[\d,]+$"))
    assert page.locator('.r[data-method="read-agent-p"] .hm .full').count() >= 1
    expect(page.locator('[data-signer="builtin"]')).to_contain_text("nothing was understood")
    expect(page.locator('.r[data-method="read-agent-p"] button.cite').first).to_have_text(re.compile(r"page \d+"))
    expect(page.locator('.r[data-method="full-text"] .hm .full')).to_have_count(pages)
    expect(page.locator('.r[data-method="gist-mem"] .hm .full')).to_have_count(0)
    expect(page.locator('.r[data-method="memwalker"] .node.read').first).to_be_visible()
    assert page.locator('.r[data-method="semantic-compression"] .topics i').count() > 5
    walk = page.locator('.r[data-method="memwalker"] details').last
    walk.locator("summary").click()
    expect(walk.locator("li").last).to_contain_text("read, and answered")
    with page.expect_download() as saved:
        page.locator(".st-key-compare_save_html button").click()
    assert saved.value.suggested_filename == "the-keeper-of-harrow-light-compared.html"
    page.set_viewport_size({"width": 400, "height": 900})
    expect(page.locator(".r").first).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
    page.set_viewport_size(SIZE)
    expect(page.get_by_test_id("stException")).to_have_count(0)

    # a known question is marked right or wrong
    page.locator("summary", has_text="Options to choose from, or a known answer").click()
    choose_known(page, "guessing the weight")
    expect(page.locator("[class*='st-key-compare_options_'] textarea")).to_have_value(re.compile(r"\* A tea cosy"))
    page.set_viewport_size({"width": 720, "height": 450})
    page.locator(".st-key-compare_go button").click()
    expect(page.locator(".st-key-compare_more details")).not_to_have_attribute("open", re.compile(""))
    expect(page.locator(".st-key-compare_asked")).to_be_in_viewport(ratio=1)
    page.set_viewport_size(SIZE)
    full = page.locator('.r[data-method="full-text"] .v')
    expect(full).to_have_text(re.compile(r"^(Right|Wrong): \("), timeout=LONG)


def test_the_first_tap_asks_from_a_field_that_has_the_focus(chromium: Browser, app_url: str, keeper: str) -> None:
    """Its value is sent before the tap: a message after that of the tap can end its run before it was noted."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    sent: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(bytes(frame))))
    open_compare(page, app_url, keeper)
    page.locator(".st-key-compare_ask input").fill("Who rows to the reef?")
    page.locator(".st-key-compare_more summary").tap()
    options = page.locator("[class*='st-key-compare_options_'] textarea")
    options.tap()
    options.fill("Ambrose\nA ship")
    settled(page)
    sent.clear()
    page.locator(".st-key-compare_go button").tap()
    expect(page.locator(".st-key-compare_asked")).to_contain_text("Who rows to the reef?", timeout=LONG)
    expect(page.locator(".st-key-compare_asked")).to_contain_text("(B) A ship")
    asked = [b"Who rows to the reef?" in frame for frame in sent if b"A ship" in frame]  # a form sends it at the tap
    assert asked[:2] == [False, True]
    context.close()


def test_citations_open_their_places(page: Page, app_url: str, app_home: Path) -> None:
    library = Library(app_home)
    book = next(b.id for b in library.books() if b.title.startswith("Harrow Sound"))  # has no recording of its own
    library.close()
    open_compare(page, app_url, book)
    settled(page)
    # of a question to try
    tried = page.locator(".st-key-compare_try button").first
    question = tried.inner_text()
    tried.click()
    cited = page.locator(".r[data-state='done'] button.cite.page").first
    expect(cited).to_be_visible(timeout=LONG)
    number = re.search(r"\d+", cited.inner_text())
    assert number
    page.set_viewport_size({"width": 1440, "height": 600})
    page.locator(".stMain").evaluate("(main) => { main.scrollTop = 180; }")
    cited.scroll_into_view_if_needed()
    down = page.locator(".stMain").evaluate("(main) => main.scrollTop")
    assert down
    cited.click()
    expect(page).to_have_url(re.compile(rf"/read\?.*page={number.group()}"))
    expect(page.locator(".leaf.cur")).to_be_visible()
    page.wait_for_function("CSS.highlights.get('cited')?.size > 0")  # the words that the answer rests on
    page.locator(".backchip").get_by_role("button", name="Back to Compare").click()
    expect(page).to_have_url(re.compile("/compare"))
    # of the recording, which is that of another book
    expect(page.locator('.r[data-state="done"]').first).to_be_visible()  # what was compared is there again
    page.wait_for_function("(down) => Math.abs(document.querySelector('.stMain').scrollTop - down) < 4", arg=down)
    page.set_viewport_size(SIZE)
    expect(page.locator(".st-key-compare_ask input")).to_have_value(question)
    page.locator(".st-key-compare_show_recorded button").click()
    expect(page.locator('[data-signer="recording"]')).to_contain_text("A recording of")
    expect(page.locator(".r")).to_have_count(5)
    page.locator("button.cite", has_text="page 15").first.click()
    expect(page).to_have_url(re.compile(r"/read\?.*p"))
    page.wait_for_function("CSS.highlights.get('cited')?.size > 0")
    expect(page.locator(".backchip")).to_contain_text("Back to Compare")


def test_a_shelf_is_compared_and_every_citation_leads_to_its_book(
    page: Page, app_url: str, app_home: Path, shelf: tuple[str, list[str]]
) -> None:
    name, books = shelf
    if page.url.startswith(app_url):
        go_to(page, "Library")
    else:
        page.goto(app_url)
    page.get_by_role("button", name=re.compile(f"^{name}")).click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator('[class*="st-key-compare_books"] button')).to_contain_text(f"2 books on the shelf {name}")
    expect(page.locator(".books").first.locator("span")).to_have_text(["Tale 61", "Tale 62"])
    tick(page, ("zoom",))
    expect(page.locator('.r[data-method="zoom"]')).to_be_visible()
    page.locator(".st-key-compare_ask input").fill("What stands in secret62x5, and in secret62x1?")
    page.locator(".st-key-compare_go button").click()
    zoomed = page.locator('.r[data-method="zoom"][data-state="done"]')  # the row drawn before it has no state
    expect(zoomed).to_be_visible(timeout=LONG)
    searched = page.locator('.r[data-method="bm25"][data-state="done"]')
    expect(searched).to_be_visible(timeout=LONG)
    expect(searched.locator(".hm.several > div")).to_have_count(2)
    expect(searched.locator(".hm.several > div").nth(1).locator(".full").first).to_be_visible()
    expect(zoomed.locator("button.cite", has_text="Tale 62, p. 5").first).to_be_visible()
    page.locator(".st-key-compare_save_md button").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    page.set_viewport_size(SIZE)
    searched.locator("button.cite", has_text="Tale 62, p. 5").first.click()
    expect(page).to_have_url(re.compile(rf"/read\?book={books[1]}&page=5"))
    expect(page.locator(".leaf.cur")).to_be_visible()
    page.wait_for_function("[...CSS.highlights.get('cited') ?? []].some((range) => `${range}`.includes('secret62x5'))")
    settled(page)
    page.go_back()
    expect(page.locator('[class*="st-key-compare_books"] button')).to_contain_text(f"2 books on the shelf {name}")
    searched.locator("button.cite", has_text="Tale 62, p. 1").first.click()  # where the person is already
    page.wait_for_function("[...CSS.highlights.get('cited') ?? []].some((range) => `${range}`.includes('secret62x1'))")
    page.locator(".backchip").get_by_role("button", name="Back to Compare").click()
    expect(page.locator('.r[data-state="done"]').first).to_be_visible()
    go_to(page, "Ask")
    expect(page.get_by_placeholder("Ask these 2 books")).to_be_visible()
