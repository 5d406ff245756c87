"""Answers the home network while sharing is on: a second listener of this server, on this computer's addresses there.

The first listener, for this computer alone, knows nothing of it. ``home_gate`` says who is let in.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import ModuleType

import psutil
import streamlit as st
import uvicorn
from starlette.types import ASGIApp

from pages.parts.shared.home_gate import COOKIE, SignedIn, access
from readagent_core.errors import NetworkError, ReadAgentError
from readagent_core.fetching.connecting import is_home
from readagent_core.settings import load_team, share_addresses

_PORTS = 10  # that are tried
_KEEPER = vars(sys.modules.setdefault("readagent_sharing", ModuleType("readagent_sharing")))  # see cached.py


def is_other_device() -> bool:
    """Whether the session whose script runs is of a device in the home network."""
    return COOKIE in st.context.cookies


class _Listener(uvicorn.Server):
    """uvicorn's server beside another one in the same loop, which has the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Sharing:
    """The listener. ``addresses``: where it answers, '192.168.1.23:8501', the usual one first; () while it is off.

    ``trouble``: why it could not be switched on.
    """

    def __init__(self, app: ASGIApp, loop: asyncio.AbstractEventLoop, style: str) -> None:
        self._app, self._loop = SignedIn(app, style), loop
        self._server: _Listener | None = None
        self._task: Future[None] | None = None
        self.addresses: tuple[str, ...] = ()
        self.trouble: ReadAgentError | None = None

    def start(self) -> None:
        """Answer the home network. Raises NetworkError where this computer is in none, or no port is free."""
        self.stop()
        hosts = home_addresses()
        if not hosts:
            raise NetworkError(
                "This computer is in no home network. Connect it, by Wi-Fi or cable, to the one that your phone is in; "
                "then switch this on again."
            )
        first = int(st.get_option("server.port"))
        for port in range(first, first + _PORTS):
            sockets = _bind(hosts, port)
            if sockets:
                break
        else:
            raise NetworkError(
                f"Port {first} is taken, and the {_PORTS - 1} after it. Close what uses them; then switch this on "
                "again."
            )
        config = uvicorn.Config(
            self._app, lifespan="off", access_log=False, log_level="warning", ws="websockets-sansio",
            ws_max_size=int(st.get_option("server.maxMessageSize")) << 20, server_header=False,
        )  # fmt: skip
        access().keep()
        self._server = _Listener(config)
        self._task = asyncio.run_coroutine_threadsafe(self._server.serve(sockets), self._loop)
        self.addresses = tuple(f"{host}:{port}" for host in hosts)

    def stop(self) -> None:
        """Answer this computer alone again."""
        if self._server is not None:
            self._server.should_exit = self._server.force_exit = True
        self._server, self.addresses, self.trouble = None, (), None


def begin(app: ASGIApp, style: str) -> Sharing | None:
    """Note the server's loop, and share at once where that is switched on; None on a server for several people."""
    if load_team() is not None:
        return None
    sharing = Sharing(app, asyncio.get_running_loop(), style)
    _KEEPER["sharing"] = sharing
    if access().on or share_addresses() is not None:
        try:
            sharing.start()
            if share_addresses() is not None:
                say(sharing)
        except ReadAgentError as error:
            sharing.trouble = error
            print(f"On my phone: {error}", file=sys.stderr)
    return sharing


def sharing_now() -> Sharing | None:
    """The listener of this process; None where the app was not started by app.py."""
    return _KEEPER.get("sharing")


def say(sharing: Sharing) -> None:
    """Print the address, the code and the password where the app was started."""
    import segno

    code = segno.make(code_address(sharing), error="m")
    code.terminal(out=sys.stderr, compact=True)
    print(f"On a phone in this network: http://{sharing.addresses[0]}  password: {access().password}", file=sys.stderr)


def code_address(sharing: Sharing) -> str:
    """The address in the code: the password is after '#', so that no request carries it."""
    return f"http://{sharing.addresses[0]}/#{access().password}"


def home_addresses() -> list[str]:
    """This computer's addresses in the home network, the one that leads to other networks first."""
    if chosen := share_addresses():
        return list(chosen)
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    found = [
        one.address
        for name, addresses in psutil.net_if_addrs().items()
        if name in up
        for one in addresses
        if one.family == socket.AF_INET and is_home(one.address) and not one.address.startswith(("127.", "100."))
    ]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("10.254.254.254", 1))  # sends nothing: only the way is looked up
        found.sort(key=lambda address: address != out.getsockname()[0])
    return found


def _bind(hosts: list[str], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for host in hosts:
            sockets.append(socket.create_server((host, port)))
    except OSError:
        for one in sockets:
            one.close()
        return []
    return sockets
