"""Semantic compression: each topic of the text is shortened, and the question answered from the shortened text.

The blocks of one topic are shortened together, and the shortened topics are put in the order of the text (Fei et
al., 2023). The result does not depend on the question, so it is made once and stored.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from readagent_core.errors import ModelError
from readagent_core.methods.base import Event
from readagent_core.methods.support.resources import Artifact, embedder_for, open_artifact
from readagent_core.methods.support.response import respond, text_prompt
from readagent_core.methods.support.run import Method, Run
from readagent_core.methods.support.topics import BLOCK_WORDS, TOPIC_WORDS, Block, cluster_blocks, split_into_blocks
from readagent_core.plan import GIST_SHARE
from readagent_core.prompts import render, render_fragment, template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words

KIND = "semantic compression"  # in the artifact store
BATCH = 16  # topics requested before the result is stored
UNSHORTENED_WORDS = 40  # a topic this short is left as it is


def compress_and_answer(run: Run) -> Iterator[Event]:
    """Shorten the text topic by topic and answer from it."""
    blocks, topics, texts = yield from compress_document(run)
    text = "\n\n".join(texts)
    yield from respond(
        run,
        text_prompt(run, text, cut=render_fragment("compress.what", run.language)),
        seen=dict.fromkeys((page.number for page in run.memory.pages), "gist"),
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
    document, embedder = run.memory.document, embedder_for(run.settings).name
    version = template_hash("compress", run.language)
    made_from = (run.model.name, document.id, embedder, block_words, topic_words, share, version)
    blocks = split_into_blocks(document, block_words)
    with open_artifact(run.settings, run.cancel, KIND, *made_from) as artifact:
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
        artifact.save({"chunks": topics, "texts": texts})
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


METHOD = Method(
    name="semantic-compression",
    title="Semantic compression",
    about="Sorts the text by topic, shortens each topic on its own, and answers from the shortened text.",
    answer=compress_and_answer,
)
