"""BM25: answers from the k pages that share most words with the question, best first (ICML paper, §4.2)."""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.support.retrieval import answer_from_pages, rank_by_bm25
from readagent_core.methods.support.run import Run
from readagent_core.models.base import ChatModel


class BM25:
    name = "bm25"
    title = "Search (BM25)"
    about = "The pages that share most words with the question, best first."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, cancel: CancelToken
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, cancel)
        yield from answer_from_pages(run, rank_by_bm25(question.text, memory))


METHOD = BM25()
