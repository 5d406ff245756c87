"""HTTP/1.1 beneath the ``openai`` package by the standard library's client, with connections that are kept.

Many calls at once share one interpreter, and the transport that comes with httpx2 spends on each of them about as
much of it as all the rest together; this one a third. Only a call's bytes are its business: redirects, unpacking and
what a status means stay with httpx2 and openai. It knows no proxies: where the environment names one, ``client``
leaves all to httpx2's own transport.
"""

from __future__ import annotations

import http.client
import select
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
BLOCK = 65_536

Origin = tuple[str, str, int]


def client(timeout: httpx2.Timeout) -> httpx2.Client:
    """An HTTP client for ``openai.OpenAI``, with that package's own defaults."""
    if any(urllib.request.getproxies().get(scheme) for scheme in ("http", "https", "all")):
        return openai.DefaultHttpxClient(timeout=timeout)
    return openai.DefaultHttpxClient(timeout=timeout, transport=KeptConnections())


class KeptConnections(httpx2.BaseTransport):
    """Every fault comes out as httpx2's own error for it: ConnectTimeout, ConnectError, ReadTimeout, …"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Origin, list[tuple[http.client.HTTPConnection, float]]] = {}
        self._closed = False
        self._tls: ssl.SSLContext | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        origin = url.scheme, url.raw_host.decode(), url.port or (443 if url.scheme == "https" else 80)
        limits: dict[str, float | None] = request.extensions.get("timeout", {})
        body = request.read()
        connection = self._kept(origin) or self._connected(origin, limits.get("connect"))
        try:
            connection.sock.settimeout(limits.get("write"))
            try:
                connection.putrequest(request.method, url.raw_path.decode(), skip_host=True, skip_accept_encoding=True)
                for name, value in request.headers.raw:
                    connection.putheader(name, value)
                connection.endheaders(body)
            except TimeoutError as error:
                raise httpx2.WriteTimeout(str(error)) from error
            except (http.client.HTTPException, ValueError) as error:  # a line end within a header, say
                raise httpx2.LocalProtocolError("the call cannot be sent as HTTP") from error
            except OSError:  # a server may refuse a call before it has read all of it: its reply says why
                pass
            connection.sock.settimeout(limits.get("read"))
            response = _reading(connection.getresponse)
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

    def keep(self, origin: Origin, connection: http.client.HTTPConnection) -> None:
        """Take back a connection whose reply was read to its end."""
        with self._lock:
            kept = self._idle.setdefault(origin, [])
            if not self._closed and len(kept) < KEPT:
                kept.append((connection, time.monotonic()))
                return
        connection.close()

    def _kept(self, origin: Origin) -> http.client.HTTPConnection | None:
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

    def _connected(self, origin: Origin, seconds: float | None) -> http.client.HTTPConnection:
        scheme, host, port = origin
        connection: http.client.HTTPConnection
        if scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=self._context())
        elif scheme == "http":
            connection = http.client.HTTPConnection(host, port, timeout=seconds)
        else:
            raise httpx2.UnsupportedProtocol(f"not an address of the web: {scheme}")
        try:
            connection.connect()
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error
        return connection

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
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
    ) -> None:
        self._transport, self._origin = transport, origin
        self._connection: http.client.HTTPConnection | None = connection
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
        if self._whole and not self._response.will_close:
            self._transport.keep(self._origin, connection)
        else:
            self._response.close()
            connection.close()


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


def _readable(connection: http.client.HTTPConnection) -> bool:
    """Whether something came on an idle connection: nothing but its end can."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection.sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connection.sock], [], [], 0)[0])
