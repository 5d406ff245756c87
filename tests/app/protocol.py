"""The messages of ``assets/protocol.d.ts``, and what in a value is not as they say."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from readagent_core.resources import ASSETS

_DECLARED = re.compile(r"^export (?:interface (\w+)(?: extends (\w+))? (\{.*?^\})|type (\w+) = (.*?);$)", re.M | re.S)
_FIELD = re.compile(r"(\w+)(\??): (.*)", re.S)
_COMMENT = re.compile(r"/\*\*.*?\*/|//[^\n]*", re.S)
_PLAIN = {"string": str, "number": (int, float), "boolean": bool}


@cache
def declared() -> dict[str, str]:
    """Every interface and type by name, an interface with the fields of the one that it extends."""
    text = _COMMENT.sub("", (ASSETS / "protocol.d.ts").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for name, base, body, alias, of in _DECLARED.findall(text):
        found[name or alias] = (found[base][:-1] + body[1:] if base else body) if name else of
    return found


def split(text: str, sign: str) -> list[str]:
    """``text`` at each ``sign`` that is inside of no bracket."""
    depth, parts = 0, [""]
    for character in text:
        depth += {"{": 1, "[": 1, "(": 1, "<": 1, "}": -1, "]": -1, ")": -1, ">": -1}.get(character, 0)
        if character == sign and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def faults(value: Any, kind: str, where: str = "") -> list[str]:
    """What in ``value``, as JSON, is not of the type ``kind``: each with its place."""
    kind = kind.strip()
    if len(choices := split(kind, "|")) > 1:
        tried = [faults(value, choice, where) for choice in choices]
        return min(tried, key=len)
    if kind.startswith("(") and kind.endswith(")"):
        return faults(value, kind[1:-1], where)
    if kind.endswith("[]"):
        return _each(value, kind[:-2], where)
    if kind.startswith("Record<"):
        return _values(value, split(kind[7:-1], ",")[1], where)
    if kind.startswith("["):
        return _tuple(value, split(kind[1:-1], ","), where)
    if kind.startswith("{"):
        return _fields(value, kind[1:-1], where)
    if kind in declared():
        return faults(value, declared()[kind], where)
    return [] if _is_plain(value, kind) else [f"{where}: {value!r:.60} is no {kind}"]


def _is_plain(value: Any, kind: str) -> bool:
    if kind in _PLAIN:
        return isinstance(value, _PLAIN[kind]) and (kind == "boolean") == isinstance(value, bool)
    return value is None if kind == "null" else kind == f'"{value}"'


def _each(value: Any, kind: str, where: str) -> list[str]:
    if not isinstance(value, (list, tuple)):
        return [f"{where}: {value!r:.60} is no list"]
    return [fault for i, one in enumerate(value) for fault in faults(one, kind, f"{where}[{i}]")]


def _values(value: Any, kind: str, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r:.60} is no object"]
    return [fault for key, one in value.items() for fault in faults(one, kind, f"{where}.{key}")]


def _tuple(value: Any, kinds: list[str], where: str) -> list[str]:
    fixed = [kind for kind in kinds if not kind.startswith("...")]
    if not isinstance(value, (list, tuple)) or len(value) < len(fixed) or (fixed == kinds and len(value) > len(fixed)):
        return [f"{where}: {value!r:.60} is not {len(fixed)} values"]
    found = [fault for i, kind in enumerate(fixed) for fault in faults(value[i], kind, f"{where}[{i}]")]
    return found + [
        fault for kind in kinds if kind.startswith("...") for fault in _each(value[len(fixed) :], kind[3:-2], where)
    ]


def _fields(value: Any, body: str, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r:.60} is no object"]
    found = []
    known = set()
    for line in split(body, ";"):
        match = _FIELD.fullmatch(line)
        assert match is not None, line
        name, optional, kind = match.groups()
        known.add(name)
        if name in value:
            found += faults(value[name], kind, f"{where}.{name}")
        elif not optional:
            found.append(f"{where}: {name} is missing")
    return found + [f"{where}: {name} is not declared" for name in value if name not in known]
