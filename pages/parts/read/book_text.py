"""Send a book to the reader: its text once, from the document, and the pages and gists of a reading as a layer over it.

The text does not depend on any reading. It is drawn in units: chapters, cut where they are long. A batch of text never
changes, so Streamlit sends it once; what a reading adds (``page_layer``) has no text of the book and is small.
The types of what is sent are in ``assets/protocol.d.ts``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import streamlit as st

from pages.parts.read.veil import Veil, hides
from pages.parts.shared.component import component
from pages.parts.shared.memory_view import gist_record, utf16_offset
from readagent_core.document import Document, Figure, Span
from readagent_core.memory import GistMemory, Page
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.words import is_unspaced

# by what tells documents apart: the hash of a Document is that of all its paragraphs, and two people may have one text
# with other sections and figures
_CACHED: dict[str | type[Any], Callable[[Any], Any]] = {
    Document: lambda d: (d.id, len(d.paragraphs), hash((d.sections, d.figures, d.spans_hash)), d.title, d.author)
}
remember = st.cache_resource(hash_funcs=_CACHED, max_entries=8, show_spinner=False)
UNIT_WORDS = 1_500  # of a part of a text without sections
LONG_UNIT_WORDS = 4_000  # a longer chapter is cut into parts of about UNIT_WORDS
SHORT_UNIT_WORDS = 250  # a shorter chapter shares its unit with the next one
CHAPTER_WORDS = 500  # the parts of a chapter are chapters themselves where they have as many on average
BATCH_CHARACTERS = 120_000
LAYER_BATCH = 100  # pages
ABOVE = -1  # in place of a character: the paragraph from its start, with what stands above it
LABEL_CHARACTERS = 90  # of a figure in the outline
WORDS_A_MINUTE, UNSPACED_WORDS_A_MINUTE = 230, 250  # two characters of an unspaced script count as a word


def text_scope(document: Document) -> str:
    """The name under which the browser stores this text."""
    return f"b{document.id[:12]}"


def send_text(document: Document, *, words: int, first: int) -> None:
    """Put the text, of ``words`` words, into the browser's store: the batch with paragraph ``first`` first.

    Nothing but the outline is sent to a tab that has reported the whole text (``note_whole_text``).
    """
    send = component("book_text", "memory_view/receive_text.js", html="")
    scope = text_scope(document)
    starts = batch_starts(document)
    # the order must stay as it is: a component at another place would be mounted again
    order = st.session_state.setdefault(f"order_{scope}", _nearest_first(starts, first))
    with st.container(key=f"batches_{scope}", gap=None):
        send(key=f"facts_{scope}", data={"scope": scope, "facts": book_outline(document, words)})
        for at in order if not st.session_state.get(f"whole_{scope}") else ():
            data = {"scope": scope, **text_batch(document, starts[at], starts[at + 1])}
            send(key=f"text_{scope}_{at}", data=data)


def note_whole_text(document: Document) -> None:
    """Note that the browser's tab, which is this session's, has the whole text."""
    st.session_state[f"whole_{text_scope(document)}"] = True


def _nearest_first(starts: Sequence[int], first: int) -> list[int]:
    here = max(0, bisect_right(starts[:-1], first) - 1)
    return sorted(range(len(starts) - 1), key=lambda at: (at < here, abs(at - here)))


@remember
def batch_starts(document: Document) -> tuple[int, ...]:
    """The first paragraph of every batch of text, then the number of paragraphs."""
    starts, size = [0], 0
    for index, paragraph in enumerate(document.paragraphs):
        if size > BATCH_CHARACTERS:
            starts.append(index)
            size = 0
        size += len(paragraph.text)
    return (*starts, len(document.paragraphs))


def text_batch(document: Document, start: int, end: int) -> dict[str, Any]:
    """The paragraphs from ``start`` to ``end``, the headings above them and their places in the source."""
    paragraphs = document.paragraphs[start:end]
    before = [document.paragraphs[start - 1].place if start else "", *(p.place for p in paragraphs)]
    return {
        "from": start,
        "text": [p.text for p in paragraphs],
        "heads": [[i, s.level, s.title] for i in range(start, end) for s in document.headings(i)],
        "places": [[start + i, p.place] for i, p in enumerate(paragraphs) if p.place and p.place != before[i]],
        "joined": [start + i for i, p in enumerate(paragraphs) if p.continues],
        "notes": [start + i for i, p in enumerate(paragraphs) if p.note],
        "spans": [
            [start + i, [span_record(p.text, span) for span in p.spans]] for i, p in enumerate(paragraphs) if p.spans
        ],
    }


@remember
def book_outline(document: Document, words: int) -> dict[str, Any]:
    """``BookOutline`` of protocol.d.ts: what the browser knows of a text before it has its paragraphs.

    Words of parts are estimated from their characters: to count those of a long book takes a second.
    """
    sums = [0, *accumulate(len(p.text) for p in document.paragraphs)]
    per_word = max(1.0, sums[-1] / max(1, words))
    unspaced = is_unspaced("".join(p.text for p in document.paragraphs[:40]))

    def words_in(start: int, end: int) -> int:
        return round((sums[end] - sums[start]) / per_word)

    return {
        "title": document.title,
        "author": document.author,
        "language": document.language,
        "rtl": document.right_to_left,
        "unspaced": unspaced,
        "vertical": document.vertical,
        "speed": UNSPACED_WORDS_A_MINUTE if unspaced else WORDS_A_MINUTE,
        "words": words,
        "recognised": bool(document.recognised_pages),
        "paragraphs": len(document.paragraphs),
        "emphasis": EMPHASIS_SIGNS.get(document.format, ""),
        "units": [[start, words_in(start, end)] for start, end in pairwise(unit_starts(document, per_word))],
        "sections": [
            [s.title, s.level, s.start, words_in(s.start, _section_end(document, at))]
            for at, s in enumerate(document.sections)
        ],
        "chapters": chapter_starts(document, per_word),
        "pictures": f"picture/{document.id}/",
        "figures": [figure_record(document, figure) for figure in document.figures],
    }


def span_record(text: str, span: Span) -> list[Any]:
    """A ``SpanRecord`` of protocol.d.ts."""
    return [utf16_offset(text, span.start), utf16_offset(text, span.end), span.kind.value, span.text, span.target]


def figure_record(document: Document, figure: Figure) -> list[Any]:
    """A ``FigureRecord`` of protocol.d.ts."""
    words = figure.alt if figure.caption is None else document.paragraphs[figure.caption].text
    label = " ".join(words.split())
    label = label if len(label) <= LABEL_CHARACTERS else f"{label[:LABEL_CHARACTERS].rstrip()}…"
    return [*figure.to_list(), label]


def _section_end(document: Document, at: int) -> int:
    """The paragraph after the section: the start of the next one that is not part of it."""
    section = document.sections[at]
    later = (s.start for s in document.sections[at + 1 :] if s.level <= section.level)
    return next(later, len(document.paragraphs))


def chapter_starts(document: Document, per_word: float) -> list[int]:
    """The first paragraphs of the chapters; [] without any.

    They are the sections of the outermost level that has several, and what these are divided into, where that is long
    enough to be read one by one.
    """
    sections = document.sections
    levels = Counter(s.level for s in sections)
    outermost = next((level for level in sorted(levels) if levels[level] > 1), 0)
    chapters = {at for at, section in enumerate(sections) if section.level == outermost}
    inside: defaultdict[int, list[int]] = defaultdict(list)
    path: list[int] = []
    for at, section in enumerate(sections):
        while path and sections[path[-1]].level >= section.level:
            path.pop()
        if path:
            inside[path[-1]].append(at)
        path.append(at)
    for at, parts in sorted(inside.items()):  # a part comes after what it is a part of
        text = document.paragraphs[sections[parts[0]].start : _section_end(document, at)]
        if at in chapters and sum(len(p.text) for p in text) >= len(parts) * CHAPTER_WORDS * per_word:
            chapters.update(parts)
    starts = sorted({sections[at].start for at in chapters})
    return [] if not starts else starts if starts[0] == 0 else [0, *starts]


def unit_starts(document: Document, per_word: float) -> list[int]:
    """The first paragraph of every unit that is drawn together, then the number of paragraphs.

    ``per_word``: characters of the text for each of its words.
    """
    chapter, section = set(chapter_starts(document, per_word)), {s.start for s in document.sections}
    longest = LONG_UNIT_WORDS if chapter else UNIT_WORDS
    starts, words = [0], 0.0
    for index, paragraph in enumerate(document.paragraphs):
        more = len(paragraph.text) / per_word
        full = words >= UNIT_WORDS and (index in section or words + more > longest)
        if index and (full or (index in chapter and words >= SHORT_UNIT_WORDS)):
            starts.append(index)
            words = 0.0
        words += more
    return [*starts, len(document.paragraphs)]


# --- the layer of a reading --------------------------------------------------------------------------------


def send_layer(memory: GistMemory, whole: Document, *, scope: str, veil: Veil | None = None) -> None:
    """Put the pages and gists of a gisting of ``whole`` into the browser's store; no gist that is veiled."""
    send = component("memory_pages", "memory_view/receive_pages.js", html="")
    places = whole_places(memory.document, whole)
    with st.container(key=f"batches_{scope}", gap=None):
        for start in range(0, len(memory.pages), LAYER_BATCH):
            pages = memory.pages[start : start + LAYER_BATCH]
            records = [page_layer(memory, page, places, veiled=hides(veil, page.number)) for page in pages]
            send(key=f"batch_{scope}_{start}", data={"scope": scope, "from": start + 1, "pages": records})


