"""What several commands do: open the workspace, open a file, read it, and wait with progress on stderr.

Imports wait until a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from readagent_core.cli.output import say_aside, show_pages, usage_errors, wait_for
from readagent_core.errors import SettingsError
from readagent_core.model_names import short_name
from readagent_core.regular_files import open_for_output
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.jobs import Snapshot
    from readagent_core.library.records import Book, Gisting
    from readagent_core.memory import GistMemory
    from readagent_core.plan import GistingPlan
    from readagent_core.workspace import Workspace


def open_workspace() -> Workspace:
    """The workspace with the current settings.

    Raises SettingsError where the keyring does not give the model's key: without it another model would read.
    """
    from readagent_core.settings import load_settings
    from readagent_core.workspace import Workspace

    settings = load_settings()
    if settings.key_trouble:
        raise SettingsError(f"{settings.key_trouble} Here, READAGENT_API_KEY gives it too.")
    return Workspace(settings)


def open_book(file: str, *, password: str) -> tuple[Workspace, Book]:
    """The workspace, and the book in ``file``, a path or a web address, added to its library."""
    from readagent_core.incoming.links import is_address, open_link
    from readagent_core.incoming.opening import open_file, read_file

    workspace = open_workspace()
    if is_address(file):
        return workspace, open_link(workspace, file, password=password)
    with show_pages() as progress:
        data = read_file(Path(file))
        return workspace, open_file(workspace, data, Path(file).name, password=password, progress=progress)


def plan_from_options(preset: str | None, **changes: Any) -> GistingPlan | None:
    """The plan asked for by options; None where there are none, so that one is chosen for the text."""
    if preset is None and all(value is None for value in changes.values()):
        return None
    from readagent_core.plan import GistingPlan

    with usage_errors():
        return GistingPlan.from_preset(preset or "article", **changes)


def complete_gisting(
    workspace: Workspace, book: Book, plan: GistingPlan | None, *, connections: int | None
) -> tuple[Gisting, GistMemory]:
    """The complete reading of the file's text that is there; without one, or for a plan, the book is read first.

    One by another language model counts, one by word statistics does not where a language model is chosen.
    """
    from readagent_core.gisting.job import newest_memory, start_gisting
    from readagent_core.models.builtin.reader import NAME

    found = newest_memory(workspace, book.id) if plan is None else None
    if found is not None:
        gisting, memory = found
        fits = gisting.model != NAME or not workspace.model.is_language_model
        if memory.complete and fits and gisting.document_id == book.document_id:  # of no earlier version of the file
            if gisting.model != workspace.model.name:
                say_aside(f"The gists that {short_name(gisting.model)} made are used; with --preset others are made.")
            return found
    if not workspace.model.is_language_model:
        hint = "Connect one in Settings of `readagent app`, or set READAGENT_BASE_URL and READAGENT_MODEL."
        if workspace.settings.base_url and not workspace.settings.model:
            hint = "A server is set, but no model of it: set READAGENT_MODEL too."
        say_aside(f"No language model is connected: the built-in reader makes the gists. {hint}")
    job = start_gisting(workspace, book.id, plan, connections=connections)
    wait_for(job, _progress_line)
    gisting = workspace.library.gisting(job.subject)
    return gisting, workspace.library.memory(gisting.id)


def check_format(format: str, known: Collection[str]) -> None:
    """End with wrong usage where --format is none of those ``known``."""
    if format not in known:
        raise typer.BadParameter(f"choose one of {', '.join(known)}", param_hint="--format")


def write_file(path: Path, data: bytes) -> None:
    """Write a result to the file that the person named. Raises SettingsError where that is not possible."""
    try:
        with open_for_output(path) as file:
            file.write(data)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). Name another with --output.") from None
    say_aside(f"Written: {path}")


def _progress_line(snapshot: Snapshot) -> str:
    from readagent_core.gisting import GistingProgress

    progress = snapshot.value
    if not isinstance(progress, GistingProgress):
        return "Making gists"
    pages, gists = count_of(progress.pages, "page"), count_of(progress.gists, "gist")
    share = f", {100 * progress.words_read / progress.words_total:.0f} %" if progress.words_total else ""
    return f"Making gists: {pages}, {gists}{share}"
