"""Full-text search over a gisting, or over the texts of all books.

SQLite FTS5 finds the paragraphs and gists, then exact places are found in them.

Text is split into terms here before it is passed to FTS5: words as ``words.fold`` writes them and, for scripts without
spaces between words, overlapping pairs of characters. The same terms locate the places, so the two always agree.
A text is indexed at its first search, or by ``Library.index_texts``; a gist at the first search after it was made.
"""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from readagent_core.document import Document, Paragraph, SpanKind
from readagent_core.library.schema import Database
from readagent_core.memory import GistMemory
from readagent_core.quick_json import from_json
from readagent_core.words import CJK, SIGNS, SOUTH_EAST, fold

_UNSPACED = f"(?![\uff10-\uff19\uff21-\uff3a\uff41-\uff5a])[{CJK}{SOUTH_EAST}]"  # full-width letters make words
_PIECE = re.compile(f"((?:(?={_UNSPACED})[^\\W_])+)|((?:(?!{_UNSPACED})[^\\W_]|[{SIGNS}\u00ad])+)")
_ASCII = re.compile(r"[a-z0-9]+")
_BEFORE, _AFTER = 60, 140  # characters of context before a place and from it on
_SHOWN_OF_BOOK = 3  # places
_IN_BOOKS = """
    WITH place AS (
        SELECT rowid >> 24 AS number, count(*) AS count FROM found WHERE found MATCH ? GROUP BY 1),
    together AS (SELECT DISTINCT rowid >> 24 FROM found WHERE found MATCH ?)
    SELECT book.id AS book_id, version.document_id, place.number, place.count
    FROM place
    JOIN indexed ON indexed.id = place.number
    JOIN version ON version.document_id = substr(indexed.owner, 6)
    JOIN book ON book.id = version.book_id
    WHERE book.removed IS NULL
        AND version.number = (SELECT max(number) FROM version AS newest WHERE newest.book_id = book.id)
    ORDER BY place.number IN together DESC, place.count DESC, coalesce(book.opened, book.added) DESC, book.id LIMIT ?
"""
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|(\S+)')


@dataclass(frozen=True)
class Hit:
    """One place found. ``field``: 'text' or 'gist'.

    ``start`` and ``end``: characters of the paragraph (of the memory's document) or of the gist. ``paragraph``: -1
    in a gist.
    """

    page: int
    field: str
    paragraph: int
    start: int
    end: int


@dataclass(frozen=True)
class TextHit:
    """A paragraph found among the texts of all books. ``count``: how many paragraphs of this book have the words.

    ``parts``: the words around the first place, as pairs of a text and whether it is one of the words searched.
    """

    book_id: str
    paragraph: int
    parts: tuple[tuple[str, bool], ...]
    count: int


@dataclass(frozen=True)
class Term:
    text: str
    start: int
    end: int


def split_terms(text: str) -> list[Term]:
    """The terms of ``text`` with their places.

    A run of a script without spaces is split into pairs of characters, and its last character.
    """
    if text.isascii():
        return [Term(m.group(), m.start(), m.end()) for m in _ASCII.finditer(text.lower())]
    found: list[Term] = []
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if piece.group(1):
            run = text[start:end]  # not normalised, so that each character keeps its place
            found.extend(Term(run[i : i + 2], start + i, start + i + 2) for i in range(len(run) - 1))
            found.append(Term(run[-1], end - 1, end))
        else:
            folded = fold(piece.group(2).replace("\u00ad", ""))
            found.extend(Term(word, start, end) for word in re.findall(r"\w+", folded)[:1])
    return found


def phrases_of(query: str) -> list[list[str]]:
    """The phrases of a query as lists of terms: quoted words are one phrase, other words one each."""
    phrases: list[list[str]] = []
    for quoted, curly, word in _QUOTED.findall(query):
        terms = [t.text for t in split_terms(quoted or curly or word)]
        # a run of pairs ends with its last character alone, which is no term inside a longer run
        if len(terms) > 1 and len(terms[-1]) == 1 and len(terms[-2]) == 2 and terms[-2][1] == terms[-1]:
            terms.pop()
        if terms:
            phrases.append(terms)
    return phrases


