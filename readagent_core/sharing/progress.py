"""KOReader's progress sync: a place that another reading app puts or asks for, and the place here.

KOReader names a file by the MD5 of twelve pieces of it, and a place in an EPUB by a path in the XHTML of a part of it.
Such a place is found here by the words that follow it, and given by the path of the words that follow ours. What
cannot be found is taken by its share of the text. A document that is no book here is stored as it came.

A place that came while the person read on here too does not replace theirs: both are kept until they choose.
Sources: frontend/util.lua (``partialMD5``) and plugins/kosync.koplugin of https://github.com/koreader/koreader.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from typing import Any, BinaryIO

from readagent_core.citations.placing import PlainText, Quote
from readagent_core.companion.place import save_place
from readagent_core.document import Document
from readagent_core.errors import DocumentError
from readagent_core.library import Library
from readagent_core.library.records import Position
from readagent_core.sharing.catalogue import KINDS, file_of
from readagent_core.sharing.epub_paths import find_path, words_at

DEVICE = "ReadAgent"
_NAME, _LONGEST = 100, 1_000  # characters of a name, and of a place
_KEPT = 5  # earlier places of a book
_PIECE, _STEPS = 1024, 10


@dataclass(frozen=True)
class Synced:
    """The last place that came for a document. ``place``: paragraph and offset of it here; none without a book.

    ``base``: the place here that both knew. ``asks``: the person has to choose. ``earlier``: places that were left.
    """

    document: str
    progress: str
    percentage: float
    device: str
    device_id: str
    timestamp: int
    book: str = ""
    place: tuple[int, int] = (0, -1)
    base: tuple[int, int] = (0, -1)
    asks: bool = False
    earlier: tuple[tuple[int, int], ...] = ()


def partial_md5(file: BinaryIO) -> str:
    """Return the name that KOReader has for a file."""
    found = hashlib.md5(usedforsecurity=False)
    for at in (0, *(_PIECE * 4**step for step in range(_STEPS + 1))):
        file.seek(at)
        piece = file.read(_PIECE)
        if not piece:
            break
        found.update(piece)
    return found.hexdigest()


def put(library: Library, values: Mapping[str, Any]) -> Synced:
    """Take a place that an app sends. Raises DocumentError for what is none."""
    try:
        new = Synced(
            _text(values["document"], _NAME), _text(str(values["progress"]), _LONGEST), float(values["percentage"]),
            _text(values["device"], _NAME), _text(values.get("device_id") or "", _NAME), int(time.time()),
        )  # fmt: skip
        if not new.document or not 0 <= new.percentage <= 1:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise DocumentError("A place has document, progress, percentage from 0 to 1, and device.") from None
    book_id = _book_of(library, new.document)
    before = _stored(library, new.document)
    if book_id:
        document, own = library.document(book_id), _own(library, book_id)
        place = _place_here(library, book_id, new)
        base = before.base if before is not None else (0, -1)
        earlier = before.earlier if before is not None else ()
        offered = library.preference(f"sync offered {new.document}", None)
        went_on = offered is not None and tuple(offered) == own and place >= own
        if own == base or went_on or place == own:
            save_place(library, document, book_id, *place)
            new = replace(new, book=book_id, place=place, base=_own(library, book_id), earlier=_left(earlier, own))
        else:
            new = replace(new, book=book_id, place=place, base=base, asks=True, earlier=_left(earlier, place))
    library.set_preference(f"sync {new.document}", asdict(new))
    if book_id:
        library.set_preference(f"sync book {book_id}", new.document)
    return new


def get(library: Library, document: str) -> dict[str, Any]:
    """Return the place to give an app: ours where the person has moved here since, else the last that came; {}."""
    document = document[:_NAME]
    stored, book_id = _stored(library, document), _book_of(library, document)
    if book_id:
        own, position = _own(library, book_id), library.position(book_id)
        if own != (stored.base if stored else (0, -1)):
            library.set_preference(f"sync offered {document}", own)
            return {
                "document": document, "progress": _progress_of(library, book_id, position),
                "percentage": round(position.share, 6), "device": DEVICE, "device_id": DEVICE,
                "timestamp": int(time.time()),
            }  # fmt: skip
    if stored is None:
        return {}
    return {
        name: getattr(stored, name)
        for name in ("document", "progress", "percentage", "device", "device_id", "timestamp")
    }


def other(library: Library, book_id: str) -> Synced | None:
    """Return the place in another app that the person has to choose about; None without one."""
    name = library.preference(f"sync book {book_id}", "")
    found = _stored(library, name) if name else None
    return found if found is not None and found.asks else None


def choose(library: Library, found: Synced, *, go: bool) -> None:
    """Go to the place in the other app, or stay. The place that is left is kept."""
    own = _own(library, found.book)
    if go:
        save_place(library, library.document(found.book), found.book, *found.place)
    left = _left(found.earlier, own if go else found.place)
    chosen = replace(found, asks=False, base=_own(library, found.book), earlier=left)
    library.set_preference(f"sync {found.document}", asdict(chosen))


# --- which book, which place ---------------------------------------------------------------------------------------


def _book_of(library: Library, document: str) -> str:
    """Return the id of the book whose file has this name; '' without one. A name is worked out once a file.

    The kept files come first: of each a few pieces are read. The text of a book without one is made from the library.
    """
    known: dict[str, list[str]] = library.preference("sync names", {})
    paths = [path for of_a_size in library.originals_by_size().values() for path in of_a_size]
    files, before = {path.stem: path for path in paths if path.suffix in KINDS}, dict(known)
    found = ""
    for book in sorted(library.books(), key=lambda book: book.id not in files):
        path = files.get(book.id)
        state = f"{path.stat().st_mtime_ns}-{path.stat().st_size}" if path else f"{book.document_id} {book.title}"
        if known.get(book.id, ["", ""])[0] != state:
            with path.open("rb") if path else BytesIO(file_of(library, book)[0]) as file:
                known[book.id] = [state, partial_md5(file)]
        if known[book.id][1] == document:
            found = book.id
            break
    if known != before:
        library.set_preference("sync names", known)
    return found


def _own(library: Library, book_id: str) -> tuple[int, int]:
    position = library.position(book_id)
    return position.paragraph, position.offset


def _place_here(library: Library, book_id: str, synced: Synced) -> tuple[int, int]:
    document = library.document(book_id)
    guess = _at_share(document, synced.percentage)
    path = library.original_path(book_id)
    if path is not None and path.suffix == ".pdf" and synced.progress.isdecimal():
        number = int(synced.progress[:9])
        wanted = next((place for place, at in _pages(document).items() if at == number), "")
        return next(((n, -1) for n, one in enumerate(document.paragraphs) if one.place == wanted), guess)
    if path is not None and path.suffix == ".epub":
        text = PlainText(document)
        near = text.position((guess[0], max(0, guess[1])))
        for words in words_at(library.original(book_id) or b"", synced.progress):
            if found := text.find(Quote(words, "", ""), near):
                return text.spots(found[0], found[0] + 1)[0]
    return guess


def _progress_of(library: Library, book_id: str, position: Position) -> str:
    path = library.original_path(book_id)
    if path is not None and path.suffix == ".pdf":
        document = library.document(book_id)
        page = _pages(document).get(document.paragraphs[position.paragraph].place)
        return str(page) if page else str(position.share)
    if path is not None and path.suffix == ".epub":
        return find_path(library.original(book_id) or b"", position.words_after, position.share) or str(position.share)
    return str(position.share)


def _pages(document: Document) -> dict[str, int]:
    """Return the number of each page of a PDF by its place in paragraphs, which has the label that is printed on it."""
    places = list(dict.fromkeys(one.place for one in document.paragraphs if one.place))
    labels = [place.removeprefix("p. ") for place in places]
    plain = all(label.isdecimal() for label in labels)
    return {place: int(label) if plain else n for n, (place, label) in enumerate(zip(places, labels, strict=True), 1)}


def _at_share(document: Document, share: float) -> tuple[int, int]:
    """Return paragraph and offset of the character before which this share of the text is, as ``Position`` counts."""
    sizes = [len(p.text) for p in document.paragraphs]
    left = round(share * sum(sizes))
    for number, size in enumerate(sizes):
        if left < size:
            return number, left
        left -= size
    return max(0, len(sizes) - 1), -1


def _left(earlier: tuple[tuple[int, int], ...], place: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return (*[one for one in earlier if one != place], place)[-_KEPT:]


def _stored(library: Library, document: str) -> Synced | None:
    row = library.preference(f"sync {document}", None)
    if row is None:
        return None
    places = {"place": tuple(row["place"]), "base": tuple(row["base"]), "earlier": tuple(map(tuple, row["earlier"]))}
    return Synced(**(row | places))


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError
    return value
