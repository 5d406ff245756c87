"""What a dataset is to an experiment: cases, each a document with its questions, read one after the other.

Every error names the file and the line, and says what was expected there. Knows nothing of methods or scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from readagent_core.answering.base import LETTERS, Question
from readagent_core.document import Document
from readagent_core.errors import DatasetError, DocumentError
from readagent_core.loaders import DEFAULT, load
from readagent_core.quick_json import from_json
from readagent_core.regular_files import read_lines, read_regular

MOST, _MOST_IN_LINE = 8 << 30, 1 << 30  # bytes of a dataset's file; LongBench v2 is 465 MB in one line
STORED = ".document.json"  # the name of a document as the library stores it ends so


@dataclass(frozen=True)
class WebStep:
    """A step on a web page and the right action. ``targets``: ids of the elements that count as right, () if lost."""

    task: str
    previous: tuple[str, ...]
    targets: tuple[str, ...]
    operation: str
    value: str = ""


@dataclass(frozen=True)
class Item:
    """One question of a dataset. ``gold``: index of the right option, None for a free-form question.

    ``references``: answers that people wrote, for a free-form question. ``hard``: whether it is in the dataset's hard
    subset; None where there is none. ``number``: its index in the case of the whole dataset.
    """

    id: str
    question: Question
    gold: int | None = None
    references: tuple[str, ...] = ()
    web_step: WebStep | None = None  # then the answer is an action
    hard: bool | None = None
    number: int = 0


@dataclass(frozen=True)
class Case:
    """A document and its questions. ``preset``: the reading preset the papers use for its kind.

    The document is parsed at its first use, so that a case with all its answers is never parsed. ``place``: file and
    line, for error messages. ``number``: its index in the whole dataset.
    """

    title: str
    items: tuple[Item, ...]
    source: Source
    preset: str = "article"
    place: str = ""
    number: int = 0

    @cached_property
    def document(self) -> Document:
        """The document as the loaders read it. Raises DatasetError, naming file and line."""
        try:
            if self.source.name.endswith(STORED):
                document = Document.from_dict(from_json(self.source.data))
            else:
                document = load(self.source.data, self.source.name)
        except (DocumentError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DatasetError(f"{self.place}: the text cannot be read. {error}") from None
        return replace(document, title=self.title or document.title)


@dataclass(frozen=True)
class Source:
    """The bytes of a document, and a file name that shows the loaders its kind."""

    data: bytes = field(repr=False)
    name: str


def file_source(path: Path) -> Source:
    """Return the document in a file. Raises DatasetError where it cannot be read."""
    try:
        return Source(read_regular(path, most=DEFAULT.file), path.name)
    except OSError as error:
        raise error_at(str(path), f"cannot be read ({error.strerror}).") from None


def text_source(text: str, title: str = "") -> Source:
    """Return a text for the loaders, as HTML or plain text by its first lines."""
    kind = "html" if is_markup(text) else "txt"
    name = "".join(c if c.isalnum() or c in " -_" else " " for c in title).strip() or "text"
    return Source(text.encode("utf-8", "replace"), f"{name[:80]}.{kind}")


def text_case(text: str, items: Sequence[Item], *, preset: str, place: str) -> Case:
    """Return the case of a text, whose title is its first line. Raises DatasetError where it is empty."""
    if not text.strip():
        raise error_at(place, "the text is empty.")
    title = text.strip().splitlines()[0].strip()[:80]
    return Case(title, tuple(items), text_source(text, title), preset, place)


def is_markup(text: str) -> bool:
    """Return whether ``text`` begins like an HTML page."""
    head = text[:2000].lower()
    return any(mark in head for mark in ("<html", "<!doctype html", "<body", "<pre>"))


def error_at(place: str, what: str) -> DatasetError:
    """Return the error for something that cannot be used: where it is, and what is wrong with it."""
    return DatasetError(f"{place}: {what}")


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every JSON object of a file of lines with its place ('dev.jsonl, line 7'). Empty lines are skipped."""
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line.strip())
        except ValueError as error:
            raise error_at(place, f"not JSON ({json_problem(error)}). Every line must hold one JSON object.") from None
        if not isinstance(row, dict):
            raise error_at(place, f"a JSON object was expected, not {type(row).__name__}.")
        yield place, row


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file. Raises DatasetError, naming a line that is not UTF-8."""
    try:
        for number, line in enumerate(read_lines(path, most=MOST, most_in_line=_MOST_IN_LINE), start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise error_at(f"{path.name}, line {number}", "not UTF-8 text. Save the file as UTF-8.") from None
    except OSError as error:
        raise error_at(str(path), f"cannot be read ({error.strerror}).") from None


def json_file(path: Path) -> Any:
    """Return the one JSON value of a file. Raises DatasetError, naming the line."""
    try:
        return json.loads("".join(text_lines(path)))
    except ValueError as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise error_at(f"{path.name}{line}", f"not JSON ({json_problem(error)}).") from None


def json_problem(error: Exception) -> str:
    """Return what the JSON parser met, and where in the line: 'unterminated string at column 12'."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    what = error.msg[:1].lower() + error.msg[1:]
    return f"{what.removesuffix(' starting at').removesuffix(' at')} at column {error.colno}"


