"""A model that never answers prompts of one task, to stop work at a known place."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from readagent_core.cancel import CancelToken
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.prompts import Prompt


class Blocking(ModelWrapper):
    """``model``, but the reply to a prompt of ``task`` waits until ``free`` is set; ``waiting`` is set when one does.

    ``honours``: the wait ends when the work is cancelled, as that of a real server's model does.
    """

    def __init__(self, model: ChatModel, task: str, *, honours: bool = True) -> None:
        super().__init__(model)
        self.waiting, self.free = threading.Event(), threading.Event()
        self._task, self._honours = task, honours

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        reply = self.model.complete(prompt, cancel)
        self._wait(prompt, cancel)
        return reply

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        parts = list(self.model.stream(prompt, cancel))
        self._wait(prompt, cancel)
        yield from parts

    def _wait(self, prompt: Prompt, cancel: CancelToken) -> None:
        if prompt.task == self._task:
            self.waiting.set()
            while not self.free.wait(0.02):
                if self._honours:
                    cancel.check()
