"""Whether and how the notes of pages are made while gists are."""

from __future__ import annotations

from enum import StrEnum

from readagent_core.models.base import ChatModel
from readagent_core.plan import GistingPlan
from readagent_core.workspace import Workspace

_LEAST_WINDOW = 3_000  # tokens: what asks for notes, and the notes, take about 800


class NotesMode(StrEnum):
    """How the notes of pages are made."""

    OFF = "off"
    WITH_GIST = "with-gist"  # in the reply that has the gist
    APART = "apart"  # in a call of their own


def notes_mode(workspace: Workspace, model: ChatModel, plan: GistingPlan) -> NotesMode:
    """Return how this model makes notes while it makes gists, as its test found.

    OFF for the built-in reader, where Settings switch them off, in a window that would hold little else, where several
    gists come in one reply, and for a model on this computer, which would write three times as much: notes can be made
    afterwards then.
    """
    if model.window and model.window < _LEAST_WINDOW:
        return NotesMode.OFF
    if not model.is_language_model or not workspace.settings.saved.notes or plan.pagination == "one-pass":
        return NotesMode.OFF
    if model.shares_text:
        return NotesMode.OFF
    apart = workspace.settings.saved.options_of(model.name).notes_apart
    return NotesMode.APART if apart else NotesMode.WITH_GIST
