"""What has arrived of one call: text, thinking, figures and how it ended, put together from its events.

Servers differ in where they put each of these; this module knows. Whether a reply can be used is checked by its
reader.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import httpx2

from readagent_core.models.server.events import Endless, Event, Events
from readagent_core.models.thinking import ThinkFilter, split_thinking

EMPTY_EVENTS = 50_000  # in a row, comments included: some servers send one for each token of hidden thinking
END_SECONDS = 1.0  # from the last event to the end of the body
REPEATED = 8  # characters: a part that begins with so many that came before repeats them
DEEPEST = 8  # levels of parts within parts


class Ending(Enum):
    """How a reply ended."""

    WHOLE = "whole"
    LENGTH = "length"  # no room was left
    REFUSED = "refused"
    BROKEN = "broken"
    UNKNOWN = "unknown"  # the server's reason is in no table


# What finish reasons have in them, without anything but letters; the first that matches decides. 'guardrail_intervened'
# and 'ERROR_TOXIC' are refusals, 'insufficient_system_resource' (DeepSeek) and 'error_limit' (Cohere) are no ends.
_ENDINGS = (
    (Ending.REFUSED, "filter|safety|recitation|block|prohibit|spii|sensitive|refus|guardrail|moderat|flagged|toxic"
     "|polic|censor|language"),
    (Ending.BROKEN, "error|abort|cancel|timeout|interrupt|connect|fail|insufficient|malformed|unexpected|overload"
     "|preempt|other|unspecified|unknown|repetition"),
    (Ending.LENGTH, "length|max|limit|window|incomplete|truncat"),
    (Ending.WHOLE, r"\A(?:stop[a-z]*|end(?:turn|oftext)?|eo[sdt](?:token)?|completed?|done|finish(?:ed)?|normal|success"
     r"|tool(?:calls?|use)|functioncall|pauseturn)\Z"),
)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?…。！？｡؟।۔>)\]}\"'”’»」』`*|]\s*\Z")
_HALVES = re.compile("[\ud800-\udfff]")
_HALVES_AT_END = re.compile("[\ud800-\udfff]{0,3}\\Z")
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # the others stand for bytes (see ``events``)
# where thinking is, the first that is not empty
_THINKING = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thinking_blocks", "reasoning_details")
_FIGURES = ("usage", "usageMetadata", "x_groq", "timings", "prompt_progress", "prompt_eval_count", "eval_count")
_PARTS = {"text": "", "value": "", "content": "", "thinking": "thinking", "summary": "thinking", "refusal": "refusal"}


@dataclass
class Reply:
    """What has arrived so far. ``content``: the model's text with the thinking in it; ``text``: what of it was shown.
    ``finish``: as the server says it, None until it does; ``done``: it said that nothing follows. ``fault``: an error
    it sent in place of a reply. ``first``: seconds to the first part of the text. ``size``: characters of all.
    ``thought``: the server counted thinking, shown or not. ``used_tool``: the model called a tool that it has not.
    ``read``: tokens of the prompt that were read so far, and of how many. ``likely``: of each token, where it was
    asked for, the logarithms of the probability of what might have stood there.
    ``foreign``: nothing came but objects that are no part of a reply. ``repeats``: it was ended for that.
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
    thought: bool = False
    used_tool: bool = False
    foreign: bool | None = None
    repeats: bool = False
    fault: Any = None
    first: float | None = None
    size: int = 0
    read: tuple[int, int] = (0, 0)
    likely: list[tuple[str, dict[str, float]]] = field(default_factory=list, repr=False)
    _think: ThinkFilter = field(default_factory=ThinkFilter, repr=False)
    _half: str = ""  # of a character that two events share
    _half_thought: str = ""
    _index: str | None = None  # of the choice that is read
    _last: str = ""  # the last part of the text
    _grows: bool = True  # each part began with the one before

    def take(self, event: Event) -> str:
        """Read one event, a streamed part or the whole; return the text in it, which is not yet part of ``text``."""
        self.fault = fault_in(event) or self.fault
        self._count_usage(event)
        choices = event.get("choices")
        if not isinstance(choices, list):
            self.foreign = self.foreign is not False and bool(event)
            return ""
        self.foreign = False
        return "".join(self._take_choice(row) for row in choices if isinstance(row, dict))

    def _take_choice(self, choice: Event) -> str:
        index = str(choice.get("index") or 0)
        self._index = self._index or index
        if index != self._index:
            return ""
        delta = choice.get("delta")
        message = delta if isinstance(delta, dict) else _dict(choice.get("message"))
        self._count_usage(choice)
        self._take_reason(choice)
        if choice.get("logprobs"):
            self._take_likely(_dict(choice["logprobs"]).get("content"))
        self.used_tool |= bool(message.get("tool_calls") or message.get("function_call"))
        parts = {"text": "", "thinking": "", "refusal": ""}
        _sort(message.get("content") or message.get("text") or choice.get("text"), parts)
        self.refused |= bool(message.get("refusal") or parts["refusal"])
        for found in filter(None, map(message.get, _THINKING)):
            if not parts["thinking"]:
                _sort(found, parts, "thinking")
        content, thought, more = parts["text"], parts["thinking"], message.get("extra_content")
        if more and _dict(_dict(more).get("google")).get("thought") and "</" not in content:
            content, thought = "", thought + content.removeprefix("<thought>")  # Gemini
        elif not self.content and self.reasoning:
            content = content.removeprefix("</thought>")
        self.size += len(thought) + len(content)
        thought, self._half_thought = _mend(self._half_thought + thought)
        content = self._new_in(content, ends=message is not delta or bool(choice.get("finish_reason")))
        content, self._half = _mend(self._half + content)
        self.reasoning += thought
        self.content += content
        return self._think.feed(content)

    def _take_likely(self, tokens: object) -> None:
        for row in _dicts(tokens):
            found = {str(other.get("token")): other.get("logprob") for other in _dicts(row.get("top_logprobs"))}
            self.likely.append((str(row.get("token")), {t: p for t, p in found.items() if isinstance(p, float | int)}))

    def _take_reason(self, choice: Event) -> None:
        """Read why the reply ended. A gateway's reason may be better than that of the server behind it."""
        for name in ("finish_reason", "finishReason", "native_finish_reason", "stop_reason"):
            reason = _reason(choice[name]) if choice.get(name) else None
            if reason and (name.startswith("finish") or _kind_of(reason) in (Ending.LENGTH, Ending.REFUSED)):
                self.finish = reason

    def _new_in(self, content: str, *, ends: bool) -> str:
        """Return what of a part is new: some servers send all the text so far with each event, or once more at the
        end. ``ends``: it is in the last event, or a whole message.
        """
        if not content:
            return ""
        before, last, self._last = self.content, self._last, content
        self._grows = self._grows and content.startswith(last)
        grew = self._grows and content != last
        if grew and last != before and len(last) >= REPEATED:  # the first parts were too short to tell
            self._think, self.content, before = ThinkFilter(), "", ""
        repeats = content.startswith(before) and (grew or ends) and len(before) >= REPEATED
        return content[len(before) :] if repeats else content

    def _count_usage(self, event: Event) -> None:
        if not any(map(event.get, _FIGURES)):  # as in nearly every event
            return
        usage = _dict(event.get("usage") or event.get("usageMetadata") or _dict(event.get("x_groq")).get("usage"))
        details = _dict(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
        timings = _dict(event.get("timings"))  # llama.cpp
        read = (*map(usage.get, ("prompt_tokens", "input_tokens", "promptTokenCount")), event.get("prompt_eval_count"))
        written = map(usage.get, ("completion_tokens", "output_tokens", "candidatesTokenCount"))
        names = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
        reused = (details.get("cached_tokens"), *map(usage.get, names), timings.get("cache_n"))
        if progress := _dict(event.get("prompt_progress")):
            self.read = (_whole(progress.get("processed")), _whole(progress.get("total")))
        if new := _whole(timings.get("prompt_n")):  # in each event, where it was asked for: of a reply ended early too
            read = (*read, new + _whole(timings.get("cache_n")))
        self.tokens_in = _count(read, self.tokens_in)
        self.tokens_out = _count((*written, event.get("eval_count"), timings.get("predicted_n")), self.tokens_out)
        self.tokens_reused = _count(reused, self.tokens_reused)
        self.thought |= bool(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens"))

    def end(self) -> str:
        """Return the text that was held back as perhaps a mark; no event follows."""
        last, _ = _mend(self._half, last=True)
        self.reasoning += _mend(self._half_thought, last=True)[0]
        self.content += last
        return self._think.feed(last) + self._think.end() if last else self._think.end()

    def stop(self, kept: str) -> None:
        """End it here by our own decision, with ``kept`` as its text."""
        hidden, _ = split_thinking(self.content)
        self.reasoning = f"{self.reasoning}\n{hidden}".strip()
        self.repeats = len(kept) < len(self.text)
        self.text = self.content = kept
        self.finish, self._half, self._think = "length", "", ThinkFilter()

    def ending(self, most: int | None) -> Ending:
        """How the reply ended that might have ``most`` tokens."""
        full = most is not None and self.tokens_out is not None and self.tokens_out >= most
        if self.refused:
            return Ending.REFUSED
        if self.finish is None:
            return Ending.BROKEN if not self.done else Ending.LENGTH if full else Ending.WHOLE
        kind = _kind_of(self.finish)
        return Ending.LENGTH if kind is Ending.WHOLE and full and not self.ends_a_sentence else kind

    @property
    def ends_a_sentence(self) -> bool:
        return bool(_SENTENCE_END.search(self.content))


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
            raise Endless("nothing but empty parts came")
    for event in events.end():
        yield reply.take(event)
    reply.done = events.done


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


def _dicts(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _count(values: tuple[object, ...], before: int | None) -> int | None:
    """The first of ``values`` that is a count of tokens, else what was known before."""
    for value in values:
        if isinstance(value, str) and value.isdecimal() and len(value) < 12:
            return int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
            return int(value)
    return before


def _whole(value: object) -> int:
    return _count((value,), None) or 0


def _reason(value: object) -> str | None:
    """A finish reason; SGLang once sent an object."""
    value = _dict(value).get("type", value)
    return value if isinstance(value, str) and value.lower() not in ("", "null", "none") else None


def _kind_of(reason: str) -> Ending:
    letters = re.sub("[^a-z]", "", reason.lower()).removeprefix("finishreason")
    return next((ending for ending, pattern in _ENDINGS if re.search(pattern, letters)), Ending.UNKNOWN)


def _sort(content: object, parts: dict[str, str], kind: str = "text", depth: int = 0) -> None:
    """Add the text in a message's content, a string or parts in any depth, to ``parts``: text, thinking, refusal."""
    if isinstance(content, str):
        parts[kind] += content
    elif isinstance(content, list) and depth < DEEPEST:
        for part in content:
            _sort(part, parts, kind, depth + 1)
    elif isinstance(content, dict) and depth < DEEPEST:
        named = str(content.get("type"))
        kind = "thinking" if re.search("think|reason", named) else "refusal" if "refus" in named else kind
        for name, of in _PARTS.items():
            _sort(content.get(name), parts, of or kind, depth + 1)
