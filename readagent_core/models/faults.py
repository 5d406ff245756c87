"""The one place where what a server or its client library throws becomes an error of ours.

Every message says what happened, what was kept and what to do next. A server's own words are never passed on:
they may echo a key or the book. Only its error code and the parameter's name are.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from readagent_core.errors import (
    BadRequestError,
    EmptyReplyError,
    KeyRefusedError,
    ModelError,
    ModelTimeoutError,
    NoCreditError,
    RateLimitError,
    RefusedError,
    ServerFailedError,
    UnknownModelError,
    UnreachableError,
    WindowError,
)
from readagent_core.models.quirks import HOW_LARGER

_WINDOW = re.compile(
    r"context[ _]length|context[ _]window|context size|maximum context|too many tokens|prompt is too long"
    r"|input is too long|exceeds? the (?:available )?context|token limit|max_model_len|input token count",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"insufficient_quota|insufficient[ _]credits?|credit balance|billing|out of credit", re.IGNORECASE)
_FILTER = re.compile(r"content[ _](?:filter|policy|management)|safety|moderation|responsibleai", re.IGNORECASE)
_KEY = re.compile(  # Gemini and LiteLLM refuse a key with 400
    r"api[ _-]?key[^.]{0,20}(?:not valid|invalid|incorrect|missing)|(?:invalid|incorrect) api[ _-]?key|api_key_invalid"
    r"|no_db_connection",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|invalid model\b|model\b.{0,80}\b(?:not found|does not exist|not exist|unknown)",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT_OF = re.compile(r"(?:maximum context length (?:is|of)|context size \(|limit(?: is|:)|n_ctx[\"']?:) ?(\d{3,8})")
_AGAIN_IN = re.compile(r"(?:try again in|retryDelay\"?:? ?\"?) ?(\d+(?:\.\d+)?) ?(ms|s)", re.IGNORECASE)
_PLAIN = re.compile(r"[a-zA-Z0-9_.-]{1,60}\Z")
KEPT = "What was done so far is kept."


def host(where: str) -> str:
    """'localhost:11434' of an address: what a message may say of it (a path or user name may be private)."""
    found = re.match(r"\w+://(?:[^@/]*@)?([^/?#]+)", where)
    return found.group(1) if found else "the server"


def explain(error: Exception, *, where: str, model: str) -> ModelError:
    """Our error for ``error``; a ModelError comes back as it is."""
    if isinstance(error, ModelError):
        return error
    beneath = (error.__cause__ or error) if isinstance(error, openai.APIConnectionError) else error
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        if isinstance(beneath, httpx2.ConnectTimeout):
            return unreachable(where)
        return timed_out(where)
    if isinstance(error, openai.APIStatusError):
        return from_status(error.status_code, _body(error), error.response.headers, where=where, model=model)
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError | httpx2.InvalidURL | UnicodeError):
        broke = isinstance(beneath, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)
        return unreachable(where, broke=broke)
    return ServerFailedError(
        f"{host(where)} sent a reply that cannot be read. {KEPT} If this goes on, check that the address is that of "
        "an OpenAI-compatible server."
    )


def unreachable(where: str, *, broke: bool = False) -> UnreachableError:
    if broke:
        return UnreachableError(f"The connection to {host(where)} broke. {KEPT} Check that the server runs, and go on.")
    return UnreachableError(
        f"{host(where)} cannot be reached. {KEPT} Start the server or check the address in Settings, and go on."
    )


def timed_out(where: str) -> ModelTimeoutError:
    return ModelTimeoutError(
        f"{host(where)} gave no sign for too long. {KEPT} Go on when it is less busy, choose a smaller model, or allow "
        "more time in Settings."
    )


def empty(model: str, *, thought: bool = False) -> EmptyReplyError:
    """``thought``: it used all the room it was given, and no word of a reply came."""
    if thought:
        return EmptyReplyError(
            f"{model} used all its room for thinking and sent an empty reply. {KEPT} Go on to ask again, or choose a "
            "model that thinks less."
        )
    return EmptyReplyError(f"{model} sent an empty reply. {KEPT} Go on to ask again, or choose another model.")


def refused(model: str) -> RefusedError:
    return RefusedError(
        f"{model} declined to answer, or a content filter stopped it. {KEPT} Another model may take this text."
    )


def from_status(status: int, body: str, headers: Mapping[str, str], *, where: str, model: str) -> ModelError:
    """Our error for an HTTP status with its body."""
    if status == 402 or _CREDIT.search(body):
        return NoCreditError(
            f"The account at {host(where)} is out of credit. {KEPT} Add credit or choose another model, and go on."
        )
    if status in (401, 403) or (status == 400 and _KEY.search(body)):
        of = f" for {model}" if model else ""
        return KeyRefusedError(
            f"{host(where)} did not accept the key{of}. {KEPT} Enter a key that is valid there in Settings."
        )
    if status == 429:
        wait = retry_after(headers, body)
        told = f" for {wait:.0f} s" if wait else ""
        return RateLimitError(f"{host(where)} asked us to wait{told}. {KEPT} Go on later.", wait)
    if status in (400, 404, 413, 422) and _WINDOW.search(body):
        return too_long(model, limit_in(body))
    if status == 404 or (status == 400 and _NO_MODEL.search(body)):
        if status == 404 and not re.search(r"\bmodel\b", body, re.IGNORECASE):
            return BadRequestError(
                f"{host(where)} answers, but not at this address. {KEPT} Check it in Settings: most end in /v1."
            )
        return UnknownModelError(f"{host(where)} has no model {model!r}. {KEPT} Choose one of its models in Settings.")
    if status in (408, 504):
        return timed_out(where)
    if status >= 500:
        return ServerFailedError(
            f"{host(where)} failed (error {status}). {KEPT} Go on in a while; if it stays so, look at the server.",
            retry_after(headers, body),
        )
    if _FILTER.search(body):
        return refused(model)
    return BadRequestError(
        f"{host(where)} did not accept the call (error {status}{_detail(body)}). {KEPT} Test the model in Settings, "
        "or choose another one."
    )


def too_long(model: str, window: int | None, *, needed: int | None = None) -> WindowError:
    of = f" of {window:,} tokens" if window else ""
    need = f"about {needed:,} tokens are" if needed else "the text is"
    return WindowError(
        f"{need[0].upper()}{need[1:]} more than the window{of} of {model} can take in. {KEPT} Choose smaller pages or "
        "fewer look-ups, or a model (or server setting) with a larger window.",
        window,
    )


def cut_silently(where: str, model: str, *, sent: int, read: int) -> WindowError:
    """The server reports far fewer prompt tokens than were sent."""
    return WindowError(
        f"{host(where)} read only {read:,} of about {sent:,} tokens: it cuts long prompts without saying so: {model} "
        f"did not see the whole text. The reply was not used. {KEPT} Give the model a larger context {HOW_LARGER}, or "
        "choose smaller pages.",
        read,
    )


def cutting(*, sent: int, read: int) -> str:
    """The same as a standing notice: shorter prompts are sent from then on."""
    return (
        f"The server cut a prompt without saying so: it read {read:,} of about {sent:,} tokens. Shorter ones are sent "
        f"now. To send whole pages, give the model a larger context {HOW_LARGER}, then press “Use this model” in "
        "Settings again."
    )


def limit_in(body: str) -> int | None:
    """The window that an error message names, in tokens."""
    found = _LIMIT_OF.search(body.replace(",", ""))
    return int(found.group(1)) if found else None


def retry_after(headers: Mapping[str, str], body: str = "") -> float | None:
    """Seconds to wait as the server asks: header in ms, in seconds or as a date, else its words."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        told = headers.get("retry-after", "")
        if told:
            return max(0.0, float(told))
    except ValueError:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        if date:
            return max(0.0, email.utils.mktime_tz(date) - time.time())
    found = _AGAIN_IN.search(body)
    if found:
        return float(found.group(1)) / (1000 if found.group(2).lower() == "ms" else 1)
    return None


