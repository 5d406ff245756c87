"""Turns what a model server or its client library reports into one of our errors.

An HTTP status decides where it has one meaning; then the machine-readable codes in the JSON body; then the words of its
message, where a provider gives nothing else. tests/models/wire holds published bodies of each provider.
A message of ours never holds a server's own words, which may repeat a key or the book: only its error code and the
name of a parameter.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import openai

from readagent_core import errors
from readagent_core.errors import OR_TEST, WORK_IS_SAVED, ModelError, RetryAfterError
from readagent_core.models.cost.prices import is_local
from readagent_core.models.server.events import WebPage


class Fault(NamedTuple):
    """A row of faults.toml, which explains its fields: one of our errors, its message and what leads to it."""

    kind: type[ModelError]
    happened: str
    remedy: str
    statuses: Sequence[int] = ()
    codes: frozenset[str] = frozenset()
    words: str = ""


def _row(kind: str, words: Sequence[str] = (), codes: Sequence[str] = (), **row: Any) -> Fault:
    return Fault(getattr(errors, kind), codes=frozenset(codes), words="|".join(words), **row)


# the first that matches decides; those without statuses, codes and words are chosen by name
FAULTS = {
    name: _row(**row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
IN_STREAM = ("loading", "no memory", "too long", "refused")  # their words decide with any status
CAUSES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (  # the first that matches decides
    ((httpx2.ConnectTimeout,), "unreachable"),
    ((WebPage,), "web page"),
    ((httpx2.ProxyError,), "proxy failed"),
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
    r"(?:<=|less than|at most|cannot exceed|only|limit(?: is| of)?|max_(?:seq|model)_len(?: of| is)?|session_len"
    r"|max_num_tokens|限制|上限"
    r"|context (?:length|size|window)(?: limit)?(?: is| of)?(?: only)?"
    r"|max(?:imum)?(?! output| completion| new)(?: (?!by )[a-z]+){0,4}?(?: is| of)?)\W{0,3}(\d{3,8})",
    r"(\d{3,8}) max(?:imum)?\b",
)
_TIME = r"(\d+(?:\.\d+)?) ?(ms|d|h|m|s)"
_WAIT = re.compile(
    rf"\b(?:again in|(?:retry|available|wait)(?: in| after| for)?)(?: about| another)? ((?:{_TIME}[a-z]* ?)+)",
    re.IGNORECASE,
)
_WAIT_FIELD = re.compile(r"(?:x?(?:ms|ratelimit)?)(retryafter|retrydelay|estimatedtime)(ms|s)?(?:econds)?")
# in one field, as the drafts of the IETF have it: 'limit=10, remaining=0, reset=30', '"default";r=0;t=30'
_USED_UP = re.compile(r"\b(?:remaining|r)=0\b[^\"]*?\b(?:reset|t)=(\d{1,6})\b")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
EPOCH = 10**9  # seconds: 2001, or 31 years
LONGEST = 32 * 86_400  # seconds: quotas last a month at most; a longer wait means something else
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
    said = f"{happened} {WORK_IS_SAVED} {remedy}"
    message = said.format(at=host(where), model=model, for_model=for_model, or_test=OR_TEST, **values)
    return kind(message) if carried is None else kind(message, carried)


def explain(error: Exception, *, where: str, model: str) -> ModelError:
    """Our error for ``error``; a ModelError is returned unchanged."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        return from_status(error.status_code, _text(error), error.response.headers, where=where, model=model)
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
    matching = (name for kinds, name in CAUSES if isinstance(error, kinds) or isinstance(cause, kinds))
    name = next(matching, "unreadable")
    if name == "unreachable" and not is_local(where):
        name = "offline"
    elif name == "unreachable" and where.startswith("https:"):
        name = "unreachable by https"
    return fault(name, where=where, model=model)


