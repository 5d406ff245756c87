"""An agent that searches: it finds words and reads paragraphs by requests, without any gist.

A baseline: strong models do well with nothing but word search (arXiv 2605.15184). It is ``recall`` without the memory.
"""

from __future__ import annotations

from collections.abc import Generator

from readagent_core.answering.base import Event
from readagent_core.answering.recall import recall
from readagent_core.answering.registry import Family, Method, Reads
from readagent_core.answering.run import Run


def search(run: Run) -> Generator[Event, None, None]:
    """Answer by search alone."""
    yield from recall(run, gists=False)


METHOD = Method(
    name="search-agent",
    title="Search by requests",
    about="Finds words and reads paragraphs by requests; uses no gist.",
    family=Family.SEARCH,
    answer=search,
    reads=Reads.PASSAGES,
    looks_up=False,
    options={"passages": int, "requests": int},
)
