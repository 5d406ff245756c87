"""The bundled recordings as gist memories, for tests that need a real reading."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import ReadingPlan

SAMPLES = Path(__file__).resolve().parent.parent / "assets" / "samples"
NAMES = ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki")


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
    memory = GistMemory(document, ReadingPlan(max_words=3000), tuple(pages), gists, "recorded", complete=True)
    questions = json.loads((SAMPLES / f"{name}.questions.json").read_text(encoding="utf-8"))
    return Recording(memory, data["asks"], questions)
