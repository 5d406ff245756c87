"""SCROLLS: ``{"id", "pid", "input", "output"}`` a line, question and document in one ``input`` (Shaham et al. 2022).

The question stands above the document, after it an empty line; QuALITY's carries its options. Lines that
share an id are one question with several references. Neighbouring lines over one document are one case.
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
    json_lines,
    need,
    text_source,
)
from readagent_core.evaluation.datasets.quality import split_options
from readagent_core.methods.base import Question

WHOLE = {"gov_report": "Summarize the report.", "summ_screen_fd": "Summarize the episode."}  # tasks without a question
PRESETS = {"qmsum": "meeting", "narrative_qa": "book", "summ_screen_fd": "script", "gov_report": "article"}


def recognise(row: Mapping[str, Any]) -> bool:
    return "pid" in row and isinstance(row.get("input"), str) and "output" in row


def cases(path: Path) -> Iterator[Case]:
    task = next((name for name in (*WHOLE, *PRESETS) if name in f"{path.parent.name}/{path.stem}".lower()), "")
    held: Case | None = None
    held_text = ""
    for place, row in json_lines(path):
        document, item = _item(row, task, place)
        if held is not None and document == held_text:
            held = replace(held, items=_with(held.items, item))
            continue
        if held is not None:
            yield held
        title = document.strip().splitlines()[0].strip()[:80]
        held_text = document
        held = Case(title, (item,), text_source(document, title), PRESETS.get(task, "article"), place)
    if held is not None:
        yield held


def _item(row: Mapping[str, Any], task: str, place: str) -> tuple[str, Item]:
    text = need(row, "input", str, place).replace("\r\n", "\n").strip()
    answer = row.get("output")
    if answer is None:
        raise complain(place, "there is no output. The test split has none; use the validation split.")
    if not isinstance(answer, str):
        raise complain(place, "the field 'output' must be a text.")
    name = str(row.get("id") or need(row, "pid", str, place))
    if task in WHOLE:
        return text, Item(name, Question(WHOLE[task]), references=(answer.strip(),))
    head, separator, rest = text.partition("\n\n")
    if rest.lstrip().startswith("(A)"):
        block, separator, rest = rest.lstrip("\n").partition("\n\n")
        head = f"{head}\n{block}"
    if not separator or not rest.strip():
        raise complain(place, "'input' must hold a question, an empty line, then the document.")
    question, options = split_options(head)
    if options:
        return rest, Item(name, Question(question, options), gold=gold_of(answer, options, place, first=1))
    return rest, Item(name, Question(question), references=(answer.strip(),))


def _with(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    """``items`` and ``item``; a known question gains the references instead."""
    for at, known in enumerate(items):
        if known.id == item.id:
            both = tuple(dict.fromkeys((*known.references, *item.references)))
            return (*items[:at], replace(known, references=both), *items[at + 1 :])
    return (*items, item)
