"""Finds the title of a PDF: what the file says about itself is believed where its first pages say the same.

Programs write names of files, of templates and of other works there, so the largest text above the first paragraph may
be the better title. Stamps, page numbers and formulas are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

from readagent_core.loaders import headings
from readagent_core.loaders.contents import is_contents_title
from readagent_core.loaders.pdf.layout import LARGE, BodyStyle
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.paragraphs import NUMBERED, Passage
from readagent_core.loaders.titles import alphanumerics

_FIRST_PAGES = 3  # with text
_CONFIRMED = 0.7  # share of the words that the first pages have
_LONG = 4  # letters of a word that is found between others too
_PROSE = 200  # characters; a longer paragraph is the beginning of the text
_SENTENCES = re.compile(r"\w[.!?]\s+\S.*\w[.!?]$|^\S+://\S+$|^www\.\S+$")  # what was set apart, or an address
_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGITS = re.compile(r"\d")
_SAME, _HUGE = 0.6, 2.0  # points by which letters of a title differ; size in usual ones of a title with a number
_LETTERS = 0.6  # share of the characters of a title
_IDENTIFIER = re.compile(r"(?:doi|arxiv|pii|isbn)\b:?", re.IGNORECASE)


def check_facts(
    facts: Mapping[str, str], pages: Sequence[Sequence[Line]], passages: Sequence[Passage], usual: BodyStyle
) -> dict[str, str]:
    """Returns what a file says about itself as far as its first ``pages`` say it too, and ``printed``, their title.

    A title that they do not have is believed where they print none that could be taken for one."""
    first = [lines for lines in pages if lines][:_FIRST_PAGES]
    seen = " ".join(line.text for lines in first for line in lines).casefold()
    pictured = not pages[0]  # a cover may say what the text does not
    printed = _largest_text(passages, usual)
    believed = pictured or not printed or (_is_said(facts["title"], seen) and not _IDENTIFIER.match(facts["title"]))
    title = facts["title"] if believed else ""
    author = facts["author"] if pictured or _is_said(facts["author"], seen) else ""
    return {**facts, "title": title, "author": author, "printed": printed}


def _is_said(text: str, seen: str) -> bool:
    """Returns whether ``seen``, the first pages in small letters, has most of the words of ``text``."""
    words = _WORD.findall(text.casefold())
    whole, letters = set(_WORD.findall(seen)), alphanumerics(seen)
    said = sum(
        word in whole or (len(word) >= _LONG and word in letters) for word in words
    )  # or hyphened, or spaced out
    return said > _CONFIRMED * len(words)


def _largest_text(passages: Sequence[Passage], usual: BodyStyle) -> str:
    """Returns what is in the largest letters above the text of the first page; '' where that is another heading.

    Without larger letters, it is a heading that the page begins with."""
    first = [each for each in passages if each.number == passages[0].number and not each.lines[0].turned]
    small = [each for each in first if each.size < LARGE * usual.size or each.lines[0].confidence is not None]
    prose = max((each.lines[0].y for each in small if len(each.text) > _PROSE and "\t" not in each.text), default=-inf)
    counted = Counter(_DIGITS.sub("", text) for text in {each.text for each in passages if each.level})
    heads = [each for each in first if each.level and _is_wordy(each.text)]
    heads = [each for each in heads if counted[_DIGITS.sub("", each.text)] == 1]  # not 'Question 1', 'Question 2'
    large = [each for each in heads if each.size >= LARGE * usual.size and each.lines[0].y > prose]
    bold = [each for each in heads if each is first[0] and each.text.count(" ") > 1]
    largest = max(large or bold, key=lambda each: each.size, default=None)
    text = largest.text if largest else ""
    if not largest or is_contents_title(text) or headings.is_named_heading(text):
        return ""
    if " " not in text:  # a title set one word a line goes on: 'HANDBOOK', 'FOR', …
        below = first[first.index(largest) :]
        last = max(n for n, each in enumerate(below) if abs(each.size - largest.size) < _SAME)
        whole = " ".join(each.text for each in below[: last + 1])
        text = whole if len(whole) < _PROSE and whole.count(" ") > 2 else text
    numbered = NUMBERED.match(text) and largest.size < _HUGE * usual.size
    return "" if numbered or _SENTENCES.search(text) else text


def _is_wordy(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    return bool(_WORD.search(text)) and letters > _LETTERS * len(text.replace(" ", ""))
