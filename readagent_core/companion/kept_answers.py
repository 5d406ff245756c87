"""Keep an answer as a mark beside the words it rests on, and tell in words what a mark says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import count
from typing import Any

from readagent_core.answering import replay
from readagent_core.answering.base import LETTERS, Answer, BookInAnswer
from readagent_core.answering.library_shelf import checked_answer_of_several
from readagent_core.answering.signature import BUILT_IN, signature_of
from readagent_core.citations import FROM_MEMORY, NOT_FOUND, Checked, Citation
from readagent_core.citations.checking import Piece, answer_paragraphs, split_paragraphs
from readagent_core.citations.placing import PlainText
from readagent_core.companion.marks import make_mark
from readagent_core.errors import LibraryError
from readagent_core.library.marks import ANSWER, BOOKMARK, Mark, Spot
from readagent_core.words import collapse_whitespace
from readagent_core.workspace import Workspace

_SENTENCE_END = re.compile(r"[.!?…。！？][*_\"'”’)\]」』»]*$")


def make_answer_mark(workspace: Workspace, exchange_id: str) -> Mark:
    """Return a new mark of kind 'answer' for a question that was answered.

    It is on the first words that the answer quotes; else at the start of the first page it cites or looked up; else
    where the person is. Of several books it is in the first that the answer quotes, else in the first that was looked
    up; citations of the others are then words of the text. It begins with the option that was chosen, if one was.
    Raises LibraryError where there is no answer, or the reading asked about is gone.
    """
    library = workspace.library
    exchange = library.exchange(exchange_id)
    answer = replay.answer_of(replay.events_of(exchange))
    if answer is None:
        raise LibraryError("This question was not answered, so there is nothing to keep. Ask it again.")
    if answer.books:
        checked = checked_answer_of_several(workspace, answer.text, answer)
        book = _book_to_keep_in(checked, answer)
    else:
        book_id = library.conversation(exchange.conversation_id).book_id
        book = BookInAnswer(0, book_id, "", "gists", exchange.gisting_id, looked_up=answer.looked_up)
        checked = replay.checked_answer(answer.text, answer, library.memory(exchange.gisting_id))
    memory = library.memory(book.reading_id)
    text = PlainText(memory.document)
    signature = signature_of(exchange)
    pieces = checked.pieces
    if signature.kind == BUILT_IN:  # copied: each sentence has its page
        pieces = tuple(piece for (piece,) in answer_paragraphs(checked, copied=True))
    cited = [citation for piece in pieces for citation in piece.citations]
    cited += [citation for citation in checked.loose if citation not in cited]
    citations = [citation for citation in cited if citation.book == book.number]
    titles = {other.number: other.title for other in answer.books}
    words = [piece.text + _cited_elsewhere(piece, book.number, titles) for piece in pieces]
    option = answer.option
    chosen = "" if option is None else f"({LETTERS[option]}) {exchange.options[option]}\n\n"
    if chosen:
        pieces, words = (Piece(chosen), *pieces), [chosen, *words]
    numbers = count()
    own = [[next(numbers) for c in piece.citations if c.book == book.number] for piece in pieces]
    kept = {
        "exchange_id": exchange.id,
        "question": exchange.question,
        "signature": signature.line,
        "signed_by": signature.kind,
        "text": "".join(words).strip() if answer.books else f"{chosen}{answer.text}",
        "pieces": [{"text": w, "citations": o} for w, o in zip(words, own, strict=True)],
        "citations": [_citation(citation, text) for citation in citations],
    }
    quoted = next((citation.places[0] for citation in citations if citation.places), None)
    named = [citation.page for citation in citations if 1 <= citation.page <= len(memory.pages)]
    pages = [*named, *book.looked_up]
    document = memory.document
    if quoted is not None:
        start, end = Spot(quoted.paragraph, quoted.start), Spot(quoted.paragraph, quoted.end)
    elif pages:
        start = end = Spot(memory.page(pages[0]).start, 0)
    else:
        document = library.document(book.id)
        start = end = Spot(library.position(book.id).paragraph, 0)
    return make_mark(document, book.id, ANSWER, start, end, answer=kept)


def kept_paragraphs(answer: Mapping[str, Any]) -> list[list[tuple[str, Sequence[int]]]]:
    """Return a kept answer in paragraphs. Each is a list of texts, each with the numbers of the citations after it."""
    pieces = [(piece["text"], piece["citations"]) for piece in answer["pieces"]]
    return split_paragraphs(pieces, copied=answer.get("signed_by") == BUILT_IN)


def is_of_gist(citation: Mapping[str, Any], *, copied: bool) -> bool:
    """Whether a kept citation rests on the gist of its page; False where an earlier version did not store that."""
    known = copied or not citation.get("bare", True)
    return bool(known and citation["state"] == FROM_MEMORY)


def kept_blocks(answer: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """Return the paragraphs of a kept answer with the page of each claim after it, without the list of quotations.

    Each with whether it is copied: it has a citation then, and is quoted itself.
    """
    blocks = []
    copied = answer.get("signed_by") == BUILT_IN  # then each sentence is of its page, also one too short to be searched
    for paragraph in kept_paragraphs(answer):
        said = ""
        for text, numbers in paragraph:
            places = [answer["citations"][number] for number in numbers]
            labels = [
                "not found"
                if c["state"] == NOT_FOUND and not copied
                else f"{'gist of ' * is_of_gist(c, copied=copied)}page {c['page']}"
                for c in places
                if c["page"]
            ]
            said += text + "".join(f" [{label}]" for label in dict.fromkeys(labels))
        blocks.append((copied and any(numbers for _, numbers in paragraph), said.strip()))
    return [block for block in blocks if block[1]] or [(False, str(answer["text"]))]


def kept_answer(answer: Mapping[str, Any]) -> str:
    """Return ``kept_blocks`` as one text."""
    return "\n\n".join(said for _, said in kept_blocks(answer))


def words_beside(mark: Mark) -> str:
    """The marked words; '' where they are part of the answer that is kept at them."""
    told = collapse_whitespace(kept_answer(mark.answer)) if mark.answer else ""
    return "" if mark.exact and collapse_whitespace(mark.exact) in told else mark.exact


def quoted_words(mark: Mark) -> str:
    """``words_beside``, of a bookmark those it is known by, with an ellipsis where they are a part of a sentence.

    As ``leftOut`` of assets/memory_view/mark_kinds.js has it.
    """
    words = (words_beside(mark) or (mark.suffix if mark.kind == BOOKMARK else "")).strip()
    before = "… " if words.lstrip("\"'“‘(")[:1].islower() else ""
    after = " …" if words and not _SENTENCE_END.search(words) else ""
    return f"{before}{words}{after}"


def _book_to_keep_in(checked: Checked, answer: Answer) -> BookInAnswer:
    """Return the book of several beside whose text an answer is stored; where it rests on none, the first with gists.

    Raises LibraryError where no book has gists.
    """
    quoted = [citation.book for citation in checked.citations if citation.places and citation.page]
    found = [book for number in quoted for book in answer.books if book.number == number]
    found += [book for book in answer.books if book.looked_up]
    found += [book for book in answer.books if book.reading_id]
    if not found:
        raise LibraryError("None of these books has gists, so no page was cited to keep it beside. Copy it instead.")
    return found[0]


def _cited_elsewhere(piece: Piece, number: int, titles: Mapping[int, str]) -> str:
    """Return the citations of a piece that name other books than ``number``, as words: ' (Fog, p. 7)'."""
    places = [(titles.get(c.book, f"book {c.book}"), c.page) for c in piece.citations if c.book != number]
    return "".join(f" ({title}, p. {page})" if page else f" ({title})" for title, page in dict.fromkeys(places))


def _citation(citation: Citation, text: PlainText) -> dict[str, Any]:
    """Return a citation as plain JSON values, with the place of its words as a mark has it."""
    values = {"page": citation.page, "state": citation.state, "claim": citation.claim, "quotation": citation.quotation}
    values["bare"] = citation.bare
    if not citation.places:
        return {**values, "exact": "", "prefix": "", "suffix": "", "paragraph": None, "offset": None}
    place = citation.places[0]
    start, end = (text.position((place.paragraph, offset)) for offset in (place.start, place.end))
    (paragraph, offset), _ = text.spots(start, end, whole=True)
    return {**values, **asdict(text.quote(start, end)), "paragraph": paragraph, "offset": offset}
