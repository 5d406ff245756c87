"""What an experiment stores: one JSON line for each answer, appended as soon as it is there.

``results.jsonl`` holds the answers, ``documents.jsonl`` how each document was read and what that cost, and
``replays.jsonl`` every event of the answers that were not right. Of several lines with one key the last counts,
because a question that failed is asked again when the experiment is resumed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from readagent_core.errors import DatasetError, DiskFullError
from readagent_core.quick_json import to_json
from readagent_core.usage import Usage


class Key(NamedTuple):
    """Identifies an answer: case and item by their index in the dataset, the arm by its key, the run from 1."""

    case: int
    item: int
    arm: str
    run: int


@dataclass(frozen=True)
class Result:
    """One answer and how it was judged.

    ``gold``: index of the right option. ``hard``: whether the dataset calls the question hard, None where it does not
    say. ``correct``: None for a free-form question. ``rating``: 'exact', 'partial', 'wrong', or '' for an unrated one.
    ``words``: sent for this question alone, instructions included, whether or not a reply came from the cache.
    ``words_new``: those of them after the longest beginning that a prompt of this question before had; None in records
    of an earlier version.
    ``replay``: byte offset of its events in replays.jsonl, None where they are not stored. ``error``: why there is
    no answer.
    """

    case: int
    item: int
    arm: str
    run: int
    id: str
    document: str
    plan: str
    title: str
    question: str
    options: tuple[str, ...] = ()
    gold: int | None = None
    references: tuple[str, ...] = ()
    hard: bool | None = None
    answer: str = ""
    option: int | None = None
    correct: bool | None = None
    rouge: Mapping[str, float] = field(default_factory=dict)
    rating: str = ""
    looked_up: tuple[int, ...] = ()
    steps: int = 0
    memory_words: int = 0
    document_words: int = 0
    compression_rate: float = 0.0
    answer_words: int = 0
    words: int = 0
    words_new: int | None = None
    words_out: int = 0
    usage: Usage = field(default_factory=Usage)
    rater_usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    replay: int | None = None

    @property
    def key(self) -> Key:
        return Key(self.case, self.item, self.arm, self.run)

    @property
    def right(self) -> bool:
        """Whether the right option was chosen, or the free-form answer was rated exact."""
        return not self.error and (bool(self.correct) if self.correct is not None else self.rating == "exact")

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "usage": self.usage.to_dict(), "rater_usage": self.rater_usage.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        values = {name: value for name, value in data.items() if name in _KNOWN}
        for name in ("usage", "rater_usage"):
            values[name] = Usage.from_dict(values.get(name, {}))
        for name in ("options", "references", "looked_up", "notes"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


_KNOWN = frozenset(f.name for f in fields(Result))


@dataclass(frozen=True)
class GistingFigures:
    """How a document was read by one plan.

    ``page_words`` and ``gist_words``: the words of each page and gist. ``marked``: gists that the audit marked.
    """

    document: str
    title: str
    words: int
    plan: str
    page_words: tuple[int, ...] = ()
    gist_words: tuple[int, ...] = ()
    fallbacks: int = 0
    marked: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GistingFigures:
        values = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        for name in ("page_words", "gist_words"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


class PaidCost(NamedTuple):
    """Words sent once for a document, cached or not, up to the moment the line was written.

    ``pages``: to choose the pages; ``gists``: to write the gists; or, for one ``arm``, ``built``: for what its
    method builds of the text (a tree, a running summary).
    """

    document: str
    plan: str = ""
    pages: int = 0
    gists: int = 0
    arm: str = ""
    built: int = 0


class JsonLines:
    """A file of JSON lines that is only appended to; safe for several threads.

    ``repair``: cut off a last line that a killed process left half written. Give False to look at a file that
    another process may be writing.
    """

    def __init__(self, path: Path, *, repair: bool = True) -> None:
        self.path = path
        self._lock = threading.Lock()
        if repair:
            _cut_unfinished_line(path)

    def append(self, value: Mapping[str, Any]) -> int:
        """Write one line and return the byte offset where it begins. Raises DiskFullError."""
        place: int | None = None
        with self._lock:
            try:
                with self.path.open("ab") as file:
                    place = file.tell()
                    file.write(to_json(value) + b"\n")
                return place
            except OSError as error:
                if place is not None:
                    with suppress(OSError):  # a full disk took part of the line
                        os.truncate(self.path, place)
                raise DiskFullError(
                    f"{self.path} cannot be written ({error.strerror}). Every answer before is saved; make room, then "
                    "start the experiment again to resume it."
                ) from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield every complete line."""
        return (value for _, value in self.with_offsets())

    def with_offsets(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield every complete line with the byte offset where it begins. Raises DatasetError for a damaged one."""
        if not self.path.is_file():
            return
        place = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield place, self._parse(line, number)
                place += len(line)

    def read_at(self, place: int) -> dict[str, Any]:
        """Return the line that begins at byte ``place``. Raises DatasetError, or OSError for a missing file."""
        with self.path.open("rb") as file:
            file.seek(place)
            return self._parse(file.readline(), 0)

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            value = None
        if not isinstance(value, dict):
            where = f", line {number}" if number else ""
            raise DatasetError(f"{self.path}{where}: damaged. Remove this line; its question is then asked again.")
        return value


def _cut_unfinished_line(path: Path) -> None:
    """Truncate the file after its last line end."""
    if not path.is_file():
        return
    with path.open("rb+") as file:
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
