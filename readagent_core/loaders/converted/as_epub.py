"""Renders XML trees as HTML by tables of rules, and opens HTML with pictures as an EPUB made in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from readagent_core.document import Document
from readagent_core.errors import EmptyDocumentError, NoTextError
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.epub import loader as epub
from readagent_core.loaders.maths import local_name

Rule = str | Callable[[Any], str] | None
_SIGNATURES = {b"\xff\xd8": "jpeg", b"\x89PNG": "png", b"GIF8": "gif", b"RIFF": "webp"}


def attribute(element: Any, name: str) -> str:
    """Returns the first attribute of that name in any namespace, else ''."""
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def plain_text(element: Any) -> str:
    """Returns the text in ``element`` on one line; '' for None."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def tagged(name: str, content: str) -> str:
    """Returns ``content``, which is HTML, in an element of that name."""
    return f"<{name}>{content}</{name}>"


class Renderer:
    """Renders elements by ``rules``, from their names: to the name of an HTML element, to a function that gives HTML,
    to '' for their content alone (so do unknown ones), or to None for nothing."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.rules = rules

    def render(self, element: Any) -> str:
        rule = self.rules.get(local_name(element), "") if isinstance(element.tag, str) else None
        if callable(rule):
            return rule(element)
        if rule is None:
            return ""
        return tagged(rule, self.inside(element)) if rule else self.inside(element)

    def inside(self, element: Any) -> str:
        """Returns the content of ``element`` as HTML."""
        parts = [escape(element.text or "")]
        for child in element:
            parts += [self.render(child), escape(child.tail or "")]
        return "".join(parts)


class Pictures:
    """The pictures of a file, each under a name that is safe in an archive."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def add(self, name: str, data: bytes) -> str:
        """Keeps the picture ``data`` and returns its name in the EPUB."""
        name = "picture-" + re.sub(r"[^A-Za-z0-9.]", "_", name)
        self.files[name] = data
        return name


def picture(name: str, alt: str = "") -> str:
    """Returns an HTML element that shows the picture of that name."""
    return f'<img src="{escape(name)}" alt="{escape(alt)}"/>'


def note_link(anchor: str, text: str) -> str:
    """Returns a reference to the note at ``anchor``."""
    return f'<a epub:type="noteref" href="#{escape(anchor)}">{escape(text)}</a>'


def note_at(anchor: str, content: str) -> str:
    """Returns the note at ``anchor``, whose ``content`` is HTML."""
    return f'<aside epub:type="footnote" id="{escape(anchor)}">{content}</aside>'


def open_as_epub(
    body: str,
    name: str,
    *,
    limits: Limits,
    title: str = "",
    author: str = "",
    language: str = "",
    pictures: Mapping[str, bytes] | None = None,
    cover: str = "",
) -> Document:
    """Returns the document of the HTML ``body``. ``pictures``: by the names that it uses. Raises DocumentError."""
    whole = f'<html xmlns:epub="http://www.idpf.org/2007/ops"><head></head><body>{body}</body></html>'
    page = whole.encode("utf-8", "replace")
    check_size(page, limits.page, "The text in this file")
    files = {"text.xhtml": page, **(pictures or {})}
    items = "".join(
        f'<item id="i{at}" href="{escape(file)}" media-type="{_media_type(file, data)}"'
        + ' properties="cover-image"' * (file == cover)
        + "/>"
        for at, (file, data) in enumerate(files.items())
    )
    said = (("title", title), ("creator", author), ("language", language))
    facts = "".join(f"<dc:{key}>{escape(value)}</dc:{key}>" for key, value in said if value)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f'<metadata>{facts}</metadata><manifest>{items}</manifest><spine><itemref idref="i0"/></spine></package>'
    )
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for file, data in {"book.opf": package.encode("utf-8", "replace"), **files}.items():
            archive.writestr(file, data)
    try:
        return epub.load(out.getvalue(), name, limits=limits)
    except EmptyDocumentError as error:
        if isinstance(error, NoTextError):
            raise
        raise EmptyDocumentError("There is no text in this file. Nothing was added; open another file.") from None


def _media_type(file: str, data: bytes) -> str:
    if file.endswith(".xhtml"):
        return "application/xhtml+xml"
    kind = next((kind for mark, kind in _SIGNATURES.items() if data.startswith(mark)), "")
    return f"image/{kind}" if kind else "application/octet-stream"
