"""The app's frame: there before the app runs, the same on every screen; and the tour, which only the person begins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from readagent_core.library import Library
from tests.browser.conftest import SIZE, StartApp, go_to
from tests.browser.test_ask import ask

PHONE = {"width": 390, "height": 844}


def test_the_tab_names_the_screen_and_its_book(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/read?book={keeper}")
    expect(page).to_have_title("The Keeper of Harrow Light – Read – ReadAgent")
    go_to(page, "Ask")
    expect(page).to_have_title("The Keeper of Harrow Light – Ask – ReadAgent")
    go_to(page, "Settings")
    expect(page).to_have_title("Settings – ReadAgent")
    page.locator(".brand").click()
    expect(page).to_have_title("Library – ReadAgent")
    for name in ("stMainMenu", "stAppDeployButton"):
        expect(page.get_by_test_id(name)).to_have_count(0)
    expect(page.get_by_test_id("stStatusWidget")).to_be_hidden()
    page.goto(f"{app_url}/read?book={keeper}")
    page.locator(".leaves").wait_for()
    page.locator(".brand").click()  # before all of Read is there
    expect(page.locator(".part .bk").first).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()  # no empty column is left


def test_a_screen_is_printed_without_its_bars(
    page: Page, app_url: str, keeper: str, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: page.emulate_media(media="screen", color_scheme="light"))
    page.goto(f"{app_url}/read?book={keeper}")
    expect(page.locator(".tbar")).to_be_visible()
    page.emulate_media(media="print", color_scheme="dark")
    for bar in (".tbar", ".foot", ".mapside", ".brand", "[data-testid=stSidebar]"):
        expect(page.locator(bar)).to_be_hidden()
    expect(page.locator(".on-paper")).to_have_text("The Keeper of Harrow Lightthe ReadAgent project")
    expect(page.locator(".leaves")).to_have_css("overflow", "visible")  # the whole text, not a window of it
    expect(page.locator(".unit > p").first).to_have_css("color", "rgb(0, 0, 0)")
    page.emulate_media(media="screen", color_scheme="light")
    page.goto(f"{app_url}/ask?book={keeper}")
    expect(page.locator(".st-key-ask_thread")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".st-key-ask_memory")).to_be_hidden()
    expect(page.locator(".st-key-ask_thread")).to_have_css("overflow", "visible")
    expect(page.locator(".on-paper")).to_be_visible()
    expect(page.locator(".connect")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator(".on-paper")).to_be_hidden()
    page.goto(app_url)
    expect(page.locator(".bar2")).to_be_visible()
    page.emulate_media(media="print")
    for control in (".find", ".bar2", ".dropline", "[data-testid=stFileUploader]"):
        expect(page.locator(control)).to_be_hidden()


def test_the_theme_changes_without_loading_the_page_again(
    standing_page: Page, app_url: str, app_home: Path, request: pytest.FixtureRequest
) -> None:
    page = standing_page
    library = Library(app_home)
    request.addfinalizer(library.close)
    request.addfinalizer(lambda: library.set_preference("look", {}))
    if not page.url.startswith(app_url):
        page.goto(app_url)
    go_to(page, "Settings")
    page.get_by_role("tab", name="Appearance").click()
    page.evaluate("window.stays = true")
    for name, paper, kind in (
        ("Dark", "rgb(23, 25, 27)", "dark"),
        ("Sepia", "rgb(242, 232, 213)", "light"),
        ("System", "rgb(250, 249, 246)", "light"),
        ("Dark", "rgb(23, 25, 27)", "dark"),
    ):
        page.locator(".st-key-look_theme").get_by_role("radio", name=name).click()
        expect(page.locator(".stApp")).to_have_css("background-color", paper)
        expect(page.locator(".stApp")).to_have_css("color-scheme", kind)  # Streamlit's own
    assert page.evaluate("window.stays")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")


def test_the_frame_is_there_without_any_script_of_the_app(page: Page, app_url: str) -> None:
    page.set_viewport_size(PHONE)
    page.route("**/static/js/index.*.js", lambda route: route.abort())
    page.emulate_media(color_scheme="dark")
    page.goto(app_url)
    expect(page.locator(".brand")).to_be_visible()
    expect(page.locator("nav.bar a").first).to_have_attribute("aria-current", "page")
    expect(page.locator("html")).to_have_css("background-color", "rgb(23, 25, 27)")
    page.unroute("**/static/js/index.*.js")


def apart(one: Locator, other: Locator) -> bool:
    a, b = one.bounding_box(), other.bounding_box()
    return (
        a["x"] + a["width"] <= b["x"]
        or b["x"] + b["width"] <= a["x"]
        or a["y"] + a["height"] <= b["y"]
        or b["y"] + b["height"] <= a["y"]
    )


def walk_through_the_tour(page: Page, screen: str, steps: int) -> None:
    """Takes the tour of a screen from the help, and begins it again by a key. ``steps``: in a wide window."""
    tour, card, light = (page.locator(f"dialog.tour{part}") for part in ("", " .card", " .spot"))
    expect(page.locator(".leaf.cur .in" if screen == "Read" else ".ans, .sentences").first).to_be_visible()
    expect(tour).to_be_hidden()
    text = page.locator(".leaves" if screen == "Read" else ".stMain").first
    if page.locator(".help-button").is_hidden():  # while one reads on a phone the help is among the screens
        page.get_by_role("button", name="More screens").click()
    page.locator(".help-button, #more .help").filter(visible=True).click()
    stood = text.evaluate("node => node.scrollTop")
    page.locator("#help").get_by_text("Show me around").click()
    shown = int(tour.locator("#tour-of").inner_text().split(" of ")[1])
    assert shown == steps if page.viewport_size == SIZE else shown >= 2
    titles = set()
    for step in range(1, shown + 1):
        expect(tour.locator("#tour-of")).to_have_text(f"{step} of {shown}")
        titles.add(tour.locator("h2").inner_text())
        assert apart(card, light)
        box = light.bounding_box()
        assert min(box["width"], box["height"]) > 20
        if step == 2:
            page.keyboard.press("ArrowLeft")
            expect(tour.locator("#tour-of")).to_have_text(f"1 of {shown}")
            tour.locator(".next").click()
        tour.locator(".next").click()
    assert len(titles) == shown
    expect(tour).to_be_hidden()
    stands = "([node, stood]) => Math.abs(node.scrollTop - stood) < 8"  # a moment after: what was lit was scrolled to
    page.wait_for_function(stands, arg=[text.element_handle(), stood])
    page.locator(".brand, .tbar .aa").filter(visible=True).last.focus()
    page.keyboard.press("?")
    shown_keys = page.locator(".panel" if screen == "Read" else "#help")  # the reader has a sheet of its own
    shown_keys.get_by_role("button", name="Show me around").click()
    expect(shown_keys).to_be_hidden()
    expect(tour).to_be_visible()
    page.keyboard.press("Escape")
    expect(tour).to_be_hidden()


def test_the_tour_lights_each_part_beside_its_card(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/read?book={keeper}&page=2")
    walk_through_the_tour(page, "Read", 6)
    go_to(page, "Ask")
    ask(
        page, "Where was the log in the watch room?"
    )  # the built-in reader's answer is drawn in another way than a model's
    expect(page.locator(".sentences")).to_be_visible()
    walk_through_the_tour(page, "Ask", 4)
    page.set_viewport_size(PHONE)
    page.reload()
    walk_through_the_tour(page, "Ask", 4)
    page.goto(f"{app_url}/read?book={keeper}&page=2")  # its gist comes below the window
    walk_through_the_tour(page, "Read", 6)


def test_the_bar_of_a_phone(standing_page: Page, app_url: str, keeper: str) -> None:
    page = standing_page
    page.set_viewport_size(PHONE)
    if not page.url.startswith(f"{app_url}/read"):
        page.goto(f"{app_url}/read?book={keeper}")
    bar = page.locator("nav.bar")
    expect(page.locator(".leaf.cur")).to_be_attached()
    page.locator(".leaves").focus()
    page.keyboard.press("Home")
    page.evaluate("window.stays = true")  # until another page is loaded
    assert bar.bounding_box() == {"x": 0, "y": 784, "width": 390, "height": 60}
    for target in [
        *bar.locator("a, button").all(),
        *page.locator(".tbar button:visible").all(),
    ]:
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    bars = [bar, page.locator(".tbar"), page.locator(".foot")]
    text, line = page.locator(".leaves"), page.locator("p[data-i='3']")
    page.mouse.move(195, 400)
    page.mouse.wheel(0, 300)
    for gone in bars:
        expect(gone).to_be_hidden()
    expect(page.locator(".bareline")).to_contain_text("left in chapter")
    assert text.bounding_box()["height"] > 0.95 * 844
    stood = line.bounding_box()
    for _ in range(50):  # a wheel turns a while
        page.wait_for_timeout(100)
        if stood == (stood := line.bounding_box()):
            break
    for hidden in (False, True):  # a tap brings the bars back and takes them away: no line moves
        text.click(position={"x": 195, "y": 400})
        for one in bars:
            expect(one).to_be_visible(visible=not hidden)
        assert line.bounding_box() == stood
    page.mouse.wheel(0, -60)
    for back in bars:
        expect(back).to_be_visible()
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Pages", exact=True).click()
    expect(page.locator(".room.paged")).to_be_visible()
    page.locator(".aa").click()
    text.click(position={"x": 370, "y": 400})  # turned onwards
    expect(page.locator(".foot")).to_be_hidden()
    stands, turned = text.bounding_box(), page.locator(".col").bounding_box()
    assert stands["height"] > 0.9 * 844  # the page has the window, and the bars lie over it
    text.click(position={"x": 195, "y": 400})
    expect(page.locator(".foot")).to_be_visible()
    assert (text.bounding_box(), page.locator(".col").bounding_box()) == (stands, turned)
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Scroll", exact=True).click()
    page.locator(".aa").click()
    bar.get_by_text("More").click()
    page.locator("#more").get_by_text("Compare").click()
    expect(page).to_have_title(re.compile("Compare"))
    expect(page.locator("#more")).to_be_hidden()
    expect(bar.get_by_text("More")).to_have_attribute("aria-current", "true")
    page.locator(".st-key-compare_methods button").first.click()
    expect(bar).to_be_hidden()  # the panel reaches to where it stands
    page.keyboard.press("Escape")
    bar.get_by_text("Ask").click()
    expect(page).to_have_title(re.compile("Ask"))
    expect(bar.get_by_text("Ask")).to_have_attribute("aria-current", "page")
    expect(bar.get_by_text("More")).not_to_have_attribute("aria-current", "true")
    for button in (page.get_by_test_id("stExpandSidebarButton"), page.locator(".help-button")):
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_text("Only what I have read", exact=True)).to_be_in_viewport()
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_hidden()  # one menu leads to the screens
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    bar.get_by_text("Library").click()
    expect(page).to_have_title(re.compile("Library"))
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_hidden()  # it would open nothing
    assert page.evaluate("window.stays")


def test_a_page_whose_app_was_stopped_says_so_in_our_words(page: Page, start_app: StartApp, tmp_path: Path) -> None:
    with start_app(tmp_path / "home") as url:
        page.goto(url.replace("127.0.0.1", "localhost"))
        expect(page.get_by_text("The Keeper of Harrow Light").first).to_be_visible()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("ReadAgent does not answer")
    expect(page.get_by_text("yourscript")).to_have_count(0)
    expect(page.get_by_text("Streamlit")).to_have_count(0)
    told.get_by_role("button", name="Close").click()
    expect(told).to_be_hidden()
    page.evaluate(
        "window.postMessage({ stCommVersion: 1, type: 'CLIENT_ERROR_DIALOG', error: 'Bad message format' }, '*')"
    )
    expect(told).to_contain_text("Load the page again")
