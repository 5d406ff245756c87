"""The library: books, readings with their pages and gists, and conversations, in one SQLite file in READAGENT_HOME.

Each method of ``Library`` calls one function of the module for its subject. Every method is thread-safe and raises
LibraryError or one of its subclasses. Knows nothing of models, of how books are read, or of screens.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from readagent_core.document import Cover, Document
from readagent_core.library import artifacts, books, conversations, readings, search
from readagent_core.library.artifacts import BookShelf
from readagent_core.library.events import EventLog
from readagent_core.library.holding import Hold
from readagent_core.library.readings import ReadingStore
from readagent_core.library.records import Book, Conversation, Exchange, Position, Reading
from readagent_core.library.schema import BUSY_SECONDS, FILE, Database
from readagent_core.library.search import Hit
from readagent_core.memory import Gist, GistMemory
from readagent_core.plan import ReadingPlan

_CACHED_DOCUMENTS = 8  # texts never change, so the last few are cached; some twice: whole and with a paragraph limit
_CACHED_MEMORIES = 4


class Library:
    """The library in folder ``home``, created if missing. Raises NewerLibraryError if a later version wrote it."""

    def __init__(self, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.home = home
        self._db = Database(home / FILE, busy_seconds=busy_seconds)
        self._events = EventLog(self._db)
        self._lock = threading.Lock()
        self._documents: OrderedDict[tuple[str, int], Document] = OrderedDict()  # by id and paragraph limit
        self._memories: OrderedDict[int, tuple[Reading, GistMemory]] = OrderedDict()

    def close(self) -> None:
        self._db.close()

    def storage(self) -> int:
        """The size of the library on disk in bytes."""
        return self._db.size()

    # --- books ------------------------------------------------------------------------------------

    def add(self, document: Document, *, source_name: str = "", sample: bool = False) -> Book:
        """Add a text and return its book: the existing one if the text is known, or its file is a new version."""
        return books.add(self._db, document, source_name=source_name, sample=sample)

    def books(self, *, include_removed: bool = False) -> list[Book]:
        """All books, last opened first."""
        return books.books(self._db, include_removed=include_removed)

    def book(self, book_id: str) -> Book:
        return books.book(self._db, book_id)

    def document(self, book_id: str, *, document_id: str | None = None) -> Document:
        """The newest version of the book's text, or the version ``document_id``; without its cover (see ``cover``)."""
        return self._document(document_id or self.book(book_id).document_id)

    def cover(self, book_id: str) -> Cover | None:
        return books.cover(self._db, book_id)

    def touch(self, book_id: str) -> None:
        """Record that the book was opened now."""
        books.touch(self._db, book_id)

    def rename(self, book_id: str, *, title: str, author: str) -> None:
        """Change the title and author of the book and of its texts."""
        books.rename(self._db, book_id, title=title, author=author)

    def remove(self, book_id: str) -> None:
        """Hide the book; ``restore`` shows it again, ``purge`` deletes it permanently."""
        books.remove(self._db, book_id)

    def restore(self, book_id: str) -> None:
        books.restore(self._db, book_id)

    def purge(self, *, before: float | None = None) -> int:
        """Delete removed books permanently: all, or those removed ``before`` a time. Returns how many."""
        return books.purge(self._db, before=before)

    def position(self, book_id: str) -> Position:
        return books.position(self._db, book_id)

    def set_position(self, book_id: str, paragraph: int) -> None:
        books.set_position(self._db, book_id, paragraph)

    # --- readings ---------------------------------------------------------------------------------

    def open_reading(self, book_id: str, plan: ReadingPlan, model_name: str, where: str = "") -> Reading:
        """The reading of the book's newest text with this plan and model, created if there is none."""
        document_id = self.book(book_id).document_id
        return readings.open_reading(self._db, book_id, document_id, plan=plan, model=model_name, where=where)

    def add_memory(self, book_id: str, memory: GistMemory) -> Reading:
        """Add a memory that was made elsewhere: a recording or an import."""
        reading = readings.open_reading(
            self._db,
            book_id,
            memory.document.id,
            plan=memory.plan,
            model=memory.model,
            where="",
            recorded=memory.recorded,
        )
        readings.put_memory(self._db, reading.id, memory)
        return self.reading(reading.id)

    def hold(self, reading_id: int) -> Hold:
        """The lock that a process takes to work on this reading; the system releases it when the process ends."""
        return Hold(self.home, f"reading-{reading_id}")

    def put_memory(self, reading_id: int, memory: GistMemory) -> None:
        """Replace the pages and gists of the reading by those of ``memory``."""
        readings.put_memory(self._db, reading_id, memory)

    def readings(self, book_id: str) -> list[Reading]:
        """All readings of the book, newest first."""
        return readings.readings(self._db, book_id)

    def reading(self, reading_id: int) -> Reading:
        return readings.reading(self._db, reading_id)

    def set_state(self, reading_id: int, state: str, *, why: str = "") -> None:
        """``state``: 'reading', 'paused', 'done' or 'failed'. ``why``: why it is not done, for the reader."""
        readings.set_state(self._db, reading_id, state, why=why)

    def memory(self, reading_id: int) -> GistMemory:
        """The pages and gists of a reading so far; the same object until something in it changes."""
        reading = self.reading(reading_id)
        with self._lock:
            cached = self._memories.get(reading_id)
        if cached and cached[0] == reading and self._has_current_title(cached[1].document, reading.document_id):
            return cached[1]
        document = self._document(reading.document_id, limit=reading.plan.max_words)
        memory = readings.memory(self._db, reading, document)
        with self._lock:
            self._memories.pop(reading_id, None)
            self._memories[reading_id] = reading, memory
            while len(self._memories) > _CACHED_MEMORIES:
                self._memories.popitem(last=False)
        return memory

    def store(self, reading_id: int) -> ReadingStore:
        """The store that ``reading.read`` saves the pages and gists of this reading to."""
        return ReadingStore(self._db, reading_id)

    def save_gist(self, reading_id: int, number: int, gist: Gist) -> None:
        readings.save_gist(self._db, reading_id, number, gist=gist)

    def cut_from(self, reading_id: int, page: int) -> None:
        """Delete ``page`` and all after it, so that reading resumes there."""
        readings.cut_from(self._db, reading_id, page)

    def search(self, reading_id: int, query: str) -> list[Hit]:
        """Every place of the words in pages and gists, in book order; "quoted words" must be next to each other."""
        memory = self.memory(reading_id)
        whole = self._document(memory.document.id)
        return search.search(self._db, reading_id, query, memory=memory, whole=whole)

    # --- conversations ----------------------------------------------------------------------------

    def conversations(self, book_id: str) -> list[Conversation]:
        """All conversations about the book, newest first."""
        return conversations.conversations(self._db, book_id)

    def conversation(self, conversation_id: str) -> Conversation:
        return conversations.conversation(self._db, conversation_id)

    def new_conversation(self, book_id: str, title: str) -> Conversation:
        return conversations.new_conversation(self._db, book_id, title)

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        conversations.rename(self._db, conversation_id, title)

    def delete_conversation(self, conversation_id: str) -> None:
        conversations.delete(self._db, conversation_id)

    def exchanges(self, conversation_id: str) -> list[Exchange]:
        """All exchanges of the conversation in the order asked, each with all its events."""
        return conversations.exchanges(self._db, self._events, conversation_id)

    def exchange(self, exchange_id: str) -> Exchange:
        return conversations.exchange(self._db, self._events, exchange_id)

    def start_exchange(
        self,
        conversation_id: str,
        reading_id: int,
        question: str,
        *,
        options: Sequence[str] = (),
        method: str = "read-agent-p",
        settings: Mapping[str, Any] | None = None,
        up_to: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Exchange:
        return conversations.start_exchange(
            self._db,
            self._events,
            conversation_id,
            reading_id,
            question=question,
            options=options,
            method=method,
            settings=settings or {},
            up_to=up_to,
            extra=extra or {},
        )

    def append_event(self, exchange_id: str, event: Mapping[str, Any]) -> None:
        self._events.append(exchange_id, event)

    def finish_exchange(
        self, exchange_id: str, state: str, error: str = "", extra: Mapping[str, Any] | None = None
    ) -> Exchange:
        """Set the final state of an exchange. ``extra`` is merged into what the exchange has there."""
        return conversations.finish_exchange(self._db, self._events, exchange_id, state=state, error=error, extra=extra)

    # --- artifacts ----------------------------------------------------------------------------------

    def artifact(self, document_id: str, kind: str, key: str) -> Any | None:
        """What ``save_artifact`` saved for this text, or None. ``key``: the model and settings it was made with."""
        return artifacts.load(self._db, document_id, kind, key)

    def save_artifact(self, document_id: str, kind: str, key: str, value: Any) -> None:
        """Save ``value`` (anything JSON can hold) for a text; it is deleted together with the text."""
        artifacts.save(self._db, document_id, kind, key, value)

    def shelf(self, document_id: str) -> BookShelf:
        """The store where methods save what they make of this text."""
        return BookShelf(self._db, document_id)

    # --- preferences ------------------------------------------------------------------------------

    def preference(self, name: str, default: Any) -> Any:
        try:
            return conversations.preference(self._db, name)
        except KeyError:
            return default

    def set_preference(self, name: str, value: Any) -> None:
        """``value``: anything JSON can hold."""
        conversations.set_preference(self._db, name, value)

    def _document(self, document_id: str, *, limit: int = 0) -> Document:
        """The text as stored, or with its paragraphs split at ``limit`` words."""
        key = (document_id, limit)
        with self._lock:
            cached = self._documents.get(key)
            if cached is not None:
                self._documents.move_to_end(key)
        if cached is not None and self._has_current_title(cached, document_id):
            return cached
        document = self._document(document_id).limited(limit) if limit else books.document(self._db, document_id)
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > _CACHED_DOCUMENTS:
                self._documents.popitem(last=False)
        return document

    def _has_current_title(self, document: Document, document_id: str) -> bool:
        """Whether title and author are still those of its book; another process may have changed them."""
        return (document.title, document.author) == books.names(self._db, document_id)
