"""What people rely on of HTTP, through the client that calls are sent with: over a real socket, plain and TLS."""

from __future__ import annotations

import datetime
import gzip
import ipaddress
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from readagent_core.models import transport
from readagent_core.models.base import Watch
from readagent_core.models.openai_server import OpenAIServer
from readagent_core.prompts import Prompt

TIMEOUT = httpx2.Timeout(2.0, connect=2.0, pool=None)


class Handler(BaseHTTPRequestHandler):
    """Answers by the path; ``seen``: (path, client's port, body) of every call."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_): ...

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.client_address[1], body, dict(self.headers)))
        name = self.path.rsplit("/", 1)[-1]
        if name == "moved":
            self.answer(b"", status=307, Location="/plain")
        elif name == "packed":
            self.answer(gzip.compress(b"packed text"), **{"Content-Encoding": "gzip"})
        elif name == "short":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
            self.close_connection = True
        elif name == "old":
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")
            self.close_connection = True
        elif name == "then-closed":
            self.answer(b"closing soon, without a word of it")
            self.close_connection = True
        elif name == "chunks":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Name: caf\xe9\r\n\r\n")
            self.wfile.write(b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
        elif name == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50)
            self.rfile.read(1)  # until the client goes
            self.close_connection = True
        elif name == "go-on":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\nX-Early: yes\r\n\r\n")
            self.answer(b"and the answer")
        elif name == "too-much":
            self.answer(b"all of it")
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmore")
        elif name == "endless-headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            with suppress(OSError):
                for n in range(10_000):
                    self.wfile.write(b"X-%d: %s\r\n" % (n, b"y" * 500))
            self.close_connection = True
        elif name == "broken-chunks":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\nzzz\r\n")
        elif name == "busy":
            self.answer(b"try later", status=503, **{"Retry-After": "2"})
        elif self.path == "/v1/chat/completions" and self.server.moved:
            self.answer(b"", status=307, Location="/v2/chat/completions")
        elif name == "completions":
            self.answer(b'{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}')
        elif name == "nonsense":
            self.wfile.write(b"what is this\r\n\r\n")
            self.close_connection = True
        else:
            self.answer(b"plain text")

    def answer(self, body, *, status=200, **headers):
        self.send_response(status)
        for header, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that went away."""


@contextmanager
def serving(family=socket.AF_INET, tls=None):
    host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    kind = type("Of", (Server,), {"address_family": family})
    server = kind((host, 0), Handler)
    server.seen, server.moved = [], False
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    server.url = f"{'https' if tls else 'http'}://{shown}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    with serving() as found:
        yield found


@pytest.fixture
def client():
    with transport.client(TIMEOUT) as found:
        yield found


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
    monkeypatch.setattr(transport, "KEPT_SECONDS", 0.0)
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


# --- the same call again --------------------------------------------------------------------------


def test_again_is_the_same_call_with_another_body(server, client):
    with client.stream("POST", f"{server.url}/chunks", content="one", headers={"Authorization": "Bearer K"}) as reply:
        reply.read()
        again = transport.Again.of(reply)
    for body in (b"second", "第三".encode()):
        answer = again.send(body)
        assert (answer.status_code, answer.read()) == (200, b"onetwo")
        answer.close()
    (_, port, _, first), *others = server.seen
    assert [body for _, _, body, _ in others] == [b"second", "第三".encode()]
    for _, port_now, body, headers in others:
        assert port_now == port
        assert headers == {**first, "Content-Length": str(len(body))}


def test_again_a_packed_answer_is_unpacked_and_a_refusal_is_told(server, client):
    for path, status, text in (("packed", 200, "packed text"), ("busy", 503, "try later")):
        reply = client.post(f"{server.url}/{path}", content="x")
        answer = transport.Again(reply.extensions[transport.CONNECTIONS], reply.request).send(b"y")
        answer.read()
        assert (answer.status_code, answer.text) == (status, text)
        answer.close()
    assert answer.headers["Retry-After"] == "2"


@pytest.mark.parametrize("path", ["moved", "busy"])
def test_what_was_redirected_or_went_wrong_is_not_sent_again_as_it_is(server, client, path):
    assert transport.Again.of(client.post(f"{server.url}/{path}", content="x")) is None


def test_through_a_proxy_every_call_goes_the_long_way(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    with transport.client(TIMEOUT) as client:
        assert transport.Again.of(client.post("http://models.invalid/plain", content="x")) is None


def test_a_server_that_moves_between_two_calls_is_followed(server):
    model = OpenAIServer(f"{server.url}/v1", "m", window=10_000)
    for moved in (False, False, True, True, False):
        server.moved = moved
        assert model.complete(Prompt("gist", "Are you there?"), Watch()).text == "Yes."
    paths = [path.split("/")[1] for path, *_ in server.seen]
    assert paths == ["v1", "v1", "v1", "v1", "v2", "v1", "v2", "v1"]
    model.close()


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


# --- TLS ------------------------------------------------------------------------------------------


@pytest.fixture
def tls(tmp_path):
    """(a server's context, the file of the one certificate it shows)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ReadAgent's tests")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    shown, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    shown.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown, secret)
    return context, shown


def test_a_certificate_of_ones_own(tls, monkeypatch):
    context, certificate = tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(tls=context) as server, transport.client(TIMEOUT) as client:
        for _ in range(2):
            assert client.post(f"{server.url}/chunks", content="x").text == "onetwo"
        assert len({port for _, port, _, _ in server.seen}) == 1


def test_a_certificate_nobody_vouches_for_is_refused(tls, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(tls=tls[0]) as server, transport.client(TIMEOUT) as client:
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            client.post(f"{server.url}/plain", content="x")
        assert not server.seen
