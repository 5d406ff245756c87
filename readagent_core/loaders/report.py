"""The import report: what was understood of a file, as numbers and notices for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from readagent_core.document import Document, Notice
from readagent_core.loaders.sniff import NAMES

WORDS_PER_MINUTE = 240  # silent reading of adults, Brysbaert 2019: 238 for non-fiction, 260 for fiction


@dataclass(frozen=True)
class Report:
    """``minutes``: to read it all at 240 words a minute. ``notices``: what a person should know, with numbers."""

    format: str
    format_name: str
    title: str
    author: str
    language: str
    right_to_left: bool
    sections: int
    paragraphs: int
    words: int
    minutes: int
    has_cover: bool
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; each notice with its code, message and count."""
        return {**asdict(self), "notices": [asdict(notice) for notice in self.notices]}


def report(document: Document) -> Report:
    """The report of a document that was opened."""
    return Report(
        format=document.format,
        format_name=NAMES.get(document.format, document.format),
        title=document.title,
        author=document.author,
        language=document.language,
        right_to_left=document.right_to_left,
        sections=len(document.sections),
        paragraphs=len(document.paragraphs),
        words=document.words,
        minutes=max(1, round(document.words / WORDS_PER_MINUTE)),
        has_cover=document.cover is not None,
        notices=document.warnings,
    )
