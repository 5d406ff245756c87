"""Formulas: MathML and TeX to one line of text that can be read, and to MathML that is safe to draw.

TeX becomes MathML by latex2mathml. (pylatexenc and unicodeit, which give text at once, write (a+b)/c as a+b/c or leave
it as it is; mathml-to-latex goes the other way.) The line is for models, search and reading aloud: ½, 10⁶, √16, x₁².
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Any

from lxml import etree

from readagent_core.document import MATHML_ATTRIBUTES, MATHML_TAGS

_TAGS, _ATTRIBUTES = frozenset(MATHML_TAGS.split("|")), frozenset(MATHML_ATTRIBUTES.split("|"))
DEEPEST = 60
_LONGEST = 20_000  # characters of MathML that is kept, or of TeX that is read
_FRACTIONS = {
    "1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "2/5": "⅖", "3/5": "⅗", "4/5": "⅘",
    "1/6": "⅙", "5/6": "⅚", "1/7": "⅐", "1/8": "⅛", "3/8": "⅜", "5/8": "⅝", "7/8": "⅞", "1/9": "⅑", "1/10": "⅒",
}  # fmt: skip
_UP = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ",
)
_DOWN = str.maketrans("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")
_RAISABLE = re.compile(r"[0-9+\-−=()ni]*[0-9n][0-9+\-−=()ni]*")
_LOWERABLE = re.compile(r"[0-9+\-−=()]+")
_DISPLAYED = ' display="block"'
_UNREAD = ("annotation", "script", "style")
_PRIMES = frozenset("′″‴⁗'*†‡°")
_ACCENTS = {
    "^": "\u0302", "ˆ": "\u0302", "¯": "\u0304", "‾": "\u0304", "―": "\u0304", "_": "\u0304", "→": "\u20d7",
    "~": "\u0303", "˜": "\u0303", "˙": "\u0307", ".": "\u0307", "¨": "\u0308",
}  # fmt: skip
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_SPACED = re.compile(r"[=<>≠≈≡≤≥≪≫∼≃≅∝→←↔⇒⇐⇔↦∈∉⊂⊆⊃⊇∣≺≻+−±∓×÷∧∨∪∩∘]|:=|-")
_SIMPLE = re.compile(r"[\w.,′″∞°%½⅓⅔¼¾⅛⅜⅝⅞\u0300-\u036f\u2070-\u209c\u1d2c-\u1d6a¹²³]*")
_ONE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]\w?[\u0300-\u036f\u2070-\u209c\u1d2c-\u1d6a¹²³′]*")
_INVISIBLE = str.maketrans(dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""))
_TEX = re.compile(r"\\[A-Za-z]+|[\^_{}]")
_DELIMITERS = re.compile(r"^\s*(?:\$\$?|\\\(|\\\[)(.*?)(?:\$\$?|\\\)|\\\])\s*$", re.DOTALL)
_TEX_IN_TEXT = re.compile(r"\\\((?P<a>.{1,2000}?)\\\)|\\\[(?P<b>.{1,4000}?)\\\]|\$\$(?P<c>[^$]{1,4000})\$\$", re.DOTALL)
_DOLLARS = re.compile(r"\$\$(?P<c>[^$]{1,4000})\$\$|(?<![\\$\w])\$(?P<d>(?=[^\s$])[^$\n]{0,400}?[^\s\\$])\$(?![\d$])")


def is_tex(text: str) -> bool:
    """Return whether ``text`` has signs that only TeX has."""
    return bool(_TEX.search(text))


def parse_tex(text: str) -> Any:
    """Return the MathML of a formula in TeX as an element; None where it cannot be read."""
    inner = _DELIMITERS.match(text)
    display = "block" if inner and text.lstrip()[:2] in ("$$", "\\[") else "inline"
    text = (inner.group(1) if inner else text).strip()
    if not text or len(text) > _LONGEST or text.count("{") > 400:
        return None
    from latex2mathml.converter import convert  # takes a moment to import, and few texts have formulas

    try:
        return etree.fromstring(convert(text, display=display))
    except Exception:  # noqa: BLE001  it fails in many ways on what is no TeX, which then stays as it is
        return None


def mark_tex(text: str, mark: Callable[[Any], str]) -> str:
    r"""Return ``text`` in which each formula between \( \), \[ \] or $$ is as ``mark`` gives it, from its MathML."""

    def marked(found: re.Match[str]) -> str:
        tree = _tree(found)
        return found.group() if tree is None else mark(tree)

    return _TEX_IN_TEXT.sub(marked, text) if "\\" in text or "$$" in text else text


def tex_at(text: str, at: int) -> tuple[Any, int] | None:
    """Return the MathML of the formula between dollar signs or brackets that begins at ``at``, and where it ends.

    In Markdown, a bracket after a backslash is mostly no more than a bracket."""
    found = _DOLLARS.match(text, at) or _TEX_IN_TEXT.match(text, at)
    escaped = found and text[at] == "\\" and not re.search(r"\\[A-Za-z]|[\^_=]", found.group()[2:-2])
    tree = _tree(found) if found and not escaped else None
    return None if found is None or tree is None else (tree, found.end())


def _tree(found: re.Match[str]) -> Any:
    """Return the MathML of a formula that was found in a text; None where it is prose between dollar signs."""
    inner = next(filter(None, found.groups()), "")
    plain = found.group()[:2] not in ("$$", "\\(", "\\[") and not is_tex(inner) and len(inner) > 2
    return None if plain else parse_tex(found.group())


# --- one line --------------------------------------------------------------------------------------------


def formula_line(element: Any) -> str:
    """Return a formula in MathML as one line of text."""
    return " ".join(_line(element, 0).translate(_INVISIBLE).split())


def local_name(element: Any) -> str:
    """Return the element's name without its namespace; '' for comments and the like."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2] if isinstance(element.tag, str) else ""


