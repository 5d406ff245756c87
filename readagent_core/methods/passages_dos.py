"""Passages with DOS: the passages that BM25 finds, in the order of the book, up to a number of words.

A baseline: retrieval of passages put back in document order beats pages at equal words (Laitenberger et al., 2025).
It is ``search-agent`` without requests.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from readagent_core.answering.base import Event
from readagent_core.answering.recall import PLAIN_PASSAGES, SEARCH_WORDS, recall
from readagent_core.answering.registry import Family, Method, Reads
from readagent_core.answering.run import Run


def passages(run: Run) -> Generator[Event, None, None]:
    """Answer from the best passages alone."""
    words = PLAIN_PASSAGES if run.settings.plain else SEARCH_WORDS
    extra = {"passages": run.settings.question_words or words, **run.settings.extra, "requests": 0}
    yield from recall(replace(run, settings=replace(run.settings, extra=extra)), gists=False)


METHOD = Method(
    name="passages-dos",
    title="Search (BM25) by passage",
    about="The passages that share most words with the question, in the order of the book.",
    family=Family.SEARCH,
    answer=passages,
    reads=Reads.PASSAGES,
    looks_up=False,
    options={"passages": int},
)
