"""A server that speaks HTTP well, badly and in between, by the first part of the path; every answer says 'Yes.'"""

from __future__ import annotations

import gzip
import json
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()


class Handler(BaseHTTPRequestHandler):
    """``server.seen``: (path, client's port, headers with names in small letters) of every call.

    ``server.moved_to``: where '/moved/…' points.
    """

    protocol_version = "HTTP/1.1"

    def log_message(self, *_): ...

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.path, self.client_address[1], headers))
        name, _, rest = self.path.removeprefix("/").partition("/")
        if name == "moved":
            self.answer(b"", status=307, Location=f"{self.server.moved_to}/{rest}")
        elif name == "packed":
            self.answer(gzip.compress(ANSWER), **{"Content-Encoding": "gzip"})
        elif name == "short":
            self.last(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + ANSWER)
        elif name == "old":
            self.last(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + ANSWER)
        elif name == "then-closed":
            self.answer(ANSWER)
            self.close_connection = True
        elif name == "chunks":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Name: caf\xe9\r\n\r\n")
            self.wfile.write(b"3\r\n%s\r\n%X\r\n%s\r\n0\r\n\r\n" % (ANSWER[:3], len(ANSWER) - 3, ANSWER[3:]))
        elif name == "continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\nX-Early: yes\r\n\r\n")
            self.answer(ANSWER)
        elif name == "endless-headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            with suppress(OSError):
                for n in range(10_000):
                    self.wfile.write(b"X-%d: %s\r\n" % (n, b"y" * 500))
            self.close_connection = True
        elif name == "broken-chunks":
            self.last(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\nzzz\r\n")
        elif name == "nonsense":
            self.last(b"what is this\r\n\r\n")
        else:
            self.answer(ANSWER)

    def last(self, data):
        self.wfile.write(data)
        self.close_connection = True

    def answer(self, body, *, status=200, **headers):
        self.send_response(status)
        for header, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that went away is no error of ours."""


@contextmanager
def serving(family=socket.AF_INET, tls=None):
    host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    kind = type("Of", (Server,), {"address_family": family})
    server = kind((host, 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    server.url = f"{'https' if tls else 'http'}://{shown}:{server.server_address[1]}"
    server.seen, server.moved_to = [], server.url
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
