"""What the questions about one document share: its pages and gists, and what a method builds of it, paid once.

What was sent for them is kept with them, in the library: so an experiment that was killed and goes on, and another
one that finds them made, report what they would have cost in one go. Stores and shelves around the library's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.evaluation.counting import Counted
from readagent_core.memory import Gist, Page
from readagent_core.methods.support.resources import ArtifactStore
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.prompts import Prompt
from readagent_core.reading import Store
from readagent_core.usage import Usage

_LEDGER = "words sent"
_PARTS = ("paginate", "gist")  # beginnings of the tasks' names


class Ledger:
    """The words one reading has sent, prompt by prompt: one that is asked again after a kill counts no second time."""

    def __init__(self, shelf: ArtifactStore, key: str) -> None:
        self._shelf, self._key = shelf, key
        kept = shelf.load(_LEDGER, key) or {}
        self._words: dict[str, dict[str, int]] = {part: dict(kept.get(part, {})) for part in _PARTS}
        self._changed = False
        self._lock = threading.Lock()

    def add(self, prompt: Prompt) -> None:
        part = next((part for part in _PARTS if prompt.task.startswith(part)), None)
        if part is not None:
            with self._lock:
                name = blake2b(prompt.text.encode("utf-8", "replace"), digest_size=8).hexdigest()
                self._words[part][name] = prompt.words
                self._changed = True

    def keep(self) -> None:
        with self._lock:
            if self._changed:
                self._shelf.save(_LEDGER, self._key, self._words)
                self._changed = False

    @property
    def total(self) -> tuple[int, int]:
        """Words sent to choose the pages, and to make the gists."""
        with self._lock:
            pages, gists = (sum(words.values()) for words in self._words.values())
            return pages, gists


class Noted(ModelWrapper):
    """Enters every prompt that was answered into a ledger."""

    def __init__(self, model: ChatModel, ledger: Ledger) -> None:
        super().__init__(model)
        self._ledger = ledger

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        completion = self.model.complete(prompt, cancel)
        self._ledger.add(prompt)
        return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        for part in self.model.stream(prompt, cancel):
            if isinstance(part, Completion):
                self._ledger.add(prompt)
            yield part


class CostedStore:
    """Where a reading is kept; what was sent is written down before what came of it, never after."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store, self._ledger = store, ledger

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        return self._store.load()

    def load_notes(self) -> Mapping[str, dict[str, Any]]:
        return self._store.load_notes()

    def clear_notes(self) -> None:
        self._store.clear_notes()

    def save_usage(self, usage: Usage) -> None:
        self._store.save_usage(usage)

    def save_page(self, page: Page) -> Page:
        self._ledger.keep()
        return self._store.save_page(page)

    def save_gist(self, number: int, gist: Gist) -> None:
        self._ledger.keep()
        self._store.save_gist(number, gist)

    def save_note(self, key: str, value: Mapping[str, Any]) -> None:
        self._ledger.keep()
        self._store.save_note(key, value)


class Shelves:
    """Which things are being built, so that one question builds a tree and the others of its book wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._building: dict[tuple[str, str], threading.Lock] = {}
        self._built: set[tuple[str, str]] = set()
        self._paid: set[tuple[str, str]] = set()

    def owes(self, document: str, arm: str) -> bool:
        """Whether this arm has not yet been told in this run what its method builds of the document; then it has."""
        with self._lock:
            owes = (document, arm) not in self._paid
            self._paid.add((document, arm))
            return owes

    def enter(self, name: tuple[str, str]) -> threading.Lock | None:
        """The lock to hold while building ``name``; None when it was built in this run."""
        with self._lock:
            if name in self._built:
                return None
            lock = self._building.setdefault(name, threading.Lock())
        lock.acquire()
        with self._lock:
            if name not in self._built:
                return lock
        lock.release()
        return None

    def leave(self, name: tuple[str, str], lock: threading.Lock, *, built: bool) -> None:
        with self._lock:
            if built:
                self._built.add(name)
        lock.release()


class CostedShelf:
    """The shelf as one question sees it: whoever first takes a thing down holds it until the question is done.

    A thing is kept together with the words sent to build it so far; ``pay`` is told them when the question is done,
    for each ``arm``: one that finds it built by another would have had to build it.
    """

    def __init__(
        self,
        shelf: ArtifactStore,
        shelves: Shelves,
        model: Counted,
        pay: Callable[[int], None],
        *,
        document: str,
        arm: str,
    ) -> None:
        self._shelf, self._shelves, self._model, self._pay = shelf, shelves, model, pay
        self._document, self._arm = document, arm
        self._held: dict[tuple[str, str], threading.Lock] = {}
        self._words: dict[tuple[str, str], int] = {}
        self._seen = 0  # of the model's built words, those that are kept with a thing

    def load(self, kind: str, key: str) -> Any | None:
        name = (kind, key)
        if name not in self._held and (lock := self._shelves.enter(name)) is not None:
            self._held[name] = lock
        kept = self._shelf.load(kind, key)
        if not isinstance(kept, dict) or kept.keys() != {"words", "value"}:  # not there, or kept without its words
            kept = {"words": 0, "value": None}
        self._words[name] = int(kept["words"])
        return kept["value"]

    def save(self, kind: str, key: str, value: Any) -> None:
        name = (kind, key)
        sent, self._seen = self._model.built - self._seen, self._model.built
        self._words[name] = self._words.get(name, 0) + sent
        self._shelf.save(kind, key, {"words": self._words[name], "value": value})

    def close(self, *, built: bool) -> None:
        """The question is done: others may go on. ``built``: what was held is whole."""
        words = sum(self._words.values())
        if words and (self._shelves.owes(self._document, self._arm) or self._held):
            self._pay(words)
        for name, lock in self._held.items():
            self._shelves.leave(name, lock, built=built)
        self._held.clear()
