"""QuALITY: long articles with four-way multiple choice (Pang et al. 2022).

Read as released (v1.0.1 JSONL, html-stripped or not: ``article``, ``questions[{question, options, gold_label
1–4, difficult, writer_label, validation}]``), in the authors' older layout with numbered fields
(``question1``, ``question1option1``, ``question1_gold_label``), and as L-Eval's rows (``input``,
``instructions`` with the options inside, ``outputs`` '(C) …').
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item

_OPTION = re.compile(r"^\s*\(([A-Z])\)\s*(.*)$")
_NUMBERED = re.compile(r"^question(\d+)$")


def recognise(row: Mapping[str, Any]) -> bool:
    """Return whether a first row looks like one of the three layouts."""
    older = "article" in row and "question1" in row
    leval = "instructions" in row and "outputs" in row and "input" in row
    return older or leval or ("article" in row and isinstance(row.get("questions"), list))


def cases(path: Path) -> Iterator[Case]:
    for place, row in base.json_lines(path):
        if "instructions" in row:
            yield _leval(row, place)
            continue
        article = base.require(row, "article", (str, list), place)
        text = "".join(map(str, article)) if isinstance(article, list) else article
        if not text.strip():
            raise base.error_at(place, "the article is empty.")
        title = str(row.get("title") or "").strip()
        items = _numbered(row, place) if "question1" in row else _released(row, place)
        yield Case(title, tuple(items), base.text_source(text, title), "article", place)


def _released(row: Mapping[str, Any], place: str) -> Iterator[Item]:
    article_id = row.get("article_id", place)
    asked_of = base.objects(
        base.require(row, "questions", list, place), f"{place}, question", "question, options and gold_label"
    )
    for number, (here, asked) in enumerate(asked_of, start=1):
        text = base.require(asked, "question", str, here)
        options = _options(base.require(asked, "options", list, here), here)
        if asked.get("gold_label") is None:
            raise base.error_at(here, "there is no gold_label. The test split has none; use the dev or train split.")
        difficult = asked.get("difficult")
        yield Item(
            str(asked.get("question_unique_id") or f"{article_id}-{number}"),
            Question(text.strip(), options),
            gold=base.find_option(asked["gold_label"], options, here, first=1),
            hard=None if difficult is None else bool(difficult),
        )


def _numbered(row: Mapping[str, Any], place: str) -> Iterator[Item]:
    numbers = sorted(int(found.group(1)) for name in row if (found := _NUMBERED.match(name)))
    for number in numbers:
        here = f"{place}, question {number}"
        name = f"question{number}"
        options = _options([base.require(row, f"{name}option{i}", str, here) for i in range(1, 5)], here)
        gold = base.find_option(base.require(row, f"{name}_gold_label", (int, str), here), options, here, first=1)
        asked = str(row.get("unique_id") or row.get("article_id") or place)
        yield Item(f"{asked}-{number}", Question(base.require(row, name, str, here).strip(), options), gold=gold)


def _leval(row: Mapping[str, Any], place: str) -> Case:
    text = base.require(row, "input", str, place)
    asked, outputs = base.require(row, "instructions", list, place), base.require(row, "outputs", list, place)
    if len(asked) != len(outputs):
        raise base.error_at(place, f"{len(asked)} questions but {len(outputs)} answers.")
    items: list[Item] = []
    for number, (instruction, output) in enumerate(zip(asked, outputs, strict=True), start=1):
        here = f"{place}, question {number}"
        question, options = split_options(str(instruction))
        if len(options) < 2:
            raise base.error_at(here, "there are no options '(A) …' in the question.")
        letter = _OPTION.match(str(output).strip().splitlines()[0] if str(output).strip() else "")
        if letter is None:
            raise base.error_at(here, "the answer does not begin with its letter, like '(C)'.")
        gold = base.find_option(letter.group(1), options, here, first=1)
        items.append(Item(f"{place}-{number}", Question(question, options), gold=gold))
    return base.text_case(text, items, preset="article", place=place)


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a text into its question and the options '(A) …' on the lines below; an option may have several lines."""
    question: list[str] = []
    options: list[str] = []
    for line in text.splitlines():
        found = _OPTION.match(line)
        if found and found.group(1) == chr(ord("A") + len(options)):
            options.append(found.group(2).strip())
        elif options:
            options[-1] = f"{options[-1]} {line.strip()}".strip()
        else:
            question.append(line)
    return "\n".join(question).strip(), tuple(options)


def _options(values: list[Any], place: str) -> tuple[str, ...]:
    if len(values) < 2 or not all(isinstance(v, str) and v.strip() for v in values):
        raise base.error_at(place, "two or more options were expected, each a text.")
    return tuple(v.strip() for v in values)
