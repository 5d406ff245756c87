"""How much notes may take: with the links between names, two fifths of the words of making the gists.

What a plan sends for gists differs by more than two times: pages cut by rule need no call for a pause point. Of a text
so short that the instructions alone are longer than such a share, no notes are made with the gists; a person can have
them made afterwards, for a price that is told first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from readagent_core.document import Document
from readagent_core.gisting.call_estimate import GistingEstimate, estimate
from readagent_core.gisting.notes_mode import NotesMode
from readagent_core.models.base import ChatModel
from readagent_core.plan import GistingPlan
from readagent_core.prompts import render_fragment
from readagent_core.words import count_words
from readagent_core.workspace import Workspace
from readagent_core.world.notes import WORDS_A_NOTE

_LEAST_WINDOW = 3_000  # tokens: what asks for notes, and the notes, take about 800
SHOWN_WORDS = 1_200  # of pages whose notes are asked for in one call
_ADDED, _LINKS = 0.385, 0.05  # of the words for gists; the rest of two fifths is for what the estimate misses
_LEAST_SHOWN, _MOST_SHOWN = 0.2, 0.6
_LEAST_HELD = 0.26  # with less to show, of a text of some 800 words, what the estimate misses counts
_LINE_WORDS = 21  # of a note, as models write it
_COMPARISON_WORDS = 1_100  # of a prompt about three dozen people
_LEAST_COMPARISON = 200  # of one about a few
_FORM_WORDS = 30  # of a prompt for notes, its rules not counted
_LEAST_LINES = 0.6  # of the usual lines: with fewer, notes with the gist tell less than notes apart


@dataclass(frozen=True)
class NotesBudget:
    """What the notes of a document by a plan may take.

    ``shown``: the share of a page's words that a call for notes alone shows. ``lines``: the share of the usual lines
    that is asked for with a gist; 0.0 where those are too few, so that notes are asked for apart. ``compared``: after
    how many words of the text names are compared. ``per_word``: words that comparing them may take for a word of text.
    ``holds``: whether notes keep within the share at all.
    """

    shown: float = _MOST_SHOWN
    lines: float = 1.0
    compared: int = 8_000
    per_word: float = 1.0
    holds: bool = True


@lru_cache(maxsize=4)
def notes_budget(document: Document, plan: GistingPlan) -> NotesBudget:
    """Return what notes may take, from an estimate of the words for gists."""
    made = estimate(document.limited(plan.max_words), plan)
    words, sent = max(1, document.words), max(1, made.words_in + made.words_out)
    rules = count_words(render_fragment("notes.rules", document.language)) + _FORM_WORDS
    a_line = _LINE_WORDS / WORDS_A_NOTE  # words that come back for a word that is shown
    links = max(_LINKS * sent, _LEAST_COMPARISON)
    left = _ADDED * sent - links
    lines = (left - rules * made.pages) / (a_line * words)
    page = words / max(1, made.pages) * _MOST_SHOWN
    a_call = max(1, SHOWN_WORDS // page) * page
    for calls in count(1):
        shown = (left - rules * calls) / words / (1 + a_line)
        if shown * words <= calls * a_call:
            break
    with_gist = lines >= _LEAST_LINES or shown < _LEAST_SHOWN  # of so short a text, in one call
    return NotesBudget(
        max(_LEAST_SHOWN, min(_MOST_SHOWN, shown)),
        min(1.0, max(lines, _LEAST_LINES)) if with_gist else 0.0,
        round(_COMPARISON_WORDS * words / (_LINKS * sent)),
        links / words,
        lines >= _LEAST_LINES or shown >= _LEAST_HELD,
    )


def notes_mode(workspace: Workspace, model: ChatModel, document: Document, plan: GistingPlan) -> NotesMode:
    """Return how this model makes notes while it makes gists, as its test found.

    OFF for the built-in reader, where Settings switch them off, in a window that would hold little else, where several
    gists come in one reply, for a text too short for its notes, and for a model on this computer, which would write
    three times as much: notes can be made afterwards then.
    """
    if model.window and model.window < _LEAST_WINDOW:
        return NotesMode.OFF
    if not model.is_language_model or not workspace.settings.saved.notes or plan.pagination == "one-pass":
        return NotesMode.OFF
    if model.shares_text or not notes_budget(document, plan).holds:
        return NotesMode.OFF
    apart = workspace.settings.saved.options_of(model.name).notes_apart
    return NotesMode.APART if apart else NotesMode.WITH_GIST


def add_notes(made: GistingEstimate, document: Document, plan: GistingPlan, mode: NotesMode) -> GistingEstimate:
    """Return an estimate for gists with what their notes and links add."""
    if mode == NotesMode.OFF:
        return made
    budget = notes_budget(document, plan)
    added = round((made.words_in + made.words_out) * _ADDED)
    received = round(document.words * budget.shown) * _LINE_WORDS // WORDS_A_NOTE
    apart = mode == NotesMode.APART or not budget.lines
    calls = math.ceil(document.words * budget.shown / SHOWN_WORDS) if apart else 0
    calls += document.words // budget.compared
    sent = made.words_in + max(0, added - received)
    return GistingEstimate(made.calls + calls, sent, made.words_out + received, made.pages)
