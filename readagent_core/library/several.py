"""What a question about several books needs of the library: figures of their readings, and words in their texts.

Every method asks few queries however many books there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from readagent_core.library.books import position_of
from readagent_core.library.records import Position
from readagent_core.library.schema import Database, LibraryPart
from readagent_core.library.search import match_of, phrases_of, split_terms

_OPENING_PAGES = 8
_SHORT_READING = 1500  # characters of gists; all of a gisting with no more are taken
_PASSAGES = 200  # the best paragraphs of all texts together
_BOOKS = """
    SELECT book.id, book.title, book.author, book.language, version.document_id, document.words,
        reading.id AS reading_id, reading.document_id AS read_document_id, reading.changed,
        position.paragraph, position.furthest, coalesce(position.words_read, 0) AS words_read, position.limited,
        position.spoiler_limit, position.section, position.offset, position.share, position.words_before,
        position.words_after
    FROM book
    JOIN version ON version.book_id = book.id
        AND version.number = (SELECT max(number) FROM version WHERE book_id = book.id)
    JOIN document ON document.id = version.document_id
    LEFT JOIN position ON position.book_id = book.id
    LEFT JOIN reading ON reading.id = (
        SELECT id FROM reading AS newest WHERE newest.book_id = book.id AND NOT searched
            AND EXISTS (SELECT 1 FROM gist WHERE reading_id = newest.id) ORDER BY started DESC, id DESC LIMIT 1)
    WHERE book.removed IS NULL AND book.id IN ({})
"""


@dataclass(frozen=True)
class BookToAsk:
    """A book and the newest of its gistings that has a gist. ``gisting_id``: 0 without one.

    ``document_id``: of the text that was read, or of the newest text, which has ``text_words``. ``changed``: see
    ``Gisting``. ``words``: of the pages with a gist. ``characters``: of all its gists; ``opening``: the first of them.
    """

    id: str
    title: str
    author: str
    language: str
    document_id: str
    position: Position
    gisting_id: int = 0
    changed: int = 0
    pages: int = 0
    words: int = 0
    characters: int = 0
    opening: str = ""
    text_words: int = 0


class SeveralBooks(LibraryPart):
    """What ``Library`` offers for several books."""

    def books_to_ask(self, book_ids: Sequence[str]) -> list[BookToAsk]:
        """These books in this order, without those that were removed."""
        rows = {row["id"]: row for row in self._db.rows(_BOOKS.format(_places(book_ids)), book_ids)}
        gistings = [row["reading_id"] for row in rows.values() if row["reading_id"] is not None]
        figures = {
            row["reading_id"]: row
            for row in self._db.rows(
                "SELECT gist.reading_id, count(*) AS pages, sum(length(text)) AS characters, sum(page.words) AS words "
                "FROM gist JOIN page ON page.reading_id = gist.reading_id AND page.number = gist.number "
                f"WHERE gist.reading_id IN ({_places(gistings)}) GROUP BY gist.reading_id",
                gistings,
            )
        }
        openings: dict[int, list[str]] = {}
        short = [number for number, row in figures.items() if row["characters"] <= _SHORT_READING]
        for row in self._db.rows(
            f"SELECT reading_id, text FROM gist WHERE reading_id IN ({_places(gistings)}) "
            f"AND (number <= ? OR reading_id IN ({_places(short)})) ORDER BY reading_id, number",
            [*gistings, _OPENING_PAGES, *short],
        ):
            openings.setdefault(row["reading_id"], []).append(row["text"])
        found: list[BookToAsk] = []
        for row in (rows[book_id] for book_id in book_ids if book_id in rows):
            position = Position() if row["paragraph"] is None else position_of(row)
            names = (row["id"], row["title"], row["author"], row["language"], row["document_id"])
            book = BookToAsk(*names, position, text_words=row["words"])
            gisting = row["reading_id"]
            if gisting is not None:
                counted = figures[gisting]
                book = replace(
                    book,
                    document_id=row["read_document_id"],
                    gisting_id=gisting,
                    changed=row["changed"],
                    pages=counted["pages"],
                    words=counted["words"],
                    characters=counted["characters"],
                    opening="\n\n".join(openings.get(gisting, [])),
                )
            found.append(book)
        return found

    def stored_artifacts(self, kind: str, document_ids: Sequence[str]) -> dict[tuple[str, str], str]:
        """The artifacts of one kind of these texts, as JSON by (text, key)."""
        rows = self._db.rows(
            f"SELECT document_id, key, body FROM artifact WHERE document_id IN ({_places(document_ids)}) AND kind = ?",
            [*document_ids, kind],
        )
        return {(row["document_id"], row["key"]): row["body"] for row in rows}

    def texts_with(self, words: str, document_ids: Sequence[str]) -> list[str]:
        """Those of these texts in which the words are next to each other, the one with most of them first."""
        phrases = phrases_of(f'"{words}"')
        if not phrases:
            return []
        texts = _indexes(self._db, document_ids)
        rows = self._db.rows(
            "SELECT rowid >> 24 AS number FROM found WHERE found MATCH ? GROUP BY 1 ORDER BY count(*) DESC",
            (match_of(phrases),),
        )
        return [texts[row["number"]] for row in rows if row["number"] in texts]

    def passages(self, question: str, document_ids: Sequence[str]) -> list[tuple[str, int]]:
        """The paragraphs (text, index) of these texts that have words of the question, the best by BM25 first."""
        terms = dict.fromkeys(
            term.text for term in split_terms(question) if len(term.text) > 3 or not term.text.isascii()
        )
        texts = _indexes(self._db, document_ids)
        if not terms or not texts:
            return []
        match = " OR ".join(f'"{term}"' for term in terms)
        rows = self._db.rows(
            f"SELECT rowid FROM found WHERE found MATCH ? AND rowid >> 24 IN ({_places(list(texts))}) "
            "ORDER BY rank LIMIT ?",
            (match, *texts, _PASSAGES),
        )
        return [(texts[row[0] >> 24], row[0] & 0xFFFFFF) for row in rows]

    def unindexed(self, document_ids: Sequence[str]) -> list[str]:
        """Those of these texts that cannot be searched yet."""
        known = set(_indexes(self._db, document_ids).values())
        return [document_id for document_id in document_ids if document_id not in known]


def _indexes(db: Database, document_ids: Sequence[str]) -> Mapping[int, str]:
    owners = [f"text {document_id}" for document_id in document_ids]
    rows = db.rows(f"SELECT id, owner FROM indexed WHERE owner IN ({_places(owners)})", owners)
    return {row["id"]: row["owner"][len("text ") :] for row in rows}


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
