"""Finds text that a browser does not show: not displayed, of size zero, or in the colour of its background.

Reads the styles of elements and simple rules of style sheets (by element, class or id). Where a style that is not
known could make a text visible, the text stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from lxml import etree

from readagent_core.loaders.html.tree import HEADINGS, Element, class_names, remove, semantic_types, text_of, topmost
from readagent_core.loaders.marks import outside_marks
from readagent_core.words import count_words

_MOST = 0.3  # of the text; more than that is a page whose real background is not known
_NEAR = 24  # of 255; colours that differ less in each channel look the same
_BRACE = re.compile(r"([{}])")
_SIMPLE = re.compile(r"^[A-Za-z][\w-]*$|^(?:[A-Za-z][\w-]*)?[.#][\w-]+$")
_DECLARATION = re.compile(
    r"(?:^|;)\s*(display|visibility|font-size|color|background(?:-color|-image)?)\s*:\s*([^;!]+)", re.IGNORECASE
)
_ZERO = re.compile(r"0+(?:\.0+)?\s*(?:px|pt|em|rem|%)?")
_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})")
_RGB = re.compile(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_NAMED = {"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "black": (0, 0, 0)}
_NO_BACKGROUND = {"", "none", "transparent", "inherit", "initial", "unset"}

Style = dict[str, str]
Colour = tuple[int, int, int]


def remove_hidden(body: Element, sheets: Iterable[str], *, complete: bool) -> int:
    """Removes the hidden text in ``body`` and returns how many words it had.

    ``sheets``: style sheets. ``complete``: they are all of them; if they are not, an element with a class may have a
    background that is not known here.
    """
    rules = _read_rules(sheets)
    by_tag = {selector for selector in rules if selector.isalnum()}
    every = list(body.iter(etree.Element))
    styles: dict[Element, Style] = {}
    for tag in every:
        if (tag.attrib or tag.tag in by_tag) and (style := _style(tag, rules)):
            styles[tag] = style
    if not styles:
        return 0
    removed = 0
    for tag in topmost(body, lambda tag: tag in styles and _is_not_displayed(styles[tag]) and not _is_needed(tag)):
        removed += count_words(text_of(tag, " "))
        remove(tag)
    if not any("color" in style for style in styles.values()):
        return removed
    letters = max(1, len(text_of(body)))
    unseen = _in_colour_of_background(list(body.iter(etree.Element)), styles, complete=complete)
    invisible = topmost(body, lambda tag: tag in unseen and not _is_needed(tag))
    if sum(len(text_of(tag)) for tag in invisible) <= _MOST * letters:
        for tag in invisible:
            removed += count_words(text_of(tag, " "))
            remove(tag)
    return removed


def _read_rules(sheets: Iterable[str]) -> dict[str, Style]:
    """Returns the declarations for each simple selector ('p', '.note', 'p.note', '#top')."""
    rules: dict[str, Style] = defaultdict(dict)
    for sheet in sheets:
        for selectors, body in _split_sheet(sheet):
            declared = _declarations(body)
            for selector in selectors.split(",") if declared else ():
                if _SIMPLE.match(selector.strip()):
                    rules[selector.strip().lower()] |= declared
    return rules


def _split_sheet(sheet: str) -> Iterator[tuple[str, str]]:
    """Yields selectors and declarations of each rule, without those inside @media and other blocks."""
    first, *commented = sheet.split("/*")
    sheet = first + "".join(piece.partition("*/")[2] for piece in commented)
    opened: list[str] = []
    text = ""
    for token in _BRACE.split(sheet):
        if token == "{":
            opened.append(text.rpartition(";")[2])
        elif token == "}":
            selectors = opened.pop() if opened else "@"
            if not opened and not selectors.lstrip().startswith("@"):
                yield selectors, text
            text = ""
        else:
            text = token


def _declarations(text: str) -> Style:
    return {name.lower(): value.strip().lower() for name, value in _DECLARATION.findall(text)}


def _style(tag: Element, rules: dict[str, Style]) -> Style:
    """Returns the declarations that apply to ``tag``, those of its own style last."""
    found: Style = {}
    if rules:
        names = [f".{name}".lower() for name in class_names(tag)]
        names += [f"#{tag.get('id')}".lower()] if tag.get("id") else []
        for selector in (tag.tag, *names, *(tag.tag + name for name in names)):
            if selector in rules:
                found |= rules[selector]
    if not tag.attrib:
        return found
    for attribute, name in (("color", "color"), ("bgcolor", "background"), ("background", "background-image")):
        if tag.get(attribute):
            found[name] = tag.get(attribute).strip().lower()
    if tag.get("style"):
        found |= _declarations(tag.get("style"))
    if tag.get("hidden") not in (None, "until-found"):
        found["display"] = "none"
    return found


def _is_needed(tag: Element) -> bool:
    """Returns whether ``tag`` is read although it is hidden: a scene break, a heading, a note, a formula.

    A picture often shows the heading, and a reading system shows the note when its mark is pressed. A formula is
    hidden where a picture or a script draws it.
    """
    if any("note" in word for word in (*semantic_types(tag), *class_names(tag))):
        return True
    return not outside_marks(text_of(tag)).strip() or next(tag.iter(*HEADINGS), None) is not None


def _is_not_displayed(style: Style) -> bool:
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or bool(_ZERO.fullmatch(style.get("font-size", "")))
    )


def _in_colour_of_background(tags: list[Element], styles: dict[Element, Style], *, complete: bool) -> set[Element]:
    """Returns the elements whose text all has the colour of its background; the page itself is white.

    ``tags``: an element and all in it, in document order. Each is looked at once, however deep they nest.
    """
    found: set[Element] = set()
    backgrounds: dict[Element, Colour | None] = {}
    for tag in tags:
        style = styles.get(tag, {})
        values = [style.get(f"background{end}", "") for end in ("", "-color", "-image")]
        given = [value for value in values if value not in _NO_BACKGROUND]
        background = backgrounds.get(tag.getparent(), (255, 255, 255))
        if given:
            background = _colour(given[0]) if len(given) == 1 else None
        elif not complete and tag.tag != "body" and class_names(tag):
            background = None
        backgrounds[tag] = background
        colour = _colour(style.get("color", ""))
        if colour and background and all(abs(a - b) <= _NEAR for a, b in zip(colour, background, strict=True)):
            found.add(tag)
    coloured: set[Element] = set()  # elements that hold another one with a colour of its own
    for tag in reversed(tags):
        if tag in coloured or "color" in styles.get(tag, {}):
            coloured.add(tag.getparent())
    return found - coloured


def _colour(value: str) -> Colour | None:
    """Returns red, green and blue; None for a value that is not a plain colour."""
    digits, numbers = _HEX.fullmatch(value), _RGB.fullmatch(value)
    if digits:
        pairs = digits.group(1) if len(digits.group(1)) == 6 else "".join(c * 2 for c in digits.group(1))
        return int(pairs[:2], 16), int(pairs[2:4], 16), int(pairs[4:], 16)
    if numbers:
        red, green, blue = map(int, numbers.groups())
        return red, green, blue
    return _NAMED.get(value)
