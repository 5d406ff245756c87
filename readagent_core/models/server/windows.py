"""How much a model takes in at once (its context window), as its server reports it; each kind of server differs.

Ollama: ``num_ctx`` of the model, else of the running model, else its default of 4096 (it cuts longer prompts
without an error). vLLM: ``max_model_len``. OpenRouter: ``context_length``. Anthropic: ``max_input_tokens``. Gemini,
LM Studio and llama.cpp: their own addresses. Where none reports it, a setting or the server's own error decides.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from readagent_core.errors import ModelError
from readagent_core.models.server import network
from readagent_core.models.server.replies import body
from readagent_core.quick_json import from_json
from readagent_core.settings import Secret

SECONDS = 5.0  # for all questions together
OLLAMA_DEFAULT = 4096
OPENAI = "api.openai.com"
# 'owned_by' of servers that answer as many calls side by side as their memory holds, and of gateways (LiteLLM)
BATCHING = ("vllm", "sglang", "aphrodite", "openai")
BATCHED = 32
ANTHROPIC = "api.anthropic.com"
GEMINI = "generativelanguage.googleapis.com"
ANTHROPIC_VERSION = "2023-06-01"
NO_ANSWER = (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ModelError)
IN_LIST = ("max_model_len", "context_length", "context_window", "max_input_tokens", "max_context_length")


@dataclass(frozen=True)
class Window:
    """``tokens``: None where it is not known. ``firm``: False for a model that is not loaded yet: the server decides
    when it loads it, so it is to be asked again after the first reply. ``slots``: calls that it answers at the same
    time, None where it does not say. ``file``: what changes when the model is another one under the same name; ''.
    """

    tokens: int | None
    firm: bool = True
    slots: int | None = None
    file: str = ""


def root(where: str) -> str:
    """The server's address without '/v1'."""
    return re.sub(r"/v1/?$", "", where.rstrip("/"))


def headers(where: str, key: Secret) -> dict[str, str]:
    """What carries the key where models are listed: a bearer, and Anthropic's own header at Anthropic."""
    if not key:
        return {}
    bearer = {"Authorization": f"Bearer {key.reveal()}"}
    return (
        bearer | {"x-api-key": key.reveal(), "anthropic-version": ANTHROPIC_VERSION} if ANTHROPIC in where else bearer
    )


def client_of(where: str, key: Secret, *, seconds: float) -> httpx2.AsyncClient:
    """Return a client for questions about models, each answered within ``seconds``. Raises ModelError."""
    network.check(where, key)
    return httpx2.AsyncClient(timeout=seconds, headers=headers(where, key), **network.options(where))


def list_address(where: str) -> str:
    """Where a server lists its models; Anthropic lists twenty without a limit."""
    return f"{where.rstrip('/')}/models{'?limit=1000' if ANTHROPIC in where else ''}"


async def ask(where: str, model: str, key: Secret, *, seconds: float = SECONDS) -> Window:
    """Ask the server for the window of ``model``, within ``seconds``. A server that cannot be asked is no error."""
    if OPENAI in where:  # it reports none
        return Window(known(model))
    try:
        async with asyncio.timeout(seconds), client_of(where, key, seconds=seconds) as client:
            if GEMINI in where:
                return Window(await _gemini(client, where, model, key) or known(model))
            row = _model_row((await _ask(client, "GET", list_address(where))).get("data"), model)
            slots = BATCHED if row.get("owned_by") in BATCHING else None
            for name in IN_LIST:
                if _number(row.get(name)):
                    return Window(_number(row.get(name)), slots=slots, file=str(row.get("root") or ""))
            if "ollama" in str(row.get("owned_by", "")) or row.get("owned_by") == "library":
                return await _ollama(client, where, model)
            found = await _llama_cpp(client, where, row) or await _lm_studio(client, where, model)
            if found is not None:
                return found
            if "version" in await _ask(client, "GET", f"{root(where)}/api/version"):
                return await _ollama(client, where, model)
    except (TimeoutError, *NO_ANSWER):
        return Window(None, firm=False)  # perhaps it is there later
    return Window(known(model), slots=slots)


async def _gemini(client: httpx2.AsyncClient, where: str, model: str, key: Secret) -> int | None:
    """Gemini's OpenAI-compatible list holds no sizes; its own does, and takes the key in its own header."""
    own = where.rstrip("/").removesuffix("/openai")
    name = model.removeprefix("models/")
    shown = await _ask(client, "GET", f"{own}/models/{quote(name)}", headers={"x-goog-api-key": key.reveal()})
    return _number(shown.get("inputTokenLimit"))


