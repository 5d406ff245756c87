"""Compares titles and names as files write them, and takes the title page out of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice

from readagent_core.document import Paragraph, Section
from readagent_core.loaders import contents

Parts = tuple[list[Paragraph], list[Section]]  # of a text
_TITLE_PAGE = 6  # paragraphs

_BY = re.compile(r"(?:by|von|par|por|di|door|av|著者?[:：])\s+", re.IGNORECASE)
_MARKUP = re.compile(r"[*_#\s]+")


def is_same_title(one: str, other: str) -> bool:
    """Returns whether two titles or names are the same apart from case, spacing and emphasis marks."""
    return bool(one) and _MARKUP.sub(" ", one).strip().casefold() == _MARKUP.sub(" ", other).strip().casefold()


def is_same_heading(one: str, other: str) -> bool:
    """Returns whether two headings are the same apart from a number before the words of one or both."""
    key = contents.unnumbered_key(one)
    return is_same_title(one, other) or (bool(key) and key == contents.unnumbered_key(other))


def alphanumerics(text: str, most: int | None = None) -> str:
    """Returns the first ``most`` letters and digits of ``text`` in lower case, or all of them."""
    return "".join(islice((c for c in text if c.isalnum()), most)).casefold()


def is_byline_of(line: str, author: str) -> bool:
    """Returns whether ``line`` is 'by' and the author's name, with small differences in spelling."""
    by = _BY.match(line)
    return by is not None and SequenceMatcher(None, line[by.end() :], author).ratio() > 0.9


def is_author(line: str, author: str) -> bool:
    """Returns whether ``line`` is the author's name, with or without 'by'."""
    line, author = line.rstrip(" ."), author.rstrip(" .")
    by = _BY.sub("", _MARKUP.sub(" ", line).strip(), count=1)
    names = ((line, author), (by, author.split(" (")[0]), (by, author))
    return bool(author) and any(is_same_title(one, other) for one, other in names)


def remove_title(paragraphs: list[Paragraph], sections: list[Section], title: str, author: str) -> Parts:
    """Returns a text without its title and its author's name at the start: they are metadata."""
    near = [section for section in sections if section.start <= _TITLE_PAGE] if paragraphs else []
    for section in near:
        named = is_same_title(section.title, title)
        if (named and (len(sections) == 1 or section is not near[-1])) or is_author(section.title, author):
            sections.remove(section)
    dropped = _title_lines(paragraphs, sections, title)
    for paragraph in paragraphs[dropped : dropped + 4]:
        if not is_same_title(paragraph.text, title) and not is_author(paragraph.text, author):
            break
        dropped += 1
    dropped = dropped if dropped < len(paragraphs) else 0
    return paragraphs[dropped:], [Section(s.title, max(0, s.start - dropped), s.level) for s in sections]


def _title_lines(paragraphs: Sequence[Paragraph], sections: Sequence[Section], title: str) -> int:
    """Returns how many paragraphs at the start are together the title, such as 'MOBY-DICK;', 'or, THE WHALE.'"""
    whole = alphanumerics(title)
    if not whole or any(0 < section.start < 3 for section in sections):
        return 0
    texts, most = [p.text for p in paragraphs[:3]], len(whole) + 1  # a first paragraph may be the whole book
    return next((n for n in (2, 3) if alphanumerics("".join(texts[:n]), most) == whole), 0)


def join_title_page(paragraphs: list[Paragraph], sections: list[Section], author: str) -> Parts:
    """Returns a text with headings of the title page ('An Indian Tale', 'by Hermann Hesse') as one paragraph."""
    first = sections[0].start if sections else 0
    here = [section for section in sections if section.start == first]
    by = next((n for n, s in enumerate(here[:-1], start=1) if is_byline_of(s.title, author)), 0)
    if not by or first > _TITLE_PAGE:
        return paragraphs, sections
    page = Paragraph("\n".join(section.title for section in here[:by]), paragraphs[first].place)
    moved = [Section(section.title, section.start + 1, section.level) for section in sections[by:]]
    return [*paragraphs[:first], page, *paragraphs[first:]], moved
