"""What arrives of one call: the events of a stream, or a whole reply, read into text, thinking and figures.

Servers differ in how they send all three; here they are told apart. What a reply is worth (cut, refused, empty) is
for its reader to say. Knows nothing of sending.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx2

from readagent_core.models.thinking import ThinkFilter
from readagent_core.quick_json import from_json

Event = dict[str, Any]


class Arriving(Protocol):
    """An answer whose body is still to come: what of ``httpx2.Response`` is needed here."""

    @property
    def headers(self) -> Any: ...

    def read(self) -> bytes: ...

    def iter_bytes(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


@dataclass
class Reply:
    """What has arrived so far. ``finish``: as the server says it, None until it does. ``fault``: an 'error' it sent
    in place of a reply. ``first``: seconds to the first part of the text. ``waited``: before the call was sent."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    refused: bool = False
    thought: bool = False  # the server counted thinking, shown or not
    fault: Any = None
    first: float | None = None
    waited: float = 0.0
    _think: ThinkFilter = field(default_factory=ThinkFilter, repr=False)

    def take(self, event: Event) -> str:
        """Read one event, a streamed part or the whole; the text in it, which is not yet part of ``text``."""
        self.fault = event.get("error") or self.fault
        usage = event.get("usage")
        if isinstance(usage, dict):
            self.tokens_in = _count(usage.get("prompt_tokens"), self.tokens_in)
            self.tokens_out = _count(usage.get("completion_tokens"), self.tokens_out)
            details = usage.get("completion_tokens_details")
            self.thought = self.thought or bool(isinstance(details, dict) and details.get("reasoning_tokens"))
        choices = event.get("choices")
        said = ""
        for choice in choices if isinstance(choices, list) else []:
            message = choice.get("delta") or choice.get("message") or {}
            self.finish = choice.get("finish_reason") or self.finish
            self.refused = self.refused or bool(message.get("refusal")) or self.finish == "content_filter"
            thought = message.get("reasoning_content") or message.get("reasoning") or ""
            self.reasoning += thought if isinstance(thought, str) else ""
            said += self._think.feed(_plain(message.get("content")))
        return said

    def end(self) -> str:
        """No event follows: the text that was held back as perhaps a tag."""
        rest = self._think.end()
        self.reasoning += self._think.reasoning
        return rest


def events(response: Arriving) -> Iterator[Event]:
    """Each event of a stream, or the one whole reply of a server that does not stream.

    A line that is broken ends the stream as broken off: DecodingError, as for a whole reply that is no JSON object.
    """
    if "event-stream" not in response.headers.get("content-type", ""):
        yield _object(response.read())
        return
    lines = _lines(response)
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            for _ in lines:  # read to the very end, so that the connection can be used again
                pass
            return
        yield _object(data)


def _lines(response: Arriving) -> Iterator[bytes]:
    """Lines as they come. Only ASCII line ends end one: JSON may hold others as they are."""
    held = b""
    for data in response.iter_bytes():
        *whole, held = (held + data.replace(b"\r", b"\n")).split(b"\n")
        yield from whole
    if held:
        yield held


def _object(data: bytes) -> Event:
    try:
        found = from_json(data)
    except ValueError:
        raise httpx2.DecodingError("not JSON") from None
    if not isinstance(found, dict):
        raise httpx2.DecodingError("not an object")
    return found


def _count(value: object, before: int | None) -> int | None:
    return value if isinstance(value, int) and value >= 0 else before


def _plain(content: object) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(p.get("text", "")) for p in content if isinstance(p, dict))
    return ""
