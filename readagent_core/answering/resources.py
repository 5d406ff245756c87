"""Resources of a run besides its settings: an embedder, an artifact store, and how many calls run at once.

Settings are plain values that are stored with every answer; resources are live objects, and are not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from readagent_core import models
from readagent_core.cancel import CancelToken, key_lock
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.workspace import CONNECTIONS, Workspace
from readagent_core.world.recap import cast_in_short
from readagent_core.world.storage import load_world

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Embedder


class ArtifactStore(Protocol):
    """Stores what a method made of a book: JSON values by ``kind`` ('tree') and ``key`` (what it was made from).

    ``Library.artifacts`` returns one.
    """

    def load(self, kind: str, key: str) -> Any | None: ...
    def save(self, kind: str, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class Resources:
    """``embedder``: None for the built-in one. ``artifacts``: None to store nothing. ``connections``: calls at once.

    ``cast``: returns who is known at the end of a memory in a few words, '' where nothing was noted.
    """

    embedder: Embedder | None = None
    artifacts: ArtifactStore | None = None
    connections: int = CONNECTIONS
    cast: Callable[[GistMemory], str] = lambda memory: ""


@dataclass(frozen=True)
class Artifact:
    """An artifact of a run. ``stored``: the value it had in the store when it was opened; None where there was none."""

    store: ArtifactStore | None
    kind: str
    key: str
    stored: Any | None

    def save(self, value: Any) -> None:
        if self.store:
            self.store.save(self.kind, self.key, value)


def artifact_key(*made_from: Any) -> str:
    return hashlib.sha256(json.dumps(made_from, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]


@contextmanager
def open_artifact(resources: Resources, cancel: CancelToken, kind: str, *made_from: Any) -> Iterator[Artifact]:
    """Hold the lock of the artifact of ``kind`` that is made from these JSON values. Raises CancelledError.

    So two questions about one book build one tree: the second waits and finds it in the store.
    """
    key = artifact_key(*made_from)
    store = resources.artifacts
    with key_lock(key, cancel):
        yield Artifact(store, kind, key, store.load(kind, key) if store else None)


def workspace_resources(workspace: Workspace, document_id: str = "") -> Resources:
    """Return what a method runs with. ``document_id``: the text that the question is about; '' stores nothing."""
    return Resources(
        embedder=models.connect_embedder(workspace.settings),
        artifacts=workspace.library.artifacts(document_id) if document_id else None,
        connections=workspace.connections,
        cast=partial(short_cast, workspace.library, document_id),
    )


def short_cast(library: Library, document_id: str, memory: GistMemory) -> str:
    """Return who is known at the end of a memory of this text (``Resources.cast``)."""
    gisting_id = library.gisting_id_of(memory, document_id)
    if gisting_id is None or not library.has_notes(gisting_id):
        return ""
    return cast_in_short(load_world(library, gisting_id), len(memory.pages)).replace("\n", "; ")
