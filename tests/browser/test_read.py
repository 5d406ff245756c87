"""The reader in a browser: what a person sees and does there, and what must not happen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from readagent_core.export.memory import MEMORY_FORMATS
from readagent_core.incoming.opening import import_gisting
from tests.browser.conftest import go_to, press_in_more, settled

FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at.ariaLabel ?? at.innerText;
}"""


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


@pytest.fixture(name="app_url")
def novella(app_url: str, keeper: str) -> str:
    """The address of the novella, to which a page may be added."""
    return f"{app_url}/read?book={keeper}"


def open_reader(page: Page, url: str, *, at: int) -> None:
    """The novella's recorded gists at page ``at``: on the page of the test before, if it has left the novella there."""
    if not page.url.startswith(url):
        page.goto(f"{url}&page={at}")
    else:
        page.locator(".find input").fill("")
        page.locator(".find input").press("Escape")
        page.locator(".leaves").focus()
        page.keyboard.press("Home")
        page.locator(".pagein").fill(str(at))
        page.locator(".pagein").press("Enter")
        page.locator(".leaves").focus()
        page.mouse.move(0, 0)
        if page.locator(".backchip").is_visible():
            page.get_by_role("button", name="Stay here").click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", str(at))
    settled(page)


def paragraph(page: Page, words: str) -> Locator:
    """The paragraph of the text that has these words."""
    return page.locator(".unit > p").filter(has_text=words).first


def test_a_link_opens_at_its_page_and_the_place_is_saved(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}&page=15")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "15")
    page.keyboard.press("j")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "16")
    expect(page).to_have_url(re.compile(r"page=16"))
    page.goto(app_url)  # no page named: where the person was
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "16")
    page.keyboard.press("j")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "17")
    page.goto(app_url)  # before the server has heard of it
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "17")
    expect(page.locator(".backchip")).to_be_hidden()
    page.goto(f"{app_url}&page=3")  # looked up, not read on from there
    expect(page.locator(".backchip")).to_contain_text("Back to page 17")
    page.wait_for_timeout(1000)  # until the place was sent
    page.get_by_role("link", name="Library").first.click()
    page.get_by_role("link", name="Read", exact=True).first.click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "17")
    expect(page.locator(".backchip")).to_be_hidden()
    expect(page.locator(".outline [aria-current]")).not_to_contain_text("Forty-Seven Minutes")  # of page 3


def test_gists_and_pauses_stand_in_the_margins_of_the_text(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    expect(page.locator(".leaf")).to_have_count(25)
    first, text = page.locator("#p1"), paragraph(page, "I came to Harrow to count things.")
    expect(first).to_contain_text("Gist of page 1")
    assert first.bounding_box()["x"] > text.bounding_box()["x"] + text.bounding_box()["width"]
    mark = page.locator('.pmark[data-n="2"]')
    expect(mark.locator(".why")).to_be_hidden()
    mark.focus()  # as good as the pointer
    expect(mark.locator(".why")).to_contain_text("Paused here: the boat conversation with Mr. Reeve")
    expect(mark).to_have_accessible_name(re.compile("Page 2, 385 words.*Paused here: the boat"))
    expect(page.locator(".fact").last).to_contain_text("A recording · made on")
    expect(page.locator(".promise")).to_be_hidden()
    text.hover()
    page.mouse.wheel(0, 300)  # within the page: its gist stays in view
    expect(text).not_to_be_in_viewport()
    assert first.locator(".ghead").bounding_box()["y"] > page.locator(".leaves").bounding_box()["y"]
    longest = page.locator(".leaf .in.cut").first  # one that is longer than its page is cut, and shown whole on demand
    for leaf in page.locator(".leaf").all():
        box, inside = leaf.bounding_box(), leaf.locator(".in").bounding_box()
        assert inside["height"] <= box["height"] + 1
    expect(longest).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_keys_turn_pages_but_never_while_typing(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=3)
    page.keyboard.press("j")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "4")
    page.keyboard.press("k")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
    page.keyboard.press("End")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
    page.keyboard.press("m")
    expect(page.locator(".mapbox")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("jjj")
    expect(page.locator(".find input")).to_have_value("jjj")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator(".panel")).to_contain_text("next page")
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()
    expect(page.locator(".moreb")).to_be_focused()  # the button of the keys is behind it
    page.locator(".seg-text").click()
    expect(page.locator(".leaves")).to_be_focused()  # the space bar scrolls, and presses nothing again
    page.locator(".seg-both").press("Enter")
    expect(page.locator(".seg-both")).to_be_focused()
    page.locator(".aa").click()
    page.keyboard.press("Escape")
    expect(page.locator(".leaves")).to_be_focused()
    names = []
    page.locator(".seg-both").focus()
    for _ in range(14):
        names.append(re.sub(r", \d+$", "", page.evaluate(FOCUSED)))  # the number of notes
        page.keyboard.press("Tab")
    bar = ["With gists", "Text", "Gists", "Chapters", "Search this book", "Go to page", "Where was I?", "World"]
    assert names == [*bar, "Bookmark this place", "Notes", "Listen", "Type and theme", "Full screen (f)", "More"]


