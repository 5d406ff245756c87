"""A file becomes a book of the library. The same text is the same book; a changed file is its next version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.library.records import Book
from readagent_core.loaders.guarded import load_guarded

if TYPE_CHECKING:
    from readagent_core.study import Study


def open_file(study: Study, data: bytes, name: str, *, password: str = "") -> Book:
    """The book in ``data``, kept in the library. Raises DocumentError; then nothing was kept."""
    return study.library.add(load_guarded(data, name, password=password), source_name=name)
