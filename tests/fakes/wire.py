"""Plays what servers send, byte for byte: the cases of tests/models/wire, over a real socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "models" / "wire"
UNPUBLISHED = FOLDER.with_name("unpublished")


@dataclass(frozen=True)
class Case:
    """What a server sends, and what must come of it. ``source``: where that was published; ``note``: that
    the shape there is only like it, or what it was made from.
    """

    server: str
    name: str
    source: str
    expect: dict[str, Any]
    body: bytes
    streamed: bool
    status: int = 200
    headers: dict[str, str | None] = field(default_factory=dict)
    prompt: str = "short"
    note: str = ""

    def pieces(self, size: int | None = None) -> list[bytes]:
        """The body in pieces of ``size`` bytes, else an event a piece."""
        if size:
            return [self.body[start : start + size] for start in range(0, len(self.body), size)]
        return [part + b"\n\n" for part in self.body.split(b"\n\n") if part] if self.streamed else [self.body]

    @property
    def head(self) -> bytes:
        """Status line and header fields, without those that say how long the body is."""
        fields = {"Content-Type": "text/event-stream" if self.streamed else "application/json", **self.headers}
        lines = [f"HTTP/1.1 {self.status} Answer", *(f"{name}: {value}" for name, value in fields.items() if value)]
        return "\r\n".join(lines).encode()

    def response(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Give the bytes of the whole response: a stream in chunks, anything else with its length."""
        if not self.streamed:
            yield self.head + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(self.body)
            yield from pieces
            return
        yield self.head + b"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        for piece in pieces:
            yield b"%X\r\n%s\r\n" % (len(piece), piece)
        yield b"0\r\n\r\n"


def load_cases(folder: Path = FOLDER) -> list[Case]:
    """All cases of all files of a folder, in order. ``events``: objects are sent as events, text as it stands."""
    found = []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for row in data["cases"]:
            events, body = row.pop("events", None), row.pop("body", "")
            if events is not None:
                parts = [e if isinstance(e, str) else f"data: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events]
                body = "".join(parts)
            text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
            found.append(Case(data["server"], **row, body=text.encode(), streamed=events is not None))
    return found


class WireServer:
    """Answers each POST with ``says`` (bytes, a part at a time), then closes. A GET is answered with 404."""

    def __init__(self) -> None:
        self.says: Iterable[bytes] = ()
        self.calls = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> WireServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection, suppress(OSError):
                    connection.settimeout(10)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        came = b""
        while b"\r\n\r\n" not in came:
            data = connection.recv(65_536)
            if not data:
                return
            came += data
        head, _, body = came.partition(b"\r\n\r\n")
        lengths = [int(line[15:]) for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"]
        while len(body) < sum(lengths):
            body += connection.recv(65_536)
        if head.startswith(b"GET"):
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            return
        self.calls += 1
        for data in self.says:
            connection.sendall(data)
        with suppress(OSError):  # what a client that was quick to go has not read is no reset
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(1)
            connection.recv(1)
