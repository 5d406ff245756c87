"""Split a text into blocks of sentences and cluster the blocks by topic (Fei et al., 2023, §3).

The blocks are the vertices of a graph whose edges are their cosine similarities. A topic is a cluster of this graph,
its blocks in the order of the text; a topic that is too long is clustered again. The result is deterministic.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from readagent_core.document import Document
from readagent_core.words import count_words, group_by_words, sentences

BLOCK_WORDS = 60
TOPIC_WORDS = 600
MAX_BLOCKS = 1500  # the graph has the square of that many edges; longer texts get longer blocks
MIN_SIMILARITY = 1e-6  # keeps the graph connected, which spectral clustering needs


@dataclass(frozen=True)
class Block:
    """A run of sentences. ``paragraph``: index where it starts. ``before``: words of the text before it."""

    text: str
    words: int
    paragraph: int
    before: int


def split_into_blocks(document: Document, words: int = BLOCK_WORDS) -> list[Block]:
    """Return blocks of whole sentences, at most ``words`` words each; joined they are the text."""
    words = max(words, math.ceil(document.words / MAX_BLOCKS))
    blocks: list[Block] = []
    held, held_words, start, before = "", 0, 0, 0
    for index, paragraph in enumerate(document.limited(10 * words).paragraphs):
        for sentence in sentences(paragraph.text, document.language):
            n = count_words(sentence)
            if held_words and held_words + n > words:
                blocks.append(Block(held, held_words, start, before))
                before += held_words
                held, held_words = "", 0
            if not held:
                start = index
            held += sentence
            held_words += n
        if held:
            held += "\n\n"
    if held.strip():
        blocks.append(Block(held, held_words, start, before))
    return blocks


def cluster_blocks(blocks: Sequence[Block], vectors: Any, *, topic_words: int = TOPIC_WORDS) -> list[tuple[int, ...]]:
    """Return the indices of each topic's blocks, in order; topics in the order of their first blocks.

    ``vectors``: one row of unit length for each block. No topic is longer than ``topic_words``, except one block.
    """
    found = _split(list(range(len(blocks))), blocks, np.asarray(vectors, dtype=np.float64), topic_words)
    return sorted(tuple(sorted(topic)) for topic in found)


def _split(members: list[int], blocks: Sequence[Block], vectors: Any, topic_words: int) -> list[list[int]]:
    words = sum(blocks[i].words for i in members)
    if words <= topic_words or len(members) < 2:
        return [members] if members else []
    wanted = min(len(members), max(2, math.ceil(words / topic_words)))
    labels = _cluster_labels(vectors[members], wanted)
    groups = [[m for m, label in zip(members, labels, strict=True) if label == g] for g in sorted(set(labels))]
    if len(groups) < 2:  # all blocks are equal: split by length
        runs = group_by_words([blocks[member].words for member in members], topic_words)
        groups = [members[start:end] for start, end in runs]
    return [topic for group in groups for topic in _split(group, blocks, vectors, topic_words)]


def _cluster_labels(vectors: Any, wanted: int) -> list[int]:
    """Return the cluster of each row, by spectral clustering of the graph of the rows' cosine similarities."""
    from sklearn.cluster import SpectralClustering  # takes most of a second to import

    similarity = np.clip(vectors @ vectors.T, 0.0, 1.0)
    if wanted >= len(vectors):
        return list(range(len(vectors)))
    if float(similarity.min()) > 0.999:
        return [0] * len(vectors)
    clustering = SpectralClustering(
        n_clusters=wanted, affinity="precomputed", assign_labels="cluster_qr", random_state=0, eigen_solver="arpack"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of an unconnected graph, whose parts are the clusters
        return [int(label) for label in clustering.fit_predict(similarity + MIN_SIMILARITY)]
