"""Finds the headings among the passages of a PDF by size and weight.

Labels of figures, rows of tables and lines of title pages look alike; they become text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.paragraphs import CAPTION, NUMBERED, BodyStyle, Passage, passage_text
from readagent_core.loaders.pdf.running import LARGE

_NUMBER = re.compile(r"^[\dIVXLC.]+\s")
_SYMBOL = re.compile(r"^\(?[a-z]\d?\)?$")  # '(a)', 'i2'
_NEAR = 0.4  # points by which the letters of one kind of heading differ
_LINES, _LONGEST = 4, 200  # of a heading; characters
_ROW = 3  # headings of one size in a row; more are labels
_FIRST_PAGES = 2


@dataclass(frozen=True)
class Piece:
    """The text of a passage. ``number``: of its source page. ``level``: of a heading, 0 for text.
    ``confidence``: of recognised text."""

    text: str
    number: int
    y: float
    level: int = 0
    note: bool = False
    confidence: float | None = None


def to_pieces(found: Iterable[Passage], usual: BodyStyle) -> list[Piece]:
    """Returns the passages as text: headings by their size, labels in a row as one paragraph with a line each."""
    passages: list[Passage] = []
    for (heading, _), run in groupby(found, key=lambda each: (_is_heading(each, usual), round(each.size))):
        row = list(run)
        for each in row if heading else ():
            each.kind = "label" if len(row) > _ROW or _is_label(each, usual) else "heading"
        passages += row
    _find_other_labels(passages)
    sizes = sorted({round(each.size) for each in passages if each.kind == "heading"}, reverse=True)
    pieces: list[Piece] = []
    for label, run in groupby(passages, key=lambda each: each.kind == "label"):
        row = list(run)
        texts = [passage_text(each, usual, keep=not each.kind) for each in row]
        if label:
            row, texts = row[:1], ["\n".join(texts)]
        for each, text in zip(row, texts, strict=True):
            level = sizes.index(round(each.size)) + 1 if each.kind == "heading" else 0
            known = [line.confidence for line in each.lines if line.confidence is not None]
            note, confidence = each.kind == "note", min(known, default=None)
            pieces.append(Piece(text, each.number, each.lines[0].y, level, note, confidence))
    return pieces


def _is_heading(passage: Passage, usual: BodyStyle) -> bool:
    large = passage.size >= LARGE * usual.size
    if len(passage.lines) > (_LINES if large else 2) or not (large or passage.bold):
        return False
    text = passage.text
    if len(text) > _LONGEST or not any(c.isalpha() for c in text):
        return False
    ends = text[-1] in ".,;:" and not text[0].isdigit()
    return len(text) > 1 if large else len(text) > 2 and passage.size >= 0.97 * usual.size and not ends


def _is_label(passage: Passage, usual: BodyStyle) -> bool:
    """Returns whether a passage is the label of a node in a figure, or the bold head of a table."""
    if all(_SYMBOL.match(word) for word in passage.text.split()):
        return True
    table = "\t" in _NUMBER.sub("", passage.text) and passage.size < LARGE * usual.size
    return table and not is_named_heading(passage.text)


def _find_other_labels(passages: Sequence[Passage]) -> None:
    """Marks the headings that are directly above a caption as labels of its figure, and those of the first pages that
    are above a larger heading, such as authors and date of a paper, as text."""
    below: Passage | None = None  # the first passage below that is no such heading
    for here in reversed(passages):
        if below and here.kind == "heading" and not is_named_heading(here.lines[0].text):
            if CAPTION.match(below.text) and not NUMBERED.match(here.text):
                here.kind = "label"
                continue
            larger = below.kind == "heading" and below.size > here.size + _NEAR
            if larger and here.number == below.number < _FIRST_PAGES:
                here.kind = ""
                continue
        below = here
