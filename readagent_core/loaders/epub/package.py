"""Reads an EPUB's package: title, author, language, cover, reading order, table of contents, encryption.

EbookLib parses the package. Parts that are missing or broken are noted instead of ending the import, and pictures and
fonts are not unpacked. Where the package cannot be read, the parts are read in the order of their file names.
"""

from __future__ import annotations

import mimetypes
import posixpath
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from bs4 import Tag
from ebooklib import epub as ebooklib_epub
from lxml import etree

from readagent_core.document import Cover
from readagent_core.errors import DamagedDocumentError, DocumentError, ProtectedDocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import MEGABYTE
from readagent_core.loaders.decode import decode
from readagent_core.loaders.html.markup import inline_text, parse_html, semantic_types

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
_VERTICAL = re.compile(r"writing-mode\s*:\s*(?:vertical-rl|tb-rl)")
_VERTICAL_BODY = re.compile(r"(?:^|[},\s])(?:html|body)\b[^{}]*\{[^{}]*" + _VERTICAL.pattern)
_MOST_STYLES = 20
_LARGEST_TOC = 8 * MEGABYTE
_DEEPEST = 20  # levels of the table of contents
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


@dataclass
class Package:
    """``spine``: names in the archive in reading order. ``others``: HTML that is listed but not in the spine.
    ``missing``: parts that are listed but not there. ``pictures``: how many pictures are in the reading order. ``nav``,
    ``ncx``: the tables of contents. ``guessed``: the reading order is that of the file names. ``turns_left``: pages are
    turned from right to left."""

    title: str = ""
    author: str = ""
    language: str = ""
    spine: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
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
    if not name:
        return
    locked = []
    try:
        root = etree.fromstring(archive.read(name, MEGABYTE), _PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return
    for entry in root.iter("{*}EncryptedData"):
        methods = [str(method.get("Algorithm") or "") for method in entry.iter("{*}EncryptionMethod")]
        places = [str(reference.get("URI") or "") for reference in entry.iter("{*}CipherReference")]
        fonts = bool(places) and all(p.lower().endswith(_FONTS) for p in places)
        if not fonts and not any(m in _FONT_ALGORITHMS for m in methods):
            locked += places
    if locked:
        raise ProtectedDocumentError(
            f"This book is locked by {seller} (DRM), so its text cannot be read here. Nothing was opened. Read it in "
            "the app it was bought for, or get an edition without DRM from the publisher."
        )


class _Reader(ebooklib_epub.EpubReader):  # type: ignore[misc]
    """EbookLib's reader over a checked archive. Missing parts are empty, and only the package is unpacked."""

    def __init__(self, archive: Archive) -> None:
        super().__init__("", {"ignore_ncx": True})
        self.opf_file: str = ""
        self.archive = archive

    def _load(self) -> None:
        self._load_container()
        if not self.opf_file:
            self.opf_file = next((n for n in self.archive.names if n.lower().endswith(".opf")), "")
            self.opf_dir = posixpath.dirname(self.opf_file)
        self._load_opf_file()

    def _load_container(self) -> None:
        try:
            super()._load_container()
        except (KeyError, AttributeError, TypeError, etree.LxmlError, ValueError):
            self.opf_file = ""

    def read_file(self, name: str) -> bytes:
        found = self.archive.find(unquote(name)) or self.archive.find(name)
        if found.lower().endswith((".opf", "container.xml")):
            return self.archive.read(found, 8 * MEGABYTE)
        return b""  # the parts are read later, one at a time

    def _load_metadata(self) -> None:
        try:
            super()._load_metadata()
        except (AttributeError, TypeError, KeyError, ValueError):
            self.book.metadata = {}

    def _load_spine(self) -> None:
        spine = self.container.find("{*}spine")
        self.book.set_direction(None if spine is None else spine.get("page-progression-direction"))
        if spine is None:
            self.book.spine = []
            return
        self.book.spine = [(t.get("idref"), t.get("linear", "yes")) for t in spine.iterfind("{*}itemref")]

    def _parse_nav(self, data: bytes, base_path: str, navtype: str = "toc") -> None:
        """Does nothing: ``toc`` reads the table of contents with its anchors at any depth."""

    def _parse_ncx(self, data: bytes) -> None:
        """Does nothing, as ``_parse_nav``."""


def read_package(archive: Archive) -> Package:
    """Returns the package of the book. Its ``spine`` is empty where the file holds no part with text."""
    reader = _Reader(archive)
    package = Package()
    try:
        book = reader.load()
    except (
        KeyError,
        AttributeError,
        TypeError,
        ValueError,
        StopIteration,
        etree.LxmlError,
        ebooklib_epub.EpubException,
    ):
        book = None
    if book is not None:
        _fill(package, book, reader.opf_dir, archive)
    if not package.spine and not package.pictures:
        package.spine = sorted((n for n in archive.names if _HTML_NAME.search(n)), key=_natural_sort_key)
        package.guessed = bool(package.spine)
    return package


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


def _fill(package: Package, book: Any, folder: str, archive: Archive) -> None:
    package.title = _first_value(book, "title")
    package.author = ", ".join(_authors(book))
    package.language = _first_value(book, "language")
    package.turns_left = book.direction == "rtl"
    places: dict[str, str] = {}
    for item in book.get_items():
        path = posixpath.join(folder, item.get_name() or "")
        name = archive.find(path)
        places[item.get_id()] = name or path
        kind = str(getattr(item, "media_type", "") or "")
        if isinstance(item, ebooklib_epub.EpubNav):
            package.nav = name
        elif isinstance(item, ebooklib_epub.EpubNcx) or kind == "application/x-dtbncx+xml":
            package.ncx = name
        elif isinstance(item, ebooklib_epub.EpubCover):
            package.cover = name
        elif name and (_HTML_KIND.search(kind) or _HTML_NAME.search(name)):
            package.others.append(name)
    for part, _linear in book.spine:
        place = places.get(part, "")
        name = archive.find(place)
        if not name:
            package.missing.append(place or str(part))
        elif name.lower().endswith((".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp")):
            package.pictures += 1
        elif name not in package.spine:
            package.spine.append(name)
    package.others = [name for name in package.others if name not in package.spine]
    if not package.cover:
        for _value, extra in [*_metadata(book, "OPF", "cover"), *_metadata(book, None, "cover")]:
            package.cover = archive.find(places.get(str(extra.get("content")), ""))


def _metadata(book: Any, namespace: str | None, name: str | None) -> list[tuple[Any, dict[str, Any]]]:
    """Returns the metadata called ``name``, each with its attributes."""
    space = ebooklib_epub.NAMESPACES.get(namespace, namespace)
    return [(value, extra or {}) for value, extra in book.metadata.get(space, {}).get(name, [])]


def _first_value(book: Any, name: str) -> str:
    return next((" ".join(str(v).split()) for v, _ in _metadata(book, "DC", name) if v and str(v).strip()), "")


def _authors(book: Any) -> list[str]:
    """Returns the authors; where roles are given, only creators with the role of author."""
    found = []
    refined = {
        str(extra.get("refines") or "").lstrip("#"): str(value or "")
        for value, extra in _metadata(book, "OPF", None)
        if extra.get("property") == "role"
    }
    for value, extra in _metadata(book, "DC", "creator"):
        role = next((v for k, v in extra.items() if k.endswith("role")), refined.get(str(extra.get("id")), "aut"))
        if value and role in ("aut", ""):
            found.append(" ".join(str(value).split()))
    return found or ([_first_value(book, "creator")] if _first_value(book, "creator") else [])


def read_cover(archive: Archive, package: Package) -> Cover | None:
    """Returns the picture of the cover; None without one in a format that browsers show."""
    name = package.cover
    if not name:
        name = next((n for n in archive.names if re.search(r"(^|/)cover[^/]*\.(jpe?g|png)$", n, re.IGNORECASE)), "")
    kind = mimetypes.guess_type(name)[0] or ""
    if not name or kind not in _COVER_KINDS or archive.sizes[name] > 8 * MEGABYTE:
        return None
    try:
        return Cover(archive.read(name), kind)
    except DamagedDocumentError:
        return None


def _natural_sort_key(name: str) -> list[Any]:
    """Returns a key that sorts chapter-2 before chapter-10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name.lower()) if part]


def read_toc(archive: Archive, package: Package) -> list[TocEntry]:
    """Returns the entries in order; [] where no table of contents can be read."""
    entries: list[TocEntry] = []
    for name, read in ((package.nav, _read_nav), (package.ncx, _read_ncx)):
        if name and not entries:
            try:
                entries = read(archive.read(name, _LARGEST_TOC), posixpath.dirname(name), archive)
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
    tree = parse_html(decode(data)[0])
    navs = tree.find_all("nav")
    nav = next((n for n in navs if isinstance(n, Tag) and "toc" in semantic_types(n)), navs[0] if navs else None)
    if not isinstance(nav, Tag):
        return []
    entries: list[TocEntry] = []
    for item in nav.find_all("li"):
        link = next((c for c in item.find_all("a", href=True) if c.find_parent("li") is item), None)
        if isinstance(link, Tag):
            level = min(_DEEPEST, sum(parent.name in ("ol", "ul") for parent in item.parents))
            entries += _entry(inline_text(link), str(link.get("href")), folder, level, archive)
    return entries


def _read_ncx(data: bytes, folder: str, archive: Archive) -> list[TocEntry]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(data, parser)
    entries: list[TocEntry] = []
    for point in () if root is None else root.iter("{*}navPoint"):
        label = next((t.text for t in point.iterfind("{*}navLabel/{*}text") if t.text), "")
        source = next((str(c.get("src") or "") for c in point.iterfind("{*}content")), "")
        level = 1 + sum(1 for _ in point.iterancestors("{*}navPoint"))
        entries += _entry(label, source, folder, min(_DEEPEST, level), archive)
    return entries
