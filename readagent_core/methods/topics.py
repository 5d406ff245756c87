"""Topics of a text: blocks of sentences, a graph of how alike they are, and its clusters (Fei et al., 2023, §3).

A cluster's blocks, in order, are a chunk; one too long is clustered again. Deterministic. Knows nothing of models.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from readagent_core.document import Document
from readagent_core.words import count_words, sentences

BLOCK_WORDS = 60
CHUNK_WORDS = 600
MOST_BLOCKS = 1500  # the graph has the square of that many edges; longer texts get longer blocks
LEAST_ALIKE = 1e-6  # keeps the graph in one piece, as spectral clustering asks


@dataclass(frozen=True)
class Block:
    """A run of sentences. ``paragraph``: where it starts. ``before``: words of the text ahead of it."""

    text: str
    words: int
    paragraph: int
    before: int


def blocks_of(document: Document, words: int = BLOCK_WORDS) -> list[Block]:
    """Sentence-level blocks: sentences in order until a block would exceed ``words``; joined they are the text."""
    words = max(words, math.ceil(document.words / MOST_BLOCKS))
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


def chunks_of(blocks: Sequence[Block], vectors: Any, *, chunk_words: int = CHUNK_WORDS) -> list[tuple[int, ...]]:
    """Indices of the blocks of each topic, in order; topics in the order of their first blocks.

    ``vectors``: a row of unit length a block. No chunk is longer than ``chunk_words`` unless it is one block.
    """
    found = _split(list(range(len(blocks))), blocks, np.asarray(vectors, dtype=np.float64), chunk_words)
    return sorted(tuple(sorted(chunk)) for chunk in found)


def _split(members: list[int], blocks: Sequence[Block], vectors: Any, chunk_words: int) -> list[list[int]]:
    words = sum(blocks[i].words for i in members)
    if words <= chunk_words or len(members) < 2:
        return [members] if members else []
    wanted = min(len(members), max(2, math.ceil(words / chunk_words)))
    labels = _clusters(vectors[members], wanted)
    groups = [[m for m, label in zip(members, labels, strict=True) if label == g] for g in sorted(set(labels))]
    if len(groups) < 2:  # all alike: nothing to tell them apart, so in runs of the right length
        groups = _runs(members, blocks, chunk_words)
    return [chunk for group in groups for chunk in _split(group, blocks, vectors, chunk_words)]


def _clusters(vectors: Any, wanted: int) -> list[int]:
    """A label a row, by spectral clustering of the graph whose edges are the rows' cosines."""
    from sklearn.cluster import SpectralClustering  # takes most of a second to import

    alike = np.clip(vectors @ vectors.T, 0.0, 1.0)
    if float(alike.min()) > 0.999 or wanted >= len(vectors):
        return list(range(len(vectors))) if wanted >= len(vectors) else [0] * len(vectors)
    chosen = SpectralClustering(
        n_clusters=wanted, affinity="precomputed", assign_labels="cluster_qr", random_state=0, eigen_solver="arpack"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told of a graph in pieces: its clusters are the pieces
        return [int(label) for label in chosen.fit_predict(alike + LEAST_ALIKE)]


def _runs(members: list[int], blocks: Sequence[Block], chunk_words: int) -> list[list[int]]:
    groups: list[list[int]] = [[]]
    words = 0
    for member in members:
        if groups[-1] and words + blocks[member].words > chunk_words:
            groups.append([])
            words = 0
        groups[-1].append(member)
        words += blocks[member].words
    return groups
