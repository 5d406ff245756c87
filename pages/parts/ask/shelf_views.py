"""What Ask shows of several books: those that were opened with their pages, the others closed, at each step.

``assets/protocol.d.ts`` has the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from pages.parts.ask.book_views import focus_of, memory_step
from pages.parts.ask.in_text import InText
from pages.parts.ask.keeping import stored_answers
from pages.parts.ask.record import Sources, is_missing
from pages.parts.ask.several_state import LISTED, Several
from pages.parts.ask.state import exchange_now
from pages.parts.ask.wording import look_ups, titles_named
from pages.parts.read.original import original_of
from pages.parts.read.start import said_estimate
from pages.parts.shared.answer import with_place
from pages.parts.shared.memory_view import EMPHASIS_MARKS, book_facts, part_records, place_name, utf16_offset
from readagent_core.answering import replay
from readagent_core.answering.base import BooksShown, Event
from readagent_core.answering.parts import ClosedBook, closed_books, parts_seen
from readagent_core.answering.shelf import ShelfBook
from readagent_core.citations import Checked
from readagent_core.citations.quotation_search import QuotedPlace, SearchableText, find_in
from readagent_core.errors import NotInLibraryError
from readagent_core.export.citation_labels import short_place, short_title
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.words import collapse_whitespace, count_of, first_words, pages_up_to

Opened = dict[int, tuple[str, GistMemory]]

_TITLES = 20  # most titles that are named of books that are not drawn
_ESTIMATED = 6  # most books of which it is said what their gists would take


def sources(now: Several, exchange: Exchange, events: Sequence[Event], text: str) -> Sources:
    titles = {number: short_title(title) for number, title in titles_of(now, exchange).items()}
    answer = replay.answer_of(events)
    checked = now.check(exchange, text, answer) if answer else None
    asked = {book_id: up_to for book_id, _, up_to in exchange.facts.books}
    titled = [(book.id, book.title) for book in now.kept_out] + [(book.id, book.title) for book in now.shelf.books]
    shut = [book for book in now.shelf.books if now.shelf.is_limited(book)]
    return Sources(
        _language(now),
        checked,
        look_ups(exchange, events, titles=titles),
        titles=titles,
        kept_out=[title for book_id, title in titled if book_id not in asked],
        limited=[book.title for book in now.shelf.books if asked.get(book.id) or (book in shut and book.id in asked)],
        can_let_in=bool(now.kept_out or shut),
        in_text=InText(_nowhere(now, exchange)) if answer and is_missing(exchange, answer) else InText(),
    )


def _nowhere(now: Several, exchange: Exchange) -> tuple[str, ...]:
    """The words of a question that no book has that it was asked of. Looked for once in a session: every text is
    read for it.
    """
    question = exchange.facts.standalone or exchange.question
    asked = {book_id for book_id, _, _ in exchange.facts.books}
    books = [book for book in now.shelf.books if book.id in asked]
    known: dict[tuple[Any, ...], tuple[str, ...]] = st.session_state.setdefault("ask_nowhere", {})
    key = (question, *((book.id, book.up_to, book.words + book.text_words) for book in books))
    if key not in known:
        known[key] = now.shelf.nowhere(question, books)
    return known[key]


def name_places(now: Several, exchange: Exchange, record: dict[str, Any], checked: Checked | None) -> None:
    """Add to each claim whose words were found in a book without gists in which chapter they stand."""
    numbered = now.numbered(exchange)
    for chip in (chip for piece in (*record["pieces"], {"cites": record["loose"]}) for chip in piece["cites"]):
        cited = checked.citations[chip["at"]] if checked and chip["at"] >= 0 else None  # none while it is written
        if cited and cited.places and not cited.page:
            name = _place_of(now, numbered[cited.book][0], cited.quotation).name
            if name:
                chip["label"] = f"{chip['label']}, {short_place(name)}"
                chip["why"] = with_place(name, chip["why"])


class _Place(NamedTuple):
    """Where words are in a book: the chapter, else how far into it, and the spot for the reader (see ``spots``).

    Both empty where they are not found.
    """

    name: str = ""
    spot: tuple[int, ...] = ()


def _place_of(now: Several, book_id: str, words: str) -> _Place:
    """Where ``words`` are. Looked for once in a session: an answer under way is drawn many times, and the whole text
    is read for it.
    """
    known: dict[tuple[str, str], _Place] = st.session_state.setdefault("ask_places", {})
    if (book_id, words) not in known:
        known[book_id, words] = _find_place(now, book_id, words)
    return known[book_id, words]


def _find_place(now: Several, book_id: str, words: str) -> _Place:
    try:
        document = now.workspace.library.document(book_id)
    except NotInLibraryError:
        return _Place()
    wanted = max(_plain(words).split("…"), key=len).strip()
    at = (i for i, paragraph in enumerate(document.paragraphs) if wanted and wanted in _plain(paragraph.text))
    index = next(at, None)
    if index is None:
        return _Place()
    text = document.paragraphs[index].text
    (found, *_) = (*find_in(SearchableText([(text, index, False)]), wanted, page=0), QuotedPlace(0, index, 0, 0))
    spot = (index, utf16_offset(text, found.start), utf16_offset(text, found.end))
    return _Place(place_name(document, index, document.section_of(index)), spot)


def _plain(text: str) -> str:
    return collapse_whitespace(EMPHASIS_MARKS.sub("", text))


def _language(now: Several) -> str:
    return now.shelf.books[0].language if now.shelf.books else "en"


def titles_of(now: Several, exchange: Exchange) -> dict[int, str]:
    """The titles of the books of an exchange by number."""
    known = {book.id: book.title for book in now.shelf.books}
    events = exchange_now(now.workspace, exchange)[1]
    known = {id: title for e in events if isinstance(e, BooksShown) for _, id, title, _ in e.books} | known
    return {n: known.get(book_id, f"book {n}") for n, (book_id, _, _) in now.numbered(exchange).items()}


def views(
    now: Several, events: Sequence[Event], steps: Sequence[replay.Step | None], text: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The books' part of ``AskState`` in ``assets/protocol.d.ts``, and what is shown of them at each step."""
    current = now.current
    opened = opened_books(now)
    answer = replay.answer_of(events) if current else None
    checked = now.check(current, text, answer) if current and answer else None
    books = _books(now, current, events, opened, checked)
    whole: dict[str, Any] = {
        "kept": list(stored_answers(now.workspace, now.book_ids)),
        "questions": [],
        "notice": "",
        "waiting": None,
        "link": f"?exchange={current.id}&step=" if current else "",
        "memory": None,
        "shelf": {"books": books, "keptOut": _kept_out(now, books), "others": _others(now, books), "name": now.title},
    }
    return whole, [{"memory": None, "shelf": _view(now, step, opened, checked)} for step in steps]


