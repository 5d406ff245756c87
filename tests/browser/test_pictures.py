"""The pictures of a book in a browser: at their places, enlarged by click and key; no request or script of theirs."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.loaders.picturing import SVG, book, data_address, encode, illustrated, line_art, paragraphs, picture

HEIGHTS = "(figures) => figures.map((figure) => figure.getBoundingClientRect().height)"
HOSTILE = (
    paragraphs(1) + '<p><img src="http://192.0.2.1/track.png" alt="A &lt;img src=x onerror=harmed=1&gt; far light" '
    'onerror="harmed=1"/></p>'
    + f'<p><img src="{data_address(SVG, "image/svg+xml")}"/></p><p><img src="javascript:harmed=1"/></p>'
    + picture("drawing.png")
    + picture("good.png", "&quot;&gt;&lt;script&gt;harmed=1&lt;/script&gt;")
    + paragraphs(3)
)


@pytest.fixture(scope="module", name="books")
def books_(app_home: Path, app_url: str):
    """The app's address, and the ids of an illustrated and a hostile book in it."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(app_home)}))
    hostile = book({"A": HOSTILE}, {"drawing.png": SVG, "good.png": encode(line_art(), "PNG")}, "Harm")
    ids = [open_file(workspace, data, f"{n}.epub").id for n, data in enumerate((illustrated(), hostile))]
    workspace.library.close()
    return app_url, *ids


def test_pictures_are_at_their_places_enlarged_and_no_higher_than_a_page(page: Page, books) -> None:
    url, illustrated_book, _ = books
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    page.route("**/picture/**", hold)
    page.goto(f"{url}/read?book={illustrated_book}")
    chart = page.get_by_role("img", name="A chart of Harrow Sound")
    before, caption = page.locator(".unit > p").nth(1), page.locator("p.caption")
    expect(chart).to_be_visible()
    heights = page.locator(".fig").evaluate_all(HEIGHTS)
    assert min(heights) > 100  # their sizes are known before they are loaded
    for request in asked:
        request.continue_()
    page.unroute("**/picture/**")
    expect(chart).to_have_js_property("complete", True)
    top, box, under = before.bounding_box(), chart.bounding_box(), caption.bounding_box()
    assert top["y"] + top["height"] <= box["y"]
    assert box["y"] + box["height"] <= under["y"]
    assert box["width"] <= top["width"] + 1
    assert box["width"] / box["height"] == pytest.approx(1.5, rel=0.01)
    lamp = page.locator(".fig").nth(2)
    lamp.scroll_into_view_if_needed()
    expect(lamp.locator("img")).to_have_js_property("naturalWidth", 240)
    assert page.locator(".fig").evaluate_all(HEIGHTS) == heights
    expect(page.get_by_text("The picture could not be read")).to_have_count(1)
    expect(page.locator(".nopic")).to_contain_text("The boat at her mooring")
    page.get_by_text("Pictures (3)").click()
    page.get_by_role("button", name="The tower at dusk", exact=True).click()
    expect(page.get_by_role("img", name="The tower at dusk")).to_be_in_viewport()

    # Enter enlarges a picture, and Escape returns to it.
    enlarge = page.get_by_role("button", name="Enlarge the picture: Figure 1. Harrow Sound, with both bearings.")
    small = enlarge.bounding_box()["width"]
    enlarge.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Figure 1. Harrow Sound, with both bearings.")
    expect(dialog).to_be_visible()
    assert dialog.get_by_role("img").bounding_box()["width"] > 1.5 * small
    page.keyboard.press("ArrowRight")  # a key of the reader below does nothing
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(enlarge).to_be_focused()
    enlarge.click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(enlarge).to_be_focused()

    # On a page of the screen a picture is no higher than that, and all pages can be turned to.
    page.set_viewport_size({"width": 400, "height": 700})
    page.get_by_role("button", name="Type and theme").click()
    page.get_by_role("button", name="Pages", exact=True).click()
    page.keyboard.press("Escape")
    view = page.locator(".leaves").bounding_box()
    boat, heights = page.locator(".nopic"), []
    for _ in range(60):
        heights += [box["height"] for figure in page.locator(".fig img").all() if (box := figure.bounding_box())]
        if boat.is_visible() and 0 <= boat.bounding_box()["x"] < 400:
            break
        page.keyboard.press("ArrowRight")
    expect(boat).to_be_in_viewport()
    assert 0 < max(heights) < view["height"]
    page.get_by_role("button", name="Show the bars").click()  # which are gone while one turns onwards
    page.get_by_role("button", name="Type and theme").click()
    page.get_by_role("button", name="Scroll", exact=True).click()  # of all books of this app
    expect(page.locator(".room")).to_have_class(re.compile("scrolled"))


def test_a_hostile_book_runs_no_script_and_asks_no_server(page: Page, asked_for: list[str], books) -> None:
    url, _, hostile = books
    page.goto(f"{url}/read?book={hostile}")
    good = page.locator(".fig img")
    expect(good).to_have_count(1)
    good.scroll_into_view_if_needed()
    expect(good).to_have_js_property("naturalWidth", 900)
    expect(page.get_by_text("far light")).to_be_visible()
    expect(page.locator(".unit > p img, .unit svg image, .unit script")).to_have_count(0)
    assert page.evaluate("window.harmed") is None
    assert {urlsplit(address).netloc for address in asked_for if address.startswith("http")} == {urlsplit(url).netloc}
    assert sum("/picture/" in address for address in asked_for) == 1
