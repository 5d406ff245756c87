"""Several people on one server: sign-in, two at once in two browsers, and attempts to reach what is the other's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from readagent_core.document import Document, Paragraph
from readagent_core.gisting.job import start_gisting
from readagent_core.library import Library
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import SIZE, go_to, press_in_more
from tests.team.sending import as_bytes, ask, run_over_socket
from tests.team.serving import ENVIRONMENT, home_of, team_server

MARKER = "Zephyrine"  # in everything that Anna has


@dataclass
class Server:
    url: str
    folder: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("team")
    with team_server(folder) as url:
        yield Server(url, folder)


@pytest.fixture(scope="module")
def annas(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser of Anna's own."""
    context = chromium.new_context(viewport=SIZE)
    yield context
    context.close()


@pytest.fixture(scope="module")
def bens(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport=SIZE)
    yield context
    context.close()


def choose_account(page: Page, name: str) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=name, exact=True).first.click()


def is_signed_in(context: BrowserContext) -> bool:
    return any(cookie["name"] == "_streamlit_user" for cookie in context.cookies())


def sign_in(context: BrowserContext, server: Server, name: str) -> Page:
    page = context.new_page()
    page.goto(server.url)
    choose_account(page, name)
    expect(page.get_by_text("The Keeper of Harrow Light").first).to_be_visible()
    return page


@pytest.fixture(scope="module")
def anna(annas: BrowserContext, server: Server) -> Page:
    return sign_in(annas, server, "anna")


@pytest.fixture(scope="module")
def ben(bens: BrowserContext, server: Server) -> Page:
    return sign_in(bens, server, "ben")


def test_nothing_is_shown_before_sign_in_and_nobody_else_is_signed_in(
    server: Server, annas: BrowserContext, bens: BrowserContext
) -> None:
    page = annas.new_page()
    page.goto(server.url)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_text("Harrow")).to_have_count(0)
    for screen in ("", "read", "ask", "settings"):
        found = run_over_socket(page, server.url, "", screen)
        assert b"Sign in" in found, screen
        assert b"Harrow" not in found, screen

    # A sign-in that somebody else began signs nobody in.
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="ben", exact=True).first).to_be_visible()
    chosen = annas.request.post(page.url, form={"sub": "ben"}, max_redirects=0)
    callback = chosen.headers["location"]
    victim = bens.new_page()
    victim.goto(callback)
    expect(victim.get_by_role("button", name="Sign in")).to_be_visible()
    assert not is_signed_in(bens)
    annas.request.get(callback, max_redirects=0)
    assert is_signed_in(annas)  # the same address signs in who began
    annas.clear_cookies()
    page.close()

    # An address of another domain is refused.
    choose_account(victim, "eve")
    expect(victim.get_by_text("is not admitted here")).to_be_visible()
    expect(victim.get_by_text("Harrow")).to_have_count(0)
    assert bens.request.get(f"{server.url}/original/0/facts").status == 401
    victim.close()
    bens.clear_cookies()
    with pytest.raises(AssertionError):
        home_of(server.folder, "eve")


@dataclass
class Treasure:
    """What Anna has. ``download``: the address of a file she downloaded."""

    home: Path
    book: str
    download: str


@pytest.fixture(scope="module")
def treasure(server: Server, anna: Page) -> Treasure:
    home = home_of(server.folder, "anna")
    settings = load_settings(ENVIRONMENT | {"READAGENT_HOME": str(server.folder / "home")}, person=home.name)
    workspace = Workspace(settings)
    text = " ".join(f"{MARKER} walked on day {day}." for day in range(60))
    book = workspace.library.add(Document(f"{MARKER}'s diary", (Paragraph(text),)))
    start_gisting(workspace, book.id).join(120)
    workspace.library.close()
    anna.goto(f"{server.url}/read?book={book.id}")
    expect(anna.get_by_text(f"{MARKER} walked").first).to_be_visible()
    press_in_more(anna, "Export")
    with anna.expect_download() as saved:
        anna.locator(".st-key-export_md button").click()
    assert MARKER.encode() in saved.value.path().read_bytes()
    anna.keyboard.press("Escape")
    expect(anna.get_by_role("dialog")).to_have_count(0)
    return Treasure(home, book.id, saved.value.url)


def test_a_browser_that_names_her_book_for_his_own_gets_nothing(
    server: Server, anna: Page, ben: Page, treasure: Treasure
) -> None:
    """More attempts are in tests/team/test_attempts.py."""
    assert anna.context.request.get(treasure.download).ok
    assert ben.context.request.get(treasure.download).status == 404
    assert ask(treasure.download, {})[0] == 404
    own = Library(home_of(server.folder, "ben"))
    book = own.books()[0].id
    own.close()
    tab = ben.context.new_page()

    changed: list[int] = []

    def exchange(socket: WebSocketRoute) -> None:
        to_server = socket.connect_to_server()

        def send(data: str | bytes) -> None:
            message = as_bytes(data)
            changed.extend([len(message)] if book.encode() in message else [])
            to_server.send(message.replace(book.encode(), treasure.book.encode()))

        socket.on_message(send)

    tab.route_web_socket("**/_stcore/stream", exchange)  # every message of his browser names her book for his own
    tab.goto(f"{server.url}/read?book={book}")
    expect(tab.get_by_text("names a book that is not in this library").first).to_be_visible()
    assert MARKER not in tab.content()
    assert changed
    tab.close()


def test_a_published_shelf_is_copied_and_the_people_screen_is_for_administrators(
    server: Server, anna: Page, ben: Page, treasure: Treasure
) -> None:
    library = Library(treasure.home)
    library.add_shelf("Diaries", [treasure.book])
    library.close()
    go_to(anna, "Shared")
    anna.get_by_role("button", name="Publish").click()
    expect(anna.get_by_text("Published by you")).to_be_visible()
    go_to(ben, "Shared")
    expect(ben.get_by_role("button", name="Add to my library")).to_be_visible()
    expect(ben.get_by_role("button", name="Withdraw")).to_have_count(0)
    ben.get_by_role("button", name="Add to my library").click()
    ben.get_by_role("link", name="In your library").click()
    expect(ben.get_by_text(f"{MARKER} walked").first).to_be_visible()
    go_to(anna, "People")
    expect(anna.get_by_test_id("stDataFrame")).to_be_visible()
    assert b"anna@example.org" not in run_over_socket(ben, server.url, "", "people")
    anna.get_by_role("button", name="Block").click()
    expect(anna.get_by_role("button", name="Admit again")).to_be_visible()
    go_to(ben, "Library")
    expect(ben.get_by_text("This account is blocked")).to_be_visible()
    log = (server.folder / "home" / "audit.jsonl").read_text(encoding="utf-8")
    assert all(f'"{act}"' in log for act in ("published", "copied", "blocked"))
    assert MARKER not in log


def test_after_sign_out_nothing_is_shown(server: Server, anna: Page) -> None:
    go_to(anna, "Settings")
    anna.get_by_role("tab", name="Account").click()
    expect(anna.get_by_text("anna@example.org")).to_be_visible()
    with anna.expect_request("**/auth/logout*") as asked:
        anna.get_by_role("button", name="Sign out").click()
    assert asked.value.response()
    page = anna.context.new_page()  # the other one is at the provider
    page.goto(server.url)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
