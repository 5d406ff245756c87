"""Benchmarks as people download them, one file a format; ``open_dataset`` tells which one a path is.

The kind is told from the first row, never from the name alone, and can be given. Cases stream; a limit on
questions is spread over the documents as they come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from readagent_core.errors import DatasetError
from readagent_core.evaluation.datasets import longbench, narrativeqa, plain, qmsum, quality, scrolls
from readagent_core.evaluation.datasets.base import Case, Item, json_lines, named, text_lines

__all__ = ["KINDS", "Case", "Dataset", "Item", "open_dataset"]

KINDS = ("quality", "qmsum", "narrativeqa", "scrolls", "longbench", "plain")
_BY_ROW = (("quality", quality), ("qmsum", qmsum), ("scrolls", scrolls), ("longbench", longbench))


@dataclass(frozen=True)
class Dataset:
    """``kind``: one of KINDS. ``limit``: most questions, ``documents``: most documents; None for all."""

    path: Path
    kind: str
    split: str = ""
    limit: int | None = None
    documents: int | None = None

    @property
    def name(self) -> str:
        return self.path.stem.removesuffix(".questions") if self.path.is_file() else self.path.name

    def cases(self) -> Iterator[Case]:
        """Cases in the file's order. Raises DatasetError, naming file and line."""
        left, read = self.limit, 0
        for case in self._reader()(self.path):
            if left is not None:
                case = replace(case, items=case.items[:left])
                left -= len(case.items)
            if case.items:
                yield case
                read += 1
            if left == 0 or read == self.documents:  # before the next line is looked at
                return

    def lost(self) -> int:
        """Documents that have questions here, but no text: they are left out."""
        return narrativeqa.lost(self.path, self.split) if self.kind == "narrativeqa" else 0

    def _reader(self) -> Callable[[Path], Iterator[Case]]:
        readers: dict[str, Callable[[Path], Iterator[Case]]] = {
            "quality": quality.cases,
            "qmsum": qmsum.cases,
            "narrativeqa": partial(narrativeqa.cases, split=self.split),
            "scrolls": scrolls.cases,
            "longbench": longbench.cases,
            "plain": plain.cases,
        }
        return readers[self.kind]


def open_dataset(
    path: Path, *, kind: str = "", split: str = "", limit: int | None = None, documents: int | None = None
) -> Dataset:
    """The dataset at ``path`` (a file or a folder). Raises DatasetError when it is none that is known."""
    path = Path(path)
    if kind and kind not in KINDS:
        raise DatasetError(f"Unknown kind of dataset {kind!r}. Choose one of: {', '.join(KINDS)}.")
    if not path.exists():
        raise DatasetError(f"{path}: there is no such file or folder.")
    return Dataset(path, kind or _kind_of(path), split, limit, documents)


def _kind_of(path: Path) -> str:
    if narrativeqa.recognise(path):
        return "narrativeqa"
    if path.is_dir():
        first = next(iter(sorted(path.glob("*.json"))), None)
        if first is not None and _kind_of(first) == "qmsum":
            return "qmsum"
        raise DatasetError(f"{path}: no dataset was recognised in this folder. Name one of its files.")
    if path.suffix == ".json":
        try:
            data = json.loads("".join(text_lines(path)))
        except ValueError:
            return "plain"  # its reader names the line that is wrong
        if isinstance(data, list) and data and isinstance(data[0], dict) and longbench.recognise(data[0]):
            return "longbench"
        return "qmsum" if isinstance(data, dict) and qmsum.recognise(data) else "plain"
    if path.suffix != ".jsonl" and not _begins_as_json(path):  # QuALITY's own files end in .train, .dev, .test
        raise DatasetError(
            f"{path.name}: a dataset is a file of JSON lines, a .json file, or a folder (NarrativeQA, QMSum)."
        )
    place, row = next(json_lines(path), (path.name, None))
    if row is None:
        raise DatasetError(f"{place}: the file is empty.")
    for name, reader in _BY_ROW:
        if reader.recognise(row):
            return name
    raise DatasetError(
        f"{place}: these fields are of no dataset that is known ({named(row)}). "
        f"Known are QuALITY, QMSum, NarrativeQA, SCROLLS, LongBench and a plain JSON of questions."
    )


def _begins_as_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
