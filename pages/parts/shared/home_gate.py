"""Who is let in from the home network, and what is answered there beside the app itself.

Whatever comes in needs the cookie of a device that is signed in, or the password itself where it is another reading
app; only then it reaches the app. Requests from outside the home network are refused, whatever they know.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import socket
import sys
import threading
from collections.abc import Callable
from string import Template
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.parts.shared.cached import workspace_of_request
from pages.parts.shared.component import read
from pages.parts.shared.gate import refusal_of
from readagent_core.errors import ReadAgentError, SignInError
from readagent_core.fetching.connecting import is_home
from readagent_core.settings import home_folder
from readagent_core.sharing import catalogue, progress
from readagent_core.sharing.access import DAYS, Access

COOKIE = "readagent_device"
_MOST_BODY = 1 << 16  # KOReader sends what it knows of the book beside the place
_LOCK = threading.Lock()
_KEEPER = vars(sys.modules.setdefault("readagent_access", ModuleType("readagent_access")))  # see cached.py
_PAGE = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FILE = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
}


def access() -> Access:
    """The password and the devices of this computer's library."""
    with _LOCK:
        found: Access | None = _KEEPER.get("access")
        if found is None:
            found = _KEEPER["access"] = Access(home_folder())
        return found


class SignedIn:
    """ASGI middleware: the app, for devices that are signed in; and what other reading apps ask for.

    ``style``: the styles of the page for signing in.
    """

    def __init__(self, app: ASGIApp, style: str) -> None:
        self._app, self._style = app, style
        routes = [
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-in", lambda _: RedirectResponse("/"), methods=["GET"]),  # a page that was loaded again
            Route("/sign-out", _sign_out, methods=["POST"]),
            Route("/opds", _with_password(_opds)),
            Route("/opds/{rest:path}", _with_password(_opds)),
        ]
        for prefix in ("", "/sync"):  # KOReader appends its paths to the address that a person typed
            routes += [
                Route(f"{prefix}/users/create", _create, methods=["POST"]),
                Route(f"{prefix}/users/auth", _with_key(_authorized)),
                Route(f"{prefix}/syncs/progress", _with_key(_put_progress), methods=["PUT"]),
                Route(f"{prefix}/syncs/progress/{{document}}", _with_key(_get_progress)),
            ]
        self._own = Starlette(routes=routes)
        self._paths = ("/sign-in", "/sign-out", "/opds", "/users/", "/syncs/", "/sync/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        request = HTTPConnection(scope)
        answer: ASGIApp | None = refusal_of(scope)
        if answer is None and not (request.client and is_home(request.client.host)):
            answer = Response("Only the home network is answered.", status_code=403)
        if answer is None and scope["path"].startswith(self._paths):
            answer = self._own
        cookie = request.cookies.get(COOKIE, "")
        if answer is None:
            known = await run_in_threadpool(access().device, cookie)
            answer = self._app if known else self._sign_in_page(request)
        if scope["type"] == "websocket" and answer is not self._app:
            await send({"type": "websocket.close", "code": 1008})
            return

        async def receive_if_known() -> Message:
            message = await receive()  # a device that is signed out meanwhile says nothing more
            known = message["type"] != "websocket.receive" or access().device(cookie)
            return message if known else {"type": "websocket.disconnect", "code": 1008}

        await answer(scope, receive_if_known, send)

    def _sign_in_page(self, request: HTTPConnection, said: str = "", to: str = "") -> Response:
        wants_page = "text/html" in request.headers.get("accept", "")
        if not wants_page and not said:
            return Response("Sign in first.", status_code=401)
        to = to or f"{request.url.path}{f'?{request.url.query}' if request.url.query else ''}"
        text = Template(read("sign_in.html")).substitute(
            theme="system", style=self._style, mark=read("mark.svg"), computer=html.escape(socket.gethostname()),
            to=html.escape(to), said=html.escape(said), state="bad" if said else "", days=DAYS,
            described=' aria-describedby="no" aria-invalid="true"' if said else "",
        )  # fmt: skip
        return HTMLResponse(text, status_code=401, headers=_PAGE)

    async def _sign_in(self, request: Request) -> Response:
        fields = parse_qs((await _body(request)).decode("utf-8", "replace"))
        password, to = fields.get("password", [""])[0], fields.get("to", ["/"])[0]
        to = to if to.startswith("/") and not to.startswith(("//", "/\\")) else "/"
        try:
            token = await run_in_threadpool(
                access().sign_in, password, _address(request), request.headers.get("user-agent", "")
            )
        except SignInError as error:
            return self._sign_in_page(request, str(error), to)
        response = RedirectResponse(to, 303)
        response.set_cookie(COOKIE, token, max_age=DAYS * 86_400, httponly=True, samesite="strict")
        return response


def _sign_out(request: Request) -> Response:
    if known := access().device(request.cookies.get(COOKIE, "")):
        access().sign_out(known.id)
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE)
    return response


