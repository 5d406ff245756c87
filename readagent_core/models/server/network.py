"""How a model server is reached: whether its address and key can be used, through which proxy, with which certificates.

A server on this computer is never reached through a proxy, so that nothing of a book leaves it. For any other one the
proxies of the environment hold (and of the system, on macOS and Windows).
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import ssl
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import psutil

from readagent_core.models.server.faults import fault
from readagent_core.settings import Secret

_QUOTES = "\"'`“”‘’«»"
_NAMES = ("localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback")  # of every computer
_UNKNOWN = re.compile(r"[^\w.:/%@\[\]~+=()!*&-]")  # in no address of a server
_VARIABLE = re.compile(r"\$\w+|\$?\{+[^{}]*\}+|%\w+%|<[^<>]*>")
_NAMED = re.compile(r"[A-Z][A-Z0-9_]+=[^=]|(?i:authorization|bearer|x-api-key|api-?key):")


def is_here(where: str) -> bool:
    """Whether the server at this address is on this computer: at one of its own addresses or names."""
    host = (urlsplit(where).hostname or "").removesuffix(".")
    own = socket.gethostname().lower()
    if host in (*_NAMES, own, f"{own.removesuffix('.local')}.local") or host.endswith(".localhost"):
        return True
    address = _ip(host)
    if address is None or address.is_loopback or address.is_unspecified:
        return address is not None
    rows = (row for rows in psutil.net_if_addrs().values() for row in rows)
    return any(row.address.partition("%")[0] == str(address) for row in rows)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that ``host`` is, in any notation ('127.1', '0x7f000001'); None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host)) if host.isascii() else None
        except (OSError, ValueError):
            return None
    return getattr(address, "ipv4_mapped", None) or address


def check(where: str, key: Secret) -> None:
    """Raise ModelError for an address or a key that cannot be used, which says what is wrong with it."""
    if what := _malformed(where) or _no_address(where):
        raise fault("bad address", what=what)
    if key and (what := _malformed(key.reveal()) or _no_key(key.reveal())):
        raise fault("malformed key", what=what)


def options(where: str) -> dict[str, Any]:
    """Return what an httpx2 client for this server needs. Raises ModelError where the environment's proxy or
    certificates cannot be used.
    """
    return {"verify": _tls_context(where), "proxy": _proxy(where), "trust_env": False}


def _malformed(text: str) -> str:
    """What is wrong with an address or a key that was copied with something else; '' where nothing is."""
    if re.search(r"[\r\n]", text):
        return "has a line end in it"
    if text and (text[0] in _QUOTES or text[-1] in _QUOTES):
        return "has quotation marks around it"
    if re.search(r"\s", text):
        return "has a space in it"
    if not text.isprintable():
        return "has an invisible character in it"
    if _VARIABLE.fullmatch(text):
        return "was not filled in: there is only the name of a place for it"
    if _NAMED.match(text):
        return "has a name in front of it"
    return "was copied in a shortened form, with '…' in it" if "…" in text or "..." in text else ""


def _no_address(where: str) -> str:
    scheme, mark, rest = where.partition("://")
    if where.lower() in ("http:", "https:"):
        return "names no server"
    if not mark:
        return "does not begin with http:// or https://"
    if scheme.lower() not in ("http", "https"):
        return f"begins with {scheme[:12]}://, and only http:// and https:// can be used"
    if found := _UNKNOWN.search(rest):
        return f"has {found.group()} in it, which no address of a server has"
    if "://" in rest:
        return "has http:// in it twice"
    try:
        if urlsplit(where).port == 0 or not (httpx2.URL(where).host and urlsplit(where).hostname and rest):
            return "names no server"
    except (httpx2.InvalidURL, ValueError) as error:
        port = "port" in str(error).lower()
        return "has a port in it that is no number from 1 to 65535" if port else "is no web address"
    return ""


def _no_key(key: str) -> str:
    if not key.isascii() or not key.isprintable():
        return "has letters in it that no key has"
    return "is only part of one, the rest shown as stars" if "***" in key else ""


def _proxy(where: str) -> str | None:
    """The proxy for a server; None where it is reached straight."""
    found = urlsplit(where)
    host = found.hostname or ""
    proxies = getproxies()
    bypassed = proxy_bypass(f"{host}:{found.port}" if found.port else host) or _is_in(host, proxies.get("no", ""))
    if is_here(where) or bypassed:
        return None
    name = found.scheme if proxies.get(found.scheme) else "all"
    proxy = proxies.get(name)
    if not proxy:
        return None
    proxy = proxy.strip(" \t\r\n\"'")
    proxy = re.sub(r"^socks://", "socks5://", proxy if "://" in proxy else f"http://{proxy}", flags=re.IGNORECASE)
    try:
        httpx2.Proxy(proxy)
    except (ValueError, httpx2.InvalidURL):
        raise fault(
            "bad proxy", variable=f"{name.upper()}_PROXY", what="only http://, https:// and socks5:// can be used"
        ) from None
    return proxy


def _is_in(host: str, listed: str) -> bool:
    """Whether a list of hosts without proxy has ``host`` as an address in a network ('10.0.0.0/8') or as '*.name',
    which Python's own reader of such lists does not know.
    """
    address = _ip(host)
    for entry in listed.lower().replace(",", " ").split():
        with suppress(ValueError):
            if address is not None and "/" in entry and address in ipaddress.ip_network(entry, strict=False):
                return True
        if entry.startswith("*.") and host.endswith(entry[1:]):
            return True
    return False


def _tls_context(where: str) -> ssl.SSLContext:
    """The context for the trusted certificates that the environment names, else the system's.

    It is shared: loading them takes some 30 ms, during which no other call goes on.
    """
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        return _load(file, folder)
    except OSError:
        if where.lower().startswith("http:"):  # no certificate is needed
            return _load(None, None)
        variable = "SSL_CERT_FILE" if file else "SSL_CERT_DIR"
        raise fault("bad certificates", variable=variable) from None


@cache
def _load(file: str | None, folder: str | None) -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=bool(file or folder))
