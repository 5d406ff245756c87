"""Attempts of one person, or of nobody, to reach what another has on a server for several people: by its addresses."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import itsdangerous
import pytest

from readagent_core.document import Document, Paragraph, Picture
from readagent_core.gisting.job import start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings
from readagent_core.web_pages.steps import BookPages
from readagent_core.workspace import Workspace
from tests.loaders.test_pdf_picture import pages_of
from tests.team.sending import ask, claims_in, cookies_of, run_with_cookies, signed
from tests.team.serving import ENVIRONMENT, home_of, team_server
from tests.web_pages.pages import shop

MARKER = "Zephyrine"  # in everything that Anna has


@dataclass
class Treasure:
    """What Anna has. ``url``: the server's. ``session``: the id of a session of hers, which is open no more."""

    url: str
    folder: Path
    home: Path
    book: str
    document: str
    picture: str
    pdf: str
    web: str
    session: str
    annas: dict[str, str]
    bens: dict[str, str]

    @property
    def addresses(self) -> dict[str, str]:
        return {
            "the facts of her PDF": f"/original/{self.pdf}/facts",
            "a page of her PDF": f"/original/{self.pdf}/v/1.jpg?width=400",
            "a web page she saved": f"/webpage/{self.web}",
            "a part of it": f"/webpage/{self.web}/1.txt",
            "a picture of her book": f"/picture/{self.document}/{self.picture}",
        }


