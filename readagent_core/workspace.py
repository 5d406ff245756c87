"""The workspace: settings, library, jobs and model, which functions of the app take as their first argument.

One a home folder in a process: one altogether, or one for each person on a server for several. Any thread may use it.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from readagent_core import models
from readagent_core.errors import ModelError
from readagent_core.jobs import Jobs
from readagent_core.library import Library
from readagent_core.library.original_pages import OriginalPages
from readagent_core.models.base import ChatModel
from readagent_core.settings import Settings

CONNECTIONS = 8  # model calls at the same time, where the settings do not say


def folder_size(folder: Path) -> int:
    """The size in bytes of all files in a folder, also while files come and go."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def connections_of(settings: Settings) -> int:
    """How many model calls may be made at the same time."""
    chosen = settings.saved.connections or CONNECTIONS
    return min(chosen, CONNECTIONS) if settings.server else chosen  # others use the same connection


class Workspace:
    """``model``: the model to use whatever the settings say, for tests and experiments."""

    def __init__(self, settings: Settings, *, model: ChatModel | None = None) -> None:
        self.settings = settings
        self.jobs = Jobs(most=settings.team.jobs if settings.team else None)
        self.library = Library(settings.home)
        self.originals = OriginalPages(self.library)
        self.arrivals: list[Any] = []  # what screens tell of files that came in, until a person hides it
        self._lock = threading.Lock()
        self._model = model

    @property
    def home(self) -> Path:
        return self.settings.home

    @property
    def model(self) -> ChatModel:
        """The chosen model, connected at the first use; the built-in reader where none is chosen."""
        with self._lock:
            if self._model is None:
                self._model = models.connect(self.settings)
            return self._model

    @property
    def connections(self) -> int:
        """How many model calls may be made at the same time."""
        return connections_of(self.settings)

    def reconnect(self, settings: Settings) -> None:
        """Use other settings from now on. Work under way keeps the model it began with.

        What a model failed at before is told no more: these settings may be without the fault, or name another model.
        """
        with self._lock:
            self.settings = settings
            self._model = None
        self.jobs.forget_failures(ModelError)
