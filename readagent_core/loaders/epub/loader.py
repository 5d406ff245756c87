"""Opens EPUB 2 and 3: parts in reading order, sections from the table of contents and from headings, notes at the end.

An entry of the table of contents and a heading with the same words are one section, with the longer title and the level
of the entry. The publisher's own pages (imprint, copyright, colophon) are left out with a notice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bs4 import Tag

from readagent_core.document import Document
from readagent_core.errors import DocumentError, EmptyDocumentError, NoTextError
from readagent_core.loaders import gutenberg
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Builder, Limits, is_same_title
from readagent_core.loaders.decode import decode
from readagent_core.loaders.epub.package import (
    Package,
    TocEntry,
    check_drm,
    is_vertical,
    read_cover,
    read_package,
    read_toc,
)
from readagent_core.loaders.html.blocks import Block, extract_blocks
from readagent_core.loaders.html.markup import parse_html, semantic_types
from readagent_core.words import count_of, count_words

_WORDS = re.compile(r"\w+")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s+[^<>]*?)?)/>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_FILE_START = "readagent-file-start"  # the anchor of the start of a file
_CHAPTER, _TITLE_PAGE, _PUBLISHER = "", "title page", "publisher"
_MOST_PUBLISHER_WORDS = 1500  # a longer page is part of the book, whatever its name
_PUBLISHER_TYPES = frozenset({"imprint", "colophon", "copyright-page"})
_TITLE_TYPES = frozenset({"titlepage", "halftitlepage", "halftitle"})
_PUBLISHER_TITLE = re.compile(
    r"(?:un)?copyright(?:\s+(?:page|notice|information))?|imprint|colophon|impressum|copyright[- ]seite|奥付",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Part:
    """One file of the book. ``reason``: why it has no blocks, if it was left out. ``kind``: one of the three above."""

    name: str
    blocks: list[Block]
    reason: str = ""
    pictures: int = 0
    kind: str = _CHAPTER


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """Returns the document in the EPUB ``data``. Raises DocumentError."""
    archive = Archive(data, limits)
    check_drm(archive)
    package = read_package(archive)
    toc = read_toc(archive, package)
    wanted = {entry.file for entry in toc}
    order = package.spine + [n for n in package.others if n in wanted and n != package.nav]
    called: dict[str, list[str]] = {}
    for entry in toc:
        called.setdefault(entry.file, []).append(entry.title)
    parts = [
        _read_part(archive, n, limits, is_nav=n == package.nav, titles=called.get(n, [])) for n in dict.fromkeys(order)
    ]
    builder = Builder()
    parts = _remove_publisher_pages(_remove_gutenberg(parts), called, builder)
    _Assembly(builder, toc).run(parts)
    _add_notices(builder, package, parts, archive)
    pictures = sum(part.pictures for part in parts)
    if not builder.paragraphs and pictures:
        raise NoTextError(
            f"This book is made of pictures ({pictures:,} of them) and holds no text to read, as comics and scanned "
            "books do. Nothing was opened. Run text recognition (OCR) on it, or get an edition with text."
        )
    if not builder.paragraphs:
        raise EmptyDocumentError("This EPUB holds no text. Nothing was opened. Download or copy it again.")
    document = builder.build(
        title=package.title or name,
        author=package.author,
        language=package.language if re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)*", package.language) else "",
        format="epub",
        cover=read_cover(archive, package),
        limits=limits,
    )
    return replace(document, vertical=is_vertical(archive, package))


def _read_part(archive: Archive, name: str, limits: Limits, *, is_nav: bool, titles: list[str]) -> _Part:
    if is_nav:
        return _Part(name, [])  # the sections show the table of contents
    try:
        tree = parse_html(_expand_self_closed(decode(archive.read(name, limits.page))[0]))
    except DocumentError as error:
        return _Part(name, [], reason=str(error).split(".")[0])
    body = tree.body or tree
    found = extract_blocks(body)
    if found:
        found[0] = Block(**{**vars(found[0]), "anchors": (_FILE_START, *found[0].anchors)})
    if any(nav for nav in tree.find_all("nav") if "toc" in semantic_types(nav)) and len(found) > 3:
        return _Part(name, [])
    pictures = len(tree.find_all(["img", "image"]))
    return _Part(name, found, pictures=pictures, kind=_page_kind(body, titles))


def _page_kind(body: Tag, titles: list[str]) -> str:
    """What ``body`` is the page of; ``titles``: what the table of contents calls it."""
    types = set(semantic_types(body))
    tag = body
    while (only := _only_child(tag)) is not None:
        types |= semantic_types(only)
        tag = only
    if types & _PUBLISHER_TYPES or any(_PUBLISHER_TITLE.fullmatch(title.strip(" .:")) for title in titles):
        return _PUBLISHER
    return _TITLE_PAGE if types & _TITLE_TYPES else _CHAPTER


def _only_child(tag: Tag) -> Tag | None:
    """The one element that holds everything in ``tag``."""
    held = [child for child in tag.children if isinstance(child, Tag) or str(child).strip()]
    only = held[0] if len(held) == 1 else None
    return only if isinstance(only, Tag) and only.name in ("section", "div", "article", "main") else None


def _expand_self_closed(text: str) -> str:
    """Replaces ``<title/>`` by ``<title></title>``: an HTML parser ignores the slash and leaves the element open."""
    return _SELF_CLOSED.sub(
        lambda m: m.group() if m.group(1).lower() in _VOID else f"<{m.group(1)}{m.group(2)}></{m.group(1)}>", text
    )


def _remove_gutenberg(parts: list[_Part]) -> list[_Part]:
    """Removes the header and licence of Project Gutenberg's own EPUBs."""
    every = [(p, b) for p, part in enumerate(parts) for b in range(len(part.blocks))]
    wrapped = gutenberg.find_book([parts[p].blocks[b].text for p, b in every])
    if wrapped is None:
        return parts
    book = set(every[wrapped.start : wrapped.end])
    return [
        replace(part, blocks=[b for i, b in enumerate(part.blocks) if (p, i) in book]) for p, part in enumerate(parts)
    ]


