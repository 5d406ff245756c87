"""EPUB 2 and 3: chapters in reading order, sections from the table of contents and from headings, notes at the end.

Where a table of contents entry and a heading say the same, they are one section, with the fuller of the two
titles and the entry's level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from readagent_core.document import Document
from readagent_core.errors import DocumentError, EmptyDocumentError, NoTextError
from readagent_core.loaders import epub_pages, gutenberg
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Builder, Limits, same
from readagent_core.loaders.decode import decode
from readagent_core.loaders.epub_package import Package, check_locks, read_cover, read_package
from readagent_core.loaders.epub_toc import Entry, read_toc
from readagent_core.loaders.markup import Block, blocks, parse, types
from readagent_core.words import count_of, count_words

_WORDS = re.compile(r"\w+")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s+[^<>]*?)?)/>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_NAMED = "readagent-file-start"  # the anchor of a file's own beginning


@dataclass(frozen=True)
class _Part:
    """One file of the book. ``reason``: why it has no blocks, if it was left out. ``kind``: of epub_pages."""

    name: str
    blocks: list[Block]
    reason: str = ""
    pictures: int = 0
    kind: str = epub_pages.CHAPTER


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """The document in the EPUB ``data``."""
    archive = Archive(data, limits)
    check_locks(archive)
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
    parts = _without_publisher(_without_gutenberg(parts), called, builder)
    _Assembly(builder, toc).run(parts)
    _tell(builder, package, parts, archive)
    pictures = sum(part.pictures for part in parts)
    if not builder.paragraphs and pictures:
        raise NoTextError(
            f"This book is made of pictures ({pictures:,} of them) and holds no text to read, as comics and scanned "
            "books do. Nothing was opened. Run text recognition (OCR) on it, or get an edition with text."
        )
    if not builder.paragraphs:
        raise EmptyDocumentError("This EPUB holds no text. Nothing was opened. Download or copy it again.")
    return builder.document(
        title=package.title or name,
        author=package.author,
        language=package.language if re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)*", package.language) else "",
        format="epub",
        cover=read_cover(archive, package),
        limits=limits,
    )


def _read_part(archive: Archive, name: str, limits: Limits, *, is_nav: bool, titles: list[str]) -> _Part:
    if is_nav:
        return _Part(name, [])  # the table of contents became the sections
    try:
        tree = parse(_opened(decode(archive.read(name, limits.page)).text))
    except DocumentError as error:
        return _Part(name, [], reason=str(error).split(".")[0])
    body = tree.body or tree
    found = blocks(body)
    if found:
        found[0] = Block(**{**vars(found[0]), "anchors": (_NAMED, *found[0].anchors)})
    if any(nav for nav in tree.find_all("nav") if "toc" in types(nav)) and len(found) > 3:
        return _Part(name, [])
    pictures = len(tree.find_all(["img", "image"]))
    return _Part(name, found, pictures=pictures, kind=epub_pages.kind(body, titles))


def _opened(text: str) -> str:
    """XHTML with ``<title/>`` and the like written out, which an HTML parser would take for left open."""
    return _SELF_CLOSED.sub(
        lambda m: m.group() if m.group(1).lower() in _VOID else f"<{m.group(1)}{m.group(2)}></{m.group(1)}>", text
    )


def _without_gutenberg(parts: list[_Part]) -> list[_Part]:
    """Project Gutenberg's own EPUBs wrap the book in its header and licence."""
    every = [(p, b) for p, part in enumerate(parts) for b in range(len(part.blocks))]
    wrapped = gutenberg.find([parts[p].blocks[b].text for p, b in every])
    if wrapped is None:
        return parts
    kept = set(every[wrapped.start : wrapped.end])
    return [
        replace(part, blocks=[b for i, b in enumerate(part.blocks) if (p, i) in kept]) for p, part in enumerate(parts)
    ]


def _without_publisher(parts: list[_Part], called: dict[str, list[str]], builder: Builder) -> list[_Part]:
    """The publisher's own pages are set apart and named, if they are a small share of the book."""
    words: dict[str, int] = {}
    for part in parts:
        if part.kind == epub_pages.PUBLISHER and part.blocks:
            words[part.name] = sum(count_words(b.text) for b in part.blocks)
    apart = [part for part in parts if 0 < words.get(part.name, 0) <= epub_pages.MOST_WORDS]
    letters = sum(len(b.text) for part in parts for b in part.blocks)
    count = sum(words[part.name] for part in apart)
    if not apart or sum(len(b.text) for part in apart for b in part.blocks) * 4 > letters:
        return parts
    names = ", ".join((called.get(part.name) or [PurePosixPath(part.name).stem])[0] for part in apart)
    builder.notice(
        "publisher",
        f"The publisher's own pages ({names}: {count:,} words) were set apart; they are not part of the book.",
        count,
    )
    return [replace(part, blocks=[], pictures=0) if part in apart else part for part in parts]


