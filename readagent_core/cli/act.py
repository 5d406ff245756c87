"""``act``: decides the next action on a saved web page for a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import answer_json, print_json, report_errors, say, say_aside, usage_errors, wait_for
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.jobs import Job, Snapshot
    from readagent_core.web_pages.memory import PageMemory


def act(
    file: Annotated[Path, typer.Argument(help="A saved web page (.html).", show_default=False)],
    task: Annotated[str, typer.Option(help="What is to be done on the website.", show_default=False)],
    previous: Annotated[
        list[str] | None,
        typer.Option(help="An action that was done already; repeat for each, in order.", show_default=False),
    ] = None,
    look_ups: Annotated[int, typer.Option(min=0, help="Most parts of the page to look at.")] = 5,
    method: Annotated[str, typer.Option(help="read-agent-p, gist-mem, bm25, neural or full-text.")] = "read-agent-p",
    json: options.Json = False,
) -> None:
    """Name the next action on a web page: the element, click, type or select, and the value. Nothing is done on it."""
    with report_errors(as_json=json):
        from readagent_core.answering.resources import Resources
        from readagent_core.cli.shared import open_workspace
        from readagent_core.errors import SettingsError
        from readagent_core.incoming.opening import read_file
        from readagent_core.models import connect_embedder
        from readagent_core.web_pages.acting import METHODS, WebTask, action_of
        from readagent_core.web_pages.memory import cut_memory
        from readagent_core.web_pages.parsing import open_page
        from readagent_core.web_pages.steps import take_step

        with usage_errors():
            if method not in METHODS:
                raise SettingsError(f"{method} cannot act on web pages. Choose one of: {', '.join(METHODS)}.")
        page = cut_memory(open_page(read_file(file)), title=file.stem)
        workspace = open_workspace()
        resources = Resources(connect_embedder(workspace.settings), connections=workspace.connections)

        def work(job: Job) -> object:
            return take_step(
                page, WebTask(task, tuple(previous or ())), workspace.model, method=method, look_ups=look_ups,
                resources=resources, cancel=job, on_change=lambda progress: job.publish(value=progress),
            )  # fmt: skip

        job = workspace.jobs.start("act", work)
        wait_for(job, _line)
        done: Any = job.snapshot.value
        answer = done.answer
        action = action_of(answer.extra)
        signed = workspace.model.name
        if not workspace.model.is_language_model:
            signed = f"{signed}: by word statistics, nothing was understood"
        if json:
            print_json({
                **answer_json(task, answer, answered_by=signed),
                "action": action.to_dict() if action else None,
                "page": page_json(done.page),
            })  # fmt: skip
            return
        say_aside(signed)
        say(answer.text)
        if action is not None:
            say(f"Element {action.element}, {action.operation}{f', value {action.value}' if action.value else ''}")
            if action.reason:
                say(f"Reason: {action.reason}")
        looked_up = ", ".join(map(str, answer.looked_up))
        say(f"Looked at parts {looked_up} of {len(page.snippets)}" if looked_up else "No part was looked at.")
        say(f"Read {answer.memory_words:,} of {page.memory.document.words:,} words of HTML – "
            f"{answer.compression_rate:.1f} % fewer")  # fmt: skip
        for note in answer.notes:
            say(f"Note: {note}")


def page_json(page: PageMemory) -> dict[str, Any]:
    """Return what is known of a page: its snippets with sizes and gists, and what was left out."""
    snippets = [
        {"index": part.number, "words": part.words, "gist": gist.text if gist else None}
        for part, gist in zip(page.memory.pages, page.memory.gists, strict=True)
    ]
    return {
        "title": page.memory.document.title,
        "words": page.memory.document.words,
        "elements": len(page.page.places),
        "depth": page.depth,
        "left_out": dict(page.page.left_out),
        "snippets": snippets,
    }


def _line(snapshot: Snapshot) -> str:
    from readagent_core.web_pages.steps import ActProgress

    progress = snapshot.value
    if not isinstance(progress, ActProgress):
        return "Making gists of the page"
    made, parts = len(progress.page.memory.readable), len(progress.page.snippets)
    if made < parts and not progress.events:
        return f"Making gists of the page: {made} of {count_of(parts, 'part')}"
    return "Choosing the action"
