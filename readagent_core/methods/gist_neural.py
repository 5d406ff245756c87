"""Gist memory with neural look-up: the pages to expand are found by embeddings (ICML paper, Table 4)."""

from __future__ import annotations

from collections.abc import Generator

from readagent_core.answering.base import FOUND_BY_SEARCH, Event, LookedUp, texts_of
from readagent_core.answering.fitting_view import answer_within_window
from readagent_core.answering.registry import Method
from readagent_core.answering.response import expanded_event, respond_from_memory
from readagent_core.answering.retrieval import rank_by_embedding
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import select_fitting_pages
from readagent_core.memory import GistMemory


def find_and_answer(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
    """Expand the pages nearest to the question, up to ``limit`` words in all, and answer."""
    best = [page for page in rank_by_embedding(run) if page in memory.readable][: run.settings.look_ups]
    pages, refused = select_fitting_pages(run, memory, best, limit)
    yield LookedUp(pages, "", FOUND_BY_SEARCH, texts_of(refused))
    if refused:
        yield run.note("Not every page found fits into the prompt: " + "; ".join(texts_of(refused)) + ".")
    yield expanded_event(run, memory, pages)
    yield from respond_from_memory(run, memory, pages)


METHOD = Method(
    name="gist-neural",
    title="Gists and search",
    about="Remembers the gists and reads again, in place, the pages nearest to the question in meaning.",
    answer=lambda run: answer_within_window(run, lambda fit, limit: find_and_answer(run, fit, limit)),
    needs_gists=True,
    compares_embeddings=True,
    options={"embed": str, "opened": str},
)
