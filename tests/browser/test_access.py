"""No serious or critical finding of axe-core on any screen, light, dark or sepia; usable at 400 px and 200 % zoom."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from readagent_core.library import Library

SCREENS = {
    "library": ("/", '[data-kind="library"], [data-kind="first"]'),
    "read": ("/read?book={keeper}&page=2", ".leaf.cur"),
    "ask": ("/ask", '[data-testid="stMain"] h1, [data-kind="memory"]'),
    "compare": ("/compare", '[data-testid="stMain"] h1'),
    "evaluate": ("/evaluate", '[data-testid="stMain"] h1'),
    "settings": ("/settings", '[data-testid="stMain"] h1'),
}
# What Streamlit itself renders and a page cannot change; each with the reason why it does no harm here.
NOT_OURS = {
    "scrollable-region-focusable",  # stMain scrolls with the keyboard as the document's only scroller
}
# colours fade in; an animation without end (a spinner) is not waited for, and none for long
SETTLED = """() => Promise.race([
  Promise.all(document.getAnimations()
    .filter((a) => a.effect.getComputedTiming().endTime !== Infinity)
    .map((a) => a.finished.catch(() => null))),
  new Promise((done) => setTimeout(done, 2000)),
]).then(() => null)"""


# only what is grave is handed over: whole, the findings of a book's page take as long to hand over as to make
GRAVE = """(not_ours) => axe.run({ resultTypes: ["violations"] }).then((found) => found.violations
  .filter((rule) => ["serious", "critical"].includes(rule.impact) && !not_ours.includes(rule.id))
  .flatMap((rule) => rule.nodes.slice(0, 4).map((node) => `${rule.id}: ${node.target} ${node.html.slice(0, 160)}`)))"""


def findings(page: Page) -> list[str]:
    page.evaluate(Axe().axe_script)
    return page.evaluate(GRAVE, sorted(NOT_OURS))


@pytest.mark.parametrize("screen", list(SCREENS))
def test_axe_finds_nothing_serious(page: Page, app_url: str, keeper: str, screen: str) -> None:
    path, ready = SCREENS[screen]
    for theme, paper in (("dark", "rgb(23, 25, 27)"), ("light", "rgb(250, 249, 246)")):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        if theme == "dark":
            page.goto(app_url + path.format(keeper=keeper))
        expect(page.locator(ready).first).to_be_visible()
        expect(page.locator("html")).to_have_css("color-scheme", theme)  # the tokens' and Streamlit's,
        expect(page.locator(".stApp")).to_have_css("color-scheme", theme)  # also of a page that is open already
        expect(page.locator(".stApp")).to_have_css("background-color", paper)
        expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
        page.evaluate(SETTLED)
        assert findings(page) == [], theme


@pytest.mark.parametrize("screen", ["library", "read"])
def test_axe_finds_nothing_serious_in_sepia(
    page: Page, app_url: str, app_home: Path, keeper: str, screen: str, request: pytest.FixtureRequest
) -> None:
    library = Library(app_home)
    request.addfinalizer(library.close)
    request.addfinalizer(lambda: library.set_preference("look", {}))
    library.set_preference("look", {"theme": "sepia"})
    path, ready = SCREENS[screen]
    page.goto(app_url + path.format(keeper=keeper))
    expect(page.locator(ready).first).to_be_visible()
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(242, 232, 213)")
    page.evaluate(SETTLED)
    assert findings(page) == []
    if screen == "library":  # by night sepia is dark
        for theme, paper in (("dark", "rgb(23, 25, 27)"), ("light", "rgb(242, 232, 213)")):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            expect(page.locator(".stApp")).to_have_css("color-scheme", theme)
            expect(page.locator(".stApp")).to_have_css("background-color", paper)
    if screen == "read":
        page.locator(".aa").click()
        expect(page.locator(".panel")).to_be_visible()
        assert findings(page) == []


@pytest.mark.parametrize("screen", ["library", "read"])
def test_nothing_is_cut_off_when_narrow_or_zoomed(page: Page, app_url: str, keeper: str, screen: str) -> None:
    path, ready = SCREENS[screen]
    for width, height in ((400, 850), (720, 450)):  # 720 px is 1440 at 200 %
        page.set_viewport_size({"width": width, "height": height})
        if width == 400:
            page.goto(app_url + path.format(keeper=keeper))
        expect(page.locator(ready).first).to_be_visible()
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0
        if screen == "read":
            gist, text = page.locator(".leaf.cur").bounding_box(), page.locator('p[data-i="12"]').bounding_box()
            assert gist["y"] > text["y"]  # the gist comes after its text
            assert text["width"] > 240
