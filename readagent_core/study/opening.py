"""A file becomes a book of the library. The same text is the same book; a changed file is its next version.

An exported reading (JSON) becomes its book together with that reading; what the library holds is never replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.library.records import Book
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.memory import GistMemory
from readagent_core.study.exporting import import_json

if TYPE_CHECKING:
    from readagent_core.study import Study

READING = ".json"  # what an exported reading's name ends with


def open_file(study: Study, data: bytes, name: str, *, password: str = "") -> Book:
    """The book in ``data``, kept in the library. Raises DocumentError; then nothing was kept."""
    if name.lower().endswith(READING):
        return _open_reading(study, data, name)
    return study.library.add(load_in_child_process(data, name, password=password), source_name=name)


def _open_reading(study: Study, data: bytes, name: str) -> Book:
    document, memory = import_json(data)
    there = _there(study, memory)
    if there is not None and _held(there) != _held(memory):
        raise DocumentError(
            "The library holds this reading already, and it differs from the one in this file: a gist was changed, or "
            "one of the two goes further. Nothing was replaced; the reading in the library is as it was."
        )
    book = study.library.add(document, source_name=name)
    if there is None:
        if [p.text for p in study.library.document(book.id).paragraphs] != [p.text for p in document.paragraphs]:
            # pages count paragraphs, and what is kept of a text stays
            raise DamagedDocumentError(
                "The library holds this book with its paragraphs divided in another way, so the pages of this "
                "reading do not fit it. The book was left as it was; read it again here."
            )
        study.library.add_memory(book.id, memory)
    return book


def _there(study: Study, memory: GistMemory) -> GistMemory | None:
    """The same reading of the same text as the library holds it (removed books too), if it has pages."""
    mine = (memory.document.id, memory.plan.key, memory.model, memory.recorded)
    for book in study.library.books(include_removed=True):
        for reading in study.library.readings(book.id):
            if reading.pages and mine == (reading.document_id, reading.plan.key, reading.model, reading.recorded):
                return study.library.memory(reading.id)
    return None


def _held(memory: GistMemory) -> tuple[object, ...]:
    return memory.pages, memory.gists
