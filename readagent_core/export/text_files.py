"""What text formats need: names of files, CSV lines that hold no formula, Markdown without mark-up of its own."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

_FORMULA = re.compile(r"^[=+\-@\t\r]")
_INLINE = re.compile(r"([\\`*_\[\]<>|~$])")
_LINE_START = re.compile(r"^(\s*\d*)([#+\-=!]|(?<=\d)[.)])", re.MULTILINE)


def slug(title: str) -> str:
    """Return a title as part of a file's name: lower-case words joined by '-', 60 characters at most, never empty."""
    return re.sub(r"[^\w]+", "-", title, flags=re.UNICODE).strip("-_").lower()[:60] or "book"


def safe_file_name(name: str) -> str:
    """Return ``name`` with '-' for every character that some system does not allow; '' where nothing is left."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")


def csv_line(values: Sequence[Any]) -> str:
    """Return one row of a CSV file, in which a spreadsheet finds no formula. None is an empty cell."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def escape_markdown(text: str) -> str:
    """Return ``text`` escaped so that Markdown shows its characters: no heading, link, picture, table or formula."""
    return _LINE_START.sub(r"\1\\\2", _INLINE.sub(r"\\\1", text).replace("&", "&amp;"))
