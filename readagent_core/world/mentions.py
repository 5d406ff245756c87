"""Where names stand in a text, as they are spelled there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from readagent_core.document import Document
from readagent_core.words import collapse_whitespace
from readagent_core.world.names import ARTICLE, HONORIFIC, PAGE_OF_NAME

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_KATAKANA = re.compile(r"[\u30a0-\u30ff]")


@dataclass(frozen=True)
class Mention:
    """Characters ``start`` to ``end`` of ``paragraph`` name somebody or something."""

    paragraph: int
    start: int
    end: int


def spellings(name: str) -> set[str]:
    """Return how ``name`` may stand in the text: without its article, without an honorific, with another apostrophe."""
    core = ARTICLE.sub("", PAGE_OF_NAME.sub("", collapse_whitespace(name)))
    return {core, core.replace("'", "’"), HONORIFIC.sub("", core)} - {""}


def find_mentions(document: Document, names: Mapping[str, int]) -> Mapping[str, tuple[Mention, ...]]:
    """Return where each of ``names`` stands in the text, in order, as it is written there.

    ``names``: with the paragraph from which each is known. Of names at one place the longest wins where it is known, of
    two that are spelled alike the one that became known last.
    Letter case matters, an article before a name does not. In scripts with spaces whole words are meant.
    """
    texts = [paragraph.text for paragraph in document.paragraphs]
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    whole = "\n".join(texts)
    hits: list[tuple[int, int, int, str]] = []
    for name in names:
        for spelled in spellings(name):
            at = whole.find(spelled)
            while at >= 0:
                end = at + len(spelled)
                if _is_apart(whole, at, end):
                    hits.append((at, -end, -names[name], name))
                at = whole.find(spelled, end)
    found: defaultdict[str, list[Mention]] = defaultdict(list)
    beyond = 0
    for start, negative_end, _, name in sorted(hits):
        if start >= beyond:
            index = bisect_right(starts, start) - 1
            if names[name] <= index:
                beyond = -negative_end
            elif PAGE_OF_NAME.search(name):
                continue
            found[name].append(Mention(index, start - starts[index], -negative_end - starts[index]))
    return {name: tuple(found[name]) for name in names}


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether the characters round ``start`` and ``end`` do not continue the word there."""
    return not (_continues(text[start - 1 : start], text[start]) or _continues(text[end : end + 1], text[end - 1]))


def _continues(beside: str, edge: str) -> bool:
    if not beside or not beside.isalnum():
        return False
    if _CJK.match(edge):
        return bool(_KATAKANA.match(edge) and _KATAKANA.match(beside))
    return not _CJK.match(beside) and not ("\uac00" <= edge <= "\ud7a3")  # Korean particles follow without a space
