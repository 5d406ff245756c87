"""HTTP/1.1 beneath the ``openai`` package, with connections that are kept.

Many calls at once share one interpreter, and the transport that comes with httpx2 spends on each of them about as
much of it as all the rest together; this one a third. Only a call's bytes are its business: redirects, unpacking and
what a status means stay with httpx2 and openai. It knows no proxies: where the environment names one, ``client``
leaves all to httpx2's own transport.

Those two spend on a call, in turn, three times what it takes to send it: they make its headers anew each time, the
same to the last byte. ``Again`` is a call that went well once, to be sent with another body.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import httpx2
import openai

from readagent_core.models.arriving import Body
from readagent_core.models.beside import Beside, Relayed
from readagent_core.models.connections import KeptConnections, Limits, Origin

CONNECTIONS = "readagent.connections"  # in a response's extensions: what it came through


def client(timeout: httpx2.Timeout) -> httpx2.Client:
    """An HTTP client for ``openai.OpenAI``, with that package's own defaults."""
    return openai.DefaultHttpxClient(timeout=timeout, transport=_transport())


def asking(seconds: float, headers: Mapping[str, str]) -> httpx2.Client:
    """A client for what else is asked of a server: its models, their windows. Follows no redirect with the key.

    httpx2's own transport would read all certificates first, which takes longer than a server here needs to answer.
    """
    return httpx2.Client(timeout=seconds, headers=headers, transport=_transport())


def _transport() -> _Transport | None:
    """None where the environment names a proxy: httpx2 then makes its own."""
    proxied = any(urllib.request.getproxies().get(scheme) for scheme in ("http", "https", "all"))
    return None if proxied else _Transport()


class _Transport(httpx2.BaseTransport):
    """Every fault comes out as httpx2's own error for it: ConnectTimeout, ConnectError, ReadTimeout, …"""

    def __init__(self) -> None:
        self._connections = KeptConnections()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        head = _head(request.method, request.url.raw_path, request.headers.raw)
        limits = request.extensions.get("timeout", {})
        body = self._connections.send(_origin(request.url), head + request.read(), limits)
        through = {CONNECTIONS: self._connections}
        return httpx2.Response(body.status, headers=body.headers, stream=body, extensions=through)

    def close(self) -> None:
        self._connections.close()


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

    def send(self, body: bytes, beside: Beside | None = None) -> httpx2.Response | Plain:
        """Its answer, the body still to come, by way of ``beside`` where that can. Raises httpx2's errors."""
        message = b"%sContent-Length: %d\r\n\r\n%s" % (self._head, len(body), body)
        relayed = beside.send(self._origin, message, self._limits) if beside else None
        answer = relayed or self._connections.send(self._origin, message, self._limits)
        if answer.status == 200 and all(name != b"content-encoding" for name, _ in answer.headers):
            return Plain(answer)
        return httpx2.Response(answer.status, headers=answer.headers, stream=answer, request=self._request)


class Plain:
    """A good answer whose bytes are the text itself: what of ``httpx2.Response`` a reader of replies needs."""

    status_code = 200

    def __init__(self, body: Body | Relayed) -> None:
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in body.headers}
        self.waited = getattr(body, "waited", 0.0)
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
