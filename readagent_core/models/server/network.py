"""How a model server is reached: whether its address and key can be used, through which proxy, with which certificates.

A server on this computer is never reached through a proxy, so that nothing of a book leaves it. For any other one the
proxies of the environment hold (and of the system, on macOS and Windows).
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from readagent_core.models.server.faults import fault
from readagent_core.settings import Secret

_QUOTES = "\"'`“”‘’«»"


def is_here(where: str) -> bool:
    """Whether the server at this address is on this computer."""
    host = urlsplit(where).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


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
    return "was copied in a shortened form, with '…' in it" if "…" in text or "..." in text else ""


def _no_address(where: str) -> str:
    scheme, mark, rest = where.partition("://")
    if where.lower() in ("http:", "https:"):
        return "names no server"
    if not mark:
        return "does not begin with http:// or https://"
    if scheme.lower() not in ("http", "https"):
        return f"begins with {scheme[:12]}://, and only http:// and https:// can be used"
    try:
        return "" if httpx2.URL(where).host and urlsplit(where).hostname and rest else "names no server"
    except (httpx2.InvalidURL, ValueError):
        return "is no web address"


def _no_key(key: str) -> str:
    if not key.isascii() or not key.isprintable():
        return "has letters in it that no key has"
    return "is only part of one, the rest shown as stars" if "***" in key else ""


def _proxy(where: str) -> str | None:
    """The proxy for a server; None where it is reached straight."""
    found = urlsplit(where)
    host = found.hostname or ""
    if is_here(where) or proxy_bypass(f"{host}:{found.port}" if found.port else host):
        return None
    proxies = getproxies()
    name = found.scheme if proxies.get(found.scheme) else "all"
    proxy = proxies.get(name)
    if not proxy:
        return None
    proxy = re.sub(r"^socks://", "socks5://", proxy if "://" in proxy else f"http://{proxy}", flags=re.IGNORECASE)
    try:
        httpx2.Proxy(proxy)
    except (ValueError, httpx2.InvalidURL):
        raise fault(
            "bad proxy", variable=f"{name.upper()}_PROXY", what="only http://, https:// and socks5:// can be used"
        ) from None
    return proxy


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
