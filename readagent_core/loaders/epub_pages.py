"""Which files of an EPUB are no chapters: the title page, and its publisher's own pages (imprint, copyright, colophon).

Told by what the file says it is (``epub:type``, ``role``) and by how the table of contents names it.
"""

from __future__ import annotations

import re

from bs4 import Tag

from readagent_core.loaders.markup import types

CHAPTER, TITLE_PAGE, PUBLISHER = "", "title page", "publisher"
MOST_WORDS = 1500  # a longer page is read, whatever it is called
_PUBLISHERS = frozenset({"imprint", "colophon", "copyright-page"})
_TITLES = frozenset({"titlepage", "halftitlepage", "halftitle"})
_NAMED = re.compile(
    r"(?:un)?copyright(?:\s+(?:page|notice|information))?|imprint|colophon|impressum|copyright[- ]seite|奥付",
    re.IGNORECASE,
)


def kind(body: Tag, titles: list[str]) -> str:
    """What ``body`` is the page of; ``titles``: what the table of contents calls it."""
    said = set(types(body))
    tag = body
    while (only := _only_child(tag)) is not None:
        said |= types(only)
        tag = only
    if said & _PUBLISHERS or any(_NAMED.fullmatch(title.strip(" .:")) for title in titles):
        return PUBLISHER
    return TITLE_PAGE if said & _TITLES else CHAPTER


def _only_child(tag: Tag) -> Tag | None:
    """The one element that holds everything in ``tag``."""
    held = [child for child in tag.children if isinstance(child, Tag) or str(child).strip()]
    only = held[0] if len(held) == 1 else None
    return only if isinstance(only, Tag) and only.name in ("section", "div", "article", "main") else None
