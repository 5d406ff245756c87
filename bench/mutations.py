"""Changes the engine in many small ways, one at a time, and says which changes no test notices.

    python -m bench.mutations --count 60 --seed 1
    python -m bench.mutations --count 12 --files 'readagent_core/gisting/*.py'
    python -m bench.mutations --count 60 --seed 1 --only 4 17 --tests 60      those that lived, with more tests

A change flips a comparison or a condition, moves a number by one, removes a statement, or takes back what a function
returns. For each the tests run that import the changed module, nearest first, until one fails; the browser's are left
out. Where they fail or take too long without the change too, it is undecided. Everything happens in a copy. Prints a
line a change, then those that live. A seed takes the same places until their own code is edited.
"""

from __future__ import annotations

import argparse
import ast
import copy
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENGINE = "readagent_core"
_FLIPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_MODULE = re.compile(r"[a-z_]+(?:\.[a-z_]+)*")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Mutation:
    """A change of one place. ``start`` and ``end``: positions in the file's text; ``scope``: its function's name."""

    path: str
    scope: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        before, after = (" ".join(text.split())[:60] for text in (self.before, self.after))
        return f"{self.path}:{self.line} {self.scope}  {before}  ->  {after}"


def find_mutations(path: str, text: str) -> Iterator[Mutation]:
    """Yield every change that can be made in a file."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = text.encode()

    def mutation(node: ast.expr | ast.stmt, scope: str, after: str) -> Mutation:
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return Mutation(path, scope, node.lineno, start, end, data[start:end].decode(), after)

    for node, scope in _executed(ast.parse(text)):
        if isinstance(node, ast.expr):
            changed = _changed_expression(node)
            if changed is not None:
                yield mutation(node, scope, f"({ast.unparse(changed)})")
        elif isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                yield mutation(node, scope, "return None")
        elif isinstance(node, ast.AugAssign | ast.Raise | ast.Delete) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield mutation(node, scope, "pass")


def draw(mutations: Iterable[Mutation], seed: int, count: int) -> list[Mutation]:
    """Return the changes that rank lowest by a hash of the seed and their code: an edit elsewhere moves none."""
    equals: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for mutation in mutations:
        code = (mutation.path, mutation.scope, mutation.before, mutation.after)
        equals[code] += 1
        ranked.append((hashlib.sha256(repr((seed, *code, equals[code])).encode()).digest(), mutation))
    return [mutation for _, mutation in sorted(ranked, key=lambda pair: pair[0])[:count]]


def _executed(node: ast.AST, scope: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes that run, and the qualified names of their functions or classes.

    Not annotations, texts with values in them, or what only a type checker sees.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}".lstrip(".")
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child, scope
            yield from _executed(child, scope)


def _changed_expression(node: ast.expr) -> ast.expr | None:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare) and type(changed.ops[0]) in _FLIPPED:
        changed.ops[0] = _FLIPPED[type(changed.ops[0])]()
    elif isinstance(changed, ast.BinOp | ast.BoolOp) and type(changed.op) in _FLIPPED:
        if isinstance(changed, ast.BinOp) and any(
            isinstance(n, ast.Constant | ast.JoinedStr) and not isinstance(getattr(n, "value", ""), int | float)
            for n in (changed.left, changed.right)
        ):
            return None  # two texts are joined
        changed.op = _FLIPPED[type(changed.op)]()
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not):
        return changed.operand
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        changed.value = not changed.value
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, int | float):
        changed.value += 1
    else:
        return None
    return changed


def imported_modules(path: Path) -> set[str]:
    """Return the names of the engine's modules that a file imports, anywhere in it, or names to import them later.

    A loader is named by where it is in the package of the file that names it.
    """
    found: set[str] = set()
    package = ".".join(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith((ENGINE, "tests")):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(f"{ENGINE}."):
            found.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            if (path.parent / f"{node.value.replace('.', '/')}.py").is_file():
                found.add(f"{package}.{node.value}")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith(ENGINE)}
    return found


def tests_of(path: str, imports: dict[str, set[str]], tests: list[str], most: int) -> list[str]:
    """Return the test files of a module, nearest first: by the words of both names, then by the imports between.

    Those of its folder where nothing imports it: a method is found by where it is.
    """
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    distance, users, step = {module: 0}, {module}, 0
    while users and step < 4:
        step += 1
        users = {name for name, needs in imports.items() if needs & users and name not in distance}
        distance |= dict.fromkeys(users, step)
    folder = path.removeprefix(f"{ENGINE}/").partition("/")[0]
    names = {test: test.removesuffix(".py").replace("/", ".") for test in tests}
    near = [test for test in tests if names[test] in distance]
    near = near or [test for test in tests if test.startswith(f"tests/{folder}/")]
    words = set(re.split(r"[/_.]", path))
    shared = {test: len(words & set(re.split(r"[/_.]", test))) for test in near}
    near.sort(key=lambda test: (-shared[test], not test.startswith(f"tests/{folder}/"), distance.get(names[test], 0)))
    return near[:most]


def run_tests(folder: Path, tests: list[str], seconds: float) -> tuple[bool, str]:
    """Return whether the tests pass, and the first that failed or 'time-out'."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not browser", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        output = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return False, "time-out"
    failed = _FAILED.search(output)
    return process.returncode in (0, 5), failed.group(1) if failed else output.strip().rpartition("\n")[2][-80:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="how many changes")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--only", type=int, nargs="*", default=[], help="of them those of these numbers, from 1")
    parser.add_argument("--files", default=f"{ENGINE}/*.py", help="a pattern of paths")
    parser.add_argument("--tests", type=int, default=25, help="most test files of one change")
    parser.add_argument("--seconds", type=float, default=300.0, help="of the tests of one change")
    chosen = parser.parse_args()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [path for path in listed.splitlines() if (ROOT / path).is_file()]
    engine = [path for path in files if path.startswith(f"{ENGINE}/") and path.endswith(".py")]
    tests = [path for path in files if re.match(r"tests/(?!browser/).*test_\w+\.py$", path)]
    python = [*engine, *(path for path in files if path.startswith(("tests/", "pages/")) and path.endswith(".py"))]
    imports = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): imported_modules(ROOT / path)
        for path in python
    }
    everywhere = (
        mutation for path in engine if fnmatch.fnmatch(path, chosen.files)
        for mutation in find_mutations(path, (ROOT / path).read_text(encoding="utf-8"))
    )  # fmt: skip
    found = draw(everywhere, chosen.seed, chosen.count)
    found = [mutation for number, mutation in enumerate(found, 1) if number in chosen.only or not chosen.only]
    verdicts: dict[str, list[Mutation]] = {"killed": [], "survived": [], "undecided": []}
    with tempfile.TemporaryDirectory(prefix="mutations-") as name:
        folder = Path(name)
        for path in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / path)
        for mutation in found:
            whole = (ROOT / mutation.path).read_bytes()
            (folder / mutation.path).write_bytes(
                whole[: mutation.start] + mutation.after.encode() + whole[mutation.end :]
            )
            began, near = time.monotonic(), tests_of(mutation.path, imports, tests, chosen.tests)
            passed, why = run_tests(folder, near, chosen.seconds) if near else (True, "no test imports it")
            (folder / mutation.path).write_bytes(whole)
            if not passed:  # the tests that failed must pass without the change, in the same time
                failed = [why] if "::" in why else near
                sound = run_tests(folder, failed, chosen.seconds)[0]
                why = why if sound else f"{why}, also without the change"
            verdict = "survived" if passed else "killed" if sound else "undecided"
            verdicts[verdict].append(mutation)
            print(f"{verdict:9}  {time.monotonic() - began:5.0f} s  {mutation}  [{why}]", flush=True)
    print(f"{len(verdicts['killed'])} of {len(found)} killed (seed {chosen.seed})")
    for verdict in ("survived", "undecided"):
        for mutation in verdicts[verdict]:
            print(f"{verdict:9}  {mutation}")


if __name__ == "__main__":
    main()
