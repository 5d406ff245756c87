"""LongBench: one question with its document a line (Bai et al. 2023), version 1 and the multiple choice of version 2.

Version 1: ``input``, ``context``, ``answers``, ``_id``. Version 2: ``question``, ``choice_A``…``choice_D``,
``answer`` (a letter), ``context``, ``difficulty``. Neighbouring lines over one context are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from readagent_core.evaluation.datasets.base import (
    Case,
    Item,
    complain,
    gold_of,
    json_file,
    json_lines,
    need,
    strings,
    text_source,
)
from readagent_core.methods.base import Question

_PRESETS = {"qmsum": "meeting", "vcsum": "meeting", "narrativeqa": "book"}
_CHOICES = ("choice_A", "choice_B", "choice_C", "choice_D")


def recognise(row: Mapping[str, Any]) -> bool:
    return "context" in row and ("answers" in row or "choice_A" in row)


def cases(path: Path) -> Iterator[Case]:
    held: Case | None = None
    held_text = ""
    for number, (place, row) in enumerate(_rows(path), start=1):
        text = need(row, "context", str, place)
        if not text.strip():
            raise complain(place, "the context is empty.")
        item = _item(row, f"{path.stem}-{number}", place)
        if held is not None and text == held_text:
            held = replace(held, items=(*held.items, item))
            continue
        if held is not None:
            yield held
        title = text.strip().splitlines()[0].strip()[:80]
        preset = _PRESETS.get(str(row.get("dataset")), "article")
        held, held_text = Case(title, (item,), text_source(text, title), preset, place), text
    if held is not None:
        yield held


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """One a line, or the one list that version 2 is downloaded as."""
    if path.suffix != ".json":
        yield from json_lines(path)
        return
    rows = json_file(path)
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        place = f"{path.name}, question {number}"
        if not isinstance(row, dict):
            raise complain(place, f"a JSON object was expected, not {type(row).__name__}.")
        yield place, row


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    name = str(row.get("_id") or name)
    if "choice_A" in row:
        options = tuple(need(row, choice, str, place).strip() for choice in _CHOICES)
        gold = gold_of(need(row, "answer", str, place), options, place, first=1)
        hard = {"hard": True, "easy": False}.get(str(row.get("difficulty")))
        return Item(name, Question(need(row, "question", str, place).strip(), options), gold=gold, hard=hard)
    references = strings(row.get("answers"), "'answers'", place)
    if not references:
        raise complain(place, "there is no answer to compare with.")
    asked = need(row, "input", str, place).strip() or "Summarize the text."  # its summary tasks leave `input` empty
    return Item(name, Question(asked), references=references)
