"""Project Gutenberg's header and licence, set apart from the book they wrap; the facts its header tells.

Works on lines of a text file and on paragraphs of a web page alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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
class Wrapped:
    """``body``: from and to which piece the book itself goes. ``facts``: title, author, language."""

    start: int
    end: int
    facts: dict[str, str] = field(default_factory=dict)


def find(pieces: Sequence[str]) -> Wrapped | None:
    """Where the book begins and ends among ``pieces`` (lines or paragraphs); None where nothing wraps it."""
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
    return Wrapped(first, end, facts)


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
