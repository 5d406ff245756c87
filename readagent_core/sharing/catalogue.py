"""The library as a catalogue for reading apps, by OPDS 1.2: lists, search, covers, and the file of every book.

A book whose file was not kept is given as a plain text.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urlencode

from readagent_core.document import Document
from readagent_core.incoming.links import ENDINGS
from readagent_core.library import Library
from readagent_core.library.records import Book, Card
from readagent_core.templates import fill

ROOT = "/opds"
NAVIGATION = "application/atom+xml;profile=opds-catalog;kind=navigation"
ACQUISITION = "application/atom+xml;profile=opds-catalog;kind=acquisition"
KINDS = {ending: kind for kind, ending in reversed(ENDINGS.items())} | {".txt": "text/plain"}  # that are given out
COVERS = ("image/jpeg", "image/png", "image/gif", "image/webp")  # not SVG: it may hold scripts
_ON_A_PAGE = 60


def front_page(library: Library) -> str:
    """Return the first page: all books, and each shelf."""
    cards = library.cards()
    lists = [{"name": "All books", "about": f"{len(cards):,}, last opened first", "href": f"{ROOT}/books"}]
    for shelf in library.shelves():
        about = f"{shelf.books:,} on this shelf"
        lists.append({"name": shelf.name, "about": about, "href": f"{ROOT}/books?{urlencode({'shelf': shelf.name})}"})
    return _fill("ReadAgent", NAVIGATION, ROOT, lists=lists)


def book_list(library: Library, *, words: str = "", shelf: str = "", page: int = 0) -> str:
    """Return one page of the books: of a shelf, and with these words in title or author."""
    wanted = words.casefold().split()
    found = [
        card
        for card in library.cards()
        if all(word in f"{card.book.title} {card.book.author}".casefold() for word in wanted)
        and (not shelf or shelf in card.shelves)
    ]
    given = {"q": words, "shelf": shelf}
    first, last = page * _ON_A_PAGE, (page + 1) * _ON_A_PAGE

    def address(number: int) -> str:
        return f"{ROOT}/books?{urlencode({name: text for name, text in given.items() if text} | {'page': number})}"

    books = [_describe(library, card) for card in found[first:last]]
    following = address(page + 1) if last < len(found) else ""
    title = words or shelf or "All books"
    return _fill(title, ACQUISITION, address(page), books=books, next=following, total=len(found))


def description() -> str:
    """Return the OpenSearch description: how to search."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>ReadAgent</ShortName><Description>Titles and authors</Description>"
        f'<Url type="{ACQUISITION}" template="{ROOT}/books?q={{searchTerms}}"/></OpenSearchDescription>'
    )


def file_of(library: Library, book: Book) -> tuple[bytes, str, str]:
    """Return the bytes of a book's file, its type and its name."""
    name, kind = _file(library, book)
    path = library.original_path(book.id)
    kept = library.original(book.id) if path is not None and name.endswith(path.suffix) else None
    return kept or plain_text(library.document(book.id)), kind, name


def plain_text(document: Document) -> bytes:
    """Return the text of a document with its headings, the same bytes each time."""
    titles = {section.start: section.title for section in document.sections}
    parts = [
        document.title,
        *(f"{titles[n]}\n\n{p.text}" if n in titles else p.text for n, p in enumerate(document.paragraphs)),
    ]
    return "\n\n".join(parts).encode()


def _file(library: Library, book: Book) -> tuple[str, str]:
    """Return name and type of the file that is given out for a book."""
    path = library.original_path(book.id)
    ending = path.suffix if path is not None and path.suffix in KINDS else ".txt"
    stem = " ".join(re.sub(r'[\\/:*?"<>|\x00-\x1f]', " ", book.title).split())[:80] or "book"
    return f"{stem}{ending}", KINDS[ending]


def _describe(library: Library, card: Card) -> dict[str, str]:
    book = card.book
    name, kind = _file(library, book)
    cover = library.cover(book.id) if book.has_cover else None
    shown = cover is not None and cover.kind in COVERS
    return {
        "id": book.id, "title": book.title, "author": book.author, "language": book.language, "file": name,
        "kind": kind, "updated": _time(book.added), "cover": "yes" if shown else "",
        "cover_kind": cover.kind if cover is not None else "",
    }  # fmt: skip


def _fill(title: str, kind: str, here: str, **values: object) -> str:
    known = {"lists": (), "books": (), "next": "", "total": None, "updated": _time(datetime.now().timestamp())}
    return fill(
        "opds.xml", **(known | values), id=f"urn:readagent:{here}", title=title, kind=kind, here=here, root=ROOT
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
