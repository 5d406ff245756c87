"""On a phone in the home network, and a catalogue at home: what a person does there, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from readagent_core.incoming.samples import add_samples
from readagent_core.library import Library
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import SIZE, installed, running_app
from tests.browser.test_access import findings
from tests.browser.test_read_place import FIRST_WORD, SETTLED
from tests.fakes.web import WebServer, reply
from tests.incoming.test_catalogues import ATOM, BOOK, DESCRIPTION, SHELF, feed
from tests.sharing.network import Network, home_network


class Home(NamedTuple):
    folder: Path
    network: Network
    book: str
    phone: Browser


@pytest.fixture(scope="module")
def home(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A library with the sample novella, and the browser of a phone in the home network."""
    folder = tmp_path_factory.mktemp("shared")
    workspace = Workspace(load_settings({"READAGENT_HOME": str(folder / "home")}))
    add_samples(workspace)
    book = next(one.id for one in workspace.library.books() if one.title == "The Keeper of Harrow Light")
    workspace.library.close()
    with home_network() as network:
        path = network.program(installed() or chromium.browser_type.executable_path, folder)
        phone = chromium.browser_type.launch(executable_path=path, args=["--no-sandbox"])
        yield Home(folder / "home", network, book, phone)
        phone.close()


@pytest.fixture(scope="module")
def url(home: Home) -> Iterator[str]:
    with running_app(home.folder, share=True, READAGENT_SHARE=home.network.host) as address:
        yield address


def test_a_phone_signs_in_by_the_code_reads_keeps_its_place_and_signs_out(
    page: Page, url: str, home: Home, record_property: Callable[[str, object], None]
) -> None:
    cv2, numpy = pytest.importorskip("cv2"), pytest.importorskip("numpy")
    record_property("asked", home.network.told)
    print(home.network.told)
    password = json.loads((home.folder / "share.json").read_text(encoding="utf-8"))["password"]
    page.goto(f"{url}/settings")
    page.get_by_role("tab", name="On my phone").click()
    expect(page.locator(".qr img")).to_be_visible()
    drawn = numpy.frombuffer(page.locator(".qr").screenshot(), numpy.uint8)
    code, _, _ = cv2.QRCodeDetector().detectAndDecode(cv2.imdecode(drawn, cv2.IMREAD_COLOR))
    there = f"http://{home.network.host}:{urlsplit(url).port}"
    assert code == f"{there}/#{password}"

    context = home.phone.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="en-US")
    phone, asked = context.new_page(), list[str]()
    phone.on("request", lambda request: asked.append(request.url))
    phone.goto(f"{there}/#wrong")
    phone.click("button")
    expect(phone.locator("#no")).to_contain_text("That is not the password. Four more tries")
    assert findings(phone) == []
    phone.goto(code)
    expect(phone.locator("#password")).to_have_value(password)
    phone.click("button")
    phone.get_by_role("link", name="Open the sample story").click()
    expect(phone.locator(".leaf.cur")).to_have_count(1)
    phone.evaluate(SETTLED)
    phone.locator(".leaves").hover()
    phone.mouse.wheel(0, 1500)
    phone.evaluate(SETTLED)
    at, _ = phone.evaluate(FIRST_WORD)
    assert at > 0
    with closing(Library(home.folder)) as library:  # on the computer, where the book is
        for _ in range(200):
            if library.position(home.book).paragraph == at:
                break
            phone.wait_for_timeout(50)
        assert library.position(home.book).paragraph == at
    phone.reload()
    expect(phone.locator(".leaf.cur")).to_have_count(1)
    phone.evaluate(SETTLED)
    assert phone.evaluate(FIRST_WORD)[0] == at
    assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0

    phone.goto(f"{there}/settings")
    phone.get_by_role("tab", name="On my phone").click()
    expect(phone.get_by_role("button", name="Sign out this device")).to_be_visible()
    assert password not in phone.inner_text("body")
    assert not [address for address in asked if password in address]
    phone.get_by_role("button", name="Sign out this device").click()
    expect(phone.locator("#password")).to_be_visible()
    phone.goto(f"{there}/read")
    expect(phone.locator("#password")).to_be_visible()
    context.close()


def test_a_book_of_a_catalogue_is_found_and_added(page: Page, url: str) -> None:
    pages = {
        "/opds": reply(SHELF, ATOM), "/osd.xml": reply(DESCRIPTION, "application/opensearchdescription+xml"),
        "/find?q=moonflet&start=": reply(feed(title="Found"), ATOM), "/l.txt": reply(BOOK, "text/plain"),
        "/locked": reply(b"", status="401 Unauthorized"),
        "/subjects": reply(b"<html><body>Hello</body></html>", "text/html"),
    }  # fmt: skip
    with WebServer(pages) as server:
        page.goto(f"{url}/catalogue")
        expect(page.get_by_role("button", name="Project Gutenberg")).to_contain_text("75,000 books")
        expect(page.get_by_test_id("stMainBlockContainer").get_by_role("link", name="Library")).to_be_visible()
        library = page.get_by_test_id("stTopNavLink").filter(has_text="Library")  # which it belongs to
        expect(library).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
        expect(page.locator("nav.bar a").first).to_have_attribute("aria-current", "true")
        field = page.get_by_role("textbox", name="Address of a catalogue")
        field.fill(server.at("/locked"))
        field.press("Enter")
        page.get_by_role("button", name="User and password").click()
        expect(page.get_by_role("dialog").get_by_label("Address")).to_have_value(server.at("/locked"))
        page.go_back()  # closes the dialog, and leads nowhere else
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(field).to_be_visible()
        for _ in range(2):  # the same answer again is an answer
            field.fill(server.at("/nothing"))
            field.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("has no page at this address")
            expect(field).to_be_focused()  # the field and what is wrong with it, together
            assert 0 < page.get_by_role("alert").bounding_box()["y"] - field.bounding_box()["y"] < 80
        field.fill(server.at("/opds"))
        field.press("Enter")
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
        page.go_back()
        expect(page.get_by_text("Nothing for “moonflet” here.")).to_be_visible()
        page.go_forward()
        expect(page.get_by_role("button", name="By subject")).to_be_visible()
        page.get_by_role("button", name="Read A lamp").click()
        expect(page).to_have_url(re.compile("/read"))
