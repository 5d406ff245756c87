"""The command that recognises the text of a scanned PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from readagent_core.cli import options
from readagent_core.cli.folders import inspection_json, inspection_line
from readagent_core.cli.output import print_json, report_errors, say, show_pages, wait_for
from readagent_core.cli.shared import open_workspace
from readagent_core.jobs import JobState, Snapshot
from readagent_core.words import count_of


def recognise(
    file: Annotated[Path, typer.Argument(help="A PDF with pages that are pictures.", show_default=False)],
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """Recognise the text of scanned pages on this computer; resumes after Ctrl-C where it stopped."""
    with report_errors(as_json=json):
        from readagent_core.incoming.opening import read_file
        from readagent_core.incoming.recognising import estimate, pages_to_recognise, start_recognising

        workspace = open_workspace()
        data = read_file(file)
        with show_pages() as progress:
            pages = pages_to_recognise(data, file.name, password=password, progress=progress)

        def line(snapshot: Snapshot) -> str:
            left = int(snapshot.total - snapshot.done) or len(pages)
            far = f"{snapshot.done:,.0f} of {count_of(len(pages), 'page')}"
            return f"Recognised: {far}" + (
                f", {estimate(workspace, left)} left" if snapshot.state == JobState.RUNNING else ""
            )

        job = start_recognising(workspace, data, file.name, pages, password=password)
        wait_for(job, line)
        document = workspace.library.document(job.snapshot.value)
        if json:
            print_json(inspection_json(document))
            return
        say(document.title)
        say(inspection_line(document))
        for warning in document.warnings:
            say(f"Note: {warning.message}")
