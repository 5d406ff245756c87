"""Embeddings by a sentence model on this computer (all-MiniLM-L6-v2, the semantic compression paper's).

An optional extra: ``pip install -r requirements-embeddings.txt``, then ``local:all-MiniLM-L6-v2`` as the embedding
model. The model itself is fetched by sentence-transformers when it is first used.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from readagent_core.cancel import CancelToken
from readagent_core.errors import SettingsError
from readagent_core.models.embeddings.embed import Vectors, unit
from readagent_core.words import split_long

PREFIX = "local:"
PIECE_WORDS = 180  # the model reads 256 tokens; a longer text is the mean of its pieces
BATCH = 64


class LocalEmbedder:
    """``name``: 'local:all-MiniLM-L6-v2' or another sentence-transformers model. Loaded when first used."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Vectors:
        """(n, d) rows of unit length. Raises SettingsError where the extra is not installed."""
        pieces = [split_long(text, PIECE_WORDS) for text in texts]
        flat = [piece for some in pieces for piece in some]
        rows: list[Any] = []
        for start in range(0, len(flat), BATCH):
            cancel.check()
            with self._lock:
                rows.extend(self._model.encode(flat[start : start + BATCH], show_progress_bar=False))
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        left = iter(rows)
        return unit(np.asarray([np.mean(list(islice(left, len(some))), axis=0) for some in pieces], dtype=np.float32))

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise SettingsError(
                f"The embedding model {self.name} needs an optional extra. Install it with "
                "'pip install -r requirements-embeddings.txt', or choose the built-in embeddings in Settings."
            ) from None
        try:
            return SentenceTransformer(self.name.removeprefix(PREFIX), device="cpu")
        except (OSError, ValueError, RuntimeError):
            raise SettingsError(
                f"The embedding model {self.name} could not be loaded. It is fetched when first used, which needs "
                "a network; check the name, or choose the built-in embeddings in Settings."
            ) from None