def field_names(row: Mapping[str, Any]) -> str:
    """Return the names of a row's fields, twelve at most."""
    names = [str(name) for name in row]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"


def require(row: Mapping[str, Any], name: str, kind: type | tuple[type, ...], place: str) -> Any:
    """Return field ``name`` of ``row``, which must be of ``kind``. Raises DatasetError, naming field and place."""
    if name not in row:
        raise error_at(place, f"the field '{name}' is missing (there are: {field_names(row)}).")
    value = row[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(_NAMES.get(k, k.__name__) for k in kinds)
        raise error_at(place, f"the field '{name}' must be {wanted}, not {_NAMES.get(type(value), 'something else')}.")
    return value


_NAMES = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "an object",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def objects(values: Any, place: str, fields: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list with their places ('dev.json, question 7'). Raises DatasetError for anything else.

    ``place``: where the list is and what it holds. ``fields``: the fields an object must have, for the error.
    """
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise error_at(f"{place} {number}", f"an object with {fields} was expected.")
        yield f"{place} {number}", value


def rows_of(path: Path, what: str, fields: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file with their places: one on each line, or those of the one list in a .json file.

    ``what``: what an object is, and ``fields``: the fields that it must have, for errors.
    """
    if path.suffix != ".json":
        return json_lines(path)
    rows = json_file(path)
    return objects(rows if isinstance(rows, list) else [rows], f"{path.name}, {what}", fields)


def known_answers(row: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
    """Return the known answers in field ``name``, each once. Raises DatasetError where there is none."""
    found = text_list(row.get(name), f"'{name}'", place)
    if not found:
        raise error_at(place, "there is no answer to compare with.")
    return tuple(dict.fromkeys(found))


def text_list(value: Any, what: str, place: str) -> tuple[str, ...]:
    """Return a text or a list of texts as a tuple, trimmed and without empty ones. Raises DatasetError."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise error_at(place, f"{what} must be a list of texts.")
    return tuple(v.strip() for v in value if v.strip())


def find_option(value: Any, options: Sequence[str], place: str, *, first: int) -> int:
    """Return the index of the right option, given as a number counted from ``first``, a letter, or its own words."""
    index: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        index = value - first
    elif isinstance(value, str):
        word = value.strip()
        letter = word.strip("().:").upper()
        if word.isdigit():
            index = int(word) - first
        elif len(letter) == 1 and letter in LETTERS:
            index = LETTERS.index(letter)
        else:
            same = [i for i, option in enumerate(options) if normalise(option) == normalise(word)]
            index = same[0] if same else None
    if index is None or not 0 <= index < len(options):
        raise error_at(place, f"the right answer {value!r} is none of the {len(options)} options.")
    return index


def normalise(text: str) -> str:
    return " ".join(text.split()).casefold()


def join_neighbours(cases: Iterator[Case]) -> Iterator[Case]:
    """Yield ``cases`` with neighbours over one document joined; items with one id become one with all references."""
    for _, neighbours in groupby(cases, key=lambda case: case.source):
        first, *others = neighbours
        items: dict[str, Item] = {}
        for item in (item for case in (first, *others) for item in case.items):
            known = items.setdefault(item.id, item)
            items[item.id] = replace(known, references=tuple(dict.fromkeys((*known.references, *item.references))))
        yield replace(first, items=tuple(items.values()))
