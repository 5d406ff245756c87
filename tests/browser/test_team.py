"""Several people on one server: sign-in, two at once in two browsers, and attempts to reach what is the other's."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import itsdangerous
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from readagent_core.document import Document, Paragraph, Picture
from readagent_core.gisting.job import start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.library import Library
from readagent_core.settings import load_settings
from readagent_core.web_pages.steps import BookPages
from readagent_core.workspace import Workspace
from tests.browser.conftest import SIZE, go_to, press_in_more
from tests.loaders.test_pdf_picture import pages_of
from tests.team.sending import as_bytes, ask, claims_of, cookie_of, run_over_socket, signed
from tests.team.serving import ENVIRONMENT, home_of, team_server
from tests.web_pages.pages import shop

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
    """What Anna has. ``session``: the id of a session of hers; ``download``: the address of a file she downloaded."""

    home: Path
    book: str
    document: str
    picture: str
    pdf: str
    web: str
    session: str
    download: str


@pytest.fixture(scope="module")
def treasure(server: Server, anna: Page) -> Treasure:
    home = home_of(server.folder, "anna")
    settings = load_settings(ENVIRONMENT | {"READAGENT_HOME": str(server.folder / "home")}, person=home.name)
    workspace = Workspace(settings)
    picture = Picture("0" * 32, "image/png", b"\x89PNG")
    text = " ".join(f"{MARKER} walked on day {day}." for day in range(60))
    book = workspace.library.add(Document(f"{MARKER}'s diary", (Paragraph(text),), pictures=(picture,)))
    pdf = open_file(workspace, pages_of([f"The keeper {MARKER} lit the lamp."]), "lamp.pdf")
    web = open_file(workspace, shop(f"<p>{MARKER}'s lamps, by post.</p>").encode(), "shop.html")
    version = BookPages(workspace).open(web.id).version
    start_gisting(workspace, book.id).join(120)
    workspace.library.close()
    frames: list[bytes] = []
    anna.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(as_bytes(data))))
    anna.goto(f"{server.url}/read?book={book.id}")
    expect(anna.get_by_text(f"{MARKER} walked").first).to_be_visible()
    press_in_more(anna, "Export")
    with anna.expect_download() as saved:
        anna.locator(".st-key-export_md button").click()
    assert MARKER.encode() in saved.value.path().read_bytes()
    anna.keyboard.press("Escape")
    expect(anna.get_by_role("dialog")).to_have_count(0)
    session = re.search(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"".join(frames))
    assert session is not None
    return Treasure(
        home, book.id, book.document_id, picture.id, pdf.id, f"{web.id}/{version}", session[0].decode(), saved.value.url
    )


def test_what_is_hers_opens_for_her(server: Server, anna: Page, treasure: Treasure) -> None:
    """Without this the attempts below would prove nothing."""
    for path in addresses(treasure).values():
        assert anna.context.request.get(f"{server.url}{path}").ok, path
    assert anna.context.request.get(treasure.download).ok
    assert MARKER.encode() in run_over_socket(anna, server.url, f"book={treasure.book}", "read")
    for_her = {"Cookie": f"_streamlit_user={signed(claims_of(anna))}"}
    assert ask(f"{server.url}/original/{treasure.pdf}/facts", for_her)[0] == 200


def addresses(treasure: Treasure) -> dict[str, str]:
    return {
        "the facts of her PDF": f"/original/{treasure.pdf}/facts",
        "a page of her PDF": f"/original/{treasure.pdf}/v/1.jpg?width=400",
        "a web page she saved": f"/webpage/{treasure.web}",
        "a part of it": f"/webpage/{treasure.web}/1.txt",
        "a picture of her book": f"/picture/{treasure.document}/{treasure.picture}",
    }


def test_his_requests_do_not_reach_what_is_hers(server: Server, ben: Page, treasure: Treasure) -> None:
    tried = 0
    for name, path in addresses(treasure).items():
        assert ben.context.request.get(f"{server.url}{path}").status == 404, name
        assert ask(f"{server.url}{path}", {})[0] in (401, 404), f"{name}, nobody signed in"
        tried += 2
    assert ben.context.request.get(treasure.download).status == 404
    assert ask(treasure.download, {})[0] == 404
    start = f"{server.url}/original/{treasure.pdf}"
    places = {"text": f"The keeper {MARKER} lit the lamp.", "start": 4, "end": 10, "place": "p. 1"}
    assert ben.context.request.post(f"{start}/places", data=places).status == 404
    assert ben.context.request.post(f"{start}/password", data={"password": "a"}).status == 404
    upload = f"{server.url}/_stcore/upload_file/{treasure.session}/00000000-0000-0000-0000-000000000000"
    xsrf = {"X-Xsrftoken": unquote(cookie_of(ben, "_streamlit_xsrf"))}
    assert ben.context.request.put(upload, headers=xsrf, multipart={"file": "x"}).status == 404
    assert ben.context.request.delete(upload, headers=xsrf).status == 404
    tried += 6
    hers = f"people/{treasure.home.name}/library.db"
    for path in (
        f"/original/..%2f..%2f{hers}/facts",
        f"/picture/..%2f..%2f{hers}/x",
        f"/bundle/0/..%2f..%2fhome/{hers}",
        f"/static/..%2f..%2fhome/{hers}",
        f"/component/library/..%2f..%2f{hers}",
        f"/media/..%2f..%2f{hers}",
        f"/%2e%2e/home/{hers}",
        f"/app/static/..%2f..%2fhome/{hers}",
    ):
        status, body = ask(f"{server.url}{path}", {"Cookie": f"_streamlit_user={cookie_of(ben)}"})
        assert status in (400, 403, 404) or b"<title>ReadAgent" in body or b"<title>Streamlit" in body, path
        assert b"SQLite" not in body, path
        tried += 1
    assert tried == 24


def test_forged_cookies_and_headers_are_refused(server: Server, anna: Page, ben: Page, treasure: Treasure) -> None:
    hers, his = claims_of(anna), cookie_of(ben)
    body, at, signature = cookie_of(anna).rsplit(".", 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(itsdangerous.TimestampSigner, "get_timestamp", lambda _: int(time.time()) - 40 * 86_400)
        out_of_date = signed(hers)
    email = str(hers["email"])
    attempts = {
        "not signed": {"Cookie": f"_streamlit_user={json.dumps(hers)}"},
        "her claims under his signature": {"Cookie": f"_streamlit_user={body}.{'.'.join(his.rsplit('.', 2)[1:])}"},
        "changed by a letter": {"Cookie": f"_streamlit_user={body[:-2]}AA.{at}.{signature}"},
        "another secret": {"Cookie": f"_streamlit_user={signed(hers, 'another secret of the same length')}"},
        "out of date": {"Cookie": f"_streamlit_user={out_of_date}"},
        "of another server": {"Cookie": f"_streamlit_user={signed(hers | {'origin': 'http://127.0.0.1:1'})}"},
        "signed out": {"Cookie": f"_streamlit_user={signed(hers | {'is_logged_in': False})}"},
        "headers of a proxy": {"X-Forwarded-Email": email, "X-Forwarded-User": email, "Remote-User": email},
        "headers of Streamlit": {"X-Streamlit-User": email, "Streamlit-User": json.dumps(hers)},
    }
    for name, headers in attempts.items():
        assert ask(f"{server.url}/original/{treasure.pdf}/facts", headers)[0] == 401, name
    both = {"Cookie": f"_streamlit_user={his}", "X-Forwarded-Email": email}
    assert ask(f"{server.url}/original/{treasure.pdf}/facts", both)[0] == 404


def test_his_sessions_do_not_reach_what_is_hers(server: Server, ben: Page, treasure: Treasure) -> None:
    for screen in ("read", "ask", "compare", "act", ""):
        found = run_over_socket(ben, server.url, f"book={treasure.book}", screen)
        # he sees his own books, or, where one is named that is not his, is told so
        assert b"Harrow" in found or b"names a book that is not in this library" in found, screen
        assert MARKER.encode() not in found, screen
    found = run_over_socket(ben, server.url, f"book={treasure.book}", "read", session=treasure.session)
    assert MARKER.encode() not in found
    assert not run_over_socket(ben, server.url, "", "read", origin="http://another.example")
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


def test_the_audit_log_has_no_content(server: Server, anna: Page, ben: Page, treasure: Treasure) -> None:
    log = (server.folder / "home" / "audit.jsonl").read_text(encoding="utf-8")
    acts = {(line["person"], line["act"]) for line in map(json.loads, log.splitlines())}
    assert (treasure.home.name, "signed in") in acts
    assert MARKER not in log
    assert "@" not in log


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
