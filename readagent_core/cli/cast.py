"""The command ``cast``: who is who in a book as of a page, from its notes."""

from __future__ import annotations

from typing import Annotated

import typer

from readagent_core.cli import options
from readagent_core.cli.output import print_json, report_errors, say
from readagent_core.cli.shared import open_book


def cast(
    file: options.File,
    page: Annotated[
        int | None, typer.Option(min=1, help="As of this page; by default as far as the spoiler limit lets in.")
    ] = None,
    json: options.Json = False,
    password: options.Password = "",
) -> None:
    """People, places and what happened in a book up to a page, with nothing that later pages tell."""
    with report_errors(as_json=json):
        from readagent_core.answering.limits import page_allowed
        from readagent_core.gisting.job import memory_to_ask
        from readagent_core.world.storage import load_world
        from readagent_core.world.telling import known_to_dict, world_markdown

        workspace, book = open_book(file, password=password)
        gisting, memory = memory_to_ask(workspace, book.id, then="ask for its cast")
        whole = workspace.library.document(book.id, document_id=gisting.document_id)
        allowed = page_allowed(memory, whole, workspace.library.position(book.id))
        last = len(memory.pages) if allowed is None else allowed
        known = load_world(workspace.library, gisting.id).as_of(min(page or last, last))
        if json:
            print_json({"book": {"id": book.id, "title": book.title}, **known_to_dict(known, memory.document)})
        else:
            say(world_markdown(known) or f"Up to page {known.page} nobody is named.")
