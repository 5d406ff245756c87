"""Opens web pages and e-mails that are one file with their pictures: MHTML, Safari's webarchive, .eml and mbox."""

from __future__ import annotations

import base64
import codecs
import plistlib
import re
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import escape, unescape
from urllib.parse import urljoin

from readagent_core.document import Document, Notice
from readagent_core.errors import DamagedDocumentError, EmptyDocumentError
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.decode import decode
from readagent_core.loaders.html import loader as html
from readagent_core.words import count_of

_MESSAGE = re.compile(rb"^From \S.*\r?\n(?=[\w-]+:)", re.MULTILINE)  # the line before each message of an mbox
_SOURCE = re.compile(r"(<img\b[^>]*?\bsrc\s*=\s*)([\"'])(.*?)\2", re.IGNORECASE | re.DOTALL)
_BODY = re.compile(r"<body\b[^>]*>(.*?)(?:</body>|\Z)", re.IGNORECASE | re.DOTALL)
_SHORT_LINE = 50  # characters; of longer lines a mail program broke a paragraph
_SAVED = {"snapshot-content-location", "content-location"}  # headers of a web page that a browser saved
_OF_MAIL = {"from", "to", "subject", "date"}
_HEADERS = ("From", "To", "Cc", "Date")


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the saved page or e-mails ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = decode(data)[0].encode("utf-8", "replace")
    if data.startswith((b"bplist", b"<?xml")):
        return _open(_webarchive(data, limits), name, limits)
    messages = _MESSAGE.split(data)[1:] if data.startswith(b"From ") else [data]
    parsed = [_parse(message.lstrip()) for message in messages]
    keys = {key.lower() for key in parsed[0]}
    if len(parsed) == 1 and not _header(parsed[0], "To") and (_SAVED & keys or not keys & _OF_MAIL):
        return _open(_content(parsed[0], limits.page), name, limits)
    pages = [_message(message, limits.page // len(parsed)) for message in parsed]
    title, author = (_header(parsed[0], "Subject"), _header(parsed[0], "From")) if len(parsed) == 1 else (name, "")
    head = f'<title>{escape(title)}</title><meta name="author" content="{escape(author)}">'
    document = _open(f"<html><head>{head}</head><body>{''.join(pages)}</body></html>", name, limits)
    attached = [part.get_filename() or "unnamed" for one in parsed for part in one.walk() if part.is_attachment()]
    if not attached:
        return document
    told = f"Attached, and not read: {count_of(len(attached), 'file')} ({', '.join(attached[:5])})."
    notice = Notice("attachments", f"{told} Save and open the ones that are books.", len(attached))
    return replace(document, warnings=(*document.warnings, notice))


def as_page(data: bytes) -> bytes:
    """Returns the page in ``data`` where that is a saved page (MHTML), else ``data``."""
    if data.lstrip()[:1] == b"<" or b"mime-version:" not in data[:2000].lower():
        return data
    return _content(_parse(data.lstrip()), len(data)).encode("utf-8-sig", "replace")


def _open(page: str, name: str, limits: Limits) -> Document:
    try:
        return html.load(page.encode("utf-8-sig", "replace"), name, limits=limits)
    except EmptyDocumentError:
        raise EmptyDocumentError("There is no text in this file. Nothing was added; open another file.") from None


def _parse(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name) or "").split())
    except Exception:  # noqa: BLE001  the parser of addresses fails in many ways
        return " ".join(str(dict(message.raw_items()).get(name) or "").split())


def _message(message: EmailMessage, room: int) -> str:
    """Returns an e-mail as HTML below its subject; of a conversation each is a section."""
    lines = [f"{name}: {text}" for name in _HEADERS if (text := _header(message, name))]
    page = _content(message, room)
    inner = _BODY.search(page)
    head = f"<h1>{escape(_header(message, 'Subject') or 'No subject')}</h1><p>{'<br>'.join(map(escape, lines))}</p>"
    return head + (inner.group(1) if inner else page)


def _content(message: EmailMessage, room: int) -> str:
    """Returns the text of a message as HTML with its pictures in it. Raises DamagedDocumentError where it has none."""
    parts = [part for part in message.walk() if isinstance(part, EmailMessage) and not part.is_multipart()]
    texts = [part for part in parts if part.get_content_maintype() == "text" and not part.is_attachment()]
    page = next((part for part in texts if part.get_content_subtype() == "html"), None)
    if page is None:
        return "".join(_paragraphs(_text(part)) for part in texts if part.get_content_subtype() == "plain")
    base = _header(page, "Content-Location")
    files: dict[str, bytes] = {}
    for part in parts:
        if part.get_content_maintype() == "image":
            data = part.get_payload(decode=True) or b""
            names = ("cid:" + _header(part, "Content-ID").strip("<>"), _header(part, "Content-Location"))
            files.update(dict.fromkeys(filter(None, names), data if isinstance(data, bytes) else b""))
    return _with_pictures(_text(page), base, files, room)


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return _decoded(data, part.get_content_charset() or "")


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(codecs.lookup(charset).name)
    except (LookupError, ValueError):  # none is named, or it does not fit
        return decode(data)[0]


def _paragraphs(text: str) -> str:
    """Returns a plain text as HTML: lines that a mail program broke are joined, short ones stay."""
    pieces = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = [escape(line.strip()) for line in block.strip().split("\n")]
        broken = all(len(line) > _SHORT_LINE and not line.startswith("&gt;") for line in lines[:-1])
        pieces.append(f"<p>{(' ' if broken else '<br>').join(lines)}</p>")
    return "".join(pieces)


def _webarchive(data: bytes, limits: Limits) -> str:
    try:
        archive = plistlib.loads(data)
        main, others = archive["WebMainResource"], archive.get("WebSubresources") or []
        page = _decoded(main["WebResourceData"], str(main.get("WebResourceTextEncodingName") or ""))
        base = str(main.get("WebResourceURL") or "")
        pictures = [other for other in others if str(other.get("WebResourceMIMEType")).startswith("image/")]
        files = {str(other["WebResourceURL"]): bytes(other["WebResourceData"]) for other in pictures}
    except Exception as error:
        raise DamagedDocumentError("This web archive is damaged. Save the page again in the browser.") from error
    return _with_pictures(page, base, files, limits.page)


def _with_pictures(page: str, base: str, files: dict[str, bytes], room: int) -> str:
    """Returns ``page`` with the pictures in ``files``, by address, written into it as far as ``room`` bytes allow."""
    left = room - len(page.encode("utf-8", "replace"))

    def insert(found: re.Match[str]) -> str:
        nonlocal left
        address = unescape(found.group(3)).strip()
        try:
            data = files.get(address) or files.get(urljoin(base, address), b"")
        except ValueError:
            data = b""
        written = f"data:image/png;base64,{base64.b64encode(data).decode()}" if data else ""
        if not written or len(written) > left:
            return found.group()
        left -= len(written)
        return f'{found.group(1)}"{written}"'

    return _SOURCE.sub(insert, page)
