"""A web page as harmless HTML for a sandboxed frame: its elements and words without scripts, styles, links or pictures.

It is written from the parsed page, tag by tag from a list of allowed ones, and then cleaned by nh3, so that neither has
to be without faults. Marks are made here by ids and classes, because no script runs in the frame.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from itertools import chain

import nh3

from readagent_core.web_pages.memory import PageMemory
from readagent_core.web_pages.page import Element, WebPage

DEEPEST = 200  # elements around a drawn one; browsers and cleaners become slow at thousands
_VOID = frozenset(("br", "hr", "input"))
_SAME = frozenset(
    "h1 h2 h3 h4 h5 h6 p div span ul ol li dl dt dd table thead tbody tfoot tr td th caption blockquote pre code b "  # noqa: SIM905
    "strong i em small sup sub br hr label button input select option optgroup textarea fieldset legend a section "
    "article nav main header footer aside figure figcaption address abbr mark s u q cite time".split()
)
_INLINE = frozenset("img svg path use g text tspan picture font video audio canvas iframe object embed".split())  # noqa: SIM905
_FIELDS = frozenset(("button", "input", "select", "textarea"))
_TYPES = frozenset("text search number date time checkbox radio button submit reset range".split())  # noqa: SIM905
_ATTRIBUTES = {"input": {"type", "value", "placeholder", "checked", "disabled"}, "textarea": {"placeholder"},
               "button": {"type"}, "option": {"selected"}, "*": {"id", "class"}}  # fmt: skip


def clean_body(page: PageMemory) -> str:
    """Return the page's body as HTML: element 12 has the id 'e12', and what is whole in snippet 3 the class 's3'.

    A field has its id on an element around it: where a fragment names a field itself, browsers give it the focus, and
    then scroll the window to the frame.
    """
    classes = dict(chain.from_iterable(_marked(page.page, s.start, s.end, f"s{s.number}") for s in page.snippets))
    return nh3.clean(
        "".join(_parts(page.page, classes)), tags=set(_SAME), attributes=_ATTRIBUTES, url_schemes=set(), link_rel=None
    )


def frame_html(body: str, style: str, *, chosen: str = "", opened: Collection[int] = (), theme: str = "light") -> str:
    """Return the whole document of a frame.

    ``body``: of ``clean_body``. ``style``: a style sheet of ours. ``chosen``: the id of an element, and ``opened``: the
    numbers of snippets, which are marked. What is no id or no theme is left out.
    """
    if opened:
        marks = ", ".join(f".s{number:d}" for number in opened)
        style += f"{marks} {{ background: var(--tint); outline: 1px solid var(--lamp); }}"
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", chosen):
        style += f" #e{chosen} {{ max-width: calc(100% - 18px); margin: 9px; outline: 4px solid var(--sea); "
        style += "outline-offset: 2px; }"
    root = theme if theme in ("light", "sepia", "dark") else "light"
    head = f'<!doctype html><html class="{root}"><meta charset="utf-8"><style>{style}</style>'
    return f"{head}<body>{body}</body></html>"


def anchor_of(page: PageMemory, number: int) -> str:
    """Return the id in the frame of the element at which snippet ``number`` begins; '' where it has none."""
    snippet = page.snippets[number - 1]
    whole = next(_marked(page.page, snippet.start, snippet.end, ""), None)
    pieces = page.page.pieces[snippet.start : snippet.end]
    first = next((piece for piece in pieces if isinstance(piece, Element)), None)
    element = page.page.pieces[whole[0]] if whole else first
    return f"e{element.id}" if isinstance(element, Element) else ""


def _marked(page: WebPage, start: int, end: int, name: str) -> Iterator[tuple[int, str]]:
    """Yield the outermost elements that are whole within pieces ``start`` to ``end``, each with ``name``."""
    i = start
    while i < end:
        if isinstance(page.pieces[i], Element) and page.ends[i] <= end:
            yield i, name
            i = page.ends[i]
        else:
            i += 1


def _parts(page: WebPage, classes: dict[int, str]) -> Iterator[str]:
    opened: list[str] = []  # the end tag of each open element, '' for one that is not drawn
    for i, piece in enumerate(page.pieces):
        if piece is None:
            yield opened.pop()
        elif isinstance(piece, str):
            yield f"{html.escape(piece)} "
        elif piece.depth > DEEPEST:
            opened.append("")
        else:
            tag = piece.tag if piece.tag in _SAME else "span" if piece.tag in _INLINE else "div"
            picture = html.escape(piece.attributes.get("alt") or piece.attributes.get("aria-label", ""))
            shows = picture if piece.tag in _INLINE else ""
            field = tag in _FIELDS
            names = " ".join(filter(None, (classes.get(i), "pic" if shows else "", "field" if field else "")))
            mark, given = f' id="e{piece.id}"' + (f' class="{names}"' if names else ""), _attributes(piece, tag)
            yield f"<span{mark}><{tag}{given}>" if field else f"<{tag}{mark}{given}>"
            opened.append(("" if tag in _VOID else f"</{tag}>") + ("</span>" if field else ""))
            if shows:
                yield shows
            elif tag in ("button", "a") and page.pieces[i + 1] is None:
                yield html.escape(page.label_of(piece.id))


def _attributes(element: Element, tag: str) -> str:
    given = dict(element.attributes)
    if tag == "input":
        given["type"] = given["type"].lower() if given.get("type", "").lower() in _TYPES else "text"
    elif tag == "button":
        given["type"] = "button"
    allowed = _ATTRIBUTES.get(tag, set()) & given.keys()
    return "".join(f' {name}="{html.escape(given[name], quote=True)}"' for name in sorted(allowed))
