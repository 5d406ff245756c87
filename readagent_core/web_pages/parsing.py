"""HTML to a ``WebPage``: what a person could see or use; scripts, styles and hidden parts are left out and counted.

``open_page`` parses in a child process with bounds on memory and time, as files from strangers are (``loaders``).
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from lxml import etree, html

from readagent_core.errors import DocumentError, NoTextError
from readagent_core.languages import detect_language
from readagent_core.loaders.base import DEFAULT, check_size
from readagent_core.loaders.child_process import explain_end, extend_time, limit_memory, run_child
from readagent_core.loaders.decode import decode
from readagent_core.web_pages.page import Element, Piece, WebPage
from readagent_core.words import collapse_whitespace

DATA_ID = "backend_node_id"  # the name of elements in Mind2Web
_LONGEST_TEXT = 2000  # characters of one text piece; longer texts become several
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NAMES = {"aria_label": "aria-label", "input_value": "value", "input_checked": "checked", "option_selected": "selected"}
_SHOWN_ATTRIBUTES = frozenset(
    "name type role aria-label placeholder alt title value for checked selected disabled readonly label "  # noqa: SIM905
    "aria-expanded aria-checked aria-selected contenteditable href".split()
)
_MOST_HREF = 60  # characters; longer addresses are left out
_LEFT_OUT = {"script": "scripts", "style": "styles", "link": "styles", "noscript": "other", "template": "other",
             "head": "other", "meta": "other", "base": "other"}  # fmt: skip
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)


def open_page(data: bytes) -> WebPage:
    """Return the page in ``data``, parsed in a child process. Raises DocumentError."""
    check_size(data, DEFAULT.page, "This web page")
    with tempfile.TemporaryDirectory(prefix="readagent-") as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        try:
            ended = run_child(__name__, {"file": str(file)}, Path(folder), DEFAULT)
        except OSError:  # no process can be started here
            return parse_page(data)
    if not ended.reply:
        raise explain_end(ended, DEFAULT)
    answer: dict[str, Any] = json.loads(ended.reply)
    if "error" in answer:
        raise NoTextError(answer["error"])
    return WebPage.from_list(answer["page"])


def parse_page(data: bytes | str) -> WebPage:
    """Return the page in ``data``. Raises DocumentError where nothing can be seen on it."""
    text = data if isinstance(data, str) else decode(data)[0]
    root, cut = _tree(text)
    walk = _Walk()
    walk.add(root)
    seen = " ".join(piece for piece in walk.pieces if isinstance(piece, str))
    if not any(isinstance(piece, Element) and piece.tag not in ("html", "body") for piece in walk.pieces) and not seen:
        raise NoTextError("There is nothing to see on this web page. Choose another one.")
    title = collapse_whitespace(root.findtext(".//title") or "")
    language = str(root.get("lang") or "")
    if not re.fullmatch(r"[A-Za-z]{2,3}(-\w+)*", language):
        language = detect_language(seen[:5000])
    return WebPage(title, language, tuple(walk.pieces), dict(sorted(walk.left_out.items())), cut)


def _tree(text: str) -> tuple[Any, bool]:
    """Return the root element, and whether the parser stopped before the end because the page nests too deep.

    Mind2Web's pages are written as XML, where '<a/>' is closed; as HTML it would enclose what follows.
    """
    text = text.replace("\x00", "")
    if DATA_ID in text:
        parser = etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True, remove_comments=True,
                                 remove_pis=True)  # fmt: skip
        try:
            return etree.fromstring(text.strip().encode("utf-8", "replace"), parser), False
        except etree.XMLSyntaxError:
            pass  # it is HTML with ids
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        raise NoTextError("There is nothing to see on this web page. Choose another one.") from None
    return root, any("depth" in entry.message for entry in parser.error_log)


class _Walk:
    """Collects the pieces of a tree in document order. There is no recursion, so deep nesting is harmless."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.left_out: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._count = 0

    def add(self, root: Any) -> None:
        walk = etree.iterwalk(root, events=("start", "end"))
        depth, skipped = 0, set[Any]()
        for event, node in walk:
            if event == "start":
                kind = _invisible(node)
                if kind:
                    self.left_out[kind] += 1
                    self.left_out.update(_LEFT_OUT[inner.tag] for inner in node.iterdescendants("script", "style"))
                    walk.skip_subtree()
                    skipped.add(node)
                elif not _is_text_node(node):
                    self.pieces.append(self._element(node, depth))
                    depth += 1
                if not kind:
                    self._add_text(node.text)
                continue
            if node in skipped:
                skipped.discard(node)
            elif not _is_text_node(node):
                depth -= 1
                self.pieces.append(None)
            if node is not root:
                self._add_text(node.tail)

    def _add_text(self, text: str | None) -> None:
        text = collapse_whitespace(text or "")
        while len(text) > _LONGEST_TEXT:
            at = text.rfind(" ", 1, _LONGEST_TEXT) + 1 or _LONGEST_TEXT
            self.pieces.append(text[:at].strip())
            text = text[at:]
        if text:
            self.pieces.append(text)

    def _element(self, node: Any, depth: int) -> Element:
        self._count += 1
        name = str(node.get(DATA_ID) or "") or str(self._count)
        while not _ID.fullmatch(name) or name in self._ids:
            name = f"n{self._count}" if f"n{self._count}" not in self._ids else f"n{name}"[:40]
        self._ids.add(name)
        found: dict[str, str] = {}
        for given, value in node.attrib.items():
            attribute = _NAMES.get(given, given)
            if attribute in _SHOWN_ATTRIBUTES and not (attribute == "href" and not _is_short_link(value)):
                found[attribute] = collapse_whitespace(value)
        return Element(name, _tag(node), found, depth)


def _tag(node: Any) -> str:
    tag = etree.QName(node).localname.lower()
    return tag if re.fullmatch(r"[a-z][a-z0-9-]{0,30}", tag) else "span"


def _is_text_node(node: Any) -> bool:
    """Return whether this is one of Mind2Web's 'text' elements, which stand for text without a tag."""
    return node.tag == "text" and node.get(DATA_ID) is not None and not len(node)


def _invisible(node: Any) -> str:
    """Return the kind under which an element that nobody sees is counted; '' for one that is shown."""
    if not isinstance(node.tag, str):
        return "other"
    if kind := _LEFT_OUT.get(_tag(node)):
        return kind
    hidden = node.get("hidden") is not None and node.get("hidden") != "until-found"
    hidden = hidden or (_tag(node) == "input" and str(node.get("type")).lower() == "hidden")
    return "hidden" if hidden or _HIDDEN_STYLE.search(node.get("style") or "") else ""


def _is_short_link(address: str) -> bool:
    plain = address.strip()
    return 1 < len(plain) <= _MOST_HREF and not re.match(r"(?:javascript|data|vbscript)\s*:", plain, re.IGNORECASE)


def main() -> None:
    """Serves one request of ``open_page`` from standard input: writes a line of JSON."""
    data = Path(json.loads(sys.stdin.buffer.readline())["file"]).read_bytes()
    limit_memory(DEFAULT)
    extend_time(DEFAULT)
    answer: dict[str, Any]
    try:
        answer = {"page": parse_page(data).to_list()}
    except DocumentError as error:
        answer = {"error": str(error)}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
