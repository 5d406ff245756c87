"""What a run may be given besides its settings: an embedder, and a shelf where it keeps what it made of the book.

Settings are plain values that are written down with every answer; tools are not, so they ride along only for the
run itself: ``method.run(question, memory, model, equip(settings, tools), watch)``.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from readagent_core.methods.base import AskSettings
from readagent_core.models.base import Watch

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Embedder

_LOOK_SECONDS = 0.1  # between looks at whether whoever waits was cancelled
_BUILDING: dict[str, _Builder] = {}
_GUARD = threading.Lock()


class Shelf(Protocol):
    """``kind``: what is kept ('tree'); ``key``: what it was made with. ``Library.shelf`` is one."""

    def load(self, kind: str, key: str) -> Any | None: ...
    def save(self, kind: str, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class Tools:
    """``embedder`` None: the built-in one. ``connections``: model calls made side by side."""

    embedder: Embedder | None = None
    shelf: Shelf | None = None
    connections: int = 8


@dataclass(frozen=True)
class Equipped(AskSettings):
    tools: Tools = Tools()


def equip(settings: AskSettings, tools: Tools) -> AskSettings:
    """``settings`` with ``tools`` for one run."""
    return Equipped(**{**vars(settings), "tools": tools})


def tools_of(settings: AskSettings) -> Tools:
    """The tools a run was given; none by default."""
    return settings.tools if isinstance(settings, Equipped) else Tools()


def embedder_of(settings: AskSettings) -> Embedder:
    """The embedder a run was given, else the built-in one."""
    from readagent_core.models.embeddings.embed import BuiltInEmbedder  # brings in numpy

    return tools_of(settings).embedder or BuiltInEmbedder()


@dataclass
class _Builder:
    lock: threading.Lock
    wanted: int = 0


@contextmanager
def building(key: str, watch: Watch) -> Iterator[None]:
    """Hold the thing of this shelf key while it is made: whoever else wants it waits, and then finds it kept.

    So two questions at once about one book build one tree. Raises CancelledError when ``watch`` is cancelled.
    """
    with _GUARD:
        builder = _BUILDING.setdefault(key, _Builder(threading.Lock()))
        builder.wanted += 1
    try:
        while not builder.lock.acquire(timeout=_LOOK_SECONDS):
            watch.check()
        try:
            yield
        finally:
            builder.lock.release()
    finally:
        with _GUARD:
            builder.wanted -= 1
            if not builder.wanted:
                del _BUILDING[key]


def key_of(*parts: Any) -> str:
    """A shelf key: the same exactly when everything the thing was made with is."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]
