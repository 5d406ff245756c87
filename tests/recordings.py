"""Gist memories for tests: the bundled recordings, and small ones made of a few texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan

SAMPLES = Path(__file__).resolve().parent.parent / "assets" / "samples"
NAMES = ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki")


def make_memory(
    texts: Iterable[str | Paragraph],
    gists: Iterable[str | Gist | None] | None = None,
    *,
    title: str = "T",
    per_page: int = 1,
    reason: str = "",
    complete: bool = True,
    **document: Any,
) -> GistMemory:
    """A memory of ``per_page`` paragraphs a page; without ``gists`` that of page n is "Gist n."."""
    paragraphs = tuple(Paragraph(text) if isinstance(text, str) else text for text in texts)
    pages = []
    for start in range(0, len(paragraphs), per_page):
        end = min(start + per_page, len(paragraphs))
        pages.append(Page(len(pages) + 1, start, end, sum(p.words for p in paragraphs[start:end]), reason))
    chosen = [f"Gist {page.number}." for page in pages] if gists is None else gists
    made = tuple(Gist(gist) if isinstance(gist, str) else gist for gist in chosen)
    whole = Document(title, paragraphs, **document)
    return GistMemory(whole, GistingPlan(), tuple(pages), made, "a model", complete=complete)


@dataclass(frozen=True)
class Recording:
    memory: GistMemory
    asks: list[dict[str, Any]]
    questions: list[dict[str, Any]]


@cache
def recording(name: str) -> Recording:
    """The recording as it stands in assets/samples, its pages' paragraphs as the document."""
    data = json.loads((SAMPLES / f"{name}.reading.json").read_text(encoding="utf-8"))
    paragraphs: list[Paragraph] = []
    pages: list[Page] = []
    for page in data["pages"]:
        start = len(paragraphs)
        paragraphs += [Paragraph(text) for text in page["text"].split("\n\n")]
        words = sum(p.words for p in paragraphs[start:])
        pages.append(Page(page["number"], start, len(paragraphs), words, page["reason"]))
    document = Document(data["title"], tuple(paragraphs), language=data["language"])
    gists = tuple(Gist(page["gist"]) for page in data["pages"])
    memory = GistMemory(document, GistingPlan(max_words=3000), tuple(pages), gists, "recorded", complete=True)
    questions = json.loads((SAMPLES / f"{name}.questions.json").read_text(encoding="utf-8"))
    return Recording(memory, data["asks"], questions)
