"""The addresses of the pages of a PDF answer for books of the library only, and with nothing that could be misused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts.library import cards
from pages.parts.read import original
from pages.parts.shared import covers
from readagent_core.workspace import Workspace
from tests.library.test_original_pages import opened
from tests.loaders.test_pdf import locked
from tests.loaders.test_pdf_picture import pages_of

JSON = {"Content-Type": "application/json"}
TEXT = "The keeper lit the lamp before it was dark."


@pytest.fixture
def client(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(original, "workspace_of_request", lambda request: workspace)
    yield TestClient(Starlette(routes=original.original_routes("/base")), base_url="http://localhost/base/original/")
    workspace.originals.close()


def test_facts_pictures_and_places(client: TestClient, workspace: Workspace) -> None:
    book = opened(workspace, pages_of([TEXT]), "lamp.pdf")
    assert original.original_of(book) == book.id
    facts = client.get(f"{book.id}/facts").json()
    assert (facts["pages"], facts["labels"]) == (1, [])
    picture = client.get(f"{book.id}/{facts['version']}/1.jpg?width=400")
    assert picture.content.startswith(b"\xff\xd8")
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert picture.headers["cross-origin-resource-policy"] == "same-origin"
    assert picture.headers["cache-control"].startswith("private")
    asked = {"text": TEXT, "start": 4, "end": 10, "place": "p. 1"}
    found = client.post(f"{book.id}/places", json=asked)
    ((number, ((left, top, right, bottom),)),) = found.json()["places"]
    assert number == 1
    assert 0 < left < right < 1
    assert 0 < top < bottom < 1
    assert found.headers["cache-control"] == "no-store"


def test_what_is_refused(client: TestClient, workspace: Workspace) -> None:
    book = opened(workspace, pages_of([TEXT]), "lamp.pdf")
    text = opened(workspace, b"Some words of a text.", "a.txt")
    workspace.library.remove_original(text.id)
    assert original.original_of(text) is None
    refused = {
        f"{book.id}/v/2.jpg?width=400": 422,
        f"{book.id}/v/1.jpg?width=100000": 400,
        f"{book.id}/v/1.jpg?width=-1": 400,
        f"{book.id}/v/1.jpg": 400,
        f"{book.id}/v/1.jpg?width={'4' * 5000}": 400,
        f"{book.id}/v/{'1' * 5000}.jpg?width=400": 422,
        "000000000000/facts": 404,
        "..%2f..%2flibrary/facts": 404,
        f"{text.id}/facts": 404,
    }
    assert {path: client.get(path).status_code for path in refused} == refused
    assert "no page 2" in client.get(f"{book.id}/v/2.jpg?width=400").json()["text"]


def test_what_is_sent_must_be_json_of_some_size(client: TestClient, workspace: Workspace) -> None:
    book = opened(workspace, pages_of([TEXT]), "lamp.pdf")
    form = {"Content-Type": "text/plain"}  # what a form of another site may send
    assert client.post(f"{book.id}/password", content=b'{"password": "a"}', headers=form).status_code == 415
    assert client.post(f"{book.id}/places", json={"text": "a" * (1 << 20)}).status_code == 413
    asked = {"text": TEXT, "start": 1, "end": 3, "place": "p. 1"}
    wrong = [{}, [], asked | {"start": "x"}, asked | {"end": True}, asked | {"text": 7}, asked | {"place": None}]
    sent = [json.dumps(value) for value in (*wrong, asked | {"start": math.inf}, asked | {"end": math.nan})]
    sent += ["[" * 100_000, '{"text":' * 100_000, json.dumps(asked).replace("3", "1e999"), "9" * 5_000, "\udcff"]
    for body in sent:
        for name in ("places", "password"):
            answer = client.post(f"{book.id}/{name}", content=body.encode("utf-8", "surrogateescape"), headers=JSON)
            assert answer.status_code == 400, (name, body[:60])
    for number in (2**63, 10**400, -(10**400)):
        found = client.post(f"{book.id}/places", content=json.dumps(asked | {"end": number}), headers=JSON)
        assert found.status_code in (200, 400)


def test_a_locked_pdf(client: TestClient, workspace: Workspace) -> None:
    book = opened(workspace, locked("secret", "owner"), "locked.pdf", password="secret")
    refused = client.get(f"{book.id}/facts")
    assert (refused.status_code, refused.json()["locked"]) == (403, True)
    wrong = client.post(f"{book.id}/password", json={"password": "guess"})
    assert (wrong.status_code, wrong.json()["locked"]) == (403, True)
    assert "guess" not in wrong.text
    assert client.post(f"{book.id}/password", json={"password": "secret"}).status_code == 200
    assert client.get(f"{book.id}/facts").status_code == 200


def test_the_cover_of_a_pdf_is_its_first_page(workspace: Workspace) -> None:
    book = opened(workspace, pages_of([TEXT]), "lamp.pdf")
    secret = opened(workspace, locked("secret", "owner"), "locked.pdf", password="secret")
    for card in workspace.library.cards():
        assert cards.book_record(card, None, original=True)["cover"]
    address = covers.thumbnail(workspace.library, book)
    assert address is not None
    assert address.startswith("data:image/jpeg;base64,")
    assert covers.thumbnail(workspace.library, secret) is None  # no page of it without the password
