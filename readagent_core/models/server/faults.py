"""Turns what a model server or its client library reports into one of our errors.

An HTTP status decides where it has one meaning; then the machine-readable codes in the JSON body; then the words of its
message, where a provider gives nothing else. tests/models/wire holds published bodies of each provider.
A message of ours never holds a server's own words, which may repeat a key or the book: only its error code and the
name of a parameter.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
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
    ModelLoadingError,
    ModelTimeoutError,
    NoCreditError,
    RateLimitError,
    RefusedError,
    RequestTooLargeError,
    RetryAfterError,
    ServerFailedError,
    UnknownModelError,
    UnreachableError,
    WindowError,
)
from readagent_core.models.server.quirks import HOW_LARGER
from readagent_core.models.server.replies import WebPage

ADDRESS = "Correct it in Settings (or in READAGENT_BASE_URL, where that is set), for example http://localhost:1234/v1."
COPY_KEY = "Copy it once more into Settings (or into READAGENT_API_KEY, where that is set)."
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
    "loading": Fault(
        ModelLoadingError,
        "{at} is still loading {model}.",
        "A large model takes minutes. Try again later; if it never ends, look at the server.",
        (),
        "",
        r"(?<!error )(?<!failed )\bloading (?:the )?(?:model|weights)|being loaded|warming up|cold start"
        r"|model\b.{0,60}\b(?:is|still|currently) (?:still |currently )?(?:loading|starting)"
        r"|model\b.{0,40}not (?:yet )?ready",
    ),
    "no credit": Fault(
        NoCreditError,
        "The account at {at} is out of credit.",
        "Add credit or choose another model, then try again.",
        (402,),
        "insufficient_quota billing_error enforced_spend_limit_reached 1113 30001 1008 arrearage",  # Zhipu, SiliconFlow
        r"credit balance is too|insufficient balance|余额不足|欠费",
    ),
    "rate limit": Fault(
        RateLimitError,
        "{at} asked us to wait{for_seconds}.",
        "Try again later.",
        (),
        "rate_limit_exceeded rate_limit_error 1302 1303 1305 throttling throttling.ratequota",  # Zhipu, DashScope
        r"throttl|too many requests|rate.?limit(?:ed| exceeded| reached)|please wait before|try again in \d",
    ),
    "too long": Fault(
        WindowError,
        "{need} more than the window{of_tokens} of {model} can take in.",
        "Choose smaller pages or fewer look-ups, or a model (or server setting) with a larger window.",
        (413,),
        "context_length_exceeded exceed_context_size_error contextwindowexceedederror 1261 1039",  # Zhipu, MiniMax
        r"context[ _-]?(?:length|window|size|limit)|too many (?:input )?tokens|request too large|token limit"
        r"|max_(?:model|seq)_len|session_len|input token count|range of input length|reduce the length of"
        r"|(?:prompt|inputs?|messages?|context)\b[^.\n]{0,99}\b(?:too (?:long|large)|exceed|(?:long|great|larg)er than)"
        r"|exceed\w*[^.\n]{0,60}\bmax(?:imum)?[ _](?:allowed|model|prompt|input|sequence|context|length)"
        r"|max(?:imum)? (?:prompt|input|sequence|model) length|inputs\W{0,2} (?:tokens \+|must have less)"
        r"|cannot truncate prompt|tokens to keep|keep the first \d+ tokens|job requires \d+ pages"
        r"|超(?:长|出|过).{0,20}(?:长度|限制|上下文|token)|(?:输入|提示|上下文|prompt).{0,12}(?:超长|过长|超出|超过)",
    ),
    "body too large": Fault(
        RequestTooLargeError,
        "{at}, or a proxy before it, takes no request this large.",
        "Choose smaller pages, or have its limit on the size of a request raised (nginx: client_max_body_size).",
    ),
    "refused": Fault(
        RefusedError,
        "{model} declined to answer, or a content filter stopped it.",
        "Another model may take this text.",
        (),
        "content_filter responsibleaipolicyviolation content_policy_violation invalid_prompt flagged_input 1301 1026 "
        "1027 datainspectionfailed",  # Zhipu, MiniMax, DashScope
        r"content exists risk|content[ _](?:filter|management)",
    ),
    "no model": Fault(
        UnknownModelError,
        "{at} has no model {model!r}.",
        "Choose one of its models in Settings.",
        (),
        "model_not_found model_decommissioned deploymentnotfound invalid_model 1211 20012",  # Zhipu, SiliconFlow
        r"invalid model\b|not a valid model id|model\b.{0,80}\b(?:not found|not exist|unknown|not loaded)"
        r"|no models? loaded|模型不存在",
    ),
    "bad key": Fault(
        KeyRefusedError,
        "{at} did not accept the key{for_model}.",
        "Enter a key that is valid there in Settings.",
        (401,),
        "invalid_api_key api_key_invalid invalidapikey authentication_error no_db_connection 1000 1004",  # LiteLLM…
        r"api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|missing)|(?:invalid|incorrect) api[ _-]?key",
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
        ServerFailedError, "{at} failed{named}.", "Try again later; if it fails again, look at the server."
    ),
    "wrong address": Fault(
        BadRequestError, "{at} answers, but not at this address.", "Check it in Settings: most end in /v1."
    ),
    "bad request": Fault(
        BadRequestError,
        "{at} did not accept the call{named}.",
        "Test the model in Settings, or choose another one.",
    ),
    "web page": Fault(
        BadRequestError,
        "{at} sent a web page in place of a reply{named}: a sign-in page, a firewall, or another program is there.",
        "Check the address in Settings (most end in /v1), or ask who runs the server.",
    ),
    "bad address": Fault(BadRequestError, "The address of the server {what}.", ADDRESS),
    "malformed key": Fault(KeyRefusedError, "The key {what}, so it was not sent.", COPY_KEY),
    "bad proxy": Fault(
        BadRequestError,
        "The proxy that the environment names ({variable}) cannot be used: {what}.",
        "Correct or remove that variable, then start ReadAgent again.",
    ),
    "bad certificates": Fault(
        BadRequestError,
        "The file of trusted certificates that the environment names ({variable}) cannot be read.",
        "Correct or remove that variable, then start ReadAgent again.",
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
    "unknown end": Fault(
        CutOffError, "The reply of {model} ended in mid-sentence, for a reason not known here ({reason}).", "Try again."
    ),
    "only thinking": Fault(
        EmptyReplyError,
        "{model} sent only its thinking and no reply.",
        "Turn its thinking off at the server, have the server separate thinking (vLLM and SGLang: --reasoning-parser), "
        "or choose another model.",
    ),
    "no room": Fault(
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
IN_STREAM = ("loading", "too long", "refused")  # their words decide with any status
CAUSES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (  # the first that matches decides
    ((httpx2.ConnectTimeout,), "unreachable"),
    ((WebPage,), "web page"),
    ((httpx2.TimeoutException,), "timeout"),
    ((httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError), "connection broke"),
    ((openai.APIConnectionError, httpx2.TransportError, httpx2.InvalidURL, UnicodeError), "unreachable"),
)
CODE_FIELDS = ("code", "type", "status", "reason", "error_code", "quotaId")
WORD_FIELDS = ("message", "detail", "error", "raw", "msg", "error_msg", "errorMessage", "Message", "faultstring")
_LIMITS = (  # the first that matches names the limit
    r"n_ctx: ?(\d{3,8})",
    r"\[ ?\d+ ?, ?(\d{3,8}) ?\]",
    r"> ?(\d{3,8})",
    r"(?:<=|less than|at most|cannot exceed|only|limit(?: is| of)?|max_(?:seq|model)_len|session_len"
    r"|context (?:length|size|window)(?: limit)?(?: is| of)?(?: only)?"
    r"|max(?:imum)?(?! output| completion| new)(?: (?!by )[a-z]+){0,4}?(?: is| of)?)\W{0,3}(\d{3,8})",
    r"(\d{3,8}) max(?:imum)?\b",
)
_TIME = r"(\d+(?:\.\d+)?) ?(ms|d|h|m|s)"
_WAIT = re.compile(rf"(?:again in|retry in|retry after) ((?:{_TIME}[a-z]* ?)+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_PLAIN = re.compile(r"[a-zA-Z0-9_.-]{1,60}\Z")
_TOKENS = re.compile(r"token|context|n_ctx|prompt|input|messages|length|_len\b", re.IGNORECASE)


class _Body(NamedTuple):
    """An error body. ``codes``: its machine-readable codes, in lower case; ``words``: its messages; ``named``: the code
    and the parameter that may be shown to a person. The numbers of a ``web_page`` mean nothing.
    """

    codes: frozenset[str]
    words: str
    named: str
    web_page: bool = False


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
    values.setdefault("named", "")
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
    wait = retry_after(headers, found.words) if issubclass(FAULTS[name].kind, RetryAfterError) else None
    for_seconds = f" for {wait:.0f} s" if wait else ""
    said = [f"error {status}"] * (status >= 400) + ([found.named] if found.named else [])
    named = f" ({', '.join(said)})" if said else ""
    return fault(name, where=where, model=model, carried=wait, status=status, named=named, for_seconds=for_seconds)


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
    if status == 413 and not _TOKENS.search(body.words):
        return "body too large"
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
    if body.web_page and status in (0, 400, 403, 405, 406):
        return "web page"
    if status == 404:
        return "no model" if re.search(r"\bmodels?\b", body.words, re.IGNORECASE) else "wrong address"
    if status == 403:
        return "bad key"
    return "bad request" if 0 < status < 500 else "server failed"  # 0: an error inside a reply that names no status


def _is_daily(body: _Body) -> bool:
    """Whether a day's quota is used up: Gemini names it in a quotaId, OpenRouter in its message."""
    return any("perday" in code for code in body.codes) or "free-models-per-day" in body.words


