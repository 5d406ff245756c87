"""What the questions about one document share: its pages and gists, and what a method builds of it, paid once.

Words are paid after every save, so that a run that is killed and goes on reports what it would have cost in one
go. Stores and shelves around the library's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from readagent_core.evaluation.counting import Counted
from readagent_core.memory import Gist, Page
from readagent_core.methods.tools import Shelf
from readagent_core.reading import Store


class CostedStore:
    """Where a reading is kept, paying after every save for what was sent since the last one."""

    def __init__(self, store: Store, model: Counted, pay: Callable[[tuple[int, int]], None]) -> None:
        self._store, self._model, self._pay = store, model, pay
        self._paid = (0, 0)
        self._lock = threading.Lock()

    def load(self) -> tuple[list[Page], dict[int, Gist]]:
        return self._store.load()

    def load_notes(self) -> Mapping[str, dict[str, Any]]:
        return self._store.load_notes()

    def clear_notes(self) -> None:
        self._store.clear_notes()

    def save_page(self, page: Page) -> Page:
        kept = self._store.save_page(page)
        self.settle()
        return kept

    def save_gist(self, number: int, gist: Gist) -> None:
        self._store.save_gist(number, gist)
        self.settle()

    def save_note(self, key: str, value: Mapping[str, Any]) -> None:
        self._store.save_note(key, value)
        self.settle()

    def settle(self) -> None:
        """Pay what is open."""
        with self._lock:
            total = self._model.words_of("paginate"), self._model.words_of("gist")
            open_ = total[0] - self._paid[0], total[1] - self._paid[1]
            self._paid = total
        if any(open_):
            self._pay(open_)


class Shelves:
    """Which things are being built, so that one question builds a tree and the others of its book wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._building: dict[tuple[str, str], threading.Lock] = {}
        self._built: set[tuple[str, str]] = set()

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

    Pays after every save for what was sent to build it.
    """

    def __init__(self, shelf: Shelf, shelves: Shelves, model: Counted, pay: Callable[[int], None]) -> None:
        self._shelf, self._shelves, self._model, self._pay = shelf, shelves, model, pay
        self._held: dict[tuple[str, str], threading.Lock] = {}
        self._paid = 0

    def load(self, kind: str, key: str) -> Any | None:
        name = (kind, key)
        if name not in self._held and (lock := self._shelves.enter(name)) is not None:
            self._held[name] = lock
        return self._shelf.load(kind, key)

    def save(self, kind: str, key: str, value: Any) -> None:
        self._shelf.save(kind, key, value)
        self.settle()

    def settle(self) -> None:
        """Pay what is open."""
        owed, self._paid = self._model.built - self._paid, self._model.built
        if owed:
            self._pay(owed)

    def close(self, *, built: bool) -> None:
        """The question is done: others may go on. ``built``: what was held is whole."""
        self.settle()
        for name, lock in self._held.items():
            self._shelves.leave(name, lock, built=built)
        self._held.clear()
