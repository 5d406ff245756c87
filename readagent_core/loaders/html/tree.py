"""Parses HTML and XHTML with lxml, and what the rules ask of the elements: names, classes, meaning, text.

XHTML that is well formed is parsed as XML, so that any prefix, closed elements and the entities of its own DTD are
right; anything else as HTML. Names are the same in both: 'p', and 'epub-type' for epub:type. There is no recursion
over a tree, so that deep nesting cannot exhaust the stack. Nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import Any

from lxml import etree

from readagent_core.loaders.marks import without_reserved

Element = Any  # of lxml, which has no types

BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer "  # noqa: SIM905
    "form header hgroup html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "caption h1 h2 h3 h4 h5 h6 hr".split()
)
HEADINGS = {f"h{n}": n for n in range(1, 7)}
_SPACES_TO_PLAIN = "\t\r\n\f\u00a0"
_SEVERAL = re.compile(" {2,}")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[>]*(?:\[(?P<own>.*?)\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")
_REFERENCE = re.compile(r"&([A-Za-z][\w.-]*);")
# text, in which tags may stay open; from one to the next, so that a thousand unclosed ones are read once
_NOSCRIPT = re.compile(r"<noscript\b(?:(?!<noscript\b).)*?</noscript\s*>", re.IGNORECASE | re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_XHTML = re.compile(r"<[^>]*xmlns(?::\w+)?\s*=\s*[\"']http://www\.w3\.org/(?:1999/xhtml|2000/svg)")
_PREFIX = re.compile(r"xmlns:(\w+)\s*=\s*[\"']http://www\.w3\.org/(?:1999/xhtml|1998/Math/MathML|2000/svg)")
_NAME = re.compile(r"[A-Za-z][\w.-]*")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_LONGEST_ENTITY = 200  # characters; a longer one may be built to grow without bound
_EPUB = "http://www.idpf.org/2007/ops"
_SPACES = frozenset({
    "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg",
    "http://www.daisy.org/z3986/2005/dtbook/",
})  # fmt: skip
_PREFIXES = {_EPUB: "epub-", "http://www.w3.org/1999/xlink": "xlink-", "http://www.w3.org/XML/1998/namespace": "xml-"}
_DEEPEST = 200  # elements in one another; deeper ones of a page that libxml2 gives up become neighbours
_OPTIONS = {"remove_comments": True, "remove_pis": True, "huge_tree": True, "no_network": True}


def parse_html(text: str) -> Element:
    """Return the root element of ``text``, 'html'. CDATA sections become text."""
    text = _expand_entities(without_reserved(_DECLARATION.sub("", text, count=1)))
    root = None
    if _XHTML.search(text[:4000]):
        try:
            root = etree.fromstring(text, etree.XMLParser(resolve_entities=False, **_OPTIONS))
        except (etree.XMLSyntaxError, ValueError):
            root = None
    if root is None:
        root = _parse_as_html(text)
    prefixes = frozenset({"html", "xhtml", "m", "mml", "svg", *_PREFIX.findall(text[:4000])})
    for element in root.iter(etree.Element):
        _rename(element, prefixes)
    if root.tag != "html":
        page = etree.Element("html")
        page.append(root)
        root = page
    return root


def _parse_as_html(text: str) -> Element:
    if "<![CDATA[" in text:
        text = _CDATA.sub(lambda m: escape(m.group(1), quote=False), text)
    text = _NOSCRIPT.sub("", text).replace("\x00", "")
    parser = etree.HTMLParser(encoding="utf-8", **_OPTIONS)
    data = text.encode("utf-8", "replace")
    try:
        root = etree.fromstring(data, parser)
        if root is not None and all("depth" not in error.message for error in parser.error_log):
            return root
    except etree.XMLSyntaxError:
        pass
    shallow = etree.HTMLParser(target=_ShallowTree(), encoding="utf-8", remove_comments=True, huge_tree=True)
    try:
        return etree.fromstring(data, shallow)
    except (etree.XMLSyntaxError, AssertionError):
        return etree.Element("html")


class _ShallowTree:
    """Builds a tree from the parser's events that is not deeper than ``_DEEPEST``."""

    def __init__(self) -> None:
        self.builder = etree.TreeBuilder()
        self.builder.start("html", {})
        self.depth = 0

    def start(self, tag: str, attributes: Any) -> None:
        if tag == "html":
            return
        self.depth += 1
        try:
            self.builder.start(tag, dict(attributes))
        except ValueError:  # an attribute whose name XML does not allow
            self.builder.start(tag, {})
        if self.depth > _DEEPEST:
            self.builder.end(tag)

    def end(self, tag: str) -> None:
        if tag == "html":
            return
        if self.depth <= _DEEPEST:
            self.builder.end(tag)
        self.depth -= 1

    def data(self, text: str) -> None:
        self.builder.data(text)

    def close(self) -> Element:
        self.builder.end("html")
        return self.builder.close()