# --- the books ------------------------------------------------------------------------------------


def opened_books(now: Several) -> Opened:
    """The books whose pages are drawn, by number: the name of their pages in the browser, and the memory."""
    events = exchange_now(now.workspace, now.current)[1] if now.current else ()
    hidden = now.current is not None and now.why_hidden(now.current, events)
    steps = [] if hidden else replay.steps(events)
    found: Opened = {}
    for number, (book_id, gisting_id, up_to) in now.numbered(now.current).items():
        wanted = book_id in now.opened or any(_is_open(step, number) for step in steps)
        memory = now.load(gisting_id, up_to) if wanted else None
        if memory is not None:
            found[number] = (f"r{gisting_id}{f' {up_to}' if up_to is not None else ''}", memory)
    return found


def _is_open(step: replay.Step, number: int) -> bool:
    """Whether the view of a step has more of a book than one gist of it all."""
    shown = step.books[number].shown if number in step.books else ()
    return bool(shown) and not (len(shown) == 1 and shown[0][2] == "part")


def _books(
    now: Several, exchange: Exchange | None, events: Sequence[Event], opened: Opened, checked: Checked | None
) -> list[dict[str, Any]]:
    """A ``ShelfBook`` of protocol.d.ts for every book that was shown, or that a question would be asked of."""
    steps = replay.steps(events)
    known = {book.id: book for book in now.shelf.books}
    closed = closed_books(events, _language(now))
    seen = {number for step in steps for number in step.books}
    seen |= {book[0] for event in events if isinstance(event, BooksShown) for book in event.books}
    found: list[dict[str, Any]] = []
    for number, (book_id, _, _) in now.numbered(exchange).items():
        book = known.get(book_id)
        if book is None or not (exchange is None or not seen or number in seen or not book.pages):
            continue
        shown: dict[str, Any] = {"memory": None, "cells": []}
        if number in opened:
            scope, memory = opened[number]
            parts = part_records(parts_seen(events, memory, book=number), memory)
            meta = book_facts(memory)
            original = original_of(now.workspace.library.book(book_id))
            pages = {"scope": scope, "original": original, "count": len(memory.pages), "meta": meta, "parts": parts}
            whole = now.load(now.numbered(exchange)[number][1], None) or memory
            rest = sum(page.words for page in whole.pages[len(memory.pages) :])
            cells = [*(page.words for page in memory.pages), *([rest] if rest else [])]
            shown = {"memory": {**pages, "limit": None, "whatIf": None, "curtain": None}, "cells": cells}
        found.append({"number": number, **_book(now, book, closed.get(number), _quoted(checked, number)), **shown})
    # of more than are drawn, those that the answer opened; each keeps its place among the books
    first = sorted(found, key=lambda one: not any(_is_open(step, one["number"]) for step in steps))[:LISTED]
    return sorted(first, key=lambda one: one["number"])


