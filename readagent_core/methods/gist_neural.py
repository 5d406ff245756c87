"""Gist memory with neural look-up: the pages to expand are found by embeddings, not asked for (paper, Table 4)."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from readagent_core.memory import GistMemory
from readagent_core.methods.answering import memory_words, respond_from_memory
from readagent_core.methods.base import AskSettings, Event, Expanded, LookedUp, Question
from readagent_core.methods.fitting import fitting_pages, within_window
from readagent_core.methods.ranking import by_nearness
from readagent_core.methods.run import Run
from readagent_core.models.base import ChatModel, Watch


class GistNeural:
    name = "gist-neural"
    title = "Gists and search"
    about = "Remembers the gists and reads again, in place, the pages nearest to the question in meaning."
    needs_gists = True

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, watch)
        yield from within_window(run, lambda fit, limit: find_and_answer(run, fit, limit))


def find_and_answer(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
    """``memory``: fits one prompt, with pages opened up to ``limit`` words in all."""
    inside = {own: number for number in memory.readable for own in run.own_pages([number])}
    best = list(dict.fromkeys(inside[own] for own in by_nearness(run) if own in inside))[: run.settings.look_ups]
    pages, refused = fitting_pages(memory, best, limit)
    yield LookedUp(run.own_pages(pages), "", "found by search", tuple(refused))
    if refused:
        yield run.note("Not every page found fits into the prompt: " + "; ".join(refused) + ".")
    yield Expanded(tuple(sorted(run.own_pages(pages))), memory_words(memory, pages))
    yield from respond_from_memory(run, memory, pages)


METHOD = GistNeural()