def page_layer(
    memory: GistMemory, page: Page, places: Sequence[tuple[int, int]], *, veiled: bool = False
) -> dict[str, Any]:
    """A ``LayerPage`` of protocol.d.ts; what is empty is left out. ``veiled``: with nothing that tells of the page."""
    (first, at), (last, to) = places[page.start], places[page.end]
    optional = {
        "startAt": at,
        "endAt": to,
        "reason": page.reason,
        "rule": int(page.fallback),
        "gist": gist_record(memory, page.number),
    }
    if veiled:
        gist = memory.gists[page.number - 1]
        optional = {"startAt": at, "endAt": to, "veiled": gist.words if gist else 0}
    record = {"number": page.number, "start": first, "end": last, "words": page.words, "ends": page.ends}
    return record | {name: value for name, value in optional.items() if value}


def place_of_page(
    memory: GistMemory, whole: Document, number: int, *, unless: tuple[int, int]
) -> tuple[int, int] | None:
    """The place in ``whole`` at which a page begins, as browsers count; None where ``unless`` is in the page."""
    page, places = memory.page(number), whole_places(memory.document, whole)
    (start, at), last = places[page.start], places[page.end]
    inside = (start, at) <= (unless[0], max(0, unless[1])) < max(last, (start, at + 1))
    return None if inside else (start, at or ABOVE)


def browser_offset(document: Document, paragraph: int, offset: int) -> int:
    """An offset in a paragraph as the browser counts; ``ABOVE`` stays."""
    if offset < 0 or not 0 <= paragraph < len(document.paragraphs):
        return ABOVE
    return utf16_offset(document.paragraphs[paragraph].text, offset)


@remember
def whole_places(limited: Document, whole: Document) -> tuple[tuple[int, int], ...]:
    """For each paragraph of ``limited``, and for its end, where it begins: a paragraph of ``whole`` and a place in it.

    Places count UTF-16 code units, as browsers do.
    """
    if len(limited.paragraphs) == len(whole.paragraphs):
        return tuple((index, 0) for index in range(len(whole.paragraphs) + 1))
    found: list[tuple[int, int]] = []
    at, length = 0, 0
    for paragraph in limited.paragraphs:
        while at < len(whole.paragraphs) and length >= len(whole.paragraphs[at].text) > 0:
            at, length = at + 1, 0
        found.append((at, utf16_offset(whole.paragraphs[at].text, length)))
        length += len(paragraph.text)
        if not paragraph.text:  # an empty paragraph is never split
            at, length = at + 1, 0
    return (*found, (len(whole.paragraphs), 0))
