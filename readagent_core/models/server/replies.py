"""Reads what arrives of one call, the events of a stream or a whole reply, into text, thinking and figures.

Servers differ in how they send all three; this module separates them. Everything that is read is bounded, and how the
bytes are cut makes no difference. Whether a reply can be used is checked by its reader. Knows nothing of sending.

Why the ``openai`` package's decoder is not used: it keeps lines and events of any length in memory, fails on bytes
that are no UTF-8, drops an event at the end of a body without an empty line, and believes the content type.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
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
MOST_TRIES = 32  # to read an event whose lines are still coming
BOM = b"\xef\xbb\xbf"


class Endless(httpx2.DecodingError):
    """The server does not end its reply; the text says how ('one line of it has more than 1 MB')."""


class WebPage(httpx2.DecodingError):
    """The body is HTML."""


class Ending(Enum):
    """How a reply ended."""

    WHOLE = "whole"
    LENGTH = "length"  # no room was left
    REFUSED = "refused"
    BROKEN = "broken"
    UNKNOWN = "unknown"  # the server's reason is in no table


# Finish reasons as servers send them, in letters only: OpenAI, Gemini, Anthropic, Mistral ('model_length'), TGI
# ('eos_token'), vLLM and SGLang ('abort'), DeepSeek ('insufficient_system_resource'), Zhipu ('sensitive',
# 'network_error'), Cohere ('complete', 'error_toxic'), Bedrock ('guardrail_intervened'), OpenRouter ('error').
_ENDINGS = {
    Ending.WHOLE: "stop endturn eos eostoken eot endoftext stopsequence stoptoken stopstring complete completed done "
    "finish finished normal success end toolcalls toolcall tooluse functioncall",
    Ending.LENGTH: "length maxtokens maxtoken maxlength maxoutputtokens maxnewtokens maxcompletiontokens modellength "
    "tokenlimit limit modelcontextwindowexceeded contextlength contextlengthexceeded contextwindow incomplete "
    "truncated",
    Ending.REFUSED: "contentfilter contentfiltered safety recitation blocklist prohibitedcontent spii sensitive "
    "refusal guardrailintervened guardrails moderation flagged errortoxic imagesafety language",
    Ending.BROKEN: "error abort aborted cancel cancelled canceled networkerror timeout interrupted disconnected failed "
    "failure insufficientsystemresource internalerror servererror upstreamerror errorlimit malformedfunctioncall other "
    "unspecified unknown repetition",
}
_KINDS = {reason: ending for ending, reasons in _ENDINGS.items() for reason in reasons.split()}
_SENTENCE_END = re.compile(r"[.!?…。！？｡؟।۔>)\]}\"'”’»」』`*|]\s*\Z")
_HALVES = re.compile("[\ud800-\udfff]")
_HALVES_AT_END = re.compile("[\ud800-\udfff]{0,3}\\Z")
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # the others stand for bytes (see ``_json``)
_KEEP_ALIVE = re.compile(
    rb'(?:"|\[|<)?(?:ping|pong|heart-?beat|keep-?_?alive|processing|waiting|null|none)\b.{0,20}', re.I
)


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


@dataclass
class Reply:
    """What has arrived so far. ``content``: the model's text with the thinking in it; ``text``: what of it was shown.
    ``finish``: as the server says it, None until it does; ``done``: it said that nothing follows. ``fault``: an error
    it sent in place of a reply. ``first``: seconds to the first part of the text. ``size``: characters of all.
    """

    text: str = ""
    content: str = ""
    reasoning: str = ""
    finish: str | None = None
    done: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reused: int | None = None
    refused: bool = False
    thought: bool = False  # the server counted thinking, shown or not
    fault: Any = None
    first: float | None = None
    size: int = 0
    _think: ThinkFilter = field(default_factory=ThinkFilter, repr=False)
    _half: str = ""  # of a character that two events share
    _half_thought: str = ""

    def take(self, event: Event) -> str:
        """Read one event, a streamed part or the whole; return the text in it, which is not yet part of ``text``."""
        self.fault = fault_in(event) or self.fault
        self._count_usage(event)
        choices = event.get("choices")
        said = ""
        for row in choices if isinstance(choices, list) else []:
            choice = _dict(row)
            if choice.get("index") not in (0, None):
                continue
            delta = choice.get("delta")
            message = delta if isinstance(delta, dict) else _dict(choice.get("message"))
            self._count_usage(choice)
            self.finish = _reason(choice.get("finish_reason") or choice.get("finishReason")) or self.finish
            self.refused = self.refused or bool(message.get("refusal"))
            content = _plain(message.get("content")) or _plain(choice.get("text"))
            if not isinstance(delta, dict) and self.content and content.startswith(self.content):
                content = content[len(self.content) :]  # the whole once more, at the end of a stream
            thought = next(filter(None, map(_plain, map(message.get, _THINKING))), "") + _plain(
                message.get("content"), of="thinking"
            )
            self.size += len(thought) + len(content)
            thought, self._half_thought = _mend(self._half_thought + thought)
            content, self._half = _mend(self._half + content)
            self.reasoning += thought
            self.content += content
            said += self._think.feed(content)
        return said

    def _count_usage(self, event: Event) -> None:
        usage = _dict(event.get("usage")) or _dict(_dict(event.get("x_groq")).get("usage"))
        details = _dict(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
        reused = (
            details.get("cached_tokens"),
            *map(usage.get, ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")),
            _dict(event.get("timings")).get("cache_n"),
        )
        self.tokens_in = _count((usage.get("prompt_tokens"), usage.get("input_tokens")), self.tokens_in)
        self.tokens_out = _count((usage.get("completion_tokens"), usage.get("output_tokens")), self.tokens_out)
        self.tokens_reused = _count(reused, self.tokens_reused)
        self.thought |= bool(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens"))

    def end(self) -> str:
        """Return the text that was held back as perhaps a mark; no event follows."""
        last, _ = _mend(self._half, last=True)
        self.reasoning += _mend(self._half_thought, last=True)[0]
        self.content += last
        return self._think.feed(last) + self._think.end() if last else self._think.end()

    def ending(self, most: int | None) -> Ending:
        """How the reply ended that might have ``most`` tokens."""
        if self.refused:
            return Ending.REFUSED
        if self.finish is None:
            full = most is not None and self.tokens_out is not None and self.tokens_out >= most
            return Ending.BROKEN if not self.done else Ending.LENGTH if full else Ending.WHOLE
        reason = re.sub("[^a-z]", "", self.finish.lower()).removeprefix("finishreason")
        return _KINDS.get(reason, Ending.UNKNOWN)

    @property
    def ends_a_sentence(self) -> bool:
        return bool(_SENTENCE_END.search(self.content))


_THINKING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


def fault_in(event: Event) -> Any:
    """What an event says went wrong, in whichever shape its server does; None for a part of a reply."""
    choices = event.get("choices")
    rows = [row for row in choices if isinstance(row, dict)] if isinstance(choices, list) else []
    if error := event.get("error") or next((row["error"] for row in rows if row.get("error")), None):
        return error
    status = _dict(event.get("base_resp"))  # MiniMax
    if status.get("status_code"):
        return {"code": status["status_code"], "message": status.get("status_msg")}
    if rows:
        return None
    named = event.get("object") == "error" or event.get("type") == "error" or event.get("success") is False
    code = event.get("code", event.get("error_code"))
    coded = isinstance(code, int | str) and str(code).lower() not in ("", "0", "200", "ok", "success", "false")
    words = ("detail", "errors", "msg", "error_msg", "errorMessage", "fault", "Message")
    said = any(event.get(name) for name in words) or (isinstance(event.get("message"), str) and event["message"])
    return event if named or coded or said else None


async def parts(response: httpx2.Response, reply: Reply) -> AsyncIterator[str]:
    """Give the text in each event as it arrives, '' where it holds none; the rest goes into ``reply``.

    Raises Endless, DecodingError for what is neither events nor JSON, and httpx2's other errors.
    """
    events = Events(streamed="event-stream" in response.headers.get("content-type", ""))
    pieces = response.aiter_bytes()
    empty = 0
    async for data in pieces:
        before, lines = reply.size, events.lines
        for event in events.feed(data):
            yield reply.take(event)
        reply.done = events.done
        if events.done:
            with suppress(TimeoutError, httpx2.TransportError):  # a connection read to its end is used again
                async with asyncio.timeout(END_SECONDS):
                    async for _ in pieces:
                        pass
            return
        empty = 0 if reply.size > before else empty + events.lines - lines
        if empty > EMPTY_EVENTS:
            raise Endless("nothing but empty events came")
    for event in events.end():
        yield reply.take(event)
    reply.done = events.done


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


def _mend(text: str, *, last: bool = False) -> tuple[str, str]:
    """Join the halves and bytes of characters in ``text``; return it and what of its end the next event may complete.

    A half that stays alone becomes U+FFFD.
    """
    if not _HALVES.search(text):
        return text, ""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    held = "" if last else _HALVES_AT_END.search(text)[0]  # type: ignore[index]  # it matches nothing too
    text = _NO_BYTES.sub("\ufffd", text[: len(text) - len(held)])
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), held


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(values: tuple[object, ...], before: int | None) -> int | None:
    """The first of ``values`` that is a count of tokens, else what was known before."""
    for value in values:
        if isinstance(value, str) and value.isdecimal() and len(value) < 12:
            return int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
            return int(value)
    return before


def _reason(value: object) -> str | None:
    """A finish reason; SGLang once sent an object."""
    value = _dict(value).get("type", value)
    return value if isinstance(value, str) and value.lower() not in ("", "null", "none") else None


def _plain(content: object, *, of: str = "text") -> str:
    """The text of a message's content: a string, or a list of parts; ``of``: 'thinking' for that of Mistral's parts."""
    if isinstance(content, str):
        return content if of == "text" else ""
    if not isinstance(content, list):
        return ""
    found = [part.get(of) for part in content if isinstance(part, dict)]
    return "".join(part if isinstance(part, str) else _plain(part) if of == "thinking" else "" for part in found)
