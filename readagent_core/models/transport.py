"""HTTP/1.1 beneath the ``openai`` package by the standard library's client, with connections that are kept.

Many calls at once share one interpreter, and the transport that comes with httpx2 spends on each of them about as
much of it as all the rest together; this one a third. Only a call's bytes are its business: redirects, unpacking and
what a status means stay with httpx2 and openai. It knows no proxies: where the environment names one, ``client``
leaves all to httpx2's own transport.

Those two spend on a call, in turn, three times what it takes to send it: they make its headers anew each time, the
same to the last byte. ``Again`` is a call that went well once, to be sent with another body.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from typing import Any, Self

import httpx2
import openai

KEPT = 100  # idle connections
KEPT_SECONDS = 5.0  # as httpx2 keeps them; many servers close theirs soon after
AT_ONCE = 0.01  # seconds within which a connection is taken to be as it was: looking costs more than it saves
BLOCK = 65_536

CONNECTIONS = "readagent.connections"  # in a response's extensions: what it came through

Origin = tuple[str, str, int]
Limits = dict[str, float | None]  # seconds a step may take: connect, read, write


def client(timeout: httpx2.Timeout) -> httpx2.Client:
    """An HTTP client for ``openai.OpenAI``, with that package's own defaults."""
    return openai.DefaultHttpxClient(timeout=timeout, transport=_transport())


def asking(seconds: float, headers: Mapping[str, str]) -> httpx2.Client:
    """A client for what else is asked of a server: its models, their windows. Follows no redirect with the key.

    httpx2's own transport would read all certificates first, which takes longer than a server here needs to answer.
    """
    return httpx2.Client(timeout=seconds, headers=headers, transport=_transport())


def _transport() -> KeptConnections | None:
    """None where the environment names a proxy: httpx2 then makes its own."""
    proxied = any(urllib.request.getproxies().get(scheme) for scheme in ("http", "https", "all"))
    return None if proxied else KeptConnections()


class KeptConnections(httpx2.BaseTransport):
    """Every fault comes out as httpx2's own error for it: ConnectTimeout, ConnectError, ReadTimeout, …"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Origin, list[tuple[socket.socket, float]]] = {}
        self._closed = False
        self._tls: ssl.SSLContext | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        head = _head(request.method, request.url.raw_path, request.headers.raw)
        limits = request.extensions.get("timeout", {})
        answer = self.send(_origin(request.url), head + request.read(), limits, method=request.method)
        return _response(*answer, extensions={CONNECTIONS: self})

    def send(
        self, origin: Origin, message: bytes, limits: Limits, *, method: str = "POST"
    ) -> tuple[int, Message, Body]:
        """Status, headers and the body still to come of the answer to one whole call."""
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
            response = _begun(connection, method)
        except BaseException:
            connection.close()
            raise
        return response.status, response.headers, Body(self, origin, connection, response)

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


class Body(httpx2.SyncByteStream):
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


class Again:
    """A POST that went well once, to be sent again with another body."""

    def __init__(self, connections: KeptConnections, request: httpx2.Request) -> None:
        url = request.url
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
        self._connections, self._request = connections, request
        self._origin = _origin(url)
        self._head = _head(request.method, url.raw_path, headers).removesuffix(b"\r\n")
        self._limits: Limits = request.extensions.get("timeout", {})

    @classmethod
    def of(cls, response: httpx2.Response) -> Self | None:
        """The call that was answered; None where it went another way (a proxy, a redirect) or did not go well."""
        connections = response.extensions.get(CONNECTIONS)
        if connections is None or response.history or response.status_code != 200:
            return None
        return cls(connections, response.request)

    def send(self, body: bytes) -> httpx2.Response | Plain:
        """Its answer, the body still to come. Raises httpx2's errors."""
        message = b"%sContent-Length: %d\r\n\r\n%s" % (self._head, len(body), body)
        status, headers, stream = self._connections.send(self._origin, message, self._limits)
        if status == 200 and "content-encoding" not in headers:
            return Plain(headers, stream)
        return _response(status, headers, stream, request=self._request)


class Plain:
    """A good answer whose bytes are the text itself: what of ``httpx2.Response`` a reader of replies needs."""

    status_code = 200

    def __init__(self, headers: Message, body: Body) -> None:
        self.headers = headers
        self._body = body

    def iter_bytes(self) -> Iterator[bytes]:
        return iter(self._body)

    def read(self) -> bytes:
        return b"".join(self._body)

    def close(self) -> None:
        self._body.close()


def _origin(url: httpx2.URL) -> Origin:
    return url.scheme, url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80)


def _head(method: str, path: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A call up to its body, as it goes over the wire."""
    lines = [b"%s %s HTTP/1.1" % (method.encode(), path), *map(b": ".join, headers), b"", b""]
    head = b"\r\n".join(lines)
    if not head.count(b"\n") == head.count(b"\r") == len(headers) + 2:
        raise httpx2.LocalProtocolError("a header holds a line end")
    return head


def _response(status: int, headers: Message, body: Body, **more: Any) -> httpx2.Response:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return httpx2.Response(status, headers=raw, stream=body, **more)


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
