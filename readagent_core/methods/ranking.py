"""Which pages fit a question best, by the words they share (BM25) or by the nearness of their embeddings.

The pages are those ReadAgent reads, so that methods differ only in how pages are found (ICML paper, §4.2).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from readagent_core.memory import GistMemory
from readagent_core.methods.run import Run
from readagent_core.methods.tools import embedder_of, key_of, tools_of
from readagent_core.words import terms

KIND = "page embeddings"
MOST_CHARACTERS = 10_000
_INDEXING = threading.Lock()


def by_words(question: str, memory: GistMemory) -> list[int]:
    """Page numbers, best first, by BM25 (words in any script; pages that share nothing with the question last)."""
    if not memory.pages:
        return []
    bounds = tuple((page.start, page.end) for page in memory.pages)
    with _INDEXING:  # the questions of one book come together; one of them builds what all use
        index = _index(_Pages(memory.document.id, bounds, memory))
    asked = [term for term in terms(question) if term in index.vocab_dict]
    scores = index.get_scores(asked) if asked else [0.0] * len(memory.pages)
    return ranked([float(score) for score in scores])


@dataclass(frozen=True)
class _Pages:
    """A memory's pages, told apart by their text and bounds alone."""

    document: str
    bounds: tuple[tuple[int, int], ...]
    memory: GistMemory = field(compare=False)


@lru_cache(maxsize=64)
def _index(pages: _Pages) -> Any:
    """The index of a book's pages: the same for every question, so the last few are kept."""
    import bm25s  # takes a third of a second to import

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for all its debug lines to be shown
    index = bm25s.BM25()
    numbers = [page.number for page in pages.memory.pages]
    index.index([terms(pages.memory.page_text(n)) or [""] for n in numbers], show_progress=False)
    return index


def by_nearness(run: Run) -> list[int]:
    """Page numbers, nearest first: dot product of the question's embedding with each page's.

    Where a page is too long to embed, gists are embedded in the pages' place (paper, §4.3.2: 10,000 characters).
    """
    memory = run.memory
    if not memory.pages:
        return []
    texts = [memory.page_text(page.number) for page in memory.pages]
    gists = [gist.text if gist else "" for gist in memory.gists]
    wanted = run.settings.extra.get("embed")  # 'pages' or 'gists', else by length
    long = max(map(len, texts)) > MOST_CHARACTERS
    if wanted == "gists" or (wanted != "pages" and long and all(gists)):
        texts = gists
    embedder, shelf = embedder_of(run.settings), tools_of(run.settings).shelf
    key = key_of(embedder.name, memory.document.id, texts)
    kept = shelf.load(KIND, key) if shelf else None
    if kept is None:
        vectors = embedder.embed(texts, run.watch)
        if shelf:  # only what is not zero: the built-in vectors are long and mostly empty
            shelf.save(KIND, key, {"width": vectors.shape[1], "rows": [_sparse(row) for row in vectors]})
    else:
        vectors = np.zeros((len(texts), int(kept["width"])), dtype=np.float32)
        for row, cells in zip(vectors, kept["rows"], strict=True):
            row[[int(place) for place, _ in cells]] = [value for _, value in cells]
    question = embedder.embed([run.question.text], run.watch)[0]
    return ranked([float(score) for score in vectors @ question])


def _sparse(row: Any) -> list[tuple[int, float]]:
    return [(int(place), round(float(row[place]), 6)) for place in np.flatnonzero(row)]


def ranked(scores: Sequence[float]) -> list[int]:
    """Page numbers by falling score; of equals the earlier page first."""
    return [i + 1 for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))]
