"""Turns what a model server or its client library reports into one of our errors.

An HTTP status decides where it has one meaning; then the machine-readable codes in the JSON body; then the words of its
message, where a provider gives nothing else. tests/models/fault_bodies.json holds published bodies of each provider.
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
    CutOffError,
    EmptyReplyError,
    EndlessReplyError,
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

KEPT = "What was done so far is saved."


class Fault(NamedTuple):
    """One of our errors: its message (what ``happened``, then ``KEPT``, then the ``remedy``), and what leads to it:
    statuses with one meaning, codes in lower case, and a pattern for messages.
    """

    kind: type[ModelError]
    happened: str
    remedy: str
    statuses: tuple[int, ...] = ()
    codes: str = ""
    words: str = ""


FAULTS = {  # the first that matches decides; those without statuses, codes and words are chosen by name
    "no credit": Fault(
        NoCreditError,
        "The account at {at} is out of credit.",
        "Add credit or choose another model, then try again.",
        (402,),
        "insufficient_quota billing_error enforced_spend_limit_reached",
        r"credit balance is too",
    ),
    "too long": Fault(
        WindowError,
        "{need} more than the window{of_tokens} of {model} can take in.",
        "Choose smaller pages or fewer look-ups, or a model (or server setting) with a larger window.",
        (413,),
        "context_length_exceeded exceed_context_size_error",
        r"context[ _](?:length|window|size|limit)|too many tokens|request too large|(?:prompt|input) is too long"
        r"|token limit|max_model_len|input token count",
    ),
    "refused": Fault(
        RefusedError,
        "{model} declined to answer, or a content filter stopped it.",
        "Another model may take this text.",
        (),
        "content_filter responsibleaipolicyviolation content_policy_violation invalid_prompt flagged_input",
        r"content exists risk|content[ _](?:filter|management)",
    ),
    "no model": Fault(
        UnknownModelError,
        "{at} has no model {model!r}.",
        "Choose one of its models in Settings.",
        (),
        "model_not_found model_decommissioned deploymentnotfound invalid_model",
        r"invalid model\b|not a valid model id|model\b.{0,80}\b(?:not found|not exist|unknown)",
    ),
    "bad key": Fault(
        KeyRefusedError,
        "{at} did not accept the key{for_model}.",
        "Enter a key that is valid there in Settings.",
        (401,),
        "invalid_api_key api_key_invalid authentication_error no_db_connection",  # the last is LiteLLM's
        r"api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|missing)|(?:invalid|incorrect) api[ _-]?key",
    ),
    "rate limit": Fault(
        RateLimitError,
        "{at} asked us to wait{for_seconds}.",
        "Try again later.",
        (),
        "rate_limit_exceeded rate_limit_error",
    ),
    "timeout": Fault(
        ModelTimeoutError,
        "{at} did not answer in time.",
        "Try again when it is less busy, choose a smaller model, or allow more time in Settings.",
        (408, 504),
    ),
    "daily quota": Fault(
        NoCreditError, "The daily quota{for_model} at {at} is used up.", "Try again tomorrow, or choose another model."
    ),
    "server failed": Fault(
        ServerFailedError, "{at} failed (error {status}).", "Try again later; if it fails again, look at the server."
    ),
    "wrong address": Fault(
        BadRequestError, "{at} answers, but not at this address.", "Check it in Settings: most end in /v1."
    ),
    "bad request": Fault(
        BadRequestError,
        "{at} did not accept the call (error {status}{named}).",
        "Test the model in Settings, or choose another one.",
    ),
    "unreachable": Fault(
        UnreachableError, "{at} cannot be reached.", "Start the server, or check its address in Settings."
    ),
    "connection broke": Fault(
        UnreachableError, "The connection to {at} broke.", "Check that the server is running, then try again."
    ),
    "unreadable": Fault(
        ServerFailedError,
        "{at} sent a reply that cannot be read.",
        "If this happens again, check that the address is that of an OpenAI-compatible server.",
    ),
    "reply broke off": Fault(CutOffError, "The reply of {model} broke off.", "Try again."),
    "endless": Fault(
        EndlessReplyError,
        "The reply of {model} did not end ({how}), so it was stopped.",
        "Try again, or choose another model.",
    ),
    "empty": Fault(EmptyReplyError, "{model} sent an empty reply.", "Try again, or choose another model."),
    "only thinking": Fault(
        EmptyReplyError,
        "{model} used all its room for thinking and sent an empty reply.",
        "Try again, or choose a model that thinks less.",
    ),
    "prompt cut": Fault(
        WindowError,
        "{at} read only {read:,} of about {sent:,} tokens: it cuts long prompts without saying so: {model} did not see "
        "the whole text. The reply was not used.",
        f"Give the model a larger context {HOW_LARGER}, or choose smaller pages.",
    ),
}
IN_STREAM = ("too long", "refused")  # their words decide inside a stream too, where no 4xx comes with them
CAUSES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (  # the first that matches decides
    ((httpx2.ConnectTimeout,), "unreachable"),
    ((httpx2.TimeoutException,), "timeout"),
    ((httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError), "connection broke"),
    ((openai.APIConnectionError, httpx2.TransportError, httpx2.InvalidURL, UnicodeError), "unreachable"),
)
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


def fault(
    name: str, *, where: str = "", model: str = "", carried: float | str | None = None, **values: object
) -> ModelError:
    """The error ``name`` of ``FAULTS``. ``carried``: the error's second argument (window, text or seconds to wait);
    ``values``: the other fields of its message.
    """
    kind, happened, remedy, *_ = FAULTS[name]
    for_model = f" for {model}" if model else ""
    message = f"{happened.format(at=host(where), model=model, for_model=for_model, **values)} {KEPT} {remedy}"
    return kind(message) if carried is None else kind(message, carried)


def explain(error: Exception, *, where: str, model: str) -> ModelError:
    """Our error for ``error``; a ModelError is returned unchanged."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        return from_status(error.status_code, _text(error), error.response.headers, where=where, model=model)
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
    matching = (name for kinds, name in CAUSES if isinstance(error, kinds) or isinstance(cause, kinds))
    return fault(next(matching, "unreadable"), where=where, model=model)


