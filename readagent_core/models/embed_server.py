"""Embeddings by a server: its rows come as any call's reply does, and every row is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

import httpx2
import numpy as np
import openai

from readagent_core.models import faults
from readagent_core.models.base import Completion, Watch
from readagent_core.models.connection import ServerModel, connect, open_cache
from readagent_core.models.embed import Vectors, unit
from readagent_core.models.patience import Limiter, Patient
from readagent_core.models.reply_cache import ReplyCache
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings

BATCH = 64


def connect_server(name: str, settings: Settings) -> ServerEmbedder:
    """The embedder ``name`` of the connected server."""
    model = connect(settings)
    assert isinstance(model, ServerModel)
    return ServerEmbedder(model, name, open_cache(settings), model.limiter)


class ServerEmbedder:
    """``/v1/embeddings`` of a server: batched, patient, every row kept."""

    def __init__(self, model: ServerModel, name: str, cache: ReplyCache, limiter: Limiter) -> None:
        self.name = name
        self._model = model
        self._cache = cache
        self._limiter = limiter

    def embed(self, texts: Sequence[str], watch: Watch) -> Vectors:
        keys = [self._key(text) for text in texts]
        rows: dict[str, list[float]] = {}
        for key in dict.fromkeys(keys):
            kept = self._cache.get(key)
            if kept is not None:
                rows[key] = json.loads(kept.text)
        missing = [(key, text) for key, text in dict(zip(keys, texts, strict=True)).items() if key not in rows]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            found = self._ask([text for _, text in batch], watch)
            for (key, _), row in zip(batch, found, strict=True):
                rows[key] = row
                self._cache.put_text(key, json.dumps([round(value, 7) for value in row]))
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return unit(np.array([rows[key] for key in keys], dtype=np.float32))

    def _key(self, text: str) -> str:
        asked = ["embedding", self._model.where, self.name, text]
        return hashlib.sha256(json.dumps(asked).encode("utf-8", "surrogatepass")).hexdigest()

    def _ask(self, texts: list[str], watch: Watch) -> list[list[float]]:
        """One batch, with the patience of any other call."""
        batch = _Batch(self._model, self.name, texts)
        Patient(batch, self._limiter, pace=self._model.pace).complete(Prompt("embed", ""), watch)
        return batch.rows


class _Batch:
    """One embedding call in the shape of a model's, so that ``Patient`` can take care of it."""

    where = ""
    window: int | None = None
    is_language_model = True

    def __init__(self, model: ServerModel, name: str, texts: list[str]) -> None:
        self.name = name
        self.rows: list[list[float]] = []
        self._server = model.server
        self._texts = texts

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        try:
            reply = self._server.client.embeddings.create(
                model=self.name, input=[text or " " for text in self._texts], encoding_format="float"
            )
            self.rows = [list(row.embedding) for row in sorted(reply.data, key=lambda row: row.index)]
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            raise faults.explain(error, where=self._server.where, model=self.name) from None
        except (TypeError, ValueError, AttributeError):
            self.rows = []
        if len(self.rows) != len(self._texts):
            raise faults.empty(self.name)
        return Completion("embedded", model=self.name)

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        yield self.complete(prompt, watch)
