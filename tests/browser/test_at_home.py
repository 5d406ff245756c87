"""On a phone in the home network, and a catalogue at home: what a person does there, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SIZE, running_app
from tests.browser.test_access import findings
from tests.fakes.web import WebServer, reply
from tests.incoming.test_catalogues import ATOM, BOOK, DESCRIPTION, SHELF, feed
from tests.sharing.test_server import HOST, needs_other_addresses


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "home"


@pytest.fixture(scope="module")
def url(home: Path) -> Iterator[str]:
    needs_other_addresses()
    with running_app(home, READAGENT_SHARE=HOST) as address:
        yield address


def test_a_phone_signs_in_by_the_code_reads_and_signs_out(chromium: Browser, url: str, home: Path) -> None:
    password = json.loads((home / "share.json").read_text(encoding="utf-8"))["password"]
    there = f"http://{HOST}:{urlsplit(url).port}"
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page, asked = context.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{there}/#wrong")
    page.click("button")
    expect(page.locator("#no")).to_contain_text("That is not the password. Four more tries")
    assert findings(page) == []
    page.goto(f"{there}/settings#{password}")
    expect(page.locator("#password")).to_have_value(password)
    page.click("button")
    page.get_by_role("tab", name="On my phone").click()
    expect(page.get_by_role("button", name="Sign out this device")).to_be_visible()
    assert password not in page.inner_text("body")
    assert not [address for address in asked if password in address]
    page.get_by_role("button", name="Sign out this device").click()
    expect(page.locator("#password")).to_be_visible()
    page.goto(f"{there}/read")
    expect(page.locator("#password")).to_be_visible()
    context.close()


def test_a_book_of_a_catalogue_is_found_and_added(page: Page, url: str) -> None:
    pages = {
        "/opds": reply(SHELF, ATOM), "/osd.xml": reply(DESCRIPTION, "application/opensearchdescription+xml"),
        "/find?q=moonflet&start=": reply(feed(title="Found"), ATOM), "/l.txt": reply(BOOK, "text/plain"),
        "/subjects": reply(b"<html><body>Hello</body></html>", "text/html"),
    }  # fmt: skip
    with WebServer(pages) as server:
        page.goto(f"{url}/catalogue")
        page.get_by_role("button", name="Another address").click()
        page.get_by_label("Address").fill(server.at("/opds"))
        page.locator(".stFormSubmitButton button").click()
        page.get_by_role("button", name="Add A lamp").click()
        expect(page.get_by_role("button", name="Read A lamp")).to_be_visible()
        expect(page.get_by_text("Only as PDF")).to_be_visible()
        expect(page.get_by_text("Borrowing needs its own app")).to_be_visible()
        expect(page.get_by_role("button", name="Add Lent")).to_have_count(0)
        assert findings(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        page.set_viewport_size(SIZE)
        page.keyboard.press("/")
        page.keyboard.type("moonflet")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Nothing for “moonflet” here.")).to_be_visible()
        expect(page.get_by_role("button", name="Search Project Gutenberg too")).to_be_visible()
        page.get_by_role("button", name="A shelf", exact=True).click()
        page.get_by_role("button", name="By subject").click()
        expect(page.get_by_role("alert")).to_contain_text("A web page answered, not a catalogue.")
        page.get_by_role("button", name="Read A lamp").click()
        expect(page).to_have_url(re.compile("/read"))
