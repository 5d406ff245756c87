"""Cards to learn from as a file: an Anki deck, or CSV that other programs take.

Questions about chapters, words that were marked or looked up, with their sentences, and who is who as of a page. A card
keeps its id from one export to the next, so that Anki adds only what is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from markupsafe import escape

from readagent_core.companion.study import StudyQuestion
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.library.marks import HIGHLIGHT, NOTE, Mark
from readagent_core.library.vocabulary import LookedUpWord
from readagent_core.memory import GistMemory
from readagent_core.text_files import csv_line, without_emphasis
from readagent_core.words import count_words, sentences
from readagent_core.world.as_of import Known
from readagent_core.world.telling import said

STUDY_FORMATS = {"apkg": "application/octet-stream", "csv": "text/csv"}
_LONGEST_WORDS = 6  # of a mark that is a word to learn
_LINES = 4
_STYLE = (
    ".card{font-family:serif;font-size:20px;text-align:left;max-width:34em;margin:0 auto} .p{color:#777;font-size:14px}"
)
_BACK = '{{FrontSide}}<hr id="answer">{{Back}}<p class="p">{{Page}}</p>'


@dataclass(frozen=True)
class StudyCard:
    """``front`` and ``back`` of a card, and the page it rests on (0: none)."""

    front: str
    back: str
    page: int = 0


def study_cards(
    document: Document,
    *,
    questions: Iterable[StudyQuestion] = (),
    marks: Iterable[Mark] = (),
    looked_up: Iterable[LookedUpWord] = (),
    known: Known | None = None,
    memory: GistMemory | None = None,
) -> list[StudyCard]:
    """Return a card for each question, each word that was marked or looked up, and each person known.

    ``marks``: placed in ``document``. ``memory``: of the same text, whose pages words are on.
    """

    def page_of(paragraph: int) -> int:
        page = memory.page_at(document.count_in(memory.document, paragraph)) if memory else None
        return page.number if page else 0

    cards = [StudyCard(q.question, q.answer, q.page) for q in questions]
    cards += _words(document, marks, page_of)
    cards += [
        StudyCard(
            word.word,
            f"{word.meaning}\n{without_emphasis(word.sentence, document.format)}",
            page_of(word.paragraph) if word.paragraph < len(document.paragraphs) else 0,
        )
        for word in looked_up
    ]
    for person in known.people if known else ():
        lines = [f"{said(line)} [{line.page}]" for line in person.lines if said(line)][-_LINES:]
        if lines:
            cards.append(StudyCard(f"{document.title}: {person.name}", "\n".join(lines), person.lines[0].page))
    return list({card.front: card for card in cards}.values())


def _words(document: Document, marks: Iterable[Mark], page_of: Callable[[int], int]) -> Iterator[StudyCard]:
    for mark in marks:
        if mark.kind not in (HIGHLIGHT, NOTE) or not mark.exact.strip() or count_words(mark.exact) > _LONGEST_WORDS:
            continue
        there = mark.start.paragraph < len(document.paragraphs)
        text = document.paragraphs[mark.start.paragraph].text if there else ""
        sentence = next((s.strip() for s in sentences(text, document.language) if mark.exact in s), "")
        if count_words(sentence) <= count_words(mark.exact):  # the mark is the sentence, which would repeat the front
            sentence = ""
        if not mark.note and not sentence:
            continue
        words, sentence = (without_emphasis(one, document.format) for one in (mark.exact, sentence))
        page = page_of(mark.start.paragraph) if there else 0
        yield StudyCard(words, "\n".join(filter(None, [mark.note, sentence])), page)


def export_study(book_id: str, title: str, cards: Sequence[StudyCard], format: str) -> bytes:
    """Return the cards as the bytes of a file. Raises SettingsError for an unknown format, or without genanki."""
    if format not in STUDY_FORMATS:
        raise SettingsError(f"Unknown format {format!r}. Choose one of: {', '.join(STUDY_FORMATS)}.")
    if format == "csv":
        rows = [("front", "back", "page"), *((card.front, card.back, card.page or "") for card in cards)]
        return "".join(map(csv_line, rows)).encode("utf-8", "replace")
    return _deck(book_id, title, cards)


def _deck(book_id: str, title: str, cards: Sequence[StudyCard]) -> bytes:
    try:
        import genanki
    except ImportError:
        raise SettingsError("An Anki deck needs the package genanki: pip install genanki. CSV needs nothing.") from None
    fields: list[dict[str, str]] = [{"name": name} for name in ("Front", "Back", "Page")]
    template = {"name": "Card", "qfmt": "{{Front}}", "afmt": _BACK}
    model: Any = genanki.Model(_number("readagent study"), "ReadAgent", fields=fields, templates=[template], css=_STYLE)
    deck: Any = genanki.Deck(_number(f"readagent {book_id}"), f"ReadAgent::{title}")
    for card in cards:
        shown = [str(escape(text)).replace("\n", "<br>") for text in (card.front, card.back)]
        page = f"page {card.page}" if card.page else ""
        tags = ["_".join(tag.split()) for tag in (title, page) if tag]
        guid = genanki.guid_for(book_id, card.front)
        deck.add_note(genanki.Note(model=model, fields=[*shown, page], guid=guid, tags=tags))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "deck.apkg"
        genanki.Package(deck).write_to_file(str(path))
        return path.read_bytes()


def _number(name: str) -> int:
    """Return a number by which Anki knows a deck or a kind of card: always the same for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") | 1 << 31