def from_status(status: int, body: str, headers: Mapping[str, str], *, where: str, model: str) -> ModelError:
    """Our error for an HTTP status with its body."""
    found = _read(body)
    name = _name(status, found)
    if name == "too long":
        return too_long(model, limit_in(found.words))
    wait = retry_after(headers, found.words) if issubclass(FAULTS[name].kind, RetryAfterError) else None
    for_seconds = f" for {_span(wait)}" if wait else ""
    said = [f"error {status}"] * (status >= 400) + [found.named] * (found.named not in ("", f"code {status}"))
    named = f" For whoever helps you: {', '.join(said)}." if said else ""
    return fault(name, where=where, model=model, carried=wait, status=status, named=named, for_seconds=for_seconds)


def _span(seconds: float) -> str:
    """'20 s', '6 minutes', '3 hours'."""
    units = ((seconds / 86_400, "days"), (seconds / 3600, "hours"), (seconds / 60, "minutes"))
    return next((f"{number:.0f} {name}" for number, name in units if number >= 2), f"{seconds:.0f} s")


def too_long(model: str, window: int | None, *, needed: int | None = None) -> ModelError:
    """The error for a prompt of about ``needed`` tokens that ``window`` tokens do not hold; None: not known."""
    need = f"About {needed:,} tokens (parts of words) are" if needed else "The text is"
    of_tokens = f": {window:,} tokens{'' if needed else ' (parts of words)'}" if window else ""
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
        if body.codes & row.codes:
            return name
    if status == 429:
        return "rate limit"
    for name, row in FAULTS.items():
        fits = row.words and (status < 500 or name in IN_STREAM)
        if fits and re.search(row.words, body.words, re.IGNORECASE | re.DOTALL):
            return name
    if body.web_page and status in (0, 400, 403, 405, 406, 501):
        return "web page"
    if status in (404, 405):
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
            wait = retry_after(part)
            words += [f"retry in {wait:.3f} s"] if wait is not None else []
            words += [f"n_ctx: {part['n_ctx']}"] if "n_ctx" in part else []
            for name in ("code", "param"):
                if _PLAIN.match(str(part.get(name) or "")) and str(part[name]) != "None":
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


def retry_after(fields: Mapping[str, Any], words: str = "") -> float | None:
    """Seconds to wait as the server asks, in header fields or in an error's own: a figure, a span, a time or a date;
    else in its message. Of limits with a time each, those count that are used up.
    """
    plain = {re.sub("[-_]", "", name.lower()): str(value).strip("\"' \t") for name, value in fields.items()}
    waits = [
        (form[2] != "ms", seconds)  # milliseconds are the more exact
        for name, value in plain.items()
        if (form := _WAIT_FIELD.fullmatch(name)) and (seconds := _seconds(value, form[2] or "s")) is not None
    ]
    used_up = [
        seconds
        for name, value in plain.items()
        if "ratelimit" in name
        and "reset" in name
        and (seconds := _seconds(value, "s")) is not None
        and plain.get(re.sub("reset(?:after)?", "remaining", name), "0") == "0"
    ]
    used_up += [float(seconds) for seconds in _USED_UP.findall(plain.get("ratelimit", ""))]
    if waits or used_up:
        return min(waits)[1] if waits else max(used_up)
    found = _WAIT.search(words)
    return _seconds(found.group(1), "s") if found else None


def _seconds(text: str, unit: str) -> float | None:
    """Seconds from now of '12', '1m30s', 'Wed, 26 Nov 2026 10:00:00 GMT' or '2026-11-26T10:00:00Z'; else None, also
    for more than ``LONGEST``.
    """
    found = _any_seconds(text, unit)
    return found if found is not None and found <= LONGEST else None


def _any_seconds(text: str, unit: str) -> float | None:
    """Seconds from now of any length.

    A figure too large to be a span is a time in seconds or milliseconds since 1970.
    """
    if re.fullmatch(rf"(?:{_TIME}[a-z]*,? ?)+", text, re.IGNORECASE):
        return sum(float(number) * _SECONDS[kind.lower()] for number, kind in re.findall(_TIME, text, re.IGNORECASE))
    if figure := re.fullmatch(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,9})?)(?:;.*)?", text):
        found = float(figure.group(1))
        if found > EPOCH:
            found = (found / 1000 if found > 1000 * EPOCH else found) - time.time()
        else:
            found *= _SECONDS[unit]
        return max(0.0, found)
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