def _address(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""


async def _body(request: Request) -> bytes:
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > _MOST_BODY:
            return b""
    return data


# --- other reading apps --------------------------------------------------------------------------------------------

Handler = Callable[..., Response]


def _with_password(handler: Handler) -> Callable[[Request], Any]:
    """The handler for requests with the password in HTTP's Basic scheme, under any user."""

    async def guarded(request: Request) -> Response:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        try:
            if kind.lower() != "basic":
                raise SignInError("This library asks for its password, under any user.")
            _, _, password = base64.b64decode(given, validate=True).decode().partition(":")
            await run_in_threadpool(access().check, password, _address(request))
            return await run_in_threadpool(handler, request)
        except (SignInError, binascii.Error, UnicodeDecodeError) as error:
            asked = {"WWW-Authenticate": 'Basic realm="ReadAgent", charset="UTF-8"'}
            return Response(str(error), status_code=401, headers=asked, media_type="text/plain")
        except ReadAgentError as error:
            return Response(str(error), status_code=404, media_type="text/plain")

    return guarded


def _with_key(handler: Handler) -> Callable[[Request], Any]:
    """The handler for requests of KOReader, which sends the MD5 of the password."""

    async def guarded(request: Request) -> Response:
        try:
            key = request.headers.get("x-auth-key", "")
            if not key:
                raise SignInError("Send the password of this library as KOReader does.")
            await run_in_threadpool(lambda: access().check(key, _address(request), hashed=True))
            body = await _body(request) if request.method == "PUT" else b""
            return await run_in_threadpool(handler, request, body)
        except SignInError as error:
            return JSONResponse({"code": 2001, "message": str(error)}, status_code=401)
        except (ReadAgentError, ValueError, RecursionError) as error:
            return JSONResponse({"code": 2003, "message": str(error)}, status_code=403)

    return guarded


def _opds(request: Request) -> Response:
    library, (kind, _, rest) = workspace_of_request(request).library, request.path_params.get("rest", "").partition("/")
    given = request.query_params
    if not kind:
        return Response(catalogue.front_page(library), media_type=catalogue.NAVIGATION)
    if kind == "books":
        page = given.get("page", "0")
        number = int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 0
        text = catalogue.book_list(library, words=given.get("q", "")[:300], shelf=given.get("shelf", ""), page=number)
        return Response(text, media_type=catalogue.ACQUISITION)
    if kind == "search.xml":
        return Response(catalogue.description(), media_type="application/opensearchdescription+xml")
    book = library.book(rest.partition("/")[0]) if kind in ("cover", "book") else None
    if book is not None and kind == "cover" and (cover := library.cover(book.id)) and cover.kind in catalogue.COVERS:
        return Response(cover.data, media_type=cover.kind, headers=_FILE)
    if book is not None and kind == "book":
        data, type_, name = catalogue.file_of(library, book)
        named = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        return Response(data, media_type=type_, headers=_FILE | named)
    return Response("There is nothing at this address.", status_code=404, media_type="text/plain")


async def _create(request: Request) -> Response:
    """No account is made: the password of this library is the only one. Whoever has it is told that it is there."""
    try:
        values = json.loads(await _body(request))
        key = str(values["password"])
        await run_in_threadpool(lambda: access().check(key, _address(request), hashed=True))
    except (SignInError, ValueError, KeyError, TypeError, RecursionError) as error:
        said = str(error) if isinstance(error, SignInError) else "Send a username and a password."
        return JSONResponse({"code": 2002, "message": said}, status_code=402)
    return JSONResponse({"username": str(values.get("username", ""))[:100]}, status_code=201)


def _authorized(request: Request, _: bytes) -> Response:
    return JSONResponse({"authorized": "OK"})


def _put_progress(request: Request, body: bytes) -> Response:
    values = json.loads(body)
    taken = progress.put(workspace_of_request(request).library, values if isinstance(values, dict) else {})
    return JSONResponse({"document": taken.document, "timestamp": taken.timestamp})


def _get_progress(request: Request, _: bytes) -> Response:
    return JSONResponse(progress.get(workspace_of_request(request).library, request.path_params["document"]))
