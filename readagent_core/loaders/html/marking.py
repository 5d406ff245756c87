"""Marks what stands beside the text of a page, before its blocks are read: formulas, ruby, notes, links, list numbers.

Each becomes characters in the text of its element (``loaders.marks``), so that headings, tables, lists and paragraphs
need no rules for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Set
from itertools import takewhile

from lxml import etree

from readagent_core.document import SpanKind, is_outside_address
from readagent_core.loaders.html.markup import has_inside
from readagent_core.loaders.html.tree import (
    BLOCK_TAGS,
    HEADINGS,
    Element,
    ancestor,
    class_names,
    empty,
    remove,
    semantic_types,
    text_of,
)
from readagent_core.loaders.marks import CLOSE, Marks, without_marks
from readagent_core.loaders.maths import formula_line, is_tex, mark_tex, parse_tex, safe_mathml

_MARKER = r"(?:\d{1,4}|[*†‡§¶#]{1,3}|[a-z]|[ivxlc]{1,6}|注\d*|※\d*|note \d{1,3}|nb \d{1,3})"
_ONE_MARKER = re.compile(rf"^[\[(\s]*({_MARKER})[\s\])]*$", re.IGNORECASE)
_MARKERS = re.compile(rf"^(?:[\[(\s,;]*{_MARKER}[\s\]),;]*){{1,12}}$", re.IGNORECASE)
_BACK = re.compile(r"^[\s\[(]*(?:[↩↑⏎⤴⬆^\ufe0e\ufe0f]+|back|return)[\s\])]*$", re.IGNORECASE)
_NOTE_ID = re.compile(r"^_?(?:foot|end|rear|side)?-?(?:notes?|ftn|fn|edn|en|cite_note)[-_:.]?\w{0,8}$", re.IGNORECASE)
_NOTE_CLASS = re.compile(r"^(?:note-?ref|fn-?ref|footnote-?(?:ref|anchor|link|reference)?|fnanchor|reference)$", re.I)
_NO_ALTERNATIVE = re.compile(r"^\W*(?:alternative text not available|no alt\w*|math|formula|equation|image)?\W*$", re.I)
_MATH_CLASS = re.compile(r"(?:^|[-_ ])(?:math|maths|tex|latex|equation|formula|mwe-math\S*)(?:$|[-_ ])", re.IGNORECASE)
_DRAWN = re.compile(r"^(?:mathjax(?:_preview|_chtml|_svg|_display)?|mjx-chtml|katex-html)$", re.IGNORECASE)
_DROP_CAP = re.compile(r"^(?:drop[-_]?caps?|dropped[-_]?cap|initials?|lettrine|first-?letter|big-?letter)$", re.I)
_LETTER = re.compile(
    r"^(?:(?:illuminated|decorated|decorative|ornate|ornamental|large|initial|capital|drop|letter|cap|drop-?cap)\W+)*"
    r"[\"'“‘«]?([^\W\d_])\W?$",
    re.IGNORECASE,
)
_WORDS = "AIOÀÉÔYEUS"  # letters that are words, before which a space counts
_EDIT_CLASS = re.compile(r"edit-?section|header-?link|anchor-?link|permalink|heading-?anchor", re.IGNORECASE)
_CHROME = re.compile(r"^\W*(?:edit|edit source|permalink|copy link|link|#|¶|§|🔗)?\W*$", re.IGNORECASE)
_QUOTES = {"de": "„“‚‘", "fr": "«»“”", "ja": "「」『』", "zh": "“”‘’", "it": "«»“”", "es": "«»“”", "ru": "«»„“"}
_UNNUMBERED = frozenset({"toc", "endnotes", "footnotes", "rearnotes"})  # their numbers are those of notes or pages
_LETTERS = {"a": "abcdefghijklmnopqrstuvwxyz", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip

Resolve = Callable[[str], tuple[str, str]]  # an address to the key of a place in the file, or to an outside address


def format_number(number: int, form: str) -> str:
    """Return the number of an item: ``form`` is '1', 'a', 'A', 'i' or 'I'."""
    if form in _LETTERS and 0 < number <= 26:
        return _LETTERS[form][number - 1]
    if form in ("i", "I") and 0 < number < 4000:
        roman, rest = "", number
        for size, sign in _ROMAN:
            roman, rest = roman + sign * (rest // size), rest % size
        return roman.upper() if form == "I" else roman
    return str(number)


def mark_formulas(root: Element, marks: Marks) -> None:
    """Replace formulas by their lines. Where a page has one twice, as MathML and as a picture, one stays."""
    for switch in list(root.iter("epub-switch")):
        cases = [
            case for case in switch.iter("epub-case") if has_inside(case, "math") or case.get("required-namespace")
        ]
        for other in [one for one in switch if one not in cases[:1]] if cases else switch.findall("epub-case"):
            remove(other)
    for script in list(root.iter("script")):
        if (script.get("type") or "").startswith("math/tex"):
            tree = parse_tex(script.text or "")
            _remove_drawn(script)
            script.tag = "span"
            _replace(script, marks, tree, script.text or "")
    for math in list(root.iter("math")):
        annotation = next((text_of(a) for a in math.iter("annotation") if "tex" in (a.get("encoding") or "")), "")
        tex = (math.get("alttext") or annotation).strip()
        tex = "" if _NO_ALTERNATIVE.match(tex) else tex
        _remove_drawn(math)
        said = {_said_key(formula_line(math)), _said_key(tex)}
        for around in list(math.iterancestors())[:3]:
            for image in [one for one in around.iter("img") if _said_key(one.get("alt") or "-") in said]:
                remove(image)
        around = _around(math, said)
        after = None if (around.tail or "").strip() else around.getnext()
        if after is not None and after.tag not in BLOCK_TAGS and _said_key(text_of(after)) in said - {""}:
            remove(after)
        _replace(around, marks, math, tex)
    for image in list(root.iter("img")):
        alt = image.get("alt") or ""
        if is_tex(alt) and any(map(_MATH_CLASS.search, class_names(image))):
            _replace(image, marks, parse_tex(alt), alt)
    if any(sign in text_of(root) for sign in ("\\(", "\\[", "$$")):
        for one in root.iter(etree.Element):
            plain = one.tag not in ("code", "pre", "script", "style")
            if plain and one.text and ("\\" in one.text or "$$" in one.text):
                one.text = mark_tex(one.text, lambda tree: _marked(marks, tree))
            if one.tail and ("\\" in one.tail or "$$" in one.tail):
                one.tail = mark_tex(one.tail, lambda tree: _marked(marks, tree))


def _remove_drawn(formula: Element) -> None:
    """Remove the drawing of a formula beside it, by MathJax or KaTeX."""
    for around in [formula, *formula.iterancestors()][:4]:
        for beside in [*around.itersiblings(preceding=True), *around.itersiblings()][:6]:
            hidden = beside.get("aria-hidden") == "true" and beside.tag not in BLOCK_TAGS
            if hidden or any(map(_DRAWN.match, class_names(beside))):
                remove(beside)


def _around(math: Element, said: Set[str]) -> Element:
    """Return the inline element around a formula that has nothing else but the same once more, as text or a picture."""
    found = math
    for around in takewhile(lambda one: one.tag == "span" or "-" in one.tag, math.iterancestors()):
        if _said_key("".join(around.xpath(".//text()[not(ancestor::math)]"))) not in {"", *said}:
            break
        found = around
    return found


def _said_key(text: str) -> str:
    """Return what is the same in a formula as a line, as the letters of its drawing, and in TeX."""
    tree = parse_tex(text) if "\\" in text else None
    line = unicodedata.normalize("NFKC", text if tree is None else formula_line(tree))
    return re.sub(r"[\s^_{}$\u2061-\u2064]", "", line).replace("−", "-")


def _marked(marks: Marks, tree: Element) -> str:
    line = formula_line(tree)
    return marks.mark(SpanKind.FORMULA, line, safe) if line and (safe := safe_mathml(tree)) else line


def _replace(element: Element, marks: Marks, tree: Element | None, instead: str) -> None:
    """Make ``element`` a span with the line of ``tree``, else of ``instead``, which may be in TeX."""
    text = "" if tree is None else _marked(marks, tree)
    if not text and instead:
        tree = parse_tex(instead) if is_tex(instead) else None
        text = instead if tree is None else _marked(marks, tree)
    display = (element if tree is None else tree).get("display") == "block"
    empty(element, f" {text} " if display else text)
    element.tag = "span"
    for name in set(element.attrib) - {"id"}:
        del element.attrib[name]


def mark_ruby(root: Element, marks: Marks) -> None:
    """Replace each ``<ruby>`` by its base, marked with its reading."""
    for ruby in list(root.iter("ruby")):
        pairs: list[tuple[list[str], list[str]]] = [([ruby.text or ""], [])]
        for child in ruby:
            if child.tag in ("rt", "rtc"):
                rts = [text_of(rt) for rt in child.iter("rt")] or [text_of(child)]
                pairs[-1][1].extend(rts if child.tag == "rt" or not pairs[-1][1] else [])
            elif child.tag != "rp":
                if pairs[-1][1]:
                    pairs.append(([], []))
                pairs[-1][0].append(text_of(child))
            if (child.tail or "").strip():
                if pairs[-1][1]:
                    pairs.append(([], []))
                pairs[-1][0].append(child.tail or "")
        text = ""
        for bases, readings in pairs:
            bases, readings = ([" ".join(t.split()) for t in texts if t.strip()] for texts in (bases, readings))
            if len(bases) != len(readings):
                bases, readings = ["".join(bases)], ["".join(readings)]
            for base, reading in zip(bases, readings, strict=True):
                text += marks.mark(SpanKind.RUBY, base, without_marks(reading)) if base and reading else base
        empty(ruby, text)


def mark_structure(root: Element, language: str) -> None:
    """Write into the text what browsers add to it, and take out what they add to the page.

    Numbers of lists, quotation marks, letters of drop caps; links to edit a heading."""
    for one in list(root.iter("q")):
        signs = _QUOTES.get(language[:2].lower(), "“”‘’")
        inner = sum(1 for _ in one.iterancestors("q")) % 2 * 2
        one.text = signs[inner] + (one.text or "")
        _append(one, signs[inner + 1])
    for one in list(root.iter("ol")):
        _number_items(one)
    for one in list(root.iter("img", "svg")):
        letter = _LETTER.match(one.get("alt") or "" if one.tag == "img" else text_of(one).strip())
        after = one.tail or _text_after(one)
        if letter and after.lstrip("'’ ")[:1].isalpha() and not _text_before(one):
            one.tag = "span"
            empty(one, letter.group(1).upper())
    for one in list(root.iter("span", "b", "big", "font", "strong")):
        named = one.tail and any(map(_DROP_CAP.match, class_names(one)))
        if named and len(initial := text_of(one).strip("\"'“‘«» ")) == 1 and initial not in _WORDS:
            one.tail = one.tail.lstrip()
    for heading in list(root.iter(*HEADINGS)):
        for one in [e for e in heading.iter("a", "span", "button", "sup") if e.getparent() is not None]:
            named = any(map(_EDIT_CLASS.search, class_names(one)))
            if (named or one.tag in ("a", "button")) and (named or _CHROME.match(text_of(one))):
                if text_of(heading).strip() != text_of(one).strip() or named:
                    empty(one)
            elif one.tag == "button":
                one.tag = "span"


def _append(element: Element, text: str) -> None:
    """Add ``text`` at the end of what is in ``element``."""
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _text_after(element: Element) -> str:
    """Return the text right after an element, up to the end of its block."""
    for one in [element, *element.iterancestors()][:3]:
        if one.tail:
            return str(one.tail)
        following = one.getnext()
        if following is not None:
            return text_of(following) if following.tag not in BLOCK_TAGS or following.tag == "p" else ""
        if one.getparent() is not None and one.getparent().tag in ("p", "body", "section"):
            return ""
    return ""


def _text_before(element: Element) -> bool:
    """Return whether there is text before an element in its parent."""
    parent = element.getparent()
    before = [parent.text or ""] + [text_of(one) + (one.tail or "") for one in element.itersiblings(preceding=True)]
    return any(text.strip() for text in before)


def _number_items(ol: Element) -> None:
    """Write the numbers of its items, as a browser counts them, into a list."""
    around = (ol, *ol.iterancestors("nav", "section", "aside", "div"))
    if "none" in (ol.get("style") or "") or any(semantic_types(one) & _UNNUMBERED for one in around):
        return
    items = ol.findall("li")
    step = -1 if ol.get("reversed") is not None else 1
    number = _integer(ol.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _integer(item.get("value"), number)
        holder = item
        while (
            not (holder.text or "").strip() and len(holder) and holder[0].tag not in ("ol", "ul", "table", "pre", "img")
        ):
            holder = holder[0]
        starts = (holder.text or "").lstrip()
        if not starts[:1].isdigit() and (starts or text_of(item).strip()):
            holder.text = f"{format_number(number, ol.get('type') or '1')}. {starts}"
        number += step


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"-?\d{1,6}", text.strip()) else default


def mark_links(root: Element, marks: Marks, resolve: Resolve) -> None:
    """Mark the references to notes, whose signs leave the text, and the links."""
    for one in list(root.iter("a", "sup")):
        text = text_of(one).strip()
        if not text:
            continue
        if one.tag == "sup":
            links = [link for link in one.iter("a") if "#" in (link.get("href") or "")]
            if links and _MARKERS.match(text):
                empty(one, "".join(_note(link, marks, resolve) for link in links))
            continue
        address = (one.get("href") or "").strip()
        kind = semantic_types(one)
        if kind & {"backlink"} or (_BACK.match(text) and "#" in address):
            empty(one)
        elif kind & {"noteref"} or ("#" in address and _is_note_reference(one, text, address)):
            empty(one, _note(one, marks, resolve))
        elif address and ancestor(one, "a") is None and not has_inside(one, *BLOCK_TAGS):
            target, outside = resolve(address)
            if target or is_outside_address(outside):
                one.text = marks.opening(SpanKind.LINK, outside, target) + (one.text or "")
                _append(one, CLOSE)


def _is_note_reference(link: Element, text: str, address: str) -> bool:
    if len(text) > 12 or not _ONE_MARKER.match(text):
        return False
    raised = has_inside(link, "sup") or ancestor(link, "sup") is not None or text[:1] in "[*†‡"
    named = any(map(_NOTE_CLASS.match, class_names(link))) or _NOTE_ID.match(address.rpartition("#")[2])
    return bool(raised or (named and ancestor(link, "ol", "li") is None))


def _note(link: Element, marks: Marks, resolve: Resolve) -> str:
    """Return the mark of a reference to a note; '' where it leads nowhere."""
    target, _ = resolve((link.get("href") or "").strip())
    sign = text_of(link).strip(" \t\r\n[]()")
    return marks.mark(SpanKind.NOTE, "", sign, target) if target else ""
