"""The kinds of server there are: how each lists its models, and what it tells at addresses of its own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass
class Traits:
    """What kind of server it is. ``refuses``: parameters answered with 400 ('max_tokens', 'temperature',
    'stream', 'stream_options', 'system'). ``kind``: 'openai', 'ollama', 'vllm', 'llama.cpp', 'lmstudio',
    'openrouter', 'gemini', 'anthropic'. ``base``: where its OpenAI-compatible side stands. ``loaded``: whether a
    server that loads models when they are first asked has done so; a chat loads it.
    """

    kind: str = "openai"
    models: tuple[str, ...] = ("fake-model",)
    lists_models: bool = True
    key: str = ""
    refuses: frozenset[str] = frozenset()
    reports_usage: bool = True
    window: int | None = None
    num_ctx: int | None = None
    latency: float = 0.0
    embeds: bool = True
    list_delay: float = 0.0
    price: tuple[str, str] | None = None
    base: str = "/v1"
    loaded: bool = True
    loaded_window: int | None = None
    native: str = "v0"  # which of LM Studio's own addresses it has
    slots: int = 1
    file: str = ""  # what tells one version of the model from another
    enforces: bool = False  # a JSON schema, where a call has one; else it is ignored


def fill_schema(schema: dict[str, Any], text: str) -> str:
    """A JSON object of ``schema`` with the numbers and words of ``text``, the reply in the prompt's own form."""
    numbers = [int(number) for number in re.findall(r"\d+", text.split("\n")[0])]
    values: dict[str, Any] = {}
    for name, kind in schema["properties"].items():
        if "enum" in kind:
            values[name] = next((letter for letter in kind["enum"] if f"({letter})" in text), kind["enum"][0])
        elif kind["type"] == "array":
            values[name] = numbers
        else:
            values[name] = {"string": text, "boolean": not numbers, "integer": next(iter(numbers), 0)}[kind["type"]]
    return json.dumps(values)


def row(traits: Traits, model: str) -> dict[str, Any]:
    """A model as the list of this kind of server shows it."""
    shown: dict[str, Any] = {"id": model, "object": "model", "owned_by": traits.kind}
    if traits.kind == "vllm" and traits.window:
        shown["max_model_len"] = traits.window
    if traits.kind == "openrouter":
        shown["context_length"] = traits.window
        shown["pricing"] = {"prompt": traits.price[0], "completion": traits.price[1]} if traits.price else {}
    if traits.kind == "anthropic" and traits.window:
        shown |= {"max_input_tokens": traits.window, "max_tokens": 64_000}
    if traits.kind == "gemini":
        shown["id"] = f"models/{model}"
    if traits.kind == "llama.cpp":
        shown |= {"owned_by": "llamacpp", "meta": {"n_ctx": traits.window, "n_ctx_train": 131_072}}
    if traits.kind == "ollama":
        shown["owned_by"] = "library"
    return shown


def own_address(traits: Traits, path: str) -> dict[str, Any] | None:
    """What this kind of server says at addresses of its own; None where it has no such address."""
    window = traits.loaded_window or traits.window
    model = traits.models[0] if traits.models else ""
    own: dict[tuple[str, str], dict[str, Any]] = {
        ("ollama", "/api/tags"): {"models": [{"name": m} for m in traits.models]},
        ("ollama", "/api/version"): {"version": "0.9.0"},
        ("ollama", "/api/ps"): {
            "models": [{"name": model, "model": model, "context_length": traits.num_ctx or traits.loaded_window}]
            if traits.num_ctx or (traits.loaded and traits.loaded_window)
            else []
        },
        ("llama.cpp", "/props"): {"default_generation_settings": {"n_ctx": window}, "total_slots": traits.slots},
        ("lmstudio v0", "/api/v0/models"): {
            "data": [
                {"id": model, "state": "loaded", "loaded_context_length": window, "max_context_length": 131_072}
                if traits.loaded
                else {"id": model, "state": "not-loaded", "max_context_length": 131_072}
            ]
        },
        ("lmstudio v1", "/api/v1/models"): {
            "models": [
                {
                    "key": model,
                    "max_context_length": 131_072,
                    "loaded_instances": [{"id": model, "config": {"context_length": window}}] if traits.loaded else [],
                }
            ]
        },
        ("gemini", f"{traits.base.removesuffix('/openai')}/models/{model}"): {
            "name": f"models/{model}",
            "inputTokenLimit": traits.window,
        },
    }
    kind = f"lmstudio {traits.native}" if traits.kind == "lmstudio" else traits.kind
    return own.get((kind, path))
