"""What a book's card says: read, reading, paused, not read. No widgets."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from pages.parts.shared.reading_status import pages_expected, saved_line
from readagent_core.library.records import Book, Reading
from readagent_core.memory import GistMemory
from readagent_core.words import count_of
from readagent_core.workspace.reading import PAUSED

SORTS = {"opened": "Last opened", "added": "Newest", "title": "Title", "author": "Author", "words": "Longest"}

BY_RULE = (
    "Where a reply of the model could not be used, a fixed rule was used: the page ends at the last possible place, "
    "or its gist is made of its first sentences. In the reader these pages say “by rule”."
)


@dataclass(frozen=True)
class CardStatus:
    """``kind``: 'read', 'reading', 'paused', 'failed' or 'new'. ``percent``: how far it is read, None if not shown.

    ``line``: the status in a word or two; ``more``: in a sentence; ``button``: the label of the card's button;
    ``about``: the explanation of a word in ``more``, '' for none.
    """

    kind: str
    line: str
    more: str
    button: str
    percent: float | None = None
    about: str = ""


def card_status(book: Book, reading: Reading | None, memory: GistMemory | None, *, running: bool) -> CardStatus:
    """The status of a book. ``reading``: the one to show; ``memory``: its memory; ``running``: a job reads it."""
    if running and (reading is None or memory is None or not memory.pages):
        return CardStatus("reading", "Reading", "Finding the first pauses", "Read meanwhile", 0.0)
    if reading is None or memory is None or not memory.pages:
        return CardStatus("new", "Not read", "", "Start reading")
    words = sum(p.words for p in memory.pages)
    percent = 100 * words / max(1, memory.document.words)
    expected = pages_expected(len(memory.pages), words, memory.document.words)
    if running:
        done = f"{len(memory.readable)} of about {count_of(expected, 'page')}"
        share = 100 * sum(memory.page(n).words for n in memory.readable) / max(1, memory.document.words)
        return CardStatus("reading", f"Reading {share:.0f} %", done, "Read meanwhile", share)
    if memory.complete:
        by_rule = sum(
            p.fallback or (g is not None and g.fallback) for p, g in zip(memory.pages, memory.gists, strict=True)
        )
        return CardStatus("read", "Read", _read_line(memory, by_rule), "Open", about=BY_RULE if by_rule else "")
    why = reading.why or f"{saved_line(len(memory.pages), expected)}."
    kind = "failed" if reading.state == "failed" else "paused"
    button = "See why" if reading.why not in ("", PAUSED) else "Open"  # the person paused it
    line = "Stopped" if kind == "failed" else "Paused"
    return CardStatus(kind, line, why.removeprefix(f"{line}. "), button, percent)


def _read_line(memory: GistMemory, by_rule: int) -> str:
    pages = count_of(len(memory.pages), "page")
    if by_rule:
        return f"{pages}; {by_rule:,} made by rule, not by the model"
    gists = "gist is" if len(memory.pages) == 1 else "gists are"
    return f"{pages}; the {gists} {100 - memory.compression_rate:.0f} % as long"


def when(stamp: float | None, *, now: float | None = None) -> str:
    """How long ago, for people: 'Opened today', 'Opened 3 days ago', '' for never."""
    if stamp is None:
        return ""
    days = int(((now or time.time()) - stamp) // 86_400)
    if days <= 0:
        return "Opened today"
    return "Opened yesterday" if days == 1 else f"Opened {days:,} days ago"


def sorted_books(books: Iterable[Book], *, by: str, query: str = "") -> list[Book]:
    """The books whose title or author has every word of ``query``, sorted by a key of ``SORTS``."""
    words = query.casefold().split()
    found = [b for b in books if all(w in f"{b.title} {b.author}".casefold() for w in words)]
    if by == "title":
        return sorted(found, key=lambda b: b.title.casefold())
    if by == "author":
        return sorted(found, key=lambda b: (b.author.casefold() or "￿", b.title.casefold()))
    if by == "words":
        return sorted(found, key=lambda b: -b.words)
    return sorted(found, key=lambda b: -(b.added if by == "added" else (b.opened or b.added)))
