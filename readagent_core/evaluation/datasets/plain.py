"""A person's own questions: a JSON list or JSON lines beside a text, as the bundled samples have it.

``story.questions.json`` (or ``.jsonl``, a question on each line) asks about ``story.md`` (or .txt, .epub, .pdf, .html)
beside it; or the JSON file is an object ``{"title", "document": "file" or "text": "…", "preset", "questions": […]}``.
A question: ``{"question", "options", "answer"}`` where the answer is an index from 0, a letter or the option's words
(``gold_label`` counts from 1), or ``{"question", "references"}``. A row may name its own ``file``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item, Source
from readagent_core.plan import PRESETS

_KINDS = (".md", ".txt", ".epub", ".pdf", ".html", ".htm", ".docx")


def recognise(row: Mapping[str, Any]) -> bool:
    """Return whether the first of a file's JSON lines is a question."""
    return isinstance(row.get("question"), str)


def cases(path: Path) -> Iterator[Case]:
    head, groups = read_questions(path)
    title, preset = str(head.get("title") or "").strip(), str(head.get("preset") or "article")
    for name, items in groups.items():
        yield Case(title, tuple(items), _source(path, head, name, title), preset, path.name)


def read_questions(path: Path) -> tuple[Mapping[str, Any], dict[str, list[Item]]]:
    """Return what the file says of all its questions, and the questions by the file they name, in order."""
    head: Mapping[str, Any] = {}
    if path.suffix == ".json":
        data = base.json_file(path)
        if isinstance(data, dict):
            head, data = data, base.require(data, "questions", list, path.name)
        if not isinstance(data, list):
            raise base.error_at(path.name, "a list of questions was expected, or an object with 'questions'.")
        rows = base.objects(data, f"{path.name}, question", "question")
    else:
        rows = base.json_lines(path)
    preset = str(head.get("preset") or "article")
    if preset not in PRESETS:
        raise base.error_at(path.name, f"unknown preset {preset!r}; there are {', '.join(PRESETS)}.")
    groups: dict[str, list[Item]] = {}
    for number, (place, row) in enumerate(rows, start=1):
        groups.setdefault(str(row.get("file") or ""), []).append(_item(row, f"{path.stem}-{number}", place))
    if not groups:
        raise base.error_at(path.name, "there is no question in it.")
    return head, groups


def _item(row: Mapping[str, Any], name: str, place: str) -> Item:
    name = str(row.get("id") or name)
    text = base.require(row, "question", str, place).strip()
    hard = row.get("hard")
    hard = None if hard is None else bool(hard)
    if row.get("options"):
        options = base.text_list(row["options"], "'options'", place)
        one_based = "gold_label" in row
        answer = row.get("gold_label") if one_based else row.get("answer")
        gold = base.find_option(answer, options, place, first=1 if one_based else 0)
        return Item(name, Question(text, options), gold=gold, hard=hard)
    given = next((row[key] for key in ("references", "reference", "answer", "passkey") if row.get(key)), None)
    if given is None:
        raise base.error_at(place, "nothing to compare an answer with: give 'options' and 'answer', or 'references'.")
    return Item(name, Question(text), references=base.text_list(given, "'references'", place), hard=hard)


def _source(path: Path, head: Mapping[str, Any], name: str, title: str) -> Source:
    if not name and isinstance(head.get("text"), str):
        return base.text_source(head["text"], title or path.stem)
    named = name or head.get("document")
    if named:
        file = (path.parent / str(named)).resolve()
        if path.parent.resolve() not in file.parents:
            raise base.error_at(path.name, f"the document {str(named)!r} must be in the same folder or below it.")
        if not file.is_file():
            raise base.error_at(path.name, f"the document {str(named)!r} is missing.")
        return base.file_source(file)
    stem = path.name.removesuffix(path.suffix).removesuffix(".questions").removesuffix("-questions")
    near = [path.parent / f"{stem}{kind}" for kind in _KINDS]
    near += [p for p in sorted(path.parent.glob(f"{stem}*")) if p.suffix in _KINDS]
    found = next((p for p in near if p.is_file()), None)
    if found is None:
        raise base.error_at(
            path.name, f"no text for these questions beside it: {stem}.md, .txt, .epub, .pdf, .html or .docx."
        )
    return base.file_source(found)
