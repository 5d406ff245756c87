"""Find servers on this computer, and the models of a server."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from readagent_core import event_loop
from readagent_core.errors import KeyRefusedError, ModelError
from readagent_core.models.cost.prices import Price, listed_price
from readagent_core.models.server import faults, windows
from readagent_core.models.server.replies import fault_in
from readagent_core.quick_json import from_json
from readagent_core.settings import Secret

LOCAL_SECONDS = 0.5
LIST_SECONDS = 8.0


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
    """The models of a server that may chat. ``prices``: as the server itself lists them today, by name.

    ``instead``: what came in place of a list.
    """

    names: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    instead: Literal["", "nothing", "web page"] = ""


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
        async with asyncio.timeout(seconds), windows.client_of(where, key, seconds=seconds) as client:
            response, body = await windows.fetch(client, "GET", windows.list_address(where))
    except TimeoutError:
        raise faults.fault("timeout", where=where) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise faults.explain(error, where=where, model="") from None
    web_page = body.lstrip().startswith(b"<")
    if response.status_code in (404, 405, 501):
        return Listing(instead="web page" if web_page else "nothing")
    if response.status_code != 200:
        raise faults.from_status(
            response.status_code, body.decode("utf-8", "replace"), response.headers, where=where, model=""
        )
    try:
        data: Any = from_json(body)
    except (ValueError, RecursionError):
        raise faults.fault("web page" if web_page else "unreadable", where=where) from None
    rows = windows.rows_in(data)
    if not rows and isinstance(data, dict) and (wrong := fault_in(data)):
        raise faults.from_status(0, json.dumps(wrong), response.headers, where=where, model="")
    named = {windows.name_of(row): row for row in rows}
    names = sorted((name for name, row in named.items() if _may_chat(name, row)), key=str.lower)
    priced = {name: listed_price(named[name].get("pricing")) for name in names}
    return Listing(tuple(names), {name: price for name, price in priced.items() if price is not None})


def _may_chat(name: str, row: Mapping[str, Any]) -> bool:
    """Whether a listed model is one to read with, judged by what its server says of it and by its name."""
    said = [row.get("type"), row.get("object"), row.get("task")]
    does = [row.get("capabilities"), row.get("endpoints"), row.get("architecture")]  # Mistral, Cohere, OpenRouter
    modalities = does[2].get("output_modalities") if isinstance(does[2], dict) else None
    return not (
        not name
        or row.get("active") is False
        or any(isinstance(kind, str) and _NO_CHAT.search(kind) for kind in said)
        or (isinstance(does[0], dict) and does[0].get("completion_chat") is False)
        or (isinstance(does[1], list) and does[1] and not {"chat", "generate"} & {*map(str, does[1])})
        or (isinstance(modalities, list) and modalities and "text" not in modalities)
        or _NO_CHAT.search(name)
    )


_NO_CHAT = re.compile(
    r"embed|whisper|dall-e|moderation|transcri|realtime|audio|rerank|davinci|babbage|speech"
    r"|(?<![a-z])(?:tts|images?|sora|imagen|veo|video|bge|e5|gte|(?:all-)?minilm|clip)(?![a-z])",
    re.IGNORECASE,
)
