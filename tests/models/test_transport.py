"""What people rely on of HTTP, through the client that calls are sent with: over a real socket."""

from __future__ import annotations

import socket
import ssl
import threading

import httpx2
import pytest

from readagent_core.models import connections, transport
from tests.fakes.http import TIMEOUT, serving
from tests.fakes.http import client as client
from tests.fakes.http import no_proxies as no_proxies
from tests.fakes.http import server as server


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("plain", "plain text"),
        ("packed", "packed text"),
        ("chunks", "onetwo"),
        ("old", "until the end"),
        ("go-on", "and the answer"),
        ("moved", "plain text"),
    ],
)
def test_bodies_of_every_kind(server, client, path, text):
    for _ in range(2):
        assert client.post(f"{server.url}/{path}", content="hello").text == text
    assert {body for _, _, body, _ in server.seen} == {b"hello"}


def test_headers_are_passed_on_as_they_are(server, client):
    reply = client.post(f"{server.url}/chunks", content="x", headers={"Authorization": "Bearer K"})
    assert reply.headers["X-Name"] == "café"
    assert server.seen[0][3]["Authorization"] == "Bearer K"
    assert server.seen[0][3]["Host"] == server.url.removeprefix("http://")
    assert "gzip" in server.seen[0][3]["Accept-Encoding"]


def test_a_connection_is_used_again(server, client):
    for path in ("plain", "chunks", "packed", "plain"):
        client.post(f"{server.url}/{path}", content="x")
    assert len({port for _, port, _, _ in server.seen}) == 1


def test_one_that_the_server_closed_meanwhile_is_not(server, client):
    for _ in range(5):
        assert client.post(f"{server.url}/then-closed", content="x").status_code == 200
        threading.Event().wait(0.05)  # the end has come
    assert len({port for _, port, _, _ in server.seen}) == 5


def test_one_that_was_kept_too_long_is_not(server, client, monkeypatch):
    client.post(f"{server.url}/plain", content="x")
    monkeypatch.setattr(connections, "KEPT_SECONDS", 0.0)
    client.post(f"{server.url}/plain", content="x")
    assert len({port for _, port, _, _ in server.seen}) == 2


def test_a_reply_that_is_not_read_to_its_end_is_never_mixed_with_the_next(server, client):
    with client.stream("POST", f"{server.url}/half", content="x") as reply:
        assert set(next(reply.iter_bytes())) == set(b"x")
    assert client.post(f"{server.url}/plain", content="x").text == "plain text"
    assert len({port for _, port, _, _ in server.seen}) == 2


def test_an_answer_that_nobody_asked_for_is_never_taken_for_the_next(server, client):
    for _ in range(3):
        assert client.post(f"{server.url}/too-much", content="x").text == "all of it"
        threading.Event().wait(0.05)  # the rest has come
        assert client.post(f"{server.url}/plain", content="x").text == "plain text"


def test_what_came_before_a_fault_is_given_out(server, client):
    with client.stream("POST", f"{server.url}/broken-chunks", content="x") as reply:
        parts = reply.iter_bytes()
        assert next(parts) == b"one"
        with pytest.raises(httpx2.RemoteProtocolError):
            next(parts)


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("short", httpx2.RemoteProtocolError),
        ("broken-chunks", httpx2.RemoteProtocolError),
        ("nonsense", httpx2.RemoteProtocolError),
        ("endless-headers", httpx2.RemoteProtocolError),
    ],
)
def test_faults_have_their_names_and_the_next_call_is_well(server, client, path, fault):
    with pytest.raises(fault):
        client.post(f"{server.url}/{path}", content="x")
    assert client.post(f"{server.url}/plain", content="x").text == "plain text"


def test_nobody_there(client):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(httpx2.ConnectError):
        client.post(f"http://127.0.0.1:{port}/plain", content="x")


def test_a_key_with_a_line_end_is_not_sent(server, client):
    with pytest.raises(httpx2.LocalProtocolError):
        client.post(f"{server.url}/plain", content="x", headers={"Authorization": "Bearer a\r\nX-Other: b"})
    assert not server.seen


def test_no_word_in_time(client):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(httpx2.ReadTimeout):
            client.post(address, content="x", timeout=httpx2.Timeout(0.2))


def test_ipv6(client):
    try:
        with serving(socket.AF_INET6) as server:
            assert client.post(f"{server.url}/plain", content="x").text == "plain text"
    except OSError:
        pytest.skip("this computer has no IPv6")


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_named_by_the_environment_is_used(server, monkeypatch, name):
    monkeypatch.setenv(name, server.url)
    with transport.client(TIMEOUT) as client:
        assert client.post("http://models.invalid/plain", content="x").text == "plain text"
    assert server.seen[0][0] == "http://models.invalid/plain"


# --- what else is asked of a server ---------------------------------------------------------------


def test_what_else_is_asked_follows_no_redirect_with_the_key_and_reads_no_certificates(server, monkeypatch):
    monkeypatch.setattr(ssl, "SSLContext", None)  # a server of one's own, over plain HTTP, needs none
    with transport.asking(2.0, {"x-api-key": "K"}) as client:
        assert client.post(f"{server.url}/plain", json={}).text == "plain text"
        assert client.post(f"{server.url}/moved", json={}).status_code == 307
    assert [(path, headers["x-api-key"]) for path, _, _, headers in server.seen] == [("/plain", "K"), ("/moved", "K")]


def test_what_else_is_asked_goes_through_a_proxy_too(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    with transport.asking(2.0, {}) as client:
        assert client.post("http://models.invalid/plain", json={}).text == "plain text"
    assert server.seen[0][0] == "http://models.invalid/plain"
