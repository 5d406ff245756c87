"""Turns what a model server or its client library reports into one of our errors.

An HTTP status decides where it has one meaning; then the machine-readable codes in the JSON body; then the words of its
message, where a provider gives nothing else. tests/models/fault_bodies.py holds published bodies of each provider.
A message of ours never holds a server's own words, which may repeat a key or the book: only its error code and the
name of a parameter.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

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
from readagent_core.models.server.quirks import HOW_LARGER


class Rule(NamedTuple):
    """What leads to one of our errors: statuses with one meaning, codes in lower case, and a pattern for messages."""

    kind: type[ModelError]
    statuses: tuple[int, ...] = ()
    codes: str = ""
    words: str = ""


RULES = (  # of those that match, the first decides
    Rule(
        NoCreditError, (402,), "insufficient_quota billing_error enforced_spend_limit_reached", r"credit balance is too"
    ),
    Rule(
        WindowError,
        (413,),
        "context_length_exceeded exceed_context_size_error",
        r"context[ _](?:length|window|size|limit)|too many tokens|request too large|(?:prompt|input) is too long"
        r"|token limit|max_model_len|input token count",
    ),
    Rule(
        RefusedError,
        (),
        "content_filter responsibleaipolicyviolation content_policy_violation invalid_prompt flagged_input",
        r"content exists risk|content[ _](?:filter|management)",
    ),
    Rule(
        UnknownModelError,
        (),
        "model_not_found model_decommissioned deploymentnotfound invalid_model",
        r"invalid model\b|not a valid model id|model\b.{0,80}\b(?:not found|not exist|unknown)",
    ),
    Rule(
        KeyRefusedError,
        (401,),
        "invalid_api_key api_key_invalid authentication_error no_db_connection",  # the last is LiteLLM's
        r"api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|missing)|(?:invalid|incorrect) api[ _-]?key",
    ),
    Rule(RateLimitError, (), "rate_limit_exceeded rate_limit_error"),
    Rule(ModelTimeoutError, (408, 504)),
)
WITHOUT_STATUS = (WindowError, RefusedError)  # their words decide inside a stream too, where no 4xx comes with them
MESSAGES: dict[type[ModelError], str] = {
    NoCreditError: "The account at {at} is out of credit. {kept} Add credit or choose another model, and go on.",
    KeyRefusedError: "{at} did not accept the key{of_model}. {kept} Enter a key that is valid there in Settings.",
    UnknownModelError: "{at} has no model {model!r}. {kept} Choose one of its models in Settings.",
}
CODE_FIELDS = ("code", "type", "status", "reason", "error_code", "quotaId")
WORD_FIELDS = ("message", "detail", "error", "raw")
_LIMITS = (
    r"> ?(\d{3,8})",
    r"(?:context length|limit)(?: is| of)?(?: only)?:? (\d{3,8})",
    r"(?:tokens allowed|context size) \((\d{3,8})",
    r"n_ctx: ?(\d{3,8})",
)
_TIME = r"(\d+(?:\.\d+)?) ?(ms|h|m|s)"
_WAIT = re.compile(rf"(?:again in|retry in|retry after) ((?:{_TIME}[a-z]* ?)+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_PLAIN = re.compile(r"[a-zA-Z0-9_.-]{1,60}\Z")
KEPT = "What was done so far is kept."


class _Body(NamedTuple):
    """An error body. ``codes``: its machine-readable codes, in lower case; ``words``: its messages; ``named``: the code
    and the parameter that may be shown to a person.
    """

    codes: frozenset[str]
    words: str
    named: str


def host(where: str) -> str:
    """'localhost:11434' of an address: what a message may say of it (a path or user name may be private)."""
    found = re.match(r"\w+://(?:[^@/]*@)?([^/?#]+)", where)
    return found.group(1) if found else "the server"


def explain(error: Exception, *, where: str, model: str) -> ModelError:
    """Our error for ``error``; a ModelError is returned unchanged."""
    if isinstance(error, ModelError):
        return error
    cause = (error.__cause__ or error) if isinstance(error, openai.APIConnectionError) else error
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        if isinstance(cause, httpx2.ConnectTimeout):
            return unreachable(where)
        return timed_out(where)
    if isinstance(error, openai.APIStatusError):
        return from_status(error.status_code, _text(error), error.response.headers, where=where, model=model)
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError | httpx2.InvalidURL | UnicodeError):
        broke = isinstance(cause, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)
        return unreachable(where, broke=broke)
    return ServerFailedError(
        f"{host(where)} sent a reply that cannot be read. {KEPT} If this goes on, check that the address is that of "
        "an OpenAI-compatible server."
    )


def from_status(status: int, body: str, headers: Mapping[str, str], *, where: str, model: str) -> ModelError:
    """Our error for an HTTP status with its body."""
    at, told = host(where), _read(body)
    kind = _kind(status, told)
    if status == 429 and _is_daily(told):
        return NoCreditError(
            f"The daily quota for {model or 'this model'} at {at} is used up. {KEPT} Go on tomorrow, or choose another "
            "model."
        )
    if kind in MESSAGES:
        of_model = f" for {model}" if model else ""
        return kind(MESSAGES[kind].format(at=at, model=model, of_model=of_model, kept=KEPT))
    if kind is RateLimitError:
        wait = retry_after(headers, told.words)
        for_how_long = f" for {wait:.0f} s" if wait else ""
        return RateLimitError(f"{at} asked us to wait{for_how_long}. {KEPT} Go on later.", wait)
    if kind is WindowError:
        return too_long(model, limit_in(told.words))
    if kind is ModelTimeoutError:
        return timed_out(where)
    if kind is RefusedError:
        return refused(model)
    if kind is ServerFailedError:
        return ServerFailedError(
            f"{at} failed (error {status}). {KEPT} Go on in a while; if it stays so, look at the server.",
            retry_after(headers, told.words),
        )
    if status == 404:
        return BadRequestError(f"{at} answers, but not at this address. {KEPT} Check it in Settings: most end in /v1.")
    return BadRequestError(
        f"{at} did not accept the call (error {status}{told.named}). {KEPT} Test the model in Settings, or choose "
        "another one."
    )


def _kind(status: int, told: _Body) -> type[ModelError]:
    """The class of our error."""
    if status == 429 and "request too large" in told.words.lower():  # more than a minute's tokens: waiting is no use
        return WindowError
    for rule in RULES:
        if status in rule.statuses:
            return rule.kind
    for rule in RULES:
        if told.codes.intersection(rule.codes.split()):
            return rule.kind
    if status == 429:
        return RateLimitError
    for rule in RULES:
        fits = rule.words and (status < 500 or rule.kind in WITHOUT_STATUS)
        if fits and re.search(rule.words, told.words, re.IGNORECASE | re.DOTALL):
            return rule.kind
    if status == 404 and re.search(r"\bmodels?\b", told.words, re.IGNORECASE):
        return UnknownModelError
    if status == 403:
        return KeyRefusedError
    return ServerFailedError if status >= 500 else BadRequestError


def _is_daily(told: _Body) -> bool:
    """Whether a day's quota is used up: Gemini names it in a quotaId, OpenRouter in its message."""
    return any("perday" in code for code in told.codes) or "free-models-per-day" in told.words


