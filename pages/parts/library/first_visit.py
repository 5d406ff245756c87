"""What a first visit shows: the data of assets/library/first_visit.js."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from readagent_core.connecting import local_models
from readagent_core.errors import ReadAgentError
from readagent_core.gisting.costs import NOVEL_WORDS
from readagent_core.incoming.samples import NAMES
from readagent_core.library.records import Book, Card
from readagent_core.models.local import engine
from readagent_core.workspace import Workspace

STORY = f"{NAMES[0]}.md"
# of the drawing: a question, the words of this page that answer it, and the answer
EXAMPLE = {
    "page": 2,
    "question": "What did Vane do with the farthing that was over?",
    "before": "Once, in the March return, there had been a farthing over. ",
    "marked": "He had stuck it to the page with sealing wax.",
    "answer": "He stuck it to the page.",
}


def is_first_visit(workspace: Workspace, cards: Sequence[Card], removed: Sequence[Book]) -> bool:
    """Whether the library has only samples, the story among them, none was opened or marked, and none was removed."""
    if removed or workspace.library.all_marks():
        return False
    story = any(card.book.source_name == STORY for card in cards)
    return story and all(card.book.sample and card.book.opened is None for card in cards)


def offer_here(workspace: Workspace) -> dict[str, Any] | None:
    """The model that this computer could have; None where one is connected, none fits, or several people use it."""
    if workspace.model.is_language_model or workspace.settings.team or not engine.is_installed():
        return None
    try:
        pick = local_models.best(local_models.choices(workspace))
    except ReadAgentError:
        return None
    if pick is None:
        return None
    return {"size": pick.offer.bytes, "minutes": round(pick.minutes), "words": NOVEL_WORDS}


def first_visit(workspace: Workspace, cards: Sequence[Card]) -> dict[str, Any]:
    story = next(card.book for card in cards if card.book.source_name == STORY)
    memory = workspace.library.memory(workspace.library.gistings(story.id)[-1].id)
    gists = [gist.words if gist else 0 for gist in memory.gists]
    return {
        "kind": "first",
        "local": offer_here(workspace),
        "story": story.id,
        "title": story.title,
        "words": story.words,
        "pages": [[page.words, gist] for page, gist in zip(memory.pages, gists, strict=True)],
        "example": EXAMPLE,
        "others": [
            {"id": card.book.id, "title": card.book.title, "lang": card.book.language}
            for card in cards
            if card.book.id != story.id
        ],
    }