def _children(element: Any) -> list[Any]:
    return [child for child in element if local_name(child) and not local_name(child).startswith(_UNREAD)]


def _line(element: Any, depth: int) -> str:
    name, parts = local_name(element), _children(element)
    if depth > DEEPEST:
        return "".join(element.itertext())
    if name in ("mi", "mn", "mtext", "ms", "mo") or not parts:
        return _token(element, name)
    if name in ("semantics", "maction"):
        return _line(parts[0], depth + 1)
    if name == "mfenced":
        marks = (element.get("separators", ",").strip() or ",")[0]
        inner = f"{marks} ".join(_line(part, depth + 1) for part in parts)
        return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"
    if name == "mphantom":
        return ""
    if name == "msqrt":
        return f"√{_operand(_join(parts, depth, tight=True))}"
    if name == "mtable":
        return "; ".join(filter(None, (_line(part, depth + 1) for part in parts)))
    if name in ("mtr", "mlabeledtr"):
        return ", ".join(filter(None, (_line(part, depth + 1).strip() for part in parts)))
    if name in _SCRIPTS and len(parts) > 1:
        scripts = (_join([part], depth, tight=True) for part in parts[1:])
        return str(_SCRIPTS[name](element, [_line(parts[0], depth + 1), *scripts]))
    if name == "mmultiscripts":
        return _multiscripts(parts, depth)
    return _join(parts, depth)


def _token(element: Any, name: str) -> str:
    text = " ".join("".join(element.itertext()).split(" ")) if name == "mtext" else "".join(element.itertext()).strip()
    return " " if name == "mspace" else re.sub(r"\s+", " ", text)


def _join(parts: list[Any], depth: int, *, tight: bool = False) -> str:
    """Return the lines of ``parts`` one after the other; ``tight``: without spaces around signs."""
    out = ""
    for at, part in enumerate(parts):
        group = tight and local_name(part) in _GROUPS and _children(part)
        line = _join(group, depth + 1, tight=True) if group else _line(part, depth + 1)
        if not line:
            continue
        sign = not _children(part) and bool(_SPACED.fullmatch(line))
        if sign and not tight and out.strip() and out.rstrip()[-1] not in "([{=,|" and at + 1 < len(parts):
            line = f" {line} "
        elif local_name(part) == "mo" and line in (",", ";"):
            line = f"{line} "
        elif out and _is_operator(parts[at - 1]) and line[0] not in ",)]}":
            out += " "
        elif out and line[0].isalnum() and out[-1].isalnum():
            last = out.split()[-1]
            word = local_name(parts[at - 1]) in ("mi", "mtext") and len(last) > 1 and last.isalpha()
            number = out[-1].isdigit() and line[0].isdigit() and local_name(part) != "mn"
            out += " " * (word or number or (local_name(part) == "mi" and len(line) > 1))
        out += line
    return out


def _is_operator(part: Any) -> bool:
    """Return whether ``part`` is a sum, an integral, a limit or a function with scripts."""
    scripted = local_name(part) in _SCRIPTS and local_name(part) != "mfrac" and len(part)
    base = "".join(part[0].itertext()).strip() if scripted else ""
    return base in _LARGE or (len(base) > 1 and base.isalpha())


_LARGE = frozenset("∑∏∫∬∭∮⋃⋂⨁⨂∐⋁⋀")
_GROUPS = frozenset({"mrow", "mstyle", "mpadded", "mtd", "math", "merror"})


def _operand(text: str) -> str:
    """Return ``text`` in brackets unless it is one number, one name or in brackets already."""
    text = text.strip()
    return text if _ONE.fullmatch(text) or _is_bracketed(text) or len(text) == 1 else f"({text})"


def _is_bracketed(text: str) -> bool:
    return text[:1] + text[-1:] in ("()", "[]", "{}", "||") and not any(sign in text[1:-1] for sign in "()[]|")


