"""MemWalker's memory tree: segments of the text, summarised, and summaries of neighbouring summaries up to a root.

Built level by level, several summaries at once, and kept as far as it came: a tree that broke off is gone on with
(Chen et al., 2023, §3 'Memory tree construction').
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import ModelError
from readagent_core.memory import GistMemory
from readagent_core.methods.base import Event
from readagent_core.methods.budget import words_of_tokens
from readagent_core.methods.run import Run
from readagent_core.methods.tools import Shelf, building, key_of, tools_of
from readagent_core.prompts import Prompt, render, version
from readagent_core.tags import disarm
from readagent_core.words import count_words, first_words

SEGMENT_TOKENS = 1000
SIBLINGS = 8
SUMMARY_SHARE = 0.2  # of a segment's words; the paper leaves the length to the model
KEEP_EVERY = 16


@dataclass(frozen=True)
class Node:
    """``level`` 1: a summary over one segment, paragraphs ``start`` to ``end``. ``children``: ids, in order.

    ``fallback``: no usable summary came, so these are the first words of what it stands for.
    """

    id: int
    level: int
    start: int
    end: int
    children: tuple[int, ...] = ()
    parent: int | None = None
    summary: str = ""
    fallback: bool = False


@dataclass(frozen=True)
class Tree:
    """``document`` has no paragraph longer than a segment. The last node is the root."""

    document: Document
    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def node(self, number: int) -> Node:
        return self.nodes[number]

    def words(self, node: Node) -> int:
        return sum(p.words for p in self.document.paragraphs[node.start : node.end])

    def text(self, node: Node) -> str:
        return disarm(self.document.text(node.start, node.end))


def build(run: Run) -> Generator[Event, None, Tree]:
    """The tree of the run's text: from the shelf as far as it is there, the rest by the model."""
    extra = run.settings.extra
    siblings = max(3, int(extra.get("siblings", SIBLINGS)))
    tokens = max(50, int(extra.get("segment_tokens", SEGMENT_TOKENS)))
    sample = run.memory.document.text(0, min(20, len(run.memory.document.paragraphs)))
    segment_words = max(20, words_of_tokens(tokens, sample))
    document = run.memory.document.limited(segment_words)
    nodes = outline(document, segment_words, siblings)
    shelf = tools_of(run.settings).shelf
    versions = [version("tree_segment", run.language), version("tree_parent", run.language)]
    key = key_of(run.model.name, run.memory.document.id, tokens, siblings, versions)
    with building(key, run.watch) if shelf else nullcontext():
        filled = yield from _fill(run, nodes, document, segment_words, shelf=shelf, key=key)
    fallbacks = sum(filled[node.id][1] for node in nodes)
    if fallbacks:
        yield run.note(f"{fallbacks} of {len(nodes)} summaries of the tree are first words: no usable reply came.")
    made = tuple(
        Node(n.id, n.level, n.start, n.end, n.children, n.parent, filled[n.id][0], filled[n.id][1]) for n in nodes
    )
    return Tree(document, made)


def _fill(
    run: Run, nodes: list[Node], document: Document, segment_words: int, *, shelf: Shelf | None, key: str
) -> Generator[Event, None, dict[int, tuple[str, bool]]]:
    """Every node's summary, and whether it is only first words; kept level by level."""
    kept: dict[str, Any] = (shelf.load("memwalker tree", key) if shelf else None) or {}
    filled = {int(number): (str(text), bool(fallback)) for number, (text, fallback) in kept.items()}

    def keep() -> None:
        if shelf:
            shelf.save("memwalker tree", key, {str(number): list(made) for number, made in filled.items()})

    for level in range(1, nodes[-1].level + 1):
        missing = [node for node in nodes if node.level == level and node.id not in filled]
        for first in range(0, len(missing), KEEP_EVERY):
            batch = missing[first : first + KEEP_EVERY]
            texts = [_below(document, node, filled) for node in batch]
            prompts = [_prompt(run, node, text, segment_words) for node, text in zip(batch, texts, strict=True)]
            replies = yield from run.ask_all(prompts)
            for node, text, reply in zip(batch, texts, replies, strict=True):
                usable = "" if isinstance(reply, ModelError) else reply.text.strip()
                words = _summary_words(node, text, segment_words)
                filled[node.id] = (usable, False) if usable else (first_words(text, words), True)
            keep()
    return filled


def outline(document: Document, segment_words: int, siblings: int) -> list[Node]:
    """The tree without its summaries: leaves are runs of whole paragraphs, parents have 2 to ``siblings`` children."""
    bounds = [0]
    words = 0
    for index, paragraph in enumerate(document.paragraphs):
        if words and words + paragraph.words > segment_words:
            bounds.append(index)
            words = 0
        words += paragraph.words
    ends = [*bounds[1:], len(document.paragraphs)]
    nodes = [Node(i, 1, a, b) for i, (a, b) in enumerate(zip(bounds, ends, strict=True))]
    level = nodes
    while len(level) > 1:
        groups = math.ceil(len(level) / siblings)
        sizes = [len(level) // groups + (i < len(level) % groups) for i in range(groups)]
        parents: list[Node] = []
        position = 0
        for size in sizes:
            below = level[position : position + size]
            position += size
            number = len(nodes) + len(parents)
            parents.append(Node(number, below[0].level + 1, below[0].start, below[-1].end, tuple(n.id for n in below)))
        for parent in parents:
            for child in parent.children:
                c = nodes[child]
                nodes[child] = Node(c.id, c.level, c.start, c.end, c.children, parent.id)
        nodes += parents
        level = parents
    return nodes


def pages_of(memory: GistMemory, tree: Tree, node: Node) -> tuple[int, ...]:
    """The memory's pages that share words with the node's segment, for the map of the book.

    Segments are cut from the same text by other lengths, so places are compared by words from the start.
    """
    before = sum(p.words for p in tree.document.paragraphs[: node.start])
    after = before + tree.words(node)
    found: list[int] = []
    position = 0
    for page in memory.pages:
        if position < after and position + page.words > before:
            found.append(page.number)
        position += page.words
    return tuple(found)


def _below(document: Document, node: Node, filled: dict[int, tuple[str, bool]]) -> str:
    if not node.children:
        return disarm(document.text(node.start, node.end))
    return "\n\n".join(filled[child][0] for child in node.children)


def _prompt(run: Run, node: Node, text: str, segment_words: int) -> Prompt:
    words = _summary_words(node, text, segment_words)
    task = "tree_parent" if node.children else "tree_segment"
    return render(task, run.language, reply_words=2 * words + 50, target=run.length(words), text=text)


def _summary_words(node: Node, text: str, segment_words: int) -> int:
    """A segment's share; for a parent that of a full segment, so that eight summaries become one of their size."""
    words = segment_words if node.children else min(segment_words, count_words(text))
    return max(10, round(words * SUMMARY_SHARE))
