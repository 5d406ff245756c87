"""Build MemWalker's memory tree: summaries of text segments, and summaries of neighbouring summaries up to a root.

The tree is built level by level, several summaries at once (Chen et al., 2023, §3 'Memory tree construction').
Finished summaries are stored, so an interrupted build resumes.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from readagent_core.answering.base import Event
from readagent_core.answering.resources import Artifact
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import tokens_to_words
from readagent_core.document import Document
from readagent_core.errors import ModelError
from readagent_core.memory import GistMemory
from readagent_core.prompts import Prompt, format_range, render, template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words, group_by_words

SEGMENT_TOKENS = 1000
SIBLINGS = 8
SUMMARY_SHARE = 0.2  # of a segment's words; the paper leaves the length to the model
BATCH = 16  # summaries requested before the tree is stored
KIND = "memwalker tree"  # in the artifact store


@dataclass(frozen=True)
class Node:
    """A summary of paragraphs ``start`` to ``end`` (exclusive).

    ``level``: 1 for a summary of one segment. ``children``: ids, in order. ``fallback``: no usable summary came, so
    ``summary`` holds the first words of the text.
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
    """A tree over ``document``, whose paragraphs are not longer than a segment. The last node is the root."""

    document: Document
    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def words(self, node: Node) -> int:
        return sum(p.words for p in self.document.paragraphs[node.start : node.end])

    def text(self, node: Node) -> str:
        return escape_tags(self.document.text(node.start, node.end))


def build_tree(run: Run) -> Generator[Event, None, Tree]:
    """Return the tree of the run's text; what the artifact store does not have is made by the model."""
    siblings = max(3, run.option("siblings", SIBLINGS))
    tokens = max(50, run.option("segment_tokens", SEGMENT_TOKENS))
    segment_words = max(20, tokens_to_words(tokens, run.sample))
    document = run.memory.document.limited(segment_words)
    nodes = lay_out_tree(document, segment_words, siblings)
    versions = [template_hash("tree_segment", run.language), template_hash("tree_parent", run.language)]
    made_from = (run.model.name, run.memory.document.id, tokens, siblings, versions)
    with run.open_artifact(KIND, *made_from) as artifact:
        summaries = yield from _summarise(run, nodes, document, segment_words, artifact)
    fallbacks = sum(summaries[node.id][1] for node in nodes)
    if fallbacks:
        yield run.note(f"{fallbacks} of {len(nodes)} summaries of the tree are first words: no usable reply came.")
    return Tree(document, tuple(replace(n, summary=summaries[n.id][0], fallback=summaries[n.id][1]) for n in nodes))


def _summarise(
    run: Run, nodes: list[Node], document: Document, segment_words: int, artifact: Artifact
) -> Generator[Event, None, dict[int, tuple[str, bool]]]:
    """Return the summary of each node by id, and whether it is a fallback. Stores them after every batch."""
    stored = artifact.stored or {}
    summaries = {int(number): (str(text), bool(fallback)) for number, (text, fallback) in stored.items()}
    for level in range(1, nodes[-1].level + 1):
        missing = [node for node in nodes if node.level == level and node.id not in summaries]
        for first in range(0, len(missing), BATCH):
            batch = missing[first : first + BATCH]
            texts = [_source_text(document, node, summaries) for node in batch]
            prompts = [_prompt(run, node, text, segment_words) for node, text in zip(batch, texts, strict=True)]
            replies = yield from run.ask_all(prompts)
            for node, text, reply in zip(batch, texts, replies, strict=True):
                usable = "" if isinstance(reply, ModelError) else reply.text.strip()
                words = _summary_words(node, text, segment_words)
                summaries[node.id] = (usable, False) if usable else (first_words(text, words), True)
            artifact.save({str(number): list(made) for number, made in summaries.items()})
    return summaries


def lay_out_tree(document: Document, segment_words: int, siblings: int) -> list[Node]:
    """Return the tree without summaries: leaves are runs of whole paragraphs, parents have 2 to ``siblings`` children.

    ``segment_words``: most words of a leaf. Nodes are in order of level; the last one is the root.
    """
    segments = group_by_words([paragraph.words for paragraph in document.paragraphs], segment_words)
    nodes = [Node(i, 1, start, end) for i, (start, end) in enumerate(segments)]
    level = nodes
    while len(level) > 1:
        groups = math.ceil(len(level) / siblings)
        sizes = [len(level) // groups + (i < len(level) % groups) for i in range(groups)]
        parents: list[Node] = []
        position = 0
        for size in sizes:
            group = level[position : position + size]
            position += size
            number = len(nodes) + len(parents)
            parents.append(Node(number, group[0].level + 1, group[0].start, group[-1].end, tuple(n.id for n in group)))
        for parent in parents:
            for child in parent.children:
                nodes[child] = replace(nodes[child], parent=parent.id)
        nodes += parents
        level = parents
    return nodes


def pages_of_node(memory: GistMemory, tree: Tree, node: Node) -> tuple[int, ...]:
    """Return the numbers of the memory's pages that overlap the node's text, for the map of the book.

    Pages and segments split the same text at different paragraphs, so positions are compared in words.
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


def _source_text(document: Document, node: Node, summaries: Mapping[int, tuple[str, bool]]) -> str:
    """Return the text that the node summarises: its segment, or its children's summaries."""
    if not node.children:
        return escape_tags(document.text(node.start, node.end))
    return "\n\n".join(summaries[child][0] for child in node.children)


def _prompt(run: Run, node: Node, text: str, segment_words: int) -> Prompt:
    words = _summary_words(node, text, segment_words)
    task = "tree_parent" if node.children else "tree_segment"
    return render(task, run.language, reply_words=2 * words + 50, text=text, **format_range(words, run.language))


def _summary_words(node: Node, text: str, segment_words: int) -> int:
    """Return the target length: a share of the segment; for a parent, of a full segment, so eight become one."""
    words = segment_words if node.children else min(segment_words, count_words(text))
    return max(10, round(words * SUMMARY_SHARE))
