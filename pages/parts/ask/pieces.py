"""The answer of an exchange in pieces, each with the chips of its citations, and the places they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages.parts.shared.answer import with_place
from pages.parts.shared.memory_view import EMPHASIS_MARKS, utf16_offset
from readagent_core.answering.base import Answer
from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked
from readagent_core.citations.checking import answer_paragraphs
from readagent_core.export.citation_labels import RECOGNISED, copied_label, is_of_page, short_place, short_title
from readagent_core.models.builtin.statistics import shared_words
from readagent_core.words import count_of

_LONGEST, _PART = 320, 240  # characters of a sentence shown whole, and of a part


def sentence_pieces(
    checked: Checked,
    answer: Answer,
    question: str,
    titles: Mapping[int, str] | None = None,
    names: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """The answer of the built-in reader: sentences with their page, and our own words where a piece has no page.

    ``book``: a sentence of the book; else one of a gist. ``shared``: the places of the words that the question has too.
    ``titles``: of several books, by number; ``names``: as in ``pieces_of``.
    """
    seen_of = {book.number: book.seen for book in answer.books} or {0: answer.seen}
    unread = {book.number for book in answer.books if book.how == "words"}
    found: list[dict[str, Any]] = []
    for (piece,) in answer_paragraphs(checked, copied=True):
        if not piece.citations:
            found.append({"text": piece.text, "cites": []})
        elif text := EMPHASIS_MARKS.sub("", piece.text).strip():
            first = piece.citations[0]
            page = first.page
            how = seen_of.get(first.book, {}).get(page, "")
            book = is_of_page(first, how) or first.book in unread
            name = (names or {}).get(page, "")
            label = copied_label(first, how, name=short_place(name))
            why = f"A sentence of this {'book' if not page else 'part' if how == 'part' else 'page'}'s gist."
            if book or first.recognised:
                label, why = copied(label, recognised=first.recognised)
            if titles is not None:
                title = short_title(titles.get(first.book, "a book"))
                label = f"{title}, {label}" if page else title
            chip = {"page": page, "book": first.book, "state": "copied", "label": label, "why": with_place(name, why)}
            chip["at"] = checked.citations.index(first)
            found.append(shown_sentence(text, question, chip, book=book))
    return found


def copied(label: str, *, recognised: bool) -> tuple[str, str]:
    """The label of a sentence of the book's text, and what its chip says. ``recognised``: in a picture of the page."""
    if not recognised:
        return label, "Copied word for word."
    return label + RECOGNISED, "Copied word for word from text recognised in a picture, so some words may be wrong."


def shown_sentence(text: str, question: str, chip: dict[str, Any], *, book: bool) -> dict[str, Any]:
    """A copied sentence with its chip and the places of the words that the question has too; of a long one a part."""
    text = EMPHASIS_MARKS.sub("", text).lstrip("* ")  # an end of emphasis may stand before the sentence
    text = around(text, [start for start, _ in shared_words(text, question)])
    shared = [(utf16_offset(text, start), utf16_offset(text, end)) for start, end in shared_words(text, question)]
    return {"text": text, "cites": [chip], "book": book, "shared": shared}


def around(text: str, places: Sequence[int]) -> str:
    """``text``, or of a long one the part that has most of the ``places``, with '…' where it is cut."""
    scale = 1 if " " in text[:_PART] else 3  # where words are not separated
    part = _PART // scale
    if len(text) * scale <= _LONGEST:
        return text
    most = max(places or [0], key=lambda start: sum(start <= place < start + part for place in places))
    inside = [place for place in places if most <= place < most + part] or [0]
    start = max(0, min(most - (part - (inside[-1] - most)) // 2, len(text) - part))
    end = start + part
    if scale == 1:  # whole words
        start = max(start, text.find(" ", start, most) + 1) if start else 0
        end = max(inside[-1], text.rfind(" ", inside[-1], end)) if end < len(text) else end
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def citations_summary(checked: Checked, answer: Answer) -> str:
    """'3 claims quoted from the book, 1 from a gist only, 1 found nowhere: do not rely on that one.'"""
    book = "books" if answer.books else "book"
    quoted, remembered, lost = (checked.count(state) for state in (FROM_PAGE, FROM_MEMORY, NOT_FOUND))
    bare = sum(c.bare for c in checked.citations)
    remembered -= bare  # of pages that were read, but not quoted
    if not quoted + remembered + bare + lost:
        shown = answer.seen or answer.books
        return "" if not shown else "The answer names no pages, so nothing in it could be checked."
    parts = []
    if quoted:
        parts.append(f"{count_of(quoted, 'claim')} quoted from the {book}")
    if remembered:
        parts.append(f"{remembered} from a gist only" if parts else f"{count_of(remembered, 'claim')} from gists only")
    if bare:
        parts.append(f"{bare} without a quotation" if parts else f"{count_of(bare, 'claim')} without a quotation")
    if lost:
        parts.append(f"{lost} found nowhere: do not rely on {'that one' if lost == 1 else 'those'}")
    text = ", ".join(parts)
    return text[0].upper() + text[1:] + "."
