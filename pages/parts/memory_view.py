"""The memory view: pages beside their gists, the map of the book, and the gist memory with pages opened in place.

One component in four kinds, all of them fed from one store in the browser (``assets/memory_view/store.js``):

- ``pages``   a parcel of pages, invisible. A book is sent once, in parcels that never change while reading goes on.
- ``read``    the reader: text beside gist, pauses, map, search, views.
- ``outline`` sections with progress and the map's legend, for the sidebar; follows the reader without the server.
- ``memory``  the compact gist memory with expanded pages in place and passages marked, for Ask.

Every call takes a ``memory`` and a ``scope``, a name under which its pages are kept in the browser ("r12" for
reading 12). Ask sends the pages and shows
the memory; which of them stand open is told apart from that (``ask_told``), so that opening three sends three numbers.

All text reaches the DOM by ``textContent``; nothing of a book is ever markup.
Knows nothing of the library; every function here but the four that draw is plain and testable.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.sealed import sealed
from readagent_core.library.search import Hit
from readagent_core.memory import GistMemory, Page

FOLDER = Path(__file__).parents[2] / "assets" / "memory_view"
READER = ("place", "hits", "keys", "read", "toolbar", "edit")
PARTS = ("store", "dom", "map", "leaf", *READER, "outline", "../answer_view/told", "memory", "main")
PARCEL = 40  # pages a parcel: a change of one page sends about 80 KB again, a whole book of 1000 pages 2 MB
PARCEL_DONE = 200  # of a reading that is whole: fewer parcels are drawn sooner
MOST_HITS = 400  # places sent at once; a common word has ten thousands in a long book


@dataclass(frozen=True)
class Act:
    """What the person did: ``do`` ('open', 'ask', 'edit', …), the ``page`` it was done to, and its ``text``."""

    do: str
    page: int = 0
    text: str = ""


@cache
def _parcels() -> Any:
    # a component carries its script with every instance, so the many parcels have a small one of their own
    js = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in ("store", "parcel"))
    return st.components.v2.component("memory_pages", html="", css="", js=js)


@cache
def _component() -> Any:
    js = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in PARTS)
    css = (FOLDER / "memory_view.css").read_text(encoding="utf-8")
    return st.components.v2.component("memory_view", html='<div class="root"></div>', css=css, js=js)


# --- drawing --------------------------------------------------------------------------------------


def send_pages(memory: GistMemory, *, scope: str) -> None:
    """Put the pages of ``memory`` into the browser's store; parcels that did not change are not sent again."""
    with st.container(key=f"parcels_{scope}", gap=None):
        size = PARCEL_DONE if memory.complete else PARCEL
        for start in range(0, len(memory.pages), size):
            records = [page_record(memory, page) for page in memory.pages[start : start + size]]
            data = {"kind": "pages", "scope": scope, "from": start + 1, "pages": records}
            _parcels()(key=f"parcel_{scope}_{size}_{start}", data=sealed(data))


def show_memory(*, talk: str, key: str, on_act: Callable[[Act], None], height: int | str = "content") -> None:
    """The gist memory with pages in place. What it shows comes by ``answer_view.tell`` of the same ``talk``.

    Act: open (``page`` in Read), before anything is drawn again.
    """

    def told() -> None:
        act = _acts(st.session_state.get(key))
        if act:
            on_act(act)

    _component()(key=key, data=sealed({"kind": "memory", "talk": talk}), height=height, on_act_change=told)


def show_reader(memory: GistMemory, *, scope: str, key: str, state: Mapping[str, Any]) -> tuple[Act | None, Any]:
    """The reader. ``state``: what read.py adds (job, hits, goto, looked, look, …; see read.js).

    Returns what was done and where the person is (the paragraph at the top of the view), None until it moves.
    """
    data = {"kind": "read", "scope": scope, "count": len(memory.pages), "meta": book_facts(memory), **state}
    result = _component()(
        key=key,
        data=sealed(data),
        height="stretch",
        on_act_change=_nothing,
        on_at_change=_nothing,
        on_query_change=_nothing,
    )
    return _acts(result), result


def show_outline(memory: GistMemory, *, scope: str, key: str) -> None:
    """Sections with how far the person is, the book in one line, and the map's legend."""
    sections = [[s.title, s.level, s.start] for s in memory.document.sections]
    data = {"kind": "outline", "scope": scope, "sections": sections, "meta": book_facts(memory)}
    _component()(key=key, data=sealed(data))


def _nothing() -> None:
    """A trigger needs a callback to exist; what it carries is read from the result."""


def _acts(result: Any) -> Act | None:
    act = getattr(result, "act", None)
    return Act(str(act["do"]), int(act.get("page") or 0), str(act.get("text") or "")) if act else None


# --- what is sent ---------------------------------------------------------------------------------


def passage_records(memory: GistMemory, passages: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, list[Any]]:
    """``passages``: per page characters of ``memory.page_text`` to mark, as ``paragraph_place`` has them."""
    return {
        n: [place for place in (paragraph_place(memory, n, a, b) for a, b in spans) if place]
        for n, spans in passages.items()
    }


def book_facts(memory: GistMemory) -> dict[str, Any]:
    """What the browser must know of a book besides its pages."""
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
    """A page as the browser keeps it; short names, because a book has a thousand of them.

    n number, s first paragraph, t paragraphs, h headings [paragraph, level, title], c continuing paragraphs,
    p source places [paragraph, place] where they change, w words, r reason, e ends, f fallback, g gist.
    """
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
        "p": list(_places(memory, page)),
        "r": page.reason,
        "f": int(page.fallback),
        "g": gist_record(memory, page.number),
    }
    return record | {name: value for name, value in optional.items() if value}


def gist_record(memory: GistMemory, number: int) -> dict[str, Any] | None:
    """The gist of a page: t text, w words, f fallback, o whole, e edited, l level, m marks; None until made."""
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


def _places(memory: GistMemory, page: Page) -> Iterator[list[Any]]:
    before = memory.document.paragraphs[page.start - 1].place if page.start else ""
    for index in range(page.start, page.end):
        place = memory.document.paragraphs[index].place
        if place and (place != before or index == page.start):
            yield [index - page.start, place]
        before = place


def paragraph_place(memory: GistMemory, number: int, start: int, end: int) -> list[list[int]]:
    """Characters ``start`` to ``end`` of ``memory.page_text(number)`` as [paragraph, start, end] of its paragraphs.

    A place that runs over several paragraphs gives one piece each; what falls on a heading is left out.
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
            places = (utf16(paragraph.text, low - at), utf16(paragraph.text, high - at))
            pieces.append([index - page.start, *places])
        at += len(paragraph.text)
    return pieces


def hits_told(query: str, hits: Sequence[Hit], memory: GistMemory, *, near: int) -> dict[str, Any]:
    """What the reader is told of a search: ``counts``, [page, hits] of every page that has some; ``items``, the hits
    of the pages around page ``near``.
    """
    known = [hit for hit in hits if hit.page <= len(memory.pages)]  # the library may be a page ahead
    counts = [list(pair) for pair in Counter(hit.page for hit in known).items()]
    return {"query": query, "counts": counts, "items": hit_records(hits_around(known, near), memory)}


def hits_around(hits: Sequence[Hit], page: int) -> Sequence[Hit]:
    """About ``MOST_HITS`` of them, on whole pages on both sides of ``page``."""
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
        records.append([hit.page, hit.field[0], inside, utf16(text, hit.start), utf16(text, hit.end)])
    return records


def utf16(text: str, place: int) -> int:
    """A place in ``text`` as browsers count it, where letters beyond the basic plane are two."""
    return place if text.isascii() else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
