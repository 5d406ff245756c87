"""Put an ES module and the modules it imports together as one, because Streamlit takes a component's script as text.

Streamlit serves a component's files, with relative imports, only for installed packages. In a checkout it takes one
inline module. Each module keeps a scope of its own, so private names of two modules cannot collide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from readagent_core.resources import ASSETS

_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)  # on lines of its own
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[^"]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (default )?((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (?!function|class|async)", re.MULTILINE)  # of an expression
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class ScriptError(Exception):
    """A module of ``assets`` cannot be bundled: the message names the file and the reason."""


@dataclass(frozen=True)
class Module:
    """A module's text without ``import`` and ``export``, the names it exports, and what it imports.

    ``imports``: pairs of a file and the names imported from it, each as (its name there, its name in this module).
    ``default``: the name of its default export; '' without one.
    """

    body: str
    exports: tuple[str, ...]
    default: str
    imports: tuple[tuple[Path, tuple[tuple[str, str], ...]], ...]


def parse(path: Path) -> Module:
    """Read one module. Raises ScriptError for a name exported twice and for any other form of import or export."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))  # Streamlit sends a script with every message
    imports = tuple(((path.parent / found[2]).resolve(), _names(found[1])) for found in _IMPORT.finditer(text))
    text = _DEFAULT.sub("export default const defaultExport = ", _IMPORT.sub("", text))
    exported = [found[3] for found in _EXPORT.finditer(text)]
    default = [found[3] for found in _EXPORT.finditer(text) if found[1]]
    body = _EXPORT.sub(r"\2 \3", text)
    if other := _OTHER.search(body):
        raise ScriptError(f"{path.name}: this form of import or export is not supported: {other[0]}")
    if len(set(exported)) < len(exported) or len(default) > 1:
        raise ScriptError(f"{path.name} exports a name twice")
    return Module(body, tuple(exported), "".join(default), imports)


def _names(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (name.split(" as ") for name in re.split(r"\s*,\s*", text.strip()) if name)
    return tuple((pair[0].strip(), pair[-1].strip()) for pair in pairs)


@cache
def bundle(entry: str) -> str:
    """The module ``entry``, a path within ``assets``, and all it imports as the text of one ES module.

    Raises ScriptError for a circle of imports, a missing file, and a name that is imported but not exported.
    """
    order: dict[Path, Module] = {}
    first = (ASSETS / entry).resolve()
    _collect(first, order, ())
    variables = {path: f"module_{number}" for number, path in enumerate(order)}
    parts = [_wrap(path, module, variables) for path, module in order.items()]
    if order[first].default:
        parts.append(f"export default {variables[first]}.{order[first].default};\n")
    return "".join(parts)


def _collect(path: Path, order: dict[Path, Module], above: tuple[Path, ...]) -> None:
    """Add ``path`` to ``order`` after everything it imports; ``above``: the chain of files that import it."""
    if path in above:
        circle = " → ".join(file.name for file in (*above[above.index(path) :], path))
        raise ScriptError(f"modules import each other in a circle: {circle}")
    if path in order:
        return
    if not path.is_file():
        raise ScriptError(f"{above[-1].name if above else 'the entry'} names {path.name}, which is not there")
    module = parse(path)
    for file, names in module.imports:
        _collect(file, order, (*above, path))
        if missing := [name for name, _ in names if name not in order[file].exports]:
            raise ScriptError(f"{path.name} imports {', '.join(missing)}, which {file.name} does not export")
    order[path] = module


def _wrap(path: Path, module: Module, variables: dict[Path, str]) -> str:
    lines = [f"// {path.name}", f"const {variables[path]} = (() => {{"]
    for file, names in module.imports:
        taken = ", ".join(there if there == here else f"{there}: {here}" for there, here in names)
        lines.append(f"const {{ {taken} }} = {variables[file]};")
    return "\n".join([*lines, f"{module.body}return {{ {', '.join(module.exports)} }};", "})();\n"])
