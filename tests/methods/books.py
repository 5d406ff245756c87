"""A small book with a different word on every page, and its memory, for tests of methods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Answer, Answered, AskSettings, Event, Question
from readagent_core.answering.registry import method
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import ChatModel
from readagent_core.plan import GistingPlan

# replies as real models write them, good and bad, by what they reply to, each with what it means
REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text(encoding="utf-8"))


def document(pages: int = 6, words: int = 40, *, language: str = "en") -> Document:
    """One paragraph a page; page 3 has the word 'word3' throughout (日本語: '第3話')."""
    if language == "ja":
        return Document(
            "雪の駅", tuple(Paragraph(f"{n}番目の場面。" * (words // 4)) for n in range(1, pages + 1)), language="ja"
        )
    return Document("The Book", tuple(Paragraph(" ".join([f"word{n}"] * words)) for n in range(1, pages + 1)))


def memory(
    pages: int = 6, words: int = 40, *, gists: int | None = None, gist: str = "", language: str = "en"
) -> GistMemory:
    """``gists``: how many pages have one; the rest are known but not read. ``gist``: the text of each."""
    text = document(pages, words, language=language)
    made = pages if gists is None else gists
    return GistMemory(
        text,
        GistingPlan(max_words=max(words, 1), min_words=1),
        tuple(Page(n, n - 1, n, text.paragraphs[n - 1].words) for n in range(1, pages + 1)),
        tuple(
            Gist(gist.strip() or (f"gist{n} of page" if language == "en" else f"要点{n}")) if n <= made else None
            for n in range(1, pages + 1)
        ),
        complete=made == pages,
    )


def run(
    name: str,
    model: ChatModel,
    *,
    question: str = "Who?",
    options: Sequence[str] = (),
    about: GistMemory | None = None,
    **settings: Any,
) -> list[Event]:
    return list(
        method(name).run(
            Question(question, tuple(options)), about or memory(), model, AskSettings(**settings), CancelToken()
        )
    )


def answer(events: Sequence[Event]) -> Answer:
    last = events[-1]
    assert isinstance(last, Answered)
    return last.answer
