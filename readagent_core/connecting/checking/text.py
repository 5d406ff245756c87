"""The text a model is tested on, with its gists and questions whose answers are known. Written for this project."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.words import count_words


@dataclass(frozen=True)
class Known:
    """A question whose answer is known. ``page``: where it is, 0 where the text does not have it. ``right``: index."""

    text: str
    page: int
    options: tuple[str, ...]
    right: int = 0


QUESTIONS = (
    Known("How many turns of rope did Ida coil over her arm?", 4, ("thirty", "nineteen", "eleven", "forty-one"), 2),
    Known("What did Brandt offer for the ferry?", 3, ("two hundred and fifty", "six hundred", "firewood", "nothing")),
    Known("Where did Ida find her hazel stick?", 2, ("in the boat house", "a mile down, in the mud", "at Oster"), 1),
)
UNANSWERED = Known("What was the name of Ida's mother?", 0, ("Marta", "Oster", "Ilse", "Brandt"))


PLAN = GistingPlan(max_words=150, min_words=60)


def story() -> GistMemory:
    """Return the text in pages with its gists. ``story.json`` has the paragraphs of each page."""
    stored = json.loads(Path(__file__).with_name("story.json").read_text(encoding="utf-8"))
    pages: list[Page] = []
    paragraphs: list[Paragraph] = []
    for number, texts in enumerate(stored["pages"], start=1):
        start = len(paragraphs)
        paragraphs += map(Paragraph, texts)
        pages.append(Page(number, start, len(paragraphs), sum(map(count_words, texts))))
    document = Document(stored["title"], tuple(paragraphs))
    return GistMemory(document, PLAN, tuple(pages), tuple(map(Gist, stored["gists"])), complete=True)
