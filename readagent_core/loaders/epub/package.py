"""Reads an EPUB's package: title, author, language, cover, reading order, table of contents, encryption.

Parts that are missing or broken are noted instead of ending the import, and pictures and fonts are not unpacked. Where
the package cannot be read, the parts are read in the order of their file names.
"""

from __future__ import annotations

import mimetypes
import posixpath
import re
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from readagent_core.document import Cover
from readagent_core.errors import DocumentError, ProtectedDocumentError
from readagent_core.loaders.archive import Archive, natural_sort_key
from readagent_core.loaders.base import MEGABYTE
from readagent_core.loaders.calibre import BookMetadata, parse_xml, read_metadata
from readagent_core.loaders.decode import decode
from readagent_core.loaders.html.markup import inline_text
from readagent_core.loaders.html.tree import ancestor, parse_html, semantic_types

_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_SELLERS = {  # by the file that their protection adds
    "sinf.xml": "Apple Books (FairPlay)",
    "license.lcpl": "Readium LCP, as libraries use it,",
    "rights.xml": "Adobe Digital Editions or a shop like it",
}
_FONTS = (".otf", ".ttf", ".ttc", ".woff", ".woff2", ".dfont")
_HTML_NAME = re.compile(r"\.x?html?$|\.xht$", re.IGNORECASE)
_HTML_KIND = re.compile(r"html|application/xml$|text/xml$|x-dtbook", re.IGNORECASE)
_COVER_KINDS = ("image/jpeg", "image/png", "image/gif", "image/webp")
_COVER_NAME = re.compile(r"(^|/)cover[^/]*\.(jpe?g|png)$", re.IGNORECASE)
_DRAWING = "image/svg+xml"
_PICTURE_WITHIN = re.compile(rb"<(?:\w+:)?image\b[^>]*?\bhref\s*=\s*[\"']([^\"']+)")  # in a drawing
_DATA = re.compile(f"data:({'|'.join(_COVER_KINDS)});base64,")
_VERTICAL = re.compile(r"writing-mode\s*:\s*(?:vertical-rl|tb-rl)")
_VERTICAL_BODY = re.compile(r"(?:^|[},\s])(?:html|body)\b[^{}]*\{[^{}]*" + _VERTICAL.pattern)
_MOST_STYLES = 20
_LARGEST = 8 * MEGABYTE  # a package file, a table of contents or a cover
_DEEPEST = 20  # levels of the table of contents


@dataclass
class Package:
    """``spine``: names in the archive in reading order. ``others``: HTML that is listed but not in the spine.
    ``missing``: parts that are listed but not there; ``missing_at``: before which of the spine. ``pictures``: how many
    pictures are in the reading order. ``nav``, ``ncx``: the tables of contents. ``guessed``: the reading order is that
    of the file names. ``turns_left``: pages are turned from right to left."""

    metadata: BookMetadata = field(default_factory=BookMetadata)
    spine: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    missing_at: list[int] = field(default_factory=list)
    pictures: int = 0
    nav: str = ""
    ncx: str = ""
    cover: str = ""
    guessed: bool = False
    turns_left: bool = False


@dataclass(frozen=True)
class TocEntry:
    """``file``: name in the archive. ``anchor``: id in it, '' for its start. ``level``: 1 is the outermost."""

    title: str
    file: str
    anchor: str
    level: int


def check_drm(archive: Archive) -> None:
    """Raises ProtectedDocumentError for DRM. Obfuscated fonts are no DRM."""
    seller = next((seller for file, seller in _SELLERS.items() if archive.find(f"META-INF/{file}")), "a shop")
    name = archive.find("META-INF/encryption.xml")
    root = parse_xml(archive.read(name, MEGABYTE)) if name else None
    locked = []
    for entry in () if root is None else root.iter("{*}EncryptedData"):
        methods = [str(method.get("Algorithm") or "") for method in entry.iter("{*}EncryptionMethod")]
        places = [str(reference.get("URI") or "") for reference in entry.iter("{*}CipherReference")]
        fonts = bool(places) and all(p.lower().endswith(_FONTS) for p in places)
        if not fonts and not any(m in _FONT_ALGORITHMS for m in methods):
            locked += places
    if locked:
        raise ProtectedDocumentError(
            f"This book is locked by {seller} (DRM), so its text cannot be read here. Read it in "
            "the app it was bought for, or get an edition without DRM from the publisher."
        )


def read_package(archive: Archive) -> Package:
    """Returns the package of the book. Its ``spine`` is empty where the file holds no part with text."""
    package = Package()
    name = _package_file(archive)
    root = parse_xml(archive.read(name, _LARGEST)) if name else None
    if root is not None:
        _fill(package, root, posixpath.dirname(name), archive)
    if not package.spine and not package.pictures:
        package.spine = sorted((n for n in archive.names if _HTML_NAME.search(n)), key=natural_sort_key)
        package.guessed = bool(package.spine)
    return package


def _package_file(archive: Archive) -> str:
    """Returns the name of the package file that the container names, else of any; '' without one."""
    container = archive.find("META-INF/container.xml")
    root = parse_xml(archive.read(container, _LARGEST)) if container else None
    named = () if root is None else (str(file.get("full-path") or "") for file in root.iter("{*}rootfile"))
    found = (archive.find(path) or archive.find(unquote(path)) for path in named)
    return next(filter(None, found), "") or next((n for n in archive.names if n.lower().endswith(".opf")), "")


