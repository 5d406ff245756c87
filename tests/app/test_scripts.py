"""Every module of assets is part of what a page loads, and a bundle has no import left and does what its modules do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pages.parts.shared import scripts
from pages.parts.shared.scripts import bundle, imports
from readagent_core.resources import ASSETS


def entries() -> list[str]:
    """The scripts that pages declares as components, and the first page's."""
    pages = ASSETS.parent / "pages"
    text = "".join(path.read_text(encoding="utf-8") for path in pages.rglob("*.py"))
    return sorted(set(re.findall(r'"([\w/]+\.js)"', text)))


@pytest.mark.parametrize("entry", entries())
def test_a_bundle_imports_nothing_and_exports_one_thing(entry: str) -> None:
    left = re.findall(r"^(?:import|export)\b.*", bundle(entry), re.MULTILINE)
    assert [re.sub(r"\d+", "N", line) for line in left] == ["export default module_N.default;"]


def test_every_module_belongs_to_an_entry() -> None:
    reached, waiting = set(), [(ASSETS / entry).resolve() for entry in entries()]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += imports(path)
    assert reached == set(ASSETS.rglob("*.js")) - {ASSETS / "replay_file.js"}  # of saved files, not of the app


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_bundle_does_what_its_modules_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    modules = {
        "main": 'import { a } from "./a.js";\nimport { b as other } from "./b.js";\nconst x = 3;\n'
        "/** A comment. */\nexport default [x, a(), other()].concat(4);\n",
        "a": "const x = 1;\nexport const a = () => x;\n",
        "b": 'import { a } from "./a.js";\nconst x = 2;\nexport function b() {\n  return x + a();\n}\n',
    }
    for name, text in modules.items():
        (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")  # as a browser takes them
    monkeypatch.setattr(scripts, "ASSETS", tmp_path)
    bundle.cache_clear()
    request.addfinalizer(bundle.cache_clear)
    text = bundle("main.js")
    assert text.count("const a = () => x") == 1  # imported twice, included once
    assert "A comment" not in text
    (tmp_path / "bundle.js").write_text(text, encoding="utf-8")
    for module in ("main.js", "bundle.js"):
        run = f'import("./{module}").then((m) => console.log(JSON.stringify(m.default)))'
        done = subprocess.run(["node", "-e", run], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
        assert json.loads(done.stdout) == [3, 1, 3, 4]
