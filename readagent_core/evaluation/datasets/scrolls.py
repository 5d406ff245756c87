"""SCROLLS: lines of ``{"id", "pid", "input", "output"}``, question and document in one ``input`` (Shaham et al. 2022).

The question comes first, then an empty line and the document; QuALITY's question includes its options. Lines that
share an id are one question with several references. Neighbouring lines with one document are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item
from readagent_core.evaluation.datasets.quality import split_options

WHOLE = {"gov_report": "Summarize the report.", "summ_screen_fd": "Summarize the episode."}  # tasks without a question
PRESETS = {"qmsum": "meeting", "narrative_qa": "book", "summ_screen_fd": "script", "gov_report": "article"}


def recognise(row: Mapping[str, Any]) -> bool:
    return "pid" in row and isinstance(row.get("input"), str) and "output" in row


def cases(path: Path) -> Iterator[Case]:
    return base.join_neighbours(_lines_as_cases(path))


def _lines_as_cases(path: Path) -> Iterator[Case]:
    task = next((name for name in (*WHOLE, *PRESETS) if name in f"{path.parent.name}/{path.stem}".lower()), "")
    for place, row in base.json_lines(path):
        text, item = _item(row, task, place)
        yield base.text_case(text, [item], preset=PRESETS.get(task, "article"), place=place)


def _item(row: Mapping[str, Any], task: str, place: str) -> tuple[str, Item]:
    text = base.require(row, "input", str, place).replace("\r\n", "\n").strip()
    answer = row.get("output")
    if answer is None:
        raise base.error_at(place, "there is no output. The test split has none; use the validation split.")
    if not isinstance(answer, str):
        raise base.error_at(place, "the field 'output' must be a text.")
    name = str(row.get("id") or base.require(row, "pid", str, place))
    if task in WHOLE:
        return text, Item(name, Question(WHOLE[task]), references=(answer.strip(),))
    head, separator, rest = text.partition("\n\n")
    if rest.lstrip().startswith("(A)"):
        block, separator, rest = rest.lstrip("\n").partition("\n\n")
        head = f"{head}\n{block}"
    if not separator or not rest.strip():
        raise base.error_at(place, "'input' must hold a question, an empty line, then the document.")
    question, options = split_options(head)
    if options:
        return rest, Item(name, Question(question, options), gold=base.find_option(answer, options, place, first=1))
    return rest, Item(name, Question(question), references=(answer.strip(),))
