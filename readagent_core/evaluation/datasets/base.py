"""What a dataset is to an experiment: cases, each a document with its questions, read one after the other.

Readers stream: a case is made when it is asked for and forgotten when the next one is. Every complaint names
the file and the line, and says what was expected there. Knows nothing of methods or scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import DatasetError, DocumentError
from readagent_core.loaders import load
from readagent_core.methods.base import LETTERS, Question


@dataclass(frozen=True)
class Item:
    """One question of a dataset. ``gold``: index of the right option, None for a free-form question.

    ``references``: answers people wrote (free-form). ``hard``: in the dataset's hard subset; None where it
    has none. ``evidence``: passages the answer rests on, where the dataset gives them.
    """

    id: str
    question: Question
    gold: int | None = None
    references: tuple[str, ...] = ()
    hard: bool | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A document and what is asked about it. ``preset``: the reading preset the papers use for its kind.

    The document is made when it is first needed: an experiment that has all answers of a case never parses it.
    ``place``: file and line, for complaints.
    """

    title: str
    items: tuple[Item, ...]
    source: Source
    preset: str = "article"
    place: str = ""

    @cached_property
    def document(self) -> Document:
        """The text, as the loaders make it. Raises DatasetError, naming file and line."""
        try:
            document = load(self.source.data, self.source.name)
        except DocumentError as error:
            raise DatasetError(f"{self.place}: the text cannot be read. {error}") from None
        return replace(document, title=self.title or document.title)


@dataclass(frozen=True)
class Source:
    """Bytes of a document and a file name that tells the loaders its kind."""

    data: bytes = field(repr=False)
    name: str


def text_source(text: str, title: str = "") -> Source:
    """A text of a dataset for the loaders: markup is told from plain text by its first lines."""
    kind = "html" if is_markup(text) else "txt"
    name = "".join(c if c.isalnum() or c in " -_" else " " for c in title).strip() or "text"
    return Source(text.encode("utf-8", "replace"), f"{name[:80]}.{kind}")


def is_markup(text: str) -> bool:
    head = text[:2000].lower()
    return any(mark in head for mark in ("<html", "<!doctype html", "<body", "<pre>"))


def complain(place: str, what: str) -> DatasetError:
    """The error for a line that cannot be used: where it stands, and what is wrong with it."""
    return DatasetError(f"{place}: {what}")


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every JSON object of a file of lines, with its place ('dev.jsonl, line 7'). Empty lines are left out."""
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line.strip())
        except ValueError as error:
            raise complain(place, f"not JSON ({_fault(error)}). Every line must hold one JSON object.") from None
        if not isinstance(row, dict):
            raise complain(place, f"a JSON object was expected, not {type(row).__name__}.")
        yield place, row


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a UTF-8 file, one at a time. Raises DatasetError naming the line that is not UTF-8."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise complain(f"{path.name}, line {number}", "not UTF-8 text. Save the file as UTF-8.") from None
    except OSError as error:
        raise complain(str(path), f"cannot be read ({error.strerror}).") from None


def json_file(path: Path) -> Any:
    """The one JSON value of a file. Raises DatasetError, naming the line."""
    try:
        return json.loads("".join(text_lines(path)))
    except ValueError as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise complain(f"{path.name}{line}", f"not JSON ({_fault(error)}).") from None


def _fault(error: ValueError) -> str:
    """'unterminated string at column 12': what the JSON reader met, and where in its line."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    what = error.msg[:1].lower() + error.msg[1:]
    return f"{what.removesuffix(' starting at').removesuffix(' at')} at column {error.colno}"


def named(row: Mapping[str, Any]) -> str:
    """The names of a row's fields, the first dozen."""
    names = [str(name) for name in row]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"


def need(row: Mapping[str, Any], name: str, kind: type | tuple[type, ...], place: str) -> Any:
    """Field ``name`` of ``row``, which must be of ``kind``. Raises DatasetError naming field and place."""
    if name not in row:
        raise complain(place, f"the field '{name}' is missing (there are: {named(row)}).")
    value = row[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(_NAMES.get(k, k.__name__) for k in kinds)
        raise complain(place, f"the field '{name}' must be {wanted}, not {_NAMES.get(type(value), 'something else')}.")
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


def strings(value: Any, what: str, place: str) -> tuple[str, ...]:
    """A list of non-empty texts, trimmed."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise complain(place, f"{what} must be a list of texts.")
    return tuple(v.strip() for v in value if v.strip())


def gold_of(value: Any, options: Sequence[str], place: str, *, first: int) -> int:
    """Index of the right option from a number (counted from ``first``), a letter or the option's own words."""
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
            same = [i for i, option in enumerate(options) if squeezed(option) == squeezed(word)]
            index = same[0] if same else None
    if index is None or not 0 <= index < len(options):
        raise complain(place, f"the right answer {value!r} is none of the {len(options)} options.")
    return index


def squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()
