"""Opens PowerPoint presentations (.pptx): each slide is a section, with its lists, tables, pictures and notes."""

from __future__ import annotations

from html import escape
from typing import Any

from lxml import etree

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.converted.as_epub import Pictures, attribute, open_as_epub, picture, tagged
from readagent_core.loaders.docx.equations import M, parse_omml
from readagent_core.loaders.maths import raise_text
from readagent_core.loaders.office import Part, chart_rows, diagram_texts, open_office

_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")  # placeholders of page numbers, dates and the like


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the presentation ``data``. Raises DocumentError."""
    part, about = open_office(data, limits)
    pictures, slides = Pictures(), list[str]()
    if part.root is None:
        raise DamagedDocumentError("The list of slides in this presentation cannot be read. Download or copy it again.")
    for number, slide in enumerate(part.root.iterfind("{*}sldIdLst/{*}sldId"), 1):
        places = [place for place in map(part.inside, slide.attrib.values()) if place]
        slides.append(_slide(Part(part.archive, places[0] if places else "", limits), number, pictures))
    facts = {"title": about.title, "author": about.author}
    return open_as_epub("".join(slides), name, limits=limits, **facts, pictures=pictures.files)


def _slide(part: Part, number: int, pictures: Pictures) -> str:
    if part.root is None:
        return f"<h1>Slide {number}</h1><p>[This slide is damaged.]</p>"
    title, parts = "", list[str]()
    for shape in part.root.iter("{*}sp", "{*}tbl", "{*}pic", "{*}relIds", "{*}chart"):
        mark = shape.find(".//{*}nvPr/{*}ph")
        kind = "" if mark is None else str(mark.get("type") or "")
        if kind in _FURNITURE:
            continue
        if kind in ("title", "ctrTitle") and not title:
            title = " ".join(map(_text, shape.iter("{*}p")))
        elif shape.tag.endswith(("}tbl", "}chart")):
            cells = ([_text(cell) for cell in row.iter("{*}tc")] for row in shape.iter("{*}tr"))
            rows = (
                ([escape(cell) for cell in row] for row in chart_rows(shape, part))
                if shape.tag.endswith("}chart")
                else cells
            )
            html = ("".join(tagged("td", cell) for cell in row) for row in rows)
            parts.append(tagged("table", "".join(tagged("tr", row) for row in html)))
        elif shape.tag.endswith("}relIds"):
            parts.append(tagged("ul", "".join(tagged("li", escape(text)) for text in diagram_texts(shape, part))))
        elif shape.tag.endswith("}pic"):
            parts.append(_picture(shape, part, pictures))
        else:
            lines = [tagged("li", text) for line in shape.iter("{*}p") if (text := _text(line))]
            parts.append(tagged("ul", "".join(lines)) if len(lines) > 1 else "".join(lines).replace("li>", "p>"))
    notes = part.related("notesSlide")
    for shape in () if notes is None or notes.root is None else notes.root.iter("{*}sp"):
        mark = shape.find(".//{*}nvPr/{*}ph")
        if mark is not None and mark.get("type") == "body":
            lines = [text for line in shape.iter("{*}p") if (text := _text(line))]
            parts += [tagged("p", ("" if at else "Notes: ") + line) for at, line in enumerate(lines)]
    return tagged("h1", title.strip() or f"Slide {number}") + "".join(parts)


def _text(element: Any) -> str:
    """Returns the HTML of a paragraph or cell on one line; a line break or the end of a paragraph is a space."""
    parts = list[str]()
    for part in element.iter("{*}t", "{*}br", "{*}p", f"{M}oMath"):
        if part.tag == f"{M}oMath":
            parts.append(etree.tostring(parse_omml(part), encoding="unicode"))
        elif part.tag.endswith("}t"):
            text = part.text or "" if part.tag != f"{M}t" else ""
            run = part.getparent().find("{*}rPr")
            height = str(run.get("baseline") or "0") if run is not None else "0"
            parts.append(escape((height.strip("0%") and raise_text(text, up=height[0] != "-")) or text))
        else:
            parts.append(" ")
    return " ".join("".join(parts).split())


def _picture(shape: Any, part: Part, pictures: Pictures) -> str:
    about, blip = shape.find(".//{*}cNvPr"), shape.find(".//{*}blip")
    place = part.inside(attribute(blip, "embed") if blip is not None else "")
    data = part.data(place, part.limits.picture_bytes)
    name = pictures.add(place, data) if data else "missing.png"
    return picture(name, "" if about is None else attribute(about, "descr"))