@pytest.fixture(scope="module")
def hers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Treasure]:
    folder = tmp_path_factory.mktemp("team")
    with team_server(folder) as url:
        annas, bens = cookies_of(url, "anna"), cookies_of(url, "ben")
        assert b"Harrow" in run_with_cookies(annas, url)
        assert b"Harrow" in run_with_cookies(bens, url)
        home = home_of(folder, "anna")
        settings = load_settings(ENVIRONMENT | {"READAGENT_HOME": str(folder / "home")}, person=home.name)
        workspace = Workspace(settings)
        picture = Picture("0" * 32, "image/png", b"\x89PNG")
        text = " ".join(f"{MARKER} walked on day {day}." for day in range(60))
        book = workspace.library.add(Document(f"{MARKER}'s diary", (Paragraph(text),), pictures=(picture,)))
        pdf = open_file(workspace, pages_of([f"The keeper {MARKER} lit the lamp."]), "lamp.pdf")
        web = open_file(workspace, shop(f"<p>{MARKER}'s lamps, by post.</p>").encode(), "shop.html")
        version = BookPages(workspace).open(web.id).version
        start_gisting(workspace, book.id).join(120)
        workspace.library.close()
        session = re.search(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", run_with_cookies(annas, url))
        assert session is not None
        yield Treasure(
            url, folder, home, book.id, book.document_id, picture.id, pdf.id, f"{web.id}/{version}",
            session[0].decode(), annas, bens,
        )  # fmt: skip


def sent(cookies: dict[str, str]) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def send(method: str, url: str, cookies: dict[str, str], data: bytes, kind: str) -> int:
    """The status that a browser with these cookies gets for what it sends; with the token against forged requests."""
    headers = {**sent(cookies), "Content-Type": kind, "X-Xsrftoken": cookies["_streamlit_xsrf"]}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_what_is_hers_opens_for_her(hers: Treasure) -> None:
    """Without this the attempts below would prove nothing."""
    for path in hers.addresses.values():
        assert ask(f"{hers.url}{path}", sent(hers.annas))[0] == 200, path
    assert MARKER.encode() in run_with_cookies(hers.annas, hers.url, f"book={hers.book}", "read")
    places = json.dumps({"text": f"The keeper {MARKER} lit the lamp.", "start": 4, "end": 10, "place": "p. 1"}).encode()
    assert send("POST", f"{hers.url}/original/{hers.pdf}/places", hers.annas, places, "application/json") == 200


def test_his_requests_do_not_reach_what_is_hers(hers: Treasure) -> None:
    for name, path in hers.addresses.items():
        assert ask(f"{hers.url}{path}", sent(hers.bens))[0] == 404, name
        assert ask(f"{hers.url}{path}", {})[0] in (401, 404), f"{name}, nobody signed in"
    start = f"{hers.url}/original/{hers.pdf}"
    places = json.dumps({"text": f"The keeper {MARKER} lit the lamp.", "start": 4, "end": 10, "place": "p. 1"}).encode()
    assert send("POST", f"{start}/places", hers.bens, places, "application/json") == 404
    assert send("POST", f"{start}/password", hers.bens, b'{"password": "a"}', "application/json") == 404
    upload = f"{hers.url}/_stcore/upload_file/{hers.session}/00000000-0000-0000-0000-000000000000"
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--x--\r\n'
    assert send("PUT", upload, hers.bens, form, "multipart/form-data; boundary=x") == 404
    assert send("DELETE", upload, hers.bens, b"", "text/plain") == 404
    library = f"people/{hers.home.name}/library.db"
    for path in (
        f"/original/..%2f..%2f{library}/facts",
        f"/picture/..%2f..%2f{library}/x",
        f"/bundle/0/..%2f..%2fhome/{library}",
        f"/static/..%2f..%2fhome/{library}",
        f"/component/library/..%2f..%2f{library}",
        f"/media/..%2f..%2f{library}",
        f"/%2e%2e/home/{library}",
        f"/app/static/..%2f..%2fhome/{library}",
    ):
        status, body = ask(f"{hers.url}{path}", sent(hers.bens))
        assert status in (400, 403, 404) or b"<title>ReadAgent" in body or b"<title>Streamlit" in body, path
        assert b"SQLite" not in body, path


def test_forged_cookies_and_headers_are_refused(hers: Treasure) -> None:
    claims, his = claims_in(hers.annas["_streamlit_user"]), hers.bens["_streamlit_user"]
    body, at, signature = hers.annas["_streamlit_user"].rsplit(".", 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(itsdangerous.TimestampSigner, "get_timestamp", lambda _: int(time.time()) - 40 * 86_400)
        out_of_date = signed(claims)
    email = str(claims["email"])
    attempts = {
        "not signed": {"Cookie": f"_streamlit_user={quote(json.dumps(claims))}"},
        "her claims under his signature": {"Cookie": f"_streamlit_user={body}.{'.'.join(his.rsplit('.', 2)[1:])}"},
        "changed by a letter": {"Cookie": f"_streamlit_user={body[:-2]}AA.{at}.{signature}"},
        "another secret": {"Cookie": f"_streamlit_user={signed(claims, 'another secret of the same length')}"},
        "out of date": {"Cookie": f"_streamlit_user={out_of_date}"},
        "of another server": {"Cookie": f"_streamlit_user={signed(claims | {'origin': 'http://127.0.0.1:1'})}"},
        "signed out": {"Cookie": f"_streamlit_user={signed(claims | {'is_logged_in': False})}"},
        "headers of a proxy": {"X-Forwarded-Email": email, "X-Forwarded-User": email, "Remote-User": email},
        "headers of Streamlit": {"X-Streamlit-User": email, "Streamlit-User": json.dumps(claims)},
    }
    for name, headers in attempts.items():
        assert ask(f"{hers.url}/original/{hers.pdf}/facts", headers)[0] == 401, name
    both = {"Cookie": f"_streamlit_user={his}", "X-Forwarded-Email": email}
    assert ask(f"{hers.url}/original/{hers.pdf}/facts", both)[0] == 404


def test_his_sessions_do_not_reach_what_is_hers(hers: Treasure) -> None:
    for screen in ("read", "ask", "compare", "act", ""):
        found = run_with_cookies(hers.bens, hers.url, f"book={hers.book}", screen)
        # he sees his own books, or, where one is named that is not his, is told so
        assert b"Harrow" in found or b"names a book that is not in this library" in found, screen
        assert MARKER.encode() not in found, screen
    found = run_with_cookies(hers.bens, hers.url, f"book={hers.book}", "read", session=hers.session)
    assert MARKER.encode() not in found
    assert not run_with_cookies(hers.bens, hers.url, "", "read", origin="http://another.example")


def test_the_audit_log_has_no_content(hers: Treasure) -> None:
    log = (hers.folder / "home" / "audit.jsonl").read_text(encoding="utf-8")
    acts = {(line["person"], line["act"]) for line in map(json.loads, log.splitlines())}
    assert (hers.home.name, "signed in") in acts
    assert MARKER not in log
    assert "@" not in log
