"""HTTP/1.1 connections that are kept, one call at a time each, for any number of threads.

Bytes alone are their business: what stands in a call and what an answer means is for others to know. They know no
proxies.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time

import httpx2

from readagent_core.models.arriving import Body

KEPT = 100  # idle connections
KEPT_SECONDS = 5.0  # as httpx2 keeps them; many servers close theirs soon after

Origin = tuple[str, str, int]
Limits = dict[str, float | None]  # seconds a step may take: connect, read, write


class KeptConnections:
    """Every fault comes out as httpx2's own error for it: ConnectTimeout, ConnectError, ReadTimeout, …"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Origin, list[tuple[socket.socket, float]]] = {}
        self._closed = False
        self._tls: ssl.SSLContext | None = None

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
