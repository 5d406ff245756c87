"""A web server on loopback that sends what a test gives it, byte for byte, and records which paths were asked for."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator

from readagent_core.fetching.connecting import Rules

Reply = bytes | Iterable[bytes]


def reply(
    body: bytes = b"", kind: str = "text/plain; charset=utf-8", *, status: str = "200 OK", **headers: str
) -> bytes:
    """A whole HTTP reply. ``headers``: with underscores for hyphens."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(address: str) -> bytes:
    return reply(status="302 Found", Location=address)


class WebServer:
    """``with WebServer({"/": reply(b"Hello")}) as server: … server.at("/")``. A reply may be given in parts, or be a
    function that makes them for each request.
    """

    def __init__(self, pages: dict[str, Reply | Callable[[], Reply]], *, tls: ssl.SSLContext | None = None) -> None:
        self.pages = pages
        self.requests: list[str] = []  # the request line and headers of each
        self.connections = 0
        owner = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                owner.connections += 1
                try:
                    if tls:
                        self.request = tls.wrap_socket(self.request, server_side=True)
                    channel = self.request
                    asked = b""
                    while b"\r\n\r\n" not in asked and (part := channel.recv(65_536)):
                        asked += part
                    owner.requests.append(asked.decode())
                    for part in owner._parts(asked.split(b" ")[1].decode()):
                        channel.sendall(part)
                except OSError:
                    return  # the client went away, as tests of limits want it
                finally:
                    self.request.close()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def _parts(self, path: str) -> Iterator[bytes]:
        page = self.pages.get(path, reply(status="404 Not Found"))
        made = page() if callable(page) else page
        yield from [made] if isinstance(made, bytes) else made

    def at(self, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def rules(self, **changes: object) -> Rules:
        """Rules by which this server, and no other, may be connected to."""
        limits: dict[str, object] = {"allows": {"127.0.0.1"}.__contains__, "ports": {self.port}, "seconds": 20.0}
        return Rules(**{**limits, **changes})  # type: ignore[arg-type]

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
