"""Detects the format of a file from its first bytes and its name, and explains which files cannot be opened.

The content counts before the name. A book in another format than its name says is opened with a notice. A file that is
named like a book but is none is an error that says what it is instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from readagent_core.loaders.formats import FORMATS, FROM_PACKAGES, MARKUP, NAMES, PACKED

_CAN_OPEN = (
    "ReadAgent opens PDF, EPUB, Kindle books without DRM, FB2, Word (.docx, .doc), OpenDocument (.odt), RTF, "
    "PowerPoint (.pptx), web pages (HTML, MHTML, webarchive), e-mails (.eml), subtitles, Jupyter notebooks, comics "
    f"(.cbz), Markdown, LaTeX, Org{''.join(f', .{format}' for format in FROM_PACKAGES)} and plain text."
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # the container of a .docx with a password
_IN_HANGUL = "save it as .docx, .odt or PDF in Hangul"
_CONVERT = "convert it to EPUB, for example with Calibre"
_OTHERS: tuple[tuple[int, tuple[bytes, ...], str, str], ...] = (  # where the marks are, the marks, what it is, advice
    (60, (b"PNRdPPrs", b"PNPdPPrs"), "a Palm book (eReader)", _CONVERT),
    (0, (b"\xffWPC",), "a WordPerfect document (.wpd)", "save it as .docx or PDF, for example with LibreOffice"),
    (0, (b"TPZ", b"\xeaDRMION", b"CONT\x02\x00"), "a Kindle book of the kind Topaz or KFX", _CONVERT),
    (0, (b"ITOLITLS",), "a Microsoft Reader book (.lit)", _CONVERT),
    (0, (b"ITSF",), "a Windows help file (.chm)", _CONVERT),
    (0, (b"B\x00B\x00e\x00B\x00", b"L\x00R\x00F\x00"), "a Sony book (.lrf)", _CONVERT),
    (0, (b"HWP Document File",), "a Hangul document (.hwp)", _IN_HANGUL),
    (0, (b"AT&TFORM",), "a DjVu file", "convert it to a PDF with a text layer"),
    (0, (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM", b"8BPS"), "a picture",
     "run text recognition (OCR) on it, then open the result"),
    (0, (b"%!PS",), "a PostScript file", "convert it to PDF"),
    (0, (b"Rar!",), "a packed file (RAR), as comics (.cbr) are",
     "unpack it and open the book inside; a comic has no text"),
    (0, (b"\x1f\x8b", b"7z\xbc\xaf'\x1c", b"BZh", b"\xfd7zXZ"), "a packed file", "unpack it and open the book inside"),
    (0, (b"ID3", b"OggS", b"fLaC"), "a sound file", "open a text of it instead"),
    (4, (b"ftyp",), "a sound or video file", "open its subtitles (.srt, .vtt) instead"),
    (0, (b"\x1aE\xdf\xa3",), "a video file", "open its subtitles (.srt, .vtt) instead"),
    (0, (b"\x7fELF", b"MZ\x90"), "a program", "open a book"),
    (0, (b"SQLite format 3\x00",), "a database", "open a book"),
    (0, (b"bplist",), "a property list: data for programs", "open a book"),
)  # fmt: skip
_OLD_OFFICE: tuple[tuple[str, str, str], ...] = (  # a stream in the file, what it is, advice
    ("HwpSummaryInformation", "a Hangul document (.hwp)", _IN_HANGUL),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt)", "save it as .pptx"),
    ("Workbook", "an old Excel sheet (.xls)", "save what you want to read as PDF"),
    ("__substg1.0_", "an e-mail of Outlook (.msg)", "save it as .eml or PDF"),
    ("WordDocument", NAMES["doc"], ""),  # may also be within those above
    ("", "a file of an old Office program", "save it as .docx or PDF"),
)
_ARCHIVES: tuple[tuple[str, str, str], ...] = (  # how names in it are matched, what it is, advice
    (r"Index/Document\.iwa|index\.(?:apxl|xml)(?:\.gz)?|Index\.zip", "a document of Pages, Keynote or Numbers",
     "export it as EPUB, Word or PDF"),
    (r"xl/workbook\.\w+", "an Excel sheet", "save what you want to read as PDF"),
    (r"Contents/(?:content\.hpf|section0\.xml)", "a Hangul document (.hwpx)", _IN_HANGUL),
    (r"AndroidManifest\.xml|META-INF/MANIFEST\.MF", "a program", "open a book"),
)  # fmt: skip
_HTML_START = re.compile(rb"(?>\s+|<\?xml[^>]*>|<!--.*?-->)*+<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL)
_HTML_TAGS = re.compile(rb"<(?:html|head|body|p|div|h[1-6]|table|br|title|meta)\b[^>]*>", re.IGNORECASE)
_BEFORE_ROOT = rb"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+"
_ROOT = re.compile(_BEFORE_ROOT + rb"<(?:[\w-]+:)?(FictionBook|opml|book|article)[\s>]", re.IGNORECASE | re.DOTALL)
_HEADERS = re.compile(rb"\s*(?:From [^\n]*\n)?(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}")
_MAIL = re.compile(
    rb"^(?:MIME-Version|Message-ID|Received|Return-Path|Delivered-To|DKIM-Signature|X-Mailer):", re.I | re.M
)
_SAVED_PAGE = re.compile(
    rb"^(?:Snapshot-Content-Location|Content-Location):|multipart/related|From: <Saved by", re.I | re.M
)
_SUBTITLE = re.compile(rb"\s*(?:\d+[ \t]*\r?\n)?[ \t]*\d+:\d\d:\d\d[.,]\d{1,3} +--> +\d")
_NAME_IN_ZIP = re.compile(rb"PK\x01\x02.{24}(..).{16}|PK\x03\x04.{22}(..)..", re.DOTALL)
PICTURE_NAME = re.compile(r"\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif)$", re.IGNORECASE)
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
    promised = promised_format(name)
    if not data.strip(b"\x00 \t\r\n"):
        raise EmptyDocumentError("This file is empty. If it should not be, download or copy it again.")
    if promised in FROM_PACKAGES:  # what such a file holds only its package knows
        return FileType(promised)
    held = _detect_binary(data) or _detect_html(data) or _detect_text(data, promised)
    if held:
        return _resolve_name(held, promised)
    if promised in ("doc", "rtf") and not _looks_binary(data):  # once the ending of any text
        return _resolve_name("text", promised)
    if promised not in ("", "text", "markdown", "html", *MARKUP):
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


def promised_format(name: str) -> str:
    """Returns the format that the name of a file promises; '' for none that is known."""
    name = name.replace("\\", "/").lower()
    return "fb2" if name.endswith(PACKED) else FORMATS.get(PurePath(name).suffix, "")


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
            "This document is locked with a password. Open it in Word, take the password off "
            "(File, Info, Protect Document), save it, and open it here again."
        )
    if data.startswith(_OLE):
        what, advice = next(
            (what, advice) for stream, what, advice in _OLD_OFFICE if stream.encode("utf-16-le") in data
        )
        if what == NAMES["doc"]:
            return "doc"
        raise _unknown(what, advice)
    if data[60:68] in (b"BOOKMOBI", b"TEXtREAd"):
        return "mobi"
    if data.startswith(b"bplist") and b"WebMainResource" in data[:_HEAD] + data[-_HEAD:]:
        return "webarchive"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    for at, marks, what, advice in _OTHERS:
        if data.startswith(marks, at):
            raise _unknown(what, advice)
    return ""


def _unknown(what: str, advice: str) -> UnknownFormatError:
    return UnknownFormatError(f"This is {what}, which ReadAgent does not open: {advice}.")


def _detect_text(data: bytes, promised: str) -> str:
    """Returns the format of a file that is made of text for programs; '' for a text to read."""
    head = _plain_head(data)
    root = _ROOT.match(head)
    kind = root[1].lower() if root else b""
    if kind in (b"opml", b"fictionbook"):
        return "opml" if kind == b"opml" else "fb2"
    if kind and b"docbook" in head.lower():
        return "docbook"
    if b"<key>WebMainResource</key>" in head:
        return "webarchive"
    if head.lstrip()[:6] == b"WEBVTT":
        return "vtt"
    if _SUBTITLE.match(head):
        return "srt"
    if head.lstrip()[:1] == b"{" and re.search(rb'"nbformat"\s*:', data[:_HEAD] + data[-_HEAD:]):
        return "ipynb"
    headers = _HEADERS.match(head)
    if headers and (_MAIL.search(headers[0]) or promised in ("eml", "mhtml", "mbox")):
        if headers[0].startswith(b"From "):
            return "mbox"
        return "mhtml" if _SAVED_PAGE.search(headers[0]) and not re.search(rb"(?im)^To:", headers[0]) else "eml"
    return ""


def _plain_head(data: bytes) -> bytes:
    """Returns the first bytes without byte order mark and the zeros of UTF-16 and UTF-32."""
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
    return head.replace(b"\x00", b"")[2:] if marked else head


def _detect_archive(data: bytes) -> str:
    """Returns the format of a zip file from the names in it, which are not compressed."""
    names = _names_in_zip(data)
    if b"application/epub+zip" in data[:200] or "META-INF/container.xml" in names:
        return "epub"
    for format, start in (("docx", "word/document"), ("pptx", "ppt/presentation.xml")):
        if any(name.startswith(start) for name in names):
            return format
    if "content.xml" in names:
        return "odt"
    if any(name.lower().endswith(".fb2") for name in names):
        return "fb2"
    if any(name.endswith(".opf") for name in names):
        return "epub"
    for pattern, what, advice in _ARCHIVES:
        if any(re.fullmatch(pattern, name) for name in names):
            raise _unknown(what, advice)
    files = [name for name in names if not name.endswith("/")]
    if b"PK\x05\x06" not in data[-70_000:]:
        raise DamagedDocumentError(
            "This file is an archive, as EPUB and Word files are, that broke off: its end is missing. Nothing was "
            "opened. Download or copy it again."
        )
    inside = [name for name in files if promised_format(name)]
    if files and sum(bool(PICTURE_NAME.search(name)) for name in files) * 2 > len(files) >= 5 * len(inside):
        return "cbz"
    if inside:
        raise UnknownFormatError(
            f"This is a zip archive that holds {', '.join(inside[:3])}{' and more' if len(inside) > 3 else ''}. "
            "Unpack it and open the book."
        )
    raise UnknownFormatError("This is a zip archive without a book in a form known here. Unpack it and open the book.")


def _names_in_zip(data: bytes) -> set[str]:
    """Returns the names of files that an archive begins and ends with. None is unpacked."""
    names = set()
    for part in (data[: 1 << 16], data[-(1 << 20) :]):
        for found in _NAME_IN_ZIP.finditer(part):
            length = int.from_bytes(found[1] or found[2], "little")
            names.add(part[found.end() : found.end() + length].decode("utf-8", "replace"))
    return names


def _detect_html(data: bytes) -> str:
    return "html" if _HTML_START.match(_plain_head(data)) else ""


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
