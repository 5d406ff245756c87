"""Embeddings by a server: sent like any other call, and every row cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from readagent_core import event_loop
from readagent_core.cancel import CancelToken
from readagent_core.models.base import Completion
from readagent_core.models.cache.model import load_reply, store_reply
from readagent_core.models.connection import ServerModel
from readagent_core.models.embeddings.embed import Vectors, unit
from readagent_core.models.server import faults
from readagent_core.models.server.client import FAULTS, Client
from readagent_core.models.server.events import body
from readagent_core.quick_json import from_json

BATCH = 64


class ServerEmbedder:
    """``/v1/embeddings`` of the server of ``model``: in batches, retried as any other call, every row cached."""

    def __init__(self, model: ServerModel, name: str) -> None:
        self.name = name
        self._model, self._cache, self._where = model, model.cache, model.where

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Vectors:
        keys = [self._key(text) for text in texts]
        rows: dict[str, list[float]] = {}
        for key in dict.fromkeys(keys):
            stored = load_reply(self._cache, key)
            if stored is not None:
                rows[key] = json.loads(stored.text)
        missing = [(key, text) for key, text in dict(zip(keys, texts, strict=True)).items() if key not in rows]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            found = self._ask([text for _, text in batch], cancel)
            for (key, _), row in zip(batch, found, strict=True):
                rows[key] = row
                store_reply(self._cache, key, Completion(json.dumps([round(value, 7) for value in row])))
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return unit(np.array([rows[key] for key in keys], dtype=np.float32))

    def _key(self, text: str) -> str:
        asked = ["embedding", self._where, self.name, text]
        return hashlib.sha256(json.dumps(asked).encode("utf-8", "surrogatepass")).hexdigest()

    def _ask(self, texts: list[str], cancel: CancelToken) -> list[list[float]]:
        """Return the rows of one batch, in order. Raises ModelError."""
        model = self._model
        client = model.server.client
        rows, _ = model.retrying.call(
            lambda: event_loop.run(rows_at(client, model.where, self.name, texts), cancel), cancel
        )
        return rows


async def rows_at(client: Client, where: str, name: str, texts: list[str]) -> list[list[float]]:
    """Return a vector of each text, asked in one call. Raises ModelError."""
    request = {"model": name, "input": [text or " " for text in texts], "encoding_format": "float"}
    try:
        async with client.open("embeddings", request) as response:
            data = from_json(await body(response))
    except (*FAULTS, ValueError, RecursionError) as error:
        raise faults.explain(error, where=where, model=name) from None
    try:
        found = sorted(data["data"], key=lambda row: row["index"])
        rows = [[float(value) for value in row["embedding"]] for row in found]
    except (KeyError, TypeError, ValueError):
        rows = []
    if len(rows) != len(texts):
        raise faults.fault("empty", model=name)
    return rows