def test_one_key_and_the_toolbar_turn_the_whole_view(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=2)
    text, gist = page.locator('p[data-i="12"]'), page.locator("#p2 .gtext")
    marked = page.locator('.views [aria-pressed="true"]')
    page.locator(".seg-gists").click()
    expect(text).to_be_hidden()
    expect(gist).to_be_visible()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
    for name, shows in (("With gists", (True, True)), ("Text", (True, False)), ("Gists", (False, True))):
        page.keyboard.press("g")
        expect(marked).to_contain_text(name, use_inner_text=True)
        expect(text).to_be_visible(visible=shows[0])
        expect(gist).to_be_visible(visible=shows[1])
    page.locator(".seg-both").click()
    expect(text).to_be_visible()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    expect(gist).to_be_hidden()  # it comes after its page, closed: the text alone would look the same
    for name in ("Gists", "With gists"):
        page.keyboard.press("g")
        expect(marked).to_contain_text(name, use_inner_text=True)
    page.set_viewport_size(size)


def test_a_pinch_and_keys_make_the_view_coarser_and_finer_at_one_place(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=14)
    room, closes = page.locator(".room"), page.locator(".closepage:visible")
    gesture = page.context.new_cdp_session(page)

    def pinch(scale: float) -> None:
        at = {"x": 600, "y": 500, "relativeSpeed": 800, "gestureSourceType": "touch"}
        gesture.send("Input.synthesizePinchGesture", {**at, "scaleFactor": scale})

    pinch(0.3)  # one step, however far the fingers go
    expect(room).to_have_class(re.compile("v-gists"))
    page.keyboard.press("Enter")
    expect(closes).to_have_text("Close page 14")
    pinch(0.3)
    expect(closes).to_have_count(0)
    page.keyboard.press("Enter")
    expect(closes).to_have_count(1)
    page.keyboard.press("j")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "15")
    expect(closes.get_by_role("button")).not_to_be_in_viewport(ratio=0.5)  # it ends with its page
    page.keyboard.press("Escape")
    expect(closes).to_have_count(0)
    page.keyboard.press("k")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "14")
    page.keyboard.press("+")
    page.mouse.move(600, 700)  # where the pointer rests is nothing to a key
    for key, view in (("-", "gists"), ("-", "chapters"), ("+", "gists"), ("+", "both")):
        page.keyboard.press(key)
        expect(room).to_have_class(re.compile(f"v-{view}"))
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "14")
    page.keyboard.press("-")
    page.keyboard.press("Home")
    page.locator(".seg-chapters").click()
    expect(page.locator(".chap").first).to_contain_class("cur")  # the map has it there too
    pinch(3)
    assert page.evaluate("visualViewport.scale") == 1
    gesture.detach()
    page.locator(".seg-both").click()
    expect(room).to_have_class(re.compile("v-both"))


