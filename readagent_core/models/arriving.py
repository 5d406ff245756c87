"""One answer over HTTP/1.1 as it arrives on a connection, read by the parser that uvicorn and others use.

``Body`` gives status and headers once ``begin`` has read them, then the bytes of the body as they come. Every fault is
one of httpx2's: ReadTimeout, ReadError, RemoteProtocolError. Knows nothing of sending.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import httptools
import httpx2

BLOCK = 65_536
MOST_HEAD = 4 * BLOCK  # bytes of status and headers: a server that sends more never comes to its answer

Headers = list[tuple[bytes, bytes]]


class Body(httpx2.SyncByteStream):
    """``keep`` takes back the connection when the answer was read to its end and may be followed by another; otherwise
    it is closed.
    """

    def __init__(self, connection: socket.socket, keep: Callable[[socket.socket], None]) -> None:
        self.status = 0
        self.headers: Headers = []  # names in small letters
        self._connection: socket.socket | None = connection
        self._keep = keep
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self._read = 0
        self._begun = self._whole = self._lasts = False
        self._fault: httpx2.TransportError | None = None

    def begin(self) -> None:
        """Read as far as the headers go."""
        while not self._begun:
            self._more()

    def __iter__(self) -> Iterator[bytes]:
        while True:
            if self._parts:
                data = b"".join(self._parts)
                self._parts.clear()
                yield data
            elif self._whole:
                return
            else:
                self._more()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._whole and self._lasts and self._fault is None:
            self._keep(connection)
        else:
            connection.close()

    def _more(self) -> None:
        """What comes next on the connection. What stood before a fault is given out first."""
        if self._fault is not None:
            raise self._fault
        if self._connection is None:
            raise httpx2.ReadError("the connection is closed")
        try:
            data = self._connection.recv(BLOCK)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error)) from error
        except (OSError, ValueError) as error:
            raise httpx2.ReadError(str(error)) from error
        self._read += len(data)
        if not data:
            if not self._begun or self._sized():
                raise httpx2.RemoteProtocolError("the connection was closed before the whole answer had come")
            self._whole = True
        elif not self._begun and self._read > MOST_HEAD:
            raise httpx2.RemoteProtocolError("more headers than can be")
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fault = httpx2.RemoteProtocolError(str(error))
            if not self._begun:
                raise self._fault from error

    def _sized(self) -> bool:
        """Whether the headers tell where the body ends."""
        return any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    # --- what the parser tells ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._whole:  # bytes that nobody asked for
            self._lasts = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._begun:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:  # 'go on': the answer itself follows
            self.headers.clear()
        elif not self._begun:
            self.status, self._begun = status, True

    def on_body(self, data: bytes) -> None:
        if not self._whole:
            self._parts.append(data)

    def on_message_complete(self) -> None:
        if self._begun and not self._whole:
            self._whole, self._lasts = True, self._parser.should_keep_alive()
