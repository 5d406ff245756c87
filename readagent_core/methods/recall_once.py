"""Recall in one call: the view and the passages for the question, then the answer; nothing can be asked for.

For models that do not keep to the form of requests, as a test of the model finds.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from readagent_core.answering.base import Event
from readagent_core.answering.recall import ONCE_WORDS, recall
from readagent_core.answering.recall_books import recall_from_books
from readagent_core.answering.registry import Method, Reads
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf


def _once(run: Run) -> Run:
    sizes = {} if run.settings.plain else {"passages": ONCE_WORDS}
    extra = {**sizes, **run.settings.extra, "requests": 0}
    return replace(run, settings=replace(run.settings, extra=extra))


def answer(run: Run) -> Generator[Event, None, None]:
    """Answer from one book."""
    yield from recall(_once(run))


def answer_shelf(run: Run, shelf: AskedShelf) -> Generator[Event, None, None]:
    """Answer from several books."""
    yield from recall_from_books(_once(run), shelf)


METHOD = Method(
    name="recall-once",
    title="Recall in one call",
    about="Remembers how each gist begins and sees the passages that share words with the question; asks for nothing.",
    answer=answer,
    answer_shelf=answer_shelf,
    needs_gists=True,
    searches=True,
    compares_embeddings=True,
    reads=Reads.PASSAGES,
    looks_up=False,
    options={"passages": int, "view": int},
)