def _remove_publisher_pages(parts: list[_Part], called: dict[str, list[str]], builder: Builder) -> list[_Part]:
    """Removes the publisher's own pages, if they are a small share of the book; a notice names them."""
    words: dict[str, int] = {}
    for part in parts:
        if part.kind == _PUBLISHER and part.blocks:
            words[part.name] = sum(count_words(b.text) for b in part.blocks)
    apart = [part for part in parts if 0 < words.get(part.name, 0) <= _MOST_PUBLISHER_WORDS]
    letters = sum(len(b.text) for part in parts for b in part.blocks)
    count = sum(words[part.name] for part in apart)
    if not apart or sum(len(b.text) for part in apart for b in part.blocks) * 4 > letters:
        return parts
    names = ", ".join((called.get(part.name) or [PurePosixPath(part.name).stem])[0] for part in apart)
    builder.add_notice(
        "publisher",
        f"The publisher's own pages ({names}: {count:,} words) were left out; they are not part of the book.",
        count,
    )
    return [replace(part, blocks=[], pictures=0) if part in apart else part for part in parts]


def _add_notices(builder: Builder, package: Package, parts: list[_Part], archive: Archive) -> None:
    """Adds the notices about parts that are missing, damaged or left out."""
    if package.guessed:
        builder.add_notice(
            "order-guessed",
            "The book's list of contents is damaged; its parts are in the order of their file names.",
        )
    if package.missing:
        names = ", ".join(n.rsplit("/", 1)[-1] for n in package.missing[:5])
        builder.add_notice(
            "parts-missing",
            f"Named by the book, but not in its file: {count_of(len(package.missing), 'part')} ({names}).",
            len(package.missing),
        )
    for part in parts:
        if part.reason:
            builder.add_notice("part-dropped", f"{part.name.rsplit('/', 1)[-1]} was left out: {part.reason}.")
    used = {part.name for part in parts}
    outside = [n for n in package.others if n not in used and n != package.nav]
    if outside:
        builder.add_notice(
            "parts-outside",
            f"Outside the book's reading order, so left out: {count_of(len(outside), 'part')} "
            f"({', '.join(n.rsplit('/', 1)[-1] for n in outside[:5])}).",
            len(outside),
        )
    empty = sum(1 for part in parts if part.pictures and not part.blocks)
    if empty:
        builder.add_notice("picture-parts", f"Only pictures without a description: {count_of(empty, 'part')}.", empty)


