"""Semantic compression: the text's topics are shortened one by one, and the question answered from what is left.

Blocks of one topic are shortened together, apart from the other topics and side by side with them, and put back in
the order of the text (Fei et al., 2023). It does not know the question, so it is done once and kept.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from readagent_core.errors import ModelError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import respond, text_prompt
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.run import Run
from readagent_core.methods.tools import Shelf, building, embedder_of, key_of, tools_of
from readagent_core.methods.topics import BLOCK_WORDS, CHUNK_WORDS, Block, blocks_of, chunks_of
from readagent_core.models.base import ChatModel, Watch
from readagent_core.plan import GIST_SHARE
from readagent_core.prompts import render, version, wording
from readagent_core.tags import disarm
from readagent_core.words import count_words, first_words

KIND = "semantic compression"
WHOLE_WORDS = 40  # a chunk as short as that is its own shortened form


class SemanticCompression:
    name = "semantic-compression"
    title = "Semantic compression"
    about = "Sorts the text by topic, shortens each topic on its own, and answers from the shortened text."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, watch)
        blocks, chunks, texts = yield from compressed(run)
        text = "\n\n".join(texts)
        yield from respond(
            run,
            text_prompt(run, text, cut=wording("compress.what", run.language)),
            seen=dict.fromkeys((page.number for page in memory.pages), "gist"),
            memory_words=count_words(text),
            extra={"topics": told(blocks, chunks, texts)},
        )


def compressed(run: Run) -> Generator[Event, None, tuple[list[Block], list[tuple[int, ...]], list[str]]]:
    """Blocks, the blocks of each topic, and each topic's shortened text; from the shelf as far as it is there."""
    extra = run.settings.extra
    block_words = max(10, int(extra.get("block_words", BLOCK_WORDS)))
    chunk_words = max(block_words, int(extra.get("chunk_words", CHUNK_WORDS)))
    share = float(extra.get("share", GIST_SHARE))
    embedder, shelf = embedder_of(run.settings), tools_of(run.settings).shelf
    document = run.memory.document
    key = key_of(
        run.model.name, document.id, embedder.name, block_words, chunk_words, share, version("compress", run.language)
    )
    blocks = blocks_of(document, block_words)
    with building(key, run.watch) if shelf else nullcontext():
        chunks, texts = yield from _compress(run, blocks, chunk_words, share, shelf=shelf, key=key)
    return blocks, chunks, texts


def _compress(
    run: Run, blocks: list[Block], chunk_words: int, share: float, *, shelf: Shelf | None, key: str
) -> Generator[Event, None, tuple[list[tuple[int, ...]], list[str]]]:
    """The blocks of each topic and each topic's shortened text; kept after every few."""
    kept: dict[str, Any] = (shelf.load(KIND, key) if shelf else None) or {}
    if "chunks" in kept:
        chunks = [tuple(chunk) for chunk in kept["chunks"]]
    else:
        vectors = embedder_of(run.settings).embed([b.text for b in blocks], run.watch)
        chunks = chunks_of(blocks, vectors, chunk_words=chunk_words)
    texts: dict[int, str] = {int(number): str(text) for number, text in kept.get("texts", {}).items()}
    sources = ["".join(blocks[i].text for i in chunk).strip() for chunk in chunks]
    for number, source in enumerate(sources):
        if count_words(source) <= WHOLE_WORDS:
            texts[number] = source
    missing = [number for number in range(len(chunks)) if number not in texts]
    lost = 0
    for first in range(0, len(missing), 16):  # kept after every few, so that a run that breaks off is gone on with
        batch = missing[first : first + 16]
        wanted = {number: max(20, round(count_words(sources[number]) * share)) for number in batch}
        prompts = [
            render(
                "compress",
                run.language,
                reply_words=2 * wanted[number] + 50,
                target=run.length(wanted[number]),
                text=disarm(sources[number]),
            )
            for number in batch
        ]
        replies = yield from run.ask_all(prompts)
        for number, reply in zip(batch, replies, strict=True):
            text = "" if isinstance(reply, ModelError) else reply.text.strip()
            lost += not text
            texts[number] = text or first_words(sources[number], wanted[number])
        if shelf:
            shelf.save(KIND, key, {"chunks": chunks, "texts": texts})
    if lost:
        yield run.note(f"{lost} of {len(chunks)} topics are first words: no usable shortened text came.")
    return chunks, [texts[number] for number in range(len(chunks))]


def told(blocks: Sequence[Block], chunks: Sequence[Sequence[int]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """The topics for a drawing: the stretches of the book each has (in words from the start), and its lengths."""
    topics: list[dict[str, Any]] = []
    for chunk, text in zip(chunks, texts, strict=True):
        stretches: list[list[int]] = []
        for index in chunk:
            block = blocks[index]
            if stretches and stretches[-1][1] == block.before:
                stretches[-1][1] = block.before + block.words
            else:
                stretches.append([block.before, block.before + block.words])
        words = sum(blocks[i].words for i in chunk)
        topics.append(
            {"stretches": stretches, "words": words, "kept": count_words(text), "begins": first_words(text, 12)}
        )
    return topics


METHOD = SemanticCompression()
