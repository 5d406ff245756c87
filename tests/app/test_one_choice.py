"""A row of choices of which one counts keeps one: pressing the chosen one again takes it from nobody."""

from __future__ import annotations

import ast
from pathlib import Path

PAGES = Path(__file__).parents[2] / "pages"


def rows_of_choices(tree: ast.AST) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [call for call in calls if ast.unparse(call.func).endswith((".segmented_control", ".pills"))]


def test_one_choice_always_stays_chosen() -> None:
    found = {
        f"{path.name}:{call.lineno}": {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        for path in PAGES.rglob("*.py")
        for call in rows_of_choices(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(found) > 5
    several = {"selection_mode": "'multi'"}
    free = [
        at for at, given in found.items() if not several.items() <= given.items() and given.get("required") != "True"
    ]
    assert free == []
