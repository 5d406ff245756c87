"""The memory view: the reader with the map of the book, and the gist memory with pages opened in place.

One component has six kinds of view:

- ``read``    the reader: the text with pages, pauses and gists in its margins, the map, search, progress.
- ``outline`` sections with progress and the map's legend, for the sidebar; follows the reader without the server.
- ``notes``   the marks of several books, for the library.
- ``memory``  the gist memory with expanded pages in place and passages marked, for Ask.
- ``shelf``   the memory of several books, for Ask: each closed, or open as in ``memory``.
- ``maps``    the books of ``shelf`` side by side, each with how far its parts were opened.

Invisible components put what is shown into stores of the browser tab: the text of a book and the layer of a reading
(``pages.parts.read.book_text``), and for Ask a reading's pages with their text (``send_pages``). ``scope`` is the name
in the store ("r12" for reading 12 in Ask). Which pages are open in Ask is sent separately (``ask.payload``).

The types of what is sent and received are in ``assets/protocol.d.ts``. All text reaches the DOM by
``textContent``; nothing of a book is ever markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.shared.component import Act, act_of, call_with_act, component, no_callback
from readagent_core.answering.parts import PartSeen
from readagent_core.document import Document, Section
from readagent_core.memory import GistMemory, Page
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.words import count_words

STYLES = (
    "memory_view/memory_view.css memory_view/memory.css memory_view/shelf.css memory_view/marks.css "
    "memory_view/veil.css memory_view/world.css memory_view/hits.css memory_view/gist_speed.css pdf_page/panel.css"
)
EMPHASIS_MARKS = re.compile(r"(?<!\w)[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}(?!\w)")  # of which an excerpt may hold half
_BARE_NUMBER = re.compile(r"(?:\d{1,3}|[IVXLC]{1,8})\.?")  # of a section
BATCH = 40  # pages in a batch: a change of one page sends about 80 KB again, a whole book of 1000 pages 2 MB
BATCH_COMPLETE = 200  # of a complete reading: fewer batches are drawn sooner


def _view() -> Callable[..., Any]:
    return component("memory_view", "memory_view/main.js", style=STYLES)


# --- drawing --------------------------------------------------------------------------------------


def send_pages(memory: GistMemory, *, scope: str, limit: int | None = None) -> None:
    """Put the pages of ``memory`` into the browser's store; Streamlit sends no batch again that did not change.

    ``limit``: the last page that may be seen. Of later ones only the length is sent, for the map.
    """
    # a script goes along with every instance of its component, so the many batches have a small one of their own
    send = component("memory_pages", "memory_view/receive_pages.js", html="")
    with st.container(key=f"batches_{scope}", gap=None):
        size = BATCH_COMPLETE if memory.complete else BATCH
        for start in range(0, len(memory.pages), size):
            seen = [limit is None or page.number <= limit for page in memory.pages[start : start + size]]
            pages = zip(memory.pages[start : start + size], seen, strict=True)
            records = [page_record(memory, page) if may else _length_of(page) for page, may in pages]
            data = {"scope": scope, "from": start + 1, "pages": records}
            send(key=f"batch_{scope}_{size}_{start}", data=data)


def show_memory(*, book: str, key: str, on_act: Callable[[Act], None]) -> None:
    """Draw the gist memory with pages opened in place, as ``answer_view.send_state`` of the same ``book`` says.

    ``on_act`` is called before the next run, with act 'open' (``page`` is to be opened in Read), 'limit' (``page`` is
    the last to let in) or 'unlimit'.
    """

    data = {"kind": "memory", "book": book}
    _view()(key=key, data=data, height="stretch", on_act_change=call_with_act(on_act, key))


def show_shelf(kind: str, name: str, on_act: Callable[[Act], None]) -> None:
    """Draw several books as ``answer_view.send_state`` of ``name`` says. ``kind``: 'shelf' or 'maps'.

    ``on_act`` is called before the next run, with act 'unfold', 'fold', 'unlimit', 'open', 'make' or 'leave' of a book.
    """
    _view()(key=kind, data={"kind": kind, "book": name}, height="stretch", on_act_change=call_with_act(on_act, kind))


def show_reader(*, key: str, data: Mapping[str, Any]) -> Act | None:
    """Draw the reader and return what was done, or None. The position is its state ``at``.

    ``data``: ``ReaderData`` in protocol.d.ts without its kind.
    """
    result = _view()(
        key=key,
        data={"kind": "read", **data},
        height="stretch",
        on_act_change=no_callback,
        on_at_change=no_callback,
    )
    return act_of(result)


def show_outline(*, scope: str, layer: str | None, key: str) -> None:
    """Draw the sections with how far the person has read, the book in one line, and the map's legend."""
    _view()(key=key, data={"kind": "outline", "scope": scope, "layer": layer})


