"""Fetches one web address, following redirects by hand, so that each is checked as the first address was.

No cookies are stored, credentials go only to the server that they were given for, and no proxy of the environment is
used: a proxy resolves names itself, so that addresses could not be checked. A server that sends too much, too slowly
or without an end is stopped.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message

import httpcore2
import httpx2

from readagent_core.cancel import CancelToken
from readagent_core.errors import (
    LinkError,
    LoginError,
    NotThereError,
    TooLargeError,
    UnreachableLinkError,
    UnsafeLinkError,
)
from readagent_core.event_loop import run
from readagent_core.fetching.connecting import Backend, Named, Rules, origin_of

PUBLIC = Rules()
_LONGEST = 4_000  # characters of an address
_REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})
_HEADERS: Mapping[bytes | str, bytes | str] = {
    "User-Agent": "ReadAgent (a reading app; one page at a person's request)",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
_BOOKS = "text/html, application/xhtml+xml, application/pdf, application/epub+zip, text/*;q=0.9, */*;q=0.8"
Progress = Callable[[int, int], None]  # bytes that have arrived, and of how many; 0 where the server does not say
_SAVE = "Save the page with your browser and open the file."
_STATUSES = {
    402: f"asks for a payment. {_SAVE}",
    403: f"does not give this page to programs. {_SAVE}",
    404: "has no page at this address. Check the address.",
    410: "has no page at this address any more. Check the address.",
    429: f"does not answer more requests at present. Try again later. {_SAVE}",
    451: f"may not show this page here. {_SAVE}",
}


@dataclass(frozen=True)
class Fetched:
    """What a server sent. ``address``: the last one, after redirects. ``kind`` and ``charset``: what the server says
    the bytes are, in lower case; '' if it does not. ``name``: the file name it gives; ''. ``when``: ``time.time()``.
    """

    data: bytes
    address: str
    kind: str = ""
    charset: str = ""
    name: str = ""
    when: float = 0.0


def fetch(
    address: str, cancel: CancelToken | None = None, *, rules: Rules = PUBLIC, progress: Progress | None = None
) -> Fetched:
    """Returns what is at ``address``.

    Raises LinkError or one of its subclasses, TooLargeError, or CancelledError as soon as ``cancel`` is cancelled.
    """
    url = _checked(address, rules)
    return run(_fetch_in_time(url, rules, progress), cancel)


def _checked(address: str, rules: Rules) -> httpx2.URL:
    """Returns ``address`` without its fragment. Raises UnsafeLinkError or LinkError unless it may be fetched."""
    try:
        url = httpx2.URL(address.strip()[: _LONGEST + 1]).copy_with(fragment=None)
        port = {"http": 80, "https": 443}.get(url.scheme) if url.port is None else url.port
    except (httpx2.InvalidURL, ValueError):
        raise LinkError("This is not a web address that can be fetched. Copy it again from your browser.") from None
    if url.scheme not in ("http", "https"):
        raise UnsafeLinkError("Only addresses that begin with http:// or https:// are fetched. Open a file instead.")
    if not url.host or len(address) > _LONGEST:
        raise LinkError("This web address is not complete, or too long. Copy it again from your browser.")
    if url.userinfo:
        raise UnsafeLinkError(
            f"This address holds a user name or password, which ReadAgent neither sends nor stores. {_SAVE}"
        )
    if port not in rules.ports and not (rules.named and rules.named.origin == origin_of(url)):
        raise UnsafeLinkError(
            f"The “:{port}” in this address does not lead to ordinary web pages, and nothing else is opened. If it is "
            f"one all the same: {_SAVE[0].lower()}{_SAVE[1:]}"
        )
    return url


async def _fetch_in_time(url: httpx2.URL, rules: Rules, progress: Progress | None) -> Fetched:
    try:
        certificates = httpcore2.default_ssl_context()
    except OSError:
        raise LinkError(
            "The file of trusted certificates that the environment names (SSL_CERT_FILE) cannot be read. Correct or "
            "remove that variable, then start ReadAgent again."
        ) from None
    try:
        async with (
            asyncio.timeout(rules.seconds),
            httpcore2.AsyncConnectionPool(
                ssl_context=certificates,
                max_connections=1,
                max_keepalive_connections=0,
                network_backend=Backend(rules),
            ) as pool,
        ):
            for _ in range(_REDIRECTS + 1):
                found = await _answer(pool, url, rules, progress)
                if isinstance(found, Fetched):
                    return found
                url = found
    except (TimeoutError, httpcore2.TimeoutException):
        raise UnreachableLinkError(
            f"{url.host} did not send everything within {rules.seconds:g} seconds, so nothing was opened. "
            f"Try again later. {_SAVE}"
        ) from None
    except httpcore2.NetworkError as error:
        if _caused_by_tls(error):
            raise UnsafeLinkError(
                f"The certificate of {url.host} cannot be verified, so nothing was fetched. Check the address."
            ) from None
        raise UnreachableLinkError(f"{url.host} cannot be reached, or broke the connection. Try again later.") from None
    except (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol):
        raise LinkError(f"{url.host} does not answer as web servers do. {_SAVE}") from None
    raise LinkError(f"{url.host} redirects more than {_REDIRECTS} times, so nothing was opened. {_SAVE}")


async def _answer(
    pool: httpcore2.AsyncConnectionPool, url: httpx2.URL, rules: Rules, progress: Progress | None
) -> Fetched | httpx2.URL:
    """``_request``, once more with the credentials where the server asks for them and they are meant for it."""
    found, named = await _request(pool, url, rules, progress, {}), rules.named
    if isinstance(found, httpx2.Response) and named and named.user and named.origin == origin_of(url):
        found = await _request(pool, url, rules, progress, _login(url, found, named))
        if isinstance(found, httpx2.Response):
            raise LoginError(f"It refused “{named.user}” and this password. Type them again, or ask who runs it.")
    if isinstance(found, httpx2.Response):
        raise LoginError(f"{url.host} asks for a login. {_SAVE}")
    return found


def _login(url: httpx2.URL, asked: httpx2.Response, named: Named) -> Mapping[bytes | str, bytes | str]:
    """Returns the header that logs in: Digest where the server offers it, else Basic."""
    asked.request = request = httpx2.Request("GET", url)
    digest = any(one.lower().startswith("digest ") for one in asked.headers.get_list("www-authenticate"))
    flow = (httpx2.DigestAuth if digest else httpx2.BasicAuth)(named.user, named.password.reveal()).auth_flow(request)
    next(flow)
    try:
        if digest:
            flow.send(asked)
    except (httpx2.HTTPError, LookupError, ValueError):
        raise LoginError(f"{url.host} asks for a login in a way that ReadAgent does not know.") from None
    return {"Authorization": request.headers["authorization"]}


async def _request(
    pool: httpcore2.AsyncConnectionPool,
    url: httpx2.URL,
    rules: Rules,
    progress: Progress | None,
    login: Mapping[bytes | str, bytes | str],
) -> Fetched | httpx2.URL | httpx2.Response:
    """Returns what is at ``url``, or the address to which it redirects, which is checked, or a request for a login."""
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), rules.seconds)
    # the parts as they were checked: httpcore2 would read a text in its own way
    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    asked = {"Host": url.netloc, "Accept": rules.accept or _BOOKS, **_HEADERS, **login}
    async with pool.stream("GET", target, headers=asked, extensions={"timeout": timeout}) as response:
        headers = {name.decode("latin-1").lower(): value.decode("utf-8", "replace") for name, value in response.headers}
        if response.status in _MOVED and "location" in headers:
            try:
                moved = str(url.join(headers["location"]))
            except (httpx2.InvalidURL, ValueError):
                raise LinkError(f"{url.host} redirects to what is not a web address. {_SAVE}") from None
            return _checked(moved, rules)
        if response.status == 401:
            return httpx2.Response(401, headers=response.headers)
        if response.status != 200:
            why = _STATUSES.get(response.status, f"answered with an error ({response.status}). Try again later.")
            raise (NotThereError if response.status in (404, 410) else LinkError)(f"{url.host} {why}")
        data = await _body(response, headers, url.host, rules.most, progress)
    described = Message()
    described["content-type"] = headers.get("content-type", "")
    described["content-disposition"] = headers.get("content-disposition", "")
    return Fetched(
        data,
        str(url),
        headers.get("content-type", "").split(";")[0].strip().lower(),
        str(described.get_param("charset") or "").lower(),
        described.get_filename() or "",
        time.time(),
    )


async def _body(
    response: httpcore2.Response, headers: Mapping[str, str], host: str, most: int, progress: Progress | None
) -> bytes:
    """Returns the body, unpacked as it arrives, so that never more than ``most`` bytes of it are in memory."""
    packed = headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise LinkError(f"{host} packs its pages in a way that ReadAgent does not read. {_SAVE}")
    unpacker = zlib.decompressobj(47) if packed not in ("", "identity") else None  # 47: gzip or zlib, by its header
    length = headers.get("content-length", "")
    body, arrived, total = bytearray(), 0, int(length) if length.isdecimal() and len(length) < 12 else 0
    try:
        async for part in response.aiter_stream():
            arrived += len(part)
            if progress is not None:
                progress(arrived, total)
            body += unpacker.decompress(part, most + 1 - len(body)) if unpacker else part
            if len(body) > most:
                raise TooLargeError(
                    f"{host} sends more than {most >> 20:,} MB, so nothing was opened. Open a smaller file."
                )
    except zlib.error:
        raise LinkError(f"What {host} sent is damaged. Try again later. {_SAVE}") from None
    if unpacker and body and not unpacker.eof:
        raise LinkError(f"What {host} sent broke off before its end. Try again later. {_SAVE}")
    return bytes(body)


def _caused_by_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
