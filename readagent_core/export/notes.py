"""The marks of a book as a file: Markdown for note-taking programs, JSON (W3C Web Annotation), CSV, Readwise's CSV."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from readagent_core.companion.kept_answers import kept_answer, kept_blocks, quoted_words, words_beside
from readagent_core.companion.marks import PlacedMarks, placed_marks
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.export.annotations import from_json, to_json
from readagent_core.export.notes_template import DEFAULT, render
from readagent_core.gisting.job import memory_of
from readagent_core.library import Library
from readagent_core.library.marks import BOOKMARK, Mark
from readagent_core.library.reading_log import Finished
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.text_files import UTF_8_MARK, block_quote, csv_line, emphasised_markdown, slug, without_emphasis
from readagent_core.words import collapse_whitespace
from readagent_core.workspace import Workspace

__all__ = ["NOTES_FORMATS", "export_notes", "from_json", "notes_file_name", "to_csv", "to_json", "to_markdown"]

NOTES_FORMATS = {"md": "text/markdown", "json": "application/json", "csv": "text/csv", "readwise": "text/csv"}
PageOf = Callable[[int], int | None]  # the number of the page that has a paragraph; None if it is on no page
_READWISE = ("Highlight", "Title", "Author", "URL", "Note", "Location", "Date")  # as its import of CSV names them
_CSV_HEADER = (
    "book", "author", "chapter", "page", "place in the source", "kind", "colour", "words", "note", "question", "answer",
    "answered by", "created", "changed", "found",
)  # fmt: skip
_CSV_FIRST = UTF_8_MARK + csv_line(_CSV_HEADER)


def notes_file_name(book: Book, format: str) -> str:
    """Return a name for the exported file, from the book's title."""
    return f"{slug(book.title)}-{_file_end(format)}"


def _file_end(format: str) -> str:
    return "readwise.csv" if format == "readwise" else f"notes.{format}"


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
        text = _WRITERS[format](book, document, marks, page_of=pages_of(memory))
    return text.encode("utf-8", "replace")


def export_all_notes(workspace: Workspace, format: str) -> bytes:
    """Return the marks of all books, those of the book opened last first: 'md', 'csv' or 'readwise'."""
    library = workspace.library
    books = {mark.book_id: library.book(mark.book_id) for mark in library.all_marks()}
    files = [export_notes(library, one.id, format, memory=memory_of(workspace, one)) for one in books.values()]
    if format == "md":  # a file has one front matter; another one would be shown as a heading
        front, end = f'---\ntitle: "Notes of all books"\n{_exported()}', b"\n---\n\n"
        return end.join([front.encode(), b"\n".join(file.partition(end)[2] for file in files)])
    header = (csv_line(_READWISE) if format == "readwise" else _CSV_FIRST).encode()
    return header + b"".join(file.removeprefix(header) for file in files)


def pages_of(memory: GistMemory | None) -> PageOf:
    """Return the function that gives the page of a paragraph of ``memory``'s document."""

    def page_of(paragraph: int) -> int | None:
        page = memory.page_at(paragraph) if memory else None
        return page.number if page else None

    return page_of


# --- Markdown -------------------------------------------------------------------------------------------


def to_markdown(book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf) -> str:
    """Return the marks as Markdown with YAML front matter, by chapter; those that were not found at the end."""
    front = {"title": book.title, "author": book.author, "source": book.source_name}
    lines = [*(f"{name}: {yaml_text(value)}" for name, value in front.items() if value)]
    lines += [_exported()]
    (body,) = render(DEFAULT, [template_values(book, document, marks, page_of=page_of)])
    return "\n".join(["---", *lines, "---", "", body])


def _exported() -> str:
    return f"exported: {datetime.now(UTC).date().isoformat()}"


def template_values(
    book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf, finished: Finished | None = None
) -> dict[str, Any]:
    """Return what a template is given of a book whose marks are placed in ``document``."""
    chapters = groupby(marks.placed, key=lambda mark: mark.section)
    return {
        "title": _line(book.title),
        "author": _line(book.author),
        "language": book.language,
        "finished": finished.day.isoformat() if finished else "",
        "stars": finished.stars if finished else 0,
        "remark": _line(finished.remark) if finished else "",
        "chapters": [
            {"title": _line(title), "marks": [_mark(mark, document, page_of) for mark in group]}
            for title, group in chapters
        ],
        "lost": [_mark(mark) for mark in marks.lost],
    }