async def _llama_cpp(client: httpx2.AsyncClient, where: str, row: Mapping[str, Any]) -> Window | None:
    """The window at llama.cpp. A router of several models is asked without loading this one."""
    status = row.get("status")
    routed = isinstance(status, dict)
    which = f"?model={quote(str(row.get('id')), safe='')}&autoload=false" if routed else ""
    props = await _ask(client, "GET", f"{root(where)}/props{which}")
    settings = props.get("default_generation_settings")
    size = _number(settings.get("n_ctx")) if isinstance(settings, dict) else None
    if size:
        meta = row.get("meta")
        file = f"{props.get('model_path', '')} {meta.get('size', '') if isinstance(meta, dict) else ''}".strip()
        return Window(size, slots=_number(props.get("total_slots")), file=file)
    return Window(None, firm=False) if routed else None


async def _lm_studio(client: httpx2.AsyncClient, where: str, model: str) -> Window | None:
    """What the model was loaded with; until it is loaded, what it was made for."""
    row = _model_row((await _ask(client, "GET", f"{root(where)}/api/v0/models")).get("data"), model)
    loaded = _number(row.get("loaded_context_length"))
    if not row:
        row = _model_row((await _ask(client, "GET", f"{root(where)}/api/v1/models")).get("models"), model, name="key")
        instances = row.get("loaded_instances")
        configs = [i.get("config") for i in instances if isinstance(i, dict)] if isinstance(instances, list) else []
        sizes = [_number(c.get("context_length")) for c in configs if isinstance(c, dict)]
        loaded = min([s for s in sizes if s], default=None)
    file = str(row.get("quantization") or "")
    if loaded:
        return Window(loaded, file=file)
    made_for = _number(row.get("max_context_length"))
    return Window(made_for, firm=False, file=file) if made_for else None


async def _ollama(client: httpx2.AsyncClient, where: str, model: str) -> Window:
    """What Ollama loads the model with, never more than the model was made for."""
    shown = await _ask(client, "POST", f"{root(where)}/api/show", json={"model": model})
    info, file = shown.get("model_info"), str(shown.get("modified_at") or "")
    sizes = [_number(v) for k, v in info.items() if k.endswith(".context_length")] if isinstance(info, dict) else []
    set_by_model = re.search(r"num_ctx\s+(\d+)", str(shown.get("parameters") or ""))
    if set_by_model:
        return Window(int(set_by_model.group(1)), file=file)
    running = (await _ask(client, "GET", f"{root(where)}/api/ps")).get("models")
    for row in running if isinstance(running, list) else []:
        if _same(row.get("model", row.get("name")), model) and _number(row.get("context_length")):
            return Window(int(row["context_length"]), file=file)
    return Window(min([OLLAMA_DEFAULT, *[s for s in sizes if s]]), firm=False, file=file)


async def load(where: str, model: str, key: Secret, *, seconds: float) -> None:
    """Have Ollama load the model, because it reports the window only then; other servers answer with an error."""
    with suppress(*NO_ANSWER):
        async with client_of(where, key, seconds=seconds) as client:
            await fetch(client, "POST", f"{root(where)}/api/generate", json={"model": model})


def known(model: str) -> int | None:
    """The window of a well-known model by its name, as its maker states it."""
    name = model.rsplit("/", 1)[-1].lower()
    return next((window for start, window in _KNOWN if name.startswith(start)), None)


_KNOWN = (
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-6", 922_000),
    ("gpt-5", 272_000),
    ("gpt-3.5", 16_385),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("gemini", 1_048_576),
)


def _model_row(rows: object, model: str, *, name: str = "id") -> Mapping[str, Any]:
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and _same(row.get(name), model):
            return row
    return {}


def _same(listed: object, model: str) -> bool:
    """Whether both name one model: Ollama lists 'llama3.2' as 'llama3.2:latest', and letter case does not count."""
    return str(listed).casefold().removesuffix(":latest") == model.casefold().removesuffix(":latest")


async def fetch(client: httpx2.AsyncClient, method: str, address: str, **options: Any) -> tuple[httpx2.Response, bytes]:
    """Send a request; return the response and its body. Raises httpx2's errors, also for a body that is too long."""
    async with client.stream(method, quote(address, safe=":/?&=%@[]-._~"), **options) as response:
        return response, await body(response)


async def _ask(client: httpx2.AsyncClient, method: str, address: str, **options: Any) -> dict[str, Any]:
    """The JSON object at an address; {} where there is none."""
    response, content = await fetch(client, method, address, **options)
    try:
        data = from_json(content) if response.status_code == 200 else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