def from_status(status: int, body: str, headers: Mapping[str, str], *, where: str, model: str) -> ModelError:
    """Our error for an HTTP status with its body."""
    found = _read(body)
    name = _name(status, found)
    if name == "too long":
        return too_long(model, limit_in(found.words))
    wait = retry_after(headers, found.words) if FAULTS[name].kind in (RateLimitError, ServerFailedError) else None
    for_seconds = f" for {wait:.0f} s" if wait else ""
    values = {"status": status, "named": found.named, "for_seconds": for_seconds}
    return fault(name, where=where, model=model, carried=wait, **values)


def too_long(model: str, window: int | None, *, needed: int | None = None) -> ModelError:
    """The error for a prompt of about ``needed`` tokens that ``window`` tokens do not hold; None: not known."""
    need = f"About {needed:,} tokens are" if needed else "The text is"
    of_tokens = f" of {window:,} tokens" if window else ""
    return fault("too long", model=model, carried=window, need=need, of_tokens=of_tokens)


def _name(status: int, body: _Body) -> str:
    """The name in ``FAULTS`` of an HTTP status with its body."""
    if status == 429 and _is_daily(body):
        return "daily quota"
    if status == 429 and "request too large" in body.words.lower():  # more than a minute's tokens: waiting is no use
        return "too long"
    for name, row in FAULTS.items():
        if status in row.statuses:
            return name
    for name, row in FAULTS.items():
        if body.codes.intersection(row.codes.split()):
            return name
    if status == 429:
        return "rate limit"
    for name, row in FAULTS.items():
        fits = row.words and (status < 500 or name in IN_STREAM)
        if fits and re.search(row.words, body.words, re.IGNORECASE | re.DOTALL):
            return name
    if status == 404:
        return "no model" if re.search(r"\bmodels?\b", body.words, re.IGNORECASE) else "wrong address"
    if status == 403:
        return "bad key"
    return "server failed" if status >= 500 else "bad request"


def _is_daily(body: _Body) -> bool:
    """Whether a day's quota is used up: Gemini names it in a quotaId, OpenRouter in its message."""
    return any("perday" in code for code in body.codes) or "free-models-per-day" in body.words


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
            codes |= {"flagged_input"} & part.keys()  # OpenRouter's moderation sends no code with it
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
    """The name of a parameter this server does not take, read from a 400 or 422; '' where it names none.

    A schema may be refused with 500 or 501 too.
    """
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422, 500, 501):
        return ""
    body = _text(error)
    if re.search(r"response_format|json_schema|grammar", body):
        return "response_format"
    if error.status_code >= 500:
        return ""
    if _name(400, _read(body)) == "too long" and "unsupported" not in body.lower():
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
