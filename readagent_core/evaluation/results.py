"""What an experiment keeps: one JSON line an answer, only ever appended; a kill loses the last moment's lines at most.

``results.jsonl`` holds answers, ``documents.jsonl`` how each document was read, ``replays.jsonl`` every event of
the answers that were not right. The last line of a key counts: a question that failed is asked again on resume.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from readagent_core.errors import DatasetError, DiskFullError
from readagent_core.quick_json import to_json
from readagent_core.usage import Usage

GATHER = 0.02  # seconds that lines wait for others to be written with: what a kill may lose


class Key(NamedTuple):
    """Which answer: the case and item by their place in the dataset, the arm by its key, the run from 1."""

    case: int
    item: int
    arm: str
    run: int


@dataclass(frozen=True)
class Result:
    """One answer. ``correct``: None for a free-form question. ``rating``: 'exact', 'partial', 'wrong', '' unrated.

    ``words``: sent for this question alone, instructions included, whether or not a reply came from the cache.
    ``replay``: byte offset of its events in replays.jsonl, None where they are not kept. ``error``: why there is
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
        """Whether there is nothing to look into: the right option, or a free-form answer rated exact."""
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


_KNOWN = frozenset(f.name for f in fields(Result))  # looked at for every line of thousands


@dataclass(frozen=True)
class Reading:
    """How a document was read by one plan. ``page_words``/``gist_words``: a page each."""

    document: str
    title: str
    words: int
    plan: str
    page_words: tuple[int, ...] = ()
    gist_words: tuple[int, ...] = ()
    fallbacks: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reading:
        values = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        for name in ("page_words", "gist_words"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


class Cost(NamedTuple):
    """Words sent once a document, cached or not: to choose ``pages``, to make ``gists``, or ``built`` by one arm's
    method (a tree, a running summary). Paid as they come, a line a save.

    A reading that was killed and resumed so reports what it would have cost in one go.
    """

    document: str
    plan: str = ""
    pages: int = 0
    gists: int = 0
    arm: str = ""
    built: int = 0


class Lines:
    """An append-only file of JSON lines; safe from several threads. A broken last line is cut off on opening.

    One thread writes, many lines at a time: with thirty threads that each wait for the disk under a lock, most
    of them would wait for one another.
    """

    def __init__(self, path: Path, *, mend: bool = True) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._wake = threading.Event()
        self._writer: threading.Thread | None = None
        self._closed = False
        self._end = 0
        self._error: OSError | None = None
        if mend:  # whoever only looks on must not cut off a line that is being written
            _mend(path)

    def append(self, value: Mapping[str, Any]) -> int:
        """Keep one line; where it begins. Raises DiskFullError when a line could not be written."""
        line = to_json(value) + b"\n"
        with self._lock:
            self._check()
            if self._writer is None:
                self._end = self.path.stat().st_size if self.path.is_file() else 0
                self._closed = False
                self._writer = threading.Thread(target=self._write, name=f"writer {self.path.name}", daemon=True)
                self._writer.start()
            place, self._end = self._end, self._end + len(line)
            self._waiting.append(line)
        self._wake.set()
        return place

    def close(self) -> None:
        """Write what waits and let go of the file. Raises DiskFullError when it cannot be written."""
        with self._lock:
            writer, self._writer, self._closed = self._writer, None, True
        self._wake.set()
        if writer is not None:
            writer.join()
        self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise DiskFullError(
                f"{self.path} cannot be written ({self._error.strerror}). Every answer before is kept; make room and "
                f"go on."
            )

    def _write(self) -> None:
        try:
            with self.path.open("ab", buffering=0) as file:
                while True:
                    self._wake.wait()
                    if not self._closed:
                        time.sleep(GATHER)
                    self._wake.clear()
                    with self._lock:
                        lines, self._waiting = self._waiting, []
                        closed = self._closed
                    left = memoryview(b"".join(lines))
                    while left:
                        left = left[file.write(left) or 0 :]
                    if closed:
                        return
        except OSError as error:
            self._error = error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every whole line so far, one at a time."""
        return (value for _, value in self.placed())

    def placed(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every whole line so far with the byte where it begins."""
        if not self.path.is_file():
            return
        place = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield place, self._parsed(line, number)
                place += len(line)

    def at(self, place: int) -> dict[str, Any]:
        """The line that begins at ``place``."""
        with self.path.open("rb") as file:
            file.seek(place)
            return self._parsed(file.readline(), 0)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            value = None
        if not isinstance(value, dict):
            where = f", line {number}" if number else ""
            raise DatasetError(f"{self.path}{where}: damaged. Remove this line; its question is then asked again.")
        return value


def _mend(path: Path) -> None:
    """Cut off what a kill left of a last line."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return
        position = file.tell()
        while position:  # back to the last line end, in blocks
            step = min(65_536, position)
            file.seek(position - step)
            at = file.read(step).rfind(b"\n")
            if at >= 0:
                file.truncate(position - step + at + 1)
                return
            position -= step
        file.truncate(0)


def read_results(lines: Iterable[Mapping[str, Any]]) -> Iterator[Result]:
    """Results as they were written; a key may come more than once, then the last counts."""
    for line in lines:
        yield Result.from_dict(line)
