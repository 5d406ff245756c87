"""How much a model takes in at once, as its server tells it; every server tells it elsewhere.

Ollama: ``num_ctx`` of the model, else of the running model, else its default of 4096 (it cuts longer prompts
without a word). vLLM: ``max_model_len``. OpenRouter: ``context_length``. LM Studio and llama.cpp: their own
addresses. None where no one tells: then a setting, or the server's own error, must.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx2

from readagent_core.settings import Secret

SECONDS = 2.0
OLLAMA_DEFAULT = 4096
# makers whose OpenAI-compatible addresses tell no window: not asked
SILENT = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com")


def root(where: str) -> str:
    """The server's address without '/v1'."""
    return re.sub(r"/v1/?$", "", where.rstrip("/"))


def ask(where: str, model: str, key: Secret, *, seconds: float = SECONDS) -> int | None:
    """The window of ``model`` in tokens; None where the server does not tell. Raises nothing."""
    if any(silent in where for silent in SILENT):
        return known(model)
    headers = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
    try:
        with httpx2.Client(timeout=seconds, headers=headers) as client:
            row = _model_row(_get(client, f"{where.rstrip('/')}/models"), model)
            for name in ("max_model_len", "context_length", "context_window", "max_context_length"):
                if _number(row.get(name)):
                    return _number(row.get(name))
            if "ollama" in str(row.get("owned_by", "")) or row.get("owned_by") == "library":
                return _ollama(client, where, model)
            props = _get(client, f"{root(where)}/props").get("default_generation_settings")
            if isinstance(props, dict) and _number(props.get("n_ctx")):
                return _number(props.get("n_ctx"))
            studio = _model_row(_get(client, f"{root(where)}/api/v0/models"), model)
            loaded = _number(studio.get("loaded_context_length")) or _number(studio.get("max_context_length"))
            if loaded:
                return loaded
            if "version" in _get(client, f"{root(where)}/api/version"):
                return _ollama(client, where, model)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError):
        return None
    return known(model)


def _ollama(client: httpx2.Client, where: str, model: str) -> int:
    """What Ollama loads the model with, never more than the model was made for."""
    shown = _json(client.post(f"{root(where)}/api/show", json={"model": model}))
    info = shown.get("model_info")
    sizes = [_number(v) for k, v in info.items() if k.endswith(".context_length")] if isinstance(info, dict) else []
    set_by_model = re.search(r"num_ctx\s+(\d+)", str(shown.get("parameters") or ""))
    if set_by_model:
        return int(set_by_model.group(1))
    running = _get(client, f"{root(where)}/api/ps").get("models")
    for row in running if isinstance(running, list) else []:
        if row.get("model", row.get("name")) == model and _number(row.get("context_length")):
            return int(row["context_length"])
    return min([OLLAMA_DEFAULT, *[s for s in sizes if s]])


def known(model: str) -> int | None:
    """The window of a well-known model by its name, as its maker states it."""
    name = model.rsplit("/", 1)[-1].lower()
    for start, window in _KNOWN:
        if name.startswith(start):
            return window
    return None


_KNOWN = (
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-5", 272_000),
    ("gpt-3.5", 16_385),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("gemini", 1_048_576),
)


def _model_row(data: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    rows = data.get("data")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and row.get("id") == model:
            return row
    return {}


def _get(client: httpx2.Client, address: str) -> dict[str, Any]:
    return _json(client.get(quote(address, safe=":/?&=%@[]-._~")))


def _json(response: httpx2.Response) -> dict[str, Any]:
    try:
        data = response.json() if response.status_code == 200 else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
