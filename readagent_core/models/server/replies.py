"""Reads what arrives of one call, the events of a stream or a whole reply, into text, thinking and figures.

Servers differ in how they send all three; this module separates them. Everything that is read is bounded. Whether a
finished reply can be used (cut off, refused, empty) is checked by its reader. Knows nothing of sending.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2

from readagent_core.models.thinking import ThinkFilter
from readagent_core.quick_json import from_json

Event = dict[str, Any]

LINE_BYTES = 2**20  # one event: a few characters and their figures
BODY_BYTES = 8 * 2**20  # a reply that is not streamed
STREAM_BYTES = 64 * 2**20  # a whole stream, comments included: 20,000 tokens take about 8 MB
EMPTY_EVENTS = 50_000  # in a row, comments included: some servers send one for each token of hidden thinking
END_SECONDS = 1.0  # from the last event to the end of the body


class Endless(httpx2.DecodingError):
    """The server does not end its reply; the text says how ('one line of it has more than 1 MB')."""


@dataclass
class Reply:
    """What has arrived so far. ``finish``: as the server says it, None until it does. ``fault``: an 'error' it sent
    in place of a reply. ``first``: seconds to the first part of the text. ``size``: characters of text and thinking.
    """

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reused: int | None = None
    refused: bool = False
    thought: bool = False  # the server counted thinking, shown or not
    fault: Any = None
    first: float | None = None
    size: int = 0
    _think: ThinkFilter = field(default_factory=ThinkFilter, repr=False)

    def take(self, event: Event) -> str:
        """Read one event, a streamed part or the whole; return the text in it, which is not yet part of ``text``."""
        self.fault = event.get("error") or self.fault
        usage = event.get("usage")
        if isinstance(usage, dict):
            self.tokens_in = _count(usage.get("prompt_tokens"), self.tokens_in)
            self.tokens_out = _count(usage.get("completion_tokens"), self.tokens_out)
            reused = _dict(usage.get("prompt_tokens_details")).get(
                "cached_tokens", usage.get("prompt_cache_hit_tokens")
            )
            self.tokens_reused = _count(reused, self.tokens_reused)
            self.thought |= bool(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens"))
        choices = event.get("choices")
        said = ""
        for row in choices if isinstance(choices, list) else []:
            choice = _dict(row)
            message = _dict(choice.get("delta") or choice.get("message"))
            self.finish = choice.get("finish_reason") or self.finish
            self.refused = self.refused or bool(message.get("refusal")) or self.finish == "content_filter"
            thought = _plain(message.get("reasoning_content") or message.get("reasoning"))
            content = _plain(message.get("content"))
            self.size += len(thought) + len(content)
            self.reasoning += thought
            said += self._think.feed(content)
        return said

    def end(self) -> str:
        """Return the text that was held back as perhaps a tag; no event follows."""
        rest = self._think.end()
        self.reasoning += self._think.reasoning
        return rest


async def parts(response: httpx2.Response, reply: Reply) -> AsyncIterator[str]:
    """Give the text in each event as it arrives, '' where it holds none; the rest goes into ``reply``.

    Raises Endless, DecodingError for a line or body that is no JSON object, and httpx2's other errors.
    """
    if "event-stream" not in response.headers.get("content-type", ""):
        yield reply.take(_object(await body(response)))
        return
    empty = 0
    lines = _lines(response)
    async for line in lines:
        before = reply.size
        if line.startswith(b"data:"):
            data = line[5:].strip()
            if data == b"[DONE]":
                with suppress(TimeoutError, httpx2.TransportError):  # a connection read to its end is used again
                    async with asyncio.timeout(END_SECONDS):
                        async for _ in lines:
                            pass
                return
            yield reply.take(_object(data))
        empty = 0 if reply.size > before else empty + 1
        if empty > EMPTY_EVENTS:
            raise Endless("nothing but empty events came")


async def body(response: httpx2.Response) -> bytes:
    """Read the whole body of a response. Raises Endless where it is too long."""
    whole = bytearray()
    async for data in response.aiter_bytes():
        whole += data
        if len(whole) > BODY_BYTES:
            raise Endless(f"it has more than {BODY_BYTES // 2**20} MB")
    return bytes(whole)


async def _lines(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Give the lines as they arrive, but no empty ones. Only ASCII line ends count: JSON may hold others."""
    line = bytearray()
    total = 0
    async for data in response.aiter_bytes():
        *ended, rest = data.replace(b"\r", b"\n").split(b"\n")
        for piece in ended:
            line += piece
            if line:
                yield bytes(line)
                line.clear()
        line += rest
        total += len(data)
        if len(line) > LINE_BYTES:
            raise Endless(f"one line of it has more than {LINE_BYTES // 2**20} MB")
        if total > STREAM_BYTES:
            raise Endless(f"more than {STREAM_BYTES // 2**20} MB came")
    if line:
        yield bytes(line)


def _object(data: bytes) -> Event:
    try:
        found = from_json(data)
    except (ValueError, RecursionError):
        raise httpx2.DecodingError("not JSON") from None
    if not isinstance(found, dict):
        raise httpx2.DecodingError("not an object")
    return found


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object, before: int | None) -> int | None:
    return value if isinstance(value, int) and value >= 0 else before


def _plain(content: object) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(p.get("text", "")) for p in content if isinstance(p, dict))
    return ""
