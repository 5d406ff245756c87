"""Tables of text cells: the rows of CSV and of a Markdown table, each with its line, and the cells of the latter."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from readagent_core.text_files import is_guarded

Row = tuple[int, list[str] | str]  # the line a row begins on, and its cells, or what is wrong with it and what to do
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)


def csv_rows(text: str) -> Iterator[Row]:
    """Yield the rows of CSV; the separator is the most frequent one of the first line.

    After a damaged row reading continues on the next line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=head.count)
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        reader = csv.reader((f"{lines[n]}\n" for n in range(at, len(lines))), delimiter=separator, strict=True)
        try:
            cells = next(reader)
        except csv.Error:
            yield at + 1, 'a quotation mark is not closed, or stands inside a cell. Write it twice: "".'
            at += 1
            continue
        yield at + 1, [cell[1:] if is_guarded(cell) else cell for cell in cells]
        at += reader.line_num


def markdown_rows(text: str) -> Iterator[Row]:
    """Yield the rows of the first Markdown table, without the line below its header."""
    header = 0  # its line
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line.startswith("|"):
            if header and not line:
                return
            if header:
                yield number, "this is not a row of the table. Begin it with | and keep it on one line."
            continue
        if header and number == header + 1 and re.fullmatch(r"[|:\-\s]+", line):
            continue
        header = header or number
        inside = line[1:-1] if re.search(r"(?<!\\)(?:\\\\)*\|$", line[1:]) else line[1:]
        cells = re.findall(r"((?:\\.|[^|\\]|\\$)*)(?:\||$)", inside)[:-1] or [""]
        yield number, [_unescape(cell) for cell in cells]


def markdown_cell(text: str) -> str:
    """Return the text as a cell, from which ``markdown_rows`` reads the same text."""
    return re.sub(r"([\\|<])", r"\\\1", text).replace("\n", "<br>")


def _unescape(cell: str) -> str:
    pieces = re.split(r"(\\[!-/:-@\[-`{-~])", cell.strip())
    return "".join(piece[1:] if at % 2 else _BREAK.sub("\n", piece) for at, piece in enumerate(pieces))
