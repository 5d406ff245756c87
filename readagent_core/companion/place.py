"""Where a person is in a book, kept with the words round it, so that it is found again in a text that was changed."""

from __future__ import annotations

from readagent_core.citations.placing import PlainText, Quote
from readagent_core.document import Document
from readagent_core.library import Library
from readagent_core.library.records import Position

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
