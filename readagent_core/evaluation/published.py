"""The figures that the papers printed, to be shown beside ours. They are stored in ``published.json``.

There a table names its source, its data, the model and the split; a row says which arm it was. A figure is shown
beside an arm with the same method, look-ups, page sizes and cut; where the papers have none, none is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from readagent_core.evaluation.arms import Arm
from readagent_core.plan import GistingPlan

FILE = Path(__file__).with_name("published.json")
_VARIED = ("max_words", "pagination")  # the settings of a reading plan that the papers varied


@dataclass(frozen=True)
class Published:
    """One row of a published table; None for what was not printed.

    ``score``: percent, by the table's measure. ``sd``: over the paper's runs. ``rouge``: ROUGE-1, 2 and L, ×100.
    ``look_ups`` None: whatever the arm allows. ``when``: what else the arm must have: a page size, a cut, the name of
    the data. ``stray``, ``recovery``: percent of MemWalker's walks. ``operation_f1``, ``step``, ``task``: percent, of
    steps on web pages, whose ``score`` is the element accuracy.
    """

    method: str
    look_ups: int | None = None
    compression_rate: float | None = None
    pages: float | None = None
    score: float | None = None
    sd: float | None = None
    rating_2: float | None = None
    rouge: tuple[float, float, float] | None = None
    stray: float | None = None
    recovery: float | None = None
    operation_f1: float | None = None
    step: float | None = None
    task: float | None = None
    when: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Table:
    """One published table. ``about``: which data, and how much of it.

    ``measure``: 'accuracy', 'ratings' (LLM-Rating-1), 'web' (element accuracy) or 'own' (the benchmark's, which we do
    not compute). ``data``: the kinds of dataset and reading presets it belongs to.
    """

    source: str
    name: str
    about: str
    model: str
    measure: str
    data: tuple[tuple[str, str], ...]
    split: str
    rows: tuple[Published, ...]


@dataclass(frozen=True)
class PublishedFigure:
    """A published row that is shown beside one of our arms, with its table."""

    table: Table
    row: Published


@dataclass(frozen=True)
class Benchmark:
    """The dataset and reading plan of an experiment, as far as the papers' tables distinguish them.

    ``name``: of the dataset's file or folder. ``plan``: the experiment's changes to the preset.
    """

    kind: str
    preset: str
    split: str = ""
    name: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)


@cache
def load_tables() -> tuple[Table, ...]:
    """Return every published table in the file's order: the ReadAgent paper's main tables first."""
    found = []
    for values in json.loads(FILE.read_text(encoding="utf-8")):
        columns = values.pop("columns")
        rows = tuple(_row(dict(zip(columns, cells, strict=False))) for cells in values.pop("rows"))
        data = tuple((kind, preset) for kind, preset in values.pop("data"))
        found.append(Table(**values, data=data, rows=rows))
    return tuple(found)


def _row(values: dict[str, Any]) -> Published:
    rouge, when = values.pop("rouge", None), values.pop("when", None)
    return Published(**values, rouge=tuple(rouge) if rouge else None, when=when or {})


def find_published(arm: Arm, benchmark: Benchmark) -> tuple[PublishedFigure, ...]:
    """Return every figure the papers have for ``arm`` on data of this kind, the best known first.

    None for an arm with a budget of words a question, which the papers do not have.
    """
    if arm.words is not None:
        return ()
    name = benchmark.name.lower()
    test = "test" in (benchmark.split, *name.replace("-", "_").replace(".", "_").split("_"))
    return tuple(
        PublishedFigure(table, row)
        for table in load_tables()
        if (benchmark.kind, benchmark.preset) in table.data
        and (test == (table.split == "test") or not _has_test(table))
        for row in table.rows
        if _fits(row, arm, benchmark)
    )


def _has_test(table: Table) -> bool:
    """Return whether the papers report a test split of the same data separately."""
    return any(t.split == "test" and t.data == table.data for t in load_tables())


def _fits(row: Published, arm: Arm, benchmark: Benchmark) -> bool:
    if row.method != arm.method or (row.look_ups is not None and row.look_ups != arm.settings.look_ups):
        return False
    when = dict(row.when)
    if "data" in when and when.pop("data") not in benchmark.name.lower().replace("-", "_"):
        return False
    keep, words = when.pop("keep", None), when.pop("context_words", None)
    if keep is None and arm.method == "full-text" and arm.settings.context_words is not None:
        return False
    if keep is not None and (arm.settings.context_words is None or arm.settings.keep != keep):
        return False
    if words is not None and arm.settings.context_words != words:
        return False
    return when == _varied_settings({**benchmark.plan, **arm.plan}, benchmark.preset)


def _varied_settings(plan: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """Return the settings of ``plan`` that differ from the preset in a way the papers' tables distinguish."""
    usual = GistingPlan.from_preset(preset)
    changed = {n: plan[n] for n in _VARIED if n in plan and plan[n] != getattr(usual, n)}
    if changed.get("pagination") != "uniform":  # with any other kind the model chooses the pause points
        changed.pop("pagination", None)
    return changed
