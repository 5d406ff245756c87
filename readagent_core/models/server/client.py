"""Sends calls to one server through the ``openai`` package. Knows neither what a call holds nor what a reply means.

Redirects and HTTP versions are the package's business. Its coroutines run on the event loop of
``event_loop``.
"""

from __future__ import annotations

import asyncio
import re
import weakref
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
import openai

from readagent_core.models.server import network
from readagent_core.quick_json import from_json, to_json
from readagent_core.settings import Secret

CONNECT_SECONDS = 10.0
ERROR_BYTES = 65_536  # of the body of an error
FAULTS = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, UnicodeError)
_NO_TELEMETRY = {  # headers in which the package would describe this computer with every call
    f"X-Stainless-{name}": openai.Omit()
    for name in (
        "Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async", "Retry-Count", "Read-Timeout"
    )
}  # fmt: skip
# the key alone, not an administrator's from the environment; a key against sending twice is never needed here
_OPTIONS: Any = {"security": {"bearer_auth": True}, "headers": _NO_TELEMETRY, "idempotency_key": "none"}


class Client:
    """``silence``: seconds the server may send nothing. Its connections close when nothing uses the client any more."""

    def __init__(self, where: str, key: Secret, *, silence: float) -> None:
        self._where = where
        self._key = key
        self._timeout = httpx2.Timeout(silence, connect=min(CONNECT_SECONDS, silence), pool=None)
        self._client: openai.AsyncOpenAI | None = None
        self._closing: weakref.finalize[Any, Any] | None = None
        self._calls: set[asyncio.Task[Any]] = set()  # under way

    @asynccontextmanager
    async def open(self, path: str, request: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
        """Send a call and give the response, its body still to come. Raises one of ``FAULTS``, and ModelError where the
        server cannot be reached as it is set up.

        ``post`` is what the package's own methods end in; they read the message into its types first, which is most
        of the work of a call.
        """
        client, call = self._openai(), cast("asyncio.Task[Any]", asyncio.current_task())
        self._calls.add(call)
        try:
            answer = await client.post(
                f"{self._where}/{path}",
                content=to_json(request),
                cast_to=httpx2.Response,
                options=_OPTIONS,
                stream=True,
                stream_cls=openai.AsyncStream[Any],
            )
            response = cast(httpx2.Response, answer)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            self._calls.discard(call)

    def close(self) -> None:
        """Close the connections. Calls that are under way are cancelled."""
        closed = self._closing() if self._closing else None
        self._client = self._closing = None
        if closed is not None:
            closed.result()

    def _openai(self) -> openai.AsyncOpenAI:
        """The package's client, made for the first call."""
        if self._client is None:
            network.check(self._where, self._key)
            hooks = {"response": [_check_status]}
            self._client = openai.AsyncOpenAI(
                base_url=self._where,
                api_key=self._key.reveal() or "none",  # local servers want something there
                max_retries=0,
                timeout=self._timeout,
                http_client=openai.DefaultAsyncHttpxClient(
                    timeout=self._timeout, event_hooks=hooks, **network.options(self._where)
                ),
            )
            self._closing = weakref.finalize(self, _close, self._client, self._calls, asyncio.get_running_loop())
            self._closing.atexit = False
        return self._client


async def _check_status(response: httpx2.Response) -> None:
    """Raise the package's error for a status that is one, with the beginning of its body: the package would read it
    without a limit.
    """
    if response.is_success or response.has_redirect_location:
        return
    content = bytearray()
    async for data in response.aiter_bytes():
        content += data
        if len(content) > ERROR_BYTES:
            break
    text = content[:ERROR_BYTES].decode("utf-8", "replace")
    try:
        found = from_json(text)
    except (ValueError, RecursionError):
        found = text
    raise openai.APIStatusError(str(response.status_code), response=response, body=found)


def error_in(response: httpx2.Response, fault: object) -> openai.APIStatusError:
    """Return the package's error for a ``fault`` inside a body with status 200, with the status that it names or 0."""
    error = openai.APIStatusError("", response=response, body=fault)
    named = [str(fault.get(name)) for name in ("code", "status", "status_code")] if isinstance(fault, dict) else []
    error.status_code = next((int(code) for code in named if re.fullmatch("[45][0-9][0-9]", code)), 0)
    return error


def _close(
    client: openai.AsyncOpenAI, calls: set[asyncio.Task[Any]], loop: asyncio.AbstractEventLoop
) -> Future[None] | None:
    """Close the connections without waiting: garbage collection may call this in any thread, the loop's too."""

    async def close() -> None:
        under_way = list(calls)  # the package closes no connection that is still being made
        for call in under_way:
            call.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await client.close()

    return None if loop.is_closed() else asyncio.run_coroutine_threadsafe(close(), loop)
