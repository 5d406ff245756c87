"""Where the words of a question are in the text itself, for an answer that was not found. No model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pages.parts.ask.pieces import copied, shown_sentence
from pages.parts.shared.answer import with_place
from readagent_core.answering.passages import BookPassages, PagesOf
from readagent_core.document import Document
from readagent_core.export.citation_labels import short_place
from readagent_core.memory import GistMemory, Passage
from readagent_core.models.builtin.statistics import content, shared_words, stem
from readagent_core.words import is_unspaced, sentences

_MOST = 2  # sentences
_PASSAGES, _ROOM = 8, 1500  # that they are taken from, and words of these


@dataclass(frozen=True)
class InText:
    """``nowhere``: words of the question that the text does not have. ``pieces``: the sentences with most of the rest.

    The ``spots`` of their chips are places in the document of the memory that was searched, in characters.
    """

    nowhere: tuple[str, ...] = ()
    pieces: tuple[dict[str, Any], ...] = ()


def search_text(question: str, memory: GistMemory, names: Mapping[int, str]) -> InText:
    """Look for the words of ``question`` in the text. ``names``: of pages that a person knows by no number.

    Finds nothing in scripts without spaces, where it is not known what a word is.
    """
    nowhere, best = _search(question, PagesOf(memory))
    pieces = []
    for page, paragraph, start, end in best:
        source = memory.document.paragraphs[paragraph]
        name = names.get(page, f"page {page}")
        label, why = copied(short_place(name), recognised=source.confidence is not None)
        chip = {"page": page, "state": "copied", "label": label, "why": with_place(name, why), "at": -1}
        pieces.append(
            shown_sentence(source.text[start:end], question, {**chip, "spots": [[paragraph, start, end]]}, book=True)
        )
    return InText(nowhere, tuple(pieces))


@lru_cache(maxsize=64)  # a conversation is drawn often
def _search(question: str, text: PagesOf) -> tuple[tuple[str, ...], list[list[int]]]:
    """The words that are nowhere, and the page, paragraph, start and end of the nearest sentences."""
    if is_unspaced(question) or not text.memory.pages:
        return (), []
    passages = BookPassages(text.memory)
    least = min(2, len(set(content(question))))  # words, of which one alone leads nowhere
    chosen = passages.choose(question, _ROOM)[:_PASSAGES]
    found = [_nearest(text.memory.document, passage, question) for passage in chosen]
    best = sorted((one for one in found if one[0] >= least), key=lambda one: -one[0])[:_MOST]
    return tuple(word for word, on in passages.places(question).items() if not on), [spot for _, *spot in best]


def _nearest(document: Document, passage: Passage, question: str) -> tuple[int, int, int, int, int]:
    """The sentence of a passage that has most words of the question: how many, its page, paragraph, start and end."""
    found = (0, passage.page, passage.start, 0, 0)
    for paragraph in range(passage.start, passage.end):
        at = 0
        for sentence in sentences(document.paragraphs[paragraph].text, document.language):
            words = len({stem(sentence[a:b].lower()) for a, b in shared_words(sentence, question)})
            if words > found[0]:
                start = at + len(sentence) - len(sentence.lstrip())
                found = (words, passage.page, paragraph, start, at + len(sentence.rstrip()))
            at += len(sentence)
    return found