def _tell(builder: Builder, package: Package, parts: list[_Part], archive: Archive) -> None:
    """The notices: what was missing, broken or left out, with numbers."""
    if package.guessed:
        builder.notice(
            "order-guessed",
            "The book's list of contents is damaged; its parts stand in the order of their file names.",
        )
    if package.missing:
        names = ", ".join(n.rsplit("/", 1)[-1] for n in package.missing[:5])
        builder.notice(
            "parts-missing",
            f"Named by the book, but not in its file: {count_of(len(package.missing), 'part')} ({names}).",
            len(package.missing),
        )
    for part in parts:
        if part.reason:
            builder.notice("part-dropped", f"{part.name.rsplit('/', 1)[-1]} was left out: {part.reason}.")
    used = {part.name for part in parts}
    outside = [n for n in package.others if n not in used and n != package.nav]
    if outside:
        builder.notice(
            "parts-outside",
            f"Outside the book's reading order, so left out: {count_of(len(outside), 'part')} "
            f"({', '.join(n.rsplit('/', 1)[-1] for n in outside[:5])}).",
            len(outside),
        )
    empty = sum(1 for part in parts if part.pictures and not part.blocks)
    if empty:
        builder.notice("picture-parts", f"Only pictures without a description: {count_of(empty, 'part')}.", empty)


class _Assembly:
    """Puts blocks into the builder, with a section wherever the table of contents or a heading says so."""

    def __init__(self, builder: Builder, toc: list[Entry]) -> None:
        self.builder = builder
        self.at: dict[tuple[str, str], list[Entry]] = {}
        for entry in toc:
            self.at.setdefault((entry.file, entry.anchor or _NAMED), []).append(entry)
        self.pending: list[tuple[str, int, int]] = []  # titles that wait for text: title, level, <h> number or 0
        self.level = 0  # of the last entry of the table of contents
        self.base = 0  # the <h> number that entry's heading had
        self.notes: list[tuple[str, str]] = []
        self.notes_title = ""

    def run(self, parts: list[_Part]) -> None:
        for part in parts:
            for block in part.blocks:
                if part.kind == epub_pages.TITLE_PAGE:
                    self._take_title(block)
                else:
                    self._take(block, part.name)
        self._write()
        if self.notes:
            self.builder.heading(self.notes_title or "Notes", 1)
            for text, place in self.notes:
                self.builder.paragraph(text, place)

    def _take_title(self, block: Block) -> None:
        """A title page is text, whatever is set large on it; it is no chapter."""
        if block.kind != "break":
            self._write()
            self.builder.paragraph(block.text)

    def _take(self, block: Block, file: str) -> None:
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
            self.builder.rule()
            return
        self._write()
        self.builder.paragraph(block.text, place)

    def _write(self) -> None:
        """The titles that wait, said once each, as sections that start here."""
        entries = [title for title, _, number in self.pending if not number]
        matched: dict[str, tuple[str, int]] = {}
        rest: list[tuple[str, int]] = []
        heads = [(title, number) for title, _, number in self.pending if number]
        for title, number in heads:
            entry = next((e for e in entries if e not in matched and _contains(title, e)), None)
            whole = next((e for e in entries if _contains(e, title)), None)
            if whole is not None:
                matched.setdefault(whole, (matched.get(whole, (whole, 0))[0], number))
            elif entry is not None:
                matched[entry] = (title, number)
            else:
                rest.append((title, number))
        for title, level, number in self.pending:
            if number:
                if (title, number) in rest:
                    self.builder.heading(title, self._level(number))
                continue
            shown, base = matched.get(title, (title, 0))
            self.builder.heading(shown, level)
            self.level, self.base = level, base or self.base
        self.pending.clear()

    def _level(self, number: int) -> int:
        """Of a heading the table of contents does not name: below the entry it stands under."""
        if not self.level:
            return number
        return self.level + max(1, number - self.base) if self.base else self.level + number


def _contains(whole: str, part: str) -> bool:
    """Whether every word of ``part`` stands in ``whole``."""
    if same(whole, part):
        return True
    words = [w.casefold() for w in _WORDS.findall(part)]
    held = [w.casefold() for w in _WORDS.findall(whole)]
    return bool(words) and all(w in held for w in words)
