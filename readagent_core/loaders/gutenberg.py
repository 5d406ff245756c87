"""Finds the book between Project Gutenberg's header and licence, and the metadata in the header.

Works on the lines of a text file and on the paragraphs of a web page, an EPUB or a PDF.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class BookRange:
    """The book is pieces ``start`` to ``end`` (exclusive). ``facts``: title, author, language."""

    start: int
    end: int
    facts: dict[str, str] = field(default_factory=dict)


def find_book(pieces: Sequence[str]) -> BookRange | None:
    """Returns where the book is among ``pieces`` (lines or paragraphs); None without such a header."""
    start = next((i for i, piece in enumerate(pieces[:2000]) if _START.search(piece)), None)
    if start is None:
        return None
    facts = _facts(pieces[: start + 1])
    first = start + 1
    while first < len(pieces) and not pieces[first].strip():
        first += 1
    if first < len(pieces) and _CREDIT.match(pieces[first]):
        while first < len(pieces) and pieces[first].strip() and (first == start + 1 or "\n" not in pieces[first]):
            first += 1
            if first < len(pieces) and not _CREDIT.match(pieces[first]) and _are_paragraphs(pieces):
                break
    end = next((i for i in range(first, len(pieces)) if _END.search(pieces[i])), len(pieces))
    return BookRange(first, end, facts)


def _are_paragraphs(pieces: Sequence[str]) -> bool:
    return all(piece.strip() for piece in pieces[:40])


def _facts(header: Sequence[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for line in "\n".join(header).splitlines():
        found = _FACT.match(line)
        if found and found.group(1).lower() not in facts:
            facts[found.group(1).lower()] = found.group(2).strip()
    if "language" in facts:
        facts["language"] = _LANGUAGES.get(facts["language"].lower().split(",")[0].strip(), "")
    return facts


def remove_licence(pieces: list[T], texts: Sequence[str], builder: Builder) -> tuple[list[T], dict[str, str]]:
    """Returns the pieces of the book, whose ``texts`` are given, and the facts in the header, with a notice."""
    book = find_book(texts)
    if book is None:
        return pieces, {}
    words = sum(map(count_words, (*texts[: book.start], *texts[book.end :])))
    builder.add_notice(
        "gutenberg",
        f"Project Gutenberg's header and licence ({words:,} words) were left out; they are not part of the book.",
        words,
    )
    return pieces[book.start : book.end], book.facts