def _read(body: str) -> _Body:
    """What an error body says, whichever shape its provider gives it."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        web_page = body.lstrip("\ufeff \t\r\n").startswith("<")
        return _Body(frozenset(), "" if web_page else body, "", web_page)
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
            words += [f"retry in {part['estimated_time']} s"] if "estimated_time" in part else []  # Hugging Face
            words += [f"n_ctx: {part['n_ctx']}"] if "n_ctx" in part else []
            for name in ("code", "param"):
                if _PLAIN.match(str(part.get(name) or "")):
                    first.setdefault(name, f"{name} {part[name]}")
    named = ", ".join(first[name] for name in ("code", "param") if name in first)
    return _Body(frozenset(codes), "\n".join(words), named)


def limit_in(words: str) -> int | None:
    """The window that an error message names, in tokens; None where it names none."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", words)
    for pattern in _LIMITS:
        if found := re.search(pattern, plain, re.IGNORECASE):
            return int(found.group(1))
    return None


def retry_after(headers: Mapping[str, str], words: str = "") -> float | None:
    """Seconds to wait as the server asks: a header in ms, in seconds, as a time or a date, else its message."""
    for name, unit in (("retry-after-ms", "ms"), ("retry-after", "s"), ("x-ratelimit-reset-after", "s")):
        seconds = _seconds(headers.get(name, "").strip(), unit)
        if seconds is not None:
            return seconds
    found = _WAIT.search(words)
    return _seconds(found.group(1), "s") if found else None