def show_notes(books: Sequence[Mapping[str, Any]], **options: Any) -> Any:
    """Draw the marks of several books, each a ``BookMarks`` of protocol.d.ts.

    Acts: open (``of`` is a book, ``text`` a paragraph), remove (``text`` is the id of a mark).
    """
    return _view()(key="all_notes", data={"kind": "notes", "books": list(books)}, **options)


# --- what is sent ---------------------------------------------------------------------------------


def passage_records(memory: GistMemory, passages: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, list[Any]]:
    """The passages of each page to mark, given as characters of its text, as the pieces of ``passage_pieces``."""
    return {
        n: [pieces for pieces in (passage_pieces(memory, n, a, b) for a, b in spans) if pieces]
        for n, spans in passages.items()
    }


def book_facts(memory: GistMemory) -> dict[str, Any]:
    """``BookFacts`` of protocol.d.ts: what the browser must know of a book besides its pages."""
    document = memory.document
    return {
        "title": document.title,
        "language": document.language,
        "rtl": document.right_to_left,
        "words": document.words,
        "paragraphs": len(document.paragraphs),
        "emphasis": EMPHASIS_SIGNS.get(document.format, ""),
        "complete": memory.complete,
        "recorded": memory.recorded,
    }


def page_name(memory: GistMemory, page: Page) -> str:
    """Where a page without a gist is, which a person knows by no number; '' of one with a gist."""
    if memory.gists[page.number - 1] is not None:
        return ""
    return place_name(memory.document, page.start, memory.section_of(page.number))


def place_name(document: Document, index: int, section: Section | None) -> str:
    """Where paragraph ``index`` is, in this ``section``: 'Chapter 2', 'chapter II' of a number alone, else '34 %'."""
    if section is not None:
        return f"{'chapter ' if _BARE_NUMBER.fullmatch(section.title) else ''}{section.title}"
    percent = round(100 * index / len(document.paragraphs))
    return f"{percent} %" if percent else "the beginning"


def page_record(memory: GistMemory, page: Page) -> dict[str, Any]:
    """A ``Page`` of protocol.d.ts; what is empty is left out."""
    document = memory.document
    inside = range(page.start, page.end)
    record: dict[str, Any] = {
        "number": page.number,
        "start": page.start,
        "paragraphs": [document.paragraphs[i].text for i in inside],
        "words": page.words,
        "ends": page.ends,
    }
    optional = {
        "headings": [[i - page.start, s.level, s.title] for i in inside for s in document.headings(i)],
        "joined": [i - page.start for i in inside if document.paragraphs[i].continues],
        "places": list(_source_places(memory, page)),
        "reason": page.reason,
        "rule": int(page.fallback),
        "gist": gist_record(memory, page.number),
        "name": page_name(memory, page),
    }
    return record | {name: value for name, value in optional.items() if value}


def _length_of(page: Page) -> dict[str, Any]:
    return {"number": page.number, "start": page.start, "paragraphs": [], "words": page.words, "ends": page.ends}


def gist_record(memory: GistMemory, number: int) -> dict[str, Any] | None:
    """A ``Gist`` of protocol.d.ts; None until it is made."""
    gist = memory.gists[number - 1]
    if gist is None:
        return None
    optional = {
        "rule": int(gist.fallback),
        "own": int(gist.whole),
        "edited": int(gist.edited),
        "shortened": gist.level,
        "notes": list(gist.marks),
    }
    return {"text": memory.shown_gist(number), "words": gist.words} | {
        name: value for name, value in optional.items() if value
    }


def part_records(parts: Sequence[PartSeen], memory: GistMemory) -> list[dict[str, Any]]:
    """A ``PartRecord`` of protocol.d.ts for each part."""
    return [
        {
            "first": part.first,
            "last": part.last,
            "title": part.title,
            "gist": part.gist,
            "gistWords": count_words(part.gist),
            "words": sum(memory.page(n).words for n in range(part.first, part.last + 1)),
        }
        for part in parts
    ]


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
        document = memory.document
        if index > page.start and not (paragraph.continues and not document.text_offset(index)):
            at += 2  # the blank line between paragraphs, as Document.text writes it
        shown = at
        at += document.text_offset(index)
        low, high = max(start, at), min(end, at + len(paragraph.text))
        if low < high:
            places = (utf16_offset(paragraph.text, low - at), utf16_offset(paragraph.text, high - at))
            pieces.append([index - page.start, *places])
        at = shown + len(document.shown(index))
    return pieces


def utf16_offset(text: str, place: int) -> int:
    """A position in ``text`` in UTF-16 code units, as browsers count."""
    return place if text.isascii() else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
