"""The parts of an Office file (.docx, .pptx): each an XML tree with the parts that it refers to.

Files that Office saves as 'Strict Open XML' have other names for the same elements; they are read under the usual ones.
A part that is damaged or not there is missing for whoever asks for it; the rest is read.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from readagent_core.errors import DocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Limits
from readagent_core.loaders.calibre import BookMetadata, is_well_formed, parse_xml, read_metadata

_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", b"http://schemas.openxmlformats.org/officeDocument/2006/math"),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
    (b"http://purl.oclc.org/ooxml/drawingml/", b"http://schemas.openxmlformats.org/drawingml/2006/"),
)  # fmt: skip


_MAIN = ("word/document.xml", "ppt/presentation.xml")


@dataclass(frozen=True)
class Relation:
    """``kind``: the last word of its type: 'styles', 'image'. ``target``: a part's name, or an address ``outside``."""

    kind: str
    target: str
    outside: bool


class Part:
    """The part ``name`` of a file. ``root``: its XML; None where it has none. ``damaged``: some of that is lost.
    ``relations``: by their ids."""

    def __init__(self, archive: Archive, name: str, limits: Limits) -> None:
        self.archive, self.limits, self.name = archive, limits, archive.find(name)
        folder, file = posixpath.split(self.name)
        found = parse_xml(self._read(f"{folder}/_rels/{file}.rels"))
        data = self._read(self.name) if self.name else b""
        self.root, self.damaged = parse_xml(data), bool(data) and not is_well_formed(data)
        self.relations = {
            str(one.get("Id")): _relation(one, folder)
            for one in (() if found is None else found.iterfind("{*}Relationship"))
        }

    def _read(self, name: str) -> bytes:
        data = self.data(name, self.limits.text)
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
        return data

    def data(self, name: str, limit: int) -> bytes:
        """Returns the bytes of any part; b'' where it is damaged, larger than ``limit`` or not there."""
        try:
            return self.archive.read(self.archive.find(name), limit) if self.archive.find(name) else b""
        except DocumentError:
            return b""

    def related(self, kind: str) -> Part | None:
        """Returns the first part that this one refers to as ``kind``; None without one."""
        names = (one.target for one in self.relations.values() if one.kind == kind and not one.outside)
        return next((Part(self.archive, name, self.limits) for name in names), None)

    def inside(self, key: str) -> str:
        """Returns the name of the part with the id ``key``; '' where that is none, or an address outside."""
        relation = self.relations.get(key)
        return "" if relation is None or relation.outside else relation.target


def diagram_texts(element: Any, part: Part) -> list[str]:
    """Returns the texts of a diagram (SmartArt) that ``element`` of ``part`` refers to."""
    name = next((part.inside(value) for key, value in element.attrib.items() if key.endswith("}dm")), "")
    root = Part(part.archive, name, part.limits).root if name else None
    points = () if root is None else root.iter("{*}pt")
    texts = (" ".join("".join(t.text or "" for t in p.iter("{*}t")) for p in point.iter("{*}p")) for point in points)
    return [text for text in map(str.strip, texts) if text]


def chart_rows(element: Any, part: Part) -> list[list[str]]:
    """Returns the title of a chart that ``element`` of ``part`` refers to, and the table that it draws."""
    name = next((part.inside(value) for key, value in element.attrib.items() if key.endswith("}id")), "")
    root = Part(part.archive, name, part.limits).root if name else None
    series = [] if root is None else list(root.iter("{*}ser"))

    def values(one: Any, *names: str) -> list[str]:
        found = (value for name in names for value in one.iterfind(f"{{*}}{name}//{{*}}v"))
        return [re.sub(r"\d+\.\d{7,}", lambda m: f"{float(m[0]):.6g}", " ".join((v.text or "").split())) for v in found]

    title = [] if root is None else [" ".join("".join(t.itertext()).split()) for t in root.iterfind(".//{*}title")]
    heads = [" ".join(values(one, "tx")) for one in series]
    columns = [values(one, "cat", "xVal") for one in series[:1]] + [values(one, "val", "yVal") for one in series]
    rows = [["", *heads], *map(list, zip_longest(*columns, fillvalue=""))] if series else []
    return [[text] for text in title if text] + [row for row in rows if any(row)]


def open_office(data: bytes, limits: Limits) -> tuple[Part, BookMetadata]:
    """Returns the main part of an Office file and what it says of itself. Raises DocumentError."""
    package = Part(Archive(data, limits), "", limits)
    core = package.related("core-properties")
    about = BookMetadata() if core is None or core.root is None else read_metadata(core.root)
    main = package.related("officeDocument") or Part(
        package.archive, next(filter(package.archive.find, _MAIN), ""), limits
    )
    return main, about


def _relation(element: Any, folder: str) -> Relation:
    target, outside = str(element.get("Target") or ""), element.get("TargetMode") == "External"
    if not outside:
        target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return Relation(str(element.get("Type") or "").rpartition("/")[2], target, outside)