def _fraction(element: Any, parts: list[str]) -> str:
    over, under = (part.strip() for part in parts[:2])
    if element.get("linethickness", "").strip("0.pxemt") == "" and element.get("linethickness", "1")[:1] == "0":
        return f"{over} choose {under}"
    over = _tight(over)
    simple = over if _SIMPLE.fullmatch(over) or _is_bracketed(over) else f"({over})"
    whole = f"{over}/{under}"
    return _FRACTIONS.get(whole, f"{simple}/{_operand(_tight(under))}")


def _tight(text: str) -> str:
    return re.sub(r" ([=<>+−±×÷-]) ", r"\1", text)


def raise_text(text: str, *, up: bool) -> str:
    """Returns ``text`` in superscript or subscript characters; '' where it is not a number or a simple exponent."""
    if not (_RAISABLE if up else _LOWERABLE).fullmatch(text):
        return ""
    return text.translate(_UP if up else _DOWN)


def _raised(text: str) -> str:
    return text.strip() if all(sign in _PRIMES for sign in text.strip()) else _moved(text.strip(), _UP, "^")


def _lowered(text: str) -> str:
    return _moved(text.strip(), _DOWN, "_")


def _moved(text: str, table: dict[int, int], sign: str) -> str:
    moved = text.translate(table)
    return moved if all(a != b for a, b in zip(text, moved, strict=True)) else f"{sign}{_operand(text)}"


def _base(text: str) -> str:
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) or _is_bracketed(text) or len(text) == 1 else f"({text})"


def _accented(element: Any, parts: list[str]) -> str:
    base, over = parts[0].strip(), parts[1].strip()
    accent = over if over and unicodedata.combining(over[0]) else _ACCENTS.get(over, "")
    if accent and len(base) == 1:
        return base + accent
    if accent or over in ("⏞", "⏟", "︷", "︸", "^", "⏠"):
        return _base(base) if len(base) > 1 else base
    return _base(base) + (_raised(over) if local_name(element) == "mover" else _lowered(over))


_SCRIPTS: dict[str, Any] = {
    "mfrac": _fraction,
    "msup": lambda _, parts: _base(parts[0]) + _raised(parts[1]),
    "msub": lambda _, parts: _base(parts[0]) + _lowered(parts[1]),
    "msubsup": lambda _, parts: _base(parts[0]) + _lowered(parts[1]) + _raised("".join(parts[2:3])),
    "munderover": lambda _, parts: _base(parts[0]) + _lowered(parts[1]) + _raised("".join(parts[2:3])),
    "mroot": lambda _, parts: (
        f"{_ROOTS[parts[1].strip()]}{_operand(parts[0])}"
        if parts[1].strip() in _ROOTS
        else f"{_raised(parts[1])}√{_operand(parts[0])}"
    ),
    "mover": _accented,
    "munder": _accented,
}


def _multiscripts(parts: list[Any], depth: int) -> str:
    names = [local_name(part) for part in parts]
    at = names.index("mprescripts") if "mprescripts" in names else len(parts)

    def scripts(run: list[Any]) -> str:
        lines = ["" if local_name(part) == "none" else _line(part, depth + 1) for part in run]
        return "".join(_lowered(line) if n % 2 == 0 else _raised(line) for n, line in enumerate(lines) if line)

    return scripts(parts[at + 1 :]) + _line(parts[0], depth + 1) + scripts(parts[1:at])


# --- MathML to draw --------------------------------------------------------------------------------------


def safe_mathml(element: Any) -> str:
    """Return a formula as MathML of the elements and attributes that are safe to draw; '' where it is too long."""
    inner = "".join(_safe(child, 0) for child in ([element] if local_name(element) != "math" else _children(element)))
    text = f"<math{_DISPLAYED if element.get('display') == 'block' else ''}>{inner}</math>"
    return text if inner and len(text) <= _LONGEST else ""


def _safe(element: Any, depth: int) -> str:
    name, parts = local_name(element), _children(element)
    if depth > DEEPEST:
        return ""
    if name in ("semantics", "maction") and parts:
        return _safe(parts[0], depth + 1)
    if name == "mfenced":
        inner = "<mo>,</mo>".join(_safe(part, depth + 1) for part in parts)
        return f"<mrow>{_sign(element.get('open', '('))}{inner}{_sign(element.get('close', ')'))}</mrow>"
    said = "" if parts else escape("".join(element.itertext()).strip(), quote=False)
    inner = "".join(_safe(part, depth + 1) for part in parts) or said
    if name not in _TAGS:
        return inner if parts else f"<mtext>{inner}</mtext>" * bool(inner)
    known = ((key, value) for key, value in element.items() if key in _ATTRIBUTES)
    attributes = "".join(f' {key}="{value}"' for key, value in known if re.fullmatch(r"[\w.% -]*", value))
    return f"<{name}{attributes}>{inner}</{name}>"


def _sign(text: str) -> str:
    return f"<mo>{escape(text, quote=False)}</mo>" if text else ""
