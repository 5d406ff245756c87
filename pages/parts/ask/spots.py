"""Where the words are in the whole text that a claim rests on, for the reader, which has no pages of a gisting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages.parts.ask.book_views import focus_of
from pages.parts.ask.one_state import AskOneBook, whole_document
from pages.parts.ask.several_state import Several
from pages.parts.read.book_text import whole_places
from pages.parts.shared.memory_view import utf16_offset
from readagent_core.answering import replay
from readagent_core.answering.base import Event
from readagent_core.citations import Citation
from readagent_core.document import Document
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory

Spots = list[list[int]]  # of each passage: paragraph of the whole text, start and end in UTF-16 code units


def spots_of(citation: Citation, memory: GistMemory, whole: Document) -> Spots:
    """The words that a citation rests on; where none were found, the beginning of its page; [] where it has no page."""
    found = [_in_whole(memory, whole, quoted.paragraph, quoted.start, quoted.end) for quoted in citation.places]
    if not found and 1 <= citation.page <= len(memory.pages):
        found.append(_in_whole(memory, whole, memory.page(citation.page).start, 0, 0))
    return found


def _in_whole(memory: GistMemory, whole: Document, paragraph: int, start: int, end: int) -> list[int]:
    """Words in the memory's document, by characters, as a spot."""
    at, before = whole_places(memory.document, whole)[paragraph]
    text = memory.document.paragraphs[paragraph].text
    return [at, before + utf16_offset(text, start), before + utf16_offset(text, end)]


def add_spots(now: AskOneBook, exchange: Exchange, record: dict[str, Any], events: Sequence[Event], text: str) -> None:
    """Give every chip of a finished answer its ``spots``; those of what is not found are moved to the whole text."""
    answer = replay.answer_of(events)
    if answer is None:
        return
    memory = now.memory_of(exchange)
    whole = whole_document(now.workspace, now.workspace.library.gisting(exchange.gisting_id))
    citations = now.check(exchange, text, answer).citations
    for cite in (cite for part in (*record["pieces"], {"cites": record["loose"]}) for cite in part["cites"]):
        if 0 <= cite["at"] < len(citations):
            cite["spots"] = spots_of(citations[cite["at"]], memory, whole)
    for piece in (record["notFound"] or {}).get("pieces", ()):
        for cite in piece["cites"]:
            cite["spots"] = [_in_whole(memory, whole, paragraph, start, end) for paragraph, start, end in cite["spots"]]


def spots_on_page(now: AskOneBook | Several, page: int, *, book_id: str) -> Spots:
    """The words on a page of a book that the current answer rests on, those of the pressed claim first."""
    current = now.current
    if current is None:
        return []
    events = replay.events_of(current)
    answer = replay.answer_of(events)
    if answer is None or now.why_hidden(current, events):
        return []
    number, gisting_id = 0, current.gisting_id
    if isinstance(now, Several):
        numbered = now.numbered(current).items()
        number, gisting_id = next(((n, of) for n, (known, of, _) in numbered if known == book_id), (0, 0))
    memory = now.memory_of(current, number)
    if memory is None:
        return []
    whole = whole_document(now.workspace, now.workspace.library.gisting(gisting_id))
    citations = now.check(current, answer.text, answer).citations
    pressed = focus_of(current).get("citation", -1)
    cited = sorted(enumerate(citations), key=lambda one: one[0] != pressed)
    return [
        spot
        for _, citation in cited
        if (citation.book, citation.page) == (number, page) and citation.places
        for spot in spots_of(citation, memory, whole)
    ]
