"""Opens PowerPoint presentations (.pptx): each slide is a section, with its lists, tables, pictures and notes."""

from __future__ import annotations

import posixpath
from html import escape
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Limits
from readagent_core.loaders.calibre import parse_xml, read_metadata
from readagent_core.loaders.converted.as_epub import Pictures, attribute, open_as_epub, picture, tagged

_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")  # placeholders of page numbers, dates and the like


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the presentation ``data``. Raises DocumentError."""
    archive, pictures = Archive(data, limits), Pictures()
    start = "ppt/presentation.xml"
    root, related = _part(archive, start, limits)
    if root is None:
        raise DamagedDocumentError("The list of slides in this presentation cannot be read. Download or copy it again.")
    slides = []
    for number, slide in enumerate(root.iterfind("{*}sldIdLst/{*}sldId"), 1):
        places = [related[key] for key in slide.attrib.values() if key in related]
        slides.append(_slide(archive, places[0] if places else "", number, limits, pictures))
    core = archive.find("docProps/core.xml")
    about = parse_xml(archive.read(core, limits.text)) if core else None
    facts = None if about is None else read_metadata(about)
    return open_as_epub(
        "".join(slides),
        name,
        limits=limits,
        title="" if facts is None or facts.title == "PowerPoint Presentation" else facts.title,
        author=facts.author if facts else "",
        pictures=pictures.files,
    )


def _part(archive: Archive, name: str, limits: Limits) -> tuple[Any, dict[str, str]]:
    """Returns the root of a part, None where it cannot be read, and the files that it refers to by their ids."""
    folder, file = posixpath.split(name)
    found: list[Any] = []
    for path in (name, f"{folder}/_rels/{file}.rels"):
        try:
            found.append(parse_xml(archive.read(archive.find(path), limits.text)) if archive.find(path) else None)
        except DocumentError:
            found.append(None)
    links = () if found[1] is None else found[1].iterfind("{*}Relationship")
    inside = [link for link in links if link.get("TargetMode") != "External"]
    places = {
        str(link.get("Id")): posixpath.normpath(posixpath.join("/", folder, link.get("Target") or ""))[1:]
        for link in inside
    }
    return found[0], places


def _slide(archive: Archive, place: str, number: int, limits: Limits, pictures: Pictures) -> str:
    root, related = _part(archive, place, limits)
    if root is None:
        return f"<h1>Slide {number}</h1><p>[This slide is damaged.]</p>"
    title, parts = "", list[str]()
    for shape in root.iter("{*}sp", "{*}tbl", "{*}pic"):
        mark = shape.find(".//{*}nvPr/{*}ph")
        kind = "" if mark is None else str(mark.get("type") or "")
        if kind in _FURNITURE:
            continue
        if kind in ("title", "ctrTitle") and not title:
            title = " ".join(map(_text, shape.iter("{*}p")))
        elif shape.tag.endswith("}tbl"):
            rows = (
                "".join(tagged("td", escape(_text(cell))) for cell in row.iter("{*}tc")) for row in shape.iter("{*}tr")
            )
            parts.append(tagged("table", "".join(tagged("tr", row) for row in rows)))
        elif shape.tag.endswith("}pic"):
            parts.append(_picture(shape, archive, related, limits, pictures))
        else:
            lines = [tagged("li", escape(text)) for line in shape.iter("{*}p") if (text := _text(line))]
            parts.append(tagged("ul", "".join(lines)) if len(lines) > 1 else "".join(lines).replace("li>", "p>"))
    notes = next((place for place in related.values() if "notesSlide" in place), "")
    spoken = _part(archive, notes, limits)[0] if notes else None
    for shape in () if spoken is None else spoken.iter("{*}sp"):
        mark = shape.find(".//{*}nvPr/{*}ph")
        if mark is not None and mark.get("type") == "body":
            lines = [text for line in shape.iter("{*}p") if (text := _text(line))]
            parts += [tagged("p", escape(("" if at else "Notes: ") + line)) for at, line in enumerate(lines)]
    return tagged("h1", escape(title.strip() or f"Slide {number}")) + "".join(parts)


def _text(element: Any) -> str:
    """Returns the text of a paragraph or cell on one line; a line break or the end of a paragraph is a space."""
    return " ".join(
        "".join(
            (part.text or "") if part.tag.endswith("}t") else " " for part in element.iter("{*}t", "{*}br", "{*}p")
        ).split()
    )


def _picture(shape: Any, archive: Archive, related: dict[str, str], limits: Limits, pictures: Pictures) -> str:
    about, blip = shape.find(".//{*}cNvPr"), shape.find(".//{*}blip")
    place = archive.find(related.get(attribute(blip, "embed") if blip is not None else "", ""))
    try:
        data = archive.read(place, limits.picture_bytes) if place else b""
    except DocumentError:
        data = b""
    name = pictures.add(place, data) if data else "missing.png"
    return picture(name, "" if about is None else attribute(about, "descr"))
