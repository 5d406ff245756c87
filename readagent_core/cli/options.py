"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    str,
    typer.Argument(
        help="A book, such as an .epub, .pdf, .docx, .mobi, .html or .txt, or a web address.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")]
Password = Annotated[str, typer.Option("--password", help="Password of a locked PDF.", show_default=False)]
Preset = Annotated[str | None, typer.Option(help="article, meeting, book or script; by default chosen for the text.")]
MaxWords = Annotated[int | None, typer.Option(min=1, help="Most words of a page.")]
MinWords = Annotated[int | None, typer.Option(min=1, help="Fewest words before a pause may come.")]
Pagination = Annotated[str | None, typer.Option(help="pause, many, one-pass or uniform.")]
Connections = Annotated[int | None, typer.Option(min=1, help="Model calls at once.")]

# of experiments, in one process and on a cluster
Methods = Annotated[
    list[str] | None,
    typer.Option(help="A method, NAME[:LOOK-UPS][:setting=value]; repeat for each, or 'all'.", show_default=False),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Most questions.")]
Runs = Annotated[
    int, typer.Option(min=1, help="How often to ask every question; more than once gives a standard deviation.")
]
LookUps = Annotated[int, typer.Option(min=0, help="Most pages to look up, unless NAME says how many.")]
Rate = Annotated[bool, typer.Option(help="Ask the LLM raters about free-form answers.")]
Budget = Annotated[int | None, typer.Option(min=1, help="Stop when this many words have been sent.")]
Dollars = Annotated[float | None, typer.Option(min=0.01, help="Stop when this many dollars have been spent.")]
Name = Annotated[str, typer.Option(help="The experiment's name; the same name resumes it.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="Print what it would cost, and stop.")]
