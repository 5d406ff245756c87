"""Refuses requests that are not meant for this app, and what Streamlit itself serves to anybody but its owner.

A page of another site can send requests to this computer, and by a name of its own that leads here (DNS rebinding) read
the answers. So a request must name this app in ``Host`` and, where a page sent it, come from a page of this app.

Streamlit gives downloads and uploads long random addresses and asks for nothing else. On a server for several people
that is not enough: an address may be in a log or a history.
"""

from __future__ import annotations

import ipaddress
from fnmatch import fnmatch
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.parts.shared.signed_in import person_of_request
from pages.parts.shared.streamlit_private import (
    claims_of_session,
    note_downloads,
    sessions_with_file,
    sign_in_settings,
)
from readagent_core.errors import ReadAgentError
from readagent_core.settings import home_folder, load_team
from readagent_core.team.people import admit

_MEDIA, _UPLOAD, _STREAMLIT = "/media/", "/_stcore/upload_file/", "/_stcore/"
# what a browser needs before sign-in, and a check whether the server runs
_BEFORE_SIGN_IN = ("/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/bidi-components/")
_USUAL_PORTS = (None, 80, 443)


class Gate:
    """ASGI middleware for every request and websocket."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and (refusal := refusal_of(scope)):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def refusal_of(scope: Scope) -> PlainTextResponse | None:
    """The answer to a request that is refused; None for one that is not."""
    request = HTTPConnection(scope)
    if not _names_this_app(request):
        return PlainTextResponse("This address is not one of this app's. See server.allowedHosts.", status_code=421)
    if not _is_from_this_app(request):
        return PlainTextResponse("Only this app's own pages are answered.", status_code=403)
    if load_team():
        note_downloads()
        base = st.get_option("server.baseUrlPath").strip("/")
        path = scope["path"].removeprefix(f"/{base}" if base else "")
        if path.startswith((_MEDIA, _UPLOAD)):
            return None if _is_owner(path, request) else PlainTextResponse("There is no such file.", status_code=404)
        if path.startswith(_STREAMLIT) and not path.startswith(_BEFORE_SIGN_IN) and not _is_signed_in(request):
            return PlainTextResponse("Sign in first.", status_code=401)
    return None


# --- whose page sent it, and to which name ---------------------------------------------------------------------


def _names_this_app(request: HTTPConnection) -> bool:
    """Whether ``Host`` is this computer, the address that the request came to, or a name that is configured."""
    hosts = request.headers.getlist("host")
    parts = _split(f"//{hosts[0]}") if len(hosts) == 1 else None
    name = (parts.hostname or "").rstrip(".") if parts else ""
    if not parts or not name or parts.netloc != hosts[0] or "@" in parts.netloc:
        return False
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        if name == "localhost" or name in _server_names():
            return True
        allowed = [*st.get_option("server.allowedHosts"), *(origin.hostname or "" for origin in _configured_origins())]
        return any(fnmatch(name, one.strip().lower().rstrip(".")) for one in allowed)
    # no name that leads here, whoever owns it, makes a browser send an address
    here = request.scope.get("server") or ("",)
    return address.is_loopback or name in {here[0], *_server_names()} or name in st.get_option("server.allowedHosts")


def _is_from_this_app(request: HTTPConnection) -> bool:
    """Whether the page that sent the request is this app's; a program that is no browser names no page."""
    origin = request.headers.get("origin")
    if origin is None or origin in {f"{scheme}://{request.headers['host']}" for scheme in ("http", "https")}:
        return True
    parts = _split(origin)
    if not parts or parts.scheme not in ("http", "https"):
        return False
    if any((parts.scheme, parts.netloc) == (one.scheme, one.netloc) for one in _configured_origins()):
        return True
    # a proxy may send another Host than people type; every port of this computer may be another program's
    public = parts.hostname in _server_names() and parts.hostname not in ("localhost", "127.0.0.1", "::1")
    return public and parts.port in (*_USUAL_PORTS, st.get_option("browser.serverPort"))


def _server_names() -> set[str]:
    return {str(st.get_option(name)).lower() for name in ("browser.serverAddress", "server.address")} - {"none", ""}


def _configured_origins() -> list[SplitResult]:
    """The origins in ``server.corsAllowedOrigins``, and where people are sent back to after sign-in."""
    known = [*st.get_option("server.corsAllowedOrigins"), str(sign_in_settings().get("redirect_uri") or "")]
    return [parts for origin in known if (parts := _split(origin.strip())) and parts.hostname]


def _split(address: str) -> SplitResult | None:
    """The parts of an address; None for one that is none."""
    try:
        parts = urlsplit(address)
        _ = parts.port, parts.hostname  # raise ValueError where they are none
    except ValueError:
        return None
    return parts


# --- who may have it -------------------------------------------------------------------------------------------


def _is_owner(path: str, request: HTTPConnection) -> bool:
    if path.startswith(_MEDIA):
        sessions = sessions_with_file(path.removeprefix(_MEDIA).split(".")[0])
    else:
        sessions = [path.removeprefix(_UPLOAD).split("/")[0]]
    return any(_belongs_to_sender(session, request) for session in sessions)


def _belongs_to_sender(session_id: str, request: HTTPConnection) -> bool:
    team = load_team()
    try:
        person = person_of_request(request)
        return bool(person and team and admit(claims_of_session(session_id), team, home_folder()).id == person.id)
    except ReadAgentError:
        return False


def _is_signed_in(request: HTTPConnection) -> bool:
    try:
        return person_of_request(request) is not None
    except ReadAgentError:
        return False
