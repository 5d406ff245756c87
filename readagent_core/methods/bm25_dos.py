"""BM25 with DOS: the pages BM25 finds, in the order of the document (Laitenberger et al., 2025)."""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.support.retrieval import answer_from_pages, rank_by_bm25
from readagent_core.methods.support.run import Run
from readagent_core.models.base import ChatModel


class BM25DOS:
    name = "bm25-dos"
    title = "Search (BM25), book order"
    about = "The pages that share most words with the question, in the order of the book."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, cancel: CancelToken
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, cancel)
        yield from answer_from_pages(run, rank_by_bm25(question.text, memory), in_book_order=True)


METHOD = BM25DOS()
