"""A book's cover: its own picture, of a PDF its first page. Where it has none, assets/shared/cover.js draws one from
the title.

The library's screen shows thumbnails, which are made at their first use and stored with the text.
"""

from __future__ import annotations

import base64
import warnings
from html import escape
from io import BytesIO

from readagent_core.document import Cover
from readagent_core.errors import DocumentError
from readagent_core.export.drawn_cover import colours_of
from readagent_core.library import Library
from readagent_core.library.records import Book
from readagent_core.loaders.pdf.picture import PdfPages

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")  # not SVG: it may hold scripts
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
_THUMBNAIL = (288, 386)  # pixels: 96 px on a screen of three device pixels each
_MOST_PIXELS = 50_000_000  # a larger picture is not decoded


def picture_of(cover: Cover) -> str | None:
    """The picture as a data address; None for kinds that are not plain pictures."""
    if cover.kind not in PICTURES:
        return None
    return f"data:{cover.kind};base64,{base64.b64encode(cover.data).decode('ascii')}"


def thumbnail(library: Library, book: Book) -> str | None:
    """The book's cover as a small picture's data address; None where it has none that can be shown."""
    stored_beside = library.artifacts(book.document_id)
    stored = stored_beside.load("thumbnail", "1")
    if stored is None:
        cover = library.cover(book.id) or _first_page(library, book)
        stored = _small(cover) if cover is not None and cover.kind in PICTURES else ""
        stored_beside.save("thumbnail", "1", stored)
    return stored or None


def small(library: Library, book: Book) -> str:
    """The book's cover as HTML, for a line of a list: its picture, or its title on the paper that cover.js gives it."""
    if (book.has_cover or book.format == "pdf") and (picture := thumbnail(library, book)):
        return f'<img class="small-cover" src="{picture}" alt="">'
    paper, ink = colours_of(book.title)
    style = f"background-color:{paper};color:{ink}"
    words = [f"{escape(word[:-2])}<span>{escape(word[-2:])}</span>" for word in book.title.split()]  # no line is ':'
    return f'<span class="small-cover" style="{style}" aria-hidden="true">{" ".join(words)}</span>'


def _first_page(library: Library, book: Book) -> Cover | None:
    """A picture of the first page of the PDF that the book was made of; None of a locked or a missing one."""
    path = library.original_path(book.id) if book.format == "pdf" else None
    if path is None:
        return None
    try:
        with PdfPages(path) as pages:
            return Cover(pages.draw(1, width=_THUMBNAIL[0]), "image/jpeg")
    except DocumentError:
        return None


def _small(cover: Cover) -> str:
    """The picture made small, as a data address; '' where it cannot be decoded."""
    data = shrink(cover.data)
    return picture_of(Cover(data, "image/jpeg")) or "" if data else ""


def shrink(data: bytes) -> bytes:
    """The picture made small, as JPEG; b"" where it cannot be decoded."""
    from PIL import Image, ImageOps  # only where a book with a cover is new

    try:
        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                return b""
            picture.draft("RGB", _THUMBNAIL)
            small = ImageOps.exif_transpose(picture)
            small.thumbnail(_THUMBNAIL)
            out = BytesIO()
            small.convert("RGB").save(out, "JPEG", quality=80)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return b""
    return out.getvalue()
