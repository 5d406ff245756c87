"""Finds and removes tables of contents: runs of lines that all occur again later, in order, as titles of sections.

A line of such a run that occurs nowhere else stays in the text. The time grows linearly with the number of lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from readagent_core.document import Paragraph, Section

FEWEST = 3  # entries of a list without a heading like 'Contents'; fewer may be a coincidence
_LONGEST = 160  # characters of an entry
_OFTEN = 2  # a title that occurs more often is a speaker's name or a running header
_ROWS = 3  # lines of one entry
_WORD = re.compile(
    r"^(?:the\s+)?(?:table\s+of\s+)?contents$|^chapters$|^inhalt(?:sverzeichnis)?$|^table(?:\s+des\s+mati[eè]res)?$|"
    r"^sommaire$|^[ií]ndice$|^sommario$|^inhoud(?:sopgave)?$|^目\s*次$|^もくじ$",
    re.IGNORECASE,
)
# also the forms of old books: IIII, VIIII, LXXXXIIII
ROMAN = r"(?=[mdclxvi])m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})"
_PAGE = re.compile(r"[\s.·…_|]*(?:(?<=[\s.·…_|])|(?<=\t))(?:\d{1,4}|[ivxlc]{1,12})\s*$", re.IGNORECASE)
_NUMBER = re.compile(
    rf"^(?:(?:chapter|chap|kapitel|chapitre|capítulo|capitolo|hoofdstuk)\.?\s+)?"
    rf"(?:\d{{1,3}}(?:\.\d{{1,3}})*|{ROMAN})(?:[.):]|\s*[—–-])?\s+(?=\S)",
    re.IGNORECASE,
)
_DIGITS = frozenset("0123456789ivxlcIVXLC")
_NUMBER_STARTS = _DIGITS | frozenset("mdkhMDKH")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass
class _Run:
    """Paragraphs ``start`` to ``end``. ``targets``: where the sections start that its entries name, in order."""

    start: int
    end: int
    left: dict[int, list[str]] = field(default_factory=dict)  # the lines that stay in the text, by paragraph
    entries: int = 0
    targets: list[int] = field(default_factory=list)


def is_contents_title(text: str) -> bool:
    """Returns whether ``text`` is the heading of a table of contents."""
    return bool(_WORD.match(text.strip().strip("*_#[]:. ")))


def remove_contents(
    paragraphs: Sequence[Paragraph], sections: Sequence[Section]
) -> tuple[list[Paragraph], list[Section], int]:
    """Returns the paragraphs and sections without tables of contents, and how many entries were removed."""
    titles = _titles(sections)
    if not titles:
        return list(paragraphs), list(sections), 0
    headed = {s.start for s in sections if is_contents_title(s.title)}
    headed |= {i for i, p in enumerate(paragraphs) if len(p.text) < _LONGEST and is_contents_title(p.text)}
    again = {_line_key(p.text): i for i, p in enumerate(paragraphs) if len(p.text) <= _LONGEST and "\n" not in p.text}
    runs = [run for run in _runs(paragraphs, titles, again) if _is_contents(run, 1 if run.start in headed else FEWEST)]
    if not runs:
        return list(paragraphs), list(sections), 0
    return (*_without(paragraphs, sections, runs, titles, again), sum(run.entries for run in runs))


def _titles(sections: Sequence[Section]) -> dict[str, int]:
    """Returns the last place of each title, with and without its number; without titles that occur often."""
    every = [(key, s.start) for s in sections for key in {title_key(s.title), unnumbered_key(s.title)} if key]
    times = Counter(key for key, _ in every)
    return {key: start for key, start in every if times[key] <= _OFTEN}


def title_key(text: str) -> str:
    """Returns the words of a title in lower case, without punctuation, so that two forms of it are equal."""
    return _NO_WORD.sub(" ", text).casefold().strip()


_line_key = lru_cache(maxsize=1 << 13)(title_key)  # lines are compared with titles, then with other lines


def unnumbered_key(title: str) -> str:
    """Returns ``title_key`` without the title's own number: the same for '1.1 Background' and 'Background'."""
    return title_key(_NUMBER.sub("", title.strip()))


