"""How much a model takes in at once (its context window), as its server reports it; each kind of server differs.

Ollama: ``num_ctx`` of the model, else of the running model, else its default of 4096 (it cuts longer prompts
without an error). vLLM: ``max_model_len``. OpenRouter: ``context_length``. Anthropic: ``max_input_tokens``. Gemini,
LM Studio and llama.cpp: their own addresses. Where none reports it, a setting or the server's own error decides.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from readagent_core.errors import ModelError
from readagent_core.models.server import network
from readagent_core.models.server.events import BOM, body
from readagent_core.quick_json import from_json
from readagent_core.settings import Secret
from readagent_core.settings.saved import same_model

SECONDS = 5.0  # for all questions together
OLLAMA_DEFAULT = 4096
OPENAI = "api.openai.com"
# 'owned_by' of servers that answer as many calls side by side as their memory holds, and of gateways (LiteLLM)
BATCHING = ("vllm", "sglang", "aphrodite", "openai")
BATCHED = 32
ANTHROPIC = "api.anthropic.com"
GEMINI = "generativelanguage.googleapis.com"
ANTHROPIC_VERSION = "2023-06-01"
LEAST = 256  # tokens; a smaller figure means something else
MOST = 10**8
NO_ANSWER = (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ModelError)
# of a window, without underscores; the smallest that a server names is the one in force
_NAMES = frozenset({
    "maxmodellen", "maxseqlen", "maxtotaltokens", "maxinputtokens", "maxprompttokens", "maxcontextwindowtokens",
    "contextlength", "contextwindow", "context", "maxcontextlength", "nctx",
})  # fmt: skip
# where servers tell it that have it neither in their list nor at an address known above: TGI, KoboldCpp, TabbyAPI,
# LiteLLM, and those that tell more of one model than of all
_ELSEWHERE = (
    "{root}/info",
    "{root}/api/extra/true_max_context_length",
    "{v1}/model",
    "{v1}/model/info",
    "{v1}/models/{id}",
)


@dataclass(frozen=True)
class Window:
    """``tokens``: None where it is not known. ``firm``: False for a model that is not loaded yet: the server decides
    when it loads it, so it is to be asked again after the first reply. ``slots``: calls that it answers at the same
    time, None where it does not say. ``file``: what changes when the model is another one under the same name; ''.
    ``grammar``: it takes a grammar for a reply.
    """

    tokens: int | None
    firm: bool = True
    slots: int | None = None
    file: str = ""
    grammar: bool = False


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
    """Return a client for questions about models, each answered within ``seconds``. Raises ModelError.

    Connecting has less: a server that cannot be reached is then told from one that is slow.
    """
    network.check(where, key)
    timeout = httpx2.Timeout(seconds, connect=0.75 * seconds)
    return httpx2.AsyncClient(timeout=timeout, headers=headers(where, key), **network.options(where))


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
            response, content = await fetch(client, "GET", list_address(where))
            if response.status_code >= 500:  # it is still starting
                return Window(None, firm=False)
            row = _model_row(rows_in(_json(content) if response.status_code == 200 else {}), model)
            slots = BATCHED if row.get("owned_by") in BATCHING else None
            if row.get("owned_by") == "llamacpp" and (found := await _llama_cpp(client, where, row)):
                return found  # newer ones list the window too, but neither slots nor file
            if window := _window_in(row):
                return Window(window, slots=slots, file=str(row.get("root") or ""))
            if "ollama" in str(row.get("owned_by", "")) or row.get("owned_by") == "library":
                return await _ollama(client, where, model)
            found = await _llama_cpp(client, where, row) or await _lm_studio(client, where, model)
            if found is not None:
                return found
            if "version" in await _ask(client, "GET", f"{root(where)}/api/version"):
                return await _ollama(client, where, model)
            return Window(await _elsewhere(client, where, model) or known(model), slots=slots)
    except (TimeoutError, *NO_ANSWER):
        return Window(None, firm=False)  # perhaps it is there later


async def _gemini(client: httpx2.AsyncClient, where: str, model: str, key: Secret) -> int | None:
    """Gemini's OpenAI-compatible list holds no sizes; its own does, and takes the key in its own header."""
    own = where.rstrip("/").removesuffix("/openai")
    name = model.removeprefix("models/")
    shown = await _ask(client, "GET", f"{own}/models/{quote(name)}", headers={"x-goog-api-key": key.reveal()})
    return _number(shown.get("inputTokenLimit"))


async def _elsewhere(client: httpx2.AsyncClient, where: str, model: str) -> int | None:
    """The window at one of the addresses in ``_ELSEWHERE``, all asked at once."""
    places = [a.format(root=root(where), v1=where.rstrip("/"), id=quote(model, safe="")) for a in _ELSEWHERE]
    for shown in await asyncio.gather(*(_ask(client, "GET", place) for place in places)):
        listed = rows_in(shown)
        found = _window_in(_model_row(listed, model) if listed else shown) or _number(shown.get("value"))
        if found:
            return found
    return None


