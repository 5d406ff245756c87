"""The one fake model: replies queued or computed from the prompt, every call recorded, an empty queue an error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from readagent_core.cancel import CancelToken
from readagent_core.models.base import ChatModel, Completion
from readagent_core.models.cost.prices import Price
from readagent_core.prompts import Prompt
from readagent_core.settings.saved import ModelOptions

Reply = str | Exception | Completion


class FakeModel(ChatModel):
    """``replies``: a queue, or a function of the prompt. An Exception in place of a reply is raised."""

    name = "fake-model"
    where = ""
    is_language_model = True
    window: int | None = None
    price: Price | None = None
    options = ModelOptions()
    sampling: ClassVar[dict[str, Any]] = {}  # tests set it on an instance

    def __init__(self, replies: Iterable[Reply] | Callable[[Prompt], Reply], *, window: int | None = None) -> None:
        self._answer = replies if callable(replies) else None
        self._queue = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()
        self.window = window
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        cancel.check()
        with self._lock:
            self.prompts.append(prompt)
            if self._answer is None and not self._queue:
                raise AssertionError(f"no reply queued for {prompt.task}:\n{prompt.text[:400]}")
            reply = self._answer(prompt) if self._answer else self._queue.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Completion) else Completion(reply, model=self.name)

    def tasks(self) -> list[str]:
        return [p.task for p in self.prompts]
