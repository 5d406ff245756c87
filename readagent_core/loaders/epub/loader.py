"""Opens EPUB 2 and 3: parts in reading order, sections from the table of contents and from headings, notes at the end.

An entry of the table of contents and a heading with the same words are one section, with the longer title and the level
of the entry. The publisher's own pages (imprint, copyright, colophon) are left out with a notice.
"""

from __future__ import annotations

import re
from dataclasses import replace
from posixpath import basename, splitext

from readagent_core.document import Document, Figure
from readagent_core.errors import DamagedDocumentError, DocumentError, EmptyDocumentError, NoTextError
from readagent_core.loaders import gutenberg
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Limits
from readagent_core.loaders.builder import Builder, Note
from readagent_core.loaders.epub.package import (
    Package,
    TocEntry,
    check_drm,
    is_drawing,
    is_vertical,
    read_cover,
    read_package,
    read_toc,
)
from readagent_core.loaders.epub.parts import FILE_START, PUBLISHER, TITLE_PAGE, EpubPart, read_part
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.blocks import Block
from readagent_core.loaders.marks import without_marks
from readagent_core.loaders.metadata import clean_metadata
from readagent_core.loaders.titles import is_same_heading
from readagent_core.words import count_of, count_words

_WORDS = re.compile(r"\w+")
_MOST_PUBLISHER_WORDS = 1500  # a longer page is part of the book, whatever its name


def load(data: bytes, name: str, *, limits: Limits) -> Document:
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
    shown = Pictures(limits, lambda file: archive.read(file, limits.picture_bytes), package.cover)
    cover = read_cover(archive, package)
    builder, metadata = Builder(), package.metadata
    marks, language = builder.marks, metadata.language
    parts = [
        read_part(archive, n, limits, shown, marks, language, is_nav=n == package.nav, titles=called.get(n, []))
        for n in dict.fromkeys(order)
    ]
    parts = _remove_publisher_pages(_remove_gutenberg(parts, builder), called, builder)
    _Assembly(builder, toc, package.missing_at).run(parts)
    _add_notices(builder, package, parts, archive)
    if cover is None and is_drawing(package.cover):
        builder.add_notice(
            "cover-drawn", "Its cover is a drawing (SVG), which is not shown; one is made from the title."
        )
    if not builder.paragraphs and not builder.sections:
        raise _no_text_error(package, parts)
    title, author = clean_metadata(metadata.title, metadata.author)
    document = builder.build(
        title=title, name=name, author=author, language=metadata.language, format="epub", cover=cover, limits=limits
    )
    return shown.add_to(replace(document, vertical=is_vertical(archive, package), series=metadata.place_in_series))


def _no_text_error(package: Package, parts: list[EpubPart]) -> DocumentError:
    """Returns the error for a book without text, which says of each part why it has none."""
    lost = [f"{basename(name)} is not in the file" for name in package.missing]
    lost += [f"{basename(part.name)}: {part.reason}" for part in parts if part.reason]
    pictures = package.pictures + sum(part.pictures for part in parts)
    also = f" The rest is missing ({'; '.join(lost[:5])})." if lost else ""
    if pictures:
        return NoTextError(
            f"This book consists of pictures only ({pictures:,} of them), as comics and scanned books do; it holds no "
            f"text to read.{also} Run text recognition (OCR) on it, or get an edition with text."
        )
    if lost:
        return DamagedDocumentError(
            f"None of the parts that this EPUB names can be read: {'; '.join(lost[:5])}. Get the "
            "whole file from where it came, or another edition."
        )
    if not package.spine:
        return DamagedDocumentError(
            "This EPUB holds no chapters: its list of contents is damaged and no text is in it. "
            "Download or copy it again."
        )
    empty = ", ".join(basename(part.name) for part in parts[:5])
    return EmptyDocumentError(f"This EPUB's parts ({empty}) hold no text. Open another file.")