async def _llama_cpp(client: httpx2.AsyncClient, where: str, row: Mapping[str, Any]) -> Window | None:
    """The window at llama.cpp. A router of several models is asked without loading this one."""
    status = row.get("status")
    routed = isinstance(status, dict)
    which = f"?model={quote(str(row.get('id')), safe='')}&autoload=false" if routed else ""
    props = await _ask(client, "GET", f"{root(where)}/props{which}")
    settings = props.get("default_generation_settings")
    size = _number((settings if isinstance(settings, dict) else props).get("n_ctx") or props.get("n_ctx"))
    if size:
        meta, slots = row.get("meta"), props.get("total_slots")
        file = f"{props.get('model_path', '')} {meta.get('size', '') if isinstance(meta, dict) else ''}".strip()
        most = slots if isinstance(slots, int) and slots > 0 else None
        return Window(size, slots=most, file=file, grammar=True)
    return Window(None, firm=False) if routed else None


async def _lm_studio(client: httpx2.AsyncClient, where: str, model: str) -> Window | None:
    """What the model was loaded with; until it is loaded, what it was made for."""
    row = _model_row(rows_in(await _ask(client, "GET", f"{root(where)}/api/v0/models")), model)
    loaded = _number(row.get("loaded_context_length"))
    if not row:
        row = _model_row(rows_in(await _ask(client, "GET", f"{root(where)}/api/v1/models")), model)
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
    made_for = [size for size in sizes if size]
    if set_by_model := re.search(r"num_ctx\W+(\d+)", str(shown.get("parameters") or "")):
        return Window(min([int(set_by_model.group(1)), *made_for]), file=file)
    if shown.get("remote_host") and made_for:  # it runs elsewhere, with all of its window
        return Window(min(made_for), file=file)
    running = _model_row(rows_in(await _ask(client, "GET", f"{root(where)}/api/ps")), model)
    if size := _number(running.get("context_length")):
        return Window(size, file=file)
    return Window(min([OLLAMA_DEFAULT, *made_for]), firm=False, file=file)


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


def rows_in(data: object) -> list[Mapping[str, Any]]:
    """The models in a list of any shape: under 'data' or 'models' or bare, objects or names, or objects by name."""
    if isinstance(data, dict):
        data = data.get("data") or data.get("models") or data.get("result")
    if isinstance(data, dict):
        data = [{"id": name, **row} for name, row in data.items() if isinstance(row, dict)]
    rows = [{"id": row} if isinstance(row, str) else row for row in data] if isinstance(data, list) else []
    return [row for row in rows if isinstance(row, dict)]


def name_of(row: Mapping[str, Any]) -> str:
    """The name by which a listed model is asked; '' where it has none."""
    names = map(row.get, ("id", "model", "name", "key", "model_name"))
    return next((name for name in names if isinstance(name, str) and name), "").removeprefix("models/")


def _model_row(rows: Sequence[Mapping[str, Any]], model: str) -> Mapping[str, Any]:
    return next((row for row in rows if same_model(name_of(row), model)), {})


def _window_in(row: Mapping[str, Any], depth: int = 3) -> int | None:
    """The smallest window that an object names, at any place in it."""
    found = [_number(value) for name, value in row.items() if re.sub("[_-]", "", name.lower()) in _NAMES]
    inner = [_window_in(value, depth - 1) for value in row.values() if isinstance(value, dict) and depth]
    return min((size for size in (*found, *inner) if size), default=None)


async def fetch(client: httpx2.AsyncClient, method: str, address: str, **options: Any) -> tuple[httpx2.Response, bytes]:
    """Send a request; return the response and its body. Raises httpx2's errors, also for a body that is too long."""
    async with client.stream(method, quote(address, safe=":/?&=%@[]-._~"), **options) as response:
        return response, (await body(response)).removeprefix(BOM)


async def _ask(client: httpx2.AsyncClient, method: str, address: str, **options: Any) -> dict[str, Any]:
    """The JSON object at an address; {} where there is none."""
    response, content = await fetch(client, method, address, **options)
    data = _json(content) if response.status_code == 200 else {}
    return data if isinstance(data, dict) else {}


def _json(content: bytes) -> object:
    try:
        return from_json(content)
    except (ValueError, RecursionError):
        return None


def _number(value: object) -> int | None:
    """A size in tokens, a figure or '8192', '32,768' or '32k'; None for anything else."""
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(\d{1,3}(?:,?\d{3})*|\d{1,9})\s*(k?)\s*", value.lower())):
        value = int(found.group(1).replace(",", "")) * (1024 if found.group(2) else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not LEAST <= value <= MOST:
        return None
    return int(value)
