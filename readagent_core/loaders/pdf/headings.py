"""Finds the headings among the passages of a PDF by size and weight.

Labels of figures, rows of tables and lines of title pages look alike; they become text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.paragraphs import CAPTION, BodyStyle, Passage, passage_text
from readagent_core.loaders.pdf.running import LARGE

_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_]")
_NUMBER = re.compile(r"^[\dIVXLC.]+\s")
_SYMBOL = re.compile(r"^\(?[a-z]\d?\)?$")  # '(a)', 'i2'
_ENDED = re.compile(r"[.!?…:;,。！？」』][\"'”’»)\]]*$")
_NUMBERS = 4  # so many numbered headings show how large the headings of this document are
_NEAR = 0.4  # points by which the letters of one kind of heading differ
_LEADING = 1.5  # of the size; headings this close are lines of one heading
_LINES, _LONGEST = 4, 200  # of a heading; characters
_ROW = 3  # headings of one size in a row; more are labels
_FRAGMENT = 25  # characters; shorter text without a full stop is a label too
_FIRST_PAGES = 2


@dataclass(frozen=True)
class Piece:
    """The text of a passage. ``number``: of its source page. ``level``: of a heading, 0 for text. ``label``: it belongs
    to a figure or table."""

    text: str
    number: int
    y: float
    level: int = 0
    note: bool = False
    label: bool = False


def to_pieces(found: Sequence[Passage], usual: BodyStyle) -> list[Piece]:
    """Returns the passages as text, with headings by their size, notes by their mark, and labels joined."""
    passages = _merge_heading_lines(found, usual)
    headings = {i for i, p in enumerate(passages) if _is_heading(p, usual)}
    labels = {i for i in headings if _is_label(passages[i], usual)}
    headings -= labels
    labels |= _find_figure_labels(passages, headings, usual)
    headings -= labels
    headings -= _find_title_page_lines(passages, headings)
    sizes = sorted({round(passages[i].size) for i in headings}, reverse=True)
    pieces = []
    for i, passage in enumerate(passages):
        first = passage.lines[0]
        if i in headings or i in labels:
            text = passage_text(passage, usual, keep=False)
            level = sizes.index(round(passage.size)) + 1 if i in headings else 0
            pieces.append(Piece(text, passage.number, first.y, level, label=i in labels))
        else:
            text = passage_text(passage, usual, keep=not passage.note)
            pieces.append(Piece(text, passage.number, first.y, note=passage.note))
    return _join_rows(pieces)


def _is_heading(passage: Passage, usual: BodyStyle) -> bool:
    large = passage.size >= LARGE * usual.size
    if len(passage.lines) > (_LINES if large else 2) or not (large or passage.bold):
        return False
    text = "".join(line.text for line in passage.lines)
    if len(text) > _LONGEST or not any(c.isalpha() for c in text):
        return False
    ends = text[-1] in ".,;:" and not text[0].isdigit()
    return len(text) > 1 if large else len(text) > 2 and passage.size >= 0.97 * usual.size and not ends


def _merge_heading_lines(found: Sequence[Passage], usual: BodyStyle) -> list[Passage]:
    """Joins the lines of headings. Rows of labels are not joined."""
    merged: list[Passage] = []
    headings = [_is_heading(p, usual) for p in found]
    row = _count_in_row(found, headings)
    for i, passage in enumerate(found):
        if merged and headings[i] and headings[i - 1] and row[i] <= _ROW and _is_next_heading_line(merged[-1], passage):
            merged[-1] = replace(merged[-1], lines=[*merged[-1].lines, *passage.lines])
        else:
            merged.append(passage)
    return merged


def _count_in_row(found: Sequence[Passage], headings: Sequence[bool]) -> list[int]:
    """Returns for each passage how many headings of its size there are in its row."""
    rows: list[int] = []
    for _, run in groupby(zip(found, headings, strict=True), key=lambda each: (each[1], round(each[0].size))):
        count = len(list(run))
        rows += [count] * count
    return rows


def _is_next_heading_line(heading: Passage, following: Passage) -> bool:
    """Returns whether ``following`` is the next line of ``heading``."""
    last, first = heading.lines[-1], following.lines[0]
    return (
        last.number == first.number
        and abs(last.size - first.size) < 0.03 * last.size
        and heading.bold == following.bold
        and 0 < last.y - first.y < _LEADING * last.size
        and len(heading.lines) + len(following.lines) <= _LINES
        and not is_named_heading(first.text)
        and not _NUMBERED.match(first.text)
    )


def _is_label(passage: Passage, usual: BodyStyle) -> bool:
    """Returns whether a passage is the label of a node in a figure, or the bold head of a table."""
    text = " ".join(line.text for line in passage.lines)
    if all(_SYMBOL.match(word) for word in text.split()):
        return True
    return "\t" in _NUMBER.sub("", text) and passage.size < LARGE * usual.size and not is_named_heading(text)


def _find_figure_labels(passages: Sequence[Passage], headings: set[int], usual: BodyStyle) -> set[int]:
    """Returns headings in a size that no numbered heading has, with a caption or a label below instead of text."""
    numbered = [i for i in sorted(headings) if _NUMBERED.match(passages[i].lines[0].text)]
    if len(numbered) < _NUMBERS:
        return set()
    sizes = [passages[i].size for i in numbered]
    labels: set[int] = set()
    below = True  # whether the passage below is no text
    for i in range(len(passages) - 1, -1, -1):
        passage = passages[i]
        if i not in headings:
            below = _is_caption_or_fragment(passage, usual)
        elif i > numbered[0] and below and all(abs(passage.size - size) > _NEAR for size in sizes):
            labels.add(i)
        else:
            below = False
    return labels


def _is_caption_or_fragment(passage: Passage, usual: BodyStyle) -> bool:
    text = " ".join(line.text for line in passage.lines)
    return bool(CAPTION.match(text)) or (len(text) < _FRAGMENT and not _ENDED.search(text))


def _find_title_page_lines(passages: Sequence[Passage], headings: set[int]) -> set[int]:
    """Returns lines of the first pages with a larger heading directly below: authors and date of a paper."""
    found: set[int] = set()
    below = -1  # the passage below that is not such a line
    for i in range(len(passages) - 1, -1, -1):
        here = passages[i]
        if (
            i in headings
            and below in headings
            and here.number == passages[below].number < _FIRST_PAGES
            and passages[below].size > here.size + _NEAR
            and not is_named_heading(here.lines[0].text)
        ):
            found.add(i)
        else:
            below = i
    return found


def _join_rows(pieces: Sequence[Piece]) -> list[Piece]:
    """Joins labels in a row, or more than three headings of one size, into one paragraph with a line each."""
    joined: list[Piece] = []
    for (level, label), run in groupby(pieces, key=lambda p: (p.level, p.label)):
        group = list(run)
        if label or (level and len(group) > _ROW):
            group = [Piece("\n".join(p.text for p in group), group[0].number, group[0].y)]
        joined += group
    return joined