def entry_forms(line: str) -> list[str]:
    """Returns the line as a title: whole, without its page number, without its own number, without both."""
    forms = [line, _PAGE.sub("", line)] if line[-1:] in _DIGITS else [line]
    if line[:1] in _NUMBER_STARTS:
        forms += [bare for form in forms if (bare := _NUMBER.sub("", form)) != form]
    return [_line_key(form) for form in forms]


def _runs(paragraphs: Sequence[Paragraph], titles: dict[str, int], again: dict[str, int]) -> list[_Run]:
    """Returns runs of paragraphs that list titles of later sections."""
    runs: list[_Run] = []
    for i, paragraph in enumerate(paragraphs):
        if len(paragraph.text) > _LONGEST and "\n" not in paragraph.text:
            continue
        lines = [line for line in paragraph.text.split("\n") if line.strip()]
        entries, targets, left = find_entries(lines, i, titles, again)
        if len(left) * 4 > len(lines):
            continue
        if not runs or runs[-1].end < i:
            runs.append(_Run(i, i))
        run = runs[-1]
        run.end = i + 1
        run.entries += entries
        run.targets += targets
        if left:
            run.left[i] = left
    return runs


def find_entries(
    lines: Sequence[str], at: int, titles: dict[str, int], again: dict[str, int]
) -> tuple[int, list[int], list[str]]:
    """Returns the number of entries in these lines, where their sections start, and the lines that are no entry."""
    entries, k = 0, 0
    targets: list[int] = []
    left: list[str] = []
    while k < len(lines):
        for rows in range(1, min(_ROWS, len(lines) - k) + 1):
            forms = entry_forms(" ".join(line.strip() for line in lines[k : k + rows]))
            target = max((titles.get(form, -1) for form in forms), default=-1)
            if target > at:
                targets.append(target)
            elif not any(again.get(form, at) > at for form in forms) and not is_contents_title(lines[k]):
                continue
            entries += target > at or not is_contents_title(lines[k])
            k += rows
            break
        else:
            left.append(lines[k])
            k += 1
    return entries, targets, left


def _is_contents(run: _Run, fewest: int) -> bool:
    """Returns whether a run has ``fewest`` titles, mostly in the order of the book, and all of them after the run."""
    forward = sum(a <= b for a, b in pairwise(run.targets))
    return (
        len(set(run.targets)) >= fewest
        and len(run.targets) * 2 >= run.entries
        and forward * 5 >= (len(run.targets) - 1) * 4
        and min(run.targets) >= run.end
    )


def _without(
    paragraphs: Sequence[Paragraph],
    sections: Sequence[Section],
    runs: Sequence[_Run],
    titles: dict[str, int],
    again: dict[str, int],
) -> tuple[list[Paragraph], list[Section]]:
    remaining: list[Paragraph] = []
    place: list[int] = []  # the new index of each paragraph, or of the one that follows it
    owner: dict[int, _Run] = {i: run for run in runs for i in range(run.start, run.end)}
    for i, paragraph in enumerate(paragraphs):
        place.append(len(remaining))
        run = owner.get(i)
        if run is None:
            remaining.append(paragraph)
        elif i in run.left:
            remaining.append(replace(paragraph, text="\n".join(run.left[i]), spans=()))
    place.append(len(remaining))
    moved: list[Section] = []
    for section in sections:
        run = owner.get(section.start)
        key = title_key(section.title)
        if run is not None and (
            is_contents_title(section.title) or max(titles.get(key, -1), again.get(key, -1)) >= run.end
        ):
            continue  # the heading of the table, or an entry that was taken for a heading
        moved.append(replace(section, start=place[min(section.start, len(paragraphs))]))
    return remaining, moved
