"""Modules of assets are bundled with what they import; what cannot be bundled is refused. See tests/browser too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.parts.shared import scripts
from pages.parts.shared.scripts import ScriptError, bundle, parse
from readagent_core.resources import ASSETS


def entries() -> list[str]:
    """The scripts that pages declares as components, and the theme's."""
    pages = ASSETS.parent / "pages"
    text = "".join(path.read_text(encoding="utf-8") for path in pages.rglob("*.py"))
    return sorted(set(re.findall(r'"([\w/]+\.js)"', text)))


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """``modules(name=text, …)`` writes modules and returns the bundle of the first."""

    def write(**texts: str) -> str:
        for name, text in texts.items():
            (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
        monkeypatch.setattr(scripts, "ASSETS", tmp_path)
        bundle.cache_clear()
        return bundle(f"{next(iter(texts))}.js")

    yield write
    bundle.cache_clear()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": 'import { b } from "./b.js";\n', "b": 'import { a } from "./a.js";\n'}, "circle: a.js → b.js → a.js"),
        ({"a": 'import { b } from "./b.js";\n', "b": "export const c = 1;\n"}, "imports b, which b.js does not export"),
        ({"a": "export const b = 1;\nexport function b() {}\n"}, "exports a name twice"),
        ({"a": 'import { b } from "./missing.js";\n'}, "names missing.js, which is not there"),
        ({"a": 'import * as b from "./b.js";\n'}, "not supported: import"),
        ({"a": "const b = 1;\nexport { b };\n"}, "not supported: export"),
        ({"a": "export let b = 1;\n"}, "not supported: export"),
    ],
)
def test_what_cannot_be_bundled_is_refused(modules, texts: dict[str, str], message: str) -> None:
    with pytest.raises(ScriptError, match=re.escape(message)):
        modules(**texts)


def test_every_entry_can_be_bundled_and_every_module_belongs_to_one() -> None:
    reached, waiting = set(), [(ASSETS / entry).resolve() for entry in entries()]
    for entry in entries():
        assert ("export default" in bundle(entry)) == (entry != "shared/first_page.js"), entry
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += [file for file, _ in parse(path).imports]
    assert reached == {path for path in ASSETS.rglob("*.js") if path.name != "types.js"}
