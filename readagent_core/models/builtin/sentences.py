"""The sentences of a memory or a text, each with its page and its terms, as the built-in reader chooses among them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core.models.builtin.statistics import content, split_sentences
from readagent_core.tags import split_memory
from readagent_core.words import count_words

LONG = 40  # words; of a longer sentence a part is quoted
LEAST_PART = 8  # words of a part
KANJI = re.compile(r"[一-龥々]")
_CLAUSE = re.compile(r";\s+")
QUOTE_MARKS = re.compile(r"[\"“”„«»「」『』]")


@dataclass(frozen=True)
class Sentence:
    """``page`` is 0 where the text has no pages. ``near``: terms of the sentence and its neighbours."""

    text: str
    page: int
    full: bool
    bag: frozenset[str]
    near: frozenset[str]


def sentences_of(text: str, language: str) -> list[Sentence]:
    """Those of ``text``, a memory or a text without pages; of a long one the parts that are quoted."""
    entries = split_memory(text) or [(0, False, text)]
    found: list[Sentence] = []
    for page, full, body in entries:
        pieces = [part for piece in split_sentences(body, language) for part in _parts(piece, language)]
        bags = [frozenset(content(piece)).union(KANJI.findall(piece)) for piece in pieces]
        for i, piece in enumerate(pieces):
            found.append(Sentence(piece, page, full, bags[i], frozenset().union(*bags[max(0, i - 1) : i + 2])))
    return found


def _parts(sentence: str, language: str) -> list[str]:
    """A sentence; of a long one, as a speech between quotation marks is, the sentences and clauses in it."""
    if count_words(sentence) <= LONG:
        return [sentence]
    ends = [found.end() for found in _CLAUSE.finditer(sentence)]
    at = 0
    for inner in split_sentences(QUOTE_MARKS.sub(" ", sentence), language):  # marks hide the ends of what is said
        words = f"(?:{QUOTE_MARKS.pattern}|\\s)+".join(map(re.escape, inner.split())) + f"(?:{QUOTE_MARKS.pattern})*"
        if found := re.compile(words).search(sentence, at):
            at = found.end()
            ends.append(at)
    parts: list[str] = []
    start = 0
    for end in sorted({*ends, len(sentence)}):
        if count_words(sentence[start:end]) >= LEAST_PART:
            parts.append(sentence[start:end].strip())
            start = end
    return [*parts[:-1], f"{parts[-1]} {sentence[start:].strip()}".strip()]
