"""What people rely on of HTTP, through the client that calls are sent with: over a real socket."""

from __future__ import annotations

import gzip
import ipaddress

import pytest
from cryptography import x509

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import probe
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.server import FakeServer, Reply
from tests.fakes.silent import ANSWER, RawServer, endless
from tests.fakes.tls import make_certificate

KEY = "sk-marker-0123456789"


@pytest.fixture(autouse=True)
def no_settings_of_this_computer(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture
def model(model_at):
    return lambda where, key=KEY: model_at(where, api_key=Secret(key), window=10_000, silence=5.0)


def ask(model):
    return model.complete(Prompt("gist", "Are you there?"), CancelToken()).text


def moved(server):
    return Reply(status=307, headers={"Location": f"{server.url}/chat/completions"})


def test_the_key_follows_a_redirect_to_the_same_server_and_to_no_other(model):
    with FakeServer() as other, FakeServer(before=lambda n, text: [moved(server), None, moved(other)][n]) as server:
        assert [ask(model(server)), ask(model(server))] == ["OK.", "OK."]
        assert [chat.headers.get("authorization") for chat in server.chats] == [f"Bearer {KEY}"] * 3
    (sent,) = other.chats
    assert KEY not in str(sent)


def test_what_else_is_asked_follows_no_redirect():
    with FakeServer() as other:
        reply = b"HTTP/1.1 307 Moved\r\nContent-Length: 0\r\nLocation: " + other.url.encode() + b"/models\r\n\r\n"
        with RawServer(lambda: [reply]) as server, pytest.raises(errors.ModelError):
            probe.list_models(server.url, Secret(KEY))
        assert server.calls
        assert not other.requests


def test_a_fault_in_place_of_the_list_is_said():
    reply = b'HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n{"error": {"message": "No plan"}}'
    with RawServer(lambda: [reply]) as server, pytest.raises(errors.ModelError, match="failed"):
        probe.list_models(server.url, Secret())


def test_a_connection_is_used_again(model):
    with FakeServer() as server:
        asked = model(server)
        assert [ask(asked) for _ in range(3)] == ["OK."] * 3
    assert len({chat.port for chat in server.chats}) == 1


def test_a_packed_reply_is_unpacked(model):
    packed = gzip.compress(ANSWER)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with RawServer(lambda: [head + packed]) as server:
        assert ask(model(server)) == "Yes."


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"what is this\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\nzzz\r\n", b""),
        (b"HTTP/1.1 200 OK\r\n", b"X-Name: %s\r\n" % (b"y" * 500)),
    ],
    ids=["nonsense", "broken chunks", "endless headers"],
)
def test_bad_http_is_a_clear_error(model, head, part):
    with RawServer(endless(head, part)) as server, pytest.raises(errors.UnreachableError, match="broke"):
        ask(model(server))


def test_a_key_with_a_line_end_is_not_sent(model):
    with FakeServer() as server, pytest.raises(errors.ModelError) as caught:
        ask(model(server, key=f"{KEY}\r\nX-Other: b"))
    assert not server.requests
    assert KEY not in str(caught.value)


def test_a_proxy_named_by_the_environment_is_used(model, monkeypatch):
    with FakeServer() as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        assert ask(model("http://models.invalid/v1")) == "OK."
        assert probe.list_models("http://models.invalid/v1", Secret()).names == ()
    paths = [request.path for request in server.requests]
    assert paths == ["http://models.invalid/v1/chat/completions", "http://models.invalid/v1/models"]


@pytest.fixture
def tls(tmp_path):
    """(a server's context, the file of the one certificate it shows)."""
    return make_certificate(tmp_path, x509.IPAddress(ipaddress.ip_address("127.0.0.1")))


def test_a_certificate_of_ones_own_is_trusted_and_an_unknown_one_refused(tls, model, monkeypatch):
    context, certificate = tls
    with FakeServer(tls=context) as server:
        with pytest.raises(errors.UnreachableError):
            ask(model(server))
        assert not server.requests
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(model(server)) == "OK."
