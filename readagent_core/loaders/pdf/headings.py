"""Finds the headings among the passages of a PDF by size and weight.

Labels of figures, rows of tables and lines of title pages look alike; they become text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.layout import LARGE
from readagent_core.loaders.pdf.paragraphs import CAPTION, NUMBERED, BodyStyle, Passage, passage_text

_NUMBER = re.compile(r"^[\dIVXLC.]+\s")
_SYMBOL = re.compile(r"^\(?[a-z]\d?\)?$")  # '(a)', 'i2'
_NEAR = 0.4  # points by which the letters of one kind of heading differ
_LINES, _LONGEST = 4, 200  # of a heading; characters
_ROW = 3  # headings of one size in a row; more are labels
_FIRST_PAGES = 2


def mark_headings(found: Iterable[Passage], usual: BodyStyle) -> list[Passage]:
    """Returns the passages with their text, and with their level by size where they are headings.

    Labels in a row become one paragraph with a line each."""
    passages: list[Passage] = []
    for (heading, _), run in groupby(found, key=lambda each: (_is_heading(each, usual), round(each.size))):
        row = list(run)
        for each in row if heading else ():
            each.kind = "label" if len(row) > _ROW or _is_label(each, usual) else "heading"
        passages += row
    _find_other_labels(passages)
    sizes = sorted({round(each.size) for each in passages if each.kind == "heading"}, reverse=True)
    marked: list[Passage] = []
    for each in passages:
        text = passage_text(each, usual, keep=not each.kind)
        if marked and marked[-1].kind == each.kind == "label":
            marked[-1].joined += f"\n{text}"
        else:
            each.joined, each.level = text, sizes.index(round(each.size)) + 1 if each.kind == "heading" else 0
            marked.append(each)
    return marked


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
