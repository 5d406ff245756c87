"""LongBench: one question with its document on each line (Bai et al. 2023); version 1, and version 2's multiple choice.

Version 1: ``input``, ``context``, ``answers``, ``_id``. Version 2: ``question``, ``choice_A``…``choice_D``,
``answer`` (a letter), ``context``, ``difficulty``. Neighbouring lines with one context are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.evaluation.datasets.base import (
    Case,
    Item,
    error_at,
    find_option,
    join_neighbours,
    json_file,
    json_lines,
    objects,
    require,
    text_list,
    text_source,
)
from readagent_core.methods.base import Question

_PRESETS = {"qmsum": "meeting", "vcsum": "meeting", "narrativeqa": "book"}
_CHOICES = ("choice_A", "choice_B", "choice_C", "choice_D")


def recognise(row: Mapping[str, Any]) -> bool:
    return "context" in row and ("answers" in row or "choice_A" in row)


def cases(path: Path) -> Iterator[Case]:
    return join_neighbours(_rows_as_cases(path))


def _rows_as_cases(path: Path) -> Iterator[Case]:
    for number, (place, row) in enumerate(_rows(path), start=1):
        text = require(row, "context", str, place)
        if not text.strip():
            raise error_at(place, "the context is empty.")
        item = _item(row, f"{path.stem}-{number}", place)
        title = text.strip().splitlines()[0].strip()[:80]
        preset = _PRESETS.get(str(row.get("dataset")), "article")
        yield Case(title, (item,), text_source(text, title), preset, place)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the rows: one on each line, or the one list in which version 2 is published."""
    if path.suffix != ".json":
        return json_lines(path)
    rows = json_file(path)
    return objects(rows if isinstance(rows, list) else [rows], f"{path.name}, question", "context")


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    name = str(row.get("_id") or name)
    if "choice_A" in row:
        options = tuple(require(row, choice, str, place).strip() for choice in _CHOICES)
        gold = find_option(require(row, "answer", str, place), options, place, first=1)
        hard = {"hard": True, "easy": False}.get(str(row.get("difficulty")))
        return Item(name, Question(require(row, "question", str, place).strip(), options), gold=gold, hard=hard)
    references = text_list(row.get("answers"), "'answers'", place)
    if not references:
        raise error_at(place, "there is no answer to compare with.")
    asked = require(row, "input", str, place).strip() or "Summarize the text."  # its summary tasks leave `input` empty
    return Item(name, Question(asked), references=references)
