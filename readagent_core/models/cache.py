"""A model whose replies are kept: the same prompt is never asked twice, in this process or after it.

Keys are hashes, so that neither prompts nor a server's key stand in the files. Where replies lie: ``reply_cache``.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from readagent_core.models.base import Around, ChatModel, Completion, Watch
from readagent_core.models.reply_cache import VERSION, ReplyCache
from readagent_core.prompts import Prompt


class Cached(Around):
    """A ChatModel that looks in the cache before it asks. ``sampling``: what else decides a reply."""

    def __init__(self, model: ChatModel, cache: ReplyCache, sampling: dict[str, Any], *, read: bool = True) -> None:
        super().__init__(model)
        self.cache = cache
        self.sampling = sampling
        self._read = read

    def anew(self) -> Cached:
        """This model, asking again what is kept already; the new reply takes its place."""
        again = copy.copy(self)  # a copy, so that what a subclass knows (price, budget) goes with it
        again._read = False
        return again

    def beneath(self, around: Callable[[ChatModel], ChatModel]) -> Cached:
        """This model with ``around`` what it asks where no reply is kept."""
        other = copy.copy(self)
        other.model = around(self.model)
        return other

    def key(self, prompt: Prompt) -> str:
        asked: list[Any] = [VERSION, self.where, self.name, [["user", prompt.text]], self.sampling]
        if prompt.sample != 1:  # a further run of an experiment wants a reply of its own
            asked.append(prompt.sample)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        watch.check()
        key = self.key(prompt)
        with self.cache.asking(key):
            kept = self.cache.get(key) if self._read else None
            if kept is not None:
                return replace(kept, model=self.name)
            completion = self.model.complete(prompt, watch)
            self.cache.put(key, completion)
            return completion

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        watch.check()
        key = self.key(prompt)
        kept = self.cache.get(key) if self._read else None
        if kept is not None:
            yield kept.text
            yield replace(kept, model=self.name)
            return
        for part in self.model.stream(prompt, watch):
            if isinstance(part, Completion):
                self.cache.put(key, part)
            yield part
