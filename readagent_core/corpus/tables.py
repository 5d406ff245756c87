"""Parquet tables of what an output folder holds: books, pages, gists and usage, and the answers of ``corpus ask``.

They are made from the books' files as a whole, so they always agree with them; a few hundred books are in memory at a
time. Every table has the key of the book.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from readagent_core.corpus.store import BOOKS, TABLES, CorpusFolder
from readagent_core.memory import compression_rate
from readagent_core.quick_json import from_json
from readagent_core.words import count_words

_BOOKS_AT_ONCE = 200
_TEXT, _INT, _FLOAT, _YES = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_USAGE = {"calls": _INT, "cached_calls": _INT, "words_in": _INT, "words_out": _INT, "tokens_in": _INT,
          "tokens_out": _INT, "tokens_estimated": _INT, "tokens_reused": _INT, "seconds": _FLOAT, "retries": _INT,
          "cost": _FLOAT}  # fmt: skip
SCHEMAS: dict[str, dict[str, pa.DataType]] = {
    "books": {"key": _TEXT, "file": _TEXT, "title": _TEXT, "author": _TEXT, "language": _TEXT, "words": _INT,
              "pages": _INT, "gist_words": _INT, "compression_rate": _FLOAT, "fallbacks": _INT, "preset": _TEXT,
              "max_words": _INT, "model": _TEXT, "file_version": _TEXT},
    "pages": {"key": _TEXT, "page": _INT, "start": _INT, "end": _INT, "words": _INT, "ends": _TEXT, "reason": _TEXT,
              "fallback": _YES},
    "gists": {"key": _TEXT, "page": _INT, "text": _TEXT, "words": _INT, "fallback": _YES, "whole": _YES,
              "level": _INT},
    "usage": {"key": _TEXT, **_USAGE},
}  # fmt: skip
QUESTIONS = {"key": _TEXT, "file": _TEXT, "id": _TEXT, "question": _TEXT, "method": _TEXT, "arm": _TEXT, "run": _INT,
             "answer": _TEXT, "option": _INT, "gold": _INT, "correct": _YES, "rating": _TEXT,
             "looked_up": pa.list_(_INT), "memory_words": _INT, "compression_rate": _FLOAT, "words": _INT,
             "cost": _FLOAT, "error": _TEXT}  # fmt: skip


def write_tables(folder: CorpusFolder) -> int:
    """Write the tables of all books that were read, and return how many these are. Raises DiskFullError."""
    books = 0
    with ExitStack() as stack:
        writers = {name: stack.enter_context(_Writer(folder, name, schema)) for name, schema in SCHEMAS.items()}
        for books, (key, data) in enumerate(folder.load_all(BOOKS), start=1):
            for name, rows in _rows(key, from_json(data)).items():
                writers[name].add(rows)
            if books % _BOOKS_AT_ONCE == 0:
                for writer in writers.values():
                    writer.flush()
    return books


def write_questions(folder: CorpusFolder, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the table of answers."""
    with _Writer(folder, "questions", QUESTIONS) as writer:
        for number, row in enumerate(rows, start=1):
            writer.add([row])
            if number % 5000 == 0:
                writer.flush()


def read_table(folder: CorpusFolder, name: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table. Raises FileNotFoundError where it was not made yet."""
    with folder.open(f"{TABLES}/{name}.parquet") as file:
        for batch in pq.ParquetFile(file).iter_batches(columns=columns):
            yield from batch.to_pylist()


class _Writer:
    """Writes one table; it is there when the block ends without an error."""

    def __init__(self, folder: CorpusFolder, name: str, schema: Mapping[str, pa.DataType]) -> None:
        self._folder, self._name, self._schema = folder, f"{TABLES}/{name}.parquet", pa.schema(list(schema.items()))
        self._rows: list[Mapping[str, Any]] = []

    def __enter__(self) -> _Writer:
        self._file, self._draft = self._folder.open_draft(self._name)
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")
        return self

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._rows.extend(rows)

    def flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows.clear()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.flush()
        self._writer.close()
        self._file.close()
        if kind is None:
            self._folder.publish(self._draft, self._name)


def _rows(key: str, book: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of one book by table."""
    document, memory = book["document"], book["memory"]
    pages, gists, plan = memory["pages"], memory["gists"], memory["plan"]
    gist_rows = [
        {"key": key, "page": page["number"], **gist, "words": count_words(gist["text"])}
        for page, gist in zip(pages, gists, strict=True)
    ]
    words, gist_words = sum(page["words"] for page in pages), sum(row["words"] for row in gist_rows)
    head = {
        "key": key,
        "file": book["file"],
        **{name: document[name] for name in ("title", "author", "language")},
        "words": words,
        "pages": len(pages),
        "gist_words": gist_words,
        "compression_rate": compression_rate(gist_words, words),
        "fallbacks": sum(page["fallback"] for page in pages) + sum(gist["fallback"] for gist in gists),
        "preset": plan["preset"],
        "max_words": plan["max_words"],
        "model": memory["model"],
        "file_version": book.get("file_version"),
    }
    return {
        "books": [head],
        "pages": [{**page, "key": key, "page": page["number"]} for page in pages],
        "gists": gist_rows,
        "usage": [{"key": key, **memory["usage"]}],
    }
