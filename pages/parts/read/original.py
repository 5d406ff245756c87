"""The pages of a book's PDF for the browser: pictures, places of words on them, and the password of a locked file.

The addresses belong to this app's own pages: only books of the sender's library, no other site, nothing stored by a
proxy. The panel that uses them is assets/pdf_page/panel.js.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.parts.shared.cached import workspace_of_request
from pages.parts.shared.json_routes import FRESH, GUARD, MOST_BYTES, answer, posted, refusal
from readagent_core.errors import ReadAgentError
from readagent_core.library.records import Book

WIDTHS = range(200, 3001)  # pixels
_STORED = {**GUARD, "Cache-Control": "private, immutable, max-age=86400"}  # a changed file has another address


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

    return answer(work)


def _picture(request: Request) -> Response:
    width, values = whole_number(request.query_params.get("width", "")), request.path_params
    if width not in WIDTHS:
        return JSONResponse({"text": "The width of the picture is not allowed."}, 400, FRESH)
    try:
        data = workspace_of_request(request).originals.draw(values["book"], whole_number(values["number"]), width=width)
    except ReadAgentError as error:
        return refusal(error)
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

    return await posted(request, find)


async def _password(request: Request) -> Response:
    def unlock(asked: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(asked["password"], str):
            raise TypeError
        workspace_of_request(request).originals.unlock(request.path_params["book"], asked["password"])
        return {}

    return await posted(request, unlock)
