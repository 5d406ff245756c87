"""No serious or critical finding of axe-core on any screen, light, dark or sepia; usable at 400 px and 200 % zoom."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from readagent_core.library import Library
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import StartApp

SCREENS = {
    "library": ("/", '[data-kind="library"], [data-kind="first"]'),
    "read": ("/read?book={keeper}&page=2", ".leaf.cur"),
    "ask": ("/ask", '[data-testid="stMain"] h1, [data-testid="stChatInput"]'),
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


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("screen", list(SCREENS))
def test_axe_finds_nothing_serious(page: Page, app_url: str, keeper: str, screen: str, width: int) -> None:
    path, ready = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto(app_url + path.format(keeper=keeper))
    for theme in ("dark", "light"):  # also of a page that is open already
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        shown(page, ready, theme)
        assert findings(page, colours=theme == "light") == [], theme
    if width == 390:
        page.locator("nav.bar").get_by_text("More").click()
    else:
        page.locator(".help-button").click()
    opened = "#more" if width == 390 else "#help"
    expect(page.locator(opened)).to_be_visible()
    assert findings(page, within=opened) == []


def test_axe_finds_nothing_serious_on_the_first_visit_and_in_the_tour(
    page: Page, start_app: StartApp, tmp_path: Path, app_url: str, keeper: str
) -> None:
    with start_app(tmp_path / "home") as url:
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(url)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                shown(page, '[data-kind="first"]', theme)
                assert findings(page, colours=theme == "dark") == [], (width, theme)
        library = Workspace(load_settings({"READAGENT_HOME": str(tmp_path / "home")}))
        for book in library.library.books():  # then the library has none
            library.library.remove(book.id)
        library.library.close()
        page.goto(url)
        shown(page, ".nothing", "dark")
        assert findings(page) == []
    path, ready = SCREENS["read"]
    page.goto(app_url + path.format(keeper=keeper))
    shown(page, ready, "dark")
    page.evaluate("document.dispatchEvent(new Event('readagent-tour'))")
    expect(page.locator("dialog.tour .card")).to_be_visible()
    assert findings(page, within="dialog.tour") == []


@pytest.mark.parametrize("screen", ["library", "read"])
def test_axe_finds_nothing_serious_in_sepia(
    page: Page, app_url: str, app_home: Path, keeper: str, screen: str, request: pytest.FixtureRequest
) -> None:
    library = Library(app_home)
    request.addfinalizer(library.close)
    request.addfinalizer(lambda: library.set_preference("look", {}))
    library.set_preference("look", {"theme": "sepia"})
    path, ready = SCREENS[screen]
    page.emulate_media(color_scheme="dark")  # a theme that was chosen is not the system's
    page.goto(app_url + path.format(keeper=keeper))
    shown(page, ready, "sepia")
    if screen == "read":
        page.locator(".aa").click()
        expect(page.locator(".panel")).to_be_visible()
    assert findings(page, colours=True) == []


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
