"""The second listener over real requests: who is let in, the catalogue as other apps ask for it, and our own client."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import pytest

from readagent_core.document import Cover
from readagent_core.incoming import catalogues
from readagent_core.secret import Secret
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.browser.conftest import running_app
from tests.loaders.picturing import encode, photo
from tests.sharing.network import Network, home_network
from tests.sharing.test_progress import epub, koreader
from tests.team.sending import run_with_cookies


class Shared(NamedTuple):
    network: Network
    port: int
    password: str
    workspace: Workspace


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    home = tmp_path_factory.mktemp("shared") / "home"
    with home_network() as network, running_app(home, READAGENT_SHARE=network.host) as url:
        workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
        password = json.loads((home / "share.json").read_text())["password"]
        yield Shared(network, urlsplit(url).port or 0, password, workspace)
        workspace.library.close()


def ask(
    shared: Shared, path: str, method: str = "GET", body: str | None = None, by: str = "", **headers: str
) -> Answer:
    """What the shared app answers. ``by``: the address that the request comes from, the phone's without it."""
    there = (by or shared.network.phone, 0)
    connection = http.client.HTTPConnection(shared.network.host, shared.port, timeout=30, source_address=there)
    with closing(connection):
        with shared.network.inside():
            connection.connect()
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def key_of(shared: Shared) -> str:
    return hashlib.md5(shared.password.encode()).hexdigest()


def test_forty_attempts_and_none_succeeds(shared, record_property):
    record_property("asked", shared.network.told)
    print(shared.network.told)
    ask_as = partial(ask, shared, by=shared.network.guesser)  # whoever guesses has to wait, nobody else
    evil, form = "http://evil.example", "application/x-www-form-urlencoded"
    right = urlencode({"password": shared.password})
    words = "/ /read /ask /settings /picture/0/0 /original/0/facts /_stcore/health /media/x.txt /_stcore/host-config"
    paths = [*words.split(), "/_stcore/metrics", "/bundle/0/library/main.js", "/webpage/0/0", "/static/x.js"]
    attempts = [ask_as(path) for path in paths]  # 13 without a password
    forged = [f"readagent_device={value}" for value in ("x", key_of(shared))]
    attempts += [ask_as(path, Cookie=cookie) for path in paths[:4] for cookie in forged]
    attempts += [ask_as(p) for p in ("/opds", "/opds/books", "/users/auth", "/syncs/progress/x", "/sync/users/auth")]
    attempts += [ask_as("/opds", Authorization="Bearer x"), ask_as("/users/auth", x_auth_key=shared.password)]
    # the right password, but a page of another site sends it, or a name that only leads here (DNS rebinding)
    attempts += [ask_as("/sign-in", "POST", right, Origin=evil, Content_Type=form)]
    attempts += [ask_as(p, Host=f"rebound.example:{shared.port}") for p in ("/", "/opds", "/users/auth")]
    attempts += [ask_as("/sign-in", "POST", right, Host=f"rebound.example:{shared.port}", Content_Type=form)]
    attempts += [ask_as("/users/auth", Origin=evil, x_auth_key=key_of(shared))]
    attempts += [ask_as("/sign-in", "POST", "password=wrong&to=//evil.example", Content_Type=form) for _ in range(2)]
    assert sorted({one.status for one in attempts}) == [401, 403, 421]
    assert not any("set-cookie" in one.headers for one in attempts)
    assert not any(shared.password.encode() in one.body or b"Harrow" in one.body for one in attempts)
    own = f"http://{shared.network.host}:{shared.port}"
    with shared.network.inside():
        sockets = [
            run_with_cookies(cookies, own, origin=origin, host=host)
            for cookies in ({}, {"readagent_device": "x"}, {"readagent_device": key_of(shared)})
            for origin, host in ((own, ""), (evil, ""), (f"http://rebound.example:{shared.port}", "rebound.example"))
        ]
    assert set(sockets) == {b""}
    assert len(attempts) + len(sockets) >= 40


def test_a_device_signs_in_and_out(shared):
    form = "application/x-www-form-urlencoded"
    page = ask(shared, "/read?book=1", Accept="text/html")
    assert (page.status, page.headers["x-frame-options"]) == (401, "DENY")
    assert b'name="to" value="/read?book=1"' in page.body
    signed = ask(shared, "/sign-in", "POST", urlencode({"password": shared.password, "to": "/read"}), Content_Type=form)
    assert (signed.status, signed.headers["location"]) == (303, "/read")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(signed.headers["set-cookie"].split("; "))
    cookie = signed.headers["set-cookie"].split(";")[0]
    assert ask(shared, "/read", Cookie=cookie).status == 200
    name, _, value = cookie.partition("=")
    with shared.network.inside():
        assert run_with_cookies({name: value}, f"http://{shared.network.host}:{shared.port}")
    away = ask(
        shared, "/sign-in", "POST", urlencode({"password": shared.password, "to": "//evil.example"}), Content_Type=form
    )
    assert away.headers["location"] == "/"
    assert ask(shared, "/sign-out", "POST", "", Cookie=cookie).status == 303
    assert ask(shared, "/read", Cookie=cookie).status == 401
    with urllib.request.urlopen(f"http://127.0.0.1:{shared.port}/read", timeout=30) as itself:
        assert itself.status == 200


