"""What every model is to the rest of the house: a prompt goes in, a completion comes out.

Three kinds stand behind ``ChatModel``: an OpenAI-compatible server, the built-in reader, and a scripted one
in tests. Wrappers (cache, meter) are models themselves; nothing else knows of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from readagent_core.errors import CancelledError
from readagent_core.prompts import Prompt


@dataclass(frozen=True)
class Completion:
    """A model's reply. ``finish``: 'stop', or 'length' when it hit its limit.

    ``tokens_*``: as the server reported, None where it did not. ``reasoning``: a <think> block or a separate
    reasoning field, never part of ``text``. ``cached``: it was kept from before and nothing was sent.
    ``seconds``: from call to reply; ``first_word``: to the first streamed part. ``tries``: calls it took.
    """

    text: str
    model: str = ""
    finish: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning: str = ""
    cached: bool = False
    seconds: float = 0.0
    first_word: float | None = None
    tries: int = 1


class Watch:
    """How long work is stopped and how it tells that it waits. One is passed down with every model call."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._hurries = 0

    def cancel(self) -> None:
        """Ask the work to stop at its next step. What is done is kept."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def hurry(self) -> None:
        """End the waits under way: go on now."""
        with self._changed:
            self._hurries += 1
            self._changed.notify_all()

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    def check(self) -> None:
        """Raise CancelledError when the work was asked to stop."""
        if self._stop.is_set():
            raise CancelledError("Stopped. What was done so far is kept.")

    def wait(self, seconds: float, why: str) -> bool:
        """Wait, saying why ('the server asked for 12 s'); whether ``hurry`` ended it. Raises CancelledError."""
        self.waiting(seconds, why)
        try:
            with self._changed:
                before = self._hurries
                self._changed.wait_for(lambda: self._stop.is_set() or self._hurries != before, seconds)
                hurried = self._hurries != before
            self.check()
            return hurried
        finally:
            self.waiting(0.0, "")

    def waiting(self, seconds: float, why: str) -> None:
        """Told when a wait begins (``seconds`` > 0) and ends (0). Overridden by whoever shows it."""


class ChatModel(Protocol):
    """``name``: the model's own. ``where``: the server's address, or '' for what runs in this process.

    ``window``: context size in tokens, None where unknown. ``is_language_model``: False for the built-in reader.
    """

    @property
    def name(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def window(self) -> int | None: ...
    @property
    def is_language_model(self) -> bool: ...

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        """The whole reply. Raises ModelError (a named one) or CancelledError."""
        ...

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        """Parts of the reply as they come and, last, the Completion that holds them all. Raises as above."""
        ...


class Around:
    """A model that is another model (``model``), until something is overridden: the base of every wrapper."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def where(self) -> str:
        return self.model.where

    @property
    def window(self) -> int | None:
        return self.model.window

    @property
    def is_language_model(self) -> bool:
        return self.model.is_language_model

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        return self.model.complete(prompt, watch)

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        return self.model.stream(prompt, watch)
