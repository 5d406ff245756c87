"""Removes Project Gutenberg's header and licence around a book, and reads the metadata in the header.

Works on the lines of a text file and on the paragraphs of a web page, an EPUB or a PDF.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from readagent_core.loaders.builder import Builder
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
_LONGEST_LICENCE = 8_000  # words; what is longer is no licence but a text that was put behind it


def remove_licence(pieces: list[T], texts: Sequence[str], builder: Builder) -> tuple[list[T], dict[str, str]]:
    """Return the pieces of the book, whose ``texts`` are given, and title, author and language from the header.

    Adds a notice. A file of several books, each with its header and licence, keeps the text of all of them; the facts
    are those of the first. Without such a header these are all the pieces, and no facts.
    """
    start = _find(_START, texts, 0, 2000)
    if start is None:
        return pieces, {}
    facts, books = _facts(texts[: start + 1]), []
    while start is not None:
        first = _first_of_text(texts, start)
        end = _find(_END, texts, first)
        books.append(slice(first, end))
        start = None if end is None else _find(_START, texts, end)
    if sum(map(count_words, texts[books[-1].stop or len(texts) :])) > _LONGEST_LICENCE:
        books[-1] = slice(books[-1].start, None)
    words = sum(map(count_words, texts)) - sum(sum(map(count_words, texts[book])) for book in books)
    message = f"Project Gutenberg's header and licence ({words:,} words) were left out; they are not part of the book."
    builder.add_notice("gutenberg", message, words)
    return [piece for book in books for piece in pieces[book]], facts


def _find(pattern: re.Pattern[str], texts: Sequence[str], first: int, end: int | None = None) -> int | None:
    """Return the number of the first of ``texts[first:end]`` that has ``pattern``."""
    return next((i for i, text in enumerate(texts[first:end], first) if pattern.search(text)), None)


def _first_of_text(texts: Sequence[str], start: int) -> int:
    """Return the number of the first text of a book whose header ends at ``start``: after the names of its makers."""
    first = start + 1
    while first < len(texts) and not texts[first].strip():
        first += 1
    are_paragraphs = all(text.strip() for text in texts[:40])  # else they are lines
    if first < len(texts) and _CREDIT.match(texts[first]):
        while first < len(texts) and texts[first].strip() and (first == start + 1 or "\n" not in texts[first]):
            first += 1
            if first < len(texts) and not _CREDIT.match(texts[first]) and are_paragraphs:
                break
    return first


def _facts(header: Sequence[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for found in filter(None, map(_FACT.match, "\n".join(header).splitlines())):
        facts.setdefault(found.group(1).lower(), found.group(2).strip())
    if "language" in facts:
        facts["language"] = _LANGUAGES.get(facts["language"].lower().split(",")[0].strip(), "")
    return facts
