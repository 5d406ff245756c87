"""Which pages fit a question best, by the words they share (BM25) or by the nearness of their embeddings.

The pages are those ReadAgent reads, so that methods differ only in how pages are found (ICML paper, §4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import bm25s

from readagent_core.memory import GistMemory
from readagent_core.words import terms


def by_words(question: str, memory: GistMemory) -> list[int]:
    """Page numbers, best first, by BM25 (words in any script; pages that share nothing with the question last)."""
    if not memory.pages:
        return []
    texts = [terms(memory.page_text(page.number)) for page in memory.pages]
    index = bm25s.BM25()
    index.index([words or [""] for words in texts], show_progress=False)
    asked = [term for term in terms(question) if term in index.vocab_dict]
    scores = index.get_scores(asked) if asked else [0.0] * len(texts)
    return ranked([float(score) for score in scores])


def ranked(scores: Sequence[float]) -> list[int]:
    """Page numbers by falling score; of equals the earlier page first."""
    return [i + 1 for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))]
