"""Compares titles and names as files write them: in headings, on title pages, in metadata."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import islice

from readagent_core.loaders import contents

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
