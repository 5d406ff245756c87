"""The marks that stand in prompts: page tags and labels, and how a book's own look-alikes are disarmed.

A text that itself says ``<Page 7>`` or ``<57>`` must not be taken for a mark of ours: its angle brackets are
shown to the model as ‹ ›. Knows nothing of documents or models.
"""

from __future__ import annotations

import re

_FULL_TEXT = {"ja": "（全文）"}
_LOOK_ALIKE = re.compile(r"<(\s*(?:page|ページ)?\s*[\d０-９]+\s*(?:\|\s*[\d０-９]+\s*)?)>", re.IGNORECASE)
_TAG = re.compile(r"^<Page (\d+)>( \(full text\)|（全文）)?$", re.MULTILINE)
_LABEL = re.compile(r"^<(\d+)(?: \| (\d+))?>$", re.MULTILINE)


def page_tag(number: int, *, full: bool = False, language: str = "en") -> str:
    """The line above a page in the memory; ``full``: the page stands there in full text."""
    mark = _FULL_TEXT.get(language.split("-")[0], " (full text)") if full else ""
    return f"<Page {number}>{mark}"


def label(number: int, words_before: int | None = None) -> str:
    """A numbered label between paragraphs; with the words so far for the one-prompt pagination."""
    return f"<{number}>" if words_before is None else f"<{number} | {words_before}>"


def disarm(text: str) -> str:
    """``text`` with everything that looks like one of our marks written with ‹ › instead."""
    return _LOOK_ALIKE.sub(r"‹\1›", text) if "<" in text else text


def split_memory(text: str) -> list[tuple[int, bool, str]]:
    """A rendered memory as (page number, in full?, its text), in order; the reverse of its rendering."""
    found = list(_TAG.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)][: len(found)]
    return [
        (int(m.group(1)), bool(m.group(2)), text[m.end() : end].strip()) for m, end in zip(found, ends, strict=True)
    ]


def split_passage(text: str) -> list[tuple[str, int]]:
    """A labelled passage as (text before the label, label), in order; text after the last label is left out."""
    pieces: list[tuple[str, int]] = []
    position = 0
    for found in _LABEL.finditer(text):
        pieces.append((text[position : found.start()].strip(), int(found.group(1))))
        position = found.end()
    return pieces
