"""How far a person has read in the pages of a gisting, and the memory of just that much.

The memory ends at the place, so that nothing made from it can have a later word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from readagent_core.citations.placing import PlainText, Quote
from readagent_core.document import Document
from readagent_core.library import Library
from readagent_core.library.records import Gisting, Position
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.tags import escape_tags, page_tag
from readagent_core.words import count_of, count_words
from readagent_core.workspace import Workspace

RECENT_WORDS = 600  # before the place, in full
WORDS_AFTER = 64  # characters after a place, which are kept to find it again


def save_place(library: Library, document: Document, book_id: str, paragraph: int, offset: int) -> None:
    """Store where the person is in ``document``, with the words round it. ``offset``: see ``Position``."""
    text = PlainText(document)
    at = text.position((paragraph, max(0, offset)))
    quote = text.quote(at, min(len(text.text), at + WORDS_AFTER))
    library.set_position(book_id, paragraph, offset, words=(quote.prefix, quote.exact))


def find_place(document: Document, position: Position) -> tuple[int, int]:
    """Where the person is in ``document``, as paragraph and offset: found by the words if the text was changed."""
    paragraph, offset = position.paragraph, position.offset
    text = PlainText(document)
    at = text.position((paragraph, max(0, offset)))
    found = text.find(Quote(position.words_after, position.words_before, ""), at) if position.words_after else None
    if found is not None and found[0] != at:
        (paragraph, there), _ = text.spots(found[0], found[0] + 1)
        offset = there if offset >= 0 or there else offset
    last = len(document.paragraphs) - 1
    return (paragraph, offset) if paragraph <= last else (last, -1)


@dataclass(frozen=True)
class ReadingPlace:
    """How far a person has read, in the pages of a gisting.

    ``memory``: ends at the place and holds no later text. Its last page ends there too: it may be the first part of a
    page, or text that has no pages yet (``paged`` is False). ``whole``: the number of pages wholly read. ``covered``:
    as many pages from the first on have gists. ``paragraphs``: of the whole document, up to the place. ``recent``: the
    last words read, below the tags of ``recent_pages``.
    """

    gisting: Gisting
    memory: GistMemory
    whole: int
    covered: int
    paged: bool
    paragraphs: int
    recent: str
    recent_pages: tuple[int, ...]

    @property
    def page(self) -> int:
        """The number of the page that the place is on; 0 where nothing is read."""
        return len(self.memory.pages)

    @property
    def language(self) -> str:
        return self.memory.document.language


def place_of(workspace: Workspace, gisting: Gisting) -> ReadingPlace:
    """How far the person has read, never past the spoiler limit."""
    library = workspace.library
    whole = library.document(gisting.book_id, document_id=gisting.document_id)
    position = library.position(gisting.book_id)
    read = min(position.furthest, len(whole.paragraphs))
    read = read if position.allowed is None else min(read, position.allowed)
    memory = library.memory(gisting.id)
    inside = whole.count_in(memory.document, read)
    ended = _memory_until(memory, inside)
    covered = next((i for i, gist in enumerate(ended.gists) if gist is None), len(ended.gists))
    parts = _recent_parts(ended)
    shown = dict(parts)  # an answer is checked against gists: where there is none, against what the prompt has
    gists = [gist or (Gist(shown[n], whole=True) if n in shown else None) for n, gist in enumerate(ended.gists, 1)]
    return ReadingPlace(
        gisting=gisting,
        memory=replace(ended, gists=tuple(gists)),
        whole=sum(page.end <= inside for page in memory.pages),
        covered=covered,
        paged=len(ended.pages) <= len(memory.pages),
        paragraphs=read,
        recent="\n\n".join(f"{page_tag(n)}\n{escape_tags(text)}" for n, text in parts),
        recent_pages=tuple(shown),
    )


def _memory_until(memory: GistMemory, inside: int) -> GistMemory:
    """``memory`` over its first ``inside`` paragraphs; what belongs to no whole page is a last page without a gist."""
    document = memory.document
    pages = [page for page in memory.pages if page.end <= inside]
    gists: list[Gist | None] = list(memory.gists[: len(pages)])
    start = pages[-1].end if pages else 0
    if start < inside:
        words = sum(p.words for p in document.paragraphs[start:inside])
        pages.append(Page(len(pages) + 1, start, inside, words))
        gists.append(None)
    return replace(memory, document=document.up_to(inside), pages=tuple(pages), gists=tuple(gists), complete=False)


def _recent_parts(memory: GistMemory) -> list[tuple[int, str]]:
    """The last whole paragraphs of ``memory`` by page: of ``RECENT_WORDS`` words or so, or of all the last page.

    A last page without a gist is shown from its start, unless it is longer than a page of the reading may be.
    """
    document = memory.document
    first = len(document.paragraphs)
    without_gist = memory.pages[-1].start if memory.pages and memory.gists[-1] is None else first
    words = 0
    while first:
        most = memory.plan.max_words if first > without_gist else RECENT_WORDS
        if words and words + document.paragraphs[first - 1].words > most:
            break
        first -= 1
        words += document.paragraphs[first].words
    return [(p.number, document.text(max(first, p.start), p.end)) for p in memory.pages if p.end > first]


def made_from(place: ReadingPlace) -> str:
    """What a recap is made from, in a sentence or two for people."""
    gists = f"the gist{'' if place.covered == 1 else 's'} of {_pages(1, place.covered)}"
    on = f"page {place.page}" if place.paged else f"the text after page {place.page - 1}"
    recent = count_words(place.recent)
    sentence = f"Made from {gists} and the last {count_of(recent, 'word')} you read. You are on {on}."
    without = sum(page.words for page in place.memory.pages[place.covered :]) - recent
    if place.covered < place.page and without > RECENT_WORDS / 10:
        sentence += f" The gists end before that: {count_of(without, 'word')} between them and your place are left out."
    return sentence


def _pages(first: int, last: int) -> str:
    return f"page {last}" if first == last else f"pages {first} to {last}"
