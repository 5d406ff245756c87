"""Removes Project Gutenberg's header and licence around a book, and reads the metadata in the header.

Works on the lines of a text file and on the paragraphs of a web page, an EPUB or a PDF.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from readagent_core.loaders.base import Builder
from readagent_core.words import count_words

T = TypeVar("T")

_START = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG|\*END[* ]*THE SMALL PRINT", re.IGNORECASE)
_END = re.compile(
    r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG|^\s*End of (?:the |this )?Project Gutenberg", re.IGNORECASE
)
_CREDIT = re.compile(
    r"^\s*(?:Produced by|E-?text prepared by|This e-?(?:text|book) was (?:produced|prepared) by|"
    r"Transcribed (?:by|from)|Prepared by|\[?Illustrated HTML)",
    re.IGNORECASE,
)
_FACT = re.compile(r"^\s*(Title|Author|Language|Translator):\s*(\S.*)$")
_LANGUAGES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "nb", "finnish": "fi", "polish": "pl",
    "czech": "cs", "hungarian": "hu", "russian": "ru", "greek": "el", "latin": "la", "japanese": "ja",
    "chinese": "zh", "esperanto": "eo", "catalan": "ca", "tagalog": "tl",
}  # fmt: skip


def remove_licence(pieces: list[T], texts: Sequence[str], builder: Builder) -> tuple[list[T], dict[str, str]]:
    """Returns the pieces of the book, whose ``texts`` are given, and title, author and language from the header.

    Adds a notice. Without such a header these are all the pieces, and no facts."""
    start = next((i for i, text in enumerate(texts[:2000]) if _START.search(text)), None)
    if start is None:
        return pieces, {}
    first = start + 1
    while first < len(texts) and not texts[first].strip():
        first += 1
    are_paragraphs = all(text.strip() for text in texts[:40])  # else they are lines
    if first < len(texts) and _CREDIT.match(texts[first]):
        while first < len(texts) and texts[first].strip() and (first == start + 1 or "\n" not in texts[first]):
            first += 1
            if first < len(texts) and not _CREDIT.match(texts[first]) and are_paragraphs:
                break
    end = next((i for i in range(first, len(texts)) if _END.search(texts[i])), len(texts))
    words = sum(map(count_words, (*texts[:first], *texts[end:])))
    builder.add_notice(
        "gutenberg",
        f"Project Gutenberg's header and licence ({words:,} words) were left out; they are not part of the book.",
        words,
    )
    return pieces[first:end], _facts(texts[: start + 1])


def _facts(header: Sequence[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for found in filter(None, map(_FACT.match, "\n".join(header).splitlines())):
        facts.setdefault(found.group(1).lower(), found.group(2).strip())
    if "language" in facts:
        facts["language"] = _LANGUAGES.get(facts["language"].lower().split(",")[0].strip(), "")
    return facts
