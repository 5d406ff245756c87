"""The pages of a book's PDF for the browser: pictures, places of words on them, and the password of a locked file.

The addresses belong to this app's own pages: only books of the sender's library, no other site, nothing stored by a
proxy. The panel that uses them is assets/pdf_page/panel.js.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.parts.shared.cached import workspace_of_request
from readagent_core.errors import NotInLibraryError, PasswordError, ReadAgentError, SignInError
from readagent_core.library.records import Book

MOST_BYTES = 1 << 20  # of a request
WIDTHS = range(200, 3001)  # pixels
_GUARD = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'",
    "Vary": "Cookie",  # another person in the same browser does not get it from its cache
}
_FRESH = {**_GUARD, "Cache-Control": "no-store"}
_STORED = {**_GUARD, "Cache-Control": "private, immutable, max-age=86400"}  # a changed file has another address


def original_of(book: Book) -> str | None:
    """The id under which the panel asks for the pages of ``book``; None for a book that was no PDF."""
    return book.id if book.format == "pdf" else None


def original_routes(prefix: str) -> list[Route]:
    """The addresses of the pages, below ``prefix``."""
    start = f"{prefix}/original/{{book}}"
    return [
        Route(f"{start}/facts", _facts),
        Route(f"{start}/{{version}}/{{number}}.jpg", _picture),
        Route(f"{start}/places", _places, methods=["POST"]),
        Route(f"{start}/password", _password, methods=["POST"]),
    ]


def whole_number(text: str) -> int:
    """The number of at most six digits in an address; 0, which is no page, for anything else."""
    return int(text) if re.fullmatch("[0-9]{1,6}", text) else 0


def _facts(request: Request) -> Response:
    """What the panel needs first: ``Facts`` in panel.js. A thread of the server's pool runs it, like ``_picture``."""
    book_id = request.path_params["book"]

    def work() -> dict[str, Any]:
        facts, version = workspace_of_request(request).originals.facts(book_id)
        return {"pages": facts.pages, "labels": list(facts.labels), "version": version}

    return _answer(work)


def _picture(request: Request) -> Response:
    width, values = whole_number(request.query_params.get("width", "")), request.path_params
    if width not in WIDTHS:
        return JSONResponse({"text": "The width of the picture is not allowed."}, 400, _FRESH)
    try:
        data = workspace_of_request(request).originals.draw(values["book"], whole_number(values["number"]), width=width)
    except ReadAgentError as error:
        return _refusal(error)
    return Response(data, media_type="image/jpeg", headers=_STORED)


async def _places(request: Request) -> Response:
    """Where words of a paragraph stand: a list of [page, rectangles]."""

    def find(asked: dict[str, Any]) -> dict[str, Any]:
        text, place, start, end = (asked[name] for name in ("text", "place", "start", "end"))
        if not all(isinstance(value, str) for value in (text, place)) or {type(start), type(end)} != {int}:
            raise TypeError
        last = max(0, min(end, MOST_BYTES))
        found = workspace_of_request(request).originals.find(
            request.path_params["book"], text, max(0, min(start, last)), last, place
        )
        return {"places": [[place.number, place.rectangles] for place in found]}

    return await _posted(request, find)


async def _password(request: Request) -> Response:
    def unlock(asked: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(asked["password"], str):
            raise TypeError
        workspace_of_request(request).originals.unlock(request.path_params["book"], asked["password"])
        return {}

    return await _posted(request, unlock)


async def _posted(request: Request, work: Callable[[dict[str, Any]], dict[str, Any]]) -> Response:
    """Answers a request with JSON, which another site cannot send without being asked by the browser first."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        return JSONResponse({"text": "Send JSON."}, 415, _FRESH)
    if int(request.headers.get("content-length") or MOST_BYTES + 1) > MOST_BYTES:
        return JSONResponse({"text": "This is too long."}, 413, _FRESH)
    try:
        # neither infinity nor what is nested too deeply is read
        asked = orjson.loads(await request.body())
        return await run_in_threadpool(_answer, lambda: work(asked))
    except (ValueError, KeyError, TypeError):
        return JSONResponse({"text": "This cannot be read."}, 400, _FRESH)


def _answer(work: Callable[[], dict[str, Any]]) -> Response:
    try:
        return JSONResponse(work(), headers=_FRESH)
    except ReadAgentError as error:
        return _refusal(error)


def _refusal(error: ReadAgentError) -> Response:
    """What went wrong, for the reader. ``locked``: a password is needed."""
    missing = isinstance(error, NotInLibraryError)
    locked = isinstance(error, PasswordError)
    status = 404 if missing else 403 if locked else 401 if isinstance(error, SignInError) else 422
    return JSONResponse({"text": str(error), "locked": locked, "missing": missing}, status, _FRESH)
