"""Embeddings: texts as unit vectors, from the connected server or made here from word statistics.

``Embedder.embed`` gives rows whose dot product is how near two texts are. The built-in one hashes content terms
(and their pieces, so that 'lighthouse' and 'lighthouses' meet); it needs no training, so page and question may be
embedded apart. Rows from a server are cached with the replies, as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from readagent_core.cancel import CancelToken
from readagent_core.models.builtin.statistics import content

Vectors = NDArray[np.float32]
DIMENSIONS = 4096


class Embedder(Protocol):
    """``name``: which one made the vectors; vectors of two embedders do not compare."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Vectors:
        """(n, d) rows of unit length (or zero, for a text without words). Raises ModelError."""
        ...


class BuiltInEmbedder:
    """Hashed counts of content terms, rare repetitions damped, through scikit-learn's HashingVectorizer."""

    name = "built-in word vectors"

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer  # takes a second to import

        return HashingVectorizer(analyzer=_features, n_features=DIMENSIONS, norm=None, dtype=np.float32)

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Vectors:
        cancel.check()
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        counts = self._vectorizer.transform(texts).toarray()
        return unit(np.sign(counts) * np.log1p(np.abs(counts)))


def _features(text: str) -> list[str]:
    """Content terms, and the first five letters of long ones."""
    terms = content(text)
    return terms + [f"{term[:5]}~" for term in terms if term.isascii() and len(term) > 6]


def unit(rows: NDArray[Any]) -> Vectors:
    """Rows scaled to unit length; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)
    return scaled
