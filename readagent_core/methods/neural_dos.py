"""Neural retrieval with DOS: the pages found, in the order of the document (Laitenberger et al., 2025)."""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.support.retrieval import answer_from_pages, rank_by_embedding
from readagent_core.methods.support.run import Run
from readagent_core.models.base import ChatModel


class NeuralDOS:
    name = "neural-dos"
    title = "Search (embeddings), book order"
    about = "The pages nearest to the question in meaning, in the order of the book."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, cancel: CancelToken
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, cancel)
        yield from answer_from_pages(run, rank_by_embedding(run), in_book_order=True)


METHOD = NeuralDOS()