def test_search_marks_hits_in_text_gists_and_map(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=3)
    page.locator(".find input").fill("oil")
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_have_text("3 of 18")
    page.keyboard.press("Enter")
    expect(page.locator("mark.now")).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"page=9"))  # its page is the current one, though the one before shows too
    expect(page.locator("#p9")).to_have_class(re.compile("cur"))
    page.locator(".leaves").focus()
    page.keyboard.press("/")
    page.keyboard.type("basket")
    page.keyboard.press("Enter")  # at once: it goes to the first hit when there is one
    expect(page.locator(".count")).to_have_text(re.compile(r"^1 of \d+$"))
    expect(page.locator(".unit > p mark.now")).to_have_text("basket")
    expect(page.locator("mark.now")).to_be_in_viewport()
    expect(page.locator(".mapbox .mtick")).not_to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_have_text(re.compile(r"^2 of"))
    page.locator(".leaves").focus()
    page.keyboard.press("n")
    expect(page.locator(".count")).to_have_text(re.compile(r"^3 of"))
    page.keyboard.press("N")
    expect(page.locator(".count")).to_have_text(re.compile(r"^2 of"))
    page.locator(".find input").fill("lantern-jaw zebra")
    hits = page.locator(".hitspanel")
    expect(hits).to_contain_text("“lantern-jaw zebra” is not in the book.")
    expect(page.locator("mark.hit")).to_have_count(0)
    hits.get_by_role("button", name="lantern, ").click()  # near it
    expect(hits.locator(".hitrow[aria-current]")).to_contain_text("lantern")
    hits.locator(".hitrow").last.click()
    expect(page.locator("mark.now")).to_have_text(re.compile("lantern", re.IGNORECASE))
    expect(page.locator("mark.now")).to_be_in_viewport()
    page.locator(".find input").fill("dinghy")
    expect(hits.locator("h2")).to_contain_text("4 hits")
    for _ in range(4):
        expect(page.locator(".count")).to_have_text(re.compile(r"^\d of 4$"))
        expect(hits.locator(".hitrow[aria-current]")).to_be_in_viewport()
        page.locator(".find input").press("Enter")
    hits.get_by_role("button", name="Gists 1").click()
    expect(page.locator(".count")).to_have_text("1 hit")
    page.locator(".find input").press("Enter")
    expect(page.locator(".count")).to_have_text("1 of 1")
    expect(page.locator("mark.now")).to_be_in_viewport()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(hits).to_be_hidden()


def test_a_hit_inside_emphasised_words_shows_no_star(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=15)
    page.locator(".find input").fill("killing")
    page.keyboard.press("Enter")
    hit = page.locator(".unit > p mark").first
    expect(hit).to_have_text("killing")
    assert "*" not in hit.locator("xpath=ancestor::p").inner_text()  # what is seen: "I'm killing her." ends in italics


def test_outline_and_map_take_the_reader_along(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    page.locator(".outline button").filter(has_text="The Log").click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "7")
    expect(page.locator(".outline .on")).to_contain_text("The Log")
    expect(page.locator(".outline li").first.locator("b")).to_have_attribute("style", "width: 0%;")  # it was not read
    page.locator(".leaves").focus()
    page.keyboard.press("o")
    expect(page.locator(".outline .on button")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".leaves")).to_be_focused()
    page.locator(".mapbox").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".mapbox")).to_have_attribute("aria-valuetext", re.compile("page 8 of 25"))
    page.locator(".pagein").fill("99")
    page.locator(".pagein").press("Enter")
    expect(page.locator(".tbar .goto")).to_contain_text("no page 99")
    page.locator(".pagein").fill("20")
    page.locator(".pagein").press("Enter")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "20")
    expect(page.locator(".tbar .goto")).to_contain_text("of 25")
    first = page.locator(".pmark[data-n='20']")
    expect(first).to_be_in_viewport()
    page.locator(".leaves").hover()
    page.mouse.wheel(0, 250)
    expect(first).not_to_be_in_viewport()
    page.locator(".pagein").fill("20")  # the number that stands there: its beginning
    page.locator(".pagein").press("Enter")
    expect(first).to_be_in_viewport()


def test_the_map_is_dragged_like_a_scrollbar(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    box = page.locator(".mapbox").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] / 2)
    page.mouse.down()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", re.compile(r"^1[1-5]$"))
    page.mouse.move(middle, box["y"] + box["height"] - 14, steps=4)
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")
    page.mouse.up()
    page.mouse.wheel(0, -400)  # over the map it turns the text under it
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "24")
    page.mouse.wheel(0, 400)
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")
    page.mouse.move(middle, box["y"] + 20)  # let go: it follows no longer
    page.keyboard.press("k")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "24")