def parameter_refused(error: Exception) -> str:
    """The name of a parameter this server does not take, read from a 400 or 422; '' where it names none."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
        return ""
    body = _body(error)
    if _WINDOW.search(body) and "unsupported" not in body.lower():
        return ""
    for name in ("stream_options", "max_completion_tokens", "max_tokens", "temperature", "stream"):
        # the parameter that is refused is named first; what to use instead comes later
        if re.search(rf"[\"'`]?param[\"']?: ?[\"']{name}[\"']", body):
            return name
    named = re.findall(r"\b(stream_options|max_completion_tokens|max_tokens|temperature|streaming|stream)\b", body)
    return str(named[0]).replace("streaming", "stream") if named else ""


def _body(error: openai.APIStatusError) -> str:
    if error.body is None:
        return error.message
    return error.body if isinstance(error.body, str) else json.dumps(error.body)


def _detail(body: str) -> str:
    """', code …' from an error body: names only, never sentences."""
    try:
        data: Any = json.loads(body)
    except ValueError:
        return ""
    data = data.get("error", data) if isinstance(data, dict) else {}
    if not isinstance(data, dict):
        return ""
    told = [f"{name} {data[name]}" for name in ("code", "param") if _PLAIN.match(str(data.get(name) or ""))]
    return "".join(f", {t}" for t in told)