def _mark(mark: Mark, document: Document | None = None, page_of: PageOf = lambda paragraph: None) -> dict[str, Any]:
    """Return the values of a mark; ``document``: the text that it is placed in."""
    page, place = page_of(mark.start.paragraph), ""
    if document is not None:
        place = _line(document.paragraphs[mark.start.paragraph].place)
    where = f"Page {page} ({place} of the source)" if page and place else f"Page {page}" if page else place
    answer = mark.answer or {"question": "", "text": "", "signature": "", "citations": (), "pieces": ()}
    words = quoted_words(mark)
    book_format = document.format if document is not None else ""
    said = [(copied, _lines(block, book_format or "markdown")) for copied, block in kept_blocks(answer)]
    told = collapse_whitespace(f"{kept_answer(answer)}\n{words}")  # a quotation that is in it is not repeated
    quotations = dict.fromkeys(
        (c["page"], c["quotation"])
        for c in answer["citations"]
        if c["quotation"] and collapse_whitespace(c["quotation"]) not in told
    )
    if mark.exact and any(collapse_whitespace(mark.exact) in collapse_whitespace(cited) for _, cited in quotations):
        words = ""  # they stand there, with their page
    return {
        "kind": mark.kind,
        "colour": mark.colour,
        "chapter": _line(mark.section),
        "page": page or 0,
        "place": place,
        "where": where if document is not None else _line(mark.section),
        "words": _lines(words, book_format),
        "note": _lines(mark.note),
        "question": _line(answer["question"]),
        "answer": "\n\n".join(block_quote(text) if copied else text for copied, text in said),
        "quotations": [{"page": cited or 0, "words": _line(words, book_format)} for cited, words in quotations],
        "signature": _line(answer["signature"]),
        "created": mark.created[:10],
        "changed": mark.changed[:10],
    }


def _lines(text: str, book_format: str = "") -> str:
    """Return the lines of ``text`` that are not empty, escaped, each a paragraph, with the book's italics."""
    return "\n\n".join(filter(None, (_line(line, book_format) for line in text.splitlines())))


def _line(text: str, book_format: str = "") -> str:
    """Return ``text`` as one line in which Markdown finds no other mark-up."""
    return emphasised_markdown(_printable(text), book_format)


def yaml_text(text: str) -> str:
    """Return ``text`` as a double-quoted YAML scalar, of which a JSON string of one line is one."""
    return json.dumps(_printable(text), ensure_ascii=False)


def _printable(text: str) -> str:
    """Return ``text`` in one line, without control characters."""
    return "".join(c for c in collapse_whitespace(text) if unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp"))


# --- CSV ------------------------------------------------------------------------------------------------


def _words(mark: Mark) -> str:
    """The words of a mark as they are in the book; of a bookmark, which nobody marked, as ``quoted_words`` has them."""
    return quoted_words(mark) if mark.kind == BOOKMARK else words_beside(mark)


def to_csv(book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf) -> str:
    """Return the marks as CSV with a header, one a row; those that were not found at the end."""
    rows = [_CSV_FIRST]
    for mark, found in [(mark, True) for mark in marks.placed] + [(mark, False) for mark in marks.lost]:
        paragraph = mark.start.paragraph
        page = page_of(paragraph) if found else None
        source = document.paragraphs[paragraph].place if found else ""
        answer = mark.answer or {"question": "", "text": "", "signature": "", "pieces": ()}
        place = (book.title, book.author, mark.section, page, source, mark.kind, mark.colour)
        texts = (
            without_emphasis(_words(mark), document.format),
            mark.note,
            answer["question"],
            kept_answer(answer),
            answer["signature"],
        )
        rows.append(csv_line((*place, *texts, mark.created, mark.changed, "yes" if found else "no")))
    return "".join(rows)


def to_readwise(book: Book, document: Document, marks: PlacedMarks, *, page_of: PageOf) -> str:
    """Return the marks as a CSV file for Readwise. The question stands for a kept answer without marked words."""
    rows = [csv_line(_READWISE)]
    for mark in (*marks.placed, *marks.lost):
        asked, question = [], ""
        if answer := mark.answer:
            asked, question = (
                [f"{answer['question']}\n{kept_answer(answer)}\n({answer['signature']})"],
                answer["question"],
            )
        words = without_emphasis(_words(mark) if mark.kind == BOOKMARK else mark.exact or question, document.format)
        if not words.strip() or (mark.kind == BOOKMARK and not mark.note):
            continue  # nobody highlighted it
        note = "\n\n".join(filter(None, [mark.note, *asked]))
        page = page_of(mark.start.paragraph) if mark in marks.placed else None
        made = mark.created[:19].replace("T", " ")
        rows.append(csv_line((words.strip(), book.title, book.author, "", note, page, made)))
    return "".join(rows)


_WRITERS = {"md": to_markdown, "csv": to_csv, "readwise": to_readwise}
