"""A long book, marks all over it, and the same book with some of its paragraphs changed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from readagent_core.companion.marks import make_mark
from readagent_core.document import Document, Paragraph, Section
from readagent_core.library.marks import Mark, Spot, order_in_book

CHANGES = ("words", "removed", "inserted", "split")


def long_book(seed: int, *, paragraphs: int, words: int = 120) -> Document:
    """A book of invented words, of which some are frequent as in any language; five chapters."""
    dice = random.Random(seed)
    known = ["".join(dice.choices("aeioulnrstmkdpgbfhvw", k=dice.randint(2, 9))) for _ in range(2000)]
    weights = [1 / rank for rank in range(1, len(known) + 1)]

    def sentence() -> str:
        return " ".join(dice.choices(known, weights, k=dice.randint(4, 16))).capitalize() + "."

    texts = [
        " ".join(sentence() for _ in range(max(1, round(dice.gauss(words, words / 3) / 10)))) for _ in range(paragraphs)
    ]
    sections = tuple(Section(f"Chapter {n + 1}", n * paragraphs // 5) for n in range(5))
    return Document("A Long Book", tuple(map(Paragraph, texts)), sections)


def marks_in(document: Document, count: int, seed: int) -> list[Mark]:
    """Marks of one word up to two paragraphs, from the beginning of a word to the end of one, in book order."""
    dice = random.Random(seed)
    made: list[Mark] = []
    for _ in range(count):
        first = last = dice.randrange(len(document.paragraphs) - 1)
        words = document.paragraphs[first].text.split(" ")
        begin = dice.randrange(len(words))
        start = len(" ".join(words[:begin])) + (begin > 0)
        end = start + len(" ".join(words[begin : begin + dice.choice((1, 4, 12, 40))]))
        if dice.random() < 0.1:
            last = first + 1
            end = len(" ".join(document.paragraphs[last].text.split(" ")[:3]))
        made.append(make_mark(document, "b", "highlight", Spot(first, start), Spot(last, end)))
    return sorted(made, key=order_in_book)


def changed(document: Document, share: float, seed: int) -> tuple[Document, list[int | None]]:
    """The document with this share of its paragraphs changed, and the new index of each that is as it was."""
    dice = random.Random(seed)
    texts: list[str] = []
    moved: list[int | None] = []
    for paragraph in document.paragraphs:
        change = dice.choice(CHANGES) if dice.random() < share else ""
        moved.append(None if change in ("words", "removed", "split") else len(texts))
        words = paragraph.text.split(" ")
        if change == "words":
            for _ in range(max(1, len(words) // 12)):
                words[dice.randrange(len(words))] = "replaced"
        if change == "split":
            half = max(1, len(words) // 2)
            texts += [" ".join(words[:half]), " ".join(words[half:])]
        elif change != "removed":
            texts.append(" ".join(words))
        if change == "inserted":
            texts.append(" ".join(dice.sample(words, len(words))))
    return Document(document.title, tuple(Paragraph(text) for text in texts if text)), moved


def words_between(document: Document, start: Spot, end: Spot) -> str:
    """The text between two spots, as marks have it: a line break between two paragraphs."""
    pieces: list[str] = []
    for index in range(start.paragraph, end.paragraph + 1):
        paragraph = document.paragraphs[index]
        first = start.offset if index == start.paragraph else 0
        last = end.offset if index == end.paragraph else len(paragraph.text)
        pieces += ["" if not pieces or paragraph.continues else "\n", paragraph.text[first:last]]
    return "".join(pieces)


def ids(marks: Sequence[Mark]) -> set[str]:
    return {mark.id for mark in marks}
