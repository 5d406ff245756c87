"""The memory view: pages beside their gists, the map of the book, and the gist memory with pages opened in place.

One component has three kinds of view, and an invisible one sends them pages (``assets/memory_view/book_store.js``):

- ``pages``   a batch of pages. A book is sent once, in batches that do not change while reading continues.
- ``read``    the reader: text beside gist, pauses, map, search, views.
- ``outline`` sections with progress and the map's legend, for the sidebar; follows the reader without the server.
- ``memory``  the gist memory with expanded pages in place and passages marked, for Ask.

``scope`` is the name under which the browser stores a reading's pages ("r12" for reading 12). Ask sends the pages once;
which of them are open is sent separately (``ask.payload``), so opening three pages sends three numbers.

The types of what is sent and received are in ``assets/memory_view/types.js``. All text reaches the DOM by
``textContent``; nothing of a book is ever markup.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.shared.component import Act, act_of, call_with_act, component, no_callback
from readagent_core.library.search import Hit
from readagent_core.memory import GistMemory, Page

BATCH = 40  # pages in a batch: a change of one page sends about 80 KB again, a whole book of 1000 pages 2 MB
BATCH_COMPLETE = 200  # of a complete reading: fewer batches are drawn sooner
MOST_HITS = 400  # positions sent at once; a common word has tens of thousands in a long book


def _view() -> Callable[..., Any]:
    return component("memory_view", "memory_view/main.js", style="memory_view/memory_view.css")


# --- drawing --------------------------------------------------------------------------------------


def send_pages(memory: GistMemory, *, scope: str) -> None:
    """Put the pages of ``memory`` into the browser's store; Streamlit sends no batch again that did not change."""
    # a script goes along with every instance of its component, so the many batches have a small one of their own
    send = component("memory_pages", "memory_view/receive_pages.js", html="")
    with st.container(key=f"batches_{scope}", gap=None):
        size = BATCH_COMPLETE if memory.complete else BATCH
        for start in range(0, len(memory.pages), size):
            records = [page_record(memory, page) for page in memory.pages[start : start + size]]
            data = {"scope": scope, "from": start + 1, "pages": records}
            send(key=f"batch_{scope}_{size}_{start}", data=data)


def show_memory(*, book: str, key: str, on_act: Callable[[Act], None]) -> None:
    """Draw the gist memory with pages opened in place, as ``answer_view.send_state`` of the same ``book`` says.

    ``on_act`` is called before the next run, with act 'open' (``page`` is to be opened in Read).
    """

    data = {"kind": "memory", "book": book}
    _view()(key=key, data=data, height="stretch", on_act_change=call_with_act(on_act, key))


def show_reader(memory: GistMemory, *, scope: str, key: str, state: Mapping[str, Any]) -> tuple[Act | None, Any]:
    """Draw the reader; return what was done, or None, and the component's result: ``at`` (the position) and ``query``.

    ``state``: the other fields of ``ReaderData`` in types.js: job, hits, goto, looked, lit, look, view, can.
    """
    data = {"kind": "read", "scope": scope, "count": len(memory.pages), "meta": book_facts(memory), **state}
    result = _view()(
        key=key,
        data=data,
        height="stretch",
        on_act_change=no_callback,
        on_at_change=no_callback,
        on_query_change=no_callback,
    )
    return act_of(result), result


def show_outline(memory: GistMemory, *, scope: str, key: str) -> None:
    """Draw the sections with how far the person has read, the book in one line, and the map's legend."""
    sections = [[s.title, s.level, s.start] for s in memory.document.sections]
    data = {"kind": "outline", "scope": scope, "sections": sections, "meta": book_facts(memory)}
    _view()(key=key, data=data)


# --- what is sent ---------------------------------------------------------------------------------


def passage_records(memory: GistMemory, passages: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, list[Any]]:
    """The passages of each page to mark, given as characters of its text, as the pieces of ``passage_pieces``."""
    return {
        n: [pieces for pieces in (passage_pieces(memory, n, a, b) for a, b in spans) if pieces]
        for n, spans in passages.items()
    }


def book_facts(memory: GistMemory) -> dict[str, Any]:
    """``BookFacts`` of types.js: what the browser must know of a book besides its pages."""
    document = memory.document
    return {
        "title": document.title,
        "language": document.language,
        "rtl": document.right_to_left,
        "words": document.words,
        "paragraphs": len(document.paragraphs),
        "marked": document.format == "markdown",
        "complete": memory.complete,
        "recorded": memory.recorded,
    }


