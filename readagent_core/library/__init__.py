"""What is kept: books, readings with every page and gist, conversations; one SQLite file in READAGENT_HOME.

``Library`` is a thin front: each method is one function of the file that has the job. Any thread may call it.
Knows nothing of models, of how books are read, or of screens. Raises LibraryError (a named one).
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
from readagent_core.usage import Usage

_DOCUMENTS_AT_HAND = 4  # texts never change, so the last few opened are kept in memory
_MEMORIES_AT_HAND = 4  # and what was read of them, with the figure that tells whether it has changed


class Library:
    """The library in folder ``home``; made when missing. Raises NewerLibraryError for a later version's."""

    def __init__(self, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.home = home
        self._db = Database(home / FILE, busy_seconds=busy_seconds)
        self._events = EventLog(self._db)
        self._lock = threading.Lock()
        self._at_hand: OrderedDict[tuple[str, int], Document] = OrderedDict()
        self._memories: OrderedDict[int, tuple[Reading, GistMemory]] = OrderedDict()

    def close(self) -> None:
        self._db.close()

    def storage(self) -> int:
        """Bytes on disk."""
        return self._db.size()

    # --- books ------------------------------------------------------------------------------------

    def add(self, document: Document, *, source_name: str = "", sample: bool = False) -> Book:
        """The book of this text. Known text: the book it has. Known file name: a new version of its book."""
        return books.add(self._db, document, source_name=source_name, sample=sample)

    def books(self, *, include_removed: bool = False) -> list[Book]:
        """Last opened first."""
        return books.books(self._db, include_removed=include_removed)

    def book(self, book_id: str) -> Book:
        return books.book(self._db, book_id)

    def document(self, book_id: str, *, document_id: str | None = None) -> Document:
        """The book's newest text, or the version ``document_id``; without its cover (see ``cover``)."""
        return self._document(document_id or self.book(book_id).document_id)

    def cover(self, book_id: str) -> Cover | None:
        return books.cover(self._db, book_id)

    def touch(self, book_id: str) -> None:
        """The book was opened now."""
        books.touch(self._db, book_id)

    def rename(self, book_id: str, *, title: str, author: str) -> None:
        """Give the book, and so its text, another title and author."""
        books.rename(self._db, book_id, title=title, author=author)

    def remove(self, book_id: str) -> None:
        """Put the book away; ``restore`` brings it back, ``purge`` deletes it for good."""
        books.remove(self._db, book_id)

    def restore(self, book_id: str) -> None:
        books.restore(self._db, book_id)

    def purge(self, *, before: float | None = None) -> int:
        """Delete removed books for good (those removed ``before`` a time, else all); how many went."""
        return books.purge(self._db, before=before)

    def position(self, book_id: str) -> Position:
        return books.position(self._db, book_id)

    def set_position(self, book_id: str, paragraph: int) -> None:
        books.set_position(self._db, book_id, paragraph)

    # --- readings ---------------------------------------------------------------------------------

    def open_reading(self, book_id: str, plan: ReadingPlan, model_name: str, where: str = "") -> Reading:
        """The reading of the book's newest text by this plan and model; made when there is none."""
        document_id = self.book(book_id).document_id
        return readings.open_reading(self._db, book_id, document_id, plan=plan, model=model_name, where=where)

    def add_memory(self, book_id: str, memory: GistMemory) -> Reading:
        """Keep a memory that was made elsewhere: a recording, an import."""
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
        """The right to read this reading, one process at a time; it is free again when the process is gone."""
        return Hold(self.home, f"reading-{reading_id}")

    def put_memory(self, reading_id: int, memory: GistMemory) -> None:
        """Keep the pages and gists of ``memory`` as this reading's, in place of what it held."""
        readings.put_memory(self._db, reading_id, memory)

    def readings(self, book_id: str) -> list[Reading]:
        """Newest first."""
        return readings.readings(self._db, book_id)

    def reading(self, reading_id: int) -> Reading:
        return readings.reading(self._db, reading_id)

    def set_state(self, reading_id: int, state: str, *, why: str = "", usage: Usage | None = None) -> None:
        """``state``: 'reading', 'paused', 'done' or 'failed'. ``usage``: of the whole reading so far."""
        readings.set_state(self._db, reading_id, state, why=why, usage=usage)

    def memory(self, reading_id: int) -> GistMemory:
        """All that is kept of a reading; the same object as long as nothing of it changed."""
        reading = self.reading(reading_id)
        with self._lock:
            before = self._memories.get(reading_id)
        if before and before[0] == reading and self._well_named(before[1].document, reading.document_id):
            return before[1]
        document = self._document(reading.document_id, limit=reading.plan.max_words)
        memory = readings.memory(self._db, reading, document)
        with self._lock:
            self._memories.pop(reading_id, None)
            self._memories[reading_id] = reading, memory
            while len(self._memories) > _MEMORIES_AT_HAND:
                self._memories.popitem(last=False)
        return memory

    def store(self, reading_id: int) -> ReadingStore:
        """Where ``reading.read`` keeps the pages and gists of this reading."""
        return ReadingStore(self._db, reading_id)

    def save_gist(self, reading_id: int, number: int, gist: Gist) -> None:
        readings.save_gist(self._db, reading_id, number, gist=gist)

    def cut_from(self, reading_id: int, page: int) -> None:
        """Forget ``page`` and all after it; reading goes on from there."""
        readings.cut_from(self._db, reading_id, page)

    def search(self, reading_id: int, query: str) -> list[Hit]:
        """Every place of the words in pages and gists, in book order; "quoted words" stand together."""
        memory = self.memory(reading_id)
        whole = self._document(memory.document.id)
        return search.search(self._db, reading_id, query, memory=memory, whole=whole)

    # --- conversations ----------------------------------------------------------------------------

    def conversations(self, book_id: str) -> list[Conversation]:
        """Newest first."""
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
        """In the order asked, each with all its events."""
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
        """``extra``: added to what the exchange has there."""
        return conversations.finish_exchange(self._db, self._events, exchange_id, state=state, error=error, extra=extra)

    # --- what methods make of a text ------------------------------------------------------------------

    def artifact(self, document_id: str, kind: str, key: str) -> Any | None:
        """What ``save_artifact`` kept for this text, or None. ``key``: the model and settings it was made with."""
        return artifacts.load(self._db, document_id, kind, key)

    def save_artifact(self, document_id: str, kind: str, key: str, value: Any) -> None:
        """Keep ``value`` (anything JSON can hold) beside the text; it goes when the text goes."""
        artifacts.save(self._db, document_id, kind, key, value)

    def shelf(self, document_id: str) -> BookShelf:
        """Where methods keep what they made of this text."""
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
        """The text as kept, or with its paragraphs limited to ``limit`` words."""
        key = (document_id, limit)
        with self._lock:
            kept = self._at_hand.get(key)
            if kept is not None:
                self._at_hand.move_to_end(key)
        if kept is not None and self._well_named(kept, document_id):
            return kept
        document = self._document(document_id).limited(limit) if limit else books.document(self._db, document_id)
        with self._lock:
            self._at_hand[key] = document
            while len(self._at_hand) > 2 * _DOCUMENTS_AT_HAND:
                self._at_hand.popitem(last=False)
        return document

    def _well_named(self, document: Document, document_id: str) -> bool:
        """Whether its book was not given another title or author since, here or by another process."""
        return (document.title, document.author) == books.names(self._db, document_id)
