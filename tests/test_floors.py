"""The house stands: a module of the engine imports only from floors below its own."""

from __future__ import annotations

import ast
import graphlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "readagent_core"
FLOORS = [
    {"errors", "cancel", "words", "languages", "secret", "keyrings", "settings", "usage", "quick_json"},
    {"document", "tags", "plan", "memory", "prompts", "overlap"},
    {"loaders", "models", "jobs", "citations"},
    {"reading", "library"},
    {"methods"},
    {"workspace"},
    {"export"},
    {"evaluation"},
    {"cli"},
    {"__main__"},
]
# who may look at a neighbour on the same floor, and why
NEIGHBOURS = {
    ("cancel", "errors"),
    ("words", "errors"), ("settings", "errors"), ("usage", "errors"), ("keyrings", "errors"),  # errors are the ground
    ("keyrings", "secret"), ("settings", "secret"), ("settings", "keyrings"),  # where a key comes from
    ("memory", "document"), ("memory", "tags"), ("memory", "plan"),  # a memory is made of these
    ("jobs", "models"),  # a job is the CancelToken that model calls take
}  # fmt: skip


@cache
def rooms_and_imports():
    """(file, room, imported name) of every import in the engine."""
    return list(_rooms_and_imports())


def _rooms_and_imports():
    for path in sorted(ENGINE.rglob("*.py")):
        parts = path.relative_to(ENGINE).with_suffix("").parts
        if parts == ("__init__",):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are written in full"
                names = [node.module or ""]
                if node.module == "readagent_core":
                    names = [f"readagent_core.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                yield path, parts[0], name


def floor_of(room: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if room in rooms:
            return number
    raise AssertionError(f"{room} has no floor: give it one in FLOORS and in the README's tree")


def test_every_import_goes_down():
    wrong = []
    seen = 0
    for path, room, name in rooms_and_imports():
        if not name.startswith("readagent_core."):
            continue
        seen += 1
        other = name.split(".")[1]
        if other == room or (room, other) in NEIGHBOURS:
            continue
        if floor_of(other) >= floor_of(room):
            wrong.append(f"{path.relative_to(ROOT)} ({room}) imports {name}")
    assert not wrong, "\n".join(wrong)
    assert seen > 15, "the test found hardly any import: it looks in the wrong place"


def test_no_module_imports_one_that_imports_it_back():
    """Late and type-only imports included."""
    modules = {_dotted_name(path): path for path in ENGINE.rglob("*.py")}
    packages = tuple(f"readagent_core.{package}" for package in ("workspace", "export", "cli"))
    graph = {
        name: set(_modules_imported(path, modules)) - {name}
        for name, path in modules.items()
        if name.startswith(packages)
    }
    assert len(graph) > 15
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError


def _dotted_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _modules_imported(path, modules):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else node.module


def test_the_engine_knows_no_streamlit():
    assert not [str(path) for path, _, name in rooms_and_imports() if name.split(".")[0] == "streamlit"]


def test_no_method_imports_another():
    methods = {path.stem for path in (ENGINE / "methods").glob("*.py")} - {"__init__", "base"}
    assert "read_agent_p" in methods
    names = [(path.name, name.split(".")) for path, _, name in rooms_and_imports()]
    assert not [(file, parts) for file, parts in names if parts[1:2] == ["methods"] and methods & set(parts[2:3])]


def test_pages_catch_only_our_errors():
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{path}: a bare except"
                assert not (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")), path
