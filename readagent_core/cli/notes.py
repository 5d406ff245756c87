"""The command ``notes``: the marks of a book as a file, and marks taken in from one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import print_json, report_errors, say_aside
from readagent_core.cli.shared import check_format, open_book, open_workspace, write_file
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.companion.marks import ImportedMarks
    from readagent_core.library.records import Book
    from readagent_core.memory import GistMemory
    from readagent_core.workspace import Workspace


def notes(
    file: Annotated[str, typer.Argument(help="A book; none with --folder.", show_default=False)] = "",
    format: Annotated[str, typer.Option(help="md, json (W3C Web Annotation), csv or readwise (CSV).")] = "md",
    folder: Annotated[
        Path | None,
        typer.Option(help="Bring the notes of all books up to date here, a file each.", show_default=False),
    ] = None,
    take_in: Annotated[
        Path | None, typer.Option("--import", help="First add the notes of this JSON file.", show_default=False)
    ] = None,
    output: options.Output = None,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """The highlights, notes, bookmarks and stored answers that were made in a book."""
    with report_errors(as_json=json):
        from readagent_core.companion.marks import ImportedMarks, import_marks
        from readagent_core.export.notes import NOTES_FORMATS, export_notes, from_json
        from readagent_core.gisting.job import memory_of
        from readagent_core.incoming.opening import read_file

        check_format(format, NOTES_FORMATS)
        if folder is not None and not file:
            _write_folder(folder, as_json=json)
            return
        if not file or folder is not None:
            raise typer.BadParameter("name a book, or with --folder none", param_hint="FILE")
        taken = from_json(read_file(take_in)) if take_in is not None else None
        workspace, book = open_book(file, password=password)
        imported = ImportedMarks()
        if taken is not None:
            imported = import_marks(workspace.library, book.id, taken.marks, damaged=len(taken.damaged))
            say_aside(_import_line(imported))
        memory = memory_of(workspace, book)
        if json:
            print_json(_marks_json(workspace, book, memory, imported))
        data = export_notes(workspace.library, book.id, format, memory=memory)
        if output is not None:
            write_file(output, data)
        elif not json:
            sys.stdout.buffer.write(data)


def _write_folder(folder: Path, *, as_json: bool) -> None:
    """Write the notes of all books, by the template of the settings. Ends with 1 where a file was left alone."""
    from readagent_core.export.notes_folder import keep_notes

    workspace = open_workspace()
    template = workspace.settings.saved.notes_template
    now = keep_notes(workspace, str(folder.absolute()), template, all_books=True)
    if as_json:
        files = {book_id: path for book_id, (path, _) in now.files.items()}
        print_json({"folder": now.folder, "files": files, "left_alone": list(now.said)})
    for said in now.said:
        say_aside(said)
    say_aside(f"{count_of(len(now.files), 'book')} in {now.folder}")
    if now.said:
        raise typer.Exit(1)


def _import_line(imported: ImportedMarks) -> str:
    line = f"{count_of(len(imported.added), 'note')} added, {len(imported.replaced):,} replaced"
    line += f"; the words of {imported.lost:,} are not in this text" if imported.lost else ""
    return line + (f"; {imported.damaged:,} of the file could not be read" if imported.damaged else "")


def _marks_json(workspace: Workspace, book: Book, memory: GistMemory | None, imported: ImportedMarks) -> dict[str, Any]:
    from readagent_core.companion.marks import placed_marks
    from readagent_core.export.notes import pages_of

    document = memory.document if memory else workspace.library.document(book.id)
    marks, page_of = placed_marks(workspace.library, book.id, document), pages_of(memory)
    return {
        "book": {"id": book.id, "title": book.title, "author": book.author},
        "imported": {
            "added": len(imported.added),
            "replaced": len(imported.replaced),
            "lost": imported.lost,
            "damaged": imported.damaged,
        },
        "marks": [{**mark.to_dict(), "page": page_of(mark.start.paragraph)} for mark in marks.placed],
        "lost": [mark.to_dict() for mark in marks.lost],
    }
