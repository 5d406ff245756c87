"""Resources of a run besides its settings: an embedder, an artifact store, and how many calls run at once.

Settings are plain values that are stored with every answer. Resources are live objects, so they are added to the
settings for one run only: ``method.run(question, memory, model, with_resources(settings, resources), cancel)``.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from readagent_core.cancel import CancelToken
from readagent_core.methods.base import AskSettings

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Embedder

_POLL_SECONDS = 0.1  # between checks for cancellation while waiting for a lock
_LOCKS: dict[str, _BuildLock] = {}
_GUARD = threading.Lock()


class ArtifactStore(Protocol):
    """Stores what a method made of a book: JSON values by ``kind`` ('tree') and ``key`` (what it was made from).

    ``Library.artifacts`` returns one.
    """

    def load(self, kind: str, key: str) -> Any | None: ...
    def save(self, kind: str, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class Resources:
    """``embedder``: None for the built-in one. ``connections``: model calls at once."""

    embedder: Embedder | None = None
    artifacts: ArtifactStore | None = None
    connections: int = 8


@dataclass(frozen=True)
class _SettingsWithResources(AskSettings):
    resources: Resources = Resources()


def with_resources(settings: AskSettings, resources: Resources) -> AskSettings:
    """Return ``settings`` with ``resources`` for one run."""
    return _SettingsWithResources(**{**vars(settings), "resources": resources})


def resources_of(settings: AskSettings) -> Resources:
    """Return the resources of a run; the defaults where it was given none."""
    return settings.resources if isinstance(settings, _SettingsWithResources) else Resources()


def embedder_for(settings: AskSettings) -> Embedder:
    """Return the embedder of a run; the built-in one where it was given none."""
    from readagent_core.models.embeddings.embed import BuiltInEmbedder  # imports numpy

    return resources_of(settings).embedder or BuiltInEmbedder()


@dataclass
class _BuildLock:
    lock: threading.Lock
    users: int = 0


@contextmanager
def build_lock(key: str, cancel: CancelToken) -> Iterator[None]:
    """Hold the lock of an artifact key while the artifact is built.

    Two questions about one book then build one tree: the second waits and finds it in the store. Raises
    CancelledError when ``cancel`` is cancelled while it waits.
    """
    with _GUARD:
        entry = _LOCKS.setdefault(key, _BuildLock(threading.Lock()))
        entry.users += 1
    try:
        while not entry.lock.acquire(timeout=_POLL_SECONDS):
            cancel.check()
        try:
            yield
        finally:
            entry.lock.release()
    finally:
        with _GUARD:
            entry.users -= 1
            if not entry.users:
                del _LOCKS[key]


def artifact_key(*parts: Any) -> str:
    """Return a key that is the same exactly when all ``parts`` (JSON values) are."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]
