"""A server that speaks HTTP well, badly and in between, by the path that is asked for."""

from __future__ import annotations

import gzip
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from readagent_core.models import transport

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