def page_record(memory: GistMemory, page: Page) -> dict[str, Any]:
    """A ``Page`` of types.js; what is empty is left out."""
    document = memory.document
    inside = range(page.start, page.end)
    record: dict[str, Any] = {
        "n": page.number,
        "s": page.start,
        "t": [document.paragraphs[i].text for i in inside],
        "w": page.words,
        "e": page.ends,
    }
    optional = {
        "h": [[i - page.start, s.level, s.title] for i in inside for s in document.headings(i)],
        "c": [i - page.start for i in inside if document.paragraphs[i].continues],
        "p": list(_source_places(memory, page)),
        "r": page.reason,
        "f": int(page.fallback),
        "g": gist_record(memory, page.number),
    }
    return record | {name: value for name, value in optional.items() if value}


def gist_record(memory: GistMemory, number: int) -> dict[str, Any] | None:
    """A ``Gist`` of types.js; None until it is made."""
    gist = memory.gists[number - 1]
    if gist is None:
        return None
    optional = {
        "f": int(gist.fallback),
        "o": int(gist.whole),
        "e": int(gist.edited),
        "l": gist.level,
        "m": list(gist.marks),
    }
    return {"t": gist.text, "w": gist.words} | {name: value for name, value in optional.items() if value}


def _source_places(memory: GistMemory, page: Page) -> Iterator[list[Any]]:
    """Yield [paragraph, place in the source], at the page's start and wherever the place changes."""
    before = memory.document.paragraphs[page.start - 1].place if page.start else ""
    for index in range(page.start, page.end):
        place = memory.document.paragraphs[index].place
        if place and (place != before or index == page.start):
            yield [index - page.start, place]
        before = place


def passage_pieces(memory: GistMemory, number: int, start: int, end: int) -> list[list[int]]:
    """Characters ``start`` to ``end`` of ``memory.page_text(number)`` as [paragraph, start, end] of its paragraphs.

    A passage of several paragraphs gives one piece for each; what falls on a heading is left out.
    """
    page = memory.page(number)
    pieces: list[list[int]] = []
    at = 0
    for index in range(page.start, page.end):
        paragraph = memory.document.paragraphs[index]
        if index > page.start and not (paragraph.continues and not memory.document.headings(index)):
            at += 2  # the blank line between paragraphs, as Document.text writes it
        at += len(memory.document.shown(index)) - len(paragraph.text)
        low, high = max(start, at), min(end, at + len(paragraph.text))
        if low < high:
            places = (utf16_offset(paragraph.text, low - at), utf16_offset(paragraph.text, high - at))
            pieces.append([index - page.start, *places])
        at += len(paragraph.text)
    return pieces


def hits_payload(query: str, hits: Sequence[Hit], memory: GistMemory, *, near: int) -> dict[str, Any]:
    """``SearchHits`` of types.js: the number of hits on every page, and the positions on pages around ``near``."""
    known = [hit for hit in hits if hit.page <= len(memory.pages)]  # the library may be a page ahead
    counts = [list(pair) for pair in Counter(hit.page for hit in known).items()]
    return {"query": query, "counts": counts, "items": hit_records(hits_around(known, near), memory)}


def hits_around(hits: Sequence[Hit], page: int) -> Sequence[Hit]:
    """About ``MOST_HITS`` of the hits, on whole pages on both sides of ``page``."""
    pages = [hit.page for hit in hits]
    first = max(0, min(bisect_left(pages, page) - MOST_HITS // 2, len(pages) - MOST_HITS))
    last = min(len(pages), first + MOST_HITS) - 1
    return hits[bisect_left(pages, pages[first]) : bisect_right(pages, pages[last])] if hits else hits


def hit_records(hits: Sequence[Hit], memory: GistMemory) -> list[list[Any]]:
    """Search hits as [page, 't' or 'g', paragraph within the page, start, end]."""
    records: list[list[Any]] = []
    for hit in hits:
        inside = hit.paragraph - memory.page(hit.page).start if hit.field == "text" else 0
        gist = memory.gists[hit.page - 1]
        text = memory.document.paragraphs[hit.paragraph].text if hit.field == "text" else gist.text if gist else ""
        records.append([hit.page, hit.field[0], inside, utf16_offset(text, hit.start), utf16_offset(text, hit.end)])
    return records


def utf16_offset(text: str, place: int) -> int:
    """A position in ``text`` in UTF-16 code units, as browsers count."""
    return place if text.isascii() else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
