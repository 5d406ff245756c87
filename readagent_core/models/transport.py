"""HTTP/1.1 beneath the ``openai`` package by the standard library's client, with connections that are kept.

Many calls at once share one interpreter, and the transport that comes with httpx2 spends on each of them about as
much of it as all the rest together; this one a third. Only a call's bytes are its business: redirects, unpacking and
what a status means stay with httpx2 and openai. It knows no proxies: where the environment names one, ``client``
leaves all to httpx2's own transport.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import httpx2
import openai

KEPT = 100  # idle connections
KEPT_SECONDS = 5.0  # as httpx2 keeps them; many servers close theirs soon after
AT_ONCE = 0.01  # seconds within which a connection is taken to be as it was: looking costs more than it saves
BLOCK = 65_536

Origin = tuple[str, str, int]


def client(timeout: httpx2.Timeout) -> httpx2.Client:
    """An HTTP client for ``openai.OpenAI``, with that package's own defaults."""
    if any(urllib.request.getproxies().get(scheme) for scheme in ("http", "https", "all")):
        return openai.DefaultHttpxClient(timeout=timeout)
    return Client(timeout=timeout, transport=KeptConnections())


class Client(openai.DefaultHttpxClient):
    """A client with nothing of its own to add to a call but how its reply may be packed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._urls: dict[str, httpx2.URL] = {}
        self._always = [(name, self.headers[name]) for name in ("Accept-Encoding", "Connection")]

    def build_request(self, method: str, url: Any, **call: Any) -> httpx2.Request:
        """As httpx2 does, which reads the address anew and merges headers with the client's at every call."""
        given = {name for name, value in call.items() if value is not None}
        if given != {"content", "headers", "timeout"} or not isinstance(call["headers"], list):
            return super().build_request(method, url, **call)
        address = str(url)
        if address not in self._urls:
            self._urls[address] = httpx2.URL(address)
        return httpx2.Request(
            method,
            self._urls[address],
            content=call["content"],
            headers=[*self._always, *call["headers"]],
            extensions={"timeout": httpx2.Timeout(call["timeout"]).as_dict()},
        )


class KeptConnections(httpx2.BaseTransport):
    """Every fault comes out as httpx2's own error for it: ConnectTimeout, ConnectError, ReadTimeout, …"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Origin, list[tuple[socket.socket, float]]] = {}
        self._closed = False
        self._tls: ssl.SSLContext | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        origin = url.scheme, url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80)
        limits: dict[str, float | None] = request.extensions.get("timeout", {})
        message = _message(request)
        connection = self._kept(origin) or self._connected(origin, limits.get("connect"))
        try:
            _within(connection, limits.get("write"))
            try:
                connection.sendall(message)
            except TimeoutError as error:
                raise httpx2.WriteTimeout(str(error)) from error
            except OSError:  # a server may refuse a call before it has read all of it: its reply says why
                pass
            _within(connection, limits.get("read"))
            response = _begun(connection, request.method)
        except BaseException:
            connection.close()
            raise
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
        stream = _Body(self, origin, connection, response)
        return httpx2.Response(response.status, headers=headers, stream=stream)

    def close(self) -> None:
        """Close what is kept; a connection in use is closed by whoever uses it."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, {}
        for kept in idle.values():
            for connection, _ in kept:
                connection.close()

    def __del__(self) -> None:
        """As the package's own client does, for whoever lets go of a model without closing it."""
        self.close()

    def keep(self, origin: Origin, connection: socket.socket) -> None:
        """Take back a connection whose reply was read to its end."""
        with self._lock:
            kept = self._idle.setdefault(origin, [])
            if not self._closed and len(kept) < KEPT:
                kept.append((connection, time.monotonic()))
                return
        connection.close()

    def _kept(self, origin: Origin) -> socket.socket | None:
        """The connection that was used last, unless the server has closed it meanwhile."""
        while True:
            with self._lock:
                kept = self._idle.get(origin)
                if not kept:
                    return None
                connection, since = kept.pop()
            idle = time.monotonic() - since
            if idle < AT_ONCE or (idle < KEPT_SECONDS and not _readable(connection)):
                return connection
            connection.close()

    def _connected(self, origin: Origin, seconds: float | None) -> socket.socket:
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"not an address of the web: {scheme}")
        context = self._context() if scheme == "https" else None
        try:
            connection = socket.create_connection((host, port), seconds)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return context.wrap_socket(connection, server_hostname=host) if context else connection
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error

    def _context(self) -> ssl.SSLContext:
        """The usual certificates, or those of SSL_CERT_FILE or SSL_CERT_DIR; read once, it takes a while."""
        with self._lock:
            if self._tls is None:
                self._tls = httpx2.create_ssl_context()
                self._tls.set_alpn_protocols(["http/1.1"])
            return self._tls


class _Body(httpx2.SyncByteStream):
    """A reply's bytes as they come. Read to the end, its connection is kept; closed before, it is closed too."""

    def __init__(
        self,
        transport: KeptConnections,
        origin: Origin,
        connection: socket.socket,
        response: http.client.HTTPResponse,
    ) -> None:
        self._transport, self._origin = transport, origin
        self._connection: socket.socket | None = connection
        self._response = response
        self._whole = False

    def __iter__(self) -> Iterator[bytes]:
        response = self._response
        # read1 gives what is there; of a body of known length it would wait for more once that is read
        read = response.read if response.length is not None else response.read1
        while data := _reading(read, BLOCK):
            yield data
        if response.length:
            raise httpx2.RemoteProtocolError("the connection was closed before the whole reply had come")
        self._whole = True

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._response.close()
        if self._whole and not self._response.will_close:
            self._transport.keep(self._origin, connection)
        else:
            connection.close()


def _message(request: httpx2.Request) -> bytes:
    """A call as it goes over the wire, in one piece. Its body is bytes, with a Content-Length."""
    headers = request.headers.raw
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path), *map(b": ".join, headers), b"", b""]
    head = b"\r\n".join(lines)
    if not head.count(b"\n") == head.count(b"\r") == len(headers) + 2:
        raise httpx2.LocalProtocolError("a header holds a line end")
    return head + request.read()


def _within(connection: socket.socket, seconds: float | None) -> None:
    """Let no step on ``connection`` take longer."""
    if connection.gettimeout() != seconds:
        connection.settimeout(seconds)


def _begun(connection: socket.socket, method: str) -> http.client.HTTPResponse:
    """The reply with its headers read."""
    response = http.client.HTTPResponse(connection, method=method)
    try:
        _reading(response.begin)
    except BaseException:
        response.close()
        raise
    return response


def _reading(read: Any, *arguments: Any) -> Any:
    """What ``read`` gives, its faults as httpx2's."""
    try:
        return read(*arguments)
    except TimeoutError as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except http.client.HTTPException as error:  # also a connection closed without a reply
        raise httpx2.RemoteProtocolError(str(error)) from error
    except (OSError, ValueError) as error:
        raise httpx2.ReadError(str(error)) from error


def _readable(connection: socket.socket) -> bool:
    """Whether something came on an idle connection: nothing but its end can."""
    if hasattr(select, "poll"):  # select takes no high file numbers
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connection], [], [], 0)[0])
