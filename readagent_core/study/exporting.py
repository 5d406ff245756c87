"""A gist memory as a file to take away: Markdown, one HTML page, EPUB, or JSON that can be opened again.

Everything a book or a model wrote is escaped for the format it goes into. Knows nothing of screens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from readagent_core.document import Document, Paragraph
from readagent_core.errors import DamagedDocumentError, SettingsError, WrongFormatError
from readagent_core.memory import GistMemory, Page, check_coverage
from readagent_core.words import count_of

FORMATS = ("md", "html", "json", "epub")
MIME = {"md": "text/markdown", "html": "text/html", "json": "application/json", "epub": "application/epub+zip"}
_MARK = "readagent gist memory"
_VERSION = 1
_INLINE = re.compile(r"([\\`*_\[\]<>|~$])")
_LINE_START = re.compile(r"^(\s*\d*)([#+\-=!]|(?<=\d)[.)])", re.MULTILINE)


def export(memory: GistMemory, format: str) -> bytes:
    """The memory as the bytes of a file. ``format``: 'md', 'html', 'json' or 'epub'; else SettingsError."""
    try:
        write = _WRITERS[format]
    except KeyError:
        raise SettingsError(f"Unknown export format {format!r}. Choose one of: {', '.join(FORMATS)}.") from None
    return write(memory)


def file_name(memory: GistMemory, format: str) -> str:
    """A name for the exported file, from the title; safe on every system."""
    stem = re.sub(r"[^\w]+", "-", memory.document.title, flags=re.UNICODE).strip("-_").lower()[:60] or "book"
    return f"{stem}-gists.{format}"


# --- what all formats say -------------------------------------------------------------------------------


def facts(memory: GistMemory) -> str:
    """One line: pages, words before and after, who read it. Says so when the reading is not complete."""
    words = sum(page.words for page in memory.pages)
    parts = [
        count_of(len(memory.pages), "page"),
        f"{words:,} words kept in {memory.gist_words:,} ({memory.compression_rate:.1f} % fewer)",
    ]
    if memory.model:
        parts.append(f"read by {memory.model}{f', recorded {memory.recorded}' if memory.recorded else ''}")
    if not memory.complete:
        parts.append("not read to the end yet")
    return " · ".join(parts)


def pause(page: Page) -> str:
    """Why the page ends where it does, as the screen says it; '' where there is nothing to say."""
    if page.fallback:
        return "Paused here by rule: the model named no place it was offered, so the last one was taken"
    return f"Paused here: {page.reason.strip()}" if page.reason.strip() else ""


def gist_text(memory: GistMemory, number: int) -> str:
    gist = memory.gists[number - 1]
    return gist.text if gist is not None else ""


# --- Markdown -------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """``text`` so that Markdown shows its letters: no heading, link, picture, mark-up or formula comes of it."""
    return _LINE_START.sub(r"\1\\\2", _INLINE.sub(r"\\\1", text).replace("&", "&amp;"))


def _markdown(memory: GistMemory) -> bytes:
    document = memory.document
    lines = [f"# {plain(' '.join(document.title.split()))}", ""]
    if document.author:
        lines += [f"by {plain(' '.join(document.author.split()))}", ""]
    lines += [plain(facts(memory)), ""]
    for page in memory.pages:
        for index in range(page.start, page.end):
            for section in document.headings(index):
                lines += [f"{'#' * min(section.level + 1, 5)} {plain(' '.join(section.title.split()))}", ""]
        lines += [f"**Page {page.number}**", "", plain(gist_text(memory, page.number)) or "(no gist yet)", ""]
        if pause(page) and page.number < len(memory.pages):
            lines += [f"*‖ {plain(' '.join(pause(page).split()))}*", ""]
    return "\n".join(lines).encode("utf-8", "replace")


# --- JSON -----------------------------------------------------------------------------------------------


def _json(memory: GistMemory) -> bytes:
    data = {
        "format": _MARK,
        "version": _VERSION,
        "document": whole(memory.document).to_dict(),
        "memory": memory.to_dict(),
    }
    return json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def import_json(data: bytes) -> tuple[Document, GistMemory]:
    """The book and the memory of an exported JSON file. Raises DocumentError for anything else."""
    try:
        values: Any = json.loads(data.decode("utf-8-sig", "surrogatepass"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise WrongFormatError("This file is not JSON. Open one that was exported as JSON.") from None
    if not isinstance(values, dict) or values.get("format") != _MARK:
        raise WrongFormatError("This JSON is no exported gist memory. Open one that was exported as JSON.")
    if values.get("version") != _VERSION:
        raise WrongFormatError("This gist memory was exported by another version. Export it again with this one.")
    try:
        document = Document.from_dict(values["document"])
        memory = GistMemory.from_dict(values["memory"], document)
        _check(memory)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise DamagedDocumentError(
            "This gist memory is damaged: its pages do not fit its text. Nothing was imported; export it again."
        ) from None
    return document, memory


def _check(memory: GistMemory) -> None:
    """Raise ValueError unless pages follow one another within the document and carry texts."""
    end = memory.pages[-1].end if memory.pages else 0
    read = memory.document.paragraphs[:end]
    if len(read) != end or not all(isinstance(p.text, str) for p in memory.document.paragraphs):
        raise ValueError("pages reach past the text")
    check_coverage(replace(memory.document, paragraphs=read, sections=()), memory.pages)
    if not all(gist is None or isinstance(gist.text, str) for gist in memory.gists):
        raise ValueError("a gist is no text")
    book = memory.document
    said = [book.title, book.author, book.language, book.format, memory.model]
    said += [memory.recorded, *(s.title for s in book.sections), *(p.reason for p in memory.pages)]
    said += [mark for gist in memory.gists if gist is not None for mark in gist.marks]
    if not all(isinstance(text, str) for text in said):
        raise ValueError("what should be words is none")
    if memory.complete and (end != len(memory.document.paragraphs) or None in memory.gists):
        raise ValueError("called complete but is not")


def whole(document: Document) -> Document:
    """``document`` with paragraphs that were split for a reading joined again; same ``id``."""
    if not any(p.continues for p in document.paragraphs):
        return document
    paragraphs: list[Paragraph] = []
    moved: list[int] = []
    for paragraph in document.paragraphs:
        if paragraph.continues and paragraphs:
            paragraphs[-1] = replace(paragraphs[-1], text=paragraphs[-1].text + paragraph.text)
        else:
            paragraphs.append(paragraph)
        moved.append(len(paragraphs) - 1)
    sections = tuple(replace(s, start=moved[s.start]) for s in document.sections)
    return replace(document, paragraphs=tuple(paragraphs), sections=sections)


# --- the other two have a file each; they load what only they need -----------------------------------------


def _html(memory: GistMemory) -> bytes:
    from readagent_core.study.exporting_html import html

    return html(memory)


def _epub(memory: GistMemory) -> bytes:
    from readagent_core.study.exporting_epub import epub

    return epub(memory)


_WRITERS: dict[str, Callable[[GistMemory], bytes]] = {"md": _markdown, "html": _html, "json": _json, "epub": _epub}
