"""JSON for the scripts of the screens: what is refused says why, nothing is stored, and no other site asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from readagent_core.errors import NotInLibraryError, PasswordError, ReadAgentError, SignInError

MOST_BYTES = 1 << 20  # of a request
GUARD = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'",
    "Vary": "Cookie",  # another person in the same browser does not get it from its cache
}
FRESH = {**GUARD, "Cache-Control": "no-store"}


async def posted(request: Request, work: Callable[[dict[str, Any]], Any]) -> Response:
    """Answers a request with JSON, which another site cannot send without being asked by the browser first."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        return JSONResponse({"text": "Send JSON."}, 415, FRESH)
    if int(request.headers.get("content-length") or MOST_BYTES + 1) > MOST_BYTES:
        return JSONResponse({"text": "This is too long."}, 413, FRESH)
    try:
        # neither infinity nor what is nested too deeply is read
        asked = orjson.loads(await request.body())
        return await run_in_threadpool(answer, lambda: work(asked))
    except (ValueError, KeyError, TypeError):
        return JSONResponse({"text": "This cannot be read."}, 400, FRESH)


def answer(work: Callable[[], Any]) -> Response:
    """What ``work`` returns, as JSON; bytes are a sound."""
    try:
        value = work()
    except ReadAgentError as error:
        return refusal(error)
    if isinstance(value, bytes):
        return Response(value, media_type="audio/wav", headers=FRESH)
    return JSONResponse(value, headers=FRESH)


def refusal(error: ReadAgentError) -> Response:
    """What went wrong, for the reader. ``locked``: a password is needed."""
    missing = isinstance(error, NotInLibraryError)
    locked = isinstance(error, PasswordError)
    status = 404 if missing else 403 if locked else 401 if isinstance(error, SignInError) else 422
    return JSONResponse({"text": str(error), "locked": locked, "missing": missing}, status, FRESH)