def is_vertical(archive: Archive, package: Package) -> bool:
    """Whether the book's lines run from top to bottom.

    Publishers' style sheets have rules for both directions; the one in force is that of the body, or of a book whose
    pages are turned from right to left.
    """
    wanted = _VERTICAL if package.turns_left else _VERTICAL_BODY
    for name in [name for name in archive.names if name.lower().endswith(".css")][:_MOST_STYLES]:
        try:
            if wanted.search(archive.read(name, MEGABYTE).decode("utf-8", "replace")):
                return True
        except DocumentError:  # a style sheet that cannot be read leaves the text as it is
            continue
    return False


def _fill(package: Package, root: Any, folder: str, archive: Archive) -> None:
    package.metadata = read_metadata(root)
    places: dict[str, str] = {}
    for item in root.iterfind("{*}manifest/{*}item"):
        path = posixpath.join(folder, unquote(item.get("href") or ""))
        name = archive.find(path)
        places[item.get("id")] = name or path
        kind, properties = str(item.get("media-type") or ""), str(item.get("properties") or "").split()
        if "nav" in properties:
            package.nav = name
        elif kind == "application/x-dtbncx+xml" or path.lower().endswith(".ncx"):
            package.ncx = name or package.ncx
        elif "cover-image" in properties:
            package.cover = name
        elif name and (_HTML_KIND.search(kind) or _HTML_NAME.search(name)):
            package.others.append(name)
    for spine in root.iterfind("{*}spine"):
        package.turns_left = spine.get("page-progression-direction") == "rtl"
    for reference in root.iterfind("{*}spine/{*}itemref"):
        place = places.get(reference.get("idref"), "")
        name = archive.find(place)
        if not name:
            package.missing.append(place or str(reference.get("idref")))
            package.missing_at.append(len(package.spine))
        elif name.lower().endswith((".jpg", ".jpeg", ".png", ".gif", ".webp")):
            package.pictures += 1
        elif name not in package.spine:
            package.spine.append(name)
    package.others = [name for name in package.others if name not in package.spine]
    for meta in root.iter("{*}meta"):
        if meta.get("name") == "cover" and not package.cover:
            package.cover = archive.find(places.get(meta.get("content"), ""))


def read_cover(archive: Archive, package: Package) -> Cover | None:
    """Returns the picture of the cover, of one that is a drawing (SVG) the picture in it; None without one."""
    for name in (package.cover, *filter(_COVER_NAME.search, archive.names)):
        kind = mimetypes.guess_type(name)[0] or ""
        with suppress(DocumentError, ValueError):
            if kind in _COVER_KINDS:
                return Cover(archive.read(name, _LARGEST), kind)
            if kind == _DRAWING and (found := _PICTURE_WITHIN.search(archive.read(name, _LARGEST))):
                address = unquote(found[1].decode())
                if within := _DATA.match(address):
                    return Cover(b64decode(address[within.end() :]), within[1])
                name = archive.find(posixpath.join(posixpath.dirname(name), address))
                kind = mimetypes.guess_type(name)[0] or ""
                if kind in _COVER_KINDS:
                    return Cover(archive.read(name, _LARGEST), kind)
    return None


def is_drawing(name: str) -> bool:
    """Whether a file is called a drawing, which may hold scripts and is not shown."""
    return mimetypes.guess_type(name)[0] == _DRAWING


def read_toc(archive: Archive, package: Package) -> list[TocEntry]:
    """Returns the entries in order; [] where no table of contents can be read."""
    entries: list[TocEntry] = []
    for name, read in ((package.nav, _read_nav), (package.ncx, _read_ncx)):
        if name and not entries:
            try:
                entries = read(archive.read(name, _LARGEST), posixpath.dirname(name), archive)
            except DocumentError:
                entries = []
    return entries


def _entry(title: str, href: str, folder: str, level: int, archive: Archive) -> list[TocEntry]:
    """Returns the entry in a list; [] where it has no title or its file is not in the archive."""
    path, _, anchor = href.partition("#")
    file = archive.find(posixpath.join(folder, unquote(path))) if path else ""
    title = " ".join(title.split())
    return [TocEntry(title, file, unquote(anchor), level)] if file and title else []


def _read_nav(data: bytes, folder: str, archive: Archive) -> list[TocEntry]:
    navs = list(parse_html(decode(data)[0]).iter("nav"))
    nav = next((n for n in navs if "toc" in semantic_types(n)), navs[0] if navs else None)
    if nav is None:
        return []
    entries: list[TocEntry] = []
    for item in nav.iter("li"):
        link = next((a for a in item.iter("a") if a.get("href") and ancestor(a, "li") is item), None)
        if link is not None:
            level = min(_DEEPEST, sum(1 for _ in item.iterancestors("ol", "ul")))
            entries += _entry(inline_text(link), link.get("href"), folder, level, archive)
    return entries


def _read_ncx(data: bytes, folder: str, archive: Archive) -> list[TocEntry]:
    root = parse_xml(data)
    entries: list[TocEntry] = []
    for point in () if root is None else root.iter("{*}navPoint"):
        label = next((t.text for t in point.iterfind("{*}navLabel/{*}text") if t.text), "")
        source = next((str(c.get("src") or "") for c in point.iterfind("{*}content")), "")
        level = 1 + sum(1 for _ in point.iterancestors("{*}navPoint"))
        entries += _entry(label, source, folder, min(_DEEPEST, level), archive)
    return entries
