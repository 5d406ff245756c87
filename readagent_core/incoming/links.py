"""A web address or a pasted text becomes a book of the library.

The book's ``source_name`` is the address that the text came from, after redirects; a notice of the import says when.
Fetching the address again adds a new version of the book where its text has changed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from pathlib import PurePosixPath
from time import localtime, strftime
from urllib.parse import unquote, urlsplit

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Notice
from readagent_core.errors import EmptyDocumentError, LinkError
from readagent_core.fetching.connecting import Rules
from readagent_core.fetching.fetch import PUBLIC, Fetched, fetch
from readagent_core.incoming.opening import add_book, check_room
from readagent_core.library.records import Book
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.base import check_size
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace

OFF = "Links are turned off, so nothing was fetched. Save the page as a file and open that."
_WITH_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*://|(?:data|file|mailto|javascript):)\S+", re.IGNORECASE)
_WITHOUT_SCHEME = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "text/markdown": ".md",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/x-mobipocket-ebook": ".mobi",
    "application/x-fictionbook+xml": ".fb2",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "text/vtt": ".vtt",
    "application/kepub+zip": ".epub",
    "application/vnd.amazon.ebook": ".azw3",
    "application/x-mobi8-ebook": ".azw3",
    "application/vnd.comicbook+zip": ".cbz",
    "application/x-cbz": ".cbz",
}
_CHARSETS = re.compile(
    r"utf-?(?:8|16)|iso-?(?:8859-\d+|2022-jp)|windows-125\d|s(?:hift[_-])?jis|euc-(?:jp|kr)|gb(?:k|2312|18030)|big5|"
    r"koi8-[ru]"
)
_TITLE = 80  # characters of a first line that can be a title
_TITLE_WORDS = 8  # of a text whose first line cannot


def is_address(text: str) -> bool:
    """Returns whether ``text`` is a web address with its scheme, which no name of a file is."""
    return _WITH_SCHEME.fullmatch(text) is not None


def as_address(text: str) -> str:
    """Returns the web address that ``text`` is, with its scheme; '' where it is a text."""
    text = text.strip()
    if is_address(text):
        return text
    return f"https://{text}" if _WITHOUT_SCHEME.fullmatch(text) else ""


def fetch_document(
    settings: Settings,
    address: str,
    cancel: CancelToken | None = None,
    *,
    password: str = "",
    rules: Rules = PUBLIC,
) -> tuple[Document, Fetched]:
    """Returns the document at ``address``, and what was fetched from the address that it came from in the end.

    Raises LinkError, DocumentError or CancelledError. ``rules``: see ``fetching.connecting``; only tests change them.
    """
    if not settings.links:
        raise LinkError(OFF)
    found = fetch(address, cancel, rules=rules)
    return document_of(found, f"Fetched from {found.address}", password=password), found


def document_of(found: Fetched, source: str, *, password: str = "") -> Document:
    """Returns the document in what was fetched, with a notice: ``source`` and the time. Raises DocumentError."""
    try:
        document = load_in_child_process(_with_mark(found), file_name(found), password=password, address=found.address)
    except EmptyDocumentError:
        raise EmptyDocumentError(
            "There is no text at this address for a program that runs no scripts. Nothing was added. Open the page in "
            "your browser, and save it as a file or copy its text."
        ) from None
    when = strftime("%Y-%m-%d at %H:%M", localtime(found.when))
    return replace(document, warnings=(Notice("fetched", f"{source} on {when}."), *document.warnings))


def open_link(
    workspace: Workspace,
    address: str,
    cancel: CancelToken | None = None,
    *,
    password: str = "",
    rules: Rules = PUBLIC,
) -> Book:
    """Returns the book at ``address``, added to the library. Raises as ``fetch_document``; then nothing was added."""
    document, found = fetch_document(workspace.settings, address, cancel, password=password, rules=rules)
    return add_book(workspace, document, found.data, file_name(found), source_name=found.address)


def can_fetch_again(book: Book) -> bool:
    """Returns whether the book came from a web address."""
    return book.source_name.startswith(("http://", "https://"))


def fetch_again(
    workspace: Workspace, book_id: str, cancel: CancelToken | None = None, *, rules: Rules = PUBLIC
) -> Book:
    """Returns the book with what is at its address now: a new version, or the same one where the text is the same."""
    address = workspace.library.book(book_id).source_name
    document, found = fetch_document(workspace.settings, address, cancel, rules=rules)
    return add_book(workspace, document, found.data, file_name(found), source_name=address)


def open_pasted_text(workspace: Workspace, text: str) -> Book:
    """Returns the book of a pasted text, added to the library. Raises DocumentError.

    The text is plain, unless it has headings of Markdown or is an HTML page. Its title is the first line, where that
    is short and no sentence, else its first words.
    """
    lines = text.strip().splitlines()
    if not lines:
        raise EmptyDocumentError("There is no text to add. Copy a text or a web address, and paste it first.")
    data = text.encode("utf-8-sig", "replace")
    check_size(data, DEFAULT.text, "This text")
    check_room(workspace, len(data))
    title = lines[0].strip()
    if len(title) > _TITLE or (len(lines) > 1 and title[-1] in ".!?,;:…。！？、"):
        words = title[:_TITLE].split()[:_TITLE_WORDS]
        title = " ".join(words)[: _TITLE // 2] + " …"
    name = re.sub(r"[/\\]", " ", title)
    return workspace.library.add(load_in_child_process(data, f"{name}.txt"))


def file_name(found: Fetched) -> str:
    """Returns a file name for what was fetched: by it the loaders find the format, and a title where there is none."""
    parts = urlsplit(found.address)
    name = PurePosixPath(found.name.replace("\\", "/") or unquote(parts.path)).name or parts.hostname or "page"
    ending = PurePosixPath(name).suffix.lower()
    if ending in FORMATS:
        name = PurePosixPath(name).stem
    else:
        ending = ""
    if found.kind in ENDINGS:
        return name + ENDINGS[found.kind]
    return name + (ending or (".txt" if found.kind.startswith("text/") else ""))


def _with_mark(found: Fetched) -> bytes:
    """Returns the data of a text in UTF-8 with its mark, where the server says another encoding that fits."""
    named = found.kind.startswith("text/") or found.kind == "application/xhtml+xml"
    if not named or not _CHARSETS.fullmatch(found.charset) or found.data.startswith(codecs.BOM_UTF8):
        return found.data
    try:
        return found.data.decode(found.charset).encode("utf-8-sig")
    except (UnicodeError, LookupError):
        return found.data  # the loaders find out which encoding it is
