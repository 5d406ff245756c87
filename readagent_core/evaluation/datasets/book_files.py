"""Datasets whose rows name books and whose texts are files of their own beside the rows: LiteraryQA and NovelHopQA.

LiteraryQA: ``gutenberg_id``, ``title``, ``split`` and ``qas[{question, answers}]`` for a book a line; its text is in
the row (``text``, which its authors' script adds) or in a file that is named by the Project Gutenberg number.
NovelHopQA: ``book`` (a title), ``context``, ``question`` and ``answer``, a question a line; the document is the book's
file where there is a folder of books, else the context. Books without a text are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.errors import DatasetError
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item, Source

_FOLDERS = ("texts", "books")
_KINDS = (".txt", ".epub", ".html", ".htm", ".md", ".pdf")
_NAMED = re.compile(r"^(?:pg)?(\d+)(?:-\w+)?$")  # '1342.txt', '1342-0.txt', 'pg1342-h.html'


def is_literaryqa(row: Mapping[str, Any]) -> bool:
    return "qas" in row and "gutenberg_id" in row


def is_novelhopqa(row: Mapping[str, Any]) -> bool:
    return {"book", "context", "question", "answer"} <= row.keys()


def literaryqa_cases(path: Path, *, split: str = "") -> Iterator[Case]:
    """Yield the books of the ``split`` ('' for all) whose text is there. Raises DatasetError where none is."""
    files, first_missing, found = _book_files(path), "", 0
    for place, row in _literaryqa_rows(path, split):
        source = _literaryqa_text(row, files)
        if source is None:
            first_missing = first_missing or f"{place}: the text {row['gutenberg_id']}.txt"
            continue
        found += 1
        yield Case(str(row.get("title") or ""), tuple(_literaryqa_items(row, place)), source, "book", place)
    if not found:
        where = first_missing or f"{path.name}: any book of the split {split}"
        raise DatasetError(
            f"{where} is missing. Put the books into texts/ beside {path.name}, named by their Project Gutenberg "
            "numbers (1342.txt), or use the file that the authors' download script writes."
        )


def novelhopqa_cases(path: Path) -> Iterator[Case]:
    """Yield the questions, neighbours about one text joined. Raises DatasetError where no book is there."""
    files, has_books = _book_files(path), _has_folder(path)
    first_missing, found = "", 0

    def read() -> Iterator[Case]:
        nonlocal first_missing, found
        for number, (place, row) in enumerate(base.json_lines(path), start=1):
            title = base.require(row, "book", str, place).strip()
            references = base.known_answers(row, "answer", place)
            context = base.require(row, "context", str, place)
            file = files.get(base.normalise(title))
            if has_books and file is None:
                first_missing = first_missing or f"{place}: the book {title!r}"
                continue
            if not has_books and not context.strip():
                raise base.error_at(place, "the context is empty.")
            found += 1
            question = Question(base.require(row, "question", str, place).strip())
            source = base.file_source(file) if file else base.text_source(context, title)
            yield Case(title, (Item(f"{path.stem}-{number}", question, references=references),), source, "book", place)

    yield from base.join_neighbours(read())
    if not found:
        raise DatasetError(f"{first_missing or path.name} is missing in books/. Name each file as 'book' names it.")


def count_missing(path: Path, kind: str, split: str) -> int:
    """Return how many books have questions but no text."""
    files = _book_files(path)
    if kind == "literaryqa":
        return sum(_literaryqa_text(row, files) is None for _, row in _literaryqa_rows(path, split))
    titles = {base.normalise(str(row.get("book"))) for _, row in base.json_lines(path)}
    return sum(title not in files for title in titles) if _has_folder(path) else 0


def _literaryqa_rows(path: Path, split: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, row in base.json_lines(path):
        base.require(row, "gutenberg_id", (str, int), place)
        if not split or row.get("split") == split:
            yield place, row


def _literaryqa_text(row: Mapping[str, Any], files: Mapping[str, Path]) -> Source | None:
    text = row.get("text")
    if isinstance(text, str) and text.strip():
        return base.text_source(text, str(row.get("title") or ""))
    file = files.get(str(row["gutenberg_id"]))
    return base.file_source(file) if file else None


def _literaryqa_items(row: Mapping[str, Any], place: str) -> Iterator[Item]:
    rows = base.objects(base.require(row, "qas", list, place), f"{place}, question", "question and answers")
    for number, (here, asked) in enumerate(rows, start=1):
        question = Question(base.require(asked, "question", str, here).strip())
        references = base.known_answers(asked, "answers", here)
        yield Item(f"{row['gutenberg_id']}-{number}", question, references=references)


def _has_folder(path: Path) -> bool:
    return any((path.parent / name).is_dir() for name in _FOLDERS)


def _book_files(path: Path) -> dict[str, Path]:
    """Return the files in ``texts`` and ``books`` beside ``path``, by their names and Project Gutenberg numbers."""
    found: dict[str, Path] = {}
    for folder in (path.parent / name for name in _FOLDERS):
        files = [file for file in folder.iterdir() if file.suffix in _KINDS] if folder.is_dir() else []
        for file in sorted(files, key=lambda file: (_KINDS.index(file.suffix), file.name)):
            number = _NAMED.match(file.stem)
            found.setdefault(number.group(1) if number else base.normalise(file.stem), file)
    return found
