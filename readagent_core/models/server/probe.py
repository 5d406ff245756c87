"""Finding and trying models: servers on this computer, the models of a server, and whether one can do this job.

The test asks what a reading asks, on small texts of its own, several times: names a pause point in the asked form,
names pages to look up, quotes exactly. Failing it is no ban: it says what will work less well.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from readagent_core.cancel import CancelToken
from readagent_core.errors import KeyRefusedError, ModelError, RateLimitError
from readagent_core.models.base import Completion
from readagent_core.models.cost.prices import Price, listed_price
from readagent_core.models.server import event_loop, faults, windows
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.trial import LOOK_UPS, PAUSES, QUOTES, Trial
from readagent_core.prompts import Prompt
from readagent_core.quick_json import from_json
from readagent_core.settings import Secret

LOCAL_SECONDS = 0.5
LIST_SECONDS = 8.0
TIMES = 5
WAITS = 4  # of one question, for a server that says 'too many'
WAIT_SECONDS = 5.0  # where it does not say how long
LONGEST_WAIT = 70.0  # free accounts count their calls by the minute


@dataclass(frozen=True)
class Preset:
    """A provider people have. ``local``: runs on this computer. ``key``: 'needed', 'none' or 'maybe'."""

    id: str
    title: str
    address: str
    key: str = "needed"
    local: bool = False
    key_page: str = ""


PRESETS: tuple[Preset, ...] = (
    Preset("ollama", "Ollama", "http://localhost:11434/v1", "none", True),
    Preset("lmstudio", "LM Studio", "http://localhost:1234/v1", "none", True),
    Preset("llama.cpp", "llama.cpp", "http://localhost:8080/v1", "none", True),
    Preset("vllm", "vLLM", "http://localhost:8000/v1", "maybe", True),
    Preset("openai", "OpenAI", "https://api.openai.com/v1", key_page="platform.openai.com/api-keys"),
    Preset("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", key_page="openrouter.ai/keys"),
    Preset("gemini", "Google Gemini", f"https://{windows.GEMINI}/v1beta/openai", key_page="aistudio.google.com/apikey"),
    Preset("anthropic", "Anthropic", f"https://{windows.ANTHROPIC}/v1", key_page="console.anthropic.com/settings/keys"),
)


@dataclass(frozen=True)
class Found:
    """A server that answered. ``models`` empty: it runs, but no model is loaded; or ``locked``: it wants a key."""

    preset: Preset
    address: str
    models: tuple[str, ...]
    locked: bool = False


@dataclass(frozen=True)
class Listing:
    """The models of a server that may chat. ``prices``: as the server itself lists them today, by name."""

    names: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)


def find_local(presets: tuple[Preset, ...] = PRESETS, *, seconds: float = LOCAL_SECONDS) -> list[Found]:
    """The servers that answer on this computer, all asked at once, in the order of the presets."""

    async def look(preset: Preset) -> Found | None:
        try:
            return Found(preset, preset.address, (await _list_models(preset.address, Secret(), seconds)).names)
        except KeyRefusedError:
            return Found(preset, preset.address, (), locked=True)
        except ModelError:
            return None

    async def look_at_all() -> list[Found | None]:
        return await asyncio.gather(*(look(preset) for preset in presets if preset.local))

    return [found for found in event_loop.run(look_at_all()) if found is not None]


def list_models(where: str, key: Secret, *, seconds: float = LIST_SECONDS) -> Listing:
    """A server's models that may chat, in order of their names. Raises ModelError.

    An empty list is no error: some servers list none and answer all the same. The key follows no redirect.
    """
    return event_loop.run(_list_models(where, key, seconds))


async def _list_models(where: str, key: Secret, seconds: float) -> Listing:
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(timeout=seconds, headers=windows.headers(where, key)) as client,
        ):
            response, body = await windows.fetch(client, "GET", windows.list_address(where))
    except TimeoutError:
        raise faults.fault("timeout", where=where) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise faults.explain(error, where=where, model="") from None
    if response.status_code in (404, 405, 501):
        return Listing()
    if response.status_code != 200:
        raise faults.from_status(
            response.status_code, body.decode("utf-8", "replace"), response.headers, where=where, model=""
        )
    try:
        data: Any = from_json(body)
    except (ValueError, RecursionError):
        raise faults.fault("unreadable", where=where) from None
    rows = data.get("data", data.get("models", [])) if isinstance(data, dict) else data
    named = {
        str(row.get("id") or row.get("name")).removeprefix("models/"): row
        for row in rows or []
        if isinstance(row, dict)
    }
    names = sorted((name for name in named if _may_chat(name)), key=str.lower)
    priced = {name: listed_price(named[name].get("pricing")) for name in names}
    return Listing(tuple(names), {name: price for name, price in priced.items() if price is not None})


def _may_chat(name: str) -> bool:
    """Whether a listed model is one to read with, judged by its name."""
    return bool(name) and not re.search(
        r"embed|whisper|tts|dall-e|moderation|transcribe|image|realtime|audio|rerank|davinci|babbage|sora|imagen|veo",
        name,
        re.IGNORECASE,
    )


@dataclass(frozen=True)
class Check:
    """One thing tried. ``state``: 'good', 'weak' or 'failed'. ``figure``: '5 of 5', '0.8 s'. ``advice``: in plain
    words what will work less well, '' when nothing will.
    """

    name: str
    state: str
    figure: str = ""
    advice: str = ""


def try_model(server: OpenAIServer, cancel: CancelToken, *, times: int = TIMES) -> Iterator[Check]:
    """Try the model; a Check as each is known. Raises ModelError when it does not answer at all."""
    start = time.perf_counter()
    first = _asked(server, _GREETING, cancel)
    yield Check("Answers", "good", f"{time.perf_counter() - start:.1f} s")
    yield _streams(server, first)
    yield _count("Names a pause point when asked", PAUSES, server, cancel, times, _PAUSE_ADVICE)
    yield _count("Names pages to look up", LOOK_UPS, server, cancel, times, _LOOK_UP_ADVICE)
    yield _count("Quotes exactly", QUOTES, server, cancel, times, _QUOTE_ADVICE)
    yield _window(server)


_GREETING = Prompt("try", "Reply with the words: one two three four five six.", reply_words=20)
_PAUSE_ADVICE = "Some pages will end by rule, not where the story pauses. Reading still works."
_LOOK_UP_ADVICE = "Some answers will come from the gists alone, or open fewer pages than they need."
_QUOTE_ADVICE = "Some claims may be marked “not found” because the model misquotes. Answers still work."
_SMALL_WINDOW = 6_000


def _asked(server: OpenAIServer, prompt: Prompt, cancel: CancelToken) -> Completion:
    """The reply. Waits where the server asks for it, as a reading would: that says nothing about the model."""
    for _ in range(WAITS):
        try:
            return server.complete(prompt, cancel)
        except RateLimitError as error:
            seconds = WAIT_SECONDS if error.retry_after is None else error.retry_after
            if seconds > LONGEST_WAIT:
                raise
            cancel.wait(seconds, f"Waiting {max(1, round(seconds))} s: the server asked for it")
    return server.complete(prompt, cancel)


def _streams(server: OpenAIServer, reply: Completion) -> Check:
    if server.quirks.stream and reply.first_word is not None:
        return Check("Streams its answer", "good", f"first word {reply.first_word:.1f} s")
    return Check("Streams its answer", "weak", "no", "Answers appear all at once, after a wait.")


def _count(name: str, trials: list[Trial], server: OpenAIServer, cancel: CancelToken, times: int, advice: str) -> Check:
    """How many of ``times`` replies have the asked form. A fault counts as a reply without it."""
    good = 0
    for number in range(times):
        prompt, fits = trials[number % len(trials)]
        try:
            good += fits(_asked(server, prompt, cancel).text)
        except ModelError:
            continue
    state = "good" if good == times else "weak" if good * 2 >= times else "failed"
    return Check(name, state, f"{good} of {times}", "" if good == times else advice)


def _window(server: OpenAIServer) -> Check:
    name = "Takes in at once"
    window = server.window or windows.known(server.name)
    if window is None:
        advice = "The server does not say how much it takes in; set it under “Limits and prices” if prompts fail."
        return Check(name, "good", "not known", advice)
    if window < _SMALL_WINDOW:
        advice = (
            "That is little: answers about long books see fewer pages. Allow more in the server "
            "(Ollama: OLLAMA_CONTEXT_LENGTH=16384)."
        )
        return Check(name, "weak", f"{window:,} tokens", advice)
    return Check(name, "good", f"{window:,} tokens")