def test_our_own_client_browses_searches_and_adds(shared, workspace):
    """As readest asks: Basic, the description of the search, thumbnail, then the file."""
    from readagent_core.incoming.opening import open_file

    sent = open_file(shared.workspace, epub(), "log.epub")
    address = f"http://{shared.network.host}:{shared.port}/opds"
    found, page = catalogues.try_catalogue(workspace, address, "anybody", Secret(shared.password))
    assert (found.home, page.entries[0].title) == (True, "All books")
    catalogues.keep_catalogue(workspace, found, Secret(shared.password))
    hits = catalogues.search(workspace, found, page, "the log")
    assert [(one.title, one.offer) for one in hits.entries] == [("The log", "free")]
    book = catalogues.add_from_catalogue(workspace, found, hits.entries[0])
    assert book.document_id == sent.document_id
    everything = catalogues.open_page(workspace, found, page.entries[0].address)
    assert everything.total == len(everything.entries) == len(shared.workspace.library.cards())


def test_as_readest_and_koreader_ask_for_a_catalogue(shared):
    """Both send the password at once and ask with HEAD before; KOReader wants no compression."""
    from readagent_core.incoming.opening import open_file

    library = shared.workspace.library
    document = library.document(open_file(shared.workspace, epub(5), "log.epub").id)
    picture = encode(photo(60, 90), "PNG")
    library.add(replace(document, cover=Cover(picture, "image/png")))
    secret = base64.b64encode(f"reader:{shared.password}".encode()).decode()
    asks = {
        "readest": {"Authorization": f"Basic {secret}",
                    "Accept": "application/atom+xml, application/xml, text/xml, */*"},
        "koreader": {"Authorization": f"Basic {secret}", "Accept_Encoding": "identity",
                     "Accept": "application/opds+json, application/atom+xml;profile=opds-catalog, */*"},
    }  # fmt: skip
    atom, opds = "{http://www.w3.org/2005/Atom}", "http://opds-spec.org"
    for headers in asks.values():

        def get(path: str, headers: dict[str, str] = headers) -> Answer:
            head, whole = ask(shared, path, "HEAD", **headers), ask(shared, path, **headers)
            assert (head.status, whole.status, head.body) == (200, 200, b"")
            assert head.headers["content-type"] == whole.headers["content-type"]
            return whole

        root = ElementTree.fromstring(get("/opds").body)
        links = {link.get("rel"): link for link in root.findall(f"{atom}link")}
        described = ElementTree.fromstring(get(links["search"].get("href", "")).body)
        (url,) = [one for one in described if one.tag.endswith("Url")]
        assert "application/atom+xml" in url.get("type", "")
        found = ElementTree.fromstring(get(url.get("template", "").replace("{searchTerms}", "the%20log")).body)
        books = found.findall(f"{atom}entry")
        files = [link for book in books for link in book.findall(f"{atom}link") if opds in link.get("rel", "")]
        (file,) = [link for link in files if link.get("href", "").endswith("log.epub")][-1:]
        answer = get(file.get("href", ""))
        assert (answer.body, answer.headers["content-type"]) == (epub(5), "application/epub+zip")
        assert answer.headers["content-disposition"].endswith("log.epub")
        covers = [link for link in files if "/image" in link.get("rel", "")]
        assert [get(link.get("href", "")).body for link in covers] == [picture] * 2  # whole, and as thumbnail


def test_koreader_signs_in_and_keeps_its_place(shared):
    from readagent_core.incoming.opening import open_file

    book = open_file(shared.workspace, epub(), "log.epub")
    headers = {"x_auth_user": "reader", "x_auth_key": key_of(shared), "Accept": "application/vnd.koreader.v1+json"}
    created = ask(shared, "/users/create", "POST", json.dumps({"username": "reader", "password": key_of(shared)}))
    assert (created.status, json.loads(created.body)) == (201, {"username": "reader"})
    assert ask(shared, "/users/auth", **headers).status == 200
    sent = koreader(epub(), "/body/DocFragment[2]/body/div/p[3]/text().4", 0.4)
    known = {"metadata": {"title": "The log", "description": "x" * 9000},
             "identifiers": [{"type": "content", "value": sent["document"]}]}  # fmt: skip
    put = ask(shared, "/syncs/progress", "PUT", json.dumps(sent | known), Content_Type="application/json", **headers)
    assert put.status == 200
    assert shared.workspace.library.position(book.id).paragraph > 0
    ids = f"?ids=content:{sent['document']}"
    got = json.loads(ask(shared, f"/sync/syncs/progress/{sent['document']}{ids}", **headers).body)
    assert {name: got[name] for name in sent} == sent
    for body in ("{", "[]", '{"document": 5}', "[" * 3000):
        assert ask(shared, "/users/create", "POST", body).status == 402
        assert ask(shared, "/syncs/progress", "PUT", body, **headers).status == 403
    assert ask(shared, "/syncs/progress", "PUT", "x" * 70_000, **headers).status == 403