def _seconds(text: str, unit: str) -> float | None:
    """Seconds from now of '12', '1m30s', 'Wed, 26 Nov 2026 10:00:00 GMT' or '2026-11-26T10:00:00Z'; else None."""
    if re.fullmatch(rf"(?:{_TIME}[a-z]*,? ?)+", text, re.IGNORECASE):
        return sum(float(number) * _SECONDS[kind.lower()] for number, kind in re.findall(_TIME, text, re.IGNORECASE))
    try:
        found = float(text) * _SECONDS[unit]
        return max(0.0, found) if math.isfinite(found) else None
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            return None
    with suppress(ValueError, OverflowError, OSError):
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - time.time())
    return None


def plain(code: str | None) -> str:
    """A code of the server's that may be shown to a person; '?' for other text."""
    return code if code and _PLAIN.match(code) else "?"


def parameter_refused(error: Exception) -> tuple[str, int | None]:
    """The name of a parameter that this server does not take, '' where it names none; and for the tokens of a reply the
    most that it takes, where it says so.

    It is read from a 400 or 422, or an error inside a reply. A schema may be refused with 500 or 501 too.
    """
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (0, 400, 422, 500, 501):
        return "", None
    body = _text(error)
    if re.search(r"response_format|json_schema|grammar", body):
        return "response_format", None
    if error.status_code >= 500:
        return "", None
    found = _read(body)
    if _name(400, found) == "too long" and "unsupported" not in body.lower():
        return "", None
    for name in ("stream_options", "max_completion_tokens", "max_tokens", "temperature", "stream"):
        # the parameter that is refused is named first; what to use instead comes later
        if re.search(rf"[\"'`]?param[\"']?: ?[\"']{name}[\"']", body):
            break
    else:
        named = re.findall(r"\b(stream_options|max_completion_tokens|max_tokens|temperature|streaming|stream)\b", body)
        name = str(named[0]).replace("streaming", "stream") if named else ""
    return name, _most_in(found.words) if name.startswith("max_") else None


def _most_in(words: str) -> int | None:
    """The most tokens of a reply that an error message allows; None where it names none."""
    plain_words = re.sub(r"(?<=\d),(?=\d{3})", "", words)
    limits = (
        *_LIMITS[1:3],
        r"(?:<=|less than(?: or equal to)?|at most|up to|maximum(?: allowed)?(?: value)?(?: is| of|:)?) ?(\d{2,8})",
        r"between \d+ and (\d{2,8})",
        r"maximum [a-z ]{0,40}\W(\d{2,8})",
    )
    return next((int(m.group(1)) for p in limits if (m := re.search(p, plain_words, re.IGNORECASE))), None)


def _text(error: openai.APIStatusError) -> str:
    if error.body is None:
        return error.message
    return error.body if isinstance(error.body, str) else json.dumps(error.body)
