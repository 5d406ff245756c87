"""Embeddings by a model on this computer: llama.cpp in a child process of its own, beside the one that answers."""

from __future__ import annotations

from readagent_core import event_loop
from readagent_core.cancel import CancelToken
from readagent_core.models.cache.store import ReplyCache
from readagent_core.models.embeddings.server import ServerEmbedder, rows_at
from readagent_core.models.local.engine import Engine
from readagent_core.models.local.server import WHERE
from readagent_core.models.server.client import Client
from readagent_core.words import first_words

_SECONDS = 600.0  # for a batch, on a slow computer
_WORDS_PER_TOKEN = 0.5  # in the languages of such models at least; a longer text is cut


class LocalEmbedder(ServerEmbedder):
    """``engine``: that makes the vectors. A text that is longer than its window is cut."""

    def __init__(self, engine: Engine, cache: ReplyCache) -> None:
        self.name = engine.name
        self._engine, self._cache, self._where = engine, cache, f"{WHERE} {engine.identity}"

    def _ask(self, texts: list[str], cancel: CancelToken) -> list[list[float]]:
        most = round(self._engine.window * _WORDS_PER_TOKEN)
        with self._engine.in_use():
            address = self._engine.start(cancel)
            client = Client(address, self._engine.key, silence=_SECONDS)
            try:
                cut = [first_words(text, most) for text in texts]
                return event_loop.run(rows_at(client, address, self.name, cut), cancel)
            finally:
                client.close()
