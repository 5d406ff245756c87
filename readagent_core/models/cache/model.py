"""A model whose replies are cached: the same prompt is not sent twice, by this process or a later one.

Keys are hashes, so the cache holds no prompt and no server key. The store itself is ``store``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

from readagent_core.cancel import CancelToken, key_lock
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cache.store import ReplyCache
from readagent_core.prompts import Prompt
from readagent_core.quick_json import to_json

VERSION = 1
_STORED = ("text", "model", "tokens_in", "tokens_out", "reasoning", "orders")  # of a completion


class Cached(ModelWrapper):
    """A ChatModel that looks in the cache before it sends."""

    def __init__(self, model: ChatModel, cache: ReplyCache) -> None:
        super().__init__(model)
        self.cache = cache
        self._read = True

    def without_cache(self) -> Self:
        """A copy that ignores cached replies; new replies still replace them."""
        again = self._over(self.model)
        again._read = False
        return again

    def wrap_inner(self, wrap: Callable[[ChatModel], ChatModel]) -> Self:
        """A copy in which ``wrap`` wraps the model that is called when no reply is cached."""
        return self._over(wrap(self.model))

    def key(self, prompt: Prompt) -> str:
        """The cache key: a SHA-256 of everything that decides the reply."""
        asked: list[Any] = [VERSION, self.where, self.name, [["user", prompt.text]], self.sampling]
        if prompt.sample != 1:  # a repeated run of an experiment has its own reply
            asked.append(prompt.sample)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        key = self.key(prompt)
        with key_lock(f"{key} in {self.cache.folder}", cancel):  # another thread may be sending the same prompt
            cached = self._load(key)
            if cached is not None:
                return cached
            completion = self.model.complete(prompt, cancel)
            store_reply(self.cache, key, completion)
            return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        cancel.check()
        key = self.key(prompt)
        cached = self._load(key)
        if cached is not None:
            yield cached.text
            yield cached
            return
        for part in self.model.stream(prompt, cancel):
            if isinstance(part, Completion):
                store_reply(self.cache, key, part)
            yield part

    def _load(self, key: str) -> Completion | None:
        cached = load_reply(self.cache, key) if self._read else None
        return None if cached is None else replace(cached, model=self.name)


def load_reply(cache: ReplyCache, key: str) -> Completion | None:
    """The reply stored under ``key``, or None if there is no valid one."""
    text = cache.get(key)
    if text is None:
        return None
    try:
        data = json.loads(text)
        if data["version"] != VERSION or not isinstance(data["text"], str):
            return None
        return Completion(**{name: data[name] for name in _STORED if name in data}, cached=True)
    except (ValueError, KeyError, TypeError):
        return None  # the next reply replaces it


def store_reply(cache: ReplyCache, key: str, completion: Completion) -> None:
    """Store a complete reply; one that is empty or was cut at its limit is not stored."""
    if completion.finish != "stop" or not completion.text.strip():
        return
    data = {"version": VERSION, **{name: getattr(completion, name) for name in _STORED}}
    cache.put(key, to_json(data).decode())  # lone surrogates are escaped: SQLite does not accept them
