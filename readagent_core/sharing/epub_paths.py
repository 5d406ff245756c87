"""KOReader's places in an EPUB: '/body/DocFragment[3]/body/div/p[7]/text().41', and the words that stand there.

``DocFragment`` counts the parts of the book in reading order; the rest is the path in that part's XHTML, where an
element has a number if it has a sibling of its name, and a text its offset without the line breaks of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from readagent_core.errors import DocumentError
from readagent_core.loaders import DEFAULT
from readagent_core.loaders.archive import Archive
from readagent_core.loaders.calibre import parse_xml
from readagent_core.loaders.epub.package import read_package
from readagent_core.loaders.html.tree import BLOCK_TAGS

WORDS = 64  # characters that are compared
_LEAST = 12
_BLOCKS = 4
_MOST_BYTES = 20 << 20  # of one part
_PATH = re.compile(
    r"/body/DocFragment(?:\[(\d{1,5})\])?(?:/body)?((?:/[\w:.-]+(?:\(\))?(?:\[\d{1,6}\])?)*?)(?:\.(\d{1,9}))?"
)
_STEP = re.compile(r"/([\w:-]+)(\(\))?(?:\[(\d+)\])?")


def words_at(data: bytes, path: str) -> list[str]:
    """Return the words that follow a place in an EPUB, and those of the next blocks of text; [] if it is none.

    A heading, in which a chapter begins, may be no paragraph here, and a word or two may be anywhere.
    """
    found = _PATH.fullmatch(path.strip())
    body = next((b for n, b in enumerate(_bodies(data), 1) if found and n == int(found[1] or 1)), None)
    if found is None or body is None:
        return []
    at, piece = body, 0
    for name, is_text, number in _STEP.findall(found[2]):
        wanted = int(number or 1) - 1
        if is_text:
            piece = wanted
            break
        children = [one for one in at if _name(one) == name]
        if wanted >= len(children):
            return []
        at = children[wanted]
    texts = list(_texts(body))
    order = {element: n for n, element in enumerate(body.iter())}
    own = [n for n, (owner, _, _) in enumerate(texts) if owner is at] or [
        n
        for n, (owner, _, _) in enumerate(texts)
        if order[owner] >= order[at]  # it is a picture, or a whole part
    ]
    if not own:
        return []
    first, offset = (own[min(piece, len(own) - 1)], int(found[3] or 0)) if texts[own[0]][0] is at else (own[0], 0)
    rest = "".join(text for _, _, text in texts[first:])[offset:]
    return _blocks(rest)[:_BLOCKS]


def find_path(data: bytes, words: str, share: float) -> str:
    """Return the path of the place in an EPUB where these words follow, nearest to this share of it.

    Where they are nowhere it is the place at this share, because KOReader goes to a path only; '' without text.
    """
    wanted = next(iter(_blocks(words)), None)
    bodies = list(_bodies(data))
    lists = [list(_texts(body)) for body in bodies]
    sizes = [sum(len(text) for _, _, text in texts) for texts in lists]
    best: tuple[float, str] | None = None
    before = 0
    for number, (body, texts) in enumerate(zip(bodies, lists, strict=True), 1):
        whole = "".join(text for _, _, text in texts)
        at = whole.find(wanted) if wanted else -1
        while at >= 0:
            far = abs((before + at) / max(1, sum(sizes)) - share)
            if best is None or far < best[0]:
                best = far, _path_of(body, texts, at, number)
            at = whole.find(str(wanted), at + 1)
        before += sizes[number - 1]
    left = min(round(share * sum(sizes)), sum(sizes) - 1)
    for number, (body, texts, size) in enumerate(zip(bodies, lists, sizes, strict=True), 1):
        if best is None and texts and left < size:
            return _path_of(body, texts, left, number)
        left -= size
    return best[1] if best else ""


def _path_of(body: Any, texts: list[tuple[Any, int, str]], at: int, number: int) -> str:
    index = 0
    while at >= len(texts[index][2]):
        at -= len(texts[index][2])
        index += 1
    owner, piece, _ = texts[index]
    path = re.sub("{[^}]*}", "", etree.ElementTree(body).getelementpath(owner)).lower()
    path = "" if owner is body else f"/{path}"
    return f"/body/DocFragment[{number}]/body{path}/text(){f'[{piece + 1}]' if piece else ''}.{at}"


def _texts(body: Any) -> Iterator[tuple[Any, int, str]]:
    """Yield each text of a part with its element and its number in it; the last one of a block ends in a line break."""
    found: list[tuple[Any, int, str]] = []
    counts: dict[Any, int] = {}

    def add(owner: Any, text: str | None) -> None:
        text = _collapse(text or "")
        if not text.strip() and (not found or found[-1][2].endswith((" ", "\n"))):
            return
        if not found or found[-1][2].endswith((" ", "\n")):
            text = text.lstrip()
        found.append((owner, counts.get(owner, 0), text))
        counts[owner] = counts.get(owner, 0) + 1

    def end_block(element: Any) -> None:
        if _name(element) in (*BLOCK_TAGS, "br") and found and not found[-1][2].endswith("\n"):
            found[-1] = (*found[-1][:2], found[-1][2].rstrip() + "\n")

    def walk(element: Any) -> None:
        end_block(element)
        add(element, element.text)
        for child in element:
            if isinstance(child.tag, str):
                walk(child)
            add(element, child.tail)
        end_block(element)

    try:
        walk(body)
    except RecursionError:  # a part that nests without end
        return
    yield from found


def _blocks(text: str) -> list[str]:
    """Return the first words of each block that has enough: the paragraphs here are divided so too."""
    lines = (_collapse(line).strip()[:WORDS] for line in text.split("\n"))
    return [line for line in lines if len(line) >= _LEAST]


def _name(element: Any) -> str:
    return etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""


def _collapse(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u00ad", ""))


def _bodies(data: bytes) -> Iterator[Any]:
    """Yield the body of every part in reading order; an empty one for a part that cannot be read."""
    try:
        archive = Archive(data, DEFAULT)
        for name in read_package(archive).spine:
            root = parse_xml(archive.read(name, _MOST_BYTES))
            body = next(root.iter("{*}body"), None) if root is not None else None
            yield etree.Element("body") if body is None else body
    except DocumentError:
        return
