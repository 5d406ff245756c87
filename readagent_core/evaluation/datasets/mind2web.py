"""Mind2Web (Deng et al. 2023): steps of tasks on web pages. A step is a question whose answer is an action.

As published: a list of tasks, each with ``actions`` and their ``cleaned_html``. Also steps one by one: flat objects, in
a list or one a line, with ``previous_actions``. A step without ``pos_candidates`` lost its target and counts as wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.document import Document
from readagent_core.errors import DatasetError, DocumentError
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item, Source, WebStep
from readagent_core.web_pages.memory import PageMemory, cut_memory
from readagent_core.web_pages.parsing import open_page


@dataclass(frozen=True)
class PageCase(Case):
    """A web page and the step on it. Its document is the HTML of the page's snippets."""

    @cached_property
    def page(self) -> PageMemory:
        """The page, cut, without gists. Raises DatasetError, naming file and line."""
        try:
            return cut_memory(open_page(self.source.data), title=self.title)
        except DocumentError as error:
            raise DatasetError(f"{self.place}: the page cannot be read. {error}") from None

    @cached_property
    def document(self) -> Document:
        return replace(self.page.memory.document, title=self.title)


def recognise(row: Mapping[str, Any]) -> bool:
    return "confirmed_task" in row and ("actions" in row or "pos_candidates" in row)


def cases(path: Path) -> Iterator[Case]:
    """Yield a case for every step, in the file's order."""
    for place, row in base.rows_of(path, "task", "confirmed_task"):
        if "actions" not in row:
            yield _case(row, row, place, list(row.get("previous_actions") or ()), 0)
            continue
        done = [str(text) for text in row.get("action_reprs") or ()]
        steps = base.objects(base.require(row, "actions", list, place), f"{place}, action", "operation")
        for number, (at, action) in enumerate(steps):
            yield _case(row, action, at, done[:number], number)


def _case(task: Mapping[str, Any], action: Mapping[str, Any], place: str, done: list[str], number: int) -> Case:
    html = action.get("cleaned_html") or action.get("raw_html")
    if not isinstance(html, str) or not html.strip():
        raise base.error_at(place, "the field 'cleaned_html' is missing: without the page no action can be chosen.")
    wanted = base.require(task, "confirmed_task", str, place).strip()
    operation = _value(action.get("operation"), dict, "operation", place)
    targets = [_value(found, dict, "pos_candidates", place) for found in action.get("pos_candidates") or ()]
    step = WebStep(
        task=wanted,
        previous=tuple(map(str, done)),
        targets=tuple(str(found.get("backend_node_id")) for found in targets),
        operation=str(operation.get("op") or "").upper(),
        value=str(operation.get("value") or "").strip(),
    )
    name = f"{task.get('annotation_id') or place}:{action.get('action_uid') or number + 1}"
    text = "\n".join((wanted, *(f"– {previous}" for previous in step.previous)))
    item = Item(name, Question(text), web_step=step)
    title = f"{task.get('website') or 'web page'}, step {number + 1 if 'actions' in task else len(done) + 1}"
    return PageCase(title, (item,), Source(html.encode("utf-8", "replace"), "page.html"), "article", place)


def _value(value: Any, kind: type, name: str, place: str) -> Any:
    """Return a value that one release of the data has as an object and another as the text of one."""
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise base.error_at(place, f"the field '{name}' must be an object, or the text of one.")
    return value
