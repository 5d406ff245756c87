"""Benchmarks in the layouts in which they are published, one module for each; ``open_dataset`` recognises them.

The kind is recognised by the first row, never by the name alone, and can be given. Cases are read one by one. A limit
on questions or documents takes the first ones, or, with a seed, draws them at random.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core.errors import DatasetError
from readagent_core.evaluation.datasets import (
    book_files,
    longbench,
    mind2web,
    narrativeqa,
    plain,
    qmsum,
    quality,
    scrolls,
)
from readagent_core.evaluation.datasets.base import MOST, Case, Item, field_names, json_lines, text_lines
from readagent_core.evaluation.datasets.shelf import ShelfCase, put_on_shelves
from readagent_core.regular_files import open_regular

__all__ = ["KINDS", "Case", "Dataset", "Item", "ShelfCase", "open_dataset"]

_Reader = Callable[[Path], Iterator[Case]]
_BY_ROW: dict[str, tuple[Callable[[Mapping[str, Any]], bool], _Reader]] = {
    "quality": (quality.recognise, quality.cases),
    "qmsum": (qmsum.recognise, qmsum.cases),
    "scrolls": (scrolls.recognise, scrolls.cases),
    "infinitebench": (longbench.is_infinitebench, longbench.infinitebench_cases),
    "longbench": (longbench.recognise, longbench.cases),
    "literaryqa": (book_files.is_literaryqa, book_files.literaryqa_cases),
    "novelhopqa": (book_files.is_novelhopqa, book_files.novelhopqa_cases),
    "mind2web": (mind2web.recognise, mind2web.cases),
    "plain": (plain.recognise, plain.cases),
}
_WITH_SPLITS: dict[str, Callable[..., Iterator[Case]]] = {
    "narrativeqa": narrativeqa.cases,
    "literaryqa": book_files.literaryqa_cases,
}
KINDS = (*_BY_ROW, "narrativeqa")


@dataclass(frozen=True)
class Dataset:
    """A dataset on disk. ``kind``: one of KINDS. ``limit``: most questions; ``documents``: most documents.

    ``books``: how many documents are asked about together, on one shelf, which then counts as one document. ``seed``:
    draws questions and documents at random, the same ones for the same seed; a higher limit draws further ones. None
    takes the first ones in the file.
    """

    path: Path
    kind: str
    split: str = ""
    limit: int | None = None
    documents: int | None = None
    books: int = 1
    seed: int | None = None

    @property
    def name(self) -> str:
        return self.path.stem.removesuffix(".questions") if self.path.is_file() else self.path.name

    def cases(self) -> Iterator[Case]:
        """Yield the cases in the file's order. Raises DatasetError, naming file and line."""
        if self.seed is not None and (self.limit is not None or self.documents is not None):
            drawn = self._draw()
            for case in self._numbered():
                items = tuple(item for item in case.items if (case.number, item.number) in drawn)
                if items:
                    yield replace(case, items=items)
            return
        left, read = self.limit, 0
        for case in self._numbered():
            if left is not None:
                case = replace(case, items=case.items[:left])
                left -= len(case.items)
            if case.items:
                yield case
                read += 1
            if left == 0 or read == self.documents:  # the next line may be damaged, and is not needed
                return

    def _draw(self) -> set[tuple[int, int]]:
        """Return (case, item) of the questions drawn at random."""
        every = [(case.number, item.number) for case in self._numbered() for item in case.items]
        allowed = set(sorted({case for case, _ in every}, key=self._order)[: self.documents])
        return set(sorted((place for place in every if place[0] in allowed), key=self._order)[: self.limit])

    def _order(self, place: object) -> bytes:
        return hashlib.blake2b(f"{self.seed} {place}".encode(), digest_size=8).digest()

    def _numbered(self) -> Iterator[Case]:
        for number, case in enumerate(self._read()):
            items = tuple(replace(item, number=at) for at, item in enumerate(case.items))
            yield replace(case, items=items, number=number)

    def count_missing(self) -> int:
        """Return how many documents have questions but no text; they are left out."""
        if self.kind == "narrativeqa":
            return narrativeqa.count_missing(self.path, self.split)
        if self.kind in ("literaryqa", "novelhopqa"):
            return book_files.count_missing(self.path, self.kind, self.split)
        return 0

    def _read(self) -> Iterator[Case]:
        if self.kind in _WITH_SPLITS:
            cases = _WITH_SPLITS[self.kind](self.path, split=self.split)
        else:
            cases = _BY_ROW[self.kind][1](self.path)
        return put_on_shelves(cases, self.books) if self.books > 1 else cases


def open_dataset(
    path: Path,
    *,
    kind: str = "",
    split: str = "",
    limit: int | None = None,
    documents: int | None = None,
    books: int = 1,
    seed: int | None = None,
) -> Dataset:
    """Return the dataset at ``path``, a file or a folder. Raises DatasetError when it is none of the known kinds."""
    path = Path(path)
    if kind and kind not in KINDS:
        raise DatasetError(f"Unknown kind of dataset {kind!r}. Choose one of: {', '.join(KINDS)}.")
    if not path.exists():
        raise DatasetError(f"{path}: there is no such file or folder.")
    if not path.is_dir():
        try:
            open_regular(path, most=MOST).close()
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error.strerror}). Name another file.") from None
    return Dataset(path, kind or _recognise(path), split, limit, documents, books, seed)


def _recognise(path: Path) -> str:
    if narrativeqa.recognise(path):
        return "narrativeqa"
    if path.is_dir():
        if longbench.find_shelves(path):
            return "longbench"
        first = next(iter(sorted(path.glob("*.json"))), None)
        if first is not None and _recognise(first) == "qmsum":
            return "qmsum"
        raise DatasetError(f"{path}: no dataset was recognised in this folder. Name one of its files.")
    if path.suffix == ".json":
        try:
            data = json.loads("".join(text_lines(path)))
        except ValueError:
            return "plain"  # whose reader names the line that is wrong
        if isinstance(data, list) and data and isinstance(data[0], dict) and longbench.recognise(data[0]):
            return "longbench"
        first_row = data[0] if isinstance(data, list) and data else data
        if isinstance(first_row, dict) and mind2web.recognise(first_row):
            return "mind2web"
        return "qmsum" if isinstance(data, dict) and qmsum.recognise(data) else "plain"
    if path.suffix != ".jsonl" and not _begins_as_json(path):  # QuALITY's own files end in .train, .dev, .test
        raise DatasetError(
            f"{path.name}: a dataset is a file of JSON lines, a .json file, or a folder (NarrativeQA, QMSum)."
        )
    place, row = next(json_lines(path), (path.name, None))
    if row is None:
        raise DatasetError(f"{place}: the file is empty.")
    for name, (recognises, _) in _BY_ROW.items():
        if recognises(row):
            return name
    raise DatasetError(
        f"{place}: these fields belong to no known dataset ({field_names(row)}). "
        "Known are QuALITY, QMSum, NarrativeQA, SCROLLS, LongBench, InfiniteBench, LiteraryQA, NovelHopQA, Mind2Web "
        "and plain questions in JSON."
    )


def _begins_as_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
