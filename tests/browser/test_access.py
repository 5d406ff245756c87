"""No serious or critical finding of axe-core on any screen, light, dark or sepia; usable at 400 px and 200 % zoom."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from readagent_core.library import Library
from tests.browser.conftest import go_to

SCREENS = {
    "library": '[data-kind="library"], [data-kind="first"]',
    "read": ".leaf.cur",
    "ask": '[data-testid="stChatInput"]',
    "compare": ".st-key-compare_ask input",
    "evaluate": ".st-key-evaluate_start button",
    "settings": ".st-key-settings",
}
WIDE, NARROW = ViewportSize(width=1440, height=844), ViewportSize(width=390, height=844)
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
GRAVE = """([not_ours, within, colours]) => axe.run(within ?? document,
  { resultTypes: ["violations"], ...(colours ? { runOnly: ["color-contrast"] } : {}) })
  .then((found) => found.violations
  .filter((rule) => ["serious", "critical"].includes(rule.impact) && !not_ours.includes(rule.id))
  .flatMap((rule) => rule.nodes.slice(0, 4).map((node) => `${rule.id}: ${node.target} ${node.html.slice(0, 160)}`)))"""


def findings(page: Page, *, within: str | None = None, colours: bool = False) -> list[str]:
    """What axe finds on the screen, or in one element. ``colours``: by the one rule that a theme can break."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(Axe().axe_script)
    return page.evaluate(GRAVE, [sorted(NOT_OURS), within, colours])


PAPER = {"light": "rgb(250, 249, 246)", "dark": "rgb(23, 25, 27)", "sepia": "rgb(242, 232, 213)"}


def shown(page: Page, ready: str, theme: str) -> None:
    """The screen is whole, and in this theme: the tokens' and Streamlit's."""
    expect(page.locator(ready).first).to_be_visible()
    expect(page.locator("html")).to_have_css("color-scheme", "dark" if theme == "dark" else "light")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark" if theme == "dark" else "light")
    expect(page.locator(".stApp")).to_have_css("background-color", PAPER[theme])
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    page.evaluate(SETTLED)


@pytest.fixture
def page(standing_page: Page) -> Page:
    return standing_page


def visit(page: Page, url: str, keeper: str, screen: str) -> str:
    """Open the screen in a wide window; return what is on it when it is whole."""
    page.set_viewport_size(WIDE)
    if not page.url.startswith(f"{url}/"):
        page.goto(f"{url}/read?book={keeper}&page=2")
        expect(page.locator(SCREENS["read"])).to_be_visible()
    go_to(page, screen.capitalize())
    return SCREENS[screen]


def nothing_is_cut_off(page: Page, screen: str) -> None:
    for size in ({"width": 400, "height": 850}, {"width": 720, "height": 450}):  # 720 px is 1440 at 200 %
        page.set_viewport_size(size)  # type: ignore[arg-type]
        bare = screen == "read" and size["height"] < 500  # a low window begins with the text alone
        expect(page.locator('p[data-i="12"]' if bare else SCREENS[screen]).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        if screen == "read" and not bare:
            gist, text = page.locator(".leaf.cur").bounding_box(), page.locator('p[data-i="12"]').bounding_box()
            assert gist["y"] > text["y"]  # the gist comes after its text
            assert text["width"] > 240


@pytest.mark.parametrize("screen", list(SCREENS))
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(page: Page, app_url: str, keeper: str, screen: str) -> None:
    ready = visit(page, app_url, keeper, screen)
    page.emulate_media(color_scheme="dark")  # also of a page that is open already
    shown(page, ready, "dark")
    assert findings(page) == []
    page.emulate_media(color_scheme="light")
    shown(page, ready, "light")
    assert findings(page, colours=True) == []
    page.set_viewport_size(NARROW)
    shown(page, ready, "light")
    assert findings(page) == []
    nothing_is_cut_off(page, screen)


def test_axe_finds_nothing_serious_in_sheets_in_the_tour_and_in_sepia(
    page: Page, app_url: str, app_home: Path, keeper: str, request: pytest.FixtureRequest
) -> None:
    # what every screen has in its frame
    visit(page, app_url, keeper, "read")
    page.emulate_media(color_scheme="dark")
    for size, button, sheet in ((WIDE, ".help-button", "#help"), (NARROW, "nav.bar button", "#more")):
        page.set_viewport_size(size)
        page.locator(button).click()
        expect(page.locator(sheet)).to_be_visible()
        assert findings(page, within=sheet) == []
        page.keyboard.press("Escape")
    page.set_viewport_size(WIDE)
    page.evaluate("document.dispatchEvent(new Event('readagent-tour'))")
    expect(page.locator("dialog.tour .card")).to_be_visible()
    assert findings(page, within="dialog.tour") == []
    # in the sepia theme, of a book with a panel open and of the library
    library = Library(app_home)
    request.addfinalizer(library.close)
    request.addfinalizer(lambda: library.set_preference("look", {}))
    library.set_preference("look", {"theme": "sepia"})
    page.goto(f"{app_url}/read?book={keeper}&page=2")  # a theme that was chosen is not the system's
    shown(page, SCREENS["read"], "sepia")
    page.locator(".aa").click()
    expect(page.locator(".panel")).to_be_visible()
    assert findings(page, colours=True) == []
    go_to(page, "Library")
    shown(page, SCREENS["library"], "sepia")
    assert findings(page, colours=True) == []
