"""The commands over a folder of books: what would be opened, and the import into the library."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import document_json, print_json, report_errors, say, say_aside, wait_for
from readagent_core.cli.shared import open_workspace
from readagent_core.document import Document, NoticeKind
from readagent_core.errors import DocumentError
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.incoming.folders import FolderReport, ImportedBook
    from readagent_core.jobs import Snapshot
    from readagent_core.library.records import Book

_KINDS = {
    NoticeKind.DOUBTFUL: "To check",
    NoticeKind.LEFT_OUT: "Left out",
    NoticeKind.KEPT: "Kept",
    NoticeKind.SOURCE: "Note",
}
READING_SPEED = 240  # words a minute; adults read 238 (non-fiction) to 260 (fiction), Brysbaert 2019


def title_line(work: Document | Book) -> str:
    """Returns 'Fog, by A. Reed'."""
    return work.title + (f", by {work.author}" if work.author else "")


def inspection_json(document: Document) -> dict[str, Any]:
    """Returns what `inspect --json` prints of a document."""
    more = {"right_to_left": document.right_to_left, "has_cover": document.cover is not None}
    warnings = [{**asdict(notice), "kind": notice.kind.value} for notice in document.warnings]
    return {**document_json(document), "minutes": minutes_to_read(document), **more, "warnings": warnings}


def inspection_line(document: Document) -> str:
    """Returns format, language and size of a document in one line."""
    return (
        f"{document.format}, language {document.language}: {count_of(document.words, 'word')} in "
        f"{count_of(len(document.paragraphs), 'paragraph')} and {count_of(len(document.sections), 'section')}, "
        f"about {count_of(minutes_to_read(document), 'minute')} to read"
    )


def notice_lines(document: Document) -> list[str]:
    """Return the notices of the import, each with its kind: doubts, what was left out, what was kept."""
    kinds = list(NoticeKind)
    ordered = sorted(document.warnings, key=lambda notice: kinds.index(notice.kind))
    return [f"{_KINDS[notice.kind]}: {notice.message}" for notice in ordered]


def minutes_to_read(document: Document) -> int:
    return max(1, round(document.words / READING_SPEED))


def inspect_folder(folder: Path, *, as_json: bool, password: str) -> None:
    """Prints a report of each book in ``folder``. A file that cannot be opened is reported, and the next is opened."""
    from readagent_core.api import open_document
    from readagent_core.incoming.folders import find_books

    found = find_books(folder)
    reports: list[dict[str, Any]] = []
    for number, item in enumerate(found, start=1):
        if as_json:
            say_aside(f"{number} of {len(found)}: {item.name}")
        try:
            document = open_document(item.path, password=password)
        except DocumentError as error:
            reports.append({"file": item.name, "error": {"kind": type(error).__name__, "message": str(error)}})
            lines = [f"Not opened: {error}"]
        else:
            reports.append({"file": item.name, **inspection_json(document)})
            lines = [title_line(document), inspection_line(document), *notice_lines(document)]
        if not as_json:
            say(item.name)
            for line in lines:
                say(f"  {line}")
    refused = sum("error" in report for report in reports)
    if as_json:
        print_json({"files": reports, "opened": len(found) - refused, "refused": refused})
    else:
        say(f"{count_of(len(found), 'file')}: {len(found) - refused:,} can be opened, {refused:,} cannot")


def import_folder(
    folder: Annotated[Path, typer.Argument(help="A folder of books, or a Calibre library.", show_default=False)],
    json: options.Json = False,
) -> None:
    """Add every book of a folder to the library; with Calibre's titles, authors, series, tags and covers."""
    with report_errors(as_json=json):
        from readagent_core.incoming.folders import start_import

        job = start_import(open_workspace(), folder)
        wait_for(job, _progress_line)
        report: FolderReport = job.snapshot.value
        if json:
            print_json(_report_json(report))
            return
        for item in report.imported:
            say(f"Imported: {item.label}")
        for item in report.present:
            say(f"Already there: {item.label}")
        for refused in report.refused:
            say(f"Not imported: {refused.name}: {refused.reason}")
        say(report.summary.capitalize())
        if report.others:
            say(f"Other formats of the same books, left out: {count_of(report.others, 'file')}")


def _progress_line(snapshot: Snapshot) -> str:
    if snapshot.value is None:
        return "Looking for books"
    current = snapshot.value.current
    return f"Importing {snapshot.done:,.0f} of {snapshot.total:,.0f}" + (f": {current}" if current else "")


def _report_json(report: FolderReport) -> dict[str, Any]:
    def books(items: tuple[ImportedBook, ...]) -> list[dict[str, Any]]:
        return [
            {
                "id": item.book.id,
                "title": item.book.title,
                "author": item.book.author,
                "file": item.name,
                "series": item.series,
                "position": item.position,
                "tags": list(item.tags),
            }
            for item in items
        ]

    return {
        "imported": books(report.imported),
        "present": books(report.present),
        "refused": [{"name": one.name, "reason": one.reason, "kind": one.kind.__name__} for one in report.refused],
        "other_formats": report.others,
    }
