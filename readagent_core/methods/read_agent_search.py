"""ReadAgent with search: sees every gist, and may find words in the book beside naming pages to read again.

Ours, for details that no gist kept. Gists, found lines and opened pages are in one memory, in place. A memory that does
not fit into one prompt is shown as finely as fits.
"""

from __future__ import annotations

from readagent_core.answering.explore import EXPLORE_OPTIONS, explore_within
from readagent_core.answering.registry import Family, Method

METHOD = Method(
    name="read-agent-search",
    title="ReadAgent, with search",
    about="Remembers the gists, finds words in the book and reads pages again in place, step by step, then answers.",
    family=Family.READ_AGENT,
    answer=lambda run: explore_within(run, run.option("words", None)),
    needs_gists=True,
    options=EXPLORE_OPTIONS,
)
