"""Zoom: begins with the finest view of the memory that fits, and opens in place what the question needs.

Ours. ReadAgent shows every gist twice for a question; of a long book that is tens of thousands of words. Here the
pages that share words with the question are shown by their gists, the rest by gists of several pages, and the model
opens what it needs, down to a page's text, or finds words (docs/methods.md, 'Zoom'). Several books are asked the same
way: their own gists come first.
"""

from __future__ import annotations

from collections.abc import Generator

from readagent_core.answering.base import Event
from readagent_core.answering.explore import EXPLORE_OPTIONS, WORDS, explore_within
from readagent_core.answering.registry import Family, Method
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf


def zoom(run: Run, shelf: AskedShelf | None = None) -> Generator[Event, None, None]:
    """Explore the run's memory, or the books of ``shelf``, in views of so many words as the settings say."""
    yield from explore_within(run, run.option("words", WORDS), shelf)


METHOD = Method(
    name="zoom",
    title="ReadAgent, zooming",
    about="Sees the book as finely as fits, opens parts and pages in place as needed, finds words, then answers.",
    family=Family.READ_AGENT,
    answer=zoom,
    answer_shelf=zoom,
    needs_gists=True,
    options=EXPLORE_OPTIONS,
)
