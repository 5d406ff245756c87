"""LongBench (Bai et al. 2023) and InfiniteBench (Zhang et al. 2024): a question with its whole text in each row.

LongBench 1: ``input``, ``context``, ``answers``, ``_id``. LongBench 2, multiple choice: ``question``,
``choice_A``…``choice_D``, ``answer`` (a letter), ``context``, ``difficulty``, ``sub_domain``; a folder with a
``question.json`` that has ``documents[{file, title}]`` in place of ``context`` is a shelf. InfiniteBench, En.MC and
En.QA, on novels whose names were replaced: ``id``, ``context``, ``input``, ``options`` (four texts, or none), and
``answer``: the text of the right option, in some rows with its letter after it, or one to three accepted answers.
Neighbouring rows with one context are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def is_infinitebench(row: Mapping[str, Any]) -> bool:
    return {"context", "input", "answer", "options"} <= row.keys()


def find_shelves(path: Path) -> list[Path]:
    """Return the folders with a ``question.json``: ``path`` itself, or those in it."""
    return sorted(file.parent for file in (path / _QUESTION, *path.glob(f"*/{_QUESTION}")) if file.is_file())


def cases(path: Path) -> Iterator[Case]:
    if path.is_dir():
        return map(_shelf, find_shelves(path))
    return base.join_neighbours(_rows_as_cases(path))


def infinitebench_cases(path: Path) -> Iterator[Case]:
    return base.join_neighbours(_rows_as_cases(path, preset="book"))


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


def _rows_as_cases(path: Path, preset: str = "") -> Iterator[Case]:
    """Yield a case a row. ``preset``: '' for the one that suits the row's kind of text."""
    for number, (place, row) in enumerate(base.rows_of(path, "question", "context"), start=1):
        item = _item(row, f"{path.stem}-{row.get('id', number)}", place)
        suits = "book" if row.get("sub_domain") in _FICTION else _PRESETS.get(str(row.get("dataset")), "article")
        yield base.text_case(base.require(row, "context", str, place), [item], preset=preset or suits, place=place)


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    name = str(row.get("_id") or name)
    if "choice_A" in row:
        options = tuple(base.require(row, choice, str, place).strip() for choice in _CHOICES)
        gold = base.find_option(base.require(row, "answer", str, place), options, place, first=1)
        hard = {"hard": True, "easy": False}.get(str(row.get("difficulty")))
        return Item(name, Question(base.require(row, "question", str, place).strip(), options), gold=gold, hard=hard)
    references = base.known_answers(row, "answers" if "answers" in row else "answer", place)
    # the summary tasks leave `input` empty
    asked = base.require(row, "input", str, place).strip() or "Summarize the text."
    if options := base.text_list(row.get("options") or [], "'options'", place):
        return Item(name, Question(asked, options), gold=_right_option(references, options, place))
    return Item(name, Question(asked), references=references)


def _right_option(answers: Sequence[str], options: Sequence[str], place: str) -> int:
    """Return the index of the option whose words ``answers`` has, else of the letter: '3' may be an option's words."""
    for answer in answers:
        same = [i for i, option in enumerate(options) if base.normalise(option) == base.normalise(answer)]
        if same:
            return same[0]
    return base.find_option(answers[-1], options, place, first=1)
