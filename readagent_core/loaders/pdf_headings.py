"""Which passages of a PDF are headings: told by size and weight, from labels of figures, rows of tables, title pages.

What only looks like a heading becomes text, never nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from readagent_core.loaders.headings import begins
from readagent_core.loaders.pdf_paragraphs import Measures, Passage, text_of

LARGE = 1.15  # of the usual size: a heading by its letters alone
_NOTE = re.compile(r"^(?:[*†‡§¶]|\d{1,3}[.)]?\s|\[\d{1,3}\])")
_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_]")
_NUMBER = re.compile(r"^[\dIVXLC.]+\s")
_SYMBOL = re.compile(r"^\(?[a-z]\d?\)?$")  # '(a)', 'i2'
_CAPTION = re.compile(r"^(?:fig(?:ure|\.)|tab(?:le|\.)|abb(?:ildung|\.)|図|表)\s*\d", re.IGNORECASE)
_ENDED = re.compile(r"[.!?…:;,。！？」』][\"'”’»)\]]*$")
_NUMBERS = 4  # numbered headings say how large this document's headings are
_NEAR = 0.4  # points by which the letters of one kind of heading differ
_LEADING = 1.5  # of the size: headings this close are the lines of one
_LINES, _LONGEST = 4, 200  # of a heading; characters
_ROW = 3  # of one size with nothing between them: more are labels
_FRAGMENT = 25  # characters: shorter text without an end is a label too
_FIRST_PAGES = 2


@dataclass(frozen=True)
class Piece:
    """A finished passage. ``level``: of a heading, 0 for text. ``label``: of a figure or table."""

    text: str
    number: int
    y: float
    level: int = 0
    note: bool = False
    label: bool = False


def pieces_of(found: Sequence[Passage], usual: Measures) -> list[Piece]:
    """Finished text: headings by their size, notes by their mark, labels together."""
    passages = _merged(found, usual)
    headings = {i for i, p in enumerate(passages) if _is_heading(p, usual)}
    labels = {i for i in headings if _is_label(passages[i], usual)}
    headings -= labels
    labels |= _of_figures(passages, headings, usual)
    headings -= labels
    headings -= _of_title_page(passages, headings)
    sizes = sorted({round(passages[i].size) for i in headings}, reverse=True)
    pieces = []
    for i, passage in enumerate(passages):
        first = passage.lines[0]
        if i in headings or i in labels:
            text = text_of(passage, usual, keep=False)
            level = sizes.index(round(passage.size)) + 1 if i in headings else 0
            pieces.append(Piece(text, passage.number, first.y, level, label=i in labels))
        else:
            text = text_of(passage, usual)
            note = passage.small and bool(_NOTE.match(text)) and any(c.isalpha() for c in text)
            pieces.append(Piece(text, passage.number, first.y, note=note))
    return _together(pieces)


def _is_heading(passage: Passage, usual: Measures) -> bool:
    length = sum(len(line.text) for line in passage.lines)
    lettered = any(c.isalpha() for line in passage.lines for c in line.text)
    if length > _LONGEST or len(passage.lines) > _LINES or not lettered:
        return False
    if passage.size >= LARGE * usual.size:
        return length > 1
    ends = passage.lines[-1].text[-1:] in ".,;:" and not passage.lines[0].text[:1].isdigit()
    return passage.bold and passage.size >= 0.97 * usual.size and len(passage.lines) <= 2 and length > 2 and not ends


def _merged(found: Sequence[Passage], usual: Measures) -> list[Passage]:
    """Headings set over several lines, each of them centred, are one. Rows of labels stay apart."""
    merged: list[Passage] = []
    headings = [_is_heading(p, usual) for p in found]
    row = _rows(found, headings)
    for i, passage in enumerate(found):
        if merged and headings[i] and headings[i - 1] and row[i] <= _ROW and _goes_on(merged[-1], passage):
            merged[-1] = replace(merged[-1], lines=[*merged[-1].lines, *passage.lines])
        else:
            merged.append(passage)
    return merged


def _rows(found: Sequence[Passage], headings: Sequence[bool]) -> list[int]:
    """For each passage: how many headings of its size stand around it with nothing between."""
    rows: list[int] = []
    for _, run in groupby(zip(found, headings, strict=True), key=lambda each: (each[1], round(each[0].size))):
        count = len(list(run))
        rows += [count] * count
    return rows


def _goes_on(heading: Passage, following: Passage) -> bool:
    """Whether ``following`` is the next line of ``heading``."""
    last, first = heading.lines[-1], following.lines[0]
    return (
        last.number == first.number
        and abs(last.size - first.size) < 0.03 * last.size
        and heading.bold == following.bold
        and 0 < last.y - first.y < _LEADING * last.size
        and len(heading.lines) + len(following.lines) <= _LINES
        and not begins(first.text)
        and not _NUMBERED.match(first.text)
    )


def _is_label(passage: Passage, usual: Measures) -> bool:
    """Letters that stand for a node of a figure, and a table's head in bold: cells, not a title."""
    text = " ".join(line.text for line in passage.lines)
    if all(_SYMBOL.match(word) for word in text.split()):
        return True
    return "\t" in _NUMBER.sub("", text) and passage.size < LARGE * usual.size and not begins(text)


def _of_figures(passages: Sequence[Passage], headings: set[int], usual: Measures) -> set[int]:
    """Headings in letters that no numbered one has, with a caption or another label below instead of text."""
    numbered = [i for i in sorted(headings) if _NUMBERED.match(passages[i].lines[0].text)]
    if len(numbered) < _NUMBERS:
        return set()
    sizes = [passages[i].size for i in numbered]
    labels: set[int] = set()
    below = True  # whether what stands below is no text
    for i in range(len(passages) - 1, -1, -1):
        passage = passages[i]
        if i not in headings:
            below = _is_no_text(passage, usual)
        elif i > numbered[0] and below and all(abs(passage.size - size) > _NEAR for size in sizes):
            labels.add(i)
        else:
            below = False
    return labels


def _is_no_text(passage: Passage, usual: Measures) -> bool:
    text = " ".join(line.text for line in passage.lines)
    return bool(_CAPTION.match(text)) or (len(text) < _FRAGMENT and not _ENDED.search(text))


def _of_title_page(passages: Sequence[Passage], headings: set[int]) -> set[int]:
    """Lines on the first pages with a larger heading directly below: the authors and the date of a paper."""
    found: set[int] = set()
    below = -1  # the passage below, those that were found left out
    for i in range(len(passages) - 1, -1, -1):
        here = passages[i]
        if (
            i in headings
            and below in headings
            and here.number == passages[below].number < _FIRST_PAGES
            and passages[below].size > here.size + _NEAR
            and not begins(here.lines[0].text)
        ):
            found.add(i)
        else:
            below = i
    return found


def _together(pieces: Sequence[Piece]) -> list[Piece]:
    """Labels in a row are one paragraph, a line each; so are more than three headings of one size."""
    kept: list[Piece] = []
    for (level, label), run in groupby(pieces, key=lambda p: (p.level, p.label)):
        group = list(run)
        if label or (level and len(group) > _ROW):
            group = [Piece("\n".join(p.text for p in group), group[0].number, group[0].y)]
        kept += group
    return kept
