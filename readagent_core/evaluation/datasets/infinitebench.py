"""InfiniteBench: questions about whole novels whose names were replaced (Zhang et al. 2024), En.MC and En.QA.

One row a line, with the whole book in each: ``id``, ``context``, ``input`` (the question), ``answer`` (a list: the text
of the right option, in some rows with its letter after it; or one to three accepted answers) and ``options`` (four
texts, or none). Neighbouring rows about one book are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item


def recognise(row: Mapping[str, Any]) -> bool:
    return {"context", "input", "answer", "options"} <= row.keys()


def cases(path: Path) -> Iterator[Case]:
    return base.join_neighbours(_rows_as_cases(path))


def _rows_as_cases(path: Path) -> Iterator[Case]:
    for number, (place, row) in enumerate(base.json_lines(path), start=1):
        item = _item(row, f"{path.stem}-{row.get('id', number)}", place)
        yield base.text_case(base.require(row, "context", str, place), [item], preset="book", place=place)


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    asked = base.require(row, "input", str, place).strip()
    options = base.text_list(row.get("options"), "'options'", place)
    answers = base.known_answers(row, "answer", place)
    if not options:
        return Item(name, Question(asked), references=answers)
    return Item(name, Question(asked, options), gold=_right_option(answers, options, place))


def _right_option(answers: Sequence[str], options: Sequence[str], place: str) -> int:
    """Return the index of the option whose words ``answers`` has, else of the letter: '3' may be an option's words."""
    for answer in answers:
        same = [i for i, option in enumerate(options) if base.normalise(option) == base.normalise(answer)]
        if same:
            return same[0]
    return base.find_option(answers[-1], options, place, first=1)