def _remove_gutenberg(parts: list[EpubPart], builder: Builder) -> list[EpubPart]:
    """Removes the header and licence of Project Gutenberg's own EPUBs; a notice says so."""
    every = [(at, block) for at, part in enumerate(parts) for block in part.blocks]
    book: list[list[Block]] = [[] for _ in parts]
    for at, block in gutenberg.remove_licence(every, [without_marks(block.text) for _, block in every], builder)[0]:
        book[at].append(block)
    return [replace(part, blocks=blocks) for part, blocks in zip(parts, book, strict=True)]


def _remove_publisher_pages(parts: list[EpubPart], called: dict[str, list[str]], builder: Builder) -> list[EpubPart]:
    """Removes the publisher's own pages, if they are a small share of the book; a notice names them."""
    words = {part.name: sum(count_words(b.text) for b in part.blocks) for part in parts if part.kind == PUBLISHER}
    apart = [part for part in parts if 0 < words.get(part.name, 0) <= _MOST_PUBLISHER_WORDS]
    letters = sum(len(b.text) for part in parts for b in part.blocks)
    count = sum(words[part.name] for part in apart)
    if not apart or sum(len(b.text) for part in apart for b in part.blocks) * 4 > letters:
        return parts
    names = ", ".join((called.get(part.name) or [splitext(basename(part.name))[0]])[0] for part in apart)
    message = f"The publisher's own pages ({names}: {count:,} words) were left out; they are not part of the book."
    builder.add_notice("publisher", message, count)
    return [replace(part, blocks=[], pictures=0) if part in apart else part for part in parts]


def _add_notices(builder: Builder, package: Package, parts: list[EpubPart], archive: Archive) -> None:
    """Adds the notices about parts that are missing, damaged or left out."""
    if package.guessed:
        builder.add_notice(
            "order-guessed", "The book's list of contents is damaged; its parts are in the order of their file names."
        )
    if package.missing:
        names = ", ".join(basename(n) for n in package.missing[:5])
        message = f"Named by the book, but not in its file: {count_of(len(package.missing), 'part')} ({names})."
        builder.add_notice("parts-missing", message, len(package.missing))
    for part in parts:
        if part.reason:
            builder.add_notice("part-dropped", f"{basename(part.name)} was left out: {part.reason}.")
    used = {part.name for part in parts}
    outside = [n for n in package.others if n not in used and n != package.nav]
    if outside:
        names = ", ".join(map(basename, outside[:5]))
        message = f"Outside the book's reading order, so left out: {count_of(len(outside), 'part')} ({names})."
        builder.add_notice("parts-outside", message, len(outside))
    builder.note_hidden(sum(part.hidden for part in parts))
    entries = sum(part.entries for part in parts)
    if entries:
        builder.add_notice("contents", f"The book's own table of contents ({entries:,} entries) was left out.", entries)
    empty = sum(1 for part in parts if part.pictures and not part.blocks and not part.entries)
    if empty:
        builder.add_notice("picture-parts", f"Only pictures without a description: {count_of(empty, 'part')}.", empty)


