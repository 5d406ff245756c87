"""The command ``questions``: a person's own questions about a book as a file, and questions taken in from one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from readagent_core.cli import options
from readagent_core.cli.output import print_json, report_errors, say, say_aside
from readagent_core.cli.shared import check_format, open_book, write_file


def questions(
    file: options.File,
    format: Annotated[str, typer.Option(help="csv, json, jsonl or md.")] = "csv",
    take_in: Annotated[
        Path | None, typer.Option("--import", help="First add the questions of this file.", show_default=False)
    ] = None,
    output: options.Output = None,
    dataset: Annotated[
        bool, typer.Option("--dataset", help="Print the path of a dataset of them for `evaluate`, and nothing else.")
    ] = False,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """Your own questions about a book, with the answers that count as right. The Evaluate screen has the same ones."""
    with report_errors(as_json=json):
        from readagent_core.errors import DatasetError
        from readagent_core.evaluation.own_dataset import write_dataset
        from readagent_core.evaluation.question_files import QUESTION_FORMATS, Taken, read_questions, write_questions
        from readagent_core.incoming.opening import read_file

        check_format(format, QUESTION_FORMATS)
        taken = read_questions(read_file(take_in), take_in.name.lower()) if take_in is not None else Taken()
        workspace, book = open_book(file, password=password)
        library = workspace.library
        if taken.questions:
            library.set_own_questions(book.id, [*library.own_questions(book.id), *taken.questions])
        if take_in is not None:
            for line in (taken.sentence(), *taken.shown_problems()):
                say_aside(line)
        stored = library.own_questions(book.id)
        if dataset:
            path = write_dataset(workspace, book, stored)
            if path is None:
                raise DatasetError("This book has no question with a right answer yet. Take some in with --import.")
            say(str(path))
        elif json:
            print_json({"questions": [question.to_dict() for question in stored], "problems": taken.problems})
        elif output is not None:
            write_file(output, write_questions(stored, format).encode())
        else:
            say(write_questions(stored, format).removeprefix("\ufeff").rstrip("\n"))
