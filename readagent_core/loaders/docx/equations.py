"""Word's equations (``m:oMath``) as MathML."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from readagent_core.loaders.maths import DEEPEST, local_name

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def parse_omml(element: Any) -> Any:
    """Return an equation of a Word file (``m:oMath``) as an element of MathML."""
    math = etree.Element("math")
    _convert(element, math, 0)
    return math


def _row(parent: Any, element: Any, name: str, depth: int) -> None:
    """Append to ``parent`` a row with what ``element`` has in its child ``name``."""
    row = etree.SubElement(parent, "mrow")
    for child in element.iterfind(M + name):
        _convert(child, row, depth + 1)


def _property(element: Any, name: str, default: str = "") -> str:
    found = element.find(f"{M}{local_name(element)}Pr/{M}{name}")
    return default if found is None else str(found.get(M + "val") or "")


_OMML = {  # the MathML element, and the parts of Word's that it consists of
    "f": ("mfrac", "num den"),
    "sSup": ("msup", "e sup"),
    "sSub": ("msub", "e sub"),
    "sSubSup": ("msubsup", "e sub sup"),
    "rad": ("mroot", "e deg"),
    "limLow": ("munder", "e lim"),
    "limUpp": ("mover", "e lim"),
    "func": ("mrow", "fName e"),
    "groupChr": ("mrow", "e"),
    "box": ("mrow", "e"),
    "borderBox": ("mrow", "e"),
    "phant": ("mphantom", "e"),
}


def _convert(element: Any, parent: Any, depth: int) -> None:
    name = local_name(element)
    if depth > DEEPEST or name.endswith("Pr"):
        return
    if name == "r":
        _convert_run(element, parent)
    elif name in _OMML:
        tag, parts = _OMML[name]
        if name == "rad" and not "".join(element.xpath("string(*[local-name()='deg'])")).strip():
            tag, parts = "msqrt", "e"
        made = etree.SubElement(parent, tag)
        if name == "f" and _property(element, "type") == "noBar":
            made.set("linethickness", "0")
        for part in parts.split():
            _row(made, element, part, depth)
    elif name == "d":
        row = etree.SubElement(parent, "mrow")
        etree.SubElement(row, "mo").text = _property(element, "begChr", "(")
        for number, child in enumerate(element.iterfind(M + "e")):
            if number:
                etree.SubElement(row, "mo").text = _property(element, "sepChr", "|")
            _convert(child, row, depth + 1)
        etree.SubElement(row, "mo").text = _property(element, "endChr", ")")
    elif name == "nary":
        made = etree.SubElement(parent, "munderover")
        etree.SubElement(made, "mo").text = _property(element, "chr", "∫")
        for part in ("sub", "sup"):
            _row(made, element, part, depth)
        _row(parent, element, "e", depth)
    elif name in ("acc", "bar"):
        made = etree.SubElement(parent, "mover")
        _row(made, element, "e", depth)
        etree.SubElement(made, "mo").text = _property(element, "chr", "^") if name == "acc" else "¯"
    elif name == "sPre":
        made = etree.SubElement(parent, "mmultiscripts")
        _row(made, element, "e", depth)
        etree.SubElement(made, "mprescripts")
        for part in ("sub", "sup"):
            _row(made, element, part, depth)
    elif name in ("m", "eqArr"):
        table = etree.SubElement(parent, "mtable")
        for line in element.iterfind(M + ("mr" if name == "m" else "e")):
            row = etree.SubElement(table, "mtr")
            for cell in line.iterfind(M + "e") if name == "m" else [line]:
                _convert(cell, etree.SubElement(row, "mtd"), depth + 1)
    else:
        for child in element:
            if local_name(child):
                _convert(child, parent, depth + 1)


def _convert_run(run: Any, parent: Any) -> None:
    """Append the numbers, names and signs of a run, each as an element. A run of normal text is one element."""
    text = "".join(piece.text or "" for piece in run.iter() if local_name(piece) == "t")
    if run.find(f"{M}rPr/{M}nor") is not None:
        etree.SubElement(parent, "mtext").text = text
        return
    for piece in re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\s+|.", text):
        tag = "mn" if piece[0].isdigit() else "mi" if piece[0].isalpha() else "mtext" if piece.isspace() else "mo"
        etree.SubElement(parent, tag).text = piece
