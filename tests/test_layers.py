"""The imports follow the list of layers in ``docs/architecture.md``, and no modules import one another in a circle."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "readagent_core"
SCREENS = ROOT / "pages"


def layers() -> dict[str, int]:
    """The layer of every top-level module and package of the engine, as the document's table has it."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE)
    return {name: int(number) for number, names in rows for name in re.findall(r"`(\w+)/?`", names)}


@cache
def modules() -> dict[str, Path]:
    """Every module of the engine and the screens by its dotted name."""
    found: dict[str, Path] = {}
    for path in [*sorted(ENGINE.rglob("*.py")), *sorted(SCREENS.rglob("*.py"))]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imported(path: Path) -> frozenset[str]:
    """The dotted names that a file imports: at its head, in a function, or for types only."""
    return frozenset(imports(path))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules() else node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def graph() -> dict[str, set[str]]:
    """For every module of ours the modules of ours that it imports."""
    return {name: {other for other in imported(path) if other in modules()} for name, path in modules().items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A circle of modules that import one another; [] if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_circle():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}), "the test finds no circle"
    assert circle(graph()) == []


def test_every_import_goes_to_a_lower_layer():
    layer = layers()
    there = {path.stem if path.suffix else path.name for path in ENGINE.iterdir() if path.suffix in ("", ".py")}
    assert set(layer) == {name for name in there if not name.startswith("_")}, "see the table in docs/architecture.md"
    wrong = []
    for name, others in graph().items():
        if not name.startswith("readagent_core."):
            continue
        own = name.split(".")[1]
        if own == "__main__":
            continue
        for other in others - {"readagent_core"}:
            package = other.split(".")[1] if other.startswith("readagent_core.") else ""
            if package != own and (not package or layer[package] >= layer[own]):
                wrong.append(f"{name} (layer {layer[own]}) imports {other}")
    assert not wrong, "\n".join(wrong)
    assert sum(map(len, graph().values())) > 500, "hardly any import was found: the test looks in the wrong place"


def test_the_engine_does_not_import_streamlit():
    assert not [name for name, path in modules().items() if name.startswith("readagent_core")
                for other in imported(path) if other.split(".")[0] == "streamlit"]  # fmt: skip


def test_no_method_imports_another():
    methods = {name for name, path in modules().items() if name.startswith("readagent_core.methods.")
               and re.search(r"^METHOD\b", path.read_text(encoding="utf-8"), re.MULTILINE)}  # fmt: skip
    assert len(methods) > 8
    assert not {(name, other) for name in methods for other in graph()[name] & methods}