def _places(text: str, phrases: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The places of the phrases in ``text``, in order and without overlaps."""
    terms = split_terms(text)
    found: set[tuple[int, int]] = set()
    for phrase in phrases:
        *whole, last = phrase
        n = len(phrase)
        for i in range(len(terms) - n + 1):
            end = terms[i + n - 1]
            if end.text.startswith(last) and all(terms[i + k].text == whole[k] for k in range(n - 1)):
                exact = end.start + len(last) if end.end - end.start == len(end.text) else end.end
                found.add((terms[i].start, exact))
    places: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if not places or start >= places[-1][1]:
            places.append((start, stop))
    return places


def find_hits(db: Database, gisting_id: int, query: str, *, memory: GistMemory, whole: Document) -> list[Hit]:
    """Every place of ``query`` in the pages read and their gists, in book order.

    ``whole``: the document as stored, whose paragraphs are indexed once for all its gistings.
    """
    phrases = phrases_of(query)
    if not phrases:
        return []
    text_index = index_text(db, whole)
    gist_index = _index_gists(db, gisting_id)
    pieces = _pieces(whole, memory.document)
    starts = [page.start for page in memory.pages]
    hits: list[Hit] = []
    for number in _matching_rows(db, text_index, phrases):
        for index in pieces[number]:
            page = memory.pages[bisect_right(starts, index) - 1] if starts else None
            if page is None or index >= page.end:
                continue  # not read yet
            places = _paragraph_places(memory.document.paragraphs[index], phrases)
            hits.extend(Hit(page.number, "text", index, start, end) for start, end in places)
    for number in _matching_rows(db, gist_index, phrases):
        gist = memory.gists[number - 1] if number <= len(memory.gists) else None
        if gist is not None:
            hits.extend(Hit(number, "gist", -1, start, end) for start, end in _places(gist.text, phrases))
    hits.sort(key=lambda hit: (hit.page, hit.field == "gist", hit.paragraph, hit.start))
    return hits


def find_in_all(db: Database, query: str, *, limit: int) -> list[TextHit]:
    """The first paragraphs with all words of ``query`` in each of ``limit`` books at most.

    The book with most of them is the first; of those with as many, the one opened last. Paragraphs with the words next
    to each other, and books that have one, come before the others.
    """
    phrases = phrases_of(query)
    if not phrases:
        return []
    match, together = match_of(phrases), match_of([list(chain(*phrases))])
    books = db.rows(_IN_BOOKS, (match, together, limit))
    numbers = ", ".join(str(book["number"]) for book in books)
    # one pass over the places in all books: the short beginning of a word has very many, and every query collects all
    places_of = f"SELECT rowid FROM found WHERE found MATCH ? AND rowid >> 24 IN ({numbers}) ORDER BY rowid"
    first = [row[0] for row in db.rows(places_of, (together,))] if len(phrases) > 1 else []
    rest = [row[0] for row in db.rows(places_of, (match,))]
    places: dict[int, list[int]] = defaultdict(list)
    for place in dict.fromkeys(first + rest):
        places[place >> 24].append(place)
    hits: list[TextHit] = []
    for book in books:
        stored = db.row("SELECT body FROM document WHERE id = ?", (book["document_id"],))
        if stored is None:
            continue  # deleted meanwhile
        texts = from_json(stored["body"])["paragraphs"]
        for place in places[book["number"]][:_SHOWN_OF_BOOK]:
            paragraph = place & 0xFFFFFF
            if parts := _excerpt(Paragraph.from_list(texts[paragraph], len(texts)), phrases):
                hits.append(TextHit(book["book_id"], paragraph, parts, book["count"]))
    return hits


def _paragraph_places(paragraph: Paragraph, phrases: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The places of the phrases in the text, and the ruby whose reading has one of them."""
    readings = [(s.start, s.end) for s in paragraph.spans if s.kind == SpanKind.RUBY and _places(s.text, phrases)]
    places = _places(paragraph.text, phrases)
    return places + [place for place in readings if not any(a < place[1] and place[0] < b for a, b in places)]


def _excerpt(paragraph: Paragraph, phrases: Sequence[Sequence[str]]) -> tuple[tuple[str, bool], ...]:
    """The ``parts`` of a TextHit, around the place with most of the phrases close together; () without a place."""
    text, places = paragraph.text, sorted(_paragraph_places(paragraph, phrases))
    if not places:
        return ()
    here, stop = max(places, key=lambda place: _closeness(text, [one for one in places if one >= place]))
    start = max(0, here - _BEFORE)
    end = min(len(text), here + _AFTER)
    if start and " " in text[start:here]:
        start = text.index(" ", start) + 1
    if end < len(text) and " " in text[stop:end]:
        end = text.rindex(" ", stop, end)
    parts = [("…" if start else "", False)]
    at = start
    for first, last in places:
        if first < start:
            continue
        if last > end:
            break
        parts += [(text[at:first], False), (text[first:last], True)]
        at = last
    parts += [(text[at:end], False), ("…" if end < len(text) else "", False)]
    return tuple(part for part in parts if part[0])


def _closeness(text: str, places: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """How many different words the places have within an excerpt from the first on; and how near they are, negative."""
    here = places[0][0]
    words: dict[str, int] = {}
    for start, end in places:
        if end > here + _AFTER:
            break
        words.setdefault(fold(text[start:end]), end)
    return len(words), here - max(words.values(), default=here)


def match_of(phrases: Sequence[Sequence[str]]) -> str:
    """The FTS5 expression for all phrases. The last term of each may be the beginning of a word."""
    return " AND ".join('"' + " ".join(terms) + '" *' for terms in phrases)


def _matching_rows(db: Database, index: int, phrases: Sequence[Sequence[str]]) -> list[int]:
    """The numbers of the paragraphs or pages in an index that have all phrases."""
    rows = db.rows(
        "SELECT rowid FROM found WHERE found MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid",
        (match_of(phrases), index << 24, (index + 1) << 24),
    )
    return [row[0] & 0xFFFFFF for row in rows]


def _pieces(whole: Document, limited: Document) -> list[range]:
    """For each paragraph of ``whole``, the paragraphs it became in ``limited``."""
    starts = [whole.count_in(limited, i) for i in range(len(whole.paragraphs) + 1)]
    return [range(start, end) for start, end in pairwise(starts)]


def _index_number(connection: sqlite3.Connection, owner: str) -> tuple[int, bool]:
    """The number of the index of ``owner``, and whether it is new."""
    row = connection.execute("SELECT id FROM indexed WHERE owner = ?", (owner,)).fetchone()
    if row is not None:
        return int(row["id"]), False
    return int(connection.execute("INSERT INTO indexed (owner) VALUES (?)", (owner,)).lastrowid or 0), True


def _terms_text(text: str) -> str:
    return " ".join(term.text for term in split_terms(text))


def index_text(db: Database, document: Document) -> int:
    """Index the paragraphs of ``document`` unless they are indexed; returns the number of the index."""
    owner = f"text {document.id}"
    row = db.row("SELECT id FROM indexed WHERE owner = ?", (owner,))
    if row is not None:
        return int(row["id"])
    terms = [_terms_text(f"{p.text} {p.readings}" if p.spans else p.text) for p in document.paragraphs]
    with db.write() as connection:
        number, new = _index_number(connection, owner)
        if new:
            connection.executemany(
                "INSERT INTO found (rowid, terms) VALUES (?, ?)", (((number << 24) + i, t) for i, t in enumerate(terms))
            )
    return number


def texts_to_index(db: Database) -> list[str]:
    """The ids of the texts that ``find_in_all`` cannot search yet, last opened first."""
    rows = db.rows(
        "SELECT document_id FROM version JOIN book ON book.id = book_id "
        "LEFT JOIN indexed ON indexed.owner = 'text ' || document_id WHERE indexed.id IS NULL AND book.removed IS NULL "
        "AND version.number = (SELECT max(number) FROM version AS newest WHERE newest.book_id = book.id) "
        "ORDER BY coalesce(book.opened, book.added) DESC"
    )
    return [row["document_id"] for row in rows]


def remove_from_index(connection: sqlite3.Connection, owners: Iterable[str]) -> None:
    """Remove the terms of these texts (``text ID``) and readings (``gist ID``)."""
    for owner in owners:
        row = connection.execute("DELETE FROM indexed WHERE owner = ? RETURNING id", (owner,)).fetchone()
        if row is not None:
            connection.execute(
                "DELETE FROM found WHERE rowid >= ? AND rowid < ?", (row["id"] << 24, (row["id"] + 1) << 24)
            )


def _index_gists(db: Database, gisting_id: int) -> int:
    """Index the gists of the gisting that are not indexed yet; returns the number of the index."""
    owner = f"gist {gisting_id}"
    row = db.row("SELECT id FROM indexed WHERE owner = ?", (owner,))
    unindexed = "SELECT number, text FROM gist WHERE reading_id = ? AND NOT indexed"
    if row is not None and not db.rows(f"{unindexed} LIMIT 1", (gisting_id,)):
        return int(row["id"])
    with db.write() as connection:
        number, _ = _index_number(connection, owner)
        for gist in connection.execute(unindexed, (gisting_id,)).fetchall():
            place = (number << 24) + gist["number"]
            connection.execute("DELETE FROM found WHERE rowid = ?", (place,))
            connection.execute("INSERT INTO found (rowid, terms) VALUES (?, ?)", (place, _terms_text(gist["text"])))
        connection.execute("UPDATE gist SET indexed = 1 WHERE reading_id = ? AND NOT indexed", (gisting_id,))
    return number