class _Assembly:
    """Adds blocks to the builder, with sections from the table of contents and from headings."""

    def __init__(self, builder: Builder, toc: list[TocEntry], missing_at: list[int]) -> None:
        self.builder, self.missing_at = builder, missing_at
        self.at: dict[tuple[str, str], list[TocEntry]] = {}
        for entry in toc:
            self.at.setdefault((entry.file, entry.anchor or FILE_START), []).append(entry)
        self.pending: list[tuple[str, int, int]] = []  # titles before the next text: title, level, number of <h> or 0
        self.entry = ""  # title of the last entry of the table of contents
        self.level = 0  # its level
        self.base = 0  # number of <h> of that entry's heading
        self.figures: list[Figure] = []  # at the start of a file, before its first text
        self.notes: list[Note] = []
        self.notes_title = ""

    def run(self, parts: list[EpubPart]) -> None:
        for number, part in enumerate(parts):
            self._flush_figures()  # of a file with pictures only
            if number in self.missing_at:
                self.builder.mark_doubt("parts-missing")
            if part.reason:
                self.builder.mark_doubt("part-dropped")
            started = False
            for block in part.blocks:
                if block.figure:
                    if started and not self.pending:
                        self.builder.add_figure(block.figure)
                    else:
                        self.figures.append(block.figure)
                    continue
                started = True
                if part.kind == TITLE_PAGE:
                    self._add_title_page(block, part.name)
                else:
                    self._add_block(block, part.name)
        self._flush_headings()
        self._flush_figures()
        self.builder.add_notes(self.notes, self.notes_title)

    def _add_title_page(self, block: Block, file: str) -> None:
        """Adds a title page as text: its headings are no chapters."""
        if block.kind != "break":
            self._flush_headings()
            self.builder.add_paragraph(block.text, anchors=_keys(block, file))

    def _add_block(self, block: Block, file: str) -> None:
        entries = [entry for anchor in block.anchors for entry in self.at.pop((file, anchor), [])]
        place = f"p. {block.page}" if block.page else ""
        if block.note:
            if block.kind == "heading":
                self.notes_title = self.notes_title or block.text
            elif block.kind == "text":
                self.notes.append(Note(block.text, place, _keys(block, file)))
            return
        for entry in entries:
            self.pending.append((entry.title, entry.level, 0))
            self.level, self.base = entry.level, 0
        if block.kind != "text":
            self.builder.add_anchors(_keys(block, file))
        if block.kind == "heading":
            self.pending.append((block.text, 0, block.level))
            return
        if block.kind == "break":
            self.builder.add_scene_break()
            return
        self._flush_headings()
        keys = _keys(block, file)
        self.builder.add_paragraph(block.text, place, exact=block.exact, caption=block.caption, anchors=keys)

    def _flush_figures(self) -> None:
        for figure in self.figures:
            self.builder.add_figure(figure)
        self.figures.clear()

    def _flush_headings(self) -> None:
        """Adds the pending titles, each once, as sections that start here, and the pictures below them."""
        entries = [title for title, _, number in self.pending if not number]
        matched: dict[str, tuple[str, int]] = {}
        rest: list[tuple[str, int]] = []
        heads = [(title, number) for title, _, number in self.pending if number]
        for title, number in heads:
            entry = next((e for e in entries if e not in matched and _contains_words(title, e)), None)
            whole = next((e for e in entries if _contains_words(e, title)), None)
            if whole is not None:
                longer = max(whole, title, key=len) if is_same_heading(whole, title) else whole
                matched.setdefault(whole, (longer, number))
            elif entry is not None:
                matched[entry] = (title, number)
            else:
                rest.append((title, number))
        for title, level, number in self.pending:
            if number:
                # the entry may begin at a number or a picture above the heading that has its words
                if (title, number) in rest and not is_same_heading(title, self.entry):
                    self.builder.add_heading(title, self._level(number))
                continue
            shown, base = matched.get(title, (title, 0))
            self.builder.add_heading(shown, level)
            self.entry = shown
            self.level, self.base = level, base or self.base
        self.pending.clear()
        self._flush_figures()

    def _level(self, number: int) -> int:
        """Returns the level of a heading that is not in the table of contents: below the last entry."""
        if not self.level:
            return number
        return self.level + max(1, number - self.base) if self.base else self.level + number


def _keys(block: Block, file: str) -> list[str]:
    """Returns the keys by which links of the book refer to a block of ``file``."""
    return [f"{file}#{'' if anchor == FILE_START else anchor}" for anchor in block.anchors]


def _contains_words(whole: str, part: str) -> bool:
    """Returns whether every word of ``part`` occurs in ``whole``."""
    if is_same_heading(whole, part):
        return True
    words = [w.casefold() for w in _WORDS.findall(part)]
    held = [w.casefold() for w in _WORDS.findall(whole)]
    return bool(words) and all(w in held for w in words)
