"""NarrativeQA: books and film scripts with two answers to each question (Kočiský et al. 2018), as published.

``documents.csv`` and ``qaps.csv`` in one folder, the stories below it as ``<document_id>.content`` (``tmp/`` as
its download script leaves them, or ``stories/``). Also a folder with one ``qa.json`` (``document``, ``qas``)
beside its story. Books are read with the book preset, films with the script preset.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.errors import DatasetError
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item, Source

_PRESETS = {"gutenberg": "book", "movie": "script"}
_STORIES = ("tmp", "stories", "story", ".")
_KINDS = (".txt", ".md", ".epub", ".htm", ".html", ".pdf")


def recognise(path: Path) -> bool:
    """Whether ``path`` is a NarrativeQA folder, one of its CSV files, or a ``qa.json`` beside its story."""
    if path.is_dir():
        return (path / "documents.csv").is_file() or (path / "qa.json").is_file()
    return path.name in ("documents.csv", "qaps.csv", "qa.json")


def cases(path: Path, *, split: str = "") -> Iterator[Case]:
    folder = path if path.is_dir() else path.parent
    if (folder / "documents.csv").is_file() and path.name != "qa.json":
        yield from _from_csv(folder, split)
    else:
        yield _from_json(folder / "qa.json")


def _rows(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    if not path.is_file():
        raise base.error_at(str(path), "missing; NarrativeQA needs documents.csv and qaps.csv side by side.")
    reader = csv.DictReader(base.text_lines(path))
    for name in wanted:
        if name not in (reader.fieldnames or ()):
            raise base.error_at(f"{path.name}, line 1", f"the column '{name}' is missing.")
    try:
        for row in reader:
            place = f"{path.name}, line {reader.line_num}"
            if any(row.get(name) is None for name in wanted):
                raise base.error_at(place, "this line has fewer columns than the first.")
            yield place, row
    except csv.Error as error:
        raise base.error_at(f"{path.name}, line {reader.line_num}", f"not CSV ({error}).") from None


def _from_csv(folder: Path, split: str) -> Iterator[Case]:
    asked: dict[str, list[Item]] = {}
    columns = ("document_id", "set", "question", "answer1", "answer2")
    for _, row in _rows(folder / "qaps.csv", columns):
        if split and row["set"] != split:
            continue
        items = asked.setdefault(row["document_id"], [])
        references = tuple(dict.fromkeys(a.strip() for a in (row["answer1"], row["answer2"]) if a.strip()))
        name = f"{row['document_id'][:8]}-{len(items) + 1}"
        items.append(Item(name, Question(row["question"].strip()), references=references))
    found, missing = 0, ""
    for place, row in _rows(folder / "documents.csv", ("document_id", "set", "kind")):
        items = asked.pop(row["document_id"], [])
        if not items:
            continue
        story = _story(folder, row["document_id"])
        if story is None:
            missing = missing or f"{place}: the story {row['document_id']}.content"
            continue
        found += 1
        preset = _PRESETS.get(row["kind"], "book")
        title = (row.get("wiki_title") or "").strip()
        yield Case(title, tuple(items), _trimmed(story, row, title), preset, place)
    if not found:
        where = missing or f"{folder.name}: any story of the split {split or 'all'}"
        raise DatasetError(f"{where} is missing. Download the stories into tmp/ or stories/ beside documents.csv.")


def count_missing(path: Path, split: str) -> int:
    """Return how many stories with questions are missing; some of the published links no longer work."""
    folder = path if path.is_dir() else path.parent
    if path.name == "qa.json" or not (folder / "documents.csv").is_file():
        return 0
    questions = _rows(folder / "qaps.csv", ("document_id", "set"))
    asked = {row["document_id"] for _, row in questions if not split or row["set"] == split}
    listed = {row["document_id"] for _, row in _rows(folder / "documents.csv", ("document_id",))}
    return sum(_story(folder, name) is None for name in asked & listed)


def _story(folder: Path, document_id: str) -> Path | None:
    names = [folder / sub / f"{document_id}.content" for sub in _STORIES]
    return next((path for path in names if path.is_file()), None)


def _trimmed(path: Path, row: Mapping[str, Any], title: str) -> Source:
    """Return the story between the words that documents.csv gives as its start and end, where they are found."""
    data = base.file_source(path).data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    start = _find(text, str(row.get("story_start") or ""))
    end = _find(text, str(row.get("story_end") or ""), last=True)
    first = start.start() if start else 0
    last = end.end() if end and end.end() > first else len(text)
    piece = text[first:last]
    if first and base.is_markup(text):  # the cut part opened the page, and often a block around the text
        before = text[:first].lower()
        piece = f"<html><body>{'<pre>' if before.rfind('<pre') > before.rfind('</pre') else ''}{piece}"
    return base.text_source(piece, title)


def _find(text: str, words: str, *, last: bool = False) -> re.Match[str] | None:
    pieces = [re.escape(word) for word in words.split()]
    if not pieces:
        return None
    found = list(re.finditer(r"\s+".join(pieces), text, re.IGNORECASE))
    return (found[-1] if last else found[0]) if found else None


def _from_json(path: Path) -> Case:
    data = base.json_file(path)
    if not isinstance(data, dict):
        raise base.error_at(path.name, "an object with document and qas was expected.")
    about = base.require(data, "document", dict, path.name)
    items: list[Item] = []
    asked = base.objects(base.require(data, "qas", list, path.name), f"{path.name}, question", "question and answer1")
    for number, (here, row) in enumerate(asked, start=1):
        answers = [base.require(row, "answer1", str, here), str(row.get("answer2") or "")]
        references = tuple(dict.fromkeys(a.strip() for a in answers if a.strip()))
        question = Question(base.require(row, "question", str, here).strip())
        items.append(Item(f"{path.parent.name}-{number}", question, references=references))
    stories = sorted((p for p in path.parent.iterdir() if p.suffix in _KINDS), key=lambda p: _KINDS.index(p.suffix))
    if not stories:
        raise base.error_at(path.name, "there is no story (txt, epub, html or pdf) beside it.")
    title = str(about.get("wiki_title") or path.parent.name)
    preset = _PRESETS.get(str(about.get("kind")), "book")
    return Case(title, tuple(items), base.file_source(stories[0]), preset, path.name)
