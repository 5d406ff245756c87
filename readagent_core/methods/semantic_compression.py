"""Semantic compression: each topic of the text is shortened, and the question answered from the shortened text.

Blocks of sentences are the vertices of a graph whose edges are their cosine similarities. A topic is a cluster of this
graph, its blocks in the order of the text; a topic that is too long is clustered again. The blocks of one topic are
shortened together, and the shortened topics are put in the order of the text (Fei et al., 2023, §3). The result does
not depend on the question, so it is made once and stored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from readagent_core.answering.base import Event
from readagent_core.answering.registry import Method, Reads
from readagent_core.answering.resources import Artifact
from readagent_core.answering.response import ANSWER_WORDS, respond, text_prompt
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words
from readagent_core.document import Document
from readagent_core.errors import ModelError
from readagent_core.plan import GIST_SHARE
from readagent_core.prompts import format_range, render, render_fragment, template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words, group_by_words, sentences

KIND = "semantic compression"  # in the artifact store
BLOCK_WORDS = 60
TOPIC_WORDS = 600
MAX_BLOCKS = 1500  # the graph has the square of that many edges; longer texts get longer blocks
MIN_SIMILARITY = 1e-6  # keeps the graph connected, which spectral clustering needs
BATCH = 16  # topics requested before the result is stored
UNSHORTENED_WORDS = 40  # a topic this short is left as it is


def compress_and_answer(run: Run) -> Iterator[Event]:
    """Shorten the text topic by topic and answer from it."""
    blocks, topics, texts = yield from compress_document(run)
    text = "\n\n".join(texts)
    what = render_fragment("compress.what", run.language)
    around = text_prompt(run, "", cut=what).words
    limit = max_context_words(run.settings, run.model, sample=text, around=around, reply_words=ANSWER_WORDS)
    if limit is not None and count_words(text) > limit:
        yield run.note(
            f"The shortened text was cut to fit: its first {limit:,} of {count_words(text):,} words were shown."
        )
        text = first_words(text, limit)
    yield from respond(
        run,
        text_prompt(run, text, cut=what),
        seen=dict.fromkeys((page.number for page in run.memory.pages), "gist"),
        memory_words=count_words(text),
        extra={"topics": describe_topics(blocks, topics, texts)},
    )


def compress_document(run: Run) -> Generator[Event, None, tuple[list[Block], list[tuple[int, ...]], list[str]]]:
    """Return the blocks, the blocks of each topic, and each topic's shortened text.

    What the artifact store does not have is made by the model.
    """
    block_words = max(10, run.option("block_words", BLOCK_WORDS))
    topic_words = max(block_words, run.option("chunk_words", TOPIC_WORDS))
    share = run.option("share", GIST_SHARE)
    document, embedder = run.memory.document, run.embedder.name
    version = template_hash("compress", run.language)
    made_from = (run.model.name, document.id, embedder, block_words, topic_words, share, version)
    blocks = split_into_blocks(document, block_words)
    with run.open_artifact(KIND, *made_from) as artifact:
        topics, texts = yield from _compress_topics(run, blocks, topic_words, share, artifact)
    return blocks, topics, texts


def _compress_topics(
    run: Run, blocks: list[Block], topic_words: int, share: float, artifact: Artifact
) -> Generator[Event, None, tuple[list[tuple[int, ...]], list[str]]]:
    """Return the blocks of each topic and each topic's shortened text. Stores them after every batch."""
    stored = artifact.stored or {}
    if "chunks" in stored:
        topics = [tuple(topic) for topic in stored["chunks"]]
    else:
        vectors = run.embedder.embed([b.text for b in blocks], run.cancel)
        topics = cluster_blocks(blocks, vectors, topic_words=topic_words)
    texts: dict[int, str] = {int(number): str(text) for number, text in stored.get("texts", {}).items()}
    sources = [_text_of_topic(blocks, topic) for topic in topics]
    for number, source in enumerate(sources):
        if count_words(source) <= UNSHORTENED_WORDS:
            texts[number] = source
    missing = [number for number in range(len(topics)) if number not in texts]
    lost = 0
    for first in range(0, len(missing), BATCH):
        batch = missing[first : first + BATCH]
        wanted = {number: max(20, round(count_words(sources[number]) * share)) for number in batch}
        prompts = [
            render(
                "compress",
                run.language,
                reply_words=2 * wanted[number] + 50,
                text=escape_tags(sources[number]),
                **format_range(wanted[number], run.language),
            )
            for number in batch
        ]
        replies = yield from run.ask_all(prompts)
        for number, reply in zip(batch, replies, strict=True):
            text = "" if isinstance(reply, ModelError) else reply.text.strip()
            lost += not text
            texts[number] = text or first_words(sources[number], wanted[number])
        artifact.save({"chunks": topics, "texts": texts})
    if lost:
        yield run.note(f"{lost} of {len(topics)} topics are first words: no usable shortened text came.")
    return topics, [texts[number] for number in range(len(topics))]


def _text_of_topic(blocks: Sequence[Block], topic: Sequence[int]) -> str:
    """Return the blocks of a topic in order, with [...] where text between two of them is left out."""
    text = ""
    for before, index in zip((None, *topic), topic, strict=False):
        text += ("\n\n[...]\n\n" if before is not None and index != before + 1 else "") + blocks[index].text
    return text.strip()


def describe_topics(
    blocks: Sequence[Block], topics: Sequence[Sequence[int]], texts: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the topics for a drawing: their stretches of the book (in words from its start) and their lengths."""
    described: list[dict[str, Any]] = []
    for topic, text in zip(topics, texts, strict=True):
        stretches: list[list[int]] = []
        for index in topic:
            block = blocks[index]
            if stretches and stretches[-1][1] == block.before:
                stretches[-1][1] = block.before + block.words
            else:
                stretches.append([block.before, block.before + block.words])
        words = sum(blocks[i].words for i in topic)
        described.append(
            {"stretches": stretches, "words": words, "kept": count_words(text), "begins": first_words(text, 12)}
        )
    return described


# --- topics ---------------------------------------------------------------------------------------


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


METHOD = Method(
    name="semantic-compression",
    title="Semantic compression",
    about="Sorts the text by topic, shortens each topic on its own, and answers from the shortened text.",
    answer=compress_and_answer,
    compares_embeddings=True,
    reads=Reads.NOTHING,
    looks_up=False,
    options={"block_words": int, "chunk_words": int, "share": float},
)
