"""The modules of pages import each other without a circle, late and type-only imports included."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCREENS = ("library", "read", "ask", "compare", "evaluate", "settings")


def imports() -> dict[str, set[str]]:
    """The modules of pages and the modules of pages that each imports."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "pages").rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in files.items()}
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        found[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pages"):
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                found[name] |= {one if one in modules else node.module for one in inside}
    return found


def test_there_is_no_circle() -> None:
    found = imports()
    assert len(found) > 30
    list(TopologicalSorter(found).static_order())  # raises CycleError


def test_no_part_imports_a_part_of_another_screen_nor_a_shared_one_a_screens() -> None:
    for name, taken in imports().items():
        parts = name.split(".")
        own = parts[2] if name.startswith("pages.parts.") and len(parts) > 2 else parts[1]
        for other in taken:
            folder = other.split(".")[2] if other.startswith("pages.parts.") else ""
            assert folder in ("", "shared", own), f"{name} imports {other}"
