"""The veil over the gists of pages that were not read yet, in the reader: what it hides and what lifts it.

It follows the spoiler limit of the book, the same that Ask keeps to. A single gist is shown by a press on it, all of
them by turning the limit off; both are remembered for the book.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from readagent_core.answering.limits import page_allowed
from readagent_core.document import Document
from readagent_core.library.records import Gisting
from readagent_core.memory import GistMemory
from readagent_core.stories import is_story
from readagent_core.workspace import Workspace

ACTS = ("unveil", "unveil_all", "veil")


@dataclass(frozen=True)
class Veil:
    """``page``: the last one whose gist is shown. ``shown``: later ones that the person asked for."""

    page: int
    shown: frozenset[int]


def hides(veil: Veil | None, page: int) -> bool:
    return veil is not None and page > veil.page and page not in veil.shown


def veil_of(workspace: Workspace, gisting: Gisting, memory: GistMemory, document: Document) -> Veil | None:
    """The veil over a gisting of ``document``; None where nothing is kept out."""
    page = page_allowed(memory, document, workspace.library.position(gisting.book_id).on_screen)
    if page is None or page >= len(memory.pages):
        return None
    # the first one shows what a gist is, and that they were made
    return Veil(page, frozenset({1, *workspace.library.preference(_name(gisting), [])}))


def act(workspace: Workspace, gisting: Gisting, do: str, page: int) -> None:
    """Carry out one of ``ACTS``: show the gist of ``page``, show all, or veil again what is ahead."""
    library = workspace.library
    if do == "unveil":
        library.set_preference(_name(gisting), sorted({*library.preference(_name(gisting), []), page}))
        return
    library.set_limit(gisting.book_id, on=do == "veil")
    library.set_preference(_name(gisting), [])


def say(line: dict[str, Any], veil: Veil | None, workspace: Workspace, gisting: Gisting, document: Document) -> None:
    """Add to the foot's ``line`` of gists how far they are open, and the button that shows or veils those ahead."""
    position = workspace.library.position(gisting.book_id)
    if veil is not None and gisting.gists:
        shown = "Page 1 is shown" if len(veil.shown) == 1 else f"{len(veil.shown)} are shown"
        said = f"{f'Open up to page {veil.page}' if veil.page else shown}, more as you read."
        if line["state"] not in ("ready", "recording"):  # how far they are, or why they stopped, comes first
            line["more"] = " ".join(filter(None, [line["more"], said]))
        else:
            line["more"] = " · ".join(filter(None, [line["rest"], line["more"]]))
            line["rest"] = said
        line["actions"].append(["unveil_all", "Show all gists"])
    elif not position.limited and position.furthest < len(document.paragraphs) and is_story(document):
        line["actions"].append(["veil", "Hide what I have not read"])


def _name(gisting: Gisting) -> str:
    return f"unveiled {gisting.id}"
