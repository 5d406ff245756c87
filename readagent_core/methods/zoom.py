"""Zoom: begins with the finest view of the memory that fits, and opens in place what the question needs.

Ours. ReadAgent shows every gist twice for a question; of a long book that is tens of thousands of words. Here the
pages that share words with the question are shown by their gists, the rest by gists of several pages, and the model
opens what it needs, down to a page's text, or finds words (docs/methods.md, 'Zoom'). Several books are asked the same
way: their own gists come first.
"""

from __future__ import annotations

from readagent_core.answering.explore import explore_within
from readagent_core.answering.run import Method
from readagent_core.answering.zooming import WORDS, ZOOM

METHOD = Method(
    name=ZOOM,
    title="ReadAgent, zooming",
    about="Sees the book as finely as fits, opens parts and pages in place as needed, finds words, then answers.",
    answer=lambda run: explore_within(run, int(run.settings.extra.get("words", WORDS))),
    needs_gists=True,
)
