"""Detects the format of a file from its first bytes and its name, and explains which files cannot be opened.

The content counts before the name. A book in another format than its name says is opened with a notice. A file that is
named like a book but is none is an error that says what it is instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath

from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    EmptyDocumentError,
    ProtectedDocumentError,
    UnknownFormatError,
    WrongFormatError,
)
from readagent_core.loaders.decode import utf16_without_mark

FORMATS = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".epub": "epub",
    ".pdf": "pdf",
    ".docx": "docx",
}
NAMES = {
    "text": "plain text",
    "markdown": "Markdown",
    "html": "a web page",
    "epub": "an EPUB",
    "pdf": "a PDF",
    "docx": "a Word document",
}
GROUP = "readagent.loaders"  # of entry points of other packages: the name of each is an ending without its dot
FROM_PACKAGES: dict[str, EntryPoint] = {  # by format, which is named after the ending
    entry.name.lower(): entry for entry in entry_points(group=GROUP) if f".{entry.name.lower()}" not in FORMATS
}
FORMATS |= {f".{format}": format for format in FROM_PACKAGES}
NAMES |= {
    format: f"a .{format} file, which the package {entry.dist.name if entry.dist else entry.value} opens"
    for format, entry in FROM_PACKAGES.items()
}
_CAN_OPEN = (
    "ReadAgent opens "
    + ", ".join(["PDF, EPUB, Word (.docx), web pages (HTML), Markdown", *(f".{format}" for format in FROM_PACKAGES)])
    + " and plain text."
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # the container of a .docx with a password
_OTHERS: tuple[tuple[int, tuple[bytes, ...], str, str], ...] = (  # where the marks are, the marks, what it is, advice
    (60, (b"BOOKMOBI",), "a Kindle book", "convert it to EPUB, for example with Calibre"),
    (60, (b"TEXtREAd",), "a Palm book", "convert it to EPUB, for example with Calibre"),
    (0, (b"TPZ",), "a Kindle book", "convert it to EPUB, for example with Calibre"),
    (0, (_OLE,), "an old Word document (.doc) or of that kind", "save it as .docx or PDF"),
    (0, (b"{\\rtf",), "a rich text (RTF) file", "save it as .docx or PDF"),
    (0, (b"AT&TFORM",), "a DjVu file", "convert it to a PDF with a text layer"),
    (
        0,
        (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00"),
        "a picture",
        "run text recognition (OCR) on it, then open the result",
    ),
    (0, (b"%!PS",), "a PostScript file", "convert it to PDF"),
    (0, (b"\x1f\x8b", b"7z\xbc\xaf'\x1c", b"Rar!", b"BZh"), "a packed file", "unpack it and open the book inside"),
    (0, (b"ID3",), "a sound file", "open a text of it instead"),
    (0, (b"\x7fELF", b"MZ\x90"), "a program", "open a book"),
    (0, (b"SQLite format 3\x00",), "a database", "open a book"),
)
_HTML_START = re.compile(rb"(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL)
_HTML_TAGS = re.compile(rb"<(?:html|head|body|p|div|h[1-6]|table|br|title|meta)\b[^>]*>", re.IGNORECASE)
_FICTION_BOOK = re.compile(rb"(?:<\?xml[^>]*>|\s)*<FictionBook", re.IGNORECASE)
_ATX = re.compile(rb"(?:^|\n)\s*\n#{1,6} \S[^\n]*\r?\n[ \t\r]*\n")
_HEAD = 4096
_CONTROLS = bytes(sorted({*range(1, 32)} - {9, 10, 12, 13, 27}))  # that do not occur in texts


@dataclass(frozen=True)
class FileType:
    """``format``: which loader opens it. ``notice``: shown where the name says another format."""

    format: str
    notice: str = ""


def detect_file_type(data: bytes, name: str) -> FileType:
    """Returns the format of a file.

    Raises UnknownFormatError, WrongFormatError, EmptyDocumentError, DamagedDocumentError or ProtectedDocumentError.
    """
    promised = FORMATS.get(PurePath(name.replace("\\", "/")).suffix.lower(), "")
    if not data.strip(b"\x00 \t\r\n"):
        raise EmptyDocumentError("This file is empty. If it should not be, download or copy it again.")
    if promised in FROM_PACKAGES:  # what such a file holds only its package knows
        return FileType(promised)
    held = _detect_binary(data) or _detect_html(data)
    if held:
        return _resolve_name(held, promised)
    if promised in ("pdf", "epub", "docx"):
        raise _wrong_content_error(data, promised)
    if _looks_binary(data):
        raise UnknownFormatError(f"This file is no text, and of a kind unknown here. {_CAN_OPEN}")
    if name.lower().endswith(".json") and data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        raise UnknownFormatError(
            "This file is JSON: data for programs, not a text to read. An exported reading is opened in the library, a "
            f"dataset in Evaluate. {_CAN_OPEN}"
        )
    if promised:
        return FileType("markdown" if promised == "text" and _is_markdown(data) else promised)
    return FileType(
        "markdown" if _is_markdown(data) else "html" if len(_HTML_TAGS.findall(data[:_HEAD])) > 3 else "text"
    )


def _resolve_name(held: str, promised: str) -> FileType:
    if not promised or held == promised or (held == "html" and promised in ("text", "markdown")):
        # HTML in a file named as text is opened as HTML without a notice: a text may begin with markup
        return FileType(held)
    if held == "html":
        raise WrongFormatError(
            f"This file is named like {NAMES[promised]} but holds a web page, perhaps the page you downloaded it "
            "from. Download the book itself again, or rename the file to .html to read the page."
        )
    return FileType(held, f"The file is named like {NAMES[promised]}, but it is {NAMES[held]}; it was opened as that.")


def _detect_binary(data: bytes) -> str:
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _detect_archive(data)
    if data.startswith(_OLE) and _LOCKED in data:
        raise ProtectedDocumentError(
            "This document is locked with a password. Nothing was opened. Open it in Word, take the password off "
            "(File, Info, Protect Document), save it, and open it here again."
        )
    for at, marks, what, advice in _OTHERS:
        if data.startswith(marks, at):
            raise UnknownFormatError(f"This is {what}, which ReadAgent does not open: {advice}.")
    if _FICTION_BOOK.match(data[:_HEAD]):
        raise UnknownFormatError(
            "This is an FB2 book, which ReadAgent does not open: convert it to EPUB, for example with Calibre."
        )
    return ""


def _detect_archive(data: bytes) -> str:
    """Returns the format of a zip file from the names in it, which are not compressed."""
    ends = data[:_HEAD] + data[-(1 << 20) :]
    if b"application/epub+zip" in data[:200] or b"META-INF/container.xml" in ends:
        return "epub"
    if b"word/document" in ends:
        return "docx"
    if b".opf" in ends:
        return "epub"
    raise UnknownFormatError("This is a zip archive without a book in a form known here. Unpack it and open the book.")


def _detect_html(data: bytes) -> str:
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head[2:].replace(b"\x00", b"")
    return "html" if _HTML_START.match(head) else ""


def _wrong_content_error(data: bytes, promised: str) -> DocumentError:
    again = "Download or copy the file again."
    if _looks_binary(data):
        return DamagedDocumentError(
            f"This file is named like {NAMES[promised]} but does not begin like one: it is damaged or of "
            f"another kind. Nothing could be read. {again}"
        )
    return WrongFormatError(
        f"This file is named like {NAMES[promised]} but holds plain text. {again} To read the text as it is, rename "
        "the file to .txt."
    )


def _looks_binary(data: bytes) -> bool:
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return False
    if utf16_without_mark(head) or _is_padded_text(head):
        return False
    sides = head[0::2], head[1::2]  # in UTF-16 one of the two holds the zeros and most control bytes
    zeros = [side.count(0) for side in sides]
    if min(zeros) * 10 >= sum(zeros) and sum(zeros) * 50 > len(head):
        return True
    controls = [len(side) - len(side.translate(None, _CONTROLS)) for side in sides]
    if min(controls) * 10 < sum(controls):
        return False
    return sum(controls) * 20 > len(head)


def _is_padded_text(head: bytes) -> bool:
    """Returns whether this is text between zeros, which some programs leave in it."""
    text = head.replace(b"\x00", b"")
    if len(text) * 4 < len(head) or len(text) - len(text.translate(None, _CONTROLS)):
        return False
    try:
        text[:-4].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return len(text) > 20


def _is_markdown(data: bytes) -> bool:
    return len(_ATX.findall(b"\n\n" + data[: 1 << 20].replace(b"\r\n", b"\n"))) >= 2
