"""The commands that back up the library with all that belongs to it, and restore it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from readagent_core.cli import options
from readagent_core.cli.output import print_json, report_errors, say
from readagent_core.words import count_of


def backup(
    file: Annotated[Path | None, typer.Argument(help="Where to write it; by default a file with the date.")] = None,
    json: options.Json = False,
) -> None:
    """Write the library, with original files and experiments, to one ZIP file; the app may be running."""
    with report_errors(as_json=json):
        from readagent_core.library.backup import back_up
        from readagent_core.settings import home_folder

        made = back_up(home_folder(), file or Path(f"readagent-{time.strftime('%Y-%m-%d')}.zip"))
        if json:
            print_json(_to_json(made))
            return
        size = f"{made.size / 1e6:,.1f} MB"
        say(f"{made.path}: {count_of(made.books, 'book')}, {count_of(made.files, 'file')}, {size}")
        say("The model's key is not in it, nor are cached replies.")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` wrote.", show_default=False)],
    replace: Annotated[bool, typer.Option("--replace", help="Move the present library into a folder there.")] = False,
    json: options.Json = False,
) -> None:
    """Restore a backup into READAGENT_HOME; stop the app first."""
    with report_errors(as_json=json):
        from readagent_core.library.backup import inspect_backup
        from readagent_core.library.backup import restore as restore_backup
        from readagent_core.settings import home_folder

        found, home = inspect_backup(file), home_folder()
        aside = restore_backup(file, home, replace=replace)
        if json:
            print_json({**_to_json(found), "home": str(home), "moved_to": str(aside) if aside else None})
            return
        say(f"{home}: {count_of(found.books, 'book')} restored, as of {time.ctime(found.made)}")
        if aside:
            say(f"What was there is now in {aside}")


def _to_json(made: Any) -> dict[str, Any]:
    return {"file": str(made.path), "books": made.books, "files": made.files, "bytes": made.size, "made": made.made}
