"""The library: books, their readings, conversations and marks, in one SQLite file in READAGENT_HOME.

``Library`` joins the operations of the modules for each subject. Every method is thread-safe and raises LibraryError
or one of its subclasses. Knows nothing of models, of how books are read, or of screens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from readagent_core.errors import LibraryBusyError, LibraryError, NotInLibraryError
from readagent_core.library.artifacts import Artifacts
from readagent_core.library.conversations import Conversations
from readagent_core.library.file_lock import FileLock
from readagent_core.library.gistings import Gistings
from readagent_core.library.marks import Marks
from readagent_core.library.originals import FOLDER, Originals
from readagent_core.library.own_questions import OwnQuestions
from readagent_core.library.reading_log import ReadingLog
from readagent_core.library.records import Card
from readagent_core.library.schema import BUSY_SECONDS, FILE, Database
from readagent_core.library.search import Hit, TextHit, find_hits, find_in_all, index_text, texts_to_index
from readagent_core.library.several import SeveralBooks
from readagent_core.library.shelves import Shelves, load_cards
from readagent_core.library.vocabulary import Vocabulary
from readagent_core.library.worlds import Worlds


def home_lock(home: Path) -> FileLock:
    """The lock that every open library shares, and that a restore takes alone."""
    return FileLock(home, "library")


def use_home(home: Path) -> FileLock:
    """Return the shared lock of a home folder; one that cannot be written has none. Raises LibraryBusyError."""
    lock, free = home_lock(home), True
    with suppress(OSError, LibraryError):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = lock.acquire(shared=True)
    if not free:
        raise LibraryBusyError(f"A backup is being restored into {home}. Wait until that has ended, then try again.")
    return lock


def check_not_lost(home: Path) -> None:
    """Raise LibraryError where there are original files of books, but the library is missing or empty."""
    kept = [home / FILE, home / f"{FILE}-wal"]
    originals = home / FOLDER
    if any(path.exists() and path.stat().st_size for path in kept) or not originals.is_dir():
        return
    if any(originals.iterdir()):
        raise LibraryError(
            f"The library in {home} is empty, but the original files of its books are there: {FILE} was lost. Restore "
            f"a backup: readagent restore FILE --replace. Or begin a new library: move the folder {originals} away, "
            "then add its files with readagent import."
        )


class Library(
    Gistings,
    Originals,
    Conversations,
    Artifacts,
    Shelves,
    Marks,
    OwnQuestions,
    SeveralBooks,
    Worlds,
    Vocabulary,
    ReadingLog,
):
    """The library in folder ``home``, created if missing. Raises NewerLibraryError if a later version wrote it."""

    def __init__(self, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.home = home
        check_not_lost(home)
        self._in_use = use_home(home)
        super().__init__(Database(home / FILE, busy_seconds=busy_seconds))

    def on_notes_changed(self, call: Callable[[], object]) -> None:
        """Have ``call`` called after each change of a mark, a finished book or a title by this process."""
        self._db.notes_changed = call

    def close(self) -> None:
        self._db.close()
        self._in_use.release()

    def storage(self) -> int:
        """The size of the library on disk in bytes."""
        return self._db.size()

    def gisting_lock(self, gisting_id: int) -> FileLock:
        """The lock that a process takes to work on this gisting; the system releases it when the process ends."""
        return FileLock(self.home, f"reading-{gisting_id}")

    def search(self, gisting_id: int, query: str) -> list[Hit]:
        """Every place of the words in pages and gists, in book order; "quoted words" must be next to each other."""
        memory = self.memory(gisting_id)
        return find_hits(self._db, gisting_id, query, memory=memory, whole=self._document(memory.document.id))

    def cards(self) -> tuple[Card, ...]:
        """What the library's screen shows of every book that was not removed, last opened first, by one query."""
        for row in self._db.rows("SELECT book_id, furthest FROM position WHERE words_read IS NULL"):
            self.set_furthest(row["book_id"], row["furthest"])  # positions of an earlier version
        for row in self._db.rows("SELECT book_id, paragraph FROM position WHERE share IS NULL AND paragraph > 0"):
            self.set_position(row["book_id"], row["paragraph"])
        return load_cards(self._db)

    def search_all(self, query: str, *, limit: int) -> list[TextHit]:
        """The first places of the words in the texts of all books, of ``limit`` books at most, last opened first.

        Texts are indexed by ``index_texts``; those that are not yet are left out.
        """
        return find_in_all(self._db, query, limit=limit)

    def index_text(self, document_id: str) -> None:
        """Index a text, unless it is, so that it can be searched."""
        index_text(self._db, self._load_document(document_id, 0, *self._names(document_id)))

    def unsearchable(self) -> int:
        """The number of texts that ``search_all`` leaves out because they are not indexed yet."""
        return len(texts_to_index(self._db))

    def index_texts(self) -> Iterator[str]:
        """Index the texts that ``search_all`` cannot search yet, one at a time, and yield the id of each."""
        for document_id in texts_to_index(self._db):
            with suppress(NotInLibraryError):  # deleted meanwhile
                self.index_text(document_id)
            yield document_id
