"""GistMem: answers from the gist memory alone, without look-up (ICML paper, §3.3 and Table 1)."""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.support.response import respond_from_memory
from readagent_core.methods.support.run import Run
from readagent_core.methods.support.word_budget import retry_within_window
from readagent_core.models.base import ChatModel


class GistMem:
    name = "gist-mem"
    title = "Gists only"
    about = "Answers from the gists alone; no page is read again."
    needs_gists = True

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, cancel: CancelToken
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, cancel)
        yield from retry_within_window(run, lambda fit, _: respond_from_memory(run, fit, ()))


METHOD = GistMem()
