"""A server on loopback that sends the beginning of something and falls silent, or never comes to its end."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
ANSWER = b'{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}'
EVENT = b'data: {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": null}]}\n\n'


class RawServer:
    """Sends each connection the bytes of ``says()``, a part at a time, and holds it open. ``calls``: how many came;
    ``left``: set when a client has closed its connection.
    """

    def __init__(self, says: Callable[[], Iterable[bytes]]) -> None:
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.calls = 0
        self.came, self.left = threading.Event(), threading.Event()
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in [self._listener, *self._open]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._thread.join(5)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.recv(65_536)
            self.calls += 1
            self.came.set()
            for data in self._says():
                connection.sendall(data)
            while connection.recv(65_536):  # until the client goes
                pass
        self.left.set()


def silent_after(data: bytes) -> Callable[[], list[bytes]]:
    """Sends ``data`` and nothing more."""
    return lambda: [data]


def endless(head: bytes, part: bytes, *, gap: float = 0.0) -> Callable[[], Iterator[bytes]]:
    """Sends ``head``, then ``part`` again and again."""

    def says() -> Iterator[bytes]:
        yield head
        while True:
            yield part
            time.sleep(gap)

    return says
