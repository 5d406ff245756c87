"""Reads an EPUB's table of contents (EPUB 3 nav or NCX) at any depth, with the anchors it points to."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bs4 import Tag
from lxml import etree

from readagent_core.errors import DocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import MEGABYTE
from readagent_core.loaders.decode import decode
from readagent_core.loaders.epub.package import Package
from readagent_core.loaders.html.markup import inline_text, parse_html, semantic_types

_LARGEST = 8 * MEGABYTE
_DEEPEST = 20


@dataclass(frozen=True)
class TocEntry:
    """``file``: name in the archive. ``anchor``: id in it, '' for its start. ``level``: 1 is the outermost."""

    title: str
    file: str
    anchor: str
    level: int


def read_toc(archive: Archive, package: Package) -> list[TocEntry]:
    """Returns the entries in order; [] where no table of contents can be read."""
    entries: list[TocEntry] = []
    for name, read in ((package.nav, _read_nav), (package.ncx, _read_ncx)):
        if name and not entries:
            try:
                entries = [e for e in read(archive.read(name, _LARGEST), posixpath.dirname(name), archive) if e.title]
            except DocumentError:
                entries = []
    return entries


def _entry(title: str, href: str, folder: str, level: int, archive: Archive) -> TocEntry | None:
    path, _, anchor = href.partition("#")
    file = archive.find(posixpath.join(folder, unquote(path))) if path else ""
    return TocEntry(" ".join(title.split()), file, unquote(anchor), level) if file else None


def _read_nav(data: bytes, folder: str, archive: Archive) -> list[TocEntry]:
    tree = parse_html(decode(data).text)
    navs = tree.find_all("nav")
    nav = next((n for n in navs if isinstance(n, Tag) and "toc" in semantic_types(n)), navs[0] if navs else None)
    if not isinstance(nav, Tag):
        return []
    entries: list[TocEntry] = []
    for item in nav.find_all("li"):
        link = next((c for c in item.find_all("a", href=True) if c.find_parent("li") is item), None)
        if isinstance(link, Tag):
            level = min(_DEEPEST, sum(parent.name in ("ol", "ul") for parent in item.parents))
            entry = _entry(inline_text(link), str(link.get("href")), folder, level, archive)
            if entry is not None:
                entries.append(entry)
    return entries


def _read_ncx(data: bytes, folder: str, archive: Archive) -> list[TocEntry]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(data, parser)
    entries: list[TocEntry] = []
    if root is None:
        return entries
    for point in root.iter("{*}navPoint"):
        label = next((t.text for t in point.iterfind("{*}navLabel/{*}text") if t.text), "")
        source = next((str(c.get("src") or "") for c in point.iterfind("{*}content")), "")
        entry = _entry(label, source, folder, min(_DEEPEST, _depth(point)), archive)
        if entry is not None:
            entries.append(entry)
    return entries


def _depth(point: Any) -> int:
    return 1 + sum(1 for parent in point.iterancestors("{*}navPoint"))
