"""Act in a browser: from the library to the next action on a saved web page, and hostile pages that do nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import settled
from tests.browser.test_access import findings, shown
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer, Reply
from tests.web_pages.pages import shop

WORDS = "<p>The shop sells lamps, oil and wicks to the keepers of the coast, by post and at the door.</p>"
HOSTILE = """<html><head><title>Hostile lamps</title><meta http-equiv="refresh" content="0;url={evil}/refresh">
<base href="{evil}/" target="_top"><link rel="stylesheet" href="{evil}/a.css"><style>@import url({evil}/b.css);
body {{ background: url({evil}/c.png) }}</style><script src="{evil}/d.js"></script>
<script>fetch("{evil}/fetch"); top.location = "{evil}/top";
parent.document.title = "taken"; alert(1)</script></head>
<body onload="fetch('{evil}/load')" background="{evil}/e.png">
<img src="{evil}/f.png" onerror="fetch('{evil}/g')" alt="A lamp">
<form action="{evil}/form" method="post"><input name="q" autofocus onfocus="fetch('{evil}/focus')">
<button>Send it</button></form>
<a id="go" href="javascript:fetch('{evil}/click')">Run it</a>
<a href="{evil}/link" target="_top" ping="{evil}/ping">Leave</a>
<iframe src="{evil}/frame"></iframe><object data="{evil}/object"></object>
<video src="{evil}/v" poster="{evil}/w"></video>
<svg><image href="{evil}/i.svg"/><script>fetch("{evil}/svg")</script></svg>
<p style="background:url({evil}/j.png)">Styled</p>
{words}{nested}</body></html>"""


@pytest.fixture(scope="module")
def evil() -> Iterator[tuple[str, list[str]]]:
    """A server's address, and the paths that were asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def books(app_home: Path, app_url: str, evil: tuple[str, list[str]]) -> dict[str, str]:
    """Ids of a shop's page and of a hostile one."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(app_home)}))
    nested = "<div>" * 5_000  # deeper than a page is read: it is cut
    markup = {"shop": shop(WORDS), "hostile": HOSTILE.format(evil=evil[0], words=WORDS, nested=nested)}
    found = {name: open_file(workspace, text.encode(), f"{name}.html").id for name, text in markup.items()}
    workspace.library.close()
    return found


def test_from_the_library_to_the_next_action(page: Page, app_url: str, books: dict[str, str]) -> None:
    page.goto(app_url)
    page.get_by_role("button", name="More about Lamp shop").click()
    page.get_by_role("menuitem", name="Act on it").click()
    rows = page.locator(".parts li")
    expect(rows.first).to_contain_text("No gist yet")
    expect(page.locator(".st-key-back")).to_contain_text("Ask")  # whose menu has it, as the screen's bar says
    expect(page.locator("html")).to_have_attribute("data-in-ask", "")
    expect(page.locator(".about")).to_contain_text("parts")
    page.get_by_label("Task").fill("Search & go")
    page.get_by_label("Task").press("Control+Enter")
    page.get_by_role("button", name="Find the next action").click()
    result = page.locator(".result")
    expect(result.locator("h2")).to_have_text("Most alike in words: click the button “Search & go”.")
    expect(result).to_contain_text("nothing was understood")
    frame = page.frame_locator("iframe")
    chosen = frame.locator("#e504")
    expect(chosen).to_be_in_viewport()
    expect(chosen).to_have_css("outline-width", "4px")
    opened = page.locator(".parts .opened")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("the action is here")
    number = opened.get_attribute("data-n")
    expect(frame.locator(f".s{number}").first).to_have_css("outline-width", "1px")
    opened.locator("summary").click()
    expect(opened.locator("pre")).to_contain_text("<button id=504>Search &amp; go</button>")
    page.locator(".steps button", has_text="Gists").click()  # before anything was looked at
    expect(opened).to_have_count(0)
    expect(chosen).not_to_have_css("outline-width", "4px")
    page.keyboard.press("ArrowRight")
    expect(page.locator('.steps [aria-current="step"]')).to_contain_text("Look-up")
    expect(opened).to_have_count(1)
    page.get_by_role("button", name="Prompt and reply").click()
    expect(page.get_by_role("dialog")).to_contain_text("Search & go")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add to what is done").dblclick()
    expect(page.get_by_role("button", name="Added")).to_be_disabled()
    expect(page.get_by_label("Done so far")).to_have_value("Click the button “Search & go”.")
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    page.reload()  # the decision is stored with the book
    expect(page.locator(".result h2")).to_have_text("Most alike in words: click the button “Search & go”.")
    expect(page.get_by_label("Task")).to_have_value("Search & go")
    expect(chosen).to_have_css("outline-width", "4px")
    expect(page.get_by_role("heading", name="Act on a page")).to_be_in_viewport()  # the frame alone is scrolled
    expect(result.locator("h2")).not_to_be_in_viewport()
    page.get_by_role("button", name="Find the next action").click()
    expect(result.locator("h2")).to_be_in_viewport()
    for width, theme in ((1440, "dark"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        shown(page, ".result", theme)
        assert findings(page) == [], (width, theme)
        expect(frame.locator("html")).to_have_class(theme)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_hostile_page_does_nothing(
    page: Page, app_url: str, books: dict[str, str], evil: tuple[str, list[str]], asked_for: list[str]
) -> None:
    address, asked = evil
    dialogs: list[str] = []
    page.once("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"{app_url}/act?book={books['hostile']}")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Styled")).to_be_visible()
    for words in ("Run it", "Leave", "Send it"):
        frame.get_by_text(words, exact=True).click()
    frame.locator("input").press("Enter")
    frame_address = page.locator("iframe").get_attribute("src")
    assert frame_address is not None
    page.goto(frame_address)  # nor in a window of its own
    expect(page.get_by_text("Styled")).to_be_visible()
    for words in ("Run it", "Leave", "Send it"):
        page.get_by_text(words, exact=True).click()
    page.wait_for_timeout(500)
    assert page.url == frame_address
    assert not asked
    assert not dialogs
    assert {urlsplit(url).netloc for url in asked_for if url.startswith("http")} == {urlsplit(app_url).netloc}
    assert address not in page.content()
    with suppress(HTTPError):
        urlopen(f"{address}/counted")  # the server does count what is asked of it
    assert asked == ["/counted"]
    asked.clear()


def test_stopped_and_continued(
    page: Page, model_app_url: str, model_app_home: Path, fake_server: FakeServer, request: pytest.FixtureRequest
) -> None:
    workspace = Workspace(load_settings({"READAGENT_HOME": str(model_app_home)}))
    book = open_file(workspace, shop(WORDS, repeat=8).encode(), "long.html").id
    workspace.library.close()
    numbers, go = count(), threading.Event()

    def before(_: int, text: str) -> Reply | None:
        prompt = understood(text)
        if prompt and prompt.task == "gist_snippet" and next(numbers) >= 2:  # two come, the others wait
            go.wait(60)
        return None

    fake_server.before = before
    request.addfinalizer(lambda: (go.set(), setattr(fake_server, "before", None)))
    page.goto(f"{model_app_url}/act?book={book}")
    expect(page.locator(".parts li").first).to_be_visible()
    parts = page.locator(".parts li").count()
    expect(page.locator(".st-key-act_go_line")).to_contain_text(f"The gists of {parts} parts are made first")
    page.get_by_label("Task").fill("Search & go")
    page.get_by_label("Task").press("Control+Enter")
    page.get_by_role("button", name="Find the next action").click()
    waiting = page.locator(".parts li", has_text="No gist yet")
    expect(waiting).to_have_count(parts - 2)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
    expect(waiting).to_have_count(parts - 2)
    go.set()
    asked = len(fake_server.chats)
    page.get_by_role("button", name="Find the next action").click()
    expect(page.locator(".result h2")).to_have_text("Click the button “Search & go”.")
    expect(page.locator("[data-signer]")).to_have_attribute("data-signer", "model")
    assert len(fake_server.chats) - asked <= parts  # a gist that is stored is not made again