def _expand_entities(text: str) -> str:
    """Return ``text`` without its DOCTYPE, and with the entities of that, and of HTML, as characters."""
    found = _DOCTYPE.search(text[:100_000])
    own = {}
    if found:
        text = text[: found.start()] + text[found.end() :]
        values = ((m.group(1), m.group(2) or m.group(3) or "") for m in _ENTITY.finditer(found["own"] or ""))
        own = {name: value for name, value in values if len(value) < _LONGEST_ENTITY}
    if "&" not in text:
        return text

    def replaced(reference: re.Match[str]) -> str:
        name = reference.group(1)
        if name in _XML_ENTITIES:
            return reference.group()
        if "<" in own.get(name, ""):
            return own[name]
        value = unescape(own.get(name) or reference.group())
        return f"&amp;{name};" if value == reference.group() else escape(value)

    return _REFERENCE.sub(replaced, text)


def _rename(element: Element, prefixes: frozenset[str]) -> None:
    """Give an element and its attributes the names that they have in HTML; others, such as 'o:p', keep no meaning."""
    tag = element.tag
    if tag[0] == "{":
        space, _, local = tag[1:].partition("}")
        element.tag = local.lower() if space in _SPACES else f"{'epub' if space == _EPUB else 'other'}-{local.lower()}"
    elif ":" in tag:
        prefix, _, local = tag.rpartition(":")
        if _NAME.fullmatch(local):
            element.tag = local.lower() if prefix in prefixes else f"{'epub' if prefix == 'epub' else 'other'}-{local}"
    elif not tag.islower() and _NAME.fullmatch(tag):
        element.tag = tag.lower()
    for name in list(element.attrib):
        if name[0] == "{":
            space, _, local = name[1:].partition("}")
            element.set(_PREFIXES.get(space, "") + local, element.attrib.pop(name))
        elif name in ("epub:type", "xlink:href", "xml:lang"):
            element.set(name.replace(":", "-"), element.attrib.pop(name))


def single_spaces(text: str) -> str:
    """Return ``text`` with one space for each run of white space."""
    for space in _SPACES_TO_PLAIN:
        text = text.replace(space, " ")
    return _SEVERAL.sub(" ", text) if "  " in text else text


def body_of(root: Element) -> Element:
    body = root.find("body")
    return root if body is None else body


def text_of(element: Element, between: str = "") -> str:
    """Return all text in ``element``, with ``between`` its pieces."""
    return between.join(element.itertext())


def class_names(element: Element) -> list[str]:
    """Return the element's classes."""
    return (element.get("class") or "").split()


def semantic_types(element: Element) -> frozenset[str]:
    """Return the words of the element's ``epub:type`` and ``role`` (without ``doc-``)."""
    if not element.attrib:
        return frozenset()
    words = f"{element.get('epub-type') or ''} {(element.get('role') or '').replace('doc-', '')}"
    return frozenset(words.lower().split())


def ancestor(element: Element, *tags: str) -> Element | None:
    """Return the nearest element around ``element`` that has one of these names."""
    return next(element.iterancestors(*tags), None)


def topmost(root: Element, is_wanted: Callable[[Element], bool]) -> list[Element]:
    """Return the elements below ``root`` that are wanted, without those inside of others."""
    found = []
    walker = etree.iterwalk(root, events=("start",))
    for _, element in walker:
        if element is not root and is_wanted(element):
            found.append(element)
            walker.skip_subtree()
    return found


def remove(element: Element) -> None:
    """Remove an element from its tree; the text after it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
        element.tail = None
    parent.remove(element)


def empty(element: Element, text: str = "") -> None:
    """Replace all that is in ``element`` by ``text``; the elements that have an id stay, as empty targets."""
    for child in list(element):
        inner = [one for one in child.iter(etree.Element) if one.get("id")]
        child.tail = None
        element.remove(child)
        for one in inner[:20]:
            etree.SubElement(element, "a", id=one.get("id"))
    element.text = text


def ids_in(element: Element) -> Iterator[str]:
    """Yield the ids in ``element``, its own first."""
    for one in element.iter(etree.Element):
        if one.attrib:
            yield from filter(None, (one.get("id"), one.get("name") if one.tag == "a" else None))
