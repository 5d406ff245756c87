"""Turns the bytes of a reply's body into JSON objects: the events of a stream, or one whole reply.

Everything that is read is bounded, and how the bytes are cut makes no difference. What the objects mean is not known
here.

Why the ``openai`` package's decoder is not used: it keeps lines and events of any length in memory, fails on bytes
that are no UTF-8, drops an event at the end of a body without an empty line, and believes the content type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2

from readagent_core.quick_json import from_json

Event = dict[str, Any]

LINE_BYTES = 2**20  # one event: a few characters and their figures
BODY_BYTES = 8 * 2**20  # a reply that is not streamed
STREAM_BYTES = 64 * 2**20  # a whole stream, comments included: 20,000 tokens take about 8 MB
MOST_TRIES = 32  # to read an event whose lines are still coming
BOM = b"\xef\xbb\xbf"
_KEEP_ALIVE = re.compile(
    rb'(?:"|\[|<)?(?:ping|pong|heart-?beat|keep-?_?alive|processing|waiting|null|none)\b.{0,20}', re.I
)


class Endless(httpx2.DecodingError):
    """The server does not end its reply; the text says how ('one line of it has more than 1 MB')."""


class WebPage(httpx2.DecodingError):
    """The body is HTML."""


class Events:
    """Turns the bytes of a body, in pieces of any length, into its JSON objects: events of a stream or one whole reply.

    What the body is decides, not its label: streams come labelled as JSON and JSON as a stream. ``done``: the server
    said that nothing follows. ``lines``: how many came.
    """

    def __init__(self, *, streamed: bool) -> None:
        self.done = False
        self.lines = 0
        self._streamed = streamed
        self._kind = ""  # 'stream' or 'body' once it is known
        self._line = bytearray()
        self._data = b""  # of an event that is not whole yet
        self._event = b""
        self._pieces = 0  # lines of it
        self._total = 0
        self._known = False  # a field of an event was seen

    def feed(self, data: bytes) -> Iterator[Event]:
        """Give the events that ``data`` completes. Raises Endless and DecodingError."""
        self._total += len(data)
        self._line += data
        if not self._kind:
            if BOM.startswith(self._line[:3]) and self._line[:3] != BOM:
                return
            self._line = bytearray(self._line.removeprefix(BOM).lstrip())
            if self._line:
                self._kind = "body" if self._line[:1] in b"{[<" else "stream"
        if (self._kind == "stream" or (self._streamed and not self._kind)) and self._total > STREAM_BYTES:
            raise Endless(f"more than {STREAM_BYTES // 2**20} MB came")
        if self._kind == "stream":
            yield from self._lines(data)
        elif self._total > BODY_BYTES and (self._kind or not self._streamed):
            raise Endless(f"it has more than {BODY_BYTES // 2**20} MB")

    def _lines(self, data: bytes) -> Iterator[Event]:
        """Give the events in the lines that ``data`` completes. Only ASCII line ends count: JSON may hold others."""
        if b"\n" in data or b"\r" in self._line[-len(data) - 1 :]:
            held = self._line.endswith(b"\r")  # perhaps the first half of a line's end
            whole = bytes(self._line[:-1] if held else self._line)
            *lines, rest = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            self._line = bytearray(rest + b"\r" * held)
            for line in lines:
                yield from self._take(line)
        if max(len(self._line), len(self._data)) > LINE_BYTES:
            raise Endless(f"one line of it has more than {LINE_BYTES // 2**20} MB")

    def end(self) -> Iterator[Event]:
        """Give what is left when the body has ended. Raises DecodingError for one that is neither stream nor JSON."""
        if self._kind == "stream":
            yield from self._take(bytes(self._line).rstrip(b"\r"))
            self._data = b""  # an event that was cut
            if not self._known:
                raise httpx2.DecodingError("neither events nor JSON")
        elif self._kind:
            self.done = True
            whole = bytes(self._line).strip()
            if whole.startswith(b"<"):
                raise WebPage("a web page")
            try:
                found = [_json(whole)]
            except ValueError:  # an object a line
                lines = whole.splitlines()
                if len(lines) < 2:
                    raise httpx2.DecodingError("not JSON") from None
                try:
                    found = [_json(line) for line in lines if line.strip()]
                except ValueError:
                    raise httpx2.DecodingError("not JSON") from None
            for value in found:
                yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict))

    def _take(self, line: bytes) -> Iterator[Event]:
        if self.done or not line.strip():
            yield from self._dispatch()
            return
        self.lines += 1
        name, colon, value = line.partition(b":")
        self._known |= bool(colon) and name in (b"", b"data", b"event", b"id", b"retry")
        if name == b"event":
            self._event = value.strip().lower()
        elif line[:1] == b"{" or name == b"error":  # an error that a proxy, or llama.cpp, wrote into the stream
            self._known = True
            with suppress(ValueError):
                yield from self._object(_json(line if line[:1] == b"{" else value), failed=name == b"error")
        elif name == b"data":
            value = value.strip()
            while value.startswith(b"data:"):  # a gateway wrote its own before that of the server
                value = value[5:].strip()
            if not self._data and value.strip(b'"').upper().startswith(b"[DONE]"):
                self.done = True
                return
            self._data += (b"\n" if self._data else b"") + value
            self._pieces += 1
            if self._pieces < MOST_TRIES:
                with suppress(ValueError):  # one that is not whole yet goes on in the next line
                    yield from self._object(_json(self._data))
                    self._data, self._pieces = b"", 0

    def _dispatch(self) -> Iterator[Event]:
        """Give the event that an empty line ends where it was no JSON: an error in words, or a sign of life."""
        data, self._data, self._pieces = self._data, b"", 0
        event, self._event = self._event, b""
        if not data or self.done:
            return
        if event == b"error":
            yield {"error": data.decode("utf-8", "replace")}
        elif not _KEEP_ALIVE.fullmatch(data):
            try:
                yield from self._object(_json(data))
            except ValueError:
                raise httpx2.DecodingError("not JSON") from None

    def _object(self, value: object, *, failed: bool = False) -> Iterator[Event]:
        failed = failed or self._event == b"error"
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield {"error": item.get("error") or item} if failed else item


async def body(response: httpx2.Response) -> bytes:
    """Read the whole body of a response. Raises Endless where it is too long."""
    whole = bytearray()
    async for data in response.aiter_bytes():
        whole += data
        if len(whole) > BODY_BYTES:
            raise Endless(f"it has more than {BODY_BYTES // 2**20} MB")
    return bytes(whole)


def _json(data: bytes) -> Any:
    """The value of JSON; bytes that are no UTF-8 stay, as surrogates, so that the next event can complete them."""
    try:
        return from_json(data if data.isascii() else data.decode("utf-8", "surrogateescape"))
    except RecursionError:
        raise ValueError("nested too deep") from None
