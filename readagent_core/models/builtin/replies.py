"""How the built-in reader writes a reply: copied sentences with their pages and evidence, and its few own words."""

from __future__ import annotations

import re

from readagent_core.models.builtin.parts_asked import Part
from readagent_core.models.builtin.sentences import QUOTE_MARKS, Sentence

NOT_FOUND = {"en": "Not found in what it saw.", "ja": "見た範囲には見つかりませんでした。"}
NOT_IN_BOOK = {"en": "Not found in this book.", "ja": "この本には見つかりませんでした。"}  # where all of it was seen
OF_PART = {  # with which an answer about it begins; the reader does not know how many pages the book has
    "en": {
        Part.WHOLE: "A sentence each from the beginning, the middle and the end:",
        Part.BEGINNING: "The first sentences that were looked at:",
        Part.END: "The last sentences that were looked at:",
    },
    "ja": {
        Part.WHOLE: "はじめ、中ほど、終わりから一文ずつ：",
        Part.BEGINNING: "見た範囲の最初の文：",
        Part.END: "見た範囲の最後の文：",
    },
}
OF_FEW = {  # where the text has no sentence for each of the three
    "en": {2: "A sentence each from the beginning and the end:", 1: "One sentence of what was looked at:"},
    "ja": {2: "はじめと終わりから一文ずつ：", 1: "見た範囲から一文："},
}
NEAREST = "Found no sentence that fits the question. The nearest:"
OWN_WORDS = (
    *NOT_FOUND.values(),
    *NOT_IN_BOOK.values(),  # of stored answers too
    *(opening for openings in OF_PART.values() for opening in openings.values()),
    *(opening for openings in OF_FEW.values() for opening in openings.values()),
    NEAREST,
)  # with which an answer begins: no sentence of the book
_PAIRS = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ('"', '"'))
_UNPAIRED = re.compile(r"(?P<pair>\*+[^\s*](?:[^*]*[^\s*])?\*+|\s\*+\s)|\*+")


def is_not_found(text: str) -> bool:
    """Whether a reply of this reader says that nothing was found."""
    return text in (*NOT_FOUND.values(), *NOT_IN_BOOK.values())


def not_found_in(language: str, *, all_seen: bool) -> str:
    """What is said in place of such a reply, which does not know how much of the text it saw."""
    return (NOT_IN_BOOK if all_seen else NOT_FOUND)["ja" if language == "ja" else "en"]


def reply(chosen: list[Sentence], language: str, *, opening: str = "", quote: bool = False) -> str:
    """The chosen sentences with their pages, and an 'Evidence:' block for those from full pages.

    ``quote``: the text has no page numbers, and its sentences are quoted without.
    """
    said = " ".join(f"{_shown(s.text)} [{s.page}]" if s.page else _shown(s.text) for s in chosen)
    lines = [f"{opening}{said}".strip()]
    said_of = [(f"[{s.page}] ", _quotation(s.text)) for s in chosen if s.full]
    if quote:
        said_of += [("", _quotation(s.text)) for s in chosen if not s.page]
    if said_of:
        japanese = language == "ja"
        lines += ["", "根拠：" if japanese else "Evidence:"]
        lines += [f"{mark}「{words}」" if japanese else f'{mark}"{words}"' for mark, words in said_of]
    return "\n".join(lines)


def _shown(sentence: str) -> str:
    """A sentence as it is said: with '…' where it is a part of one, and without marks that have no pair."""
    sentence = _UNPAIRED.sub(lambda found: found["pair"] or "", _paired(sentence)).strip()
    begun = f"… {sentence}" if sentence[:1].islower() else sentence
    return f"{begun[:-1]} …" if begun.endswith((";", ",")) else begun


def _paired(sentence: str) -> str:
    """``sentence`` without a quotation mark at its ends that has no pair, as one of a longer speech has none."""
    for opening, closing in _PAIRS:
        opened, closed = sentence.count(opening), sentence.count(closing)
        lone = opened % 2 if opening == closing else opened - closed
        if lone > 0 and sentence.startswith(opening):
            sentence = sentence.removeprefix(opening)
        elif lone and sentence.endswith(closing):
            sentence = sentence.removesuffix(closing)
    return sentence


def _quotation(sentence: str) -> str:
    """A stretch of the sentence that holds no quotation mark, so that it can be quoted."""
    return max(QUOTE_MARKS.split(sentence), key=len).strip()
