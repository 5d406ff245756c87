"""What the app and the command line share: one library, one model, and the work under way.

``Study`` is a thin front: every method is one function of the file that has the job (opening, reading, asking,
samples, exporting). Knows nothing of screens. One a process; any thread may call it.
"""

from __future__ import annotations

import threading
from pathlib import Path

from readagent_core import models
from readagent_core.jobs import Job, Jobs
from readagent_core.library import Library
from readagent_core.library.records import Book, Exchange, Reading
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, Question
from readagent_core.models.base import ChatModel
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Settings
from readagent_core.study import asking, opening, reading, samples

DEFAULTS = AskSettings()


class Study:
    """``model``: given one (tests, experiments) it is used as it is; else the settings choose it."""

    def __init__(self, settings: Settings, *, model: ChatModel | None = None) -> None:
        self.settings = settings
        self.jobs = Jobs()
        self.library = Library(settings.home)
        self._lock = threading.Lock()
        self._model = model

    @property
    def home(self) -> Path:
        return self.settings.home

    @property
    def model(self) -> ChatModel:
        """The model in force, connected when first asked for; the built-in reader where none is set."""
        with self._lock:
            if self._model is None:
                self._model = models.connect(self.settings)
            return self._model

    def reconnect(self, settings: Settings) -> None:
        """Use other settings from now on; work under way goes on with the model it began with."""
        with self._lock:
            self.settings = settings
            self._model = None

    # --- opening ----------------------------------------------------------------------------------

    def open_file(self, data: bytes, name: str, *, password: str = "") -> Book:
        """The book in this file, kept in the library. Raises DocumentError."""
        return opening.open_file(self, data, name, password=password)

    def add_samples(self) -> list[Book]:
        """The bundled samples with their recorded readings and asks; those already there are left alone."""
        return samples.add_samples(self)

    # --- reading ----------------------------------------------------------------------------------

    def start_reading(self, book_id: str, plan: ReadingPlan | None = None) -> Job:
        """Read the book by ``plan`` with the model in force, or go on where it stopped; publishes Progress."""
        return reading.start_reading(self, book_id, plan)

    def newest_memory(self, book_id: str) -> tuple[Reading, GistMemory] | None:
        """The reading to show and ask from: the newest that has pages; None before the first."""
        return reading.newest_memory(self, book_id)

    # --- asking -----------------------------------------------------------------------------------

    def ask(
        self,
        book_id: str,
        question: Question,
        *,
        method: str = "read-agent-p",
        settings: AskSettings = DEFAULTS,
        conversation_id: str | None = None,
        up_to: int | None = None,
        reading_id: int | None = None,
        anew: bool = False,
    ) -> tuple[Exchange, Job]:
        """Answer ``question`` from what is read so far; every event is kept in the exchange as it comes.

        Without ``conversation_id`` a new conversation begins. ``up_to``: the last page that may be seen.
        ``reading_id``: another reading than the newest. ``anew``: ask the model even what it was asked before.
        The job publishes ``asking.Asking``.
        """
        return asking.ask(
            self,
            book_id,
            question,
            method=method,
            settings=settings,
            conversation_id=conversation_id,
            up_to=up_to,
            reading_id=reading_id,
            anew=anew,
        )
