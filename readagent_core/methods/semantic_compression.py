"""Semantic compression: each topic of the text is shortened, and the question answered from the shortened text.

The blocks of one topic are shortened together, and the shortened topics are put in the order of the text (Fei et
al., 2023). The result does not depend on the question, so it is made once and stored.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import ModelError
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.support.resources import ArtifactStore, artifact_key, build_lock, embedder_for, resources_of
from readagent_core.methods.support.response import respond, text_prompt
from readagent_core.methods.support.run import Run
from readagent_core.methods.support.topics import BLOCK_WORDS, TOPIC_WORDS, Block, cluster_blocks, split_into_blocks
from readagent_core.models.base import ChatModel
from readagent_core.plan import GIST_SHARE
from readagent_core.prompts import render, render_fragment, template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words

KIND = "semantic compression"  # in the artifact store
BATCH = 16  # topics requested before the result is stored
UNSHORTENED_WORDS = 40  # a topic this short is left as it is


class SemanticCompression:
    name = "semantic-compression"
    title = "Semantic compression"
    about = "Sorts the text by topic, shortens each topic on its own, and answers from the shortened text."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, cancel: CancelToken
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, cancel)
        blocks, topics, texts = yield from compress_document(run)
        text = "\n\n".join(texts)
        yield from respond(
            run,
            text_prompt(run, text, cut=render_fragment("compress.what", run.language)),
            seen=dict.fromkeys((page.number for page in memory.pages), "gist"),
            memory_words=count_words(text),
            extra={"topics": describe_topics(blocks, topics, texts)},
        )


def compress_document(run: Run) -> Generator[Event, None, tuple[list[Block], list[tuple[int, ...]], list[str]]]:
    """Return the blocks, the blocks of each topic, and each topic's shortened text.

    What the artifact store does not have is made by the model.
    """
    extra = run.settings.extra
    block_words = max(10, int(extra.get("block_words", BLOCK_WORDS)))
    topic_words = max(block_words, int(extra.get("chunk_words", TOPIC_WORDS)))
    share = float(extra.get("share", GIST_SHARE))
    embedder, artifacts = embedder_for(run.settings), resources_of(run.settings).artifacts
    document = run.memory.document
    key = artifact_key(
        run.model.name,
        document.id,
        embedder.name,
        block_words,
        topic_words,
        share,
        template_hash("compress", run.language),
    )
    blocks = split_into_blocks(document, block_words)
    with build_lock(key, run.cancel) if artifacts else nullcontext():
        topics, texts = yield from _compress_topics(run, blocks, topic_words, share, artifacts=artifacts, key=key)
    return blocks, topics, texts


def _compress_topics(
    run: Run, blocks: list[Block], topic_words: int, share: float, *, artifacts: ArtifactStore | None, key: str
) -> Generator[Event, None, tuple[list[tuple[int, ...]], list[str]]]:
    """Return the blocks of each topic and each topic's shortened text. Stores them after every batch."""
    stored: dict[str, Any] = (artifacts.load(KIND, key) if artifacts else None) or {}
    if "chunks" in stored:
        topics = [tuple(topic) for topic in stored["chunks"]]
    else:
        vectors = embedder_for(run.settings).embed([b.text for b in blocks], run.cancel)
        topics = cluster_blocks(blocks, vectors, topic_words=topic_words)
    texts: dict[int, str] = {int(number): str(text) for number, text in stored.get("texts", {}).items()}
    sources = ["".join(blocks[i].text for i in topic).strip() for topic in topics]
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
                target=run.format_length(wanted[number]),
                text=escape_tags(sources[number]),
            )
            for number in batch
        ]
        replies = yield from run.ask_all(prompts)
        for number, reply in zip(batch, replies, strict=True):
            text = "" if isinstance(reply, ModelError) else reply.text.strip()
            lost += not text
            texts[number] = text or first_words(sources[number], wanted[number])
        if artifacts:
            artifacts.save(KIND, key, {"chunks": topics, "texts": texts})
    if lost:
        yield run.note(f"{lost} of {len(topics)} topics are first words: no usable shortened text came.")
    return topics, [texts[number] for number in range(len(topics))]


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


METHOD = SemanticCompression()
