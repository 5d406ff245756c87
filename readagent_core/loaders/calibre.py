"""Reads ``metadata.opf``, the file in which Calibre stores what it knows of a book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lxml import etree

METADATA_FILE, COVER_FILE = "metadata.opf", "cover.jpg"
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)


@dataclass(frozen=True)
class BookMetadata:
    """What a catalogue says of a book. ``position``: the book's number in its series, as text ('2', '1.5')."""

    title: str = ""
    author: str = ""
    series: str = ""
    position: str = ""
    tags: tuple[str, ...] = ()


def parse_metadata(data: bytes) -> BookMetadata:
    """Returns the metadata in an OPF file, in the form of EPUB 2 or 3; empty where it cannot be parsed."""
    try:
        root = etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return BookMetadata()
    if root is None:
        return BookMetadata()
    named = {str(meta.get("name")): _tidy(meta.get("content")) for meta in root.iter("{*}meta") if meta.get("name")}
    stated = [meta for meta in root.iter("{*}meta") if meta.get("property")]
    series = [_tidy(meta.text) for meta in stated if meta.get("property") == "belongs-to-collection"]
    positions = [_tidy(meta.text) for meta in stated if meta.get("property") == "group-position"]
    creators = [creator for creator in root.iter("{*}creator") if _role(creator) == "aut"]
    return BookMetadata(
        title=_first(_texts(root, "title")),
        author=", ".join(dict.fromkeys(text for creator in creators if (text := _tidy(creator.text)))),
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


def _role(creator: Any) -> str:
    """Returns the role of a creator, 'aut' where none is given."""
    return next((value for name, value in creator.attrib.items() if name.endswith("role")), "aut")
