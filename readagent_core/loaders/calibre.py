"""Reads the metadata of a package file (OPF), of an EPUB or the one in which Calibre stores what it knows of a book."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

METADATA_FILE, COVER_FILE = "metadata.opf", "cover.jpg"
_SAFE = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
_PARSER, _STRICT = etree.XMLParser(**_SAFE, recover=True), etree.XMLParser(**_SAFE)


@dataclass(frozen=True)
class BookMetadata:
    """What a catalogue says of a book. ``position``: the book's number in its series, as text ('2', '1.5')."""

    title: str = ""
    author: str = ""
    language: str = ""
    series: str = ""
    position: str = ""
    tags: tuple[str, ...] = ()

    @property
    def place_in_series(self) -> tuple[str, float] | None:
        """The series and the book's number in it, 0 where it has none; None for a book of no series."""
        number = re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", self.position)
        return (self.series, float(number.group()) if number else 0.0) if self.series else None


def parse_xml(data: bytes) -> Any:
    """Returns the root element, also of XML with errors; None where there is none. Nothing is fetched."""
    try:
        return etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return None


def is_well_formed(data: bytes) -> bool:
    """Returns whether ``data`` is XML without errors, so that ``parse_xml`` loses nothing of it."""
    try:
        etree.fromstring(data, _STRICT)
    except (etree.XMLSyntaxError, ValueError):
        return False
    return True


def parse_metadata(data: bytes) -> BookMetadata:
    """Returns the metadata in an OPF file; empty where it cannot be parsed."""
    root = parse_xml(data)
    return BookMetadata() if root is None else read_metadata(root)


def read_metadata(root: Any) -> BookMetadata:
    """Returns the metadata in a package, in the form of EPUB 2 or 3.

    The authors are the creators in that role, or without one; where there are none, the first creator.
    """
    metas = list(root.iter("{*}meta"))
    named = {str(meta.get("name")): _tidy(meta.get("content")) for meta in metas}
    roles = {str(meta.get("refines")): _tidy(meta.text) for meta in metas if meta.get("property") == "role"}
    series = [_tidy(meta.text) for meta in metas if meta.get("property") == "belongs-to-collection"]
    positions = [_tidy(meta.text) for meta in metas if meta.get("property") == "group-position"]
    creators = [creator for creator in root.iter("{*}creator") if _tidy(creator.text)]
    authors = [creator for creator in creators if _role(creator, roles) in ("aut", "")] or creators[:1]
    return BookMetadata(
        title=_first(_texts(root, "title")),
        author=", ".join(dict.fromkeys(_tidy(author.text) for author in authors)),
        language=_first(_texts(root, "language")),
        series=named.get("calibre:series") or _first(series),
        position=(named.get("calibre:series_index") or _first(positions)).removesuffix(".0"),
        tags=tuple(dict.fromkeys(_texts(root, "subject"))),
    )


def _texts(root: Any, name: str) -> list[str]:
    return [text for element in root.iter(f"{{*}}{name}") if (text := _tidy(element.text))]


def _first(texts: list[str]) -> str:
    return texts[0] if texts else ""


def _tidy(text: str | None) -> str:
    return " ".join((text or "").split())


def _role(creator: Any, roles: dict[str, str]) -> str:
    """Returns the role of a creator, '' where none is given. ``roles``: by '#' and the id of who has it."""
    own = next((value for name, value in creator.attrib.items() if name.endswith("role")), "")
    return own or roles.get(f"#{creator.get('id')}", "")