class _Assembly:
    """Adds blocks to the builder, with sections from the table of contents and from headings."""

    def __init__(self, builder: Builder, toc: list[TocEntry]) -> None:
        self.builder = builder
        self.at: dict[tuple[str, str], list[TocEntry]] = {}
        for entry in toc:
            self.at.setdefault((entry.file, entry.anchor or _FILE_START), []).append(entry)
        self.pending: list[tuple[str, int, int]] = []  # titles before the next text: title, level, number of <h> or 0
        self.level = 0  # level of the last entry of the table of contents
        self.base = 0  # number of <h> of that entry's heading
        self.notes: list[tuple[str, str]] = []
        self.notes_title = ""

    def run(self, parts: list[_Part]) -> None:
        for part in parts:
            for block in part.blocks:
                if part.kind == _TITLE_PAGE:
                    self._add_title_page(block)
                else:
                    self._add_block(block, part.name)
        self._flush_headings()
        self.builder.add_notes(self.notes, self.notes_title)

    def _add_title_page(self, block: Block) -> None:
        """Adds a title page as text: its headings are no chapters."""
        if block.kind != "break":
            self._flush_headings()
            self.builder.add_paragraph(block.text)

    def _add_block(self, block: Block, file: str) -> None:
        entries = [entry for anchor in block.anchors for entry in self.at.pop((file, anchor), [])]
        place = f"p. {block.page}" if block.page else ""
        if block.note:
            if block.kind == "heading":
                self.notes_title = self.notes_title or block.text
            elif block.kind == "text":
                self.notes.append((block.text, place))
            return
        for entry in entries:
            self.pending.append((entry.title, entry.level, 0))
            self.level, self.base = entry.level, 0
        if block.kind == "heading":
            self.pending.append((block.text, 0, block.level))
            return
        if block.kind == "break":
            self.builder.add_scene_break()
            return
        self._flush_headings()
        self.builder.add_paragraph(block.text, place)

    def _flush_headings(self) -> None:
        """Adds the pending titles, each once, as sections that start here."""
        entries = [title for title, _, number in self.pending if not number]
        matched: dict[str, tuple[str, int]] = {}
        rest: list[tuple[str, int]] = []
        heads = [(title, number) for title, _, number in self.pending if number]
        for title, number in heads:
            entry = next((e for e in entries if e not in matched and _contains_words(title, e)), None)
            whole = next((e for e in entries if _contains_words(e, title)), None)
            if whole is not None:
                matched.setdefault(whole, (matched.get(whole, (whole, 0))[0], number))
            elif entry is not None:
                matched[entry] = (title, number)
            else:
                rest.append((title, number))
        for title, level, number in self.pending:
            if number:
                if (title, number) in rest:
                    self.builder.add_heading(title, self._level(number))
                continue
            shown, base = matched.get(title, (title, 0))
            self.builder.add_heading(shown, level)
            self.level, self.base = level, base or self.base
        self.pending.clear()

    def _level(self, number: int) -> int:
        """Returns the level of a heading that is not in the table of contents: below the last entry."""
        if not self.level:
            return number
        return self.level + max(1, number - self.base) if self.base else self.level + number


def _contains_words(whole: str, part: str) -> bool:
    """Returns whether every word of ``part`` occurs in ``whole``."""
    if is_same_title(whole, part):
        return True
    words = [w.casefold() for w in _WORDS.findall(part)]
    held = [w.casefold() for w in _WORDS.findall(whole)]
    return bool(words) and all(w in held for w in words)