def _quoted(checked: Checked | None, number: int) -> dict[int, list[tuple[int, int]]]:
    """The words that an answer quotes of a book without gists, by the number of the found line that has them."""
    found: dict[int, list[tuple[int, int]]] = {}
    for citation in checked.citations if checked else ():
        for place in citation.places if citation.book == number and not citation.page else ():
            found.setdefault(place.paragraph, []).append((place.start, place.end))
    return found


def _book(
    now: Several, book: ShelfBook, told: ClosedBook | None, quoted: Mapping[int, Sequence[tuple[int, int]]]
) -> dict[str, Any]:
    opening = first_words(collapse_whitespace(book.opening), 40)
    return {
        "id": book.id,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "pages": book.pages,
        "gist": (told.gist if told and book.pages else "") or book.gist or (f"{opening} …" if opening else ""),
        "own": bool(told and told.gist) or bool(book.gist),
        "found": [
            _found_line(now, book, page, words, quoted.get(i, ()))
            for i, (page, words) in enumerate(told.found if told else ())
        ],
        "limit": _limit(now, book),
        "limited": now.shelf.is_limited(book),
        "letIn": now.shelf.is_lifted(book),
        "byHand": book.id in now.opened,
        "takes": _takes(now, book),
    }


def _limit(now: Several, book: ShelfBook) -> str:
    """What the spoiler limit of a book lets in, or did for the answer that is shown; '' without one."""
    if now.shelf.is_limited(book):
        return f"Limited to {pages_up_to(book.up_to) if book.up_to else f'its first {book.text_words:,} words'}."
    asked = now.current.facts.books if now.current else ()
    then = next((up_to for book_id, _, up_to in asked if book_id == book.id), None)
    return f"Answered with {pages_up_to(then)} only." if then else ""


