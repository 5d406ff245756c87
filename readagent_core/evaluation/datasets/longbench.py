"""LongBench: one question with its document on each line (Bai et al. 2023); version 1, and version 2's multiple choice.

Version 1: ``input``, ``context``, ``answers``, ``_id``. Version 2: ``question``, ``choice_A``…``choice_D``,
``answer`` (a letter), ``context``, ``difficulty``, ``sub_domain``. Neighbouring lines with one context are one case. A
folder with a ``question.json`` that has ``documents[{file, title}]`` in place of ``context`` is a shelf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item
from readagent_core.evaluation.datasets.shelf import make_shelf

_PRESETS = {"qmsum": "meeting", "vcsum": "meeting", "narrativeqa": "book"}
_CHOICES = ("choice_A", "choice_B", "choice_C", "choice_D")
_FICTION = ("Literary", "Detective")  # sub-domains of version 2
_QUESTION = "question.json"


def recognise(row: Mapping[str, Any]) -> bool:
    return "context" in row and ("answers" in row or "choice_A" in row)


def find_shelves(path: Path) -> list[Path]:
    """Return the folders with a ``question.json``: ``path`` itself, or those in it."""
    return sorted(file.parent for file in (path / _QUESTION, *path.glob(f"*/{_QUESTION}")) if file.is_file())


def cases(path: Path) -> Iterator[Case]:
    if path.is_dir():
        return map(_shelf, find_shelves(path))
    return base.join_neighbours(_rows_as_cases(path))


def _shelf(folder: Path) -> Case:
    place = f"{folder.name}/{_QUESTION}"
    row = base.json_file(folder / _QUESTION)
    if not isinstance(row, dict):
        raise base.error_at(place, "an object with question and documents was expected.")
    named = base.objects(base.require(row, "documents", list, place), f"{place}, document", "file and title")
    books = [_book_of_shelf(folder, about, here) for here, about in named]
    if not books:
        raise base.error_at(place, "there is no document in it.")
    return make_shelf(books, [_item(row, folder.name, place)])


def _book_of_shelf(folder: Path, about: Mapping[str, Any], place: str) -> Case:
    file = folder / Path(base.require(about, "file", str, place)).name  # a file of this folder only
    if not file.is_file():
        raise base.error_at(place, f"the document {about['file']!r} is missing.")
    return Case(str(about.get("title") or file.stem), (), base.file_source(file), "article", place)


def _rows_as_cases(path: Path) -> Iterator[Case]:
    for number, (place, row) in enumerate(base.rows_of(path, "question", "context"), start=1):
        item = _item(row, f"{path.stem}-{number}", place)
        preset = "book" if row.get("sub_domain") in _FICTION else _PRESETS.get(str(row.get("dataset")), "article")
        yield base.text_case(base.require(row, "context", str, place), [item], preset=preset, place=place)


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    name = str(row.get("_id") or name)
    if "choice_A" in row:
        options = tuple(base.require(row, choice, str, place).strip() for choice in _CHOICES)
        gold = base.find_option(base.require(row, "answer", str, place), options, place, first=1)
        hard = {"hard": True, "easy": False}.get(str(row.get("difficulty")))
        return Item(name, Question(base.require(row, "question", str, place).strip(), options), gold=gold, hard=hard)
    references = base.known_answers(row, "answers", place)
    # the summary tasks leave `input` empty
    asked = base.require(row, "input", str, place).strip() or "Summarize the text."
    return Item(name, Question(asked), references=references)
