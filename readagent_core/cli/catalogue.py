"""The command that looks through a catalogue of books and adds one."""

from __future__ import annotations

from typing import Annotated

import typer

from readagent_core.cli import options
from readagent_core.cli.output import print_json, report_errors, say
from readagent_core.cli.shared import open_workspace


def catalogue(
    place: Annotated[str, typer.Argument(help="A catalogue's name or address; without one those known here.")] = "",
    search: Annotated[str, typer.Option(help="Words to look for in it.")] = "",
    add: Annotated[int, typer.Option(min=0, help="Add the book of this number in the list.")] = 0,
    user: Annotated[str, typer.Option(help="Where the catalogue asks for one.")] = "",
    password: Annotated[str, typer.Option(help="Kept like a key, and sent to this catalogue alone.")] = "",
    json: options.Json = False,
) -> None:
    """Look through a catalogue (OPDS), search it and add books from it."""
    with report_errors(as_json=json):
        from readagent_core.errors import NoCatalogueError
        from readagent_core.incoming import catalogues as kept
        from readagent_core.secret import Secret

        workspace = open_workspace()
        known = kept.catalogues(workspace)
        if not place:
            rows = [{"name": one.name, "address": one.address} for one in known]
            if json:
                print_json({"catalogues": rows})
            for row in () if json else rows:
                say(f"{row['name']}: {row['address']}")
            return
        found = next((one for one in known if place.casefold() in (one.name.casefold(), one.address.casefold())), None)
        if found is None or user:
            found, page = kept.try_catalogue(workspace, found.address if found else place, user, Secret(password))
            if user:
                kept.keep_catalogue(workspace, found, Secret(password))
        else:
            page = kept.open_page(workspace, found)
        if search:
            page = kept.search(workspace, found, page, search)
        if add:
            if add > len(page.entries) or not page.entries[add - 1].address or page.entries[add - 1].offer is None:
                raise NoCatalogueError(f"Number {add} of this list is no book that can be added.")
            book = kept.add_from_catalogue(workspace, found, page.entries[add - 1])
            print_json({"id": book.id, "title": book.title}) if json else say(f"Added {book.title}.")
            return
        if json:
            rows = [
                {"title": one.title, "author": one.author, "address": one.address, "offer": str(one.offer or "")}
                for one in page.entries
            ]
            print_json({"title": page.title, "total": page.total, "next": page.next, "entries": rows})
            return
        say(page.title)
        for number, one in enumerate(page.entries, 1):
            say(f"{number:3} {one.title}{f', {one.author}' if one.author else ''}  {one.offer or one.address}")