def _found_line(
    now: Several, book: ShelfBook, page: int, words: str, quoted: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """A ``FoundLine`` of protocol.d.ts: a place in which words of the question were found."""
    name, spot = (f"page {page}", ()) if page else _place_of(now, book.id, words)
    if quoted:
        spot = _place_of(now, book.id, words[slice(*quoted[0])]).spot or spot
    more = "" if words.endswith((*".!?。！？…”’\"'",)) else " …"  # it was cut
    spans = [[utf16_offset(words, start), utf16_offset(words, end)] for start, end in quoted]
    return {
        "place": name.rstrip(".")[:1].upper() + name.rstrip(".")[1:],
        "text": words + more,
        "quoted": spans,
        "page": page,
        "spot": list(spot),
    }


def _takes(now: Several, book: ShelfBook) -> str:
    """What the gists of a book would take, of the first books without any; else ''."""
    unread = [one.id for one in now.shelf.books if not one.pages][:_ESTIMATED]
    return said_estimate(now.workspace, book.id) if book.id in unread else ""


def _kept_out(now: Several, books: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The books that are kept out, each with its place among all that are drawn, in the order of the choice."""
    out = {book.id: book for book in now.kept_out[:LISTED]}
    drawn = {*out, *(book["id"] for book in books)}
    chosen = [book_id for book_id in now.chosen.book_ids if book_id in drawn]
    return [
        {"id": book_id, "title": out[book_id].title, "language": out[book_id].language, "at": at}
        for at, book_id in enumerate(chosen)
        if book_id in out
    ]


def not_asked(now: Several, exchange: Exchange) -> str:
    """What is said of the books that were let in since a question was asked; '' of none."""
    asked = {book_id for book_id, _, _ in exchange.facts.books}
    later = [book.title for book in now.shelf.books if book.id not in asked]
    them = "it" if len(later) == 1 else "them"
    return f"Not asked yet: {titles_named(later, _TITLES)}. Ask again to have {them} too." if later else ""


def _others(now: Several, books: Sequence[Mapping[str, Any]]) -> str:
    """What is said of the books that are not drawn; '' where all are."""
    shown, asked = {book["id"] for book in books}, now.numbered(now.current).values()
    known = {book_id for book_id, _, _ in asked}
    rest = [book.title for book in now.shelf.books if book.id not in shown and book.id in known]
    number = count_of(len(rest), "book")
    said = f"{number} not shown, words are looked for in all: {titles_named(rest, _TITLES)}." if rest else ""
    return " ".join(filter(None, [not_asked(now, now.current) if now.current else "", said]))


# --- the views ------------------------------------------------------------------------------------


def _view(now: Several, step: replay.Step | None, opened: Opened, checked: Checked | None) -> dict[str, Any]:
    """``ShelfStep``: the memory of every opened book at ``step``, and the place to go to."""
    last = step is not None and step.kind == replay.ANSWER
    focus = focus_of(now.current) if last else {}
    drawn: dict[int, dict[str, Any]] = {}
    numbered = now.numbered(now.current)  # a model may name any number
    cited = checked.citations if checked and last and not focus else ()
    first = next((c for c in cited if c.book in numbered), None)
    to, line = focus.get("book", 0), focus.get("line", 0)
    if first:
        to = first.book
        line = first.places[0].paragraph if first.places and not first.page else 0  # of a book without gists
    gone = False  # one book alone goes to its page
    for number, (_, memory) in opened.items():
        here = step.books.get(number) if step else None
        own = [c for c in checked.citations if c.book == number] if checked and last else []
        rests = replace(checked, pieces=(), loose=tuple(own)) if checked and own else None
        clicked = focus.get("book") == number
        drawn[number] = view = memory_step(memory, here, here, rests, focus if clicked else {})
        view |= {"note": "", "open": bool(step and _is_open(step, number))}
        if number != to if to else gone:
            view |= {"focus": None, "wanted": False}
        gone = gone or view["focus"] is not None
    go = {"book": to, "nonce": focus.get("nonce", 0), "line": line} if to else None
    return {"books": drawn, "go": go, "note": _note(step)}


def _note(step: replay.Step | None) -> str:
    """'4 books, 2 pages opened in place, 1,379 words'"""
    if step is None or not step.books:
        return ""
    full = sum(len(one.expanded) for one in step.books.values())
    opened = f", {count_of(full, 'page')} opened in place" if full else ""
    return f"{count_of(len(step.books), 'book')}{opened}, {step.words:,} words"