def _read(body: str) -> _Body:
    """What an error body says, whichever shape its provider gives it."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return _Body(frozenset(), body, "")
    codes: set[str] = set()
    words: list[str] = []
    first: dict[str, str] = {}
    left = [data]
    while left:  # outer parts first
        part = left.pop(0)
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, list):
            left += [item for item in part if isinstance(item, dict | list)]
        elif isinstance(part, dict):
            left += [value for value in part.values() if isinstance(value, dict | list)]
            codes |= {str(part[name]).lower() for name in CODE_FIELDS if isinstance(part.get(name), str | int)}
            codes |= {"flagged_input"} & part.keys()  # OpenRouter's moderation gives no code beside it
            words += [part[name] for name in WORD_FIELDS if isinstance(part.get(name), str)]
            words += [f"retry in {part['retryDelay']}"] if "retryDelay" in part else []
            words += [f"n_ctx: {part['n_ctx']}"] if "n_ctx" in part else []
            for name in ("code", "param"):
                if _PLAIN.match(str(part.get(name) or "")):
                    first.setdefault(name, f", {name} {part[name]}")
    return _Body(frozenset(codes), "\n".join(words), first.get("code", "") + first.get("param", ""))


def limit_in(words: str) -> int | None:
    """The window that an error message names, in tokens; None where it names none."""
    for pattern in _LIMITS:
        if found := re.search(pattern, words.replace(",", ""), re.IGNORECASE):
            return int(found.group(1))
    return None


def retry_after(headers: Mapping[str, str], words: str = "") -> float | None:
    """Seconds to wait as the server asks: a header in ms, in seconds or as a date, else its message."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        if headers.get("retry-after"):
            return max(0.0, float(headers["retry-after"]))
    except ValueError:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        if date:
            return max(0.0, email.utils.mktime_tz(date) - time.time())
    found = _WAIT.search(words)
    if found is None:
        return None
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in re.findall(_TIME, found.group(1), re.I))