def test_the_gist_memory_is_taken_away_in_each_format(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=4)
    page.locator(".find input").fill("oil")
    expect(page.locator("mark.now")).to_have_count(1)
    page.locator(".pagein").fill("4")
    page.locator(".pagein").press("Enter")
    press_in_more(page, "Export")
    dialog = page.get_by_role("dialog")
    for kind in MEMORY_FORMATS:
        with page.expect_download() as saved:
            dialog.locator(f".st-key-export_{kind} button").click()
        data = saved.value.path().read_bytes()
        assert saved.value.suggested_filename.endswith(".zip" if kind == "skill" else f".{kind}")
        if kind == "json":
            assert len(import_gisting(data)[1].pages) == 25
        else:
            assert data[:2] == b"PK" if kind in ("epub", "skill") else b"Harrow" in data
    page.keyboard.press("j")  # the dialog is over the reader: its keys turn no page under it
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator(".find input")).to_have_value("oil")  # it closed the dialog and nothing else
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "4")


def test_sepia_leaves_no_white_paper(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Sepia").click()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(242, 232, 213)")
    page.keyboard.press("Escape")
    go_to(page, "Library")
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(242, 232, 213)")
    white = """[...document.querySelectorAll('.stApp *')].filter((e) => e.checkVisibility() && e.clientWidth > 20
      && getComputedStyle(e).backgroundColor === 'rgb(255, 255, 255)').map((e) => e.outerHTML.slice(0, 120))"""
    try:
        assert page.evaluate(white) == []
    finally:
        go_to(page, "Read")
        page.locator(".aa").click()
        page.locator(".panel").get_by_role("button", name="System").click()
        expect(page.locator(".stApp")).to_have_css("background-color", "rgb(250, 249, 246)")


def test_on_a_phone_the_text_comes_before_its_gist(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}&page=2")
    gist, text = page.locator("#p2"), page.locator('p[data-i="12"]')
    expect(gist).to_have_class(re.compile("cur"))
    expect(gist.locator(".gtext")).to_be_hidden()  # a closed line
    assert text.bounding_box()["y"] < gist.bounding_box()["y"]
    show = gist.get_by_role("button", name="Show the gist of page 2")
    assert show.bounding_box()["height"] >= 44
    show.click()
    expect(gist.locator(".gtext")).to_be_visible()
    for button in page.locator(".tbar button:visible, .foot button:visible").all():
        assert button.bounding_box()["height"] >= 43.5, button.inner_text()
    assert page.locator(".foot").bounding_box()["height"] < 60  # one line: what the limit does is behind '…'
    expect(page.locator(".foot .limit")).to_be_hidden()
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator(".panel").get_by_role("button", name="Hide gists I have not read")).to_be_visible()
    page.keyboard.press("Escape")
    for view, shows in (("gists", False), ("text", True), ("both", True)):
        page.locator(f".tbar .seg-{view}").click()  # they stay in the bar
        expect(text).to_be_visible(visible=shows)
    page.locator(".find input").click()
    page.keyboard.type("basket")
    expect(page.locator(".count")).to_have_text(re.compile(r"^\d of \d+$"))
    expect(page.locator(".count")).to_be_visible()  # there is room while one searches

    # What a narrow window hides is in its panel; a phone has the contents in the bar.
    page.locator(".find input").fill("")
    page.locator(".find input").blur()  # while one types the word has the room
    more = page.get_by_role("button", name="More", exact=True)
    page.locator(".tbar").get_by_role("button", name="Contents").click()
    chapter = page.locator(".outline button").filter(has_text="The Log")
    expect(chapter).to_be_in_viewport()
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_hidden()  # the line at the bottom has the screens
    page.keyboard.press("Escape")
    expect(chapter).not_to_be_in_viewport()
    page.keyboard.press("o")
    chapter.click()
    expect(chapter).not_to_be_in_viewport()
    page.locator(".aa").click()
    assert page.locator(".panel").bounding_box()["y"] > 844 / 3  # what it changes is seen above it
    expect(page.get_by_role("button", name="Two pages")).to_have_count(0)
    page.locator(".aa").click()
    expect(page.locator(".sec").filter(has_text="The Log")).to_be_in_viewport()
    more.click()
    expect(page.locator(".panel").get_by_role("button", name="Type and theme")).to_have_count(0)  # the bar has it
    page.locator(".panel .pagein").fill("20")
    page.locator(".panel .pagein").press("Enter")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "20")
    page.locator(".panel").get_by_role("button", name="Export").click()
    expect(page.get_by_role("dialog")).to_contain_text("Export the gists")
    expect(page.locator(".panel")).to_be_hidden()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1700, "height": 850})  # beside the sidebar too, which may be open or closed now
    expect(more).to_be_hidden()  # a wide window has it all in its bar
