"""Opens FictionBook 2 files (.fb2), also packed in a zip archive (.fb2.zip, .fbz)."""

from __future__ import annotations

import base64
import binascii
from html import escape
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.base import Limits
from readagent_core.loaders.calibre import parse_xml
from readagent_core.loaders.converted.as_epub import (
    Pictures,
    Renderer,
    Rule,
    attribute,
    note_at,
    note_link,
    open_as_epub,
    picture,
    plain_text,
    tagged,
)
from readagent_core.loaders.maths import local_name

_NOTES = ("notes", "comments", "footnotes")


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the FictionBook ``data``. Raises DocumentError."""
    if data.startswith(b"PK"):
        archive = Archive(data, limits)
        file = next(file for file in archive.names if file.lower().endswith(".fb2"))
        data = archive.read(file, limits.text)
    root = parse_xml(data.lstrip())
    if root is None or root.find("{*}body") is None:
        raise DamagedDocumentError("This FB2 book holds no text that can be read. Download or copy it again.")
    return _Book(root).open(name, limits)


class _Book:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.depth = 0
        self.pictures = Pictures()
        rules: dict[str, Rule] = {
            **{name: name for name in ("p", "sup", "sub", "code", "table", "tr", "td", "th", "strong")},
            "emphasis": "em",
            "text-author": "p",
            "v": "p",
            "epigraph": "blockquote",
            "cite": "blockquote",
            "poem": self._verse,
            "stanza": self._verse,
            "section": self._section,
            "title": self._title,
            "subtitle": self._subtitle,
            "a": self._link,
            "image": self._image,
            "date": "p",
        }
        self.renderer = Renderer(rules)

    def open(self, name: str, limits: Limits) -> Document:
        files = [(str(binary.get("id")), binary.text or "") for binary in self.root.iter("{*}binary")]
        self.named = {key: self.pictures.add(key, _decode(text)) for key, text in files}
        about = self.root.find("{*}description/{*}title-info")
        facts = {} if about is None else {key: plain_text(about.find(f"{{*}}{key}")) for key in ("book-title", "lang")}
        people = [] if about is None else about.findall("{*}author")
        cover = None if about is None else about.find("{*}coverpage/{*}image")
        return open_as_epub(
            "".join(self._body(body) for body in self.root.findall("{*}body")),
            name,
            limits=limits,
            title=facts.get("book-title", ""),
            author=", ".join(filter(None, map(_person, people))),
            language=facts.get("lang", ""),
            pictures=self.pictures.files,
            cover="" if cover is None else self.named.get(attribute(cover, "href").lstrip("#"), ""),
        )

    def _body(self, body: Any) -> str:
        if body.get("name") not in _NOTES:
            return self.renderer.inside(body)
        notes = []
        for section in body.iter("{*}section"):
            content = "".join(self.renderer.render(part) for part in section if local_name(part) not in ("title", ""))
            notes.append(note_at(str(section.get("id") or ""), content) if section.find("{*}section") is None else "")
        return "".join(notes)

    def _section(self, section: Any) -> str:
        self.depth += 1
        content = self.renderer.inside(section)
        self.depth -= 1
        return f'<div id="{escape(section.get("id") or "")}">{content}</div>'

    def _title(self, title: Any) -> str:
        lines = [text for line in title if local_name(line) == "p" and (text := plain_text(line))]
        if not self.depth:  # of the book
            return "".join(tagged("p", escape(line)) for line in lines)
        return tagged(f"h{min(6, self.depth)}", escape(": ".join(lines)))

    def _subtitle(self, subtitle: Any) -> str:
        text = plain_text(subtitle)
        heading = f"h{min(6, self.depth + 1)}"
        return tagged(heading, escape(text)) if any(map(str.isalnum, text)) else "<hr/>"

    def _verse(self, poem: Any) -> str:
        return f'<div class="{local_name(poem)}">{self.renderer.inside(poem)}</div>'

    def _link(self, link: Any) -> str:
        address = attribute(link, "href")
        if link.get("type") == "note" and address.startswith("#"):
            return note_link(address[1:], plain_text(link))
        return f'<a href="{escape(address)}">{self.renderer.inside(link)}</a>'

    def _image(self, image: Any) -> str:
        name = self.named.get(attribute(image, "href").lstrip("#"), "missing.png")
        return picture(name, attribute(image, "alt") or attribute(image, "title"))


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()))
    except (binascii.Error, ValueError):
        return b""


def _person(author: Any) -> str:
    names = [plain_text(author.find(f"{{*}}{part}-name")) for part in ("first", "middle", "last")]
    return " ".join(filter(None, names)) or plain_text(author.find("{*}nickname"))