def parameter_refused(error: Exception) -> str:
    """The name of a parameter this server does not take, read from a 400 or 422; '' where it names none."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
        return ""
    body = _text(error)
    if _kind(400, _read(body)) is WindowError and "unsupported" not in body.lower():
        return ""
    for name in ("stream_options", "max_completion_tokens", "max_tokens", "temperature", "stream"):
        # the parameter that is refused is named first; what to use instead comes later
        if re.search(rf"[\"'`]?param[\"']?: ?[\"']{name}[\"']", body):
            return name
    named = re.findall(r"\b(stream_options|max_completion_tokens|max_tokens|temperature|streaming|stream)\b", body)
    return str(named[0]).replace("streaming", "stream") if named else ""


def _text(error: openai.APIStatusError) -> str:
    if error.body is None:
        return error.message
    return error.body if isinstance(error.body, str) else json.dumps(error.body)


def unreachable(where: str, *, broke: bool = False) -> UnreachableError:
    """The error for a connection that could not be made, or that broke."""
    if broke:
        return UnreachableError(f"The connection to {host(where)} broke. {KEPT} Check that the server runs, and go on.")
    return UnreachableError(
        f"{host(where)} cannot be reached. {KEPT} Start the server or check the address in Settings, and go on."
    )


def timed_out(where: str) -> ModelTimeoutError:
    """The error for a server that sent nothing in time."""
    return ModelTimeoutError(
        f"{host(where)} gave no sign for too long. {KEPT} Go on when it is less busy, choose a smaller model, or allow "
        "more time in Settings."
    )


def empty(model: str, *, thought: bool = False) -> EmptyReplyError:
    """The error for a reply without words. ``thought``: thinking used all the tokens it was allowed."""
    if thought:
        return EmptyReplyError(
            f"{model} used all its room for thinking and sent an empty reply. {KEPT} Go on to ask again, or choose a "
            "model that thinks less."
        )
    return EmptyReplyError(f"{model} sent an empty reply. {KEPT} Go on to ask again, or choose another model.")


def refused(model: str) -> RefusedError:
    """The error for a model that declined, or whose reply a content filter stopped."""
    return RefusedError(
        f"{model} declined to answer, or a content filter stopped it. {KEPT} Another model may take this text."
    )


def too_long(model: str, window: int | None, *, needed: int | None = None) -> WindowError:
    """The error for a prompt of about ``needed`` tokens that ``window`` tokens do not hold; None: not known."""
    of = f" of {window:,} tokens" if window else ""
    need = f"about {needed:,} tokens are" if needed else "the text is"
    return WindowError(
        f"{need[0].upper()}{need[1:]} more than the window{of} of {model} can take in. {KEPT} Choose smaller pages or "
        "fewer look-ups, or a model (or server setting) with a larger window.",
        window,
    )


def cut_silently(where: str, model: str, *, sent: int, read: int) -> WindowError:
    """The error for a server that reports far fewer prompt tokens than were sent."""
    return WindowError(
        f"{host(where)} read only {read:,} of about {sent:,} tokens: it cuts long prompts without saying so: {model} "
        f"did not see the whole text. The reply was not used. {KEPT} Give the model a larger context {HOW_LARGER}, or "
        "choose smaller pages.",
        read,
    )


def cutting(*, sent: int, read: int) -> str:
    """The notice shown after ``cut_silently``: shorter prompts are sent from then on."""
    return (
        f"The server cut a prompt without saying so: it read {read:,} of about {sent:,} tokens. Shorter ones are sent "
        f"now. To send whole pages, give the model a larger context {HOW_LARGER}, then press “Use this model” in "
        "Settings again."
    )
