"""Connects to public servers, and to one at home that a person named by hand.

Each name is resolved once, and the connection goes to the address that was checked.

Without this, a link could make this computer fetch pages from itself, from its local network or from the metadata
service of a cloud (server-side request forgery). The check happens when a connection is opened, so it holds for every
redirect, and a name that resolves to another address later gains nothing. Sources: the special-purpose registries of
IANA for IPv4 and IPv6.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import httpcore2
import httpx2

from readagent_core.errors import UnreachableLinkError, UnsafeLinkError
from readagent_core.secret import Secret

CONNECT_SECONDS = 8.0  # for each address of a server
_MOST_ADDRESSES = 4  # of one name that are tried
_REFUSED_IPV4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "100.64.0.0/10",  # shared by the customers of a provider (CGNAT)
        "168.63.129.16/32",  # a public address by its number, but the service of Azure inside its machines
        "192.0.0.0/24",  # for protocols; a cloud has its metadata service there
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.175.48.0/24",
    )
)
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # so ::/96, ::ffff:0:0/96 and 64:ff9b::/96, which hold IPv4, are out
_REFUSED_IPV6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo and other protocols
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_HOME = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "100.64.0.0/10", "fc00::/7", "::1")
)


def is_public(address: str) -> bool:
    """Returns whether ``address``, in the notation of the system's resolver, belongs to a server in the internet."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if not found.is_global or found.is_multicast or found.is_reserved or found.is_private:
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return not any(found in network for network in _REFUSED_IPV4)
    return found.scope_id is None and found in _PUBLIC_IPV6 and not any(found in network for network in _REFUSED_IPV6)


def is_home(address: str) -> bool:
    """Returns whether ``address`` belongs to this computer or to a network at home, a private one (VPN) included."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in _HOME)


async def resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of ``host``. Raises UnreachableLinkError where there is none.

    The system's resolver also turns other notations of an address ('127.1', '0x7f000001') into the usual one.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UnreachableLinkError(
            f"No server called {host} was found. Check the address, and that this computer is online."
        ) from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Named:
    """A server that a person named by hand. It may be asked at any port, and gets the user and password.

    ``origin``: as by ``origin_of``. ``home``: it is in the home network, and then its name must lead there.
    """

    origin: str
    home: bool = False
    user: str = ""
    password: Secret = field(default_factory=Secret)


def origin_of(url: httpx2.URL) -> str:
    """Returns scheme, host and port: 'http://192.168.1.40:8080'."""
    return f"{url.scheme}://{url.host}:{url.port or {'http': 80, 'https': 443}.get(url.scheme)}"


@dataclass(frozen=True)
class Rules:
    """Where a fetch may connect, and its limits. Only tests use others than these.

    ``seconds``: for everything together, with names, redirects and the body. ``most``: bytes of the unpacked body.
    ``accept``: the header that says what is wanted; '' for what can be a book. ``named``: a server named by hand.
    """

    allows: Callable[[str], bool] = is_public
    ports: Collection[int] = (80, 443)
    resolve: Callable[[str, int], Awaitable[list[str]]] = resolve
    seconds: float = 30.0
    most: int = 200 << 20
    accept: str = ""
    named: Named | None = None


class Backend(httpcore2.AsyncNetworkBackend):
    """Opens the connections of httpcore2. TLS still verifies the name in the link: only the address is chosen here."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connects to the first address of ``host`` that answers. Raises UnsafeLinkError if one is not allowed."""
        addresses = await self._rules.resolve(host, port)
        named = self._rules.named
        at_home = named is not None and named.home and named.origin.endswith(f"://{host}:{port}")
        allows = is_home if at_home else self._rules.allows
        if not addresses or not all(allows(address) for address in addresses):
            raise UnsafeLinkError(
                f"{host} is not a public web address: it belongs to this computer, to a local network or to a "
                "reserved range. Nothing was fetched. Save the page as a file and open that."
            )
        fault: Exception = httpcore2.ConnectError("no address")
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await self._sockets.connect_tcp(
                    address, port, CONNECT_SECONDS, local_address=local_address, socket_options=socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                fault = error
        raise fault
