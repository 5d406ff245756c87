"""The library: books, readings with their pages and gists, and conversations, in one SQLite file in READAGENT_HOME.

``Library`` joins the operations of the modules for each subject. Every method is thread-safe and raises LibraryError
or one of its subclasses. Knows nothing of models, of how books are read, or of screens.
"""

from __future__ import annotations

from pathlib import Path

from readagent_core.library.artifacts import Artifacts
from readagent_core.library.conversations import Conversations
from readagent_core.library.file_lock import FileLock
from readagent_core.library.readings import Readings
from readagent_core.library.schema import BUSY_SECONDS, FILE, Database
from readagent_core.library.search import Hit, find_hits


class Library(Readings, Conversations, Artifacts):
    """The library in folder ``home``, created if missing. Raises NewerLibraryError if a later version wrote it."""

    def __init__(self, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.home = home
        super().__init__(Database(home / FILE, busy_seconds=busy_seconds))

    def close(self) -> None:
        self._db.close()

    def storage(self) -> int:
        """The size of the library on disk in bytes."""
        return self._db.size()

    def reading_lock(self, reading_id: int) -> FileLock:
        """The lock that a process takes to work on this reading; the system releases it when the process ends."""
        return FileLock(self.home, f"reading-{reading_id}")

    def search(self, reading_id: int, query: str) -> list[Hit]:
        """Every place of the words in pages and gists, in book order; "quoted words" must be next to each other."""
        memory = self.memory(reading_id)
        return find_hits(self._db, reading_id, query, memory=memory, whole=self._document(memory.document.id))
