"""The marks of a book as a file: Markdown for note-taking programs, JSON (W3C Web Annotation), or CSV."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import groupby

from readagent_core.companion.marks import PlacedMarks, placed_marks
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.export.annotations import from_json, to_json
from readagent_core.library import Library
from readagent_core.library.marks import BOOKMARK, Mark
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.text_files import csv_line, escape_markdown, slug
from readagent_core.words import collapse_whitespace

__all__ = ["NOTES_FORMATS", "export_notes", "from_json", "notes_file_name", "to_csv", "to_json", "to_markdown"]

NOTES_FORMATS = {"md": "text/markdown", "json": "application/json", "csv": "text/csv"}
PageOf = Callable[[int], int | None]  # the number of the page that has a paragraph; None if it is on no page
_CSV_HEADER = (
    "book", "author", "chapter", "page", "place in the source", "kind", "colour", "words", "note", "question", "answer",
    "answered by", "created", "changed", "found",
)  # fmt: skip


def notes_file_name(book: Book, format: str) -> str:
    """Return a name for the exported file, from the book's title."""
    return f"{slug(book.title)}-notes.{format}"


def export_notes(library: Library, book_id: str, format: str, *, memory: GistMemory | None = None) -> bytes:
    """Return all marks of the book as the bytes of a file, with the page numbers of ``memory`` where there is one.

    ``format``: a key of NOTES_FORMATS, else SettingsError.
    """
    if format not in NOTES_FORMATS:
        raise SettingsError(f"Unknown format {format!r} of notes. Choose one of: {', '.join(NOTES_FORMATS)}.")
    book = library.book(book_id)
    if format == "json":
        text = to_json(book, library.document(book_id), library.marks(book_id))
    else:
        document = memory.document if memory else library.document(book_id)
        marks = placed_marks(library, book_id, document)
        write = to_markdown if format == "md" else to_csv
        text = write(book, document, marks, page_of=pages_of(memory))
    return text.encode("utf-8", "replace")


def pages_of(memory: GistMemory | None) -> PageOf:
    """Return the function that gives the page of a paragraph of ``memory``'s document."""

    def page_of(paragraph: int) -> int | None:
        page = memory.page_at(paragraph) if memory else None
        return page.number if page else None

    return page_of


# --- Markdown -------------------------------------------------------------------------------------------


def to_markdown(book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf) -> str:
    """Return the marks as Markdown with YAML front matter, by chapter; those that were not found at the end."""
    front = {"title": book.title, "author": book.author, "source": document.id}
    lines = ["---", *(f"{name}: {_yaml(value)}" for name, value in front.items() if value)]
    lines += [f"exported: {datetime.now(UTC).date().isoformat()}", "---", "", f"# {_line(book.title)}"]
    for section, group in groupby(marks.placed, key=lambda mark: mark.section):
        lines += ["", f"## {_line(section)}"] if section else []
        for mark in group:
            lines += _markdown(mark, _where(mark, document, page_of))
    if marks.lost:
        lines += ["", "## Not found in this text"]
        for mark in marks.lost:
            lines += _markdown(mark, _line(mark.section))
    if not (marks.placed or marks.lost):
        lines += ["", "Nothing is marked in this book yet."]
    return "\n".join(lines) + "\n"


def _where(mark: Mark, document: Document, page_of: PageOf) -> str:
    """Return the page of a mark and its place in the source in words, as far as they are known."""
    number, place = page_of(mark.start.paragraph), _line(document.paragraphs[mark.start.paragraph].place)
    return f"Page {number} ({place} of the source)" if number and place else f"Page {number}" if number else place


def _markdown(mark: Mark, where: str) -> list[str]:
    """Return one mark as lines, an empty one before each block: quotation, place, note, answer."""
    words = _lines(mark.exact or (mark.suffix if mark.kind == BOOKMARK else ""))
    label = " · ".join(filter(None, ["Bookmark" if mark.kind == BOOKMARK else "", where, mark.colour]))
    blocks = [
        "\n>\n".join(f"> {line}" for line in words),
        f"*{label}*" if label else "",
        "\n\n".join(_lines(mark.note)),
    ]
    if mark.answer:
        quotes = dict.fromkeys((c["page"], c["quotation"]) for c in mark.answer["citations"] if c["quotation"])
        blocks += [
            f"**{_line(mark.answer['question'])}**",
            "\n\n".join(_lines(mark.answer["text"])),
            "\n".join(f"- {f'Page {page}: ' if page else ''}“{_line(quotation)}”" for page, quotation in quotes),
            f"*{_line(mark.answer['signature'])}*",
        ]
    return [line for block in blocks if block for line in ("", block)]


def _lines(text: str) -> list[str]:
    """Return the lines of ``text`` that are not empty, escaped."""
    return [line for line in map(_line, text.splitlines()) if line]


def _line(text: str) -> str:
    """Return ``text`` as one line in which Markdown finds no mark-up. '%%' would begin a comment in Obsidian."""
    return escape_markdown(_printable(text)).replace("%", "&#37;")


def _yaml(text: str) -> str:
    """Return ``text`` as a double-quoted YAML scalar, of which a JSON string of one line is one."""
    return json.dumps(_printable(text), ensure_ascii=False)


def _printable(text: str) -> str:
    """Return ``text`` in one line, without control characters."""
    return "".join(c for c in collapse_whitespace(text) if unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp"))


# --- CSV ------------------------------------------------------------------------------------------------


def to_csv(book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf) -> str:
    """Return the marks as CSV with a header, one a row; those that were not found at the end."""
    rows = [csv_line(_CSV_HEADER)]
    for mark, found in [(mark, True) for mark in marks.placed] + [(mark, False) for mark in marks.lost]:
        paragraph = mark.start.paragraph
        page = page_of(paragraph) if found else None
        source = document.paragraphs[paragraph].place if found else ""
        answer = mark.answer or {"question": "", "text": "", "signature": ""}
        place = (book.title, book.author, mark.section, page, source, mark.kind, mark.colour)
        texts = (mark.exact, mark.note, answer["question"], answer["text"], answer["signature"])
        rows.append(csv_line((*place, *texts, mark.created, mark.changed, "yes" if found else "no")))
    return "".join(rows)
