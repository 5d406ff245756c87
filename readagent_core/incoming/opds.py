"""Reads a page of a catalogue: OPDS 1.2 (Atom) or OPDS 2.0 (JSON), from their bytes.

Sources: https://specs.opds.io/opds-1.2 and https://drafts.opds.io/opds-2.0. What a stranger's catalogue says is text
and addresses: addresses are made whole here and checked where they are fetched. A definition of entities, with which a
few bytes of XML become gigabytes, is refused.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from readagent_core.errors import NoCatalogueError, UnsafeLinkError
from readagent_core.incoming.links import ENDINGS
from readagent_core.loaders import FORMATS
from readagent_core.loaders.calibre import parse_xml

ACCEPT = "application/opds+json, application/atom+xml;profile=opds-catalog, application/atom+xml, application/xml;q=0.9"
DESCRIPTION = "application/opensearchdescription+xml"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ACQUISITION, _IMAGE = "http://opds-spec.org/acquisition", "http://opds-spec.org/image"
_BEST = (".epub", ".fb2", ".mobi", ".azw3", ".html", ".md", ".txt")  # then the others; a PDF and pictures come last
_LAST = (".pdf", ".cbz")
_NO_CATALOGUE = "A web page answered, not a catalogue. Try the address with /opds."
_BOOK_PAGE = re.compile(r"/ebooks/\d+\.opds$")  # a book in Project Gutenberg's lists, which hold no files
_MOST_ENTRIES, _LONGEST = 500, 300  # entries of a page; characters of a title
_TERMS = ("searchTerms", "query", "q", "title")  # the names that templates give the words, the most usual first
_REQUIRED = {"count": "50", "startIndex": "1", "startPage": "1", "language": "*"} | dict.fromkeys(
    ("inputEncoding", "outputEncoding"), "UTF-8"
)  # what OpenSearch has no default for where a template asks for it


class Offer(StrEnum):
    """How a book can be had. ``NONE``: in no format that is opened here."""

    FREE = "free"
    ON_ITS_PAGE = "on its page"  # the page of the catalogue at its address has its file
    PDF = "pdf"  # only as PDF
    BORROW = "borrow"
    BUY = "buy"
    NONE = "none"


@dataclass(frozen=True)
class Entry:
    """A book, or where ``offer`` is None a link to another page of the catalogue. ``address``: of the file or the page.

    ``cover``: an address, also one that begins with ``data:``, or ''. ``ending``: of the file, '.epub'.
    """

    title: str
    address: str = ""
    author: str = ""
    cover: str = ""
    offer: Offer | None = None
    ending: str = ""


@dataclass(frozen=True)
class CataloguePage:
    """``next``: the address of the following page; ''. ``search``: a template with the place of the words, or the
    address of a description that has one (``described``). ``total``: of all books in it; None where the catalogue does
    not say.
    """

    title: str
    entries: tuple[Entry, ...] = ()
    next: str = ""
    search: str = ""
    described: bool = False
    total: int | None = None


@dataclass(frozen=True)
class _Link:
    rel: str
    href: str
    kind: str = ""


def parse_page(data: bytes, address: str) -> CataloguePage:
    """Returns the page of a catalogue. Raises NoCatalogueError where it is none, UnsafeLinkError for a bomb."""
    if data.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:1] == b"{":
        return _parse_json(data, address)
    root = _parse_xml(data)
    if root.tag == f"{_ATOM}entry":  # the page of one book
        return CataloguePage(_text(root, "title"), tuple(filter(None, [_atom_entry(root, address)])))
    if root.tag != f"{_ATOM}feed":
        raise NoCatalogueError(_NO_CATALOGUE)
    entries = [_atom_entry(entry, address) for entry in root.findall(f"{_ATOM}entry")[:_MOST_ENTRIES]]
    total = root.findtext("{http://a9.com/-/spec/opensearch/1.1/}totalResults") or ""
    return _page(_text(root, "title"), entries, _atom_links(root, address), int(total) if _is_count(total) else None)


def search_template(data: bytes, address: str) -> str:
    """Returns the template of an OpenSearch description. Raises NoCatalogueError where it has none for a catalogue."""
    urls = [
        url
        for url in _parse_xml(data).iter("{*}Url")
        if _is_page(url.get("type") or "") and "{" in (url.get("template") or "")
    ]
    if not urls:
        raise NoCatalogueError("This catalogue cannot be searched in a way that ReadAgent knows.")
    return _whole(address, min(urls, key=lambda url: "opds" not in url.get("type")).get("template"))


def search_address(template: str, words: str) -> str:
    """Returns a template with the words in their place, and every other place that needs nothing empty.

    Both kinds: '?q={searchTerms}&n={count?}' of OpenSearch and '{?query,title}' of OPDS 2.0.
    """
    names = {name.rstrip("?*") for place in re.findall(r"{[?&]?([^{}]*)}", template) for name in place.split(",")}
    chosen = next((name for name in _TERMS if name in names), "")

    def fill(found: re.Match[str]) -> str:
        sign, given = found[1], [name.rstrip("?*") for name in found[2].split(",")]
        if chosen not in given:
            return "" if sign else _REQUIRED.get(found[2], "")
        return f"{sign}{chosen}={quote(words, safe='')}" if sign else quote(words, safe="")

    return re.sub(r"{([?&]?)([^{}]*)}", fill, template)


def _page(title: str, entries: Iterable[Entry | None], links: list[_Link], total: int | None) -> CataloguePage:
    def first(rel: str, *, described: bool) -> str:
        found = (link.href for link in links if link.rel == rel and link.kind.startswith(DESCRIPTION) == described)
        return next(found, "")

    search = first("search", described=False)
    search = search if "{" in search else ""
    return CataloguePage(
        title[:_LONGEST],
        tuple(filter(None, entries)),
        first("next", described=False),
        search or first("search", described=True),
        not search,
        total,
    )


def _entry(title: str, author: str, links: list[_Link]) -> Entry | None:
    """Returns the entry of these links; None for one that leads nowhere."""
    title, author = title[:_LONGEST] or "Without a title", author[:_LONGEST]
    covers = [link.href for rel in (f"{_IMAGE}/thumbnail", _IMAGE) for link in links if link.rel == rel and link.href]
    cover, offers = next(iter(covers), ""), [link for link in links if link.rel.startswith(_ACQUISITION)]
    kept = [link for link in offers if link.rel.removeprefix(_ACQUISITION) in ("", "/open-access", "/indirect")]
    files = sorted((rank, n) for n, link in enumerate(kept) if (rank := _rank(link)) is not None)
    if files:
        link = kept[files[0][1]]
        ending = _ending(link)
        return Entry(title, link.href, author, cover, Offer.PDF if ending == ".pdf" else Offer.FREE, ending)
    indirect = [link for link in kept if _is_page(link.kind)]  # the book's own page has its file
    if offers and not indirect:
        ways = {link.rel.removeprefix(_ACQUISITION) for link in offers}
        offer = Offer.BORROW if "/borrow" in ways else Offer.BUY if ways & {"/buy", "/subscribe"} else Offer.NONE
        return Entry(title, "", author, cover, offer)
    if page := next((link for link in links if link in indirect or _is_book_page(link)), None):
        return Entry(title, page.href, author, cover, Offer.ON_ITS_PAGE)
    pages = list(filter(_leads_on, links))
    return Entry(title, pages[0].href, author, cover) if pages else None


def _is_book_page(link: _Link) -> bool:
    return _leads_on(link) and _BOOK_PAGE.search(urlsplit(link.href).path) is not None


def _is_page(kind: str) -> bool:
    return "atom+xml" in kind or "opds" in kind


def _leads_on(link: _Link) -> bool:
    """Returns whether a link leads to a page of the catalogue. Some say so by their relation alone."""
    if not link.kind:
        return link.rel == "subsection" or (link.rel.startswith("http://opds-spec.org/") and "/image" not in link.rel)
    return _is_page(link.kind) and link.rel not in ("self", "related")


def _ending(link: _Link) -> str:
    """Returns the ending of the file, by its type, or where that says nothing by its address; '' if none opens here."""
    kind = link.kind.split(";")[0].strip()
    if kind not in ("", "application/octet-stream", "application/zip", "binary/octet-stream"):
        return ENDINGS.get(kind) or (".txt" if kind == "text/plain" else "")
    ending = _suffix(link)
    return ending if ending in FORMATS else ""


def _suffix(link: _Link) -> str:
    return PurePosixPath(urlsplit(link.href).path).suffix.lower()


def _rank(link: _Link) -> int | None:
    """Returns how good a format is, 0 for the best; None for one that does not open here."""
    ending = _ending(link)
    if not ending:  # a file of which nothing is said is offered: it is seen when it comes
        return None if link.kind or _suffix(link) else 200
    return _BEST.index(ending) if ending in _BEST else 100 + _LAST.index(ending) if ending in _LAST else 50


# --- OPDS 1.2 ------------------------------------------------------------------------------------------------------


def _parse_xml(data: bytes) -> Any:
    root = parse_xml(data)
    if root is None:
        raise NoCatalogueError(_NO_CATALOGUE)
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise UnsafeLinkError("This catalogue defines abbreviations that could fill the memory, so it was not read.")
    return root


def _text(parent: Any, name: str) -> str:
    found = parent.find(f"{_ATOM}{name}")
    text = "".join(found.itertext()) if found is not None else ""
    if found is not None and found.get("type") == "html":
        text = unescape(re.sub("<[^>]*>", "", text))
    return " ".join(text.split())


def _atom_links(parent: Any, address: str) -> list[_Link]:
    return [
        _Link(
            link.get("rel") or "",
            _whole(_whole(address, link.base), link.get("href")),
            (link.get("type") or "").lower(),
        )
        for link in parent.findall(f"{_ATOM}link")
        if link.get("href")
    ]


def _atom_entry(entry: Any, address: str) -> Entry | None:
    authors = ", ".join(filter(None, (_text(author, "name") for author in entry.findall(f"{_ATOM}author"))))
    content = entry.find(f"{_ATOM}content")
    if not authors and content is not None and content.get("type", "text") == "text":
        authors = _text(entry, "content")  # Project Gutenberg's lists have a book's author there
    return _entry(_text(entry, "title"), authors, _atom_links(entry, address))


# --- OPDS 2.0 ------------------------------------------------------------------------------------------------------


def _parse_json(data: bytes, address: str) -> CataloguePage:
    try:
        page = json.loads(data)
    except (ValueError, RecursionError):
        page = None
    if not isinstance(page, dict) or not ({"metadata", "navigation", "publications", "groups"} & set(page)):
        raise NoCatalogueError(_NO_CATALOGUE)
    entries: list[Entry | None] = []
    for part in [page, *_mappings(page.get("groups"))]:
        for link in _mappings(part.get("navigation")):
            href = str(link.get("href") or "")
            entries.append(Entry(_word(link.get("title"))[:_LONGEST] or href, _whole(address, href)) if href else None)
        entries += [_json_book(book, address) for book in _mappings(part.get("publications"))]
    if not {"navigation", "publications", "groups"} & set(page):  # the page of one book
        entries = [_json_book(page, address)]
    about = _mapping(page.get("metadata"))
    total = str(about.get("numberOfItems"))
    links = _json_links(page.get("links"), address)
    return _page(_word(about.get("title")), entries[:_MOST_ENTRIES], links, int(total) if _is_count(total) else None)


def _json_book(book: Mapping[str, Any], address: str) -> Entry | None:
    about = _mapping(book.get("metadata"))
    images = [_Link(_IMAGE, link.href) for link in _json_links(book.get("images"), address)]
    links = [*_json_links(book.get("links"), address), *images]
    return _entry(_word(about.get("title")), _word(about.get("author")), links)


def _json_links(values: Any, address: str) -> list[_Link]:
    return [
        _Link(rel, _whole(address, str(link["href"])), str(link.get("type") or "").lower())
        for link in _mappings(values)
        if link.get("href")
        for rel in (link["rel"] if isinstance(link.get("rel"), list) else [link.get("rel") or ""])
        if isinstance(rel, str)
    ]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _word(value: Any) -> str:
    """Returns the text of a value that may be a text, a name, a text in several languages, or a list of these."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_word, value)))
    if isinstance(value, dict):
        return _word(value.get("name") or next(iter(value.values()), ""))
    return " ".join(value.split()) if isinstance(value, str) else ""


def _is_count(text: str) -> bool:
    return text.isascii() and text.strip().isdigit() and len(text) < 10


def _whole(address: str, href: str | None) -> str:
    """Returns a link of the page as a whole address; '' where it is none."""
    try:
        return urljoin(address, (href or "").strip())
    except ValueError:
        return ""
