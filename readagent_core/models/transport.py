"""HTTP/1.1 beneath the ``openai`` package, with connections that are kept.

Many calls at once share one interpreter, and the transport that comes with httpx2 spends on each of them about as
much of it as all the rest together; this one a third. Only a call's bytes are its business: redirects, unpacking and
what a status means stay with httpx2 and openai. It knows no proxies: where the environment names one, ``client``
leaves all to httpx2's own transport.

Those two spend on a call, in turn, three times what it takes to send it: they make its headers anew each time, the
same to the last byte. ``Again`` is a call that went well once, to be sent with another body.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import httpx2
import openai

from readagent_core.models.arriving import Body

KEPT = 100  # idle connections
KEPT_SECONDS = 5.0  # as httpx2 keeps them; many servers close theirs soon after

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
        body = self.send(_origin(request.url), head + request.read(), limits)
        return httpx2.Response(body.status, headers=body.headers, stream=body, extensions={CONNECTIONS: self})

    def send(self, origin: Origin, message: bytes, limits: Limits) -> Body:
        """The answer to one whole call, its headers read and its bytes still to come."""
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
            body = Body(connection, lambda again: self._keep(origin, again))
            body.begin()
        except BaseException:
            connection.close()
            raise
        return body

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

    def _keep(self, origin: Origin, connection: socket.socket) -> None:
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
            if time.monotonic() - since < KEPT_SECONDS and not _readable(connection):
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
        answer = self._connections.send(self._origin, message, self._limits)
        if answer.status == 200 and all(name != b"content-encoding" for name, _ in answer.headers):
            return Plain(answer)
        return httpx2.Response(answer.status, headers=answer.headers, stream=answer, request=self._request)


class Plain:
    """A good answer whose bytes are the text itself: what of ``httpx2.Response`` a reader of replies needs."""

    status_code = 200

    def __init__(self, body: Body) -> None:
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in body.headers}
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


def _within(connection: socket.socket, seconds: float | None) -> None:
    """Let no step on ``connection`` take longer."""
    if connection.gettimeout() != seconds:
        connection.settimeout(seconds)


def _readable(connection: socket.socket) -> bool:
    """Whether something came on an idle connection: nothing but its end can."""
    if hasattr(select, "poll"):  # select takes no high file numbers
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connection], [], [], 0)[0])
